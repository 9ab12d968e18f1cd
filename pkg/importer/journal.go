package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"time"
	"unicode/utf8"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake"
	"skillscurriculum/pkg/intake/entry"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/upsert"
)

// journal is a run of an import: it implements upsert.Journal.
type journal struct {
	*Worker
	end     time.Time       // when the run pauses
	saved   *catalog.Import // as it is in the table
	next    *catalog.Import // with the step that is planned; nil if none is
	details *catalog.ImportDetails
	several bool                            // the file has several tables
	reasons map[catalog.Kind]map[int]string // why rows were rejected, by their numbers
	found   []catalog.ImportProblem         // problems of the step that is planned
	shown   time.Time                       // when the progress of a check was saved
	planned time.Time                       // when the step began to be saved
}

// begin makes this run the one that may save the import's progress.
func (j *journal) begin(ctx context.Context) (err error) {
	org, id := j.saved.OrganizationID, j.saved.ID
	i := *j.saved
	if i.Mode == catalog.CheckOnly { // which has saved nothing, so that it begins again
		i.Counts, i.CountsByResource = catalog.ImportCounts{}, nil
	}
	var change catalog.Change
	change.StartRun(&i, j.IDs.New("run_"), j.Now())
	if err := j.commit(ctx, &change, &i); err != nil {
		return err
	}
	if j.details, err = j.Store.ImportDetails(ctx, org, id); err != nil {
		return err
	}
	if i.Mode == catalog.CheckOnly {
		j.details.Problems = nil
	}
	j.reasons = map[catalog.Kind]map[int]string{}
	return j.Store.RejectedRows(ctx, org, id, j.reject)
}

func (j *journal) reject(kind catalog.Kind, row int, reason string) {
	if j.reasons[kind] == nil {
		j.reasons[kind] = map[int]string{}
	}
	j.reasons[kind][row] = reason
}

// rejected reports whether a row was rejected.
func (j *journal) rejected(kind catalog.Kind, row int) bool {
	_, was := j.reasons[kind][row]
	return was
}

// commit saves a change of the import. If the import has changed, this run is superseded.
func (j *journal) commit(ctx context.Context, change *catalog.Change, i *catalog.Import) error {
	err := j.Store.Commit(ctx, i.OrganizationID, change)
	if errors.Is(err, catalog.ErrStale) {
		if err := j.check(ctx); err != nil {
			return err
		}
	}
	if err == nil {
		j.saved = i
	}
	return err
}

// check returns errCancelled or errSuperseded unless the import is as this run has saved it.
func (j *journal) check(ctx context.Context) error {
	now, err := service.Get[*catalog.Import](ctx, j.Store, j.saved.OrganizationID, j.saved.ID, true)
	switch {
	case catalog.HasCode(err, catalog.NotFound), err == nil && now.Ended():
		return errCancelled
	case err == nil && now.UpdatedAt != j.saved.UpdatedAt:
		return errSuperseded
	}
	return err
}

// opened saves what the file is.
func (j *journal) opened(ctx context.Context, file *intake.File) error {
	i := *j.saved
	i.Layout, i.Resource = string(file.Layout), nil
	if file.Resource != "" {
		i.Resource = new(entry.Resource(file.Resource))
	}
	names := map[string]bool{}
	for _, c := range file.Columns {
		names[c.File] = true
	}
	j.several = len(names) > 1 || file.Resource == ""
	j.details.Columns = columns(file.Columns, j.several)
	var change catalog.Change
	change.Advance(j.saved, &i, j.Now())
	change.SetImportDetails(&i, j.details)
	return j.commit(ctx, &change, &i)
}

// shownBytes is the total size of headers and examples from which on they are shortened.
const shownBytes = 100 << 10

func columns(all []intake.Column, several bool) []catalog.ImportColumn {
	shown := make([]catalog.ImportColumn, len(all))
	size := 0
	for n, c := range all {
		most := intake.MaxValue
		if size > shownBytes {
			most = 20
		}
		column := catalog.ImportColumn{
			Header: shortened(c.Header, most), Suggestion: c.Suggestion, Example: shortened(c.Example, most), Count: c.Count,
		}
		if c.Field != "" {
			column.Field = new(c.Field)
		}
		if several {
			column.File = shortened(c.File, most)
		}
		size += len(column.Header) + len(column.Example) + len(column.File)
		shown[n] = column
	}
	return shown
}

func shortened(text string, most int) string {
	if utf8.RuneCountInString(text) > most {
		return string([]rune(text)[:most-1]) + "…"
	}
	return text
}

// Plan implements upsert.Journal: the import's progress is saved with the rows of the step.
func (j *journal) Plan(ctx context.Context, s *upsert.Step) error {
	if j.next != nil { // planned again, perhaps because the import has changed
		if err := j.check(ctx); err != nil {
			return err
		}
	}
	j.planned = time.Now()
	j.add(s)
	s.Change.Advance(j.saved, j.next, j.Now())
	if len(s.Rejects) > 0 {
		reasons := map[int]string{}
		for _, r := range s.Rejects {
			reasons[r.Row.Number] = shortened(r.Reason, maxReason)
		}
		s.Change.RejectRows(j.next, *s.Position, reasons)
	}
	if more := j.room(); more > 0 && len(j.found) > 0 {
		details := *j.details
		details.Problems = append(slices.Clone(details.Problems), j.found[:min(more, len(j.found))]...)
		s.Change.SetImportDetails(j.next, &details)
	}
	return nil
}

// maxReason is the maximum length of a reason in the file of rejected rows, in characters.
const maxReason = 500

// room returns how many more problems are shown.
func (j *journal) room() int { return catalog.MaxImportProblems - len(j.details.Problems) }

// add counts the rows of a step.
func (j *journal) add(s *upsert.Step) {
	next := *j.saved
	counts := catalog.ImportCounts{
		Read: s.Created + s.Updated + s.Skipped + s.Failed, Created: s.Created, Updated: s.Updated,
		Unchanged: s.Skipped, Failed: s.Failed, Retired: s.Retired,
	}
	next.Counts = next.Counts.Plus(counts)
	if j.several && next.Resource == nil {
		next.CountsByResource = maps.Clone(next.CountsByResource)
		if next.CountsByResource == nil {
			next.CountsByResource = map[string]catalog.ImportCounts{}
		}
		resource := entry.Resource(s.Kind)
		next.CountsByResource[resource] = next.CountsByResource[resource].Plus(counts)
	}
	next.Position = catalog.ValueOr(s.Position, next.Position)
	if next.Mode == catalog.ApplyRows { // a check does not continue, so that it makes no progress
		next.Runs = 0
	}
	j.next, j.found = &next, problems(s, j.several)
}

// Done implements upsert.Journal.
func (j *journal) Done(ctx context.Context, s *upsert.Step) error {
	applies := j.saved.Mode == catalog.ApplyRows
	if !applies {
		j.add(s)
		j.next.Position = catalog.ImportPosition{}
	}
	if more := j.room(); more > 0 {
		j.details.Problems = append(j.details.Problems, j.found[:min(more, len(j.found))]...)
	}
	for _, r := range s.Rejects {
		j.reject(r.Row.Kind, r.Row.Number, shortened(r.Reason, maxReason))
	}
	if !applies && time.Since(j.shown) > showEvery {
		j.shown = time.Now()
		if err := j.show(ctx); err != nil {
			return err
		}
	}
	j.saved, j.next = j.next, nil
	switch {
	case !applies:
		return ctx.Err()
	case time.Now().After(j.end):
		return errPaused
	}
	return j.rest(ctx)
}

// rest waits for as long as the step was being saved, so that the table has half of its time for other organizations.
func (j *journal) rest(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Since(j.planned)):
		return nil
	}
}

// showEvery is the time after which the progress of a check is saved, and after which it notices that it was cancelled.
const showEvery = time.Second

// show saves the progress of a check.
func (j *journal) show(ctx context.Context) error {
	var change catalog.Change
	change.Advance(j.saved, j.next, j.Now())
	change.SetImportDetails(j.next, j.details)
	return j.commit(ctx, &change, j.next)
}

// complete ends an import whose file was imported.
func (j *journal) complete(ctx context.Context) error {
	i := *j.saved
	var change catalog.Change
	change.EndImport(&i, catalog.ImportCompleted, nil, j.Now())
	change.SetImportDetails(&i, j.details)
	return j.commit(ctx, &change, &i)
}

// fail ends an import whose file cannot be imported.
func (j *journal) fail(ctx context.Context, code catalog.FailureCode, message string) error {
	i := *j.saved
	var change catalog.Change
	change.EndImport(&i, catalog.ImportFailed, &catalog.ImportFailure{
		Code: catalog.ImportFailureCode(code), Message: shortened(message, maxReason),
	}, j.Now())
	if j.details != nil {
		change.SetImportDetails(&i, j.details)
	}
	return j.commit(ctx, &change, &i)
}

// writeRejects stores the file of rejected rows, if there are any.
func (j *journal) writeRejects(ctx context.Context, file *intake.File) error {
	if j.saved.Counts.Failed == 0 {
		return nil
	}
	out, err := os.CreateTemp("", "rejects-*.csv")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	if err := upsert.WriteRejects(out, j.rejects(file)); err != nil {
		return err
	}
	if err := j.Files.WriteRejects(ctx, j.saved.OrganizationID, j.saved.ID, out); err != nil {
		return err
	}
	i := *j.saved
	i.Rejects = true
	var change catalog.Change
	change.Advance(j.saved, &i, j.Now())
	return j.commit(ctx, &change, &i)
}

// rejects returns the rejected rows in the order of the file.
func (j *journal) rejects(file *intake.File) iter.Seq2[upsert.Reject, error] {
	return func(yield func(upsert.Reject, error) bool) {
		numbers := map[catalog.Kind]int{}
		for row, err := range file.Rows() {
			number := numbers[row.Kind]
			numbers[row.Kind]++
			reason, was := j.reasons[row.Kind][number]
			if !was && err == nil {
				continue
			}
			if !yield(upsert.Rejected(row, reason), err) {
				return
			}
		}
	}
}

// problems returns the problems of the rows of a step, in the order of the file.
func problems(s *upsert.Step, several bool) (all []catalog.ImportProblem) {
	type numbered struct {
		row int
		catalog.ImportProblem
	}
	var found []numbered
	add := func(row entry.Row, p catalog.ImportProblem) {
		p.Line = cmp.Or(p.Line, row.Line)
		if several {
			p.File = shortened(row.File, intake.MaxValue)
		}
		p.Column, p.Message = shortened(p.Column, intake.MaxValue), shortened(p.Message, maxReason)
		p.Value = shortened(p.Value, intake.MaxValue)
		found = append(found, numbered{row.Number, p})
	}
	for _, r := range s.Incomplete {
		if r.Ignored != nil {
			add(r.Row, *r.Ignored)
		} else { // it refers to what the organization lacks
			add(r.Row, catalog.ImportProblem{Code: "incomplete", Message: r.Reason})
		}
	}
	for _, r := range s.Results {
		if r.Problem == nil {
			continue
		}
		for _, p := range r.Row.Problems {
			add(r.Row, p)
		}
		code := string(r.Problem.Code)
		if r.Problem.Code == catalog.ValidationFailed {
			code = entry.InvalidValue
		}
		fields := r.Problem.Fields[min(len(r.Row.Problems), len(r.Problem.Fields)):]
		for _, f := range fields {
			line, column, value := r.Row.At(f.Location)
			if f.Value != nil {
				value = fmt.Sprint(f.Value)
			}
			add(r.Row, catalog.ImportProblem{Line: line, Column: column, Code: code, Message: f.Message, Value: value})
		}
		if len(r.Problem.Fields) == 0 {
			add(r.Row, catalog.ImportProblem{Code: code, Message: r.Problem.Detail})
		}
	}
	slices.SortStableFunc(found, func(a, b numbered) int { return cmp.Compare(a.row, b.row) })
	for _, f := range slices.Compact(found) { // both ends of credits may be wrong in one way
		all = append(all, f.ImportProblem)
	}
	return all
}
