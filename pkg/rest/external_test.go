package rest_test

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"skillscurriculum/pkg/catalog"
	usecase "skillscurriculum/pkg/service"
)

// named are the kinds of records that have an externalId: how one is made, and where
// it is looked up.
var named = []struct{ path, body, list string }{
	{"/courses", `{"name":"N","code":"C"%s}`, "/courses"},
	{"/courses/{course}/sections", `{"name":"N"%s}`, "/sections"},
	{"/programs", `{"name":"N"%s}`, "/programs"},
	{"/credentials", `{"name":"N"%s}`, "/credentials"},
	{"/jobs", `{"name":"N","employerId":"E"%s}`, "/jobs"},
	{"/transfer-packages", `{"name":"N","transferFromInstitution":"I"%s}`, "/transfer-packages"},
}

func find(list, name string) string { return list + "?externalId=" + url.QueryEscape(name) }

// An externalId is one live record's of its kind; null, another name and deletion
// free it; and a list finds exactly the record that has it.
func TestExternalID(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	parent := one.course("Parent").text("id")
	for _, k := range named {
		post := strings.Replace(k.path, "{course}", parent, 1)
		at := func(r reply) string { return post + "/" + r.text("id") }
		body := func(fields string) string { return fmt.Sprintf(k.body, fields) }
		none := one.must(201, "POST", post, body(""))
		none.want("externalId", nil)
		first := one.must(201, "POST", post, body(`,"externalId":" A/1 ü "`))
		first.want("externalId", "A/1 ü")
		second := one.must(201, "POST", post, body(`,"externalId":"B"`))
		for _, r := range []reply{
			one.must(409, "POST", post, body(`,"externalId":"B"`)),
			one.must(409, "PATCH", at(first), `{"externalId":"B"}`),
		} {
			r.want("code", "conflict")
			r.want("errors.0.location", "body.externalId")
			r.want("errors.0.value", second.text("id"))
		}
		// Its own name again, and case matters.
		one.must(200, "PATCH", at(second), `{"externalId":"B"}`).want("updatedAt", second.get("updatedAt"))
		one.must(200, "GET", find(k.list, "b"), "").want("data", []any{})
		found := one.must(200, "GET", find(k.list, " A/1 ü "), "")
		found.want("data.0.id", first.text("id"))
		found.want("pagination", map[string]any{"total": 1, "limit": 50, "offset": 0, "hasMore": false})
		past := one.must(200, "GET", find(k.list, "B")+"&offset=1", "")
		past.want("data", []any{})
		past.want("pagination.total", 1)
		s.two.must(200, "GET", find(k.list, "B"), "").want("data", []any{})
		s.reader.must(200, "GET", find(k.list, "B"), "").want("data.0.externalId", "B")

		// Freed by another name, by null, by an empty text and by deletion.
		one.must(200, "PATCH", at(second), `{"externalId":"C"}`).want("externalId", "C")
		one.must(200, "PATCH", at(first), `{"externalId":"B"}`)
		one.must(200, "GET", find(k.list, "B"), "").want("data.0.id", first.text("id"))
		one.must(200, "PATCH", at(first), `{"externalId":null}`).want("externalId", nil)
		one.must(200, "GET", find(k.list, "B"), "").want("data", []any{})
		one.must(200, "PATCH", at(none), `{"externalId":"B"}`)
		one.must(200, "PATCH", at(none), `{"externalId":" "}`).want("externalId", nil)
		one.must(200, "PATCH", at(first), `{"externalId":"B"}`)
		one.must(204, "DELETE", at(second), "")
		one.must(200, "GET", find(k.list, "C"), "").want("data", []any{})
		third := one.must(201, "POST", post, body(`,"externalId":"C"`))
		one.must(200, "GET", find(k.list, "C"), "").want("data.0.id", third.text("id"))

		for _, bad := range []string{`{"externalId":"a\u0000b"}`, `{"externalId":"a\nb"}`, `{"externalId":"` + strings.Repeat("x", 256) + `"}`, `{"externalId":7}`} {
			if r := one.must(422, "PATCH", at(first), bad); r.locations() != "body.externalId" {
				t.Errorf("%s: field errors at %s", bad, r.locations())
			}
		}
		one.must(200, "PATCH", at(first), `{"externalId":"`+strings.Repeat("ü", 255)+`"}`)
		one.must(200, "GET", find(k.list, strings.Repeat("ü", 255)), "").want("data.0.id", first.text("id"))
		for _, unknown := range []string{"X", strings.Repeat("x", 3000), "\xff", "A#1", "a\x00"} {
			one.must(200, "GET", find(k.list, unknown), "").want("data", []any{})
		}
		for _, bad := range []string{"?externalId=", "?externalId=%20", "?externalId=%00", "?externalId=A&externalId=B"} {
			one.must(400, "GET", k.list+bad, "").want("code", "invalid_parameter")
		}
	}
	// A course takes the names of its sections with it.
	section := one.must(201, "POST", "/courses/"+parent+"/sections", `{"name":"N","externalId":"S"}`)
	one.must(204, "DELETE", "/courses/"+parent, "")
	one.must(200, "GET", "/sections?externalId=S", "").want("data", []any{})
	other := one.course("Other").text("id")
	again := one.must(201, "POST", "/courses/"+other+"/sections", `{"name":"N","externalId":"S"}`).text("id")
	if again == section.text("id") {
		t.Error("the same section")
	}
	one.must(400, "GET", "/sections", "")
	for _, path := range []string{"/reports", "/changes"} {
		one.must(400, "GET", path+"?externalId=S", "")
	}
}

// A retry under an idempotency key does not conflict with itself.
func TestExternalIDReplay(t *testing.T) {
	t.Parallel()
	s := newService(t)
	const body = `{"name":"N","employerId":"E","externalId":"J"}`
	first := s.one.must(201, "POST", "/jobs", body, "Idempotency-Key", "k")
	s.one.must(201, "POST", "/jobs", body, "Idempotency-Key", "k").want("id", first.text("id"))
	s.one.must(409, "POST", "/jobs", body, "Idempotency-Key", "l")
}

// Sixteen writers want one name, over and over: whoever has it is the only one.
func TestExternalIDIsUnique(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var jobs []string
	for i := range 16 {
		jobs = append(jobs, "/jobs/"+s.one.job(fmt.Sprint(i)).text("id"))
	}
	for range 2 {
		var group sync.WaitGroup
		var mu sync.Mutex
		codes := map[int]int{}
		count := func(r reply) {
			mu.Lock()
			defer mu.Unlock()
			codes[r.Status]++
			if r.Status != 200 && r.Status != 409 {
				t.Errorf("%s: %d %s", r.call, r.Status, r.Body)
			}
		}
		for i, path := range jobs {
			group.Go(func() {
				count(s.one.do("PATCH", path, `{"externalId":"J"}`))
				if i%2 == 0 {
					count(s.one.do("PATCH", path, `{"externalId":null}`))
					count(s.one.do("PATCH", path, `{"externalId":"J"}`))
				}
			})
		}
		group.Wait()
		var holders []string
		for _, path := range jobs {
			if r := s.one.must(200, "GET", path, ""); r.get("externalId") != nil {
				holders = append(holders, r.text("id"))
			}
		}
		if len(holders) > 1 {
			t.Fatalf("%d records have the name: %v", len(holders), codes)
		}
		if found := s.one.must(200, "GET", "/jobs?externalId=J", ""); len(holders) == 1 {
			found.want("data.0.id", holders[0])
		} else {
			found.want("data", []any{})
		}
	}
	// Creation: one of them is made, and the others are told its id.
	made := make([]reply, 16)
	var group sync.WaitGroup
	for i := range made {
		group.Go(func() { made[i] = s.one.do("POST", "/programs", `{"name":"N","externalId":"P"}`) })
	}
	group.Wait()
	id := s.one.must(200, "GET", "/programs?externalId=P", "").text("data.0.id")
	created := 0
	for _, r := range made {
		switch r.Status {
		case 201:
			created++
			r.want("id", id)
		case 409:
			r.want("errors.0.value", id)
		default:
			t.Errorf("%d %s", r.Status, r.Body)
		}
	}
	if created != 1 {
		t.Errorf("%d were created", created)
	}
	s.one.must(200, "GET", "/programs", "").want("pagination.total", 1)
}

// Courses are found by their code in any spelling, at once.
func TestCourseCode(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	var paths []string
	for i := range 5 {
		r := one.must(201, "POST", "/courses", fmt.Sprintf(`{"name":"N","code":"CS 1","externalId":"E%d"}`, i))
		paths = append(paths, "/courses/"+r.text("id"))
	}
	one.must(201, "POST", "/courses", `{"name":"N","code":"CS 10"}`)
	total := func(code string, want int) reply {
		t.Helper()
		r := one.must(200, "GET", "/courses?limit=2&offset=1&code="+url.QueryEscape(code), "")
		r.want("pagination.total", want)
		return r
	}
	page := total("CS 1", 5)
	page.want("data.0.externalId", "E1")
	page.want("data.1.externalId", "E2")
	page.want("pagination.hasMore", true)
	page.want("data.2", absent{})
	for _, spelling := range []string{"cs 1", "CS-1", "c.s.1", "CS 01"} {
		total(spelling, 5)
	}
	for _, other := range []string{"CS", "CS 1#", "-", strings.Repeat("x", 2000), "\xff"} {
		total(other, 0)
	}
	one.must(200, "PATCH", paths[0], `{"code":"X"}`)
	one.must(200, "PATCH", paths[1], `{"name":"Renamed"}`)
	one.must(200, "PATCH", paths[3], `{"code":"cs-1"}`)
	one.must(204, "DELETE", paths[2], "")
	total("CS 1", 3).want("data.0.externalId", "E3")
	total("X", 1).want("data", []any{})
	one.must(200, "GET", "/courses?code=X", "").want("data.0.externalId", "E0")
	one.must(200, "GET", "/courses?code=X&externalId=E0", "").want("pagination.total", 1)
	one.must(200, "GET", "/courses?code=X&externalId=E1", "").want("data", []any{})
	s.two.must(200, "GET", "/courses?code=X", "").want("data", []any{})
	one.must(400, "GET", "/courses?code=", "")
	one.must(400, "GET", "/jobs?code=X", "")
}

// What was imported before records showed their externalId is found by it.
func TestExternalIDOfEarlierImports(t *testing.T) {
	t.Parallel()
	s := newService(t)
	job := s.one.job("Old")
	loaded, err := usecase.Get[*catalog.Job](t.Context(), s.store, "org_one", job.text("id"), true)
	if err != nil {
		t.Fatal(err)
	}
	change := &catalog.Change{}
	change.AssignExternalID(loaded, "OLD")
	change.Replace(catalog.Copy(loaded), loaded, s.clock.Now())
	if err := s.store.Commit(t.Context(), "org_one", change); err != nil {
		t.Fatal(err)
	}
	found := s.one.must(200, "GET", "/jobs?externalId=OLD", "")
	found.want("data.0.id", job.text("id"))
	found.want("data.0.externalId", "OLD")
	s.one.must(409, "POST", "/jobs", `{"name":"N","employerId":"E","externalId":"OLD"}`)
	s.one.must(200, "PATCH", "/jobs/"+job.text("id"), `{"externalId":"OLD"}`).want("externalId", "OLD")
	s.one.must(200, "PATCH", "/jobs/"+job.text("id"), `{"externalId":null}`)
	s.one.must(201, "POST", "/jobs", `{"name":"N","employerId":"E","externalId":"OLD"}`)
}
