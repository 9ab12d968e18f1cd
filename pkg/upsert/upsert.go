// Package upsert imports rows of package intake into an organization: it finds their records by external id, creates new
// ones and changes those that differ by the rules of package catalog, and saves many records per transaction.
//
// Invariants: importing the same file again changes nothing, so that another run completes one that was interrupted; a
// file with any error changes nothing, unless Options.KeepGoing is set.
package upsert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/schema"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/service/parallel"
)

// Store is the part of the table that imports use.
type Store interface {
	service.Store
	// Known finds records by external id with strong reads; see catalog.Change.Resolve.
	Known(ctx context.Context, org catalog.OrgID, kind catalog.Kind, names []string) (map[string]catalog.ExternalID, error)
	// KnownCourses finds courses as Known does, with the default sections, by id, whose ids follow from their courses'.
	KnownCourses(ctx context.Context, org catalog.OrgID, names []string) (map[string]catalog.ExternalID, map[string]*catalog.Section, error)
	// CoursesByCode returns a page of the courses with a code, compared after normalisation, and their number.
	CoursesByCode(ctx context.Context, org catalog.OrgID, code string, offset, limit int) ([]*catalog.Course, int, error)
	// Share returns the fraction of a transaction that a change needs; above 1, it needs several.
	Share(org catalog.OrgID, change *catalog.Change) (float64, error)
	// Commit saves a change, whole or not at all; it returns catalog.ErrStale if what the change was decided on has
	// changed.
	Commit(ctx context.Context, org catalog.OrgID, change *catalog.Change) error
	// ClaimNames saves the claims of changes, which are committed later or not at all.
	ClaimNames(ctx context.Context, org catalog.OrgID, changes ...*catalog.Change) error
}

// Loader has the dependencies of an import.
type Loader struct {
	Store     Store
	Queue     service.Queue                    // receives the extractions of new syllabi
	Files     service.Uploads                  // finds the files of documents; nil if no row may name one
	Market    labor.Source                     // derives occupations from CIP codes
	SkillName func(id string) (string, bool)   // of the taxonomy
	SkillID   func(name string) (string, bool) // of the skill with the name; nil if no row names skills so
	CheckHref func(href string) error          // whether a syllabus may be fetched from there
	Now       func() catalog.Time
	IDs       catalog.IDs
	CTIDs     *service.CTIDs // finds records by derived CTIDs; nil for one of its own
	// ArticulationFields returns what a file that an articulation was exported to says; needed for rows of articulations.
	ArticulationFields func(
		a *catalog.Articulation, courseName, programName func(id string) string,
	) (map[string]any, error)
}

// Options of one import.
type Options struct {
	Check     bool // find errors and count, change nothing
	KeepGoing bool // skip records with errors instead of changing nothing
	// Bodies states that the rows are the bodies of requests: a course has no fields of its default section, and members
	// may be named by id.
	Bodies bool
	// Term is the current term as the file writes terms. Of several rows of a course, the latest one up to this term
	// applies. If empty, all terms of this year have begun.
	Term string
	// EffectiveFrom is the date for new articulations without one in the file; "" for none.
	EffectiveFrom string
	// RetireMissing retires courses, and cancels sections, that have an external id and that the file lacks, for each
	// of these kinds that the file has. Only Stream does it.
	RetireMissing bool
	OnlyNew       bool // skip everything imported before, even if it was changed or deleted since
	// Progress is called with the number of steps done and the total; may be nil.
	Progress func(done, all int)
}

// Outcome is what became of a row.
type Outcome string

// The outcomes. Rows that another row supersedes, or whose record is deleted in the file, have none.
const (
	Created   Outcome = "CREATED"
	Updated   Outcome = "UPDATED"
	Unchanged Outcome = "UNCHANGED"
	Failed    Outcome = "FAILED"
)

// Result is the outcome of one row.
type Result struct {
	Row     entry.Row
	Outcome Outcome
	ID      string         // of the record; "" if the row failed
	Problem *catalog.Error // of a row that failed; locations begin with a field
}

// Summary counts the records of an import by outcome.
type Summary struct {
	Created int      `json:"created"`
	Updated int      `json:"updated"`
	Skipped int      `json:"skipped"` // unchanged, or deleted in the file
	Failed  int      `json:"failed"`
	Retired int      `json:"-"`
	Rejects []Reject `json:"rejects"`
	// Results has one entry for each row that is not skipped, in no particular order.
	Results []Result `json:"-"`
	// Skips are the skipped rows that another row of the file supersedes.
	Skips []Reject `json:"skips"`
	// Incomplete are records imported without something that they refer to.
	Incomplete []Reject `json:"incomplete,omitempty"`
}

// Reject is a row with the reason why it was not, or not completely, imported.
type Reject struct {
	Row    entry.Row `json:"-"`
	Place  string    `json:"place"`
	Kind   string    `json:"kind"`
	Name   string    `json:"externalId"`
	Reason string    `json:"reason"`
	// Ignored is the value that the record is imported without, if that is the reason.
	Ignored *catalog.ImportProblem `json:"-"`
}

// Rejected returns a rejected row.
func Rejected(row entry.Row, reason string) Reject {
	return Reject{Row: row, Place: row.Place, Kind: string(row.Kind), Name: row.Name, Reason: reason}
}

func (s *Summary) reject(row entry.Row, problem *catalog.Error) {
	s.Failed += row.Count()
	problem = &catalog.Error{Code: problem.Code, Detail: problem.Detail, Fields: slices.Clone(problem.Fields)}
	for i, f := range problem.Fields {
		problem.Fields[i].Location = fieldOf(f)
	}
	reasons := []string{problem.Detail}
	if len(problem.Fields) > 0 {
		reasons = describe(row, problem.Fields...)
	}
	s.Rejects = append(s.Rejects, Rejected(row, strings.Join(reasons, "; ")))
	s.Results = append(s.Results, Result{Row: row, Outcome: Failed, Problem: problem})
}

func (s *Summary) add(more *Summary) {
	s.Created += more.Created
	s.Updated += more.Updated
	s.Skipped += more.Skipped
	s.Failed += more.Failed
	s.Rejects = append(s.Rejects, more.Rejects...)
	s.Results = append(s.Results, more.Results...)
	s.Skips = append(s.Skips, more.Skips...)
	s.Incomplete = append(s.Incomplete, more.Incomplete...)
}

// ErrRejected means that the file has errors and nothing was changed.
var ErrRejected = errors.New("the file has errors; nothing was changed")

// importing defines how rows of a kind are imported.
type importing struct {
	kind catalog.Kind
	// check returns how a row on its own violates the contract.
	check func(r *run, row *entry.Row) []catalog.FieldError
	// load reads the records that the rows of a batch refer to; may be nil.
	load func(p *plan, ctx context.Context) error
	// row plans one row; x is the record that has its external id, if any.
	row func(p *plan, ctx context.Context, row entry.Row, x catalog.ExternalID) error
}

// kinds returns the kinds that can be imported, in order of their dependencies.
func kinds() []importing {
	return []importing{
		{catalog.CourseKind, (*run).checkCourse, nil, (*plan).course},
		{catalog.SectionKind, contract[catalog.SectionInput], (*plan).loadCourses, (*plan).section},
		{
			catalog.CredentialKind, contract[catalog.CredentialInput], (*plan).loadCredential,
			holding[catalog.CredentialInput, catalog.Credential],
		},
		{catalog.ProgramKind, contract[catalog.ProgramInput], (*plan).loadProgram, (*plan).program},
		{catalog.OutcomeListKind, (*run).checkOutcomes, nil, (*plan).outcomes},
		{catalog.JobKind, contract[catalog.JobInput], nil, listed[catalog.JobInput, catalog.Job]},
		{
			catalog.TransferPackageKind, contract[catalog.TransferPackageInput], nil,
			listed[catalog.TransferPackageInput, catalog.TransferPackage],
		},
		{
			catalog.TransferCourseKind, contract[catalog.TransferCourseInput], (*plan).loadPackages,
			(*plan).transferCourse,
		},
		{catalog.ArticulationKind, (*run).checkArticulation, (*plan).loadArticulations, (*plan).articulation},
	}
}

// contract returns how a row violates the schema of input type I.
func contract[I any](_ *run, row *entry.Row) []catalog.FieldError {
	return schema.Check[I](row.Fields)
}

// Load imports rows. With ErrRejected or Options.Check, the summary tells what an import would do.
func (l *Loader) Load(ctx context.Context, org catalog.OrgID, rows []entry.Row, o Options) (*Summary, error) {
	r := l.run(org, o)
	r.claims = !o.OnlyNew // which skips names that were claimed and lead to no record
	r.all = len(rows)
	if !o.Check && !o.KeepGoing {
		r.all *= 2
	}
	source := func() iter.Seq2[entry.Row, error] {
		return func(yield func(entry.Row, error) bool) {
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
	if err := r.index(source); err != nil {
		return nil, err
	}
	at := make(map[string]int, len(rows))
	for i, row := range rows {
		at[row.Place] = i
	}
	pass := func(save bool) (*Summary, error) {
		var c collector
		r.journal = &c
		err := r.pass(ctx, source, catalog.ImportPosition{}, save)
		slices.SortStableFunc(c.Rejects, func(a, b Reject) int { return cmp.Compare(at[a.Place], at[b.Place]) })
		return &c.Summary, err
	}
	if o.Check || !o.KeepGoing {
		planned, err := pass(false)
		switch {
		case err != nil:
			return nil, err
		case o.Check:
			return planned, nil
		case planned.Failed > 0:
			return planned, ErrRejected
		}
	}
	return pass(true)
}

// collector is a Journal that only adds up.
type collector struct{ Summary }

func (c *collector) Plan(context.Context, *Step) error { return nil }

func (c *collector) Done(_ context.Context, s *Step) error {
	c.add(s.Summary)
	return nil
}

// run returns an import that has read nothing yet.
func (l *Loader) run(org catalog.OrgID, o Options) *run {
	by := &byCTID{Store: l.Store, of: map[string]entry.Row{}, all: map[catalog.Kind][]catalog.Record{}}
	linked := *l
	linked.Store = by
	return &run{Loader: &linked, byCTID: by, org: org, options: o, names: map[catalog.Kind]*Names{}}
}

// run is one import.
type run struct {
	*Loader
	byCTID  *byCTID // the same table as Store
	org     catalog.OrgID
	options Options
	claims  bool // names of new records may be claimed before the records are saved
	journal Journal
	// rejectedBefore reports whether an earlier run has rejected a row; may be nil.
	rejectedBefore func(kind catalog.Kind, row int) bool
	done           int
	all            int
	names          map[catalog.Kind]*Names // see stored

	// Of the file:
	count      map[catalog.Kind]int
	current    map[string]dated                 // by external id
	rowNames   map[catalog.Kind]map[string]bool // whether several rows have the name
	referenced map[catalog.Kind]map[string]bool // names that other rows refer to

	// Of one pass:
	batchSize int // how many rows of the kind are planned together
	save      bool
	dirs      map[catalog.Kind]*catalog.Directory
	found     map[catalog.Kind]map[string]catalog.Record // the records of those seen in this pass
	coded     map[string]map[string]*catalog.Course      // by codes and ids, those planned while nothing is saved
	places    map[catalog.Kind]map[string]string         // of the rows that did not fail, by name; where several have it
	ctids     map[string]string                          // places of the rows that did not fail, by CTID and by externalOf
	owners    map[string]string                          // places of the rows of outcomes, by the ids of their owners
	read      window
}

// maxBatch is the maximum number of rows that are planned together: those that may fit into a transaction.
const maxBatch = 99

// alone reports whether each record of the kind needs its own transaction: its members may be refused, and then its
// plan is dropped.
func (k importing) alone() bool {
	_, holds := k.kind.New().(catalog.Holder)
	return holds || k.kind == catalog.OutcomeListKind
}

// pass plans the rows after a position and, if save is set, saves the changes.
func (r *run) pass(ctx context.Context, rows Rows, from catalog.ImportPosition, save bool) error {
	r.save, r.read = save, window{}
	r.dirs = map[catalog.Kind]*catalog.Directory{}
	r.ctids, r.owners = map[string]string{}, map[string]string{}
	r.coded = map[string]map[string]*catalog.Course{}
	r.found, r.places = map[catalog.Kind]map[string]catalog.Record{}, map[catalog.Kind]map[string]string{}
	for _, k := range kinds() {
		r.found[k.kind], r.places[k.kind] = map[string]catalog.Record{}, map[string]string{}
	}
	for _, k := range kinds() {
		skip := 0
		if from.Kind != "" { // all rows of the kinds before it are done
			skip = r.count[k.kind]
		}
		if from.Kind == k.kind {
			skip, from.Kind = from.Rows, ""
		}
		if r.count[k.kind] == 0 {
			continue
		}
		if err := r.passKind(ctx, k, rows, skip); err != nil {
			return err
		}
	}
	return nil
}

// passKind plans the rows of a kind but the first ones.
func (r *run) passKind(ctx context.Context, k importing, rows Rows, skip int) error {
	r.batchSize = maxBatch
	if k.alone() {
		r.batchSize = 1
	}
	done := 0
	var waiting []candidate
	next := func() error {
		n, err := r.batch(ctx, k, waiting, done)
		waiting = slices.Clone(waiting[n:])
		done += n
		r.done += n
		if err == nil && r.options.Progress != nil {
			r.options.Progress(r.done, r.all)
		}
		return err
	}
	for row, err := range r.rowsOf(k.kind, rows) {
		if err != nil {
			return err
		}
		c := r.check(row)
		if done < skip {
			done++
			r.skip(c)
			continue
		}
		if waiting = append(waiting, c); len(waiting) == windowRows {
			if err := next(); err != nil {
				return err
			}
		}
	}
	for len(waiting) > 0 {
		if err := next(); err != nil {
			return err
		}
	}
	return nil
}

// rowsOf returns the rows of a kind, numbered, in the order in which they are imported.
func (r *run) rowsOf(kind catalog.Kind, rows Rows) iter.Seq2[entry.Row, error] {
	numbered := func(yield func(entry.Row, error) bool) {
		n := 0
		for row, err := range rows() {
			if err == nil && row.Kind != kind {
				continue
			}
			row.Number = n
			n++
			if !yield(row, err) {
				return
			}
		}
	}
	if kind != catalog.ArticulationKind {
		return numbered
	}
	return func(yield func(entry.Row, error) bool) {
		var all []entry.Row
		for row, err := range numbered {
			if err != nil {
				yield(row, err)
				return
			}
			all = append(all, row)
		}
		for _, row := range supersededFirst(all) {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Bounds of retries of a batch whose records were changed concurrently.
const (
	attempts   = 20
	firstPause = 20 * time.Millisecond
)

// batch plans the first of the candidates, saves them, and returns their number. done is the number of rows of the kind
// before them.
func (r *run) batch(ctx context.Context, k importing, waiting []candidate, done int) (int, error) {
	pause := firstPause
	for range attempts {
		n, err := r.saveNext(ctx, k, waiting, done)
		if !errors.Is(err, catalog.ErrStale) {
			return n, err
		}
		r.read = window{}
		delete(r.dirs, k.kind)
		if n > 0 {
			return n, nil
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(rand.N(pause)):
		}
		pause = min(2*pause, time.Second)
	}
	return 0, fmt.Errorf("the same records keep changing; run the import again later: %w", catalog.ErrStale)
}

// saveNext saves as many of the candidates as fit into one transaction. Meanwhile it claims the names of new records
// among the others, which are then saved in transactions with more records. It returns the number of candidates that
// are done, also with an error.
func (r *run) saveNext(ctx context.Context, k importing, waiting []candidate, done int) (int, error) {
	first, err := r.fit(ctx, k, nil, waiting, done)
	if err != nil {
		return 0, err
	}
	isNew := func(c candidate) bool { return c.good() && first.known[nameOf(c.row)].Was == "" }
	var others []*plan
	var changes []*catalog.Change
	claims := r.claims && r.save && k.kind.Listed() && k.load == nil
	for last, rest := first, waiting[first.n:]; claims && slices.ContainsFunc(rest, isNew); {
		if last, err = r.fit(ctx, k, last, rest, done+len(waiting)-len(rest)); err != nil {
			return 0, err
		}
		if len(last.change.Claims()) == 0 {
			break
		}
		others, changes, rest = append(others, last), append(changes, &last.change), rest[last.n:]
	}
	var saved, claimed error // neither ends the other
	err = parallel.All(ctx, func(ctx context.Context) error {
		saved = first.commit(ctx)
		return nil
	}, func(ctx context.Context) error {
		if len(changes) > 0 {
			claimed = r.Store.ClaimNames(ctx, r.org, changes...)
		}
		return nil
	})
	if err = cmp.Or(err, saved); err != nil {
		return 0, err
	}
	n, err := first.n, cmp.Or(r.end(ctx, first), claimed)
	for _, p := range others {
		if err == nil {
			err = p.commit(ctx)
		}
		if err != nil {
			return n, err
		}
		n, err = n+p.n, r.end(ctx, p)
	}
	return n, err
}

// fit plans as many of the candidates as fit into one transaction. after is the plan of those before them if it is not
// saved yet; then the plan claims names.
func (r *run) fit(ctx context.Context, k importing, after *plan, waiting []candidate, done int) (*plan, error) {
	for size := maxBatch; ; {
		if after == nil {
			size = r.batchSize
		}
		p := &plan{run: r, importing: k, after: after, n: min(size, len(waiting))}
		if err := p.plan(ctx, waiting); err != nil {
			return nil, err
		}
		if after != nil && !p.change.ClaimNames() {
			return p, nil
		}
		p.step = &Step{k.kind, &catalog.ImportPosition{Kind: k.kind, Rows: done + p.n}, &p.change, &p.Summary}
		if r.save {
			if err := r.journal.Plan(ctx, p.step); err != nil {
				return nil, err
			}
		}
		share, err := r.Store.Share(r.org, &p.change)
		if err != nil {
			return nil, err
		}
		if !k.alone() && share > 0 {
			size = max(1, int(min(maxBatch, float64(p.n)/share)))
		}
		if share > 1 {
			size = min(size, p.n-1)
		}
		if after == nil {
			r.batchSize = max(1, size)
		}
		if share <= 1 || p.n == 1 {
			return p, nil
		}
	}
}

// end records that the rows of a plan are saved.
func (r *run) end(ctx context.Context, p *plan) error {
	maps.Copy(r.found[p.kind], p.seen)
	for name, record := range p.seen {
		for _, code := range p.codes(name, record) {
			if r.coded[code] == nil {
				r.coded[code] = map[string]*catalog.Course{}
			}
			r.coded[code][record.Base().ID] = record.(*catalog.Course)
		}
	}
	for name, place := range p.used {
		if r.rowNames[p.kind][name] {
			r.places[p.kind][name] = place
		}
	}
	maps.Copy(r.ctids, p.usedCTIDs)
	if p.dir != nil {
		r.dirs[p.kind] = p.dir
	}
	return r.journal.Done(ctx, p.step)
}
