package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"skillscurriculum/pkg/rest"
	"skillscurriculum/pkg/skills"
)

// Whatever panics, wherever it runs, is one internal error: nothing of it is
// shown, nothing is charged, and the process goes on.
func TestPanics(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	s := newService(t, func(s *rest.Server) {
		s.Taxonomy = func() *skills.Taxonomy { panic("the taxonomy is damaged") }
		s.Log = slog.New(slog.NewJSONHandler(&lines, nil))
	})
	course := s.one.course("A").text("id")
	used := s.used(s.one)
	for _, c := range [][3]string{
		{"GET", "/skills", ""}, {"GET", "/skills/x", ""}, {"POST", "/jobs", `{"name":"J","employerId":"e","skills":[{"skillId":"x","level":1}]}`},
		{"POST", "/courses/" + course + "/sections", `{"name":"S","skills":[{"skillId":"x","level":1}]}`}, {"POST", "/credential-builder", `{"jobIdentifiers":[{"id":"15-1252","lib":"soc"}]}`},
	} {
		lines.Reset()
		r := s.one.must(500, c[0], c[1], c[2])
		r.want("code", "internal")
		if strings.Contains(string(r.Body), "damaged") || strings.Contains(string(r.Body), ".go") {
			t.Errorf("the answer tells internals: %s", r.Body)
		}
		if r.cost() != 0 {
			t.Errorf("%s: a 500 costs %d", r.call, r.cost())
		}
		if !strings.Contains(lines.String(), "the taxonomy is damaged") || !strings.Contains(lines.String(), r.text("requestId")) {
			t.Errorf("the log does not tell the cause: %s", lines.String())
		}
	}
	if now := s.used(s.one); now != used {
		t.Errorf("panics took %d units", now-used)
	}
	s.one.must(200, "GET", "/courses/"+course, "")
}

// The log has one line for each request, with what it needs to be found and
// counted by, and nothing that anybody sent.
func TestLogLines(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	var traced map[string]string
	s := newService(t, func(s *rest.Server) {
		s.Log = slog.New(slog.NewJSONHandler(&lines, nil))
		s.Trace = func(_ context.Context, _ string, _ time.Time, annotations map[string]string) { traced = annotations }
	})
	line := func(c client, method, path, body string, header ...string) map[string]any {
		t.Helper()
		lines.Reset()
		c.do(method, path, body, header...)
		var v map[string]any
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("%s: %v", lines.String(), err)
		}
		for _, secret := range []string{c.key, "Confidential", "crs_", "secret-key"} {
			if secret != "" && strings.Contains(lines.String(), secret) {
				t.Errorf("the line of %s %s holds %q: %s", method, path, secret, lines.String())
			}
		}
		return v
	}
	nobody := client{s, "skc_guessed", s.one.customer}
	for _, c := range []struct {
		client             client
		method, path, body string
		operation          string
		status, units      int
	}{
		{s.one, "POST", "/courses", `{"name":"Confidential","code":"C"}`, "createCourse", 201, 2},
		{s.one, "POST", "/courses", `{"name":"Confidential","code":""}`, "createCourse", 422, 2},
		{s.one, "POST", "/syllabus-extractions", `{"text":"Confidential"}`, "createSyllabusExtraction", 202, 10},
		{s.one, "GET", "/courses/crs_x?Confidential=1", "", "getCourse", 400, 1},
		{s.one, "GET", "/Confidential", "", "none", 404, 0},
		{nobody, "GET", "/courses", "", "listCourses", 401, 0},
	} {
		v := line(c.client, c.method, c.path, c.body, "Idempotency-Key", "secret-key "+c.path+c.body[:min(len(c.body), 40)])
		if v["Operation"] != c.operation || v["status"] != float64(c.status) || v["Units"] != float64(c.units) || v["requestId"] == "" || v["_aws"] == nil {
			t.Errorf("%s %s: %v", c.method, c.path, v)
		}
		if c.client.key == s.one.key && v["organization"] != string(s.one.customer.OrganizationID) {
			t.Errorf("%s %s is of organization %v", c.method, c.path, v["organization"])
		}
		if traced["operation"] != c.operation || traced["organization"] != v["organization"] {
			t.Errorf("%s %s is traced as %v", c.method, c.path, traced)
		}
		counted := v["_aws"].(map[string]any)["CloudWatchMetrics"].([]any)[0].(map[string]any)
		for _, set := range counted["Dimensions"].([]any) {
			for _, dimension := range set.([]any) {
				if text, _ := v[dimension.(string)].(string); text == "" {
					t.Errorf("%s %s is counted by %v, which it lacks: %v", c.method, c.path, dimension, v)
				}
			}
		}
	}
}
