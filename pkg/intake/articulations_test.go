package intake

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"skillscurriculum/pkg/catalog"
)

func ofArticulations(t testing.TB, text string) []Row {
	t.Helper()
	rows, err := Read(strings.NewReader(text), "a.csv", Options{Resource: catalog.ArticulationKind})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

type object = map[string]any

func alternative(courses ...any) object { return object{"courses": courses} }

func TestArticulationsInDocumentedColumns(t *testing.T) {
	rows := ofArticulations(t, `id,status,institution,institutionCodeType,institutionCode,codes,titles,sendingCredits,takenFrom,receiving,receivingCredits,decision,effectiveFrom,effectiveTo,programs,publicNote,published
art_1,APPROVED,Foothill College,ipeds,114716,CIS 120L; CIS 121,Lab\; first;,;3-4.5 ECTS,,CIS 1;label:Elective,4;,partial,2026-01-01,,nursing;P2,'=a note,yes
,,De Anza,,,MATH 1A,,3,1/2/2020,,,NO_CREDIT,01/31/2026,2027-01-01,,,
art_1,,Foothill College,IPEDS,114716,CIS 120,,,,CIS 1;label:Elective,4;,PARTIAL,2026-01-01,,,,true
`)
	credits := func(low, high float64, unit string) object { return object{"min": low, "max": high, "unit": unit} }
	want := []Row{
		{Place: "a.csv:3", Kind: catalog.ArticulationKind, Fields: object{
			"sendingInstitution": object{"name": "De Anza"},
			"sending":            []any{alternative(object{"code": "MATH 1A", "credits": credits(3, 3, "SEMESTER_HOUR"), "takenFrom": "2020-01-02"})},
			"receiving":          []any{}, "decision": "NO_CREDIT", "effectiveFrom": "2026-01-31", "effectiveTo": "2027-01-01", "programIds": []any{}, "publicNote": nil,
		}},
		{Place: "a.csv:2", Kind: catalog.ArticulationKind, Name: "art_1", Fields: object{
			"sendingInstitution": object{"name": "Foothill College", "codeType": "IPEDS", "code": "114716"},
			"sending": []any{
				alternative(object{"code": "CIS 120L", "title": "Lab; first"}, object{"code": "CIS 121", "credits": credits(3, 4.5, "ECTS")}),
				alternative(object{"code": "CIS 120"}),
			},
			"receiving": []any{object{"courseId": "CIS 1", "credits": credits(4, 4, "SEMESTER_HOUR")}, object{"label": "Elective"}},
			"decision":  "PARTIAL", "effectiveFrom": "2026-01-01", "effectiveTo": nil, "programIds": []any{"nursing", "P2"}, "publicNote": "=a note", "published": true,
		}},
	}
	if diff := cmp.Diff(want, rows, rowFacts, cmpopts.IgnoreFields(Row{}, "More"), cmp.FilterPath(func(p cmp.Path) bool {
		return p.String() == "Name"
	}, cmp.Comparer(func(a, b string) bool { return a == b || a == "" || b == "" }))); diff != "" {
		t.Error(diff)
	}
	if len(rows[1].More) != 1 || rows[1].More[0][5] != "CIS 120" {
		t.Errorf("further lines %q", rows[1].More)
	}
}

// The headers of TES: its export, and the file in which it accepts equivalencies.
func TestArticulationsOfTES(t *testing.T) {
	want := object{
		"sendingInstitution": object{"name": "Foothill College", "codeType": "IPEDS", "code": "114716"},
		"sending":            []any{alternative(object{"code": "BIO 101", "title": "Biology"}, object{"code": "BIO 101L"})},
		"receiving":          []any{object{"courseId": "BIOL 1"}},
		"effectiveFrom":      "1999-09-01", "effectiveTo": nil, "publicNote": nil, "privateNote": `says "yes"`, "published": false,
	}
	for name, text := range map[string]string{
		"export": "SendInstitution\tSendInstitutionCity\tSendInstitutionOPEID\tSendInstitutionIPEDSID\tSendInstitutionCEEBCode\tSendCourse1CourseCode\tSendCourse2CourseCode\t" +
			"SendCourse1CourseTitle\tSendCourse2CourseTitle\tReceiveInstitution\tReceiveCourse1CourseCode\tReceiveCourse2CourseCode\tActiveDateBegin\tActiveDateEnd\tHideFlag\tCommentsPublic\tCommentsPrivate\n" +
			"Foothill College\tLos Altos\t00119900\t114716\t4315\tBIO 101\tBIO 101L\tBiology\t\tHome\tBIOL 1\t\t9/1/1999 12:00:00 AM\t\ttrue\t\tsays \"yes\"\n",
		"data file": "InstitutionCodeType|SendInstitutionCode|SendInstitutionName|SendInstitutionCity|EQValidDateStart|EQValidDateEnd|SendCourseCode1|SendCourseCode2|SendCourseCode3|SendCourseTitle1|" +
			"ReceiveInstitutionCode|ReceiveCourseCode1|ReceiveCourseCode2|CommentsPrivate|CommentsPublic|HideFlag\n" +
			"IPEDSID|114716|Foothill College|Los Altos|9/1/1999|NULL|BIO 101|BIO 101L|NULL|Biology|222222|BIOL 1||says \"yes\"|NULL|1\n",
	} {
		rows := ofArticulations(t, text)
		if len(rows) != 1 || rows[0].Problems != nil {
			t.Fatalf("%s: %+v", name, rows)
		}
		if diff := cmp.Diff(want, rows[0].Fields); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestArticulationLinesWithoutID(t *testing.T) {
	const header = "institution,codes,effectiveFrom\n"
	rows := ofArticulations(t, header+"A,X,2026-01-01\nA,Y,2026-01-01\n")
	other := ofArticulations(t, "effectiveFrom,codes,institution\n2026-01-01,Y,A\n")
	if rows[0].Name == rows[1].Name || rows[1].Name != other[0].Name {
		t.Errorf("%q, %q, %q", rows[0].Name, rows[1].Name, other[0].Name)
	}
}

func TestUnreadableArticulationLines(t *testing.T) {
	const header = "id,institution,codes,titles,sendingCredits,receiving,published,effectiveTo\n"
	for line, want := range map[string]string{
		"1,A,X,a;b,,,,\n":    "titles: has 2 values for 1 courses",
		"1,A,X,,three,,,\n":  `sendingCredits: "three" is not a number of credits, such as 3 or 1-4`,
		"1,A,X,,3 cows,,,\n": `sendingCredits: "cows" is not a unit of credits: SEMESTER_HOUR, QUARTER_HOUR, ECTS, CLOCK_HOUR or CEU`,
		"1,A,X,,,,maybe,\n":  `published: "maybe" is neither true nor false`,
		"1,A,X,,,,,,,x\n":    "the line has 10 cells, the header only 8",
		"1,A,X,,,,,2026-01-01\n1,A,Y,,,,,2026-01-02\n": "effectiveTo: differs from a.csv:2, which has the same id",
		"1,A,X,,,C,,\n1,A,Y,,,D,,\n":                   "receiving: differs from a.csv:2, which has the same id",
		"1,A,X,,,C,,2026-01-01\n1,A,Y,,,C,,\n":         "",
	} {
		if got := ofArticulations(t, header+line); len(got) != 1 || told(got[0].Problems) != want {
			t.Errorf("%s: %q, want %q", line, told(got[0].Problems), want)
		}
	}
	for _, text := range []string{"", "institution,decision\n", "codes,decision\n"} {
		if _, err := Read(strings.NewReader(text), "a.csv", Options{Resource: catalog.ArticulationKind}); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// drawn draws any valid articulation, with texts that are hard to write in tables.
func drawn(t *rapid.T, id string) *catalog.Articulation {
	word := rapid.StringMatching(`[A-Za-zäß;,\\"'=+@\-] ?[A-Z|;\\"'\n0-9]{0,6}[a-z=]`)
	some := func(label string) *string {
		if rapid.Bool().Draw(t, label+"?") {
			return new(word.Draw(t, label))
		}
		return nil
	}
	credits := func(label string) *catalog.Credits {
		if rapid.Bool().Draw(t, label+"?") {
			low := float64(rapid.IntRange(0, 20).Draw(t, label)) / 4
			return &catalog.Credits{Min: low, Max: low + float64(rapid.IntRange(0, 3).Draw(t, label+" more"))/2, Unit: rapid.SampledFrom([]string{"SEMESTER_HOUR", "CEU", "CLOCK_HOUR"}).Draw(t, "unit")}
		}
		return nil
	}
	day := func(label string) *string {
		return rapid.SampledFrom([]*string{nil, new("2026-01-01"), new("2027-12-31")}).Draw(t, label)
	}
	a := &catalog.Articulation{
		Meta: catalog.Meta{ID: id}, SendingInstitution: catalog.Institution{Name: word.Draw(t, "institution"), Code: some("code"), CodeType: rapid.SampledFrom([]*string{nil, new("CEEB")}).Draw(t, "type")},
		Decision: catalog.PartialOnly, Reason: some("reason"), EffectiveFrom: "2026-01-01", EffectiveTo: day("to"), EffectiveTerm: some("term"), ReviewAfter: day("review"),
		ProgramIDs: rapid.SliceOfN(word, 0, 3).Draw(t, "programs"), PublicNote: some("public"), PrivateNote: some("private"),
		Published: rapid.Bool().Draw(t, "published"), Supersedes: some("supersedes"),
	}
	for range rapid.IntRange(1, 3).Draw(t, "alternatives") {
		var alternative catalog.Alternative
		for range rapid.IntRange(1, 3).Draw(t, "courses") {
			alternative.Courses = append(alternative.Courses, catalog.SendingCourse{
				Code: rapid.StringMatching(`[A-Z\\"'=][0-9]{1,3}`).Draw(t, "code"), Title: some("title"), Credits: credits("credits"), MinimumGrade: some("grade"),
				TakenFrom: day("taken"), TakenTo: day("taken to"), TransferCourseID: some("transfer course"),
			})
		}
		a.Sending = append(a.Sending, alternative)
	}
	for range rapid.IntRange(0, 3).Draw(t, "receiving") {
		if rapid.Bool().Draw(t, "label?") {
			a.Receiving = append(a.Receiving, catalog.Grant{Label: new(word.Draw(t, "label")), Credits: credits("granted")})
		} else {
			a.Receiving = append(a.Receiving, catalog.Grant{CourseID: new(word.Draw(t, "course")), Credits: credits("granted")})
		}
	}
	return a
}

// Reading an export yields the same fields.
func TestArticulationRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []*catalog.Articulation
		for i := range rapid.IntRange(1, 3).Draw(t, "articulations") {
			want = append(want, drawn(t, string(rune('a'+i))))
		}
		text := written(t, want)
		rows, err := Read(strings.NewReader(text), "a.csv", Options{Resource: catalog.ArticulationKind})
		if err != nil || len(rows) != len(want) {
			t.Fatalf("%d of %d articulations, %v, from\n%s", len(rows), len(want), err, text)
		}
		for i, row := range rows {
			if row.Problems != nil || row.Name != want[i].ID {
				t.Fatalf("%s: %v", row.Name, row.Problems)
			}
			packed, err := json.Marshal(row.Fields)
			if err != nil {
				t.Fatal(err)
			}
			var in catalog.ArticulationInput
			if err := json.Unmarshal(packed, &in); err != nil {
				t.Fatal(err)
			}
			got := &catalog.Articulation{Meta: catalog.Meta{ID: row.Name}}
			in.Apply(got, catalog.Lookups{Courses: map[string]*catalog.Course{}})
			got.Status = ""
			if diff := cmp.Diff(want[i], got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%s\nfrom\n%s", diff, text)
			}
		}
	})
}

func written(t interface{ Fatal(...any) }, all []*catalog.Articulation) string {
	same := func(id string) string { return id }
	e := &ArticulationExport{CourseName: same, ProgramName: same}
	var out bytes.Buffer
	if err := e.Begin(&out); err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if err := e.Write(a); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.End(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestGuardAgainstFormulas(t *testing.T) {
	for _, cell := range []string{"=1+1", "+1", "-1", "@x", "'=1", "''", "＝1", "plain", "", "'n", "O'Neil"} {
		safe := guarded(cell)
		if unguarded(safe) != cell || safe != "" && strings.ContainsRune("=+-@＝", []rune(safe)[0]) {
			t.Errorf("%q is %q and again %q", cell, safe, unguarded(safe))
		}
	}
}
