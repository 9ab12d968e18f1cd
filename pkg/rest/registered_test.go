package rest_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"skillscurriculum/pkg/catalog"
)

// registered are the kinds of records that have a CTID: how one is made.
var registered = []struct{ path, body string }{
	{"/courses", `{"name":"N","code":"C"%s}`},
	{"/programs", `{"name":"N"%s}`},
	{"/credentials", `{"name":"N"%s}`},
	{"/articulations", `{"sendingInstitution":{"name":"S"},"sending":[{"courses":[{"code":"A 1"}]}],"receiving":[{"label":"L"}],"decision":"ELECTIVE","effectiveFrom":"2026-01-01"%s}`},
}

func uuid(n int) string { return fmt.Sprintf("ce-00000000-0000-4000-8000-%012x", n) }

// A ctid is derived at once, is set once, and is one live record's among all kinds.
func TestCTID(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	used := 0
	fresh := func() string {
		used++
		return uuid(used)
	}
	for _, k := range registered {
		body := func(fields string) string { return fmt.Sprintf(k.body, fields) }
		at := func(r reply) string { return k.path + "/" + r.text("id") }
		derived := one.must(201, "POST", k.path, body(""))
		derived.want("ctid", catalog.DerivedCTID(derived.text("id")))
		one.must(200, "GET", at(derived), "").want("ctid", derived.text("ctid"))
		one.must(200, "PATCH", at(derived), `{"ctid":"`+derived.text("ctid")+`"}`).want("updatedAt", derived.get("updatedAt"))

		ctid := fresh()
		set := one.must(201, "POST", k.path, body(`,"ctid":"`+ctid+`"`))
		set.want("ctid", ctid)
		later := fresh()
		one.must(200, "PATCH", at(derived), `{"ctid":"`+later+`"}`).want("ctid", later)
		one.must(200, "GET", at(derived), "").want("ctid", later)
		again := one.must(200, "PATCH", at(derived), `{"ctid":"`+later+`"}`)
		again.want("ctid", later)
		for _, r := range []reply{
			one.must(409, "PATCH", at(derived), `{"ctid":"`+fresh()+`"}`),
			one.must(409, "PATCH", at(derived), `{"ctid":"`+ctid+`"}`),
			one.must(409, "PATCH", at(derived), `{"ctid":"`+derived.text("ctid")+`"}`),
		} {
			r.want("code", "conflict")
			r.want("errors.0.location", "body.ctid")
			r.want("errors.0.value", later)
		}
		for _, other := range registered {
			for _, held := range []string{ctid, later} {
				r := one.must(409, "POST", other.path, fmt.Sprintf(other.body, `,"ctid":"`+held+`"`))
				r.want("errors.0.location", "body.ctid")
			}
			s.two.must(201, "POST", other.path, fmt.Sprintf(other.body, `,"ctid":"`+fresh()+`"`))
		}
		for _, bad := range []string{"null", `""`, "7", `"` + strings.ToUpper(fresh()) + `"`, `"` + strings.Replace(fresh(), "-4", "-3", 1) + `"`, `"` + fresh()[3:] + `"`} {
			if r := one.must(422, "PATCH", at(set), `{"ctid":`+bad+`}`); r.locations() != "body.ctid" {
				t.Errorf("%s: field errors at %s", bad, r.locations())
			}
		}
		// Another organization may have it too, and a deleted record leaves it.
		s.two.must(201, "POST", k.path, body(`,"ctid":"`+ctid+`"`))
		one.must(204, "DELETE", at(set), "")
		one.must(201, "POST", k.path, body(`,"ctid":"`+ctid+`"`)).want("ctid", ctid)
	}
}

// Of sixteen writers that want one CTID, one gets it.
func TestCTIDIsUnique(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	got := map[int]int{}
	for i := range 16 {
		all.Go(func() {
			k := registered[i%len(registered)]
			r := s.one.do("POST", k.path, fmt.Sprintf(k.body, `,"ctid":"`+uuid(1)+`"`))
			mu.Lock()
			defer mu.Unlock()
			got[r.Status]++
		})
	}
	all.Wait()
	if got[201] != 1 || got[409] != 15 {
		t.Errorf("statuses %v", got)
	}
}

// Items of a batch take CTIDs by the same rules, each for itself.
func TestCTIDsOfBatches(t *testing.T) {
	t.Parallel()
	s := newService(t)
	item := func(name, ctid string) string {
		return fmt.Sprintf(`{"externalId":%q,"name":"N","code":"C","ctid":%q}`, name, ctid)
	}
	send := func(items ...string) reply {
		return s.one.must(200, "POST", "/batches", `{"resource":"course","items":[`+strings.Join(items, ",")+`]}`)
	}
	first := send(item("a", uuid(1)), item("b", uuid(1)), item("c", uuid(2)))
	for i, outcome := range []string{"CREATED", "FAILED", "CREATED"} {
		first.want(fmt.Sprintf("results.%d.outcome", i), outcome)
	}
	first.want("results.1.problem.code", "conflict")
	again := send(item("a", uuid(1)), item("c", uuid(3)), item("d", uuid(2)), item("e", uuid(4)))
	for i, outcome := range []string{"UNCHANGED", "FAILED", "FAILED", "CREATED"} {
		again.want(fmt.Sprintf("results.%d.outcome", i), outcome)
	}
	again.want("results.2.problem.errors.0.location", "body.items[2].ctid")
}

// Facts of programs and credentials have defaults and bounds.
func TestRegistryFacts(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	credential := one.must(201, "POST", "/credentials", `{"name":"N"}`)
	credential.want("credentialType", "MicroCredential")
	credential.want("status", "ACTIVE")
	credential.want("webpage", nil)
	at := "/credentials/" + credential.text("id")
	changed := one.must(200, "PATCH", at, `{"credentialType":"BachelorDegree","status":"TEACH_OUT","webpage":"https://example.org/c"}`)
	changed.want("credentialType", "BachelorDegree")
	changed.want("status", "TEACH_OUT")
	changed.want("webpage", "https://example.org/c")
	for body, location := range map[string]string{
		`{"credentialType":"Credential"}`: "body.credentialType", `{"credentialType":"Degree"}`: "body.credentialType",
		`{"credentialType":null}`: "body.credentialType", `{"status":"GONE"}`: "body.status",
		`{"webpage":"http://example.org"}`: "body.webpage",
	} {
		if r := one.must(422, "PATCH", at, body); r.locations() != location {
			t.Errorf("%s: field errors at %s", body, r.locations())
		}
	}
	id := credential.text("id")
	program := one.must(201, "POST", "/programs", `{"name":"N","credentialIds":["`+id+`"],"webpage":"https://example.org/p"}`)
	program.want("credentialIds", []any{id})
	program.want("lifecycleStatus", "ACTIVE")
	at = "/programs/" + program.text("id")
	one.must(200, "PATCH", at, `{"lifecycleStatus":"RETIRED","credentialIds":[]}`).want("credentialIds", []any{})
	foreign := s.two.must(201, "POST", "/credentials", `{"name":"N"}`).text("id")
	for body, location := range map[string]string{
		`{"credentialIds":["crd_unknown"]}`:             "body.credentialIds[0]",
		`{"credentialIds":["` + id + `","` + id + `"]}`: "body.credentialIds[1]",
		`{"credentialIds":["` + foreign + `"]}`:         "body.credentialIds[0]",
		`{"lifecycleStatus":null}`:                      "body.lifecycleStatus",
	} {
		if r := one.must(422, "PATCH", at, body); r.locations() != location {
			t.Errorf("%s: field errors at %s", body, r.locations())
		}
	}
	// A credential that is deleted later stays named.
	one.must(200, "PATCH", at, `{"credentialIds":["`+id+`"]}`)
	one.must(204, "DELETE", "/credentials/"+id, "")
	one.must(200, "PATCH", at, `{"name":"M"}`).want("credentialIds", []any{id})
}
