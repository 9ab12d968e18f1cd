package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/infra/skillsctl/remap"
	"skillscurriculum/pkg/catalog"
)

// review saves a review as the service does.
func (c *console) review(r catalog.Record, skill string, verdict catalog.Verdict, level *int) {
	c.t.Helper()
	fresh, err := c.store.Reload(c.t.Context(), r)
	if err != nil {
		c.t.Fatal(err)
	}
	in := catalog.ReviewInput{Verdict: verdict, Level: catalog.Optional[*int]{Set: level != nil, Value: level}}
	lookups := catalog.Lookups{SkillName: func(id string) (string, bool) { return id, true }}
	before := catalog.Copy(fresh)
	if err := in.Apply(fresh.(catalog.Reviewed), skill, "key_1", lookups, now()); err != nil {
		c.t.Fatal(err)
	}
	var change catalog.Change
	change.Replace(before, fresh, now())
	if err := c.store.Commit(c.t.Context(), r.Base().OrganizationID, &change); err != nil {
		c.t.Fatal(err)
	}
}

// finish completes every extraction with the given skills.
func (c *console) finish(org catalog.OrgID, found ...catalog.SkillRef) {
	t := c.t
	t.Helper()
	records, err := remap.Extracted(t.Context(), c.store, org)
	records = slices.DeleteFunc(records, func(r catalog.Record) bool { return !unfinished(r) })
	if err != nil || len(records) != 2 {
		t.Fatalf("%d records to extract: %v", len(records), err)
	}
	for _, r := range records {
		task, err := c.store.Claim(t.Context(), catalog.JobOf(r), ids.New("run_"), now()+60_000)
		if err != nil {
			t.Fatal(err)
		}
		outcome := &catalog.ExtractionResult{Skills: found, Provenance: catalog.Provenance{DocumentSHA256: "5ha"}}
		if err := c.store.Finish(t.Context(), task, outcome); err != nil {
			t.Fatal(err)
		}
	}
}

// Reviews are counted by the confidence of extraction, written line by line, and kept by extractions and imports with
// the same result.
func TestReviews(t *testing.T) {
	c := newConsole(t)
	customer := value[catalog.Customer](c, "customers", "create", "-name", "College")
	org := customer.OrganizationID
	c.file("c.json", `{"courses":[{"externalId":"A","code":"A","name":"A","syllabusHref":"https://example.com/a"},
		{"externalId":"B","code":"B","name":"B","skills":[{"skillId":"core:python","level":2,"confidence":0.4}]}],
		"transferPackages":[{"externalId":"T","name":"T","transferFromInstitution":"I","courses":[{"externalId":"X","name":"X"}]}]}`)
	c.run(0, "import", "catalog", "-organization", string(org), "c.json")
	c.finish(org, catalog.SkillRef{SkillID: "core:sql", SkillName: "SQL", Level: 2, Confidence: 1},
		catalog.SkillRef{SkillID: "core:java", SkillName: "Java", Level: 2, Confidence: 0.3},
		catalog.SkillRef{SkillID: "core:python", SkillName: "Python", Level: 2, Confidence: 0.2999})
	var byHand, section, transfer catalog.Record
	records, err := remap.Extracted(t.Context(), c.store, org)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		switch r := r.(type) {
		case *catalog.TransferCourse:
			transfer = r
		case *catalog.Section:
			if r.SyllabusHref == nil {
				byHand = r
			} else {
				section = r
			}
		}
	}
	c.review(section, "core:sql", catalog.Accepted, nil)
	c.review(transfer, "core:sql", catalog.Accepted, nil)
	c.review(section, "core:java", catalog.Accepted, new(4))
	c.review(transfer, "core:java", catalog.Rejected, nil)
	c.review(section, "core:python", catalog.Rejected, nil)
	c.review(section, "core:algorithms", catalog.Accepted, new(1))
	c.review(byHand, "core:python", catalog.Rejected, nil)

	want := map[string][4]any{ // accepted, rejected, added, share
		"1": {2, 0, 0, 1.0}, "0.4": {1, 1, 0, 0.5}, "0.3": {0, 1, 0, 0.0}, "notExtracted": {0, 1, 1, nil}, "all": {3, 3, 1, 0.6},
	}
	got := value[reviewCounts](c, "reviews", "-organization", string(org), "-out", "reviews.jsonl")
	check := func(name string, v verdicts) {
		t.Helper()
		w, ok := want[name]
		if !ok {
			w = [4]any{0, 0, 0, nil}
		}
		var share any
		if v.ShareAccepted != nil {
			share = *v.ShareAccepted
		}
		if diff := cmp.Diff(w, [4]any{v.Accepted, v.Rejected, v.Added, share}); diff != "" {
			t.Errorf("%s (-want +got): %s", name, diff)
		}
	}
	for _, d := range got.Deciles {
		check(fmt.Sprint(d.To), d.verdicts)
	}
	check("notExtracted", got.NotExtracted)
	check("all", got.All)
	if got.Reviews != 7 || got.Records != 3 {
		t.Errorf("%d reviews of %d records", got.Reviews, got.Records)
	}

	text, err := os.ReadFile("reviews.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 7 {
		t.Fatalf("%s", text)
	}
	seen := map[string]string{}
	for _, line := range lines {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		seen[fmt.Sprint(v["resource"], " ", v["id"], " ", v["skillId"])] = fmt.Sprint(v["verdict"], " ", v["level"], " ", v["extracted"], " ", v["documentSha256"])
	}
	id := func(r catalog.Record) string { return r.Base().ID }
	if diff := cmp.Diff(map[string]string{
		"Section " + id(section) + " core:sql":          "ACCEPTED <nil> map[confidence:1 level:2] 5ha",
		"TransferCourse " + id(transfer) + " core:sql":  "ACCEPTED <nil> map[confidence:1 level:2] 5ha",
		"Section " + id(section) + " core:java":         "ACCEPTED 4 map[confidence:0.3 level:2] 5ha",
		"TransferCourse " + id(transfer) + " core:java": "REJECTED <nil> map[confidence:0.3 level:2] 5ha",
		"Section " + id(section) + " core:python":       "REJECTED <nil> map[confidence:0.2999 level:2] 5ha",
		"Section " + id(section) + " core:algorithms":   "ACCEPTED 1 <nil> 5ha",
		"Section " + id(byHand) + " core:python":        "REJECTED <nil> <nil> <nil>",
	}, seen); diff != "" {
		t.Errorf("lines (-want +got): %s", diff)
	}
	table, _ := c.run(0, "reviews")
	for _, row := range []string{"CONFIDENCE", "0.9 - 1.0", "100 %", "60 %", "not extracted", "7 reviews of 3"} {
		if !strings.Contains(table, row) {
			t.Errorf("the table lacks %q: %s", row, table)
		}
	}

	// The same file again, and another extraction.
	c.run(0, "import", "catalog", "-organization", string(org), "c.json")
	c.run(0, "reextract", "-wait=false", "-organization", string(org))
	c.finish(org, catalog.SkillRef{SkillID: "core:python", SkillName: "Python", Level: 5, Confidence: 0.8})
	after := value[reviewCounts](c, "reviews")
	if after.Reviews != 7 || after.All.Added != 4 || after.Deciles[8].Rejected != 1 {
		t.Errorf("after another extraction: %+v", after)
	}
	// Other skills in the file are set by hand and end the earlier reviews.
	c.file("c.json", `{"courses":[{"externalId":"B","code":"B","name":"B","skills":[{"skillId":"core:python","level":3}]}]}`)
	c.run(0, "import", "catalog", "-organization", string(org), "c.json")
	if after := value[reviewCounts](c, "reviews"); after.Reviews != 6 {
		t.Errorf("after an import of other skills: %+v", after)
	}
}
