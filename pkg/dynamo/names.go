package dynamo

import (
	"context"
	"maps"
	"slices"
	"strings"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// externalRow maps an external id to a record. It outlives the deletion of its record, and
// the next record with the id takes it over; a record that gives up its id frees the row.
type externalRow struct {
	ID     string       `json:"id"`
	Kind   catalog.Kind `json:"kind,omitempty"` // of a CTID
	Parent string       `json:"parent,omitempty"`
}

// organizationsOwn is the kind in the row of an organization's own CTID.
const organizationsOwn catalog.Kind = "Organization"

// saveExternal assigns an external id to a record unless another record got it meanwhile.
func (s *Store) saveExternal(org catalog.OrgID, x *catalog.ExternalIDAssignment) write {
	row := item{"id": text(x.Record.Base().ID)}
	if parent := catalog.ParentOf(x.Record); parent != "" {
		row["parent"] = text(parent)
	}
	return s.take(externalKey(org, catalog.KindOf(x.Record), x.Name), row, x.Was)
}

// saveCTID assigns a CTID to a record unless another record got it meanwhile.
func (s *Store) saveCTID(org catalog.OrgID, x *catalog.CTIDAssignment) write {
	row := item{"id": text(x.Record.Base().ID), "kind": text(string(catalog.KindOf(x.Record)))}
	return s.take(ctidKey(org, x.CTID), row, x.Was)
}

// take saves the row of a name that a record with the id was may have.
func (s *Store) take(k key, row item, was string) write {
	if was == "" {
		return s.putNew(k, row)
	}
	var e expression
	e.is("id", text(was))
	return s.put(k, row, &e)
}

// freeExternal frees the external id of a record.
func (s *Store) freeExternal(org catalog.OrgID, x *catalog.ExternalIDRelease) write {
	var e expression
	e.conditions = []string{"attribute_not_exists(pk) OR " + e.name("id") + " = " + e.value(text(x.Record.Base().ID))}
	return s.delete(externalKey(org, catalog.KindOf(x.Record), x.Name), &e)
}

// saveCode moves the row that finds a course by its code.
func (s *Store) saveCode(org catalog.OrgID, coded *catalog.CodeChange) (writes []write) {
	seq, _ := catalog.Sequence(catalog.CourseKind, coded.Record.ID)
	if coded.Was != "" && coded.Was != coded.Is {
		writes = append(writes, s.delete(codeKey(org, coded.Was, seq), &expression{}))
	}
	if coded.Is != "" {
		writes = append(writes, s.put(codeKey(org, coded.Is, seq), item{}, nil))
	}
	return writes
}

// CoursesByCode reads a page of the courses with a code, compared as catalog.Normalized has it, in creation order, and
// their number.
func (s *Store) CoursesByCode(
	ctx context.Context, org catalog.OrgID, code string, offset, limit int,
) ([]*catalog.Course, int, error) {
	code = catalog.Normalized(code)
	for attempt := range pageAttempts {
		numbers := []string{}
		in := rangeQuery(partition(org, api.CodeRows), codePrefix(code), codePrefix(code)+digitsEnd, true)
		err := s.query(ctx, in, func(row item) (bool, error) {
			numbers = append(numbers, strings.TrimPrefix(keyOfRow(row).sk, codePrefix(code)))
			return true, nil
		})
		if err != nil {
			return nil, 0, err
		}
		asked := catalog.PageOf(numbers, offset, limit)
		keys := make([]key, len(asked))
		for i, number := range asked {
			keys[i] = key{partition(org, api.RecordRows(catalog.CourseKind)), number}
		}
		courses, err := records[*catalog.Course](ctx, s, catalog.CourseKind, keys, attempt > 0)
		if err != nil {
			return nil, 0, err
		}
		courses = slices.DeleteFunc(courses, func(c *catalog.Course) bool { return catalog.Normalized(c.Code) != code })
		if len(courses) == len(asked) {
			return courses, len(numbers), nil
		}
		// A course was changed or deleted meanwhile, or a read was stale.
	}
	return nil, 0, catalog.ChangingTooFast()
}

// Known finds records of a kind by external id. Names that were never used are left out; the record is nil if it was
// deleted. The courses of programs and the sections of credentials are ids only.
func (s *Store) Known(
	ctx context.Context, org catalog.OrgID, kind catalog.Kind, names []string,
) (map[string]catalog.ExternalID, error) {
	return s.known(ctx, org, kind, names, func(name string) key { return externalKey(org, kind, name) }, nil)
}

// KnownCourses finds courses as Known does and, in the same round trips, their default sections, by id. Sections whose
// ids do not follow from their courses' are left out.
func (s *Store) KnownCourses(
	ctx context.Context, org catalog.OrgID, names []string,
) (map[string]catalog.ExternalID, map[string]*catalog.Section, error) {
	const kind = catalog.CourseKind
	sections := map[string]*catalog.Section{}
	at := func(name string) key { return externalKey(org, kind, name) }
	known, err := s.known(ctx, org, kind, names, at, sections)
	return known, sections, err
}

// CTIDs finds records by CTIDs that were set, as Known does by external id.
func (s *Store) CTIDs(ctx context.Context, org catalog.OrgID, ctids []string) (map[string]catalog.ExternalID, error) {
	return s.known(ctx, org, "", ctids, func(ctid string) key { return ctidKey(org, ctid) }, nil)
}

// known finds records by their names' rows; kind is "" if the rows name the kinds. It adds the default sections of
// courses to sections unless that is nil.
func (s *Store) known(
	ctx context.Context, org catalog.OrgID, kind catalog.Kind, names []string, at func(name string) key,
	sections map[string]*catalog.Section,
) (map[string]catalog.ExternalID, error) {
	var keys []key
	for _, name := range names {
		keys = append(keys, at(name))
	}
	rows, err := s.rows(ctx, keys, true)
	if err != nil {
		return nil, err
	}
	known := make(map[string]catalog.ExternalID, len(rows))
	named, kinds := map[key][]string{}, map[key]catalog.Kind{} // outcomes are named by the row of their list
	for _, row := range rows {
		stored := externalRow{Kind: kind}
		if err := decode(row, &stored); err != nil {
			return nil, err
		}
		name := keyOfRow(row).sk
		if stored.Kind == organizationsOwn {
			known[name] = catalog.ExternalID{Name: name, Was: stored.ID}
			continue
		}
		known[name] = catalog.ExternalID{Name: name, Was: stored.ID}
		if k, ok := recordKey(org, stored.Kind, stored.Parent, stored.ID); ok {
			named[k], kinds[k] = append(named[k], name), stored.Kind
		}
		if sections != nil {
			k, _ := recordKey(org, catalog.SectionKind, "", catalog.DefaultSectionID(stored.ID))
			named[k], kinds[k] = nil, catalog.SectionKind
		}
	}
	if rows, err = s.rows(ctx, slices.Collect(maps.Keys(named)), true); err != nil {
		return nil, err
	}
	for _, row := range rows {
		k := keyOfRow(row)
		r, err := decodeRecord(kinds[k], row)
		if err != nil {
			return nil, err
		}
		if section, ok := r.(*catalog.Section); ok && sections != nil {
			sections[section.ID] = section
		}
		for _, name := range named[k] {
			if x := known[name]; r.Base().ID == x.Was {
				x.Record = r
				known[name] = x
			}
		}
	}
	return known, nil
}
