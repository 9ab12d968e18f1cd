// Package load brings catalogs from files into an organization: it finds what the
// file's records are here by their external ids, creates and changes what differs
// through the rules of package catalog, and saves many records in one transaction.
//
// Invariants: the same file twice changes nothing the second time, so that a run
// which broke off is completed by another one; unless asked to keep going, a file
// with an error anywhere changes nothing.
package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"skillscurriculum/infra/skillsctl/intake"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/rest"
)

// Store is the table as an import needs it.
type Store interface {
	Directory(ctx context.Context, org catalog.OrgID, kind catalog.Kind) (*catalog.Directory, error)
	TransferCourses(ctx context.Context, org catalog.OrgID, packageID string) ([]*catalog.TransferCourse, error)
	// Known finds records by external id; see package dynamo.
	Known(ctx context.Context, org catalog.OrgID, kind catalog.Kind, names []string) (map[string]catalog.ExternalID, error)
	SectionsByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Section, error)

	// For articulations.
	rest.Approvals
	AllCourses(ctx context.Context, org catalog.OrgID) ([]*catalog.Course, error)
	AllPrograms(ctx context.Context, org catalog.OrgID) ([]*catalog.Program, error)
	TransferCoursesByID(ctx context.Context, org catalog.OrgID, ids []string) (map[string]*catalog.TransferCourse, map[string]*catalog.TransferPackage, error)

	// Fits reports whether Commit saves a change in one transaction.
	Fits(org catalog.OrgID, change *catalog.Change) (bool, error)
	Commit(ctx context.Context, org catalog.OrgID, change *catalog.Change) error
}

// Loader is where to import, and by which rules.
type Loader struct {
	Store     Store
	Queue     rest.Queue                     // takes the extractions of new syllabi
	Market    labor.Source                   // derives occupations from CIP codes
	SkillName func(id string) (string, bool) // of the taxonomy
	CheckHref func(href string) error        // whether a syllabus may be fetched from there
	Now       func() catalog.Time
	IDs       catalog.IDs
}

// Options of one import.
type Options struct {
	Check     bool // find errors and count, change nothing
	KeepGoing bool // leave records with errors out instead of changing nothing
	// Term is the current term as the file writes terms: of a course that it has as of
	// several, the latest until this one counts. All of this year where empty.
	Term string
	// EffectiveFrom is the day from which new articulations are in effect of which the
	// file does not say it; "" for none.
	EffectiveFrom string
	OnlyNew       bool // leave alone what was ever imported, also what was changed or deleted since
	// Progress is called with how many of all steps are done; may be nil.
	Progress func(done, all int)
}

// Summary counts the records of an import by what became of them.
type Summary struct {
	Created int      `json:"created"`
	Updated int      `json:"updated"`
	Skipped int      `json:"skipped"` // as they are in the file already, or deleted there
	Failed  int      `json:"failed"`
	Rejects []Reject `json:"rejects"`
	// Skips are those skipped rows for which the file has another one that counts.
	Skips []Reject `json:"skips"`
	// Incomplete are those that were imported without something that they name.
	Incomplete []Reject `json:"incomplete,omitempty"`
}

// Reject is a record that breaks a rule, or is passed over for another.
type Reject struct {
	Row    intake.Row `json:"-"`
	Place  string     `json:"place"`
	Kind   string     `json:"kind"`
	Name   string     `json:"externalId"`
	Reason string     `json:"reason"`
}

// ErrRejected means that the file has errors and nothing was changed.
var ErrRejected = errors.New("the file has errors; nothing was changed")

// kinds in the order in which they depend on each other.
var kinds = []catalog.Kind{
	catalog.CourseKind, catalog.SectionKind, catalog.ProgramKind, catalog.CredentialKind, catalog.JobKind,
	catalog.TransferPackageKind, catalog.TransferCourseKind, catalog.ArticulationKind,
}

// Load imports rows. With ErrRejected or Options.Check the summary is of what would
// have become of them.
func (l *Loader) Load(ctx context.Context, org catalog.OrgID, rows []intake.Row, o Options) (*Summary, error) {
	r := &run{skips: []Reject{}, Loader: l, org: org, contract: rest.New(&rest.Server{}), options: o, all: len(rows)}
	if !o.Check {
		r.all *= 2
	}
	good, gone, rejects := r.sound(rows)
	plan, err := r.pass(ctx, good, false)
	if err != nil {
		return nil, err
	}
	plan.complete(rows, gone, rejects)
	plan.Skips = r.skips
	if o.Check {
		return plan, nil
	}
	if plan.Failed > 0 && !o.KeepGoing {
		return plan, ErrRejected
	}
	done, err := r.pass(ctx, good, true)
	done.complete(rows, gone, rejects)
	done.Skips = r.skips
	return done, err
}

// complete adds the rows that were not planned, and puts the rejects in the order
// of the rows.
func (s *Summary) complete(rows []intake.Row, gone int, rejects []Reject) {
	s.Skipped += gone
	s.reject(rejects...)
	at := make(map[string]int, len(rows))
	for i, row := range rows {
		at[row.Place] = i
	}
	slices.SortStableFunc(s.Rejects, func(a, b Reject) int { return cmp.Compare(at[a.Place], at[b.Place]) })
}

func (s *Summary) reject(rejects ...Reject) {
	s.Failed += len(rejects)
	s.Rejects = append(s.Rejects, rejects...)
}

// run is one import.
type run struct {
	*Loader
	org      catalog.OrgID
	contract *rest.Server
	options  Options
	done     int
	all      int
	skips    []Reject
	names    *catalogNames // once they are read

	// Of one pass:
	save    bool
	summary *Summary
	dirs    map[catalog.Kind]*catalog.Directory
	named   map[catalog.Kind]map[string]bool           // whom other rows name
	found   map[catalog.Kind]map[string]catalog.Record // those of them that this pass has seen
}

// maxBatch is how many rows one transaction takes, by kind: a course is four rows
// of the table (course, default section, external id, code), others are two; the list's
// directory and the change feed take one each, and DynamoDB 100 in all.
func maxBatch(kind catalog.Kind) int {
	switch kind {
	case catalog.CourseKind:
		return 24
	case catalog.SectionKind:
		return 30 // and up to 30 courses
	case catalog.ProgramKind, catalog.CredentialKind:
		return 1 // and the courses that it holds
	case catalog.ArticulationKind:
		return 18 // and what they are found by, see joined
	}
	return 48
}

// maxBatchBytes keeps a transaction below DynamoDB's 4 MB.
const maxBatchBytes = 1 << 20

// pass plans all rows, and saves what it planned where save is set.
func (r *run) pass(ctx context.Context, rows []intake.Row, save bool) (*Summary, error) {
	r.save, r.summary = save, &Summary{Rejects: []Reject{}}
	r.dirs = map[catalog.Kind]*catalog.Directory{}
	r.found, r.named = map[catalog.Kind]map[string]catalog.Record{}, map[catalog.Kind]map[string]bool{}
	byKind := map[catalog.Kind][]intake.Row{}
	for _, kind := range kinds {
		r.found[kind], r.named[kind] = map[string]catalog.Record{}, map[string]bool{}
	}
	for _, row := range rows {
		byKind[row.Kind] = append(byKind[row.Kind], row)
		switch row.Kind {
		case catalog.ArticulationKind:
			if name, ok := row.Fields["supersedes"].(string); ok {
				r.named[row.Kind][name] = true
			}
		case catalog.SectionKind:
			r.named[catalog.CourseKind][row.Parent] = true
		case catalog.TransferCourseKind:
			r.named[catalog.TransferPackageKind][row.Parent] = true
		}
		for _, name := range row.Members {
			r.named[catalog.CourseKind][name] = true
			r.named[catalog.SectionKind][name] = true
		}
	}
	byKind[catalog.ArticulationKind] = supersededFirst(byKind[catalog.ArticulationKind])
	for _, kind := range kinds {
		for batch := range batches(byKind[kind], maxBatch(kind)) {
			if err := r.batch(ctx, kind, batch); err != nil {
				return r.summary, err
			}
			r.done += len(batch)
			if r.options.Progress != nil {
				r.options.Progress(r.done, r.all)
			}
		}
	}
	return r.summary, nil
}

// How often a batch is planned anew because others changed the same.
const (
	attempts   = 20
	firstPause = 20 * time.Millisecond
)

// batch plans a batch and saves it in one transaction.
func (r *run) batch(ctx context.Context, kind catalog.Kind, rows []intake.Row) error {
	pause := firstPause
	for range attempts {
		p := &plan{run: r, kind: kind}
		if err := p.plan(ctx, rows); err != nil {
			return err
		}
		fits, err := r.Store.Fits(r.org, &p.change)
		if err != nil {
			return err
		}
		if half := len(rows) / 2; half > 0 && !fits {
			delete(r.dirs, kind) // it counts what will not be saved
			if err := r.batch(ctx, kind, rows[:half]); err != nil {
				return err
			}
			return r.batch(ctx, kind, rows[half:])
		}
		if err = p.commit(ctx); err == nil {
			r.summary.Created += p.created
			r.summary.Updated += p.updated
			r.summary.Skipped += p.skipped
			r.summary.reject(p.rejects...)
			r.summary.Incomplete = append(r.summary.Incomplete, p.incomplete...)
			for name, record := range p.seen {
				r.found[kind][name] = record
			}
			return nil
		}
		if !errors.Is(err, catalog.ErrStale) {
			return err
		}
		delete(r.dirs, kind) // it counts what was not saved
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rand.N(pause)):
		}
		pause = min(2*pause, time.Second)
	}
	return fmt.Errorf("others change the same records all the time; run the import again later")
}

// directory returns a list's directory as the pass has left it.
func (r *run) directory(ctx context.Context, kind catalog.Kind) (*catalog.Directory, error) {
	if dir := r.dirs[kind]; dir != nil {
		return dir, nil
	}
	dir, err := r.Store.Directory(ctx, r.org, kind)
	if err == nil {
		r.dirs[kind] = dir
	}
	return dir, err
}
