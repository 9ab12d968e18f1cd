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

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/extraction/wordvectors"
	"skillscurriculum/pkg/intake"
	"skillscurriculum/pkg/queue"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/syllabus"
	"skillscurriculum/pkg/upsert"
)

//go:embed articulations
var decisions embed.FS

// demoKey is the key id in the history of the demo's articulations.
const demoKey = "demo"

// heldQueue keeps jobs until the demo has run the ones that it needs immediately.
type heldQueue struct{ jobs []catalog.ExtractionJob }

func (q *heldQueue) Send(_ context.Context, jobs []catalog.ExtractionJob) error {
	q.jobs = append(q.jobs, jobs...)
	return nil
}

// send sends the jobs to a queue.
func (q *heldQueue) send(ctx context.Context, to service.Queue) error {
	if len(q.jobs) == 0 || to == nil {
		return nil
	}
	return to.Send(ctx, q.jobs)
}

// articulations loads an organization's articulations and moves new ones to the status in
// the file. Changes that users have made since are kept.
func (l Loader) articulations(ctx context.Context, t tenant, loader upsert.Loader) error {
	name := strings.TrimSuffix(t.file, ".json") + ".csv"
	text, err := fs.ReadFile(decisions, "articulations/"+name)
	if err != nil {
		return err
	}
	rows, err := intake.Read(bytes.NewReader(text), name, intake.Options{Resource: catalog.ArticulationKind})
	if err != nil {
		return err
	}
	jobs, err := l.transferCourses(ctx, t.organization, rows)
	if err != nil {
		return err
	}
	if _, err := loader.Load(ctx, t.organization, rows, upsert.Options{OnlyNew: true, KeepGoing: true}); err != nil {
		return err
	}
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.Name
	}
	found, err := known[*catalog.Articulation](ctx, l, t.organization, names)
	if err != nil {
		return err
	}
	for _, row := range rows {
		a := found[row.Name]
		if a == nil || a.Status != catalog.ArticulationDraft || a.UpdatedAt != a.CreatedAt {
			continue
		}
		if err := l.decide(ctx, a, row, jobs); err != nil {
			return fmt.Errorf("articulation %s: %w", row.Name, err)
		}
	}
	return nil
}

// transferCourses replaces the names of transfer courses by ids, and returns the pending
// extraction jobs of these courses.
func (l Loader) transferCourses(
	ctx context.Context, org catalog.OrgID, rows []intake.Row,
) (map[string]catalog.ExtractionJob, error) {
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
	found, err := known[*catalog.TransferCourse](ctx, l, org, names)
	if err != nil {
		return nil, err
	}
	jobs := map[string]catalog.ExtractionJob{}
	for i, name := range names {
		course := found[name]
		if course == nil {
			continue // deleted by a user
		}
		named[i]["transferCourseId"] = course.ID
		if course.ProcessingStatus == catalog.Pending {
			jobs[course.ID] = catalog.JobOf(course)
		}
	}
	return jobs, nil
}

// decide makes the moves that lead to the row's status.
func (l Loader) decide(
	ctx context.Context, a *catalog.Articulation, row intake.Row, jobs map[string]catalog.ExtractionJob,
) error {
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
	err := l.move(ctx, a, catalog.MoveInput{Status: catalog.ArticulationInReview})
	if err != nil || status == catalog.ArticulationInReview {
		return err
	}
	if transferCourseID, _, compared := a.EvidenceFor(); compared && status == catalog.ArticulationApproved {
		if job, waits := jobs[transferCourseID]; waits {
			if err := l.extract(ctx, job); err != nil {
				return err
			}
		}
	}
	in := catalog.MoveInput{Status: status, DecidedBy: by}
	if status == catalog.ArticulationRejected {
		in.Note = catalog.Optional[*string]{Set: true, Value: a.PrivateNote}
	}
	return l.move(ctx, a, in)
}

// move moves an articulation to another status.
func (l Loader) move(ctx context.Context, a *catalog.Articulation, in catalog.MoveInput) error {
	change, err := l.actor(a.OrganizationID).MoveArticulation(ctx, a, in)
	if err != nil {
		return err
	}
	return l.Store.Commit(ctx, a.OrganizationID, change)
}

// extract runs an extraction without waiting for the queue.
func (l Loader) extract(ctx context.Context, job catalog.ExtractionJob) error {
	message, err := json.Marshal(job)
	if err != nil {
		return err
	}
	taxonomy := extraction.Starter()
	info := taxonomy.Info()
	worker := queue.Worker{
		Store: l.Store, Documents: documents{&syllabus.Reader{}, l.Syllabi},
		Extractor:  extraction.NewExtractor(taxonomy, wordvectors.Table()),
		Provenance: catalog.Provenance{Engine: extraction.Engine, Taxonomy: info.Name, TaxonomyVersion: info.Version},
		Now:        l.Store.Now, IDs: l.Keyring.IDs, Log: slog.New(slog.DiscardHandler),
	}
	// If another worker has claimed the job, the approval is made without evidence.
	_, err = worker.Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{{Body: string(message)}}})
	return err
}

// documents reads the demo's syllabi from the embedded files.
type documents struct {
	reader *syllabus.Reader
	at     string // base URL of the syllabi
}

func (d documents) Fetch(ctx context.Context, task *catalog.Task) (catalog.SyllabusText, error) {
	name := strings.TrimPrefix(task.SyllabusHref, d.at)
	text, err := fs.ReadFile(Syllabi(), name)
	if err != nil {
		failure := &catalog.Failure{Code: catalog.DocumentNotFound, Message: "The syllabus is not part of the demo."}
		return catalog.SyllabusText{}, failure
	}
	return d.reader.Read(ctx, text, syllabus.Hint{Name: name, Course: task.Name})
}

func (d documents) Plain(ctx context.Context, words string) (catalog.SyllabusText, error) {
	return d.reader.Read(ctx, []byte(words), syllabus.Hint{Kind: syllabus.Text})
}
