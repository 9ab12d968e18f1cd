package upsert_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/intake"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/skills"
	"skillscurriculum/pkg/upsert"
)

const other = catalog.OrgID("org_other")

// college is the catalog with the courses that articulations grant.
const college = `{"courses":[
	{"externalId":"bio","code":"BIO 1","name":"Biology"},
	{"externalId":"c2","code":"CIS 1","name":"Computing"},
	{"externalId":"c3","code":"SAME 1","name":"Twin"},
	{"externalId":"c4","code":"SAME 1","name":"Other twin"}],
	"programs":[{"externalId":"nursing","name":"Nursing","code":"N 1"}]}`

// articulations imports a table and compares the counts: created, updated, skipped, failed.
func (f *fixture) articulations(into catalog.OrgID, text string, o upsert.Options, want ...int) *upsert.Summary {
	f.t.Helper()
	rows, err := intake.Read(strings.NewReader(text), "a.csv", intake.Options{Resource: catalog.ArticulationKind})
	if err != nil {
		f.t.Fatal(err)
	}
	summary, err := f.Load(f.t.Context(), into, rows, o)
	if err != nil && !errors.Is(err, upsert.ErrRejected) {
		f.t.Fatal(err)
	}
	if rejected := errors.Is(err, upsert.ErrRejected); rejected != (want[3] > 0 && !o.Check) {
		f.t.Errorf("error %v", err)
	}
	if diff := cmp.Diff(want, []int{summary.Created, summary.Updated, summary.Skipped, summary.Failed}); diff != "" {
		f.t.Errorf("created, updated, skipped, failed: %s", diff)
		for _, r := range summary.Rejects[:min(3, len(summary.Rejects))] {
			f.t.Error(r.Place, r.Reason)
		}
	}
	return summary
}

// export returns the table of an organization's articulations.
func (f *fixture) export(of catalog.OrgID) string {
	f.t.Helper()
	courses, err := service.All[*catalog.Course](f.t.Context(), f.store, of, "")
	if err != nil {
		f.t.Fatal(err)
	}
	programs, err := service.All[*catalog.Program](f.t.Context(), f.store, of, "")
	if err != nil {
		f.t.Fatal(err)
	}
	var out bytes.Buffer
	e := intake.ArticulationExport{CourseName: upsert.NamesOf(courses).Of, ProgramName: upsert.NamesOf(programs).Of}
	if err := errors.Join(e.Begin(&out), service.Each(f.t.Context(), f.store, of, "", e.Write), e.End()); err != nil {
		f.t.Fatal(err)
	}
	return out.String()
}

func (f *fixture) all(of catalog.OrgID) (all []*catalog.Articulation) {
	f.t.Helper()
	err := service.Each(f.t.Context(), f.store, of, "", func(a *catalog.Articulation) error {
		all = append(all, a)
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

// approve approves an articulation as the API does.
func (f *fixture) approve(a *catalog.Articulation) {
	f.t.Helper()
	a.Status = catalog.ArticulationInReview
	in := catalog.MoveInput{Status: catalog.ArticulationApproved, DecidedBy: catalog.Optional[*catalog.PersonInput]{Set: true, Value: &catalog.PersonInput{Name: "Registrar"}}}
	change, err := service.Actor{
		Org: a.OrganizationID, Now: f.Now(), Store: f.store, Taxonomy: skills.Starter,
	}.MoveArticulation(f.t.Context(), a, in)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := f.store.Commit(f.t.Context(), a.OrganizationID, change); err != nil {
		f.t.Fatal(err)
	}
}

const header = "id,institution,codes,receiving,decision,reason,effectiveFrom,effectiveTo,programs,publicNote,published,supersedes\n"

func TestImportArticulations(t *testing.T) {
	f := newFixture(t)
	f.load(college, upsert.Options{}, 5, 0, 0, 0)
	const text = header +
		"x1,Foothill,BIO 101,bio,EQUIVALENT,,2026-01-01,,nursing;N-01,,,\n" + // a program twice
		"x2,Foothill,BIO 101;BIO 101L,CIS 01;label:Elective,PARTIAL,,2026-01-01,,nursing,hello,true,x3\n" +
		"x2,Foothill,BIO 105,,,,,,,,,\n" +
		"x3,Foothill,ART 1,SAME 1,EQUIVALENT,,2026-01-01,,,,,\n" + // ambiguous
		",De Anza,MATH 1,,NO_CREDIT,remedial,2026-01-01,,,,,\n"
	summary := f.articulations(org, text, upsert.Options{}, 2, 0, 0, 2)
	var reasons []string
	for _, r := range summary.Rejects {
		reasons = append(reasons, r.Place+" "+r.Reason)
	}
	if diff := cmp.Diff([]string{"a.csv:2 programIds[1]: the program is named twice (N-01)", "a.csv:5 receiving[0].courseId: there is no such course (SAME 1)"}, reasons); diff != "" {
		t.Error(diff)
	}
	if len(f.all(org)) != 0 {
		t.Fatal("a file with errors has made articulations")
	}
	good := strings.NewReplacer(";N-01", "", "SAME 1", "c3").Replace(text)
	f.articulations(org, good, upsert.Options{Check: true}, 4, 0, 0, 0)
	f.articulations(org, good, upsert.Options{}, 4, 0, 0, 0)
	f.articulations(org, good, upsert.Options{}, 0, 0, 4, 0)

	all := f.all(org)
	if len(all) != 4 {
		t.Fatalf("%d articulations", len(all))
	}
	// Superseded articulations are created first.
	superseded, a := all[1], all[2]
	if superseded.Sending[0].Courses[0].Code != "ART 1" || a.Supersedes == nil || *a.Supersedes != superseded.ID {
		t.Errorf("%+v supersedes %+v", a, superseded)
	}
	computing := f.known(catalog.CourseKind, "c2").Base().ID
	if len(a.Sending) != 2 || a.Sending[1].Courses[0].Code != "BIO 105" || *a.Receiving[0].CourseID != computing || *a.Receiving[1].Label != "Elective" ||
		a.ProgramIDs[0] != f.known(catalog.ProgramKind, "nursing").Base().ID || !a.Published || a.Status != catalog.ArticulationDraft {
		t.Errorf("%+v", a)
	}
	if all[3].Decision != catalog.NoCredit || *all[3].Reason != "remedial" {
		t.Errorf("%+v", all[3])
	}
	// The file's id and our own id identify the same articulation.
	f.articulations(org, strings.Replace(good, "hello", "changed", 1), upsert.Options{}, 0, 1, 3, 0)
	f.articulations(org, strings.Replace(strings.ReplaceAll(good, "x2", a.ID), "hello", "again", 1), upsert.Options{}, 0, 1, 3, 0)
	if note := f.all(org)[2].PublicNote; *note != "again" {
		t.Errorf("note %s", *note)
	}
}

func TestImportAfterDecisions(t *testing.T) {
	f := newFixture(t)
	f.load(college, upsert.Options{}, 5, 0, 0, 0)
	const text = header +
		"1,Foothill,BIO 101,bio,EQUIVALENT,,2026-01-01,2026-06-30,,,,\n" +
		"2,Foothill,BIO-0101,bio,EQUIVALENT,,2026-07-01,,,,,\n"
	f.articulations(org, text, upsert.Options{}, 2, 0, 0, 0)
	for _, a := range f.all(org) {
		f.approve(a)
	}
	f.articulations(org, text, upsert.Options{}, 0, 0, 2, 0)
	for change, want := range map[string]string{
		"EQUIVALENT": "1: The articulation is APPROVED: only effectiveTo, reviewAfter, publicNote, privateNote, published may still change, not decision.",
		"2026-06-30": "1: effectiveTo: overlaps with another approved articulation, whose id is the value (" + f.all(org)[1].ID + ")",
	} {
		with := map[string]string{"EQUIVALENT": "PARTIAL", "2026-06-30": "2026-07-01"}[change]
		summary := f.articulations(org, strings.Replace(text, change, with, 1), upsert.Options{}, 0, 0, 1, 1)
		if got := summary.Rejects[0].Name + ": " + summary.Rejects[0].Reason; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	f.articulations(org, strings.Replace(text, "2026-06-30", "2026-05-31", 1), upsert.Options{}, 0, 1, 1, 0)
	f.articulations(org, strings.Replace(text, "2026-06-30", "2026-06-30", 1), upsert.Options{}, 0, 1, 1, 0)
}

// Changes of several approved articulations are saved together, whatever they have in common.
func TestImportMovesEnds(t *testing.T) {
	f := newFixture(t)
	f.load(college, upsert.Options{}, 5, 0, 0, 0)
	const text = header +
		"1,Foothill,BIO 101,bio,EQUIVALENT,,2026-01-01,2026-06-30,,,,\n" +
		"2,De Anza,BIO 7,bio,EQUIVALENT,,2026-01-01,2026-06-30,,,,\n" +
		"3,Foothill,BIO-0101,bio,EQUIVALENT,,2026-08-01,2026-09-30,,,,\n"
	f.articulations(org, text, upsert.Options{}, 3, 0, 0, 0)
	for _, a := range f.all(org) {
		f.approve(a)
	}
	moved := strings.NewReplacer("06-30", "07-31", "09-30", "12-31").Replace(text)
	f.articulations(org, moved, upsert.Options{}, 0, 3, 0, 0)
	f.articulations(org, moved, upsert.Options{}, 0, 0, 3, 0)
	later := strings.Replace(moved, "2026-07-31", "2026-08-01", 1)
	if s := f.articulations(org, later, upsert.Options{}, 0, 0, 2, 1); s.Rejects[0].Name != "1" {
		t.Errorf("%+v", s.Rejects)
	}
}

func TestImportFromTES(t *testing.T) {
	f := newFixture(t)
	f.load(college, upsert.Options{}, 5, 0, 0, 0)
	const text = "SendInstitution\tSendInstitutionIPEDSID\tSendCourse1CourseCode\tSendCourse2CourseCode\tSendCourse1Units\tReceiveCourse1CourseCode\tActiveDateBegin\tHideFlag\n" +
		"Foothill\t114716\tBIO 101\tBIO 101L\t4\tBIO-1\t9/1/2020\tfalse\n" +
		"Foothill\t114716\tCIS 120\t\t\tCIS 1\t\ttrue\n"
	if s := f.articulations(org, text, upsert.Options{}, 1, 0, 0, 1); s.Rejects[0].Reason != "effectiveFrom: expected required property effectiveFrom to be present" {
		t.Errorf("%+v", s.Rejects)
	}
	o := upsert.Options{EffectiveFrom: "2015-08-01"}
	f.articulations(org, text, o, 2, 0, 0, 0)
	all := f.all(org)
	if all[0].EffectiveFrom != "2020-09-01" || all[0].Decision != catalog.Equivalent || !all[0].Published || all[1].EffectiveFrom != "2015-08-01" || all[1].Published ||
		*all[0].Receiving[0].CourseID != f.known(catalog.CourseKind, "bio").Base().ID {
		t.Errorf("%+v\n%+v", all[0], all[1])
	}
	// Later decisions of people survive another import of the file.
	before := *all[1]
	all[1].Decision = catalog.Elective
	var change catalog.Change
	catalog.ReplaceChanged(&change, before, all[1], f.Now())
	if err := f.store.Commit(t.Context(), org, &change); err != nil {
		t.Fatal(err)
	}
	f.articulations(org, text, o, 0, 0, 2, 0)
}

// lines draws a table of valid articulations.
func lines(t *rapid.T) string {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	var b strings.Builder
	b.WriteString("id,institution,institutionCodeType,institutionCode,codes,titles,sendingCredits,takenFrom,receiving,receivingCredits,decision,reason,effectiveFrom,effectiveTo,programs,publicNote,privateNote,published,supersedes\n")
	for i := range rapid.IntRange(1, 6).Draw(t, "articulations") {
		decision := pick("decision", "EQUIVALENT", "ELECTIVE", "NO_CREDIT")
		granted, reason := "", "because"
		if decision != "NO_CREDIT" {
			granted, reason = pick("granted", "bio", "c3;label:Elective", "CIS 1;bio", "label:a\\;b"), pick("reason", "", `"a ""b"", c"`)
		}
		credits := ""
		if granted != "" {
			credits = pick("credits", "", "3", "1-1.5 ECTS")
		}
		rest := fmt.Sprintf("%s,%s,%s,%s,2026-01-01,%s,%s,%s,%s,%s,%s", granted, credits, decision, reason,
			pick("to", "", "2027-01-01"), pick("programs", "", "nursing", "N 1"), pick("note", "", "'=1", `"two`+"\n"+`lines"`, "plain"), pick("private", "", "p"), pick("published", "true", "false"),
			pick("supersedes", "", fmt.Sprintf("x%d", rapid.IntRange(0, i).Draw(t, "of")-1)))
		rest = strings.TrimSuffix(rest, "x-1") // the first has no predecessor
		for n := range rapid.IntRange(1, 3).Draw(t, "alternatives") {
			fmt.Fprintf(&b, "x%d,College,IPEDS,1,A 1;B %d,%s,%s,%s,%s\n", i, n+1, pick("titles", "", "one;", ";t\\\\wo"), pick("units", "", "3;", ";2-3 CEU"),
				pick("taken", "", "2020-01-01;"), rest)
		}
	}
	return b.String()
}

// Importing an export changes nothing. Another organization that imports it exports the same, except for ids and
// states.
func TestExportImportRoundTrip(t *testing.T) {
	checks := 0
	rapid.Check(t, func(r *rapid.T) {
		if checks++; checks > 8 {
			return // each needs its own table
		}
		text := lines(r)
		f := newFixture(t)
		for _, of := range []catalog.OrgID{org, other} {
			rows, err := intake.Read(strings.NewReader(college), "f.json", intake.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Load(t.Context(), of, rows, upsert.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := intake.Read(strings.NewReader(text), "a.csv", intake.Options{Resource: catalog.ArticulationKind})
		if err != nil {
			r.Fatalf("%v in\n%s", err, text)
		}
		n := len(rows)
		f.articulations(org, text, upsert.Options{}, n, 0, 0, 0)
		exported := f.export(org)
		f.articulations(org, exported, upsert.Options{}, 0, 0, n, 0)
		if diff := cmp.Diff(exported, f.export(org)); diff != "" {
			r.Fatalf("in the same organization: %s\nfrom\n%s", diff, text)
		}
		f.articulations(other, exported, upsert.Options{}, n, 0, 0, 0)
		f.articulations(other, exported, upsert.Options{}, 0, 0, n, 0)
		there := f.export(other)
		here := f.all(org)
		for i, a := range f.all(other) {
			there = strings.ReplaceAll(there, a.ID, here[i].ID)
		}
		if diff := cmp.Diff(exported, there); diff != "" {
			r.Fatalf("in another organization: %s\nfrom\n%s", diff, text)
		}
	})
}

// References that only the exporting organization can resolve do not prevent an import.
func TestImportFromAnotherOrganization(t *testing.T) {
	f := newFixture(t)
	f.load(college, upsert.Options{}, 5, 0, 0, 0)
	const head = "id,institution,codes,transferCourseIds,receiving,decision,effectiveFrom,supersedes\n"
	summary := f.articulations(org, head+"art_elsewhere,Foothill,BIO 101,tcr_elsewhere,bio,EQUIVALENT,2026-01-01,art_gone\n", upsert.Options{}, 1, 0, 0, 0)
	if len(summary.Incomplete) != 1 || summary.Incomplete[0].Reason != "without tcr_elsewhere, art_gone, which this organization does not have" {
		t.Errorf("%+v", summary.Incomplete)
	}
	if a := f.all(org)[0]; a.Sending[0].Courses[0].TransferCourseID != nil || a.Supersedes != nil {
		t.Errorf("%+v", a)
	}
	f.articulations(org, head+",Foothill,BIO 102,tcr_elsewhere,bio,EQUIVALENT,2026-01-01,\n", upsert.Options{}, 0, 0, 0, 1)
}

// counted is a store that counts how often articulations are planned and saved.
type counted struct {
	*dynamo.Store
	reads, commits int
}

func (s *counted) Known(ctx context.Context, org catalog.OrgID, kind catalog.Kind, names []string) (map[string]catalog.ExternalID, error) {
	s.reads++
	return s.Store.Known(ctx, org, kind, names)
}

func (s *counted) Commit(ctx context.Context, org catalog.OrgID, change *catalog.Change) error {
	s.commits++
	return s.Store.Commit(ctx, org, change)
}

// Lines are created in the order of the file, as many as fit into a transaction, and looked up once in each pass,
// even if each is from a different institution.
func TestImportOfManyInstitutions(t *testing.T) {
	f := newFixture(t)
	f.load(college, upsert.Options{}, 5, 0, 0, 0)
	for name, test := range map[string]struct{ institutions, commits int }{"sorted": {3, 2}, "mixed": {60, 4}} {
		s := &counted{Store: f.store}
		f.Store = s
		var b strings.Builder
		var want []string
		b.WriteString("institution,institutionCodeType,institutionCode,codes,receiving,effectiveFrom\n")
		for i := range 60 {
			n := i * test.institutions / 60
			want = append(want, fmt.Sprint(name, i))
			fmt.Fprintf(&b, "%s College %d,IPEDS,%s %d,%s,bio,2026-01-01\n", name, n, name, n, want[i])
		}
		before := len(f.all(org))
		f.articulations(org, b.String(), upsert.Options{}, 60, 0, 0, 0)
		if s.reads != 2 || s.commits != test.commits {
			t.Errorf("%s: %d reads, want one in each pass; %d transactions, want %d", name, s.reads, s.commits, test.commits)
		}
		var got []string
		for _, a := range f.all(org)[before:] {
			got = append(got, a.Sending[0].Courses[0].Code)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: order of creation: %s", name, diff)
		}
	}
}

// Batches of many facets are saved in as many transactions as they need.
func TestImportOfManyArticulations(t *testing.T) {
	f := newFixture(t)
	f.load(college, upsert.Options{}, 5, 0, 0, 0)
	var b strings.Builder
	b.WriteString(header)
	for i := range 60 {
		for n := range 1 + i%3 {
			var codes []string
			for j := range 1 + i%10 {
				codes = append(codes, fmt.Sprintf("%c %d%d", 'X'+n, i, j))
			}
			fmt.Fprintf(&b, "%d,College %d,%s,bio,EQUIVALENT,,2026-01-01,,,,,\n", i, i%20, strings.Join(codes, ";"))
		}
	}
	f.articulations(org, b.String(), upsert.Options{}, 60, 0, 0, 0)
	_, total, err := f.store.Articulations(t.Context(), org, catalog.ArticulationFilter{Institution: "college-3"}, 0, 10)
	if err != nil || total != 3 || len(f.all(org)) != 60 {
		t.Errorf("%d, %v", total, err)
	}
	ids := []string{}
	for _, a := range f.all(org) {
		ids = append(ids, a.ID)
	}
	if slices.Sort(ids); len(slices.Compact(ids)) != 60 {
		t.Error("an id twice")
	}
}
