package upsert_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/upsert"
)

// cells are valid and invalid cells of a table of articulations, by column.
var cells = []struct {
	column string
	values []string
}{
	{"institution", []string{"Foothill", "Foothill", " De  Anza ", "--", "", strings.Repeat("x", 256)}},
	{"institutionCodeType", []string{"", "", "IPEDS", "FICE"}},
	{"institutionCode", []string{"", "", "114716", strings.Repeat("1", 51)}},
	{"codes", []string{"A 1", "A 1;B 2", "a-01;A 1", "A,B", ".;-", "", "A 1;;B", strings.Repeat("x", 51)}},
	{"titles", []string{"", "", "Title", `"a\;b"`, strings.Repeat("x", 256)}},
	{"sendingCredits", []string{"", "", "3", "3-2", "1.3", "3 CEU"}},
	{"takenFrom", []string{"", "", "2020-01-02", "2020-13-01"}},
	{"takenTo", []string{"", "", "2020-01-01", "2021-01-01"}},
	{"transferCourseIds", []string{"", "", "tcr_unknown"}},
	{"receiving", []string{"C-0", "C-0", "C-1;label:Elective", "", "C-9", "label:", "label:" + strings.Repeat("x", 256)}},
	{"decision", []string{"EQUIVALENT", "EQUIVALENT", "NO_CREDIT", "PARTIAL", "MAYBE", ""}},
	{"reason", []string{"", "", "because"}},
	{"effectiveFrom", []string{"2026-01-01", "2026-01-01", "2026-02-30", ""}},
	{"effectiveTo", []string{"", "", "2025-12-31", "2026-01-01"}},
	{"effectiveTerm", []string{"", "", "Fall", strings.Repeat("x", 51)}},
	{"programs", []string{"", "", "P-9"}},
	{"publicNote", []string{"", "", "note"}},
	{"published", []string{"", "true", "false"}},
	{"supersedes", []string{"", "", "", "art_unknown"}},
}

// table draws a table of one articulation with up to three alternatives. Half of the tables have only first values,
// which are valid.
func table(t *rapid.T) string {
	others := rapid.Bool().Draw(t, "others")
	header, line := make([]string, len(cells)), make([]string, len(cells))
	for i, c := range cells {
		header[i], line[i] = c.column, c.values[0]
		if others && rapid.IntRange(0, 3).Draw(t, c.column+"?") == 0 {
			line[i] = rapid.SampledFrom(c.values).Draw(t, c.column)
		}
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	lines := [][]string{header, line}
	for range rapid.IntRange(0, 2).Draw(t, "more") {
		more := slices.Clone(line)
		more[3] = rapid.SampledFrom([]string{"X 1", "Y 1;Z", "A 1", "B-02;A.1"}).Draw(t, "more codes")
		for _, i := range []int{4, 5, 6, 7, 8} {
			more[i] = ""
		}
		lines = append(lines, more)
	}
	if err := w.WriteAll(lines); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// For any line, a request with the same fields creates the same articulation or reports the same errors at the same
// locations.
func TestArticulationRequestsAndFilesAgree(t *testing.T) {
	p := newPair(t)
	saved, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := table(t)
		rows, err := intake.Read(strings.NewReader(text), "a.csv", intake.Options{Resource: catalog.ArticulationKind})
		if err != nil {
			t.Fatal(err)
		}
		// Without an id lines are identified by their contents, which may be repeated here.
		body := p.named(t, rows[0].Fields)
		p.number++
		rows = slices.Collect(func(yield func(intake.Row) bool) {
			row := rows[0]
			row.Name = fmt.Sprintf("%s%d", intake.LineName, p.number)
			yield(row)
		})
		if rows[0].Problems != nil {
			t.Skip(rows[0].Problems)
		}
		id, ofAPI := p.call(http.MethodPost, "/articulations", body)
		summary, err := p.loader.Load(context.Background(), byFile, rows, upsert.Options{})
		if err != nil && !errors.Is(err, upsert.ErrRejected) {
			t.Fatal(err)
		}
		var ofFile []string
		for _, reject := range summary.Rejects {
			ofFile = append(ofFile, strings.Split(reject.Reason, "; ")...)
		}
		slices.Sort(ofAPI)
		slices.Sort(ofFile)
		if diff := cmp.Diff(ofAPI, ofFile); diff != "" {
			t.Fatalf("%s\nrequest and file disagree on the errors:\n%s", text, diff)
		}
		if len(ofAPI) > 0 {
			refused++
			return
		}
		saved++
		ours, err := service.Get[*catalog.Articulation](context.Background(), p.store, byAPI, id, true)
		theirs := p.known(byFile, catalog.ArticulationKind, rows[0].Name)
		if err != nil || theirs == nil {
			t.Fatal(err, theirs)
		}
		if diff := cmp.Diff(p.shown(t, ours), p.shown(t, theirs)); diff != "" {
			t.Fatalf("%s\nrequest and file make different records:\n%s", text, diff)
		}
	})
	if saved < 3 || refused < 3 {
		t.Errorf("%d saved, %d refused", saved, refused)
	}
}

// named returns the fields of a row as a request, with courses by id.
func (p *pair) named(t *rapid.T, fields map[string]any) map[string]any {
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(text, &body); err != nil {
		t.Fatal(err)
	}
	grants, _ := body["receiving"].([]any)
	for _, grant := range grants {
		if name, ok := grant.(map[string]any)["courseId"].(string); ok && p.ids[name] != "" {
			grant.(map[string]any)["courseId"] = p.ids[name]
		}
	}
	return body
}
