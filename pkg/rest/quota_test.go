package rest_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/quota"
	"skillscurriculum/pkg/rest"
)

// limited starts a server whose customers have few units.
func limited(units int) func(*rest.Server) {
	return func(s *rest.Server) { s.Limit = quota.Limit{Units: units, Window: time.Minute} }
}

func (r reply) cost() int { return r.integer(api.HeaderCost) }

func (r reply) integer(header string) int {
	r.t.Helper()
	n, err := strconv.Atoi(r.header(header))
	if err != nil {
		r.t.Errorf("%s: %s: %v", r.call, header, err)
	}
	return n
}

func TestCosts(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ids := tenant(s.one)
	failed := s.failedCourse(ids["packageId"])
	body := bodies(ids)
	for _, c := range []struct {
		call, body string
		cost       int
	}{
		{"GET /courses", "", 1}, {"GET /courses/{courseId}", "", 1}, {"GET /courses/nope", "", 1}, {"GET /courses?limit=0", "", 1},
		{"GET /courses/{courseId}/sections/{sectionId}?include=evidence", "", 1},
		{"POST /courses", body["createCourse"], 2}, {"POST /courses", "{", 2}, {"POST /courses", "{}", 2}, {"POST /courses", `{"x":` + strings.Repeat("1", 1<<20) + "}", 2},
		{"PATCH /courses/{courseId}", `{}`, 2}, {"PATCH /courses/nope", `{"name":"B"}`, 2}, {"DELETE /courses/nope", "", 2}, {"DELETE /courses/{courseId}", "", 2},
		{"POST /courses/{courseId}/sections", `{"name":"S"}`, 2}, {"POST /courses/{courseId}/sections", `{"name":"S","syllabusHref":"https://example.org/1"}`, 12},
		{"POST /courses/{courseId}/sections", `{"name":"S","syllabusHref":" "}`, 2}, {"POST /courses/{courseId}/sections", `{"name":"","syllabusHref":"https://example.org/1"}`, 12},
		{"PATCH /courses/{courseId}/sections/{sectionId}", `{"name":"S"}`, 2}, {"PATCH /courses/{courseId}/sections/{sectionId}", `{"syllabusHref":"https://example.org/2"}`, 12},
		{"PATCH /courses/{courseId}/sections/{sectionId}", `{"syllabusHref":"https://example.org/2"}`, 2}, {"PATCH /courses/{courseId}/sections/{sectionId}", `{"syllabusHref":null}`, 2},
		{"GET /jobs", "", 1}, {"POST /jobs", body["createJob"], 2}, {"PATCH /jobs/{jobId}", `{}`, 2}, {"GET /jobs/{jobId}", "", 1},
		{"GET /credentials", "", 1}, {"POST /credentials", body["createCredential"], 2}, {"PATCH /credentials/{credentialId}", `{}`, 2},
		{"POST /credentials/{credentialId}/sections", body["addCredentialSection"], 2}, {"DELETE /credentials/{credentialId}/sections/{sectionId}", "", 2},
		{"POST /credential-builder", body["buildCredential"], 20}, {"POST /credential-builder", `{}`, 20},
		{"GET /programs/{programId}", "", 1}, {"POST /programs/{programId}/courses", body["addProgramCourse"], 2},
		{"GET /transfer-packages/{packageId}/courses", "", 1}, {"POST /transfer-packages", body["createTransferPackage"], 2},
		{"POST /transfer-packages", `{"name":"P","transferFromInstitution":"I","courses":[{"name":"X"},{"name":"Y"}]}`, 22},
		{"POST /transfer-packages/{packageId}/courses", `{"courses":[{"name":"X"}]}`, 10}, {"POST /transfer-packages/{packageId}/courses", `{"courses":[{"name":"X"},{"name":"Y"},{"name":"Z"}]}`, 30},
		{"POST /transfer-packages/{packageId}/courses", `{"courses":[]}`, 10}, {"POST /transfer-packages/{packageId}/courses", `{"courses":[{"name":"X"},{}]}`, 20}, {"POST /transfer-packages/{packageId}/courses", `{`, 10},
		{"POST /transfer-packages/nope/courses", `{"courses":[{"name":"X"},{"name":"Y"}]}`, 20},
		{"POST /transfer-packages/{packageId}/courses/{transferCourseId}/equivalencies", "", 5}, {"POST /transfer-packages/{packageId}/equivalencies", "", 5},
		{"POST /transfer-packages/{packageId}/courses/{transferCourseId}/retry", "", 10}, {"POST /transfer-packages/{packageId}/courses/" + failed + "/retry", "", 10},
		{"POST /batches", body["upsertRecords"], 3}, {"POST /batches", `{"resource":"job","items":[{},{}]}`, 4}, {"POST /batches", `{"resource":"job","items":[]}`, 2},
		{"POST /batches", `{"resource":"job","items":[` + strings.Repeat(`{"externalId":"x","name":"J","employerId":"e"},`, 100) + `{}]}`, 102},
		{"POST /reports", body["createReport"], 10}, {"POST /reports", `{}`, 10}, {"GET /reports/{reportId}", "", 10}, {"GET /reports", "", 1}, {"DELETE /reports/{reportId}", "", 2},
		{"GET /labor-market?cipCodes=11.0701", "", 1}, {"GET /labor-market/regions", "", 1},
		{"POST /syllabus-extractions", body["createSyllabusExtraction"], 10}, {"GET /syllabus-extractions/{extractionId}", "", 1}, {"GET /skills", "", 1}, {"GET /skills/{skillId}", "", 1},
		{"GET /customers/{customerId}/usage", "", 0}, {"GET /customers/other/usage", "", 0}, {"GET /changes", "", 1}, {"GET /openapi.json", "", 0},
		{"GET /nothing", "", 0}, {"PUT /courses", "", 0}, {"GET /courses/", "", 0},
	} {
		method, path, _ := strings.Cut(filled(c.call, ids), " ")
		used := s.used(s.one)
		r := s.one.do(method, path, c.body)
		if r.cost() != c.cost || s.used(s.one)-used != c.cost {
			t.Errorf("%s %.80s: status %d says it costs %d and takes %d, want %d", c.call, c.body, r.Status, r.cost(), s.used(s.one)-used, c.cost)
		}
	}
	used := s.used(s.one)
	if r := s.reader.must(403, "POST", "/courses", body["createCourse"]); r.cost() != 2 || s.used(s.one)-used != 2 {
		t.Errorf("a forbidden write costs %d", r.cost())
	}
	job := s.one.job("J")
	if r := s.one.must(304, "GET", "/jobs/"+job.text("id"), "", "If-None-Match", job.header("ETag")); r.cost() != 1 {
		t.Errorf("a 304 costs %d", r.cost())
	}
}

// used is what the customer has used of its window, by the usage page, which
// costs nothing.
func (s *service) used(c client) int {
	s.t.Helper()
	return c.must(200, "GET", "/customers/"+string(c.customer.ID)+"/usage", "").number("window.used")
}

// failedCourse makes a transfer course whose extraction failed.
func (s *service) failedCourse(pack string) string {
	s.t.Helper()
	id := s.one.must(201, "POST", "/transfer-packages/"+pack+"/courses", `{"courses":[{"name":"F"}]}`).text("0.id")
	s.finish(catalog.ExtractionJob{OrganizationID: "org_one", Kind: catalog.TransferCourseKind, ID: id, PackageID: pack}, &catalog.ExtractionResult{Failure: &catalog.Failure{Code: catalog.Malformed, Message: "the document is damaged"}})
	return id
}

// finish runs an extraction to a given outcome.
func (s *service) finish(job catalog.ExtractionJob, outcome *catalog.ExtractionResult) {
	s.t.Helper()
	task, err := s.store.Claim(s.t.Context(), job, ids.New("run_"), s.clock.Now()+1000)
	if err == nil {
		err = s.store.Finish(s.t.Context(), task, outcome)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// The contract's table says the costs that the calls have.
func TestCostsAreInTheContract(t *testing.T) {
	for id, want := range map[string]api.Cost{
		"getCourse": {Base: 1}, "createCourse": {Base: 2}, "createReport": {Base: 10}, "getReport": {Base: 10}, "matchTransferCourse": {Base: 5}, "buildCredential": {Base: 20},
		"createTransferCourses": {PerItem: 10}, "createSyllabusExtraction": {Base: 10}, "retryTransferCourse": {Base: 10}, "getCustomerUsage": {}, "getOpenAPI": {}, "getMe": {}, "listOccupations": {Base: 1},
		"createTransferPackage": {Base: 2, PerItem: 10}, "createSection": {Base: 2, PerItem: 10}, "updateSection": {Base: 2, PerItem: 10},
	} {
		if got := api.Of(id).Cost; got != want {
			t.Errorf("%s costs %v, want %v", id, got, want)
		}
		path := at(contract(), "paths", api.Of(id).Path, strings.ToLower(api.Of(id).Method)).(map[string]any)
		if fmt.Sprint(path["x-cost"]) != fmt.Sprint(want.Base) || want.PerItem > 0 && fmt.Sprint(path["x-cost-per-item"]) != fmt.Sprint(want.PerItem) {
			t.Errorf("the document says that %s costs %v and %v", id, path["x-cost"], path["x-cost-per-item"])
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := newService(t, limited(25))
	one := s.one
	pack := one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I"}`)
	if got := []int{pack.integer(api.HeaderLimit), pack.integer(api.HeaderRemaining)}; got[0] != 25 || got[1] != 23 {
		t.Errorf("limit and remaining are %v", got)
	}
	path := "/transfer-packages/" + pack.text("id") + "/courses"
	r := one.must(429, "POST", path, `{"courses":[{"name":"X"},{"name":"Y"},{"name":"Z"}]}`)
	r.want("code", "rate_limit_exceeded")
	now := int64(s.clock.Now()) / 1000
	if wait := int64(r.integer(api.HeaderReset)) - now; wait < 1 || wait > 60 || r.header("Retry-After") != fmt.Sprint(wait) {
		t.Errorf("the window ends in %d s, Retry-After %s", wait, r.header("Retry-After"))
	}
	if r.cost() != 0 || r.integer(api.HeaderRemaining) != 23 {
		t.Errorf("a refusal costs %d and leaves %s", r.cost(), r.header(api.HeaderRemaining))
	}
	one.must(429, "POST", path, `{"courses":[{"name":"X"},{"name":"Y"},{"name":"Z"}]}`)
	one.must(201, "POST", path, `{"courses":[{"name":"X"},{"name":"Y"}]}`)
	one.must(429, "POST", "/reports", `{}`)
	one.must(200, "GET", "/courses", "")
	one.must(422, "POST", "/courses", "{}")
	one.must(429, "GET", "/courses", "")
}

// A PUT of outcomes is charged before it is known which statements must be read; only those are billed in the end.
func TestOutcomesPayForWhatIsRead(t *testing.T) {
	t.Parallel()
	s := newService(t, limited(17))
	path := "/courses/" + s.one.course("Python").text("id") + "/outcomes" // 2 units
	left := 15
	put := func(status, cost int, path, body string) {
		t.Helper()
		r := s.one.must(status, "PUT", path, body)
		left -= cost
		if r.cost() != cost || r.integer(api.HeaderRemaining) != left {
			t.Errorf("it costs %d and leaves %s, want %d and %d", r.cost(), r.header(api.HeaderRemaining), cost, left)
		}
	}
	put(202, 4, path, `{"outcomes":[{"statement":"aa"},{"statement":"bb"},{"statement":"cc","level":1,"skills":[]}]}`)
	s.read(strings.Split(path, "/")[2], python)
	put(202, 3, path, `{"outcomes":[{"statement":"aa"},{"statement":"bb"},{"statement":"dd"}]}`)
	s.read(strings.Split(path, "/")[2], python)
	put(422, 2, path, `{"outcomes":[{"statement":"aa"},{"statement":"bb","parentCode":"x"}]}`)
	put(404, 2, "/courses/crs_none/outcomes", `{"outcomes":[{"statement":"aa"}]}`)
	// Fewer units are left than the statements would cost if all of them were new.
	put(200, 2, path, `{"outcomes":[{"statement":"dd"},{"statement":"aa"},{"statement":"bb"}]}`)
	put(429, 0, path, `{"outcomes":[{"statement":"ee"}]}`)
	put(200, 2, path, `{"outcomes":[]}`)
	put(429, 0, path, `{"outcomes":[]}`)
}

func TestUnitsToTheLast(t *testing.T) {
	t.Parallel()
	s := newService(t, limited(10))
	for left := 9; left >= 0; left-- {
		if r := s.one.must(200, "GET", "/courses", ""); r.integer(api.HeaderRemaining) != left {
			t.Errorf("%s left, want %d", r.header(api.HeaderRemaining), left)
		}
	}
	for range 3 {
		r := s.one.must(429, "GET", "/courses", "")
		if r.cost() != 0 || r.integer(api.HeaderRemaining) != 0 || r.integer(api.HeaderLimit) != 10 {
			t.Errorf("refused with %v", r.Header)
		}
	}
	// Other customers, what costs nothing, and what is free go on.
	s.two.must(200, "GET", "/courses", "")
	s.one.must(404, "GET", "/nothing", "")
	s.one.must(405, "PUT", "/courses", "")
	s.one.must(200, "GET", "/openapi.json", "")
	usage := s.one.must(200, "GET", "/customers/"+string(s.one.customer.ID)+"/usage", "")
	usage.want("status", "limited")
	usage.want("window.used", 10)
	usage.want("window.remaining", 0)
	usage.want("window.limit", 10)
	usage.want("window.lengthSeconds", 60)
	usage.want("customerId", s.one.customer.ID)
	usage.want("organizationId", "org_one")
	for i := range 3 {
		if op := usage.get(fmt.Sprintf("operations.%d.operation", i)); op == "listCourses" {
			usage.want(fmt.Sprintf("operations.%d.calls", i), 10)
			usage.want(fmt.Sprintf("operations.%d.units", i), 10)
		}
	}
	if n := len(usage.get("history").([]any)); n != 60 {
		t.Errorf("the history has %d windows", n)
	}
	// The next window begins at the reset, not before it.
	reset := catalog.Time(usage.integer(api.HeaderReset)) * 1000
	s.clock.Add(int(reset - s.clock.Now() - 1))
	s.one.must(429, "GET", "/courses", "")
	s.clock.Add(1)
	s.one.must(200, "GET", "/courses", "")
	usage = s.one.must(200, "GET", "/customers/"+string(s.one.customer.ID)+"/usage", "")
	usage.want("status", "ok")
	usage.want("window.used", 1)
	usage.want("window.startsAt", reset)
	usage.want("window.resetsAt", reset+60_000)
	usage.want("history.0.startsAt", reset-60_000)
	usage.want("history.0.used", 10)
	if usage.number("history.0.limited") < 1 {
		t.Errorf("the refusals are not in the history: %s", usage.Body[:400])
	}
	usage.want("history.1.used", 0)
	usage.want("history.59.startsAt", reset-60*60_000)
}

// Units admitted in a window never exceed the limit, whoever counts, and as long
// as a call fits it is admitted.
func TestExactUnderConcurrency(t *testing.T) {
	t.Parallel()
	s := newService(t, limited(50))
	other := s.function()
	const callers, each = 16, 6
	var mu sync.Mutex
	admitted, units := map[int]int{}, 0
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() {
			from := s.one
			if i%2 == 1 {
				from = other.one
			}
			for range each {
				method, path, body := "GET", "/courses", ""
				if i%4 == 0 {
					method, path, body = "POST", "/courses", "{}"
				}
				r := from.do(method, path, body)
				mu.Lock()
				admitted[r.Status]++
				units += r.cost()
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if units != 50 && units != 49 || admitted[429] == 0 || admitted[503] > 0 {
		t.Errorf("%d units admitted of 50: %v", units, admitted)
	}
	if used := s.used(s.one); used != units {
		t.Errorf("the counter says %d, the callers were told %d", used, units)
	}
	if units == 49 {
		s.one.must(200, "GET", "/courses", "")
	}
}

func TestCustomersOwnLimit(t *testing.T) {
	t.Parallel()
	s := newService(t, limited(1000))
	units := 3
	s.one.customer.RateLimitUnits = &units
	if err := s.store.SaveCustomer(t.Context(), &s.one.customer); err != nil {
		t.Fatal(err)
	}
	r := s.one.must(200, "GET", "/courses", "")
	if r.integer(api.HeaderLimit) != 3 || r.integer(api.HeaderRemaining) != 2 {
		t.Errorf("limit %s, remaining %s", r.header(api.HeaderLimit), r.header(api.HeaderRemaining))
	}
	s.one.must(422, "POST", "/courses", "{}")
	s.one.must(429, "GET", "/courses", "")
}

// Two customers of one organization share its records and not their units.
func TestCustomersOfOneOrganization(t *testing.T) {
	t.Parallel()
	s := newService(t, limited(2))
	s.one.course("A")
	s.one.must(429, "GET", "/courses", "")
	sister := s.customer("org_one", catalog.WriteScope)
	sister.must(200, "GET", "/courses", "").want("pagination.total", 1)
}

func TestServerFaultsAreRefunded(t *testing.T) {
	t.Parallel()
	s := newService(t)
	w := s.tap()
	s.one.must(200, "GET", "/courses", "")
	used := s.used(s.one)
	w.through(func(c call) (any, error) {
		if c.counts() {
			return c.next()
		}
		return nil, errDown
	})
	for _, c := range [][3]string{{"GET", "/courses", ""}, {"POST", "/courses", `{"name":"A","code":"B"}`}, {"GET", "/courses/crs_" + strings.Repeat("0", 24), ""}} {
		r := s.one.must(503, c[0], c[1], c[2])
		r.want("code", "unavailable")
		if r.cost() != 0 {
			t.Errorf("%s %s: a 503 costs %d", c[0], c[1], r.cost())
		}
		if strings.Contains(string(r.Body), "network") || strings.Contains(string(r.Body), "ynamo") {
			t.Errorf("the answer tells internals: %s", r.Body)
		}
	}
	w.through(nil)
	if now := s.used(s.one); now != used {
		t.Errorf("failures of the service took %d units", now-used)
	}
}

func TestUncountableUnits(t *testing.T) {
	t.Parallel()
	s := newService(t, limited(100))
	w := s.tap()
	path := "/courses/" + s.one.course("A").text("id")
	w.through(func(c call) (any, error) {
		if c.counts() {
			return nil, errDown
		}
		return c.next()
	})
	r := s.one.must(200, "GET", path, "")
	if r.integer(api.HeaderLimit) != 100 || r.integer(api.HeaderRemaining) != 98 || r.cost() != 0 {
		t.Errorf("headers are not from the last known state: %v", r.Header)
	}
	s.one.must(404, "GET", "/nothing", "")
	for _, c := range [][3]string{
		{"POST", "/courses", `{"name":"A","code":"B"}`}, {"PATCH", path, `{"name":"B"}`}, {"DELETE", path, ""},
		{"POST", "/reports", `{"name":"R","settings":{"jobs":[{"id":"15-1252","lib":"soc"}]}}`}, {"POST", "/credential-builder", `{"jobIdentifiers":[{"id":"15-1252","lib":"soc"}]}`},
		{"GET", "/reports/nope", ""}, {"POST", "/syllabus-extractions", `{"text":"x"}`},
	} {
		s.one.must(503, c[0], c[1], c[2]).want("code", "unavailable")
	}
	w.through(nil)
	s.one.must(200, "GET", path, "").want("name", "A")
	if got := s.one.total("/courses"); got != 1 {
		t.Errorf("%d courses were made uncounted", got-1)
	}
}
