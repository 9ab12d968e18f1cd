package dynamo

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// externalRow maps an external id to a record. It outlives the deletion of its record, and
// the next record with the id takes it over; a record that gives up its id frees the row.
// It may also be there before its record: see ClaimNames.
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

// fences keeps the records that external ids were claimed for, and from which the change takes them over, from being
// created after all: none of them may exist by now, and the version of their list moves, on which their creation
// depends. A row that the change itself writes needs neither, and DynamoDB takes only one action on a row.
func (s *Store) fences(org catalog.OrgID, c *catalog.Change, writes []write) (fences []write) {
	written := map[key]bool{}
	for _, w := range writes {
		written[w.key()] = true
	}
	former := map[key]*expression{}
	for _, x := range catalog.EffectsOf[*catalog.ExternalIDAssignment](c) {
		kind := catalog.KindOf(x.Record)
		k, ok := recordKey(org, kind, "", x.Was)
		if !ok || !kind.Listed() || x.Was == x.Record.Base().ID {
			continue
		}
		if dir := directoryKey(org, kind); !written[dir] {
			e := exists()
			e.add("version", "1")
			fences, written[dir] = append(fences, write{action: s.update(dir, e)}), true
		}
		if !written[k] {
			if former[k] == nil {
				former[k] = &expression{}
			}
			former[k].isNot("id", text(x.Was)) // the number may be another record's by now
		}
	}
	for k, e := range former {
		fences = append(fences, write{action: types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName: &s.Table, Key: k.attributes(), ConditionExpression: e.condition(),
			ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
		}}})
	}
	return fences
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
// their number. Because the row of a code may be without its course (see ClaimNames), all courses with the code are
// read, but only the page as a whole.
func (s *Store) CoursesByCode(
	ctx context.Context, org catalog.OrgID, code string, offset, limit int,
) ([]*catalog.Course, int, error) {
	code = catalog.Normalized(code)
	for attempt := range pageAttempts {
		strong := attempt > 0
		keys, err := s.codeKeys(ctx, org, code)
		if err == nil && strong {
			var found []*catalog.Course
			found, err = s.withCode(ctx, code, keys, strong, "id", "code")
			keys = nil
			for _, course := range found {
				seq, _ := catalog.Sequence(catalog.CourseKind, course.ID)
				keys = append(keys, numberedKey(org, catalog.CourseKind, seq))
			}
		}
		if err != nil {
			return nil, 0, err
		}
		asked, first := catalog.PageOf(keys, offset, limit), min(offset, len(keys))
		var page, others []*catalog.Course
		group, groupCtx := errgroup.WithContext(ctx)
		group.Go(func() (err error) {
			page, err = s.withCode(groupCtx, code, asked, strong)
			return err
		})
		group.Go(func() (err error) {
			rest := slices.Concat(keys[:first], keys[first+len(asked):])
			others, err = s.withCode(groupCtx, code, rest, strong, "id", "code")
			return err
		})
		if err := group.Wait(); err != nil {
			return nil, 0, err
		}
		if len(page) == len(asked) && len(page)+len(others) == len(keys) {
			return page, len(keys), nil
		}
		// A row is without its course, a course was changed or deleted meanwhile, or a read was stale.
	}
	return nil, 0, catalog.ChangingTooFast()
}

// codeKeys returns the keys to which the rows of a code lead.
func (s *Store) codeKeys(ctx context.Context, org catalog.OrgID, code string) (keys []key, err error) {
	in := rangeQuery(partition(org, api.CodeRows), codePrefix(code), codePrefix(code)+digitsEnd, true)
	err = s.query(ctx, in, func(row item) (bool, error) {
		number := strings.TrimPrefix(keyOfRow(row).sk, codePrefix(code))
		keys = append(keys, key{recordPartition(org, catalog.CourseKind, ""), number})
		return true, nil
	})
	return keys, err
}

// withCode reads the courses with a code among keys.
func (s *Store) withCode(
	ctx context.Context, code string, keys []key, strong bool, fields ...string,
) ([]*catalog.Course, error) {
	courses, err := records[*catalog.Course](ctx, s, catalog.CourseKind, keys, strong, fields...)
	other := func(c *catalog.Course) bool { return catalog.Normalized(c.Code) != code }
	return slices.DeleteFunc(courses, other), err
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
