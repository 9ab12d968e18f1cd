package dynamo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// ArticulationsByNumber reads the existing articulations with the sequence numbers, in creation order: only the fields,
// or all of them if none are given.
func (s *Store) ArticulationsByNumber(
	ctx context.Context, org catalog.OrgID, numbers []int, fields []string, strong bool,
) ([]*catalog.Articulation, error) {
	keys := make([]key, len(numbers))
	for i, seq := range numbers {
		keys[i] = numberedKey(org, catalog.ArticulationKind, seq)
	}
	return records[*catalog.Articulation](ctx, s, catalog.ArticulationKind, keys, strong, fields...)
}

// The approved entries under one key are divided among rows: a first row, which counts the others and whose version
// guards all, and parts. New entries go to the last row; if an articulation has entries in several rows, the last one
// applies. With 1,000 entries in a row, the at most 40 rows that an approval changes fit into its transaction.
const (
	approvedEntries = 1000
	entryBytes      = 32
	partCount       = "parts"
)

// Approved reads the entries under each of the keys, in their order.
func (s *Store) Approved(
	ctx context.Context, org catalog.OrgID, under []catalog.ApprovedKey,
) ([]*catalog.Approved, error) {
	at := map[key]*catalog.Approved{}
	found := make([]*catalog.Approved, len(under))
	for i, k := range under {
		found[i] = &catalog.Approved{Key: k, Periods: map[int]string{}}
		at[approvedKey(org, k, 0)] = found[i]
	}
	rows, err := s.rows(ctx, slices.Collect(maps.Keys(at)), true)
	if err != nil {
		return nil, err
	}
	var parts []key
	for _, row := range rows {
		approved := at[keyOfRow(row)]
		approved.Version, approved.Parts = integer(row["version"]), integer(row[partCount])
		if err := readEntries(approved, row); err != nil {
			return nil, err
		}
		for part := range approved.Parts {
			k := approvedKey(org, approved.Key, part+1)
			at[k], parts = approved, append(parts, k)
		}
	}
	if len(parts) == 0 {
		return found, nil
	}
	if rows, err = s.rows(ctx, parts, true); err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b item) int { return compareKeys(keyOfRow(a), keyOfRow(b)) })
	for _, row := range rows {
		if err := readEntries(at[keyOfRow(row)], row); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// readEntries adds the entries of the next row.
func readEntries(a *catalog.Approved, row item) error {
	a.Filled = 0
	for name, v := range row {
		if seq, err := strconv.Atoi(name); err == nil {
			period, ok := v.(*types.AttributeValueMemberS)
			if !ok {
				return fmt.Errorf("approved row: attribute %s", name)
			}
			a.Periods[seq] = period.Value
			a.Filled++
		}
	}
	return nil
}

// saveApproved enters articulations under a key unless others were entered meanwhile.
func (s *Store) saveApproved(org catalog.OrgID, a *catalog.Approved) []write {
	var first expression
	first.counted("version", a.Version)
	first.set("version", number(a.Version+1))
	return s.saveEntries(org, a, &first, a.Entered)
}

// saveHint maps a key to an articulation.
func (s *Store) saveHint(org catalog.OrgID, h *catalog.Hint) []write {
	seq, _ := catalog.Sequence(catalog.ArticulationKind, h.Record.ID)
	return s.saveEntries(org, h.Approved, &expression{}, map[int]string{seq: ""})
}

// saveEntries adds the entries to the last row of a key, or to a new row if that is full. first is the update of the
// first row.
func (s *Store) saveEntries(org catalog.OrgID, a *catalog.Approved, first *expression, entries map[int]string) []write {
	part, last := a.Parts, first
	if a.Filled >= approvedEntries {
		first.counted(partCount, part)
		part++
		first.set(partCount, number(part))
	}
	if part > 0 {
		last = &expression{}
	}
	for _, seq := range slices.Sorted(maps.Keys(entries)) {
		last.set(strconv.Itoa(seq), text(entries[seq]))
	}
	var writes []write
	row := (approvedEntries + len(entries)) * entryBytes
	if len(first.sets) > 0 {
		writes = append(writes, write{action: s.update(approvedKey(org, a.Key, 0), first), row: row})
	}
	if part > 0 {
		writes = append(writes, write{action: s.update(approvedKey(org, a.Key, part), last), row: row})
	}
	return writes
}

// grant increments the counter of a course, which must exist, so that a deletion decided before the grant becomes
// stale.
func (s *Store) grant(course *catalog.Course) write {
	e := exists()
	e.add(taken, "1")
	return write{action: s.update(keyOf(course), e), row: s.bytesOf(course)}
}

// saveMove appends a move to the history of an articulation.
func (s *Store) saveMove(org catalog.OrgID, m *catalog.ArticulationMove) (write, error) {
	row, err := encode(m.Move)
	return s.putNew(historyKey(org, m.Record), row), err
}

// Moves reads the moves of an articulation, oldest first.
func (s *Store) Moves(ctx context.Context, org catalog.OrgID, id string) ([]catalog.Move, error) {
	in := rangeQuery(partition(org, api.HistoryRows), id+"#", id+afterHash, true)
	return readAll[catalog.Move](ctx, s, in)
}

// TransferCoursesByID reads the existing transfer courses among ids and their packages, by id. An id contains the
// number of its package; courses with ids of early versions are looked for in all packages.
func (s *Store) TransferCoursesByID(
	ctx context.Context, org catalog.OrgID, ids []string,
) (map[string]*catalog.TransferCourse, map[string]*catalog.TransferPackage, error) {
	var keys []key
	older := false
	for _, id := range ids {
		if seq, ok := catalog.PackageNumber(id); ok {
			keys = append(keys, numberedKey(org, catalog.TransferPackageKind, seq))
		} else {
			older = older || catalog.TransferCourseKind.Made(id)
		}
	}
	var among []*catalog.TransferPackage
	var err error
	if older {
		err = s.EachRecord(ctx, org, catalog.TransferPackageKind, "", func(r catalog.Record) error {
			among = append(among, r.(*catalog.TransferPackage))
			return nil
		})
	} else {
		among, err = records[*catalog.TransferPackage](ctx, s, catalog.TransferPackageKind, keys, true)
	}
	if err != nil {
		return nil, nil, err
	}
	packages := map[string]*catalog.TransferPackage{}
	keys = nil
	for _, pack := range among {
		packages[pack.ID] = pack
		number, _ := catalog.Sequence(catalog.TransferPackageKind, pack.ID)
		for _, id := range ids {
			if seq, ok := catalog.PackageNumber(id); ok && seq == number || !ok && catalog.TransferCourseKind.Made(id) {
				keys = append(keys, key{recordPartition(org, catalog.TransferCourseKind, pack.ID), id})
			}
		}
	}
	found, err := records[*catalog.TransferCourse](ctx, s, catalog.TransferCourseKind, keys, true)
	courses := map[string]*catalog.TransferCourse{}
	for _, course := range found {
		courses[course.ID] = course
	}
	return courses, packages, err
}
