package demo

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"skillscurriculum/infra/skillsctl/intake"
	"skillscurriculum/infra/skillsctl/load"
	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/queue"
	"skillscurriculum/pkg/rest"
	"skillscurriculum/pkg/skills"
	"skillscurriculum/pkg/skills/wordvectors"
	"skillscurriculum/pkg/syllabus"
)

//go:embed articulations
var decisions embed.FS

// decidedWith is the key that the history of the demo's articulations names.
const decidedWith = "demo"

// heldQueue keeps jobs until the demo has run those that it needs itself.
type heldQueue struct{ jobs []catalog.ExtractionJob }

func (q *heldQueue) Send(_ context.Context, jobs []catalog.ExtractionJob) error {
	q.jobs = append(q.jobs, jobs...)
	return nil
}

// send passes the jobs on.
func (q *heldQueue) send(ctx context.Context, to rest.Queue) error {
	if len(q.jobs) == 0 || to == nil {
		return nil
	}
	return to.Send(ctx, q.jobs)
}

// articulations loads an organization's articulations and brings those that are new to
// the states that the table has them in. What people have changed since stays.
func (l Loader) articulations(ctx context.Context, t tenant, loader load.Loader) error {
	text, err := fs.ReadFile(decisions, "articulations/"+strings.TrimSuffix(t.file, ".json")+".csv")
	if err != nil {
		return err
	}
	rows, err := intake.ReadArticulations(bytes.NewReader(text), t.file)
	if err != nil {
		return err
	}
	jobs, err := l.transferCourses(ctx, t.organization, rows)
	if err != nil {
		return err
	}
	if _, err := loader.Load(ctx, t.organization, rows, load.Options{OnlyNew: true, KeepGoing: true}); err != nil {
		return err
	}
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.Name
	}
	known, err := l.Store.Known(ctx, t.organization, catalog.ArticulationKind, names)
	if err != nil {
		return err
	}
	for _, row := range rows {
		a, ok := known[row.Name].Record.(*catalog.Articulation)
		if !ok || a.Status != catalog.ArticulationDraft || a.UpdatedAt != a.CreatedAt {
			continue
		}
		if err := l.decide(ctx, a, row, jobs); err != nil {
			return fmt.Errorf("articulation %s: %w", row.Name, err)
		}
	}
	return nil
}

// transferCourses puts ids in the place of the names of transfer courses, and returns
// the extractions of these courses that have not begun.
func (l Loader) transferCourses(ctx context.Context, org catalog.OrgID, rows []intake.Row) (map[string]catalog.ExtractionJob, error) {
	var named []map[string]any
	var names []string
	for _, row := range rows {
		for _, alternative := range row.Fields["sending"].([]any) {
			for _, course := range alternative.(map[string]any)["courses"].([]any) {
				if course := course.(map[string]any); course["transferCourseId"] != nil {
					named, names = append(named, course), append(names, course["transferCourseId"].(string))
				}
			}
		}
	}
	known, err := l.Store.Known(ctx, org, catalog.TransferCourseKind, names)
	if err != nil {
		return nil, err
	}
	jobs := map[string]catalog.ExtractionJob{}
	for i, name := range names {
		course, ok := known[name].Record.(*catalog.TransferCourse)
		if !ok {
			continue // people have deleted it
		}
		named[i]["transferCourseId"] = course.ID
		if course.ProcessingStatus == catalog.Pending {
			jobs[course.ID] = catalog.JobOf(course)
		}
	}
	return jobs, nil
}

// decide makes the moves that lead to the row's state.
func (l Loader) decide(ctx context.Context, a *catalog.Articulation, row intake.Row, jobs map[string]catalog.ExtractionJob) error {
	cell := func(column string) string {
		if i := slices.Index(row.Header, column); i >= 0 && i < len(row.Source) {
			return row.Source[i]
		}
		return ""
	}
	status := catalog.ArticulationStatus(cell("status"))
	var by catalog.Optional[*catalog.PersonInput]
	if name, role, _ := strings.Cut(cell("decidedBy"), ", "); name != "" {
		by = catalog.Optional[*catalog.PersonInput]{Set: true, Value: &catalog.PersonInput{Name: name, Role: &role}}
	}
	if status == catalog.ArticulationDraft {
		return nil
	}
	if err := l.move(ctx, a, catalog.MoveInput{Status: catalog.ArticulationInReview}, nil); err != nil || status == catalog.ArticulationInReview {
		return err
	}
	return l.move(ctx, a, catalog.MoveInput{Status: status, DecidedBy: by}, jobs)
}

// move makes one move of an articulation, as the API does.
func (l Loader) move(ctx context.Context, a *catalog.Articulation, in catalog.MoveInput, jobs map[string]catalog.ExtractionJob) error {
	now := l.Store.Now()
	before := *a
	move, err := in.Apply(a, decidedWith, catalog.Lookups{At: "body"}, now)
	if err != nil {
		return err
	}
	var change catalog.Change
	if move.To == catalog.ArticulationApproved {
		evidence := func(ctx context.Context, granted rest.GrantedCourses) (*catalog.DecisionEvidence, error) {
			return l.evidence(ctx, a, granted, jobs)
		}
		if err := rest.Approve(ctx, l.Store, a, move, evidence, &change); err != nil {
			return err
		}
	}
	catalog.ReplaceChanged(&change, before, a, now)
	change.Moves = append(change.Moves, catalog.ArticulationMove{Articulation: a, Move: move})
	return l.Store.Commit(ctx, a.OrganizationID, &change)
}

// evidence compares a transfer course with the course that is granted for it, whose
// skills are set by hand in the demo; the transfer course's are extracted now if they
// have not been. Nil where there is nothing to compare.
func (l Loader) evidence(ctx context.Context, a *catalog.Articulation, granted rest.GrantedCourses, jobs map[string]catalog.ExtractionJob) (*catalog.DecisionEvidence, error) {
	transferCourseID, courseID, ok := a.EvidenceFor()
	if !ok {
		return nil, nil
	}
	if job, waits := jobs[transferCourseID]; waits {
		if err := l.extract(ctx, job); err != nil {
			return nil, err
		}
	}
	org := a.OrganizationID
	transfers, packages, err := l.Store.TransferCoursesByID(ctx, org, []string{transferCourseID})
	transfer := transfers[transferCourseID]
	if err != nil || transfer == nil || transfer.ProcessingStatus != catalog.Completed {
		return nil, err
	}
	courses, err := granted()
	if err != nil || courses[courseID] == nil {
		return nil, err
	}
	section, err := l.Store.Section(ctx, org, courses[courseID].DefaultSectionID, true)
	if err != nil {
		return nil, err
	}
	config := packages[transfer.PackageID].MatchingConfig
	candidate := alignment.Candidate{SectionID: section.ID, CourseID: courseID, SectionName: section.Name, Skills: section.Skills}
	match := alignment.NewIndex([]alignment.Candidate{candidate}).Best(transfer.Skills, config, skills.Starter().Related)
	if match == nil {
		return nil, nil
	}
	return &catalog.DecisionEvidence{
		TransferCourseID: transfer.ID, CourseID: courseID, SectionID: section.ID, SkillsMatchScore: match.SkillsMatchScore,
		Equivalence: match.Equivalence, MatchingConfig: config, SkillMatches: match.SkillMatches,
		Extraction: catalog.ExtractionStamps{TransferCourse: transfer.Provenance},
	}, nil
}

// extract runs an extraction that the queue would bring later.
func (l Loader) extract(ctx context.Context, job catalog.ExtractionJob) error {
	message, err := json.Marshal(job)
	if err != nil {
		return err
	}
	taxonomy := skills.Starter()
	worker := queue.Worker{
		Store: l.Store, Documents: documents{&syllabus.Reader{}, l.Syllabi}, Extractor: skills.NewExtractor(taxonomy, wordvectors.Table()),
		Provenance: catalog.Provenance{Engine: skills.Engine, Taxonomy: taxonomy.Info().Name, TaxonomyVersion: taxonomy.Info().Version},
		Now:        l.Store.Now, IDs: l.Keyring.IDs, Log: slog.New(slog.DiscardHandler),
	}
	// One that another run holds is not waited for: the approval goes without evidence.
	_, err = worker.Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{{Body: string(message)}}})
	return err
}

// documents reads the demo's syllabi where they lie.
type documents struct {
	reader *syllabus.Reader
	at     string // the URL before their names
}

func (d documents) Fetch(ctx context.Context, task *catalog.Task) (catalog.SyllabusText, error) {
	name := strings.TrimPrefix(task.SyllabusHref, d.at)
	text, err := fs.ReadFile(Syllabi(), name)
	if err != nil {
		return catalog.SyllabusText{}, &catalog.Failure{Code: catalog.DocumentNotFound, Message: "The syllabus is not one of the demo's."}
	}
	return d.reader.Read(ctx, text, syllabus.Hint{Name: name, Course: task.Name})
}

func (d documents) Plain(ctx context.Context, words string) (catalog.SyllabusText, error) {
	return d.reader.Read(ctx, []byte(words), syllabus.Hint{Kind: syllabus.Text})
}
