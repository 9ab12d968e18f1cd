package rest_test

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/rest"
)

// Each group's function can be made alone.
func TestEveryGroupIsWhole(t *testing.T) {
	for _, group := range api.Groups() {
		rest.New(&rest.Server{Groups: []api.Group{group}})
	}
}

// A contract and handlers that do not fit each other make no server.
func TestServerIsRefused(t *testing.T) {
	changed := func(id string, change func(*api.Operation)) []api.Operation {
		contract := api.Operations()
		change(&contract[slices.IndexFunc(contract, func(o api.Operation) bool { return o.ID == id })])
		return contract
	}
	without := slices.DeleteFunc(api.Operations(), func(o api.Operation) bool { return o.ID == "getJob" })
	for _, c := range []struct {
		name     string
		contract []api.Operation
		says     string
	}{
		{"no handler", append(api.Operations(), api.Operation{ID: "putJob", Method: "PUT", Path: "/jobs/{jobId}", Group: api.Jobs}), "operation putJob has no handler"},
		{"no operation", without, "handler getJob has no operation"},
		{"of another group", changed("getJob", func(o *api.Operation) { o.Group = "nowhere" }), "handler getJob has no operation"},
		{"no body in the contract", changed("createJob", func(o *api.Operation) { o.Accepts = nil }), "operation createJob has a body"},
		{"no body in the handler", changed("getJob", func(o *api.Operation) { o.Accepts = []string{api.JSON} }), "operation getJob has a body"},
		{"no response in the contract", changed("getJob", func(o *api.Operation) { o.Gives = nil }), "operation getJob has a response body"},
		{"no response in the handler", changed("deleteJob", func(o *api.Operation) { o.Gives = []string{api.JSON} }), "operation deleteJob has a response body"},
		{"If-Match with nothing", changed("updateJob", func(o *api.Operation) { o.IfMatch = "getNothing" }), "compares If-Match with getNothing"},
		{"If-Match with a list", changed("updateJob", func(o *api.Operation) { o.IfMatch = "listJobs" }), "compares If-Match with listJobs"},
		{"If-Match with a PATCH", changed("deleteJob", func(o *api.Operation) { o.IfMatch = "updateJob" }), "compares If-Match with updateJob"},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, c.says) {
					t.Errorf("says %s, want %s", said, c.says)
				}
			}()
			rest.NewOf(c.contract, func(*rest.Server) {})
		})
	}
}

// What If-Match is compared with does not follow from paths: a GET on the way up from
// a member to its record changes nothing.
func TestIfMatchIsNotGuessed(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.server = rest.Extend(s.server)
	course := s.one.course("A").text("id")
	path := "/programs/" + s.one.must(201, "POST", "/programs", fmt.Sprintf(`{"name":"P","courseOrder":[%q]}`, course)).text("id")
	s.one.must(200, "GET", path+"/courses", "").want("data", []string{course})
	old := s.one.must(200, "GET", path, "").header("ETag")
	s.one.must(200, "PATCH", path, `{"code":"C"}`)
	s.one.must(412, "DELETE", path+"/courses/"+course, "", "If-Match", old)
	s.one.must(204, "DELETE", path+"/courses/"+course, "", "If-Match", s.one.must(200, "GET", path, "").header("ETag"))
}

// A PUT is an operation like others.
func TestPut(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.server = rest.Extend(s.server)
	program := s.one.must(201, "POST", "/programs", `{"name":"P"}`)
	path := "/programs/" + program.text("id") + "/labels/l"
	s.reader.must(403, "PUT", path, `{"text":"x"}`)
	s.one.must(405, "POST", path, "").header("Allow")
	s.one.must(415, "PUT", path, `{"text":"x"}`, "Content-Type", "application/merge-patch+json")
	s.one.must(422, "PUT", path, `{"text":""}`).want("code", "validation_failed")
	s.one.must(412, "PUT", path, `{"text":"x"}`, "If-Match", `"other"`)
	put := s.one.must(200, "PUT", path, `{"text":" x "}`, "If-Match", program.header("ETag"))
	put.want("description", "l: x")
	s.one.must(412, "PUT", path, `{"text":"y"}`, "If-Match", program.header("ETag"))
	s.one.must(200, "PUT", path, `{"text":"y"}`, "If-Match", put.header("ETag"))
}

// A disabled customer is refused within 60 s, and admitted again.
func TestDisabledCustomer(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.one.must(200, "GET", "/courses", "")
	customer := s.one.customer
	for _, disabled := range []*catalog.Time{new(s.clock.Now()), nil} {
		customer.DisabledAt = disabled
		if err := s.store.SaveCustomer(t.Context(), &customer); err != nil {
			t.Fatal(err)
		}
		s.clock.Add(60_000)
		if disabled == nil {
			s.one.must(200, "GET", "/courses", "")
		} else {
			s.one.must(401, "GET", "/courses", "")
			s.two.must(200, "GET", "/courses", "")
		}
	}
}

// A page that needs no key.
func TestPublicPages(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.server = rest.Extend(s.server)
	r := client{s: s}.must(200, "GET", "/open/page", "")
	if string(r.Body) != "<p>page</p>" || r.header("Content-Type") != "text/html; charset=utf-8" || r.header("Content-Security-Policy") == "" {
		t.Errorf("%v %s", r.Header, r.Body)
	}
	client{s: s}.must(304, "GET", "/open/page", "", "If-None-Match", r.header("ETag"))
	client{s: s}.must(401, "POST", "/open/page", "")
}

// Whatever a row says can be held by the rest of the table.
func TestContractHoldsTogether(t *testing.T) {
	for _, op := range api.Operations() {
		if op.IfMatch != "" {
			record := api.Of(op.IfMatch)
			if record.Group != op.Group || !strings.HasPrefix(op.Path, record.Path) {
				t.Errorf("%s compares with %s, which does not stand above it", op.ID, record.Path)
			}
		}
		if op.Creates != "" && api.Of(op.Creates).Method != http.MethodGet {
			t.Errorf("%s creates what %s does not read", op.ID, op.Creates)
		}
		if op.Access == api.Write && op.Method == http.MethodGet && op.Group != api.Webhooks || op.Idempotent && op.Method != http.MethodPost {
			t.Errorf("%s is odd: %+v", op.ID, op)
		}
		if (op.ItemsIn != nil) && (op.Cost.PerItem == 0 || !op.HasBody()) {
			t.Errorf("%s counts items of no cost or no body", op.ID)
		}
		if op.Access == api.Read && op.Cost.UpFront() > 1 && !op.Expensive {
			t.Errorf("%s costs %+v and would run while units cannot be counted", op.ID, op.Cost)
		}
		if reflect.DeepEqual(op.Gives, []string{}) || reflect.DeepEqual(op.Accepts, []string{}) {
			t.Errorf("%s has an empty list of media types", op.ID)
		}
	}
}
