package dynamo

import (
	"context"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// mapRows is the partition of the decisions on the map of a program.
func mapRows(org catalog.OrgID, programID string) string {
	return api.MapRows.Key(string(org), programID)
}

// saveMapDecision saves or removes a decision on a cell.
func (s *Store) saveMapDecision(org catalog.OrgID, c *catalog.MapDecisionChange) (write, error) {
	k := key{mapRows(org, c.Record.ID), c.OutcomeID + "#" + c.CourseID}
	if c.Decision == nil {
		return s.delete(k, &expression{}), nil
	}
	row, err := encode(c.Decision)
	return s.put(k, row, nil), err
}

// MapDecisions reads the decisions on the map of a program, by outcome, then course.
func (s *Store) MapDecisions(ctx context.Context, org catalog.OrgID, programID string) ([]catalog.MapDecision, error) {
	if !catalog.ProgramKind.Made(programID) {
		return nil, nil
	}
	return readAll[catalog.MapDecision](ctx, s, partitionQuery(mapRows(org, programID), true))
}
