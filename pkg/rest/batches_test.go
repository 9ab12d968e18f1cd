package rest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/rest"
)

// outcomes sends a batch and compares the outcomes of its items.
func (c client) outcomes(resource, items string, want ...string) reply {
	c.s.t.Helper()
	r := c.must(200, "POST", "/batches", fmt.Sprintf(`{"resource":%q,"items":[%s]}`, resource, items))
	counts := map[string]int{}
	for i, outcome := range want {
		at := fmt.Sprintf("results.%d.", i)
		r.want(at+"index", i)
		r.want(at+"outcome", outcome)
		if failed := outcome == "FAILED"; failed != (r.get(at+"problem") != nil) || failed != (r.get(at+"id") == nil) {
			c.s.t.Errorf("item %d is %s: %s", i, outcome, r.Body)
		}
		counts[strings.ToLower(outcome)]++
	}
	r.want(fmt.Sprintf("results.%d", len(want)), absent{})
	for _, count := range []string{"created", "updated", "unchanged", "failed"} {
		r.want("counts."+count, counts[count])
	}
	return r
}

func TestBatch(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	const algebra, biology = `{"externalId":"A","code":"M 1","name":"Algebra","description":"Old"}`, `{"externalId":"B","code":"B 1","name":"Biology"}`
	first := one.outcomes("course", algebra+","+biology, "CREATED", "CREATED")
	course := "/courses/" + first.text("results.0.id")
	before := one.must(200, "GET", course, "")
	feed := one.must(200, "GET", "/changes?limit=100", "").text("next")

	// An unchanged item makes no change and moves no updatedAt.
	s.clock.Add(1000)
	one.outcomes("course", algebra+","+biology, "UNCHANGED", "UNCHANGED").want("results.0.id", first.text("results.0.id"))
	if after := one.must(200, "GET", course, ""); string(after.Body) != string(before.Body) {
		t.Errorf("%s, was %s", after.Body, before.Body)
	}
	one.must(200, "GET", "/changes?since="+feed, "").want("data", []any{})

	// Fields that are absent stay, null clears.
	one.outcomes("course", `{"externalId":"A","code":"M 1","name":"Algebra I"},{"externalId":"B","code":"B 1","name":"Biology","description":null}`, "UPDATED", "UNCHANGED")
	changed := one.must(200, "GET", course, "")
	changed.want("name", "Algebra I")
	changed.want("description", "Old")

	// A known record needs no field but its externalId; a new one needs those of its POST.
	one.outcomes("course", `{"externalId":"A","description":"New"},{"externalId":"B"},{"externalId":"N","name":"New"}`, "UPDATED", "UNCHANGED", "FAILED").
		want("results.2.problem.errors.0.location", "body.items[2].code")
	one.must(200, "GET", course, "").want("name", "Algebra I")
	one.outcomes("course", `{"externalId":"A","description":"Old"}`, "UPDATED")

	// Items fail by themselves, and a failed item reserves nothing: the next one of its externalId succeeds.
	failed := one.outcomes("course", `{"externalId":"C","code":"C 1"},{"code":"X","name":"X"},{"externalId":"C","code":"C 1","name":"Chemistry"},`+
		`{"externalId":"C","code":"C 2","name":"Again"},{"externalId":"D","code":"D","name":"D","unknown":1},{"externalId":"E","code":"E","name":"E","skills":[]},`+
		`{"externalId":"A","code":"M 1","name":"Algebra II"}`,
		"FAILED", "FAILED", "CREATED", "FAILED", "FAILED", "FAILED", "UPDATED")
	for path, want := range map[string]string{
		"results.0.problem.code":              "validation_failed",
		"results.0.problem.errors.0.location": "body.items[0].name",
		"results.1.problem.errors.0.location": "body.items[1].externalId",
		"results.3.problem.errors.0.message":  "the external id C is already used at item 2",
		"results.3.problem.errors.0.location": "body.items[3].externalId",
		"results.4.problem.errors.0.location": "body.items[4].unknown",
		"results.5.problem.errors.0.location": "body.items[5].skills",
		"results.3.externalId":                "C",
	} {
		failed.want(path, want)
	}
	failed.want("results.1.externalId", nil)

	// The body as a whole keeps the contract.
	one.must(422, "POST", "/batches", `{"resource":"report","items":[{}]}`)
	one.must(422, "POST", "/batches", `{"resource":"course","items":[]}`)
	one.must(422, "POST", "/batches", `{"resource":"course","items":[1]}`)
	one.must(422, "POST", "/batches", `{"resource":"course","items":[`+strings.Repeat(`{},`, 100)+`{}]}`)
	s.reader.must(403, "POST", "/batches", `{"resource":"course","items":[`+algebra+`]}`)
	s.two.outcomes("course", algebra, "CREATED") // of another organization
}

func TestBatchOfSectionsAndMembers(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	courses := one.outcomes("course", `{"externalId":"A","code":"A","name":"A"},{"externalId":"B","code":"B","name":"B"}`, "CREATED", "CREATED")
	a, b := courses.text("results.0.id"), courses.text("results.1.id")
	documents, _ := one.uploaded(1)
	document := documents[0]
	sections := one.outcomes("section", `{"externalId":"S","courseExternalId":"A","name":"Morning","documentId":"`+document+`"},`+
		`{"externalId":"T","courseExternalId":"A","name":"Noon","syllabusHref":"https://example.org/s"},{"externalId":"U","courseExternalId":"?","name":"U"},`+
		`{"externalId":"V","name":"V"},{"externalId":"W","courseExternalId":"B","name":"W","documentId":"doc_unknown"}`,
		"CREATED", "CREATED", "FAILED", "FAILED", "FAILED")
	sections.want("results.2.problem.errors.0.location", "body.items[2].courseExternalId")
	sections.want("results.3.problem.errors.0.message", "is required")
	sections.want("results.4.problem.errors.0.location", "body.items[4].documentId")
	if len(s.queue.sent) != 2 {
		t.Errorf("%d extractions were sent", len(s.queue.sent))
	}
	one.outcomes("section", `{"externalId":"S","courseExternalId":"B","name":"Morning"},{"externalId":"T","courseExternalId":"A","name":"Evening"}`, "FAILED", "UPDATED").
		want("results.0.problem.code", "conflict")

	// Members are all members, in this order.
	program := one.outcomes("program", `{"externalId":"P","name":"P","courseExternalIds":["A","B"]},{"externalId":"Q","name":"Q","courseOrder":["`+a+`"]},`+
		`{"externalId":"R","name":"R","courseExternalIds":["A","?"]},{"externalId":"X","name":"X","courseExternalIds":["A"],"courseOrder":["`+a+`"]},{"externalId":"Y","name":"Y","courseExternalIds":[1]}`,
		"CREATED", "CREATED", "FAILED", "FAILED", "FAILED")
	program.want("results.2.problem.errors.0.location", "body.items[2].courseExternalIds[1]")
	path := "/programs/" + program.text("results.0.id")
	one.must(200, "GET", path, "").want("courseOrder", []string{a, b})
	one.outcomes("program", `{"externalId":"P","name":"P","courseExternalIds":["B"]},{"externalId":"Q","name":"Q"}`, "UPDATED", "UNCHANGED")
	one.must(200, "GET", path, "").want("courseOrder", []string{b})
	one.must(200, "GET", "/programs/"+program.text("results.1.id"), "").want("courseOrder", []string{a})

	s1, s2 := sections.text("results.0.id"), one.must(200, "GET", "/courses/"+b, "").text("defaultSectionId")
	credential := one.outcomes("credential", `{"externalId":"C","name":"C","sectionExternalIds":["B","S"]},{"externalId":"D","name":"D","courseSectionIds":["`+s1+`"]},`+
		`{"externalId":"E","name":"E","sectionExternalIds":["S","T"]}`, "CREATED", "CREATED", "FAILED")
	credential.want("results.2.problem.errors.0.location", "body.items[2].sectionExternalIds[1]")
	read := one.must(200, "GET", "/credentials/"+credential.text("results.0.id"), "")
	read.want("sections.0.sectionId", s2)
	read.want("sections.1.sectionId", s1)

	one.outcomes("job", `{"externalId":"J","name":"J","employerId":"e","salaryMin":2,"salaryMax":1},{"externalId":"K","name":"K","employerId":"e"}`, "FAILED", "CREATED")
}

// An idempotency key repeats the response and does nothing again, whatever has changed since.
func TestBatchOnce(t *testing.T) {
	t.Parallel()
	s := newService(t)
	batch := func(name string) reply {
		return s.one.do("POST", "/batches", `{"resource":"job","items":[{"externalId":"J","name":"`+name+`","employerId":"e"}]}`, "Idempotency-Key", "k")
	}
	first := batch("Old")
	path := "/jobs/" + first.text("results.0.id")
	s.one.must(200, "PATCH", path, `{"name":"New"}`)
	again := batch("Old")
	if string(again.Body) != string(first.Body) || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("%s, at first %s", again.Body, first.Body)
	}
	s.one.must(200, "GET", path, "").want("name", "New")
	if r := batch("Other"); r.Status != 422 {
		t.Errorf("the key for another batch: %d", r.Status)
	}
	var group sync.WaitGroup
	bodies := make([]string, 4)
	for i := range bodies {
		group.Go(func() {
			r := s.one.do("POST", "/batches", `{"resource":"job","items":[{"externalId":"L","name":"L","employerId":"e"}]}`, "Idempotency-Key", "l")
			bodies[i] = string(r.Body)
		})
	}
	group.Wait()
	for _, body := range bodies {
		if body != bodies[0] {
			t.Errorf("%s and %s", bodies[0], body)
		}
	}
	s.one.must(200, "GET", "/jobs", "").want("pagination.total", 2)
}

// A batch that breaks off is completed by the same request, and one beyond the quota saves nothing.
func TestBatchBreaksOff(t *testing.T) {
	t.Parallel()
	items := make([]string, 60)
	for i := range items {
		items[i] = fmt.Sprintf(`{"externalId":"%d","code":"%d","name":"C","description":"D"}`, i, i)
	}
	body := `{"resource":"course","items":[` + strings.Join(items, ",") + `]}`
	s := newService(t)
	whole := s.server.Store
	for left := range 2 {
		s.server.Store = &breaking{Store: whole, left: left}
		s.one.must(500, "POST", "/batches", body)
	}
	s.server.Store = whole
	r := s.one.must(200, "POST", "/batches", body)
	if r.number("counts.created")+r.number("counts.unchanged") != 60 || r.number("counts.unchanged") < 24 {
		t.Errorf("%s", r.Body)
	}
	s.one.must(200, "GET", "/courses", "").want("pagination.total", 60)

	poor := newService(t, limited(61))
	poor.one.must(429, "POST", "/batches", body)
	poor.one.must(200, "GET", "/courses", "").want("pagination.total", 0)
}

// breaking is a store that fails after some commits.
type breaking struct {
	rest.Store
	left int
}

func (s *breaking) Commit(ctx context.Context, org catalog.OrgID, change *catalog.Change) error {
	if s.left--; s.left < 0 {
		return errors.New("broken off")
	}
	return s.Store.Commit(ctx, org, change)
}
