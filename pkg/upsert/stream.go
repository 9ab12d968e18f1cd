package upsert

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
	"skillscurriculum/pkg/service"
)

// Rows are the rows of a file, which can be read several times.
type Rows func() iter.Seq2[entry.Row, error]

// Step is a number of consecutive rows, or of retired records, that are saved in one transaction.
type Step struct {
	Kind     catalog.Kind
	Position *catalog.ImportPosition // after the rows; nil for retired records
	Change   *catalog.Change
	*Summary // of the step
}

// Journal records the steps of an import, so that it can continue after the last one that was saved.
type Journal interface {
	// Plan adds to the change of a step what records that it is done. It is called again if the step, or its first rows,
	// are planned again. It is not called if nothing is saved.
	Plan(ctx context.Context, s *Step) error
	// Done is called when a step is done. Its error ends the import.
	Done(ctx context.Context, s *Step) error
}

// Start is where Stream begins: after a position, with the rows that earlier runs have rejected.
type Start struct {
	Position catalog.ImportPosition
	Rejected func(kind catalog.Kind, row int) bool // by the row's number among those of its kind; may be nil
}

// Stream imports the rows of a file of any size, of which it holds the names and a few rows at a time. It saves the
// rows without errors, or none with Options.Check. ErrTooManyMissing means that nothing was changed.
func (l *Loader) Stream(
	ctx context.Context, org catalog.OrgID, rows Rows, o Options, from Start, journal Journal,
) error {
	r := l.run(org, o)
	r.journal, r.rejectedBefore = journal, from.Rejected
	if err := r.index(rows); err != nil {
		return err
	}
	var missing map[catalog.Kind][]string
	if o.RetireMissing {
		var enough bool
		var err error
		if missing, enough, err = r.missing(ctx); err != nil {
			return err
		}
		if !enough && from.Position == (catalog.ImportPosition{}) {
			return ErrTooManyMissing
		}
	}
	if err := r.pass(ctx, rows, from.Position, !o.Check); err != nil {
		return err
	}
	for _, kind := range retirable {
		if err := r.retire(ctx, kind, missing[kind]); err != nil {
			return err
		}
	}
	return nil
}

// index reads the rows once and collects what decisions about one row need to know about the others.
func (r *run) index(rows Rows) error {
	r.count, r.current = map[catalog.Kind]int{}, map[string]dated{}
	r.rowNames, r.referenced = map[catalog.Kind]map[string]bool{}, map[catalog.Kind]map[string]bool{}
	for _, k := range kinds() {
		r.rowNames[k.kind], r.referenced[k.kind] = map[string]bool{}, map[string]bool{}
	}
	refer := func(kind catalog.Kind, name string) {
		if names := r.referenced[kind]; !names[name] {
			names[strings.Clone(name)] = true // a cell keeps its whole line in memory
		}
	}
	for row, err := range rows() {
		if err != nil {
			return err
		}
		r.count[row.Kind]++
		if names := r.rowNames[row.Kind]; names != nil {
			name := nameOf(row)
			_, again := names[name]
			names[strings.Clone(name)] = again
		}
		if other, several := r.current[row.Name]; isDated(row) && (!several || r.precedes(row.Effective, other.effective)) {
			r.current[strings.Clone(row.Name)] = dated{strings.Clone(row.Effective), row.Place}
		}
		if name, ok := row.Fields["supersedes"].(string); ok && row.Kind == catalog.ArticulationKind {
			refer(row.Kind, name)
		}
		if parent := row.Kind.Parent(); parent != "" {
			refer(parent, row.Parent)
			refer(parent, catalog.Normalized(row.Parent)) // its code, perhaps
		}
		if row.Kind == catalog.OutcomeListKind {
			refer(catalog.CourseKind, row.Parent)
			refer(catalog.ProgramKind, row.Parent)
		}
		if credentials, ok := row.Fields["credentialIds"].([]any); ok {
			for _, name := range credentials {
				refer(catalog.CredentialKind, fmt.Sprint(name))
			}
		}
		for _, name := range row.Members {
			refer(catalog.CourseKind, name)
			refer(catalog.SectionKind, name)
		}
	}
	return nil
}

// skip notes a row that an earlier run has done: another row of its name is refused unless this one was.
func (r *run) skip(c candidate) {
	name := nameOf(c.row)
	refused := r.rejectedBefore != nil && r.rejectedBefore(c.row.Kind, c.row.Number)
	if c.good() && !refused && r.rowNames[c.row.Kind][name] {
		r.places[c.row.Kind][name] = c.row.Place
	}
}

// ErrTooManyMissing means that the file has less than half of the records that Options.RetireMissing is about.
var ErrTooManyMissing = errors.New("the file has less than half of the records with an external id")

// retirable are the kinds of records that Options.RetireMissing is about.
var retirable = []catalog.Kind{catalog.CourseKind, catalog.SectionKind}

// missing returns the ids of the live records that have an external id, are not retired or cancelled, and that the file
// lacks, for each kind that the file has.
func (r *run) missing(ctx context.Context) (ids map[catalog.Kind][]string, enough bool, err error) {
	ids, enough = map[catalog.Kind][]string{}, true
	for _, kind := range retirable {
		if r.count[kind] == 0 {
			continue
		}
		live := 0
		err := r.Store.EachRecord(ctx, r.org, kind, "", func(record catalog.Record) error {
			name := catalog.ExternalOf(record).ExternalID
			if name == nil || retired(record) {
				return nil
			}
			live++
			if _, ok := r.rowNames[kind][*name]; !ok {
				ids[kind] = append(ids[kind], record.Base().ID)
			}
			return nil
		})
		if err != nil {
			return nil, false, err
		}
		enough = enough && 2*len(ids[kind]) <= live
	}
	return ids, enough, nil
}

func retired(record catalog.Record) bool {
	switch record := record.(type) {
	case *catalog.Course:
		return record.LifecycleStatus == catalog.RetiredCourse
	case *catalog.Section:
		return record.Cancelled()
	}
	return false
}

// retire retires records, as many at a time as fit into one transaction.
func (r *run) retire(ctx context.Context, kind catalog.Kind, ids []string) error {
	for most := retiredAtOnce; len(ids) > 0; {
		some := ids[:min(most, len(ids))]
		step := &Step{Kind: kind, Change: &catalog.Change{}, Summary: &Summary{}}
		err := r.planRetirement(ctx, kind, some, step)
		if err == nil && r.save {
			err = r.journal.Plan(ctx, step)
		}
		if err == nil && r.save {
			var share float64
			if share, err = r.Store.Share(r.org, step.Change); err == nil && share > 1 && len(some) > 1 {
				most = len(some) / 2
				continue
			}
		}
		if err == nil && r.save {
			err = r.Store.Commit(ctx, r.org, step.Change)
		}
		if errors.Is(err, catalog.ErrStale) {
			if err := ctx.Err(); err != nil {
				return err
			}
			continue
		}
		if err == nil {
			ids = ids[len(some):]
			err = r.journal.Done(ctx, step)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// retiredAtOnce is the maximum number of records that are retired in one transaction.
const retiredAtOnce = 40

func (r *run) planRetirement(ctx context.Context, kind catalog.Kind, ids []string, step *Step) error {
	actor := service.Actor{Org: r.org, Now: r.Now(), Clock: r.Now, IDs: r.IDs, Store: r.Store}
	records, err := r.Store.RecordsByID(ctx, r.org, kind, ids, true)
	if err != nil {
		return err
	}
	courses := map[string]*catalog.Course{}
	if kind == catalog.SectionKind {
		var owners []string
		for _, record := range records {
			owners = append(owners, catalog.ParentOf(record))
		}
		if courses, err = service.GetByID[*catalog.Course](ctx, r.Store, r.org, owners, true); err != nil {
			return err
		}
	}
	for _, id := range ids {
		switch record := records[id].(type) {
		case *catalog.Course:
			if retired(record) {
				continue
			}
			before := catalog.Copy(record)
			record.LifecycleStatus = catalog.RetiredCourse
			if _, err := step.Change.ReplaceCourse(before, record, nil, nil, actor.Now); err != nil {
				return err
			}
			step.Retired++
		case *catalog.Section:
			course := courses[record.CourseID]
			if course == nil || retired(record) {
				continue
			}
			in := catalog.SectionInput{OfferingInput: catalog.OfferingInput{
				Status: catalog.Optional[catalog.SectionStatus]{Set: true, Value: catalog.CancelledSection},
			}}
			if _, err := actor.ReviseSection(record, course, in, step.Change); err != nil {
				return err
			}
			step.Retired++
		}
	}
	return nil
}
