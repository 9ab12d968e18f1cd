package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"skillscurriculum/infra/bench/budget"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/extraction/wordvectors"
	"skillscurriculum/pkg/queue"
	usecase "skillscurriculum/pkg/service"
)

// repeats is how often each operation is measured; the most expensive call counts. It exceeds the capacity of a page of
// the change feed, so that some call finds a full one.
const repeats = 14

// attempts is how often an operation over budget is measured: on a busy machine parallel calls may not overlap, and
// look like one more round trip.
const attempts = 3

// budgets measures every operation that has a budget.
func budgets(ctx context.Context, s *service) (*table, error) {
	t := newTable("Budgets: round trips and units, warm, 1 KB records",
		"operation", "trips", "target", "write units", "target", "read units", "target", "")
	c, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	w, err := newWorld(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, b := range budget.All() {
		prepare := w.operations()[b.Operation]
		if prepare == nil {
			return nil, fmt.Errorf("no measurement for the budget of %q", b.Operation)
		}
		// The row of a customer's units grows with the number of different operations.
		if w.client, err = s.customer(ctx, c.org); err != nil {
			return nil, err
		}
		var worst budget.Cost
		for range attempts {
			if worst, err = w.most(ctx, prepare); err != nil {
				return nil, fmt.Errorf("%s: %w", b.Operation, err)
			}
			if !b.Exceeded(worst) {
				break
			}
		}
		t.row(t.judge(b.Exceeded(worst), b.Why), b.Operation,
			worst.Trips, bound(b.Target.Trips, b.Held.Trips), worst.Write, bound(b.Target.Write, b.Held.Write),
			worst.Read, bound(b.Target.Read, b.Held.Read))
	}
	return t, nil
}

// most measures an operation repeatedly and returns the maximum of each figure.
func (w *world) most(ctx context.Context, prepare func() measurement) (worst budget.Cost, err error) {
	// The first call fills the caches: caller, directory, last page of the change feed.
	for i := range repeats + 1 {
		run := prepare()
		if w.err != nil {
			return worst, w.err
		}
		cost, err := run(ctx)
		if err != nil {
			return worst, err
		}
		if i > 0 {
			worst.Trips, worst.Write = max(worst.Trips, cost.Trips), max(worst.Write, cost.Write)
			worst.Read = max(worst.Read, cost.Read)
		}
	}
	return worst, nil
}

// measurement runs an operation once, on prepared records.
type measurement func(ctx context.Context) (budget.Cost, error)

// world holds the records on which operations are measured. Its methods prepare measurements; the first error is kept
// in err.
type world struct {
	client
	err                                                       error
	course, section, credential, program, job, pack, uploaded string
	ctid                                                      string // of the course
	publicHandle                                              string // of the organization
	worker                                                    *queue.Worker
	document                                                  *document
	webhook                                                   *delivered
}

func newWorld(ctx context.Context, c client) (*world, error) {
	w := &world{client: c, document: &document{}}
	w.worker = &queue.Worker{
		Store: c.store, Documents: w.document,
		Extractor:  extraction.NewExtractor(extraction.Starter(), wordvectors.Table()),
		Provenance: catalog.Provenance{Engine: extraction.Engine},
		RetryDelay: time.Minute, Now: now, IDs: ids, Log: slog.New(slog.DiscardHandler),
	}
	var sections, courses []string
	for i := range budget.Members {
		course := w.post("/courses", with(newCourse, "name", fmt.Sprint("Course ", i)))
		courses, sections = append(courses, text(course, "id")), append(sections, text(course, "defaultSectionId"))
	}
	w.course, w.section, w.ctid = courses[0], sections[0], catalog.DerivedCTID(courses[0])
	w.credential = w.create("/credentials", map[string]any{"name": "Credential", "courseSectionIds": sections})
	w.program = w.create("/programs", map[string]any{"name": "Program", "courseOrder": courses})
	w.job, w.pack = w.create("/jobs", newJob), w.create("/transfer-packages", newPackage)
	w.uploaded = w.create("/documents", newDocument)
	if w.err != nil {
		return nil, w.err
	}
	w.publicHandle = strings.ReplaceAll(string(c.org), "_", "-")
	college := catalog.Organization{ID: c.org, Name: "College", OrganizationFacts: catalog.OrganizationFacts{
		Description: "A public two-year college", Webpage: "https://college.example", AgentType: "TwoYear",
		Handle: w.publicHandle, Publication: true,
	}}
	err := c.store.ReplaceOrganization(context.Background(), &catalog.Organization{ID: c.org}, &college)
	if err != nil {
		return nil, err
	}
	w.webhook, err = newDelivered(ctx, c.service)
	return w, err
}

func text(response map[string]any, field string) string {
	value, _ := response[field].(string)
	return value
}

var (
	newJob        = map[string]any{"name": "Job", "employerId": "employer", "description": filler(600)}
	newCourse     = map[string]any{"name": "Course", "code": "C 1", "description": filler(300)}
	newProgram    = map[string]any{"name": "Program", "description": filler(500)}
	newCredential = map[string]any{"name": "Credential", "description": filler(500)}
	newPackage    = map[string]any{"name": "Package", "transferFromInstitution": "Institution", "description": filler(400)}
	newDocument   = map[string]any{"fileName": "syllabus.pdf", "sizeBytes": 1 << 20, "sha256": strings.Repeat("0a", 32)}
)

// post returns the response to a POST.
func (w *world) post(path string, body any) map[string]any {
	return w.send(postOf(path, body))
}

func (w *world) send(r request) (response map[string]any) {
	if w.err == nil {
		response, w.err = w.do(context.Background(), r)
	}
	return response
}

// create creates a record and returns its id.
func (w *world) create(path string, body any) string { return text(w.post(path, body), "id") }

// run measures a call.
func (w *world) run(r request) measurement {
	return func(ctx context.Context) (budget.Cost, error) { return w.measure(ctx, r) }
}

// operations returns the preparation of each operation with a budget.
func (w *world) operations() map[string]func() measurement {
	get := func(path string) func() measurement {
		return func() measurement { return w.run(call(http.MethodGet, path, "")) }
	}
	post := func(path string, body any) func() measurement {
		return func() measurement { return w.run(postOf(path, body)) }
	}
	remove := func(path string, body any) func() measurement {
		return func() measurement { return w.run(call(http.MethodDelete, path+"/"+w.create(path, body), "")) }
	}
	patch := func(path, field string) func() measurement {
		return func() measurement {
			return w.run(call(http.MethodPatch, path, fmt.Sprintf(`{%q:%q}`, field, ids.New("Name "))))
		}
	}
	section := "/courses/" + w.course + "/sections/" + w.section
	return map[string]func() measurement{
		"GET a course":                get("/courses/" + w.course),
		"GET a section":               get(section),
		"GET a job":                   get("/jobs/" + w.job),
		"GET a document":              get("/documents/" + w.uploaded),
		"GET a package":               get("/transfer-packages/" + w.pack),
		"GET a credential":            get("/credentials/" + w.credential),
		"GET a program":               get("/programs/" + w.program),
		"announce a document":         post("/documents", newDocument),
		"message to a webhook":        w.message,
		"search courses":              get("/courses?limit=100&query=course"),
		"sections that teach a skill": get("/skills/core:python/sections"),
		"find a job by externalId":    func() measurement { return w.find("/jobs", "/jobs", "externalId", newJob) },
		"find a course by code":       func() measurement { return w.find("/courses", "/courses", "code", newCourse) },
		"find a section by externalId": func() measurement {
			path := "/courses/" + w.create("/courses", newCourse) + "/sections"
			return w.find(path, "/sections", "externalId", map[string]any{"name": "Section"})
		},
		"create a course":     post("/courses", newCourse),
		"create a job":        post("/jobs", newJob),
		"create a program":    post("/programs", newProgram),
		"create a credential": post("/credentials", newCredential),
		"create a package":    post("/transfer-packages", newPackage),
		"create a job, externalId": func() measurement {
			return w.run(postOf("/jobs", with(newJob, "externalId", ids.New("x"))))
		},
		"create a job, Idempotency-Key": func() measurement {
			return w.run(postOf("/jobs", newJob, "Idempotency-Key", ids.New("i")))
		},
		"create an articulation": func() measurement {
			return w.run(postOf("/articulations", articulation(ids.New("C"), w.course, "2026-08-01")))
		},
		"delete a course":     remove("/courses", newCourse),
		"delete a job":        remove("/jobs", newJob),
		"delete a program":    remove("/programs", newProgram),
		"delete a credential": remove("/credentials", newCredential),
		"delete a package":    remove("/transfer-packages", newPackage),
		"PATCH a course": func() measurement {
			return w.run(call(http.MethodPatch, "/courses/"+w.course,
				fmt.Sprintf(`{"webpage":"https://example.org/%s"}`, ids.New("w"))))
		},
		"PATCH a course's description": patch("/courses/"+w.course, "description"),
		"PATCH a section":              patch(section, "instructorId"),
		"PATCH a job":                  patch("/jobs/"+w.job, "name"),
		"PATCH a package":              patch("/transfer-packages/"+w.pack, "name"),
		"PATCH a credential":           patch("/credentials/"+w.credential, "name"),
		"PUT a review of a section": func() measurement {
			return w.run(call(http.MethodPut, section+review, accepted))
		},
		"PUT a review of a transfer course": func() measurement {
			_, path := w.transferCourse()
			return w.run(call(http.MethodPut, path+review, accepted))
		},
		"DELETE a review": func() measurement {
			_, path := w.transferCourse()
			w.send(call(http.MethodPut, path+review, accepted))
			return w.run(call(http.MethodDelete, path+review, ""))
		},
		"approve an articulation that supersedes another": func() measurement {
			return w.approval(articulation(ids.New("C"), w.create("/courses", newCourse), "2026-08-01"))
		},
		"approve an articulation with evidence": w.compared,
		"add a section to a credential": func() measurement {
			body := map[string]any{"name": "Credential", "courseSectionIds": []string{w.section}}
			path := "/credentials/" + w.create("/credentials", body) + "/sections"
			added := text(w.post("/courses", newCourse), "defaultSectionId")
			return w.run(postOf(path, map[string]any{"sectionId": added}))
		},
		"add a course to a program": func() measurement {
			body := map[string]any{"name": "Program", "courseOrder": []string{w.course}}
			path := "/programs/" + w.create("/programs", body) + "/courses"
			return w.run(postOf(path, map[string]any{"courseId": w.create("/courses", newCourse)}))
		},
		"GET outcomes":          get("/courses/" + w.course + "/outcomes"),
		"outcomes with a skill": get("/outcomes?skillId=core:python"),
		"PUT outcomes that are given": func() measurement {
			return w.run(call(http.MethodPut, "/programs/"+w.program+"/outcomes", given(ids.New("Write "))))
		},
		"PUT outcomes to be read": func() measurement {
			return w.run(call(http.MethodPut, "/courses/"+w.course+"/outcomes", unread(ids.New("Write "))))
		},
		"PUT a review of an outcome": func() measurement {
			path := "/programs/" + w.program + "/outcomes"
			list, _ := w.send(call(http.MethodPut, path, given(ids.New("Write "))))["outcomes"].([]any)
			if w.err != nil {
				return nil
			}
			return w.run(call(http.MethodPut, path+"/"+text(list[0].(map[string]any), "id")+review, accepted))
		},
		"extraction job of outcomes": func() measurement {
			course := w.create("/courses", newCourse)
			w.send(call(http.MethodPut, "/courses/"+course+"/outcomes", unread("Write programs in Python.")))
			return w.extraction(catalog.ExtractionJob{
				OrganizationID: w.org, Kind: catalog.OutcomeListKind, ID: catalog.OutcomeListID(course),
			})
		},
		"GET a course in CTDL":            get("/courses/" + w.course + "/ctdl"),
		"GET a public course":             get("/public/" + w.publicHandle + "/ctdl/" + w.ctid),
		"GET the index of what is public": get("/public/" + w.publicHandle + "/ctdl/index.json"),
		"GET a map of 10 courses":         get("/programs/" + w.program + "/map"),
		"GET the page of a map":           get("/programs/" + w.program + "/map/page"),
		"PUT a decision on a map": func() measurement {
			path := "/programs/" + w.program
			list, _ := w.send(call(http.MethodPut, path+"/outcomes", given(ids.New("Write "))))["outcomes"].([]any)
			if w.err != nil {
				return nil
			}
			return w.run(call(http.MethodPut, path+"/map/"+text(list[0].(map[string]any), "id")+"/"+w.course,
				`{"mark":"MASTERED"}`))
		},
		"POST transfer courses": func() measurement {
			course := map[string]any{"name": "Course", "syllabusHref": href, "description": filler(300)}
			path := "/transfer-packages/" + w.create("/transfer-packages", newPackage) + "/courses"
			return w.run(postOf(path, map[string]any{"courses": slices.Repeat([]any{course}, budget.Courses)}))
		},
		"POST a batch of 100 new courses": func() measurement { return w.batch(ids.New("x"), "New") },
		"POST a batch of 100 known courses": func() measurement {
			prefix := ids.New("x")
			w.post("/batches", batch(prefix, "Old"))
			return w.batch(prefix, "New")
		},
		"POST a batch of 100 unchanged courses": func() measurement {
			prefix := ids.New("x")
			w.post("/batches", batch(prefix, "Old"))
			return w.batch(prefix, "Old")
		},
		"extraction job": func() measurement {
			job, _ := w.transferCourse()
			return w.extraction(job)
		},
		"extraction job of a description": func() measurement {
			id := text(w.post("/courses", newCourse), "defaultSectionId")
			return w.extraction(catalog.ExtractionJob{OrganizationID: w.org, Kind: catalog.SectionKind, ID: id})
		},
	}
}

// batch measures a batch of courses whose externalIds begin with a prefix.
func (w *world) batch(prefix, name string) measurement {
	return w.run(postOf("/batches", batch(prefix, name)))
}

func batch(prefix, name string) map[string]any {
	items := make([]any, 100)
	for i := range items {
		id := fmt.Sprint(prefix, i)
		items[i] = with(with(with(newCourse, "externalId", id), "code", id), "name", name)
	}
	return map[string]any{"resource": "course", "items": items}
}

// with returns a copy of a body with one more field.
func with(body map[string]any, field string, value any) map[string]any {
	body = maps.Clone(body)
	body[field] = value
	return body
}

// find creates a record with a unique value of a field and measures the look-up by it.
func (w *world) find(path, list, field string, body map[string]any) measurement {
	value := ids.New("x")
	w.create(path, with(body, field, value))
	return w.run(call(http.MethodGet, list+"?"+field+"="+value, ""))
}

// given is a list of one outcome of which nothing must be read, and unread one whose statement must be.
func given(statement string) string {
	return fmt.Sprintf(`{"outcomes":[{"statement":%q,"level":3,"skills":[{"skillId":"core:python","level":3}]}]}`,
		statement)
}

func unread(statement string) string {
	return fmt.Sprintf(`{"outcomes":[{"code":"CLO 1","statement":%q}]}`, statement)
}

// href is the URL of every syllabus; see document.
const href = "http://127.0.0.1:9/syllabus.html"

// The path of a review, relative to its record, and its body.
const (
	review   = "/skills/core:python/review"
	accepted = `{"verdict":"ACCEPTED","level":3,"note":"Stated in the outcomes of week 2, and graded in the project."}`
)

// transferCourse creates a package with one course and returns the course's extraction and path.
func (w *world) transferCourse() (job catalog.ExtractionJob, path string) {
	pack := w.create("/transfer-packages", newPackage)
	path = "/transfer-packages/" + pack + "/courses"
	w.post(path, map[string]any{"courses": []any{map[string]any{"name": "Course", "syllabusHref": href}}})
	if w.err != nil {
		return job, ""
	}
	courses, err := usecase.All[*catalog.TransferCourse](context.Background(), w.store, w.org, pack)
	if err != nil || len(courses) != 1 {
		w.err = fmt.Errorf("package %s has %d courses: %w", pack, len(courses), err)
		return job, ""
	}
	id := courses[0].ID
	job = catalog.ExtractionJob{OrganizationID: w.org, Kind: catalog.TransferCourseKind, ID: id, PackageID: pack}
	return job, path + "/" + id
}

// extraction measures a job in the worker.
func (w *world) extraction(job catalog.ExtractionJob) measurement {
	return func(ctx context.Context) (cost budget.Cost, err error) {
		return costOf(w.counter.during(func() { err = w.handle(ctx, job) })), err
	}
}

// handle runs a job in the worker.
func (w *world) handle(ctx context.Context, job catalog.ExtractionJob) error {
	w.document.number++
	body, err := json.Marshal(job)
	if err != nil {
		return err
	}
	event := events.SQSEvent{Records: []events.SQSMessage{{MessageId: "1", Body: string(body)}}}
	response, err := w.worker.Handle(ctx, event)
	if err == nil && len(response.BatchItemFailures) > 0 {
		err = fmt.Errorf("extraction of %s failed", job.ID)
	}
	return err
}

// document returns a new one-page syllabus for every job.
type document struct{ number int }

func (d *document) Fetch(context.Context, *catalog.Task) (catalog.SyllabusText, error) {
	text := fmt.Sprintf(`Introduction to Programming, edition %d

Students learn to design, implement and test small programs in Python and Java.

Learning outcomes
Write programs that read, clean and summarize data sets.
Explain how relational databases store data and query them with SQL.
Analyze the running time of simple algorithms.
Use version control to work in a team.
Present results to an audience in writing and orally.
`, d.number) + strings.Repeat("\nWeek by week: reading, exercise, discussion of the solutions.", 20)
	return catalog.SyllabusText{Text: text, SHA256: fmt.Sprint(d.number)}, nil
}

func (d *document) Plain(_ context.Context, words string) (catalog.SyllabusText, error) {
	return catalog.SyllabusText{Text: words}, nil
}
