package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/infra/devdata"
	"skillscurriculum/infra/skillsctl/remap"
	"skillscurriculum/pkg/catalog"
	usecase "skillscurriculum/pkg/service"
)

// college loads an organization whose records refer to skills of the starter vocabulary: two sections, one of them
// extracted, a transfer course, a job and a report.
func (c *console) college(name string) catalog.OrgID {
	c.t.Helper()
	ctx := c.t.Context()
	org := value[catalog.Customer](c, "customers", "create", "-name", name).OrganizationID
	c.file("c.json", `{"courses":[{"externalId":"A","code":"A","name":"A","syllabusHref":"https://example.com/a"},
			{"externalId":"B","code":"B","name":"B","skills":[{"skillId":"core:sql","level":3,"confidence":0.5},{"skillId":"core:python","level":2},{"skillId":"core:adaptability","level":1,"confidence":0.1}]}],
		"jobs":[{"externalId":"J","name":"J","employerId":"E","skills":[{"skillId":"core:python","level":4}]}],
		"transferPackages":[{"externalId":"T","name":"T","transferFromInstitution":"I","courses":[{"externalId":"X","name":"X"}]}]}`)
	c.run(0, "import", "catalog", "-organization", string(org), "c.json")
	records, err := remap.Extracted(ctx, c.store, org)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, r := range records {
		if !unfinished(r) {
			continue
		}
		task, err := c.store.Claim(ctx, catalog.JobOf(r), ids.New("run_"), now()+60_000)
		if err != nil {
			c.t.Fatal(err)
		}
		if err := c.store.Finish(ctx, task, &catalog.ExtractionResult{
			Skills:   []catalog.SkillRef{{SkillID: "core:sql", SkillName: "SQL", Level: 2, Confidence: 1}},
			Evidence: []catalog.Evidence{{SkillID: "core:sql", Quote: "queries", Page: 1}, {SkillID: "core:adaptability", Quote: "adapt", Page: 1}},
		}); err != nil {
			c.t.Fatal(err)
		}
	}
	dir, err := c.store.Directory(ctx, org, catalog.ReportKind)
	if err != nil {
		c.t.Fatal(err)
	}
	report := &catalog.Report{Name: "R", Settings: catalog.ReportSettings{
		Courses: []string{}, Jobs: []catalog.ReportJob{}, Skills: []catalog.ReportSkill{{ID: "core:sql"}, {ID: "core:python"}}, View: "coverage", Version: 1,
	}}
	var change catalog.Change
	change.Add(report, ids, dir, now)
	if err := c.store.Commit(ctx, org, &change); err != nil {
		c.t.Fatal(err)
	}
	return org
}

// named returns the skills of an organization's records by kind and, for sections, by name.
func (c *console) named(org catalog.OrgID) map[string]string {
	c.t.Helper()
	records, err := remap.Records(c.t.Context(), c.store, org)
	if err != nil {
		c.t.Fatal(err)
	}
	all := map[string]string{}
	for _, r := range records {
		name := string(catalog.KindOf(r))
		if section, ok := r.(*catalog.Section); ok {
			name += " " + section.Name
		}
		var ids []string
		catalog.EachSkill(r, func(id, _ string) { ids = append(ids, id) })
		all[name] = strings.Join(ids, " ")
	}
	return all
}

func TestTaxonomyRemap(t *testing.T) {
	c := newConsole(t)
	org, other := c.college("College"), c.college("Other")
	ctx := t.Context()
	c.file("mine.csv", "id,name,kind,aliases\nmine:sql,structured query language,tool,SQL\nmine:python,Python (computer programming),tool,\nmine:cope,coping with change,transversal,\n")
	c.run(0, "taxonomy", "build", "-csv", "mine.csv", "-version", "1", "-out", "mine.bin")
	before := map[string]string{
		"Section A": "core:sql", "Section B": "core:python core:sql core:adaptability", "TransferCourse": "core:sql", "Job": "core:python", "Report": "core:sql core:python",
	}
	if diff := cmp.Diff(before, c.named(org)); diff != "" {
		t.Fatal(diff)
	}

	// A check changes nothing but writes the table.
	args := []string{"taxonomy", "remap", "-from", "starter", "-to", "mine.bin", "-organization", string(org), "-table", "t.csv"}
	want := remapped{
		Share: remap.Share{InUse: 3}, Label: 1, Alias: 1, Unmapped: []remap.Row{{OldID: "core:adaptability", OldName: "adaptability", How: "none"}},
		Records: map[catalog.Kind]int{catalog.SectionKind: 2, catalog.TransferCourseKind: 1, catalog.JobKind: 1, catalog.ReportKind: 1},
	}
	if diff := cmp.Diff(want, value[remapped](c, append(args, "-check")...)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, c.named(org)); diff != "" {
		t.Errorf("a check changed: %s", diff)
	}
	if out, _ := c.run(0, append(args, "-check")...); !strings.Contains(out, "adaptability (core:adaptability)") || !strings.Contains(out, "would be renamed in  2 sections, 1 transfer courses, 1 jobs, 1 reports") {
		t.Error(out)
	}
	table, err := os.ReadFile("t.csv")
	if err != nil || string(table) != "oldId,oldName,newId,newName,how\ncore:adaptability,adaptability,,,none\ncore:python,Python,mine:python,Python (computer programming),label\ncore:sql,SQL,mine:sql,structured query language,alias\n" {
		t.Errorf("table %s %v", table, err)
	}

	// A person corrects it. The changes are in the change feed and increment the versions.
	c.file("t.csv", strings.Replace(string(table), "core:adaptability,adaptability,,,none", "core:adaptability,adaptability,mine:cope,,", 1))
	_, cursor := c.feed(org, "")
	sections, err := usecase.All[*catalog.Section](ctx, c.store, org, "")
	if err != nil {
		t.Fatal(err)
	}
	want.Label, want.Table, want.Unmapped = 1, 1, []remap.Row{}
	if diff := cmp.Diff(want, value[remapped](c, args...)); diff != "" {
		t.Error(diff)
	}
	after := map[string]string{
		"Section A": "mine:sql", "Section B": "mine:python mine:sql mine:cope", "TransferCourse": "mine:sql", "Job": "mine:python", "Report": "mine:sql mine:python",
	}
	if diff := cmp.Diff(after, c.named(org)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, c.named(other)); diff != "" {
		t.Errorf("another organization: %s", diff)
	}
	if changed, _ := c.feed(org, cursor); changed != 5 {
		t.Errorf("%d changes in the feed", changed)
	}
	c.checkRenamed(sections)

	// A second run has nothing to do, and the table keeps the decisions.
	want = remapped{Share: remap.Share{InUse: 3, Known: 3}, ID: 3, Unmapped: []remap.Row{}, Records: map[catalog.Kind]int{}}
	if diff := cmp.Diff(want, value[remapped](c, args...)); diff != "" {
		t.Error(diff)
	}
	if table, _ := os.ReadFile("t.csv"); !strings.Contains(string(table), "core:adaptability,adaptability,mine:cope,coping with change,table") {
		t.Errorf("table %s", table)
	}

	// The skills in use still include those of the other organization.
	info := value[described](c, "taxonomy", "info", "mine.bin")
	if info.Share == nil || *info.Share != (remap.Share{InUse: 6, Known: 3}) {
		t.Errorf("info %+v", info.Share)
	}
	if out, _ := c.run(0, "taxonomy", "info", "mine.bin"); !strings.Contains(out, "3 of 6 known (50.0%)") {
		t.Error(out)
	}
}

// checkRenamed reports sections that changed in more than the names of their skills, and evidence with old names.
func (c *console) checkRenamed(before []*catalog.Section) {
	t, ctx := c.t, c.t.Context()
	t.Helper()
	for _, was := range before {
		is, err := usecase.Get[*catalog.Section](ctx, c.store, was.OrganizationID, was.ID, true)
		if err != nil || is.UpdatedAt <= was.UpdatedAt {
			t.Errorf("section %+v %v", is, err)
		}
		for i, s := range is.Skills {
			if s.Level != was.Skills[i].Level || s.Confidence != was.Skills[i].Confidence || s.SkillName == was.Skills[i].SkillName {
				t.Errorf("%+v was %+v", s, was.Skills[i])
			}
		}
		if was.Name == "A" {
			outcome, err := c.store.ExtractionResult(ctx, was.OrganizationID, was.ID)
			if err != nil || outcome.Skills[0].SkillID != "mine:sql" || outcome.Evidence[0].SkillID != "mine:sql" || outcome.Evidence[1].SkillID != "mine:cope" || outcome.Evidence[0].Quote != "queries" {
				t.Errorf("outcome %+v %v", outcome, err)
			}
		}
	}
}

// feed counts the changes after a cursor and returns the last cursor.
func (c *console) feed(org catalog.OrgID, cursor string) (int, string) {
	c.t.Helper()
	changes, _, err := c.store.Changes(c.t.Context(), org, cursor, 1000)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, change := range changes {
		cursor = change.Cursor.String()
	}
	return len(changes), cursor
}

// Two skills mapped to one are merged, removed ones are gone, and concurrent changes of records are kept.
func TestRemapUnderChange(t *testing.T) {
	c := newConsole(t)
	org := c.college("College")
	ctx := t.Context()
	s := &service{store: c.store}
	records, err := remap.Records(ctx, c.store, org)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records { // concurrent changes
		fresh, err := c.store.Reload(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		if section, ok := fresh.(*catalog.Section); ok && section.Name == "B" {
			before := *section
			section.Name = "B2"
			section.Reviews = []catalog.Review{{SkillID: "core:java", SkillName: "Java", Verdict: catalog.Rejected, ReviewedAt: now()}}
			var change catalog.Change
			change.Replace(&before, section, now())
			if err := c.store.Commit(ctx, org, &change); err != nil {
				t.Fatal(err)
			}
		}
	}
	mapping := remap.Mapping{"core:sql": {NewID: "mine:code", NewName: "code"}, "core:python": {NewID: "mine:code", NewName: "code"}, "core:java": {NewID: "mine:java", NewName: "java"}, "core:adaptability": {NewID: remap.Removed}}
	calls := 0
	renaming := s.renaming(org, mapping)
	if err := s.alter(ctx, org, records, func(ctx context.Context, change *catalog.Change, r catalog.Record) error {
		calls++
		return renaming(ctx, change, r)
	}); err != nil {
		t.Fatal(err)
	}
	if calls <= len(records) {
		t.Errorf("%d calls: nothing was retried", calls)
	}
	want := map[string]string{"Section A": "mine:code", "Section B2": "mine:code mine:java", "TransferCourse": "mine:code", "Job": "mine:code", "Report": "mine:code"}
	if diff := cmp.Diff(want, c.named(org)); diff != "" {
		t.Error(diff)
	}
	sections, err := usecase.All[*catalog.Section](ctx, c.store, org, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range sections {
		if section.Name == "B2" && (section.Skills[0].Confidence != 1 || section.Skills[0].Level != 2) {
			t.Errorf("the less certain of two was kept: %+v", section.Skills)
		}
		if section.Name == "B2" && (len(section.Reviews) != 1 || section.Reviews[0].SkillID != "mine:java" || section.Reviews[0].Verdict != catalog.Rejected) {
			t.Errorf("reviews %+v", section.Reviews)
		}
	}
}

// The demo is remapped from the starter vocabulary to ESCO and O*NET.
func TestRemapDemoToESCO(t *testing.T) {
	esco, onet := devdata.Path(t, "esco"), devdata.Path(t, "onet")
	c := newConsole(t)
	c.run(0, "demo", "load")
	c.run(0, "taxonomy", "build", "-esco", esco, "-onet", onet, "-out", "esco.bin")
	args := []string{"taxonomy", "remap", "-from", "starter", "-to", "esco.bin", "-table", "map.csv"}
	checked := value[remapped](c, append(args, "-check")...)
	if checked.Known != 0 || checked.InUse < 100 || checked.Label < checked.InUse/10 {
		t.Errorf("%+v", checked)
	}
	did := value[remapped](c, args...)
	if diff := cmp.Diff(checked, did); diff != "" {
		t.Errorf("checked and did: %s", diff)
	}
	if !slices.ContainsFunc(did.Unmapped, func(r remap.Row) bool {
		return r.OldID == "core:debugging" && strings.Contains(r.How, "(debug software)")
	}) {
		t.Error("debug software is not suggested for debugging")
	}
	again := value[remapped](c, args...)
	if again.Known != again.ID || again.Known == 0 || len(again.Records) != 0 || len(again.Unmapped) != len(checked.Unmapped) {
		t.Errorf("again: %+v", again)
	}
	t.Logf("of %d skills in use: %d by label, %d by alias, %d not mapped; %d known afterwards", did.InUse, did.Label, did.Alias, len(did.Unmapped), again.Known)
}
