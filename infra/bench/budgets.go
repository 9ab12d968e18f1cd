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

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/extraction/wordvectors"
	"skillscurriculum/pkg/queue"
	usecase "skillscurriculum/pkg/service"
)

// Sizes to which the budgets apply: members of a program or credential, transfer courses in a POST, records in a page.
const (
	members  = 10
	posted   = 10
	pageSize = 100
)

// price is the cost of one call on records of at most 1 KB: sequential round trips, write units and read units.
type price struct{ trips, write, read float64 }

// exceeds reports whether any figure is above the limit's.
func (p price) exceeds(most price) bool {
	return p.trips > most.trips || p.write > most.write || p.read > most.read
}

// findRecord is the cost of a look-up by externalId or code among any number of records: the row of the value, and the
// record.
var findRecord = price{2, 1, 2}

// free means that there is no target.
const free = -1

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
	for _, b := range w.budgets() {
		// The row of a customer's units grows with the number of different operations.
		if w.client, err = s.customer(ctx, c.org); err != nil {
			return nil, err
		}
		var worst price
		for range attempts {
			if worst, err = w.most(ctx, b.prepare); err != nil {
				return nil, fmt.Errorf("%s: %w", b.operation, err)
			}
			if !worst.exceeds(b.held) {
				break
			}
		}
		t.row(worst.exceeds(b.held), b.why, b.operation,
			worst.trips, bound(b.target.trips, b.held.trips), worst.write, bound(b.target.write, b.held.write),
			worst.read, bound(b.target.read, b.held.read))
	}
	return t, nil
}

// most measures an operation repeatedly and returns the maximum of each figure.
func (w *world) most(ctx context.Context, prepare func() measurement) (worst price, err error) {
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
			worst.trips, worst.write = max(worst.trips, cost.trips), max(worst.write, cost.write)
			worst.read = max(worst.read, cost.read)
		}
	}
	return worst, nil
}

// measurement runs an operation once, on prepared records.
type measurement func(ctx context.Context) (price, error)

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
	for i := range members {
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
	return func(ctx context.Context) (price, error) { return w.measure(ctx, r) }
}

// budget is the maximum cost of an operation, held, beside its target. why is empty unless held is wider.
type budget struct {
	operation    string
	target, held price
	why          string
	prepare      func() measurement
}

// Reasons why a target is not met.
const (
	feed = "The change feed was added to the design: a change is a transaction, with 2 units for the feed and 2 for " +
		"the record."
	defaultSection = "A course and its default section are two records. Each moves out of the live partition (2 + 2), " +
		"and the sections are known only after the course is read. The row of its code is deleted (2)."
	byCode   = "A course is found by its code, which has its own row (2)."
	byFacets = "An articulation is found by its facets: one row (2) each for status, published, name and code of the " +
		"institution, code, and course. The course is read in parallel with the directory."
	byBothSides = "The articulation names the package and the course, which lead to the transfer " +
		"course and the sections. " +
		"These three steps are sequential; both sides are read in parallel."
	wholeResponse = "The response is the whole record with its members, and is stored under its idempotency key in the " +
		"same transaction as the change, so that the members are read first. Record (2 per KB; 10 sections are 2 KB), " +
		"change feed (2), and the hold on a course (2)."
	guarded = "The package counts its courses, and that count guards the change. It is read before the courses, not in " +
		"parallel with them, because a course created between the two reads would otherwise be missed."
	evidence = "Evidence, text, found outcomes and result of the extraction were added to the design: one row each (2 " +
		"per KB) with the record and the change feed, all in the transaction that ends the job. A known document is " +
		"looked up first."
)

// budgets lists the operations that have a budget.
func (w *world) budgets() []budget {
	same := func(operation string, p price, prepare func() measurement) budget {
		return budget{operation, p, p, "", prepare}
	}
	read, create := price{1, 1, 0.5}, price{2, 10, free}
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
	find := func(path, field string, body map[string]any) func() measurement {
		return func() measurement { return w.find(path, path, field, body) }
	}
	section := "/courses/" + w.course + "/sections/" + w.section
	public := "/public/" + w.publicHandle + "/ctdl/"
	return []budget{
		same("GET a course", read, get("/courses/"+w.course)),
		same("GET a section", read, get(section)),
		same("GET a job", read, get("/jobs/"+w.job)),
		same("GET a package", read, get("/transfer-packages/"+w.pack)),
		same("GET a credential", price{2, 1, 0.5 + members}, get("/credentials/"+w.credential)),
		same("GET a program", price{2, 1, 0.5 + members}, get("/programs/"+w.program)),
		same("find a job by externalId", findRecord, find("/jobs", "externalId", newJob)),
		same("find a section by externalId", findRecord, func() measurement {
			path := "/courses/" + w.create("/courses", newCourse) + "/sections"
			return w.find(path, "/sections", "externalId", map[string]any{"name": "Section"})
		}),
		same("find a course by code", findRecord, find("/courses", "code", newCourse)),
		same("search courses", price{2, 1, 1 + pageSize/2}, get("/courses?limit=100&query=course")),
		same("search sections", price{2, 1, 1 + pageSize/2}, get("/sections?limit=100&status=ACTIVE")),
		same("sections that teach a skill", price{1, 1, 2}, get("/skills/core:python/sections")),
		{"create a course", create, price{2, 11, 1}, byCode, post("/courses", newCourse)},
		{"create a job, externalId", create, price{2, 9, 1}, "", func() measurement {
			return w.run(postOf("/jobs", with(newJob, "externalId", ids.New("x"))))
		}},
		{"create a job", create, price{2, 7, 1}, "", post("/jobs", newJob)},
		{"create a program", create, price{2, 7, 1}, "", post("/programs", newProgram)},
		{"create a credential", create, price{2, 7, 1}, "", post("/credentials", newCredential)},
		{"create a package", create, price{2, 7, 1}, "", post("/transfer-packages", newPackage)},
		{"create a job, Idempotency-Key", create, price{2, 9, 2}, "", func() measurement {
			return w.run(postOf("/jobs", newJob, "Idempotency-Key", ids.New("i")))
		}},
		{"delete a course", create, price{3, 15, 3}, defaultSection, remove("/courses", newCourse)},
		{"delete a job", create, price{2, 9, 2}, "", remove("/jobs", newJob)},
		{"delete a program", create, price{2, 9, 2}, "", remove("/programs", newProgram)},
		{"delete a credential", create, price{2, 9, 2}, "", remove("/credentials", newCredential)},
		{"delete a package", create, price{3, 9, 2}, guarded, remove("/transfer-packages", newPackage)},
		{"PATCH a course", price{2, 2, free}, price{2, 5, 1}, feed, func() measurement {
			return w.run(call(http.MethodPatch, "/courses/"+w.course,
				fmt.Sprintf(`{"webpage":"https://example.org/%s"}`, ids.New("w"))))
		}},
		{"PATCH a course's description", price{2, 4, free}, price{2, 7, 2}, feed, patch("/courses/"+w.course, "description")},
		{"PATCH a section", price{2, 2, free}, price{2, 5, 2}, feed, patch(section, "instructorId")},
		{"PATCH a job", price{2, 2, free}, price{2, 5, 1}, feed, patch("/jobs/"+w.job, "name")},
		{"PATCH a package", price{2, 2, free}, price{2, 5, 1}, feed, patch("/transfer-packages/"+w.pack, "name")},
		// The target assumes a separate row for the reviews; they are stored in their record's.
		{"PUT a review of a section", price{2, 7, 2}, price{2, 5, 2}, "", func() measurement {
			return w.run(call(http.MethodPut, section+review, accepted))
		}},
		{"PUT a review of a transfer course", price{2, 7, 2}, price{2, 5, 1}, "", func() measurement {
			_, path := w.transferCourse()
			return w.run(call(http.MethodPut, path+review, accepted))
		}},
		{"DELETE a review", price{2, 7, 2}, price{2, 5, 1}, "", func() measurement {
			_, path := w.transferCourse()
			w.send(call(http.MethodPut, path+review, accepted))
			return w.run(call(http.MethodDelete, path+review, ""))
		}},
		{"create an articulation", create, price{2, 19, 2}, byFacets, func() measurement {
			return w.run(postOf("/articulations", articulation(ids.New("C"), w.course, "2026-08-01")))
		}},
		{"approve an articulation that supersedes another", price{3, 30, free}, price{3, 23, 5}, "", func() measurement {
			return w.approval(articulation(ids.New("C"), w.create("/courses", newCourse), "2026-08-01"))
		}},
		{"approve an articulation with evidence", price{3, free, free}, price{4, 33, 10}, byBothSides, w.compared},
		// The two calls of an upload; the file is sent to the storage directly.
		{"announce a document", create, price{2, 5, 0.5}, "", post("/documents", newDocument)},
		same("GET a document", read, get("/documents/"+w.uploaded)),
		// From the hint of the table's stream, without the POST to the receiver.
		same("message to a webhook", price{3, 4, 3}, w.message),
		same("GET outcomes", price{1, 1, 1.5}, get("/courses/"+w.course+"/outcomes")),
		same("outcomes with a skill", price{2, 1, 3}, get("/outcomes?skillId=core:python")),
		{"PUT outcomes that are given", price{2, free, free}, price{2, 7, 3}, "", func() measurement {
			return w.run(call(http.MethodPut, "/programs/"+w.program+"/outcomes", given(ids.New("Write "))))
		}},
		{"PUT outcomes to be read", price{2, free, free}, price{2, 9, 3}, "", func() measurement {
			return w.run(call(http.MethodPut, "/courses/"+w.course+"/outcomes", unread(ids.New("Write "))))
		}},
		{"PUT a review of an outcome", price{2, free, free}, price{2, 9, 3}, "", func() measurement {
			path := "/programs/" + w.program + "/outcomes"
			list, _ := w.send(call(http.MethodPut, path, given(ids.New("Write "))))["outcomes"].([]any)
			if w.err != nil {
				return nil
			}
			return w.run(call(http.MethodPut, path+"/"+text(list[0].(map[string]any), "id")+review, accepted))
		}},
		{"extraction job of outcomes", price{3, free, free}, price{3, 13, 4}, "", func() measurement {
			course := w.create("/courses", newCourse)
			w.send(call(http.MethodPut, "/courses/"+course+"/outcomes", unread("Write programs in Python.")))
			return w.extraction(catalog.ExtractionJob{
				OrganizationID: w.org, Kind: catalog.OutcomeListKind, ID: catalog.OutcomeListID(course),
			})
		}},
		{"GET a course in CTDL", price{2, 1, free}, price{2, 1, 6}, "", get("/courses/" + w.course + "/ctdl")},
		{"GET a public course", price{2, 1, free}, price{2, 1, 6}, "", get(public + w.ctid)},
		{"GET the index of what is public", price{2, 1, free}, price{2, 1, 2}, "", get(public + "index.json")},
		{"GET a map of 10 courses", price{4, 1, free}, price{4, 1, 13}, "", get("/programs/" + w.program + "/map")},
		{"GET the page of a map", price{4, 1, free}, price{4, 1, 20}, "", get("/programs/" + w.program + "/map/page")},
		{"PUT a decision on a map", price{4, free, free}, price{4, 7, 24}, "", func() measurement {
			path := "/programs/" + w.program
			list, _ := w.send(call(http.MethodPut, path+"/outcomes", given(ids.New("Write "))))["outcomes"].([]any)
			if w.err != nil {
				return nil
			}
			return w.run(call(http.MethodPut, path+"/map/"+text(list[0].(map[string]any), "id")+"/"+w.course,
				`{"mark":"MASTERED"}`))
		}},
		{"PATCH a credential", price{2, 2, free}, price{3, 7, 21}, wholeResponse,
			patch("/credentials/"+w.credential, "name")},
		{"add a section to a credential", price{2, 2, free}, price{3, 7, 5}, wholeResponse, func() measurement {
			body := map[string]any{"name": "Credential", "courseSectionIds": []string{w.section}}
			path := "/credentials/" + w.create("/credentials", body) + "/sections"
			added := text(w.post("/courses", newCourse), "defaultSectionId")
			return w.run(postOf(path, map[string]any{"sectionId": added}))
		}},
		{"add a course to a program", price{2, 2, free}, price{3, 7, 4}, wholeResponse, func() measurement {
			body := map[string]any{"name": "Program", "courseOrder": []string{w.course}}
			path := "/programs/" + w.create("/programs", body) + "/courses"
			return w.run(postOf(path, map[string]any{"courseId": w.create("/courses", newCourse)}))
		}},
		{"POST transfer courses", price{2, 7 + 2*posted, free}, price{3, 7 + 2*posted, 2}, guarded, func() measurement {
			course := map[string]any{"name": "Course", "syllabusHref": href, "description": filler(300)}
			path := "/transfer-packages/" + w.create("/transfer-packages", newPackage) + "/courses"
			return w.run(postOf(path, map[string]any{"courses": slices.Repeat([]any{course}, posted)}))
		}},
		{"POST a batch of 100 new courses", price{4, free, free}, price{4, 839, 1}, "", func() measurement {
			return w.batch(ids.New("x"), "New")
		}},
		{"POST a batch of 100 known courses", price{4, free, free}, price{4, 435, 301}, "", func() measurement {
			prefix := ids.New("x")
			w.post("/batches", batch(prefix, "Old"))
			return w.batch(prefix, "New")
		}},
		{"POST a batch of 100 unchanged courses", price{4, free, free}, price{1, 1, 301}, "", func() measurement {
			prefix := ids.New("x")
			w.post("/batches", batch(prefix, "Old"))
			return w.batch(prefix, "Old")
		}},
		{"extraction job", price{2, 2, 0}, price{3, 18, 1}, evidence, func() measurement {
			job, _ := w.transferCourse()
			return w.extraction(job)
		}},
		{"extraction job of a description", price{3, 2, 1}, price{3, 11, 1}, evidence, func() measurement {
			id := text(w.post("/courses", newCourse), "defaultSectionId")
			return w.extraction(catalog.ExtractionJob{OrganizationID: w.org, Kind: catalog.SectionKind, ID: id})
		}},
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
	return func(ctx context.Context) (cost price, err error) {
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
