package rest_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"skillscurriculum/pkg/catalog"
)

// report makes a report of one course, one occupation and one view.
func (c client) report(view string) string {
	c.s.t.Helper()
	course := c.course("Course").text("id")
	return c.must(201, "POST", "/reports", fmt.Sprintf(`{"name":"Plan","settings":{"courses":[%q],"jobs":[{"id":"15-1252","lib":"soc"}],"view":%q}}`, course, view)).text("report.id")
}

// shared is the path and query of a link's address.
func (r reply) shared() string {
	r.t.Helper()
	address, err := url.Parse(r.text("url"))
	if err != nil || address.Host == "" {
		r.t.Fatalf("%s: %v", r.Body, err)
	}
	return strings.TrimPrefix(address.RequestURI(), "/v1")
}

// TestHammeredLink: one link has so many reads a minute, and those of another, with or
// without a key, do not notice. An unknown, expired or revoked token is not counted.
func TestHammeredLink(t *testing.T) {
	t.Parallel()
	s := newService(t)
	nobody := client{s: s}
	path := "/reports/" + s.one.report("gap")
	var pages []string
	for range 2 {
		pages = append(pages, s.one.must(201, "POST", path+"/links", `{"expiresInSeconds":600}`).shared())
	}
	used := s.one.must(200, "GET", "/customers/"+string(s.one.customer.ID)+"/usage", "").number("window.used")
	const most = 120
	for n := range most {
		if left := nobody.must(200, "GET", pages[0], "").integer("X-RateLimit-Remaining"); left != most-1-n {
			t.Fatalf("read %d: %d left", n+1, left)
		}
	}
	refused := nobody.must(429, "GET", pages[0], "")
	if refused.header("Retry-After") == "" || refused.header("X-RateLimit-Remaining") != "0" {
		t.Errorf("%v", refused.Header)
	}
	nobody.must(200, "GET", pages[1], "")
	if again := s.one.must(200, "GET", "/customers/"+string(s.one.customer.ID)+"/usage", "").number("window.used"); again != used {
		t.Errorf("reads of a link are charged to its customer: %v, then %v", used, again)
	}
	s.clock.Add(60_000)
	nobody.must(200, "GET", pages[0], "")
	if limit := nobody.must(404, "GET", path+"/shared?token=lnk_000000000000000000000000", "").integer("X-RateLimit-Limit"); limit != 0 {
		t.Errorf("an unknown token has a limit of %d", limit)
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	s := newService(t)
	nobody := client{s: s}
	path := "/reports/" + s.one.report("gap")
	made := s.one.must(201, "POST", path+"/links", `{"expiresInSeconds":60}`)
	made.want("expiresAt", s.clock.Now()+60_000)
	page := made.shared()
	shown := nobody.must(200, "GET", page, "")
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "X-Robots-Tag": "noindex", "Referrer-Policy": "no-referrer", "X-RateLimit-Cost": "0",
	} {
		if got := shown.header(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if policy := shown.header("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || !strings.HasSuffix(policy, "frame-ancestors 'none'") {
		t.Errorf("policy %s", policy)
	}
	// The link shows each view of its report, and nothing else.
	for _, view := range []string{"alignment", "coverage", "gap", "market"} {
		if body := string(nobody.must(200, "GET", page+"&view="+view, "").Body); !strings.Contains(body, ", "+view+" view") || !strings.Contains(body, "view=market") && view != "market" {
			t.Errorf("%s: %s", view, body)
		}
	}
	token := page[strings.Index(page, "token="):]
	refused := map[string]int{
		"/reports/" + s.one.report("gap") + "/shared?" + token: 404,
		"/reports/" + s.two.report("gap") + "/shared?" + token: 404,
		path + "/shared?token=lnk_000000000000000000000000":    404,
		path + "/shared?token=":                                400,
		path + "/shared":                                       400,
		page + "&view=other":                                   400,
		page + "&more=1":                                       400,
		path + "?" + token:                                     401,
		path + "/page?" + token:                                401,
		path + "/table?" + token:                               401,
		strings.Replace(page, "/shared", "/links", 1):          401,
	}
	for path, status := range refused {
		r := nobody.must(status, "GET", path, "")
		if isPage := strings.Contains(path, "/shared"); isPage != strings.HasPrefix(string(r.Body), "<!doctype html>") {
			t.Errorf("GET %s: %s", path, r.Body)
		} else if isPage && !strings.Contains(string(r.Body), `<a href="https://example.com/v1/docs#/problems/`) {
			t.Errorf("GET %s: no way to the reference: %s", path, r.Body)
		}
	}
	s.clock.Add(59_999)
	nobody.must(200, "GET", page, "")
	s.clock.Add(1)
	nobody.must(404, "GET", page, "")
}

func TestLinksAreRevoked(t *testing.T) {
	t.Parallel()
	s := newService(t)
	nobody := client{s: s}
	path := "/reports/" + s.one.report("coverage")
	other := client{s, s.key(s.one.customer, catalog.WriteScope), s.one.customer}
	link := func(c client) string {
		return c.must(201, "POST", path+"/links", `{"expiresInSeconds":604800}`).shared()
	}
	mine, others := link(s.one), link(other)
	key, err := s.store.Key(t.Context(), catalog.HashSecret(other.key))
	if err != nil {
		t.Fatal(err)
	}
	now := s.clock.Now()
	key.RevokedAt = &now
	if err := s.store.SaveKey(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	nobody.must(404, "GET", others, "")
	nobody.must(200, "GET", mine, "")
	s.one.must(204, "DELETE", path, "")
	if gone := string(nobody.must(404, "GET", mine, "").Body); strings.Contains(gone, "Plan") {
		t.Error(gone)
	}
	s.one.must(404, "POST", path+"/links", `{"expiresInSeconds":60}`)
}

func TestWhoMakesLinks(t *testing.T) {
	t.Parallel()
	s := newService(t)
	path := "/reports/" + s.one.report("gap") + "/links"
	s.reader.must(403, "POST", path, `{"expiresInSeconds":60}`)
	s.two.must(404, "POST", path, `{"expiresInSeconds":60}`)
	for _, body := range []string{`{"expiresInSeconds":59}`, `{"expiresInSeconds":604801}`, `{"expiresInSeconds":60.5}`, `{}`} {
		if at := s.one.must(422, "POST", path, body).locations(); at != "body.expiresInSeconds" {
			t.Errorf("%s: error at %s", body, at)
		}
	}
	// A link is not a change of a record, and made once under an idempotency key.
	before := s.one.must(200, "GET", "/changes", "").Body
	first := s.one.must(201, "POST", path, `{"expiresInSeconds":60}`, "Idempotency-Key", "k").text("url")
	if again := s.one.must(201, "POST", path, `{"expiresInSeconds":60}`, "Idempotency-Key", "k").text("url"); again != first {
		t.Errorf("%s, then %s", first, again)
	}
	if after := s.one.must(200, "GET", "/changes", "").Body; string(after) != string(before) {
		t.Errorf("the change feed has %s", after)
	}
}

// The media type that a client prefers, the parameter that says it, and the paths that
// have one only.
func TestMediaTypesOfReports(t *testing.T) {
	t.Parallel()
	s := newService(t)
	path := "/reports/" + s.one.report("gap")
	tags := map[string]string{}
	for _, c := range []struct{ query, accept, want string }{
		{"", "", "application/json"},
		{"", "*/*", "application/json"},
		{"", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"},
		{"", "application/json, text/html", "application/json"},
		{"", "text/html;q=0.5, text/csv", "text/csv"},
		{"", "image/png", "application/json"},
		{"?format=json", "text/html", "application/json"},
		{"?format=html", "application/json", "text/html"},
		{"?format=csv", "text/html", "text/csv"},
	} {
		r := s.one.must(200, "GET", path+c.query, "", "Accept", c.accept)
		if got, _, _ := strings.Cut(r.header("Content-Type"), ";"); got != c.want {
			t.Errorf("%s Accept: %s is %s, want %s", c.query, c.accept, got, c.want)
		}
		if vary := r.header("Vary"); !strings.HasPrefix(vary, "Accept") {
			t.Errorf("Vary: %s", vary)
		}
		if tag := r.header("ETag"); tags[c.want] != "" && tags[c.want] != tag {
			t.Errorf("%s has two ETags", c.want)
		}
		tags[c.want] = r.header("ETag")
	}
	if len(tags) != 3 || tags["text/html"] == tags["application/json"] {
		t.Errorf("ETags %v", tags)
	}
	s.one.must(304, "GET", path, "", "Accept", "text/html", "If-None-Match", tags["text/html"]).header("Vary")
	s.one.must(200, "GET", path, "", "Accept", "application/json", "If-None-Match", tags["text/html"])
	s.one.must(412, "DELETE", path, "", "If-Match", tags["text/html"])

	for _, view := range []string{"", "?view=coverage"} {
		if r := s.one.must(200, "GET", path+"/page"+view, ""); !strings.HasPrefix(r.header("Content-Type"), "text/html") || r.header("X-RateLimit-Cost") != "10" {
			t.Errorf("page: %v", r.Header)
		}
		if r := s.one.must(200, "GET", path+"/table"+view, ""); !strings.HasPrefix(r.header("Content-Type"), "text/csv") {
			t.Errorf("table: %v", r.Header)
		}
	}
	if table := string(s.one.must(200, "GET", path+"/table?view=coverage", "").Body); !strings.HasPrefix(table, "skillId,") {
		t.Error(table)
	}
	for _, view := range []string{"alignment", "coverage", "gap", "market"} {
		s.one.must(200, "GET", path+"?view="+view, "").want("view", view)
	}
	s.one.must(400, "GET", path+"?view=all", "").want("code", "invalid_parameter")
	s.one.must(404, "GET", "/reports/rpt_0/page", "").want("code", "not_found")
	s.two.must(404, "GET", path+"/table", "")
	s.one.must(204, "DELETE", path, "", "If-Match", tags["application/json"])
}
