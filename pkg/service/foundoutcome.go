package service

import (
	"context"

	"skillscurriculum/pkg/catalog"
)

// FoundOutcomes returns the outcomes that the section's syllabus states, as last extracted; none without a syllabus.
func (a Actor) FoundOutcomes(ctx context.Context, s *catalog.Section) ([]catalog.FoundOutcome, error) {
	if s.SyllabusHref == nil && s.DocumentID == nil {
		return []catalog.FoundOutcome{}, nil
	}
	result, err := a.Store.ExtractionResult(ctx, a.Org, s.ID)
	return s.Found(result), err
}
