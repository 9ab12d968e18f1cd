package dynamo

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

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
func (s *Store) saveExternal(org catalog.OrgID, x *catalog.ExternalIDAssignment) rows {
	is := externalRow{ID: x.Record.Base().ID, Kind: catalog.KindOf(x.Record), Parent: catalog.ParentOf(x.Record)}
	row := item{"id": text(is.ID)}
	if is.Parent != "" {
		row["parent"] = text(is.Parent)
	}
	k := externalKey(org, is.Kind, x.Name)
	return rows{writes: []write{s.take(k, row, x.Was)}, saved: func() { s.names.keep(k, is) }}
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
// courses to sections unless that is nil. It reads the rows with the records to which the last known ones lead, so that
// names that still have the same records take one round trip.
func (s *Store) known(
	ctx context.Context, org catalog.OrgID, kind catalog.Kind, names []string, at func(name string) key,
	sections map[string]*catalog.Section,
) (map[string]catalog.ExternalID, error) {
	var keys, missing []key
	guessed := map[key]catalog.Kind{}
	for _, name := range names {
		keys = append(keys, at(name))
		maps.Copy(guessed, recordsOf(org, s.names.last(at(name)), sections != nil))
	}
	rows, err := s.rows(ctx, slices.AppendSeq(keys, maps.Keys(guessed)), true)
	if err != nil {
		return nil, err
	}
	var records []item
	known := make(map[string]catalog.ExternalID, len(rows))
	named, kinds := map[key][]string{}, map[key]catalog.Kind{} // outcomes are named by the row of their list
	for _, row := range rows {
		if _, ok := guessed[keyOfRow(row)]; ok {
			records = append(records, row)
			continue
		}
		stored := externalRow{Kind: kind}
		if err := decode(row, &stored); err != nil {
			return nil, err
		}
		name := keyOfRow(row).sk
		known[name] = catalog.ExternalID{Name: name, Was: stored.ID}
		s.names.keep(keyOfRow(row), stored)
		for k, kind := range recordsOf(org, stored, sections != nil) {
			kinds[k] = kind
			if kind == stored.Kind {
				named[k] = append(named[k], name)
			}
			if _, ok := guessed[k]; !ok {
				missing = append(missing, k)
			}
		}
	}
	more, err := s.rows(ctx, missing, true)
	if err != nil {
		return nil, err
	}
	for _, row := range append(records, more...) {
		k := keyOfRow(row)
		kind, ok := kinds[k]
		if !ok { // the name belongs to another record now
			continue
		}
		r, err := decodeRecord(kind, row)
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

// recordsOf returns the keys and kinds of the record to which the row of a name leads and, with sections, of its
// default section.
func recordsOf(org catalog.OrgID, x externalRow, sections bool) map[key]catalog.Kind {
	found := map[key]catalog.Kind{}
	if x.ID == "" || x.Kind == organizationsOwn {
		return found
	}
	if k, ok := recordKey(org, x.Kind, x.Parent, x.ID); ok {
		found[k] = x.Kind
	}
	if sections {
		k, _ := recordKey(org, catalog.SectionKind, "", catalog.DefaultSectionID(x.ID))
		found[k] = catalog.SectionKind
	}
	return found
}

// names holds the rows of names as they were last read or saved, perhaps stale.
type names struct {
	mu   sync.Mutex
	rows map[key]externalRow
}

// maxNames is the number of names at which all are forgotten: they take about 3 MB.
const maxNames = 10_000

// last returns the last known row of a name; empty if there is none.
func (n *names) last(k key) externalRow {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.rows[k]
}

func (n *names) keep(k key, x externalRow) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.rows) >= maxNames || n.rows == nil {
		n.rows = map[key]externalRow{}
	}
	n.rows[k] = x
}
