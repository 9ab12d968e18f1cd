package dynamo

import (
	"context"
	"slices"

	"skillscurriculum/pkg/catalog"
)

// Record implements service.Records. A missing row is read again with a strong read, so that a record is found as soon
// as its creation has succeeded. A program and a credential have only the ids of their members.
func (s *Store) Record(
	ctx context.Context, org catalog.OrgID, kind catalog.Kind, parent, id string, strong bool,
) (catalog.Record, error) {
	k, ok := recordKey(org, kind, parent, id)
	if !ok {
		return nil, catalog.Absent()
	}
	row, err := s.row(ctx, k, strong)
	if err == nil && row == nil && !strong {
		row, err = s.row(ctx, k, true)
	}
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, catalog.Absent()
	}
	r, err := decodeRecord(kind, row)
	if err == nil && r.Base().ID != id {
		return nil, catalog.Absent()
	}
	return r, err
}

// Reload reads the current version of a record.
func (s *Store) Reload(ctx context.Context, r catalog.Record) (catalog.Record, error) {
	return s.Record(ctx, r.Base().OrganizationID, catalog.KindOf(r), catalog.ParentOf(r), r.Base().ID, true)
}

// RecordsByID implements service.Records.
func (s *Store) RecordsByID(
	ctx context.Context, org catalog.OrgID, kind catalog.Kind, ids []string, strong bool,
) (map[string]catalog.Record, error) {
	var keys []key
	asked := make(map[string]bool, len(ids))
	for _, id := range ids {
		if k, ok := recordKey(org, kind, "", id); ok {
			keys, asked[id] = append(keys, k), true
		}
	}
	list, err := records[catalog.Record](ctx, s, kind, keys, strong)
	found := make(map[string]catalog.Record, len(list))
	for _, r := range list {
		if id := r.Base().ID; asked[id] {
			found[id] = r
		}
	}
	return found, err
}

// records reads the existing records of a kind among keys, in key order. fields limits what is read of each, as for
// rows.
func records[R catalog.Record](
	ctx context.Context, s *Store, kind catalog.Kind, keys []key, strong bool, fields ...string,
) ([]R, error) {
	rows, err := s.rows(ctx, keys, strong, fields...)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b item) int { return compareKeys(keyOfRow(a), keyOfRow(b)) })
	return decodeRecords[R](kind, rows)
}

func decodeRecords[R catalog.Record](kind catalog.Kind, rows []item) ([]R, error) {
	found := make([]R, len(rows))
	for i, row := range rows {
		r, err := decodeRecord(kind, row)
		if err != nil {
			return nil, err
		}
		found[i] = r.(R)
	}
	return found, nil
}

// EachRecord implements service.Records.
func (s *Store) EachRecord(
	ctx context.Context, org catalog.OrgID, kind catalog.Kind, parent string, visit func(catalog.Record) error,
) error {
	if kind.Nested() && parent == "" {
		return s.EachRecord(ctx, org, kind.Parent(), "", func(r catalog.Record) error {
			return s.EachRecord(ctx, org, kind, r.Base().ID, visit)
		})
	}
	if kind.Nested() && !kind.Parent().Made(parent) {
		return nil
	}
	return s.query(ctx, partitionQuery(recordPartition(org, kind, parent), true), func(row item) (bool, error) {
		r, err := decodeRecord(kind, row)
		if err == nil {
			err = visit(r)
		}
		return true, err
	})
}

// CoursesOfSections reads the courses that have the sections, by section id. The id of a
// section has the sequence number of its course.
func (s *Store) CoursesOfSections(
	ctx context.Context, org catalog.OrgID, sectionIDs []string, strong bool,
) (map[string]*catalog.Course, error) {
	numbers := map[string]int{}
	var keys []key
	for _, id := range sectionIDs {
		if seq, ok := catalog.Sequence(catalog.SectionKind, id); ok {
			numbers[id] = seq
			keys = append(keys, numberedKey(org, catalog.CourseKind, seq))
		}
	}
	list, err := records[*catalog.Course](ctx, s, catalog.CourseKind, keys, strong)
	if err != nil {
		return nil, err
	}
	courses := map[int]*catalog.Course{}
	for _, course := range list {
		seq, _ := catalog.Sequence(catalog.CourseKind, course.ID)
		courses[seq] = course
	}
	found := map[string]*catalog.Course{}
	for id, seq := range numbers {
		if course := courses[seq]; course != nil && course.Mentions(id) {
			found[id] = course
		}
	}
	return found, nil
}
