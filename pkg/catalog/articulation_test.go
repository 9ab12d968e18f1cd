package catalog_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/catalog"
)

// known is what the organization of these tests has.
var known = catalog.Lookups{
	At:              "body",
	Courses:         map[string]*catalog.Course{"crs_1": {Meta: catalog.Meta{ID: "crs_1"}}, "CIS-1": {Meta: catalog.Meta{ID: "crs_2"}}},
	Programs:        map[string]*catalog.Program{"prg_1": {Meta: catalog.Meta{ID: "prg_1"}}, "nursing": {Meta: catalog.Meta{ID: "prg_1"}}},
	TransferCourses: map[string]*catalog.TransferCourse{"tcr_1": {}},
	Articulations:   map[string]*catalog.Articulation{"art_1": {Meta: catalog.Meta{ID: "art_1"}}},
}

// input reads an input as a request has it.
func input(t testing.TB, body string) (in catalog.ArticulationInput) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &in); err != nil {
		t.Fatal(err)
	}
	return in
}

const sound = `{"sendingInstitution":{"name":"Foothill College"},"sending":[{"courses":[{"code":"CIS 120L"}]}],
	"receiving":[{"courseId":"crs_1"}],"decision":"EQUIVALENT","effectiveFrom":"2026-01-01"}`

// with returns the sound body with other fields; null ones are left out.
func with(t testing.TB, fields string) string {
	t.Helper()
	var body, more map[string]any
	if err := errors.Join(json.Unmarshal([]byte(sound), &body), json.Unmarshal([]byte(fields), &more)); err != nil {
		t.Fatal(err)
	}
	for name, value := range more {
		body[name] = value
		if value == nil {
			delete(body, name)
		}
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestNewArticulationHasAllItsFields(t *testing.T) {
	a := &catalog.Articulation{}
	if wrong := input(t, sound).Apply(a, known); wrong != nil {
		t.Fatal(wrong)
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"","organizationId":"","createdAt":"1970-01-01T00:00:00.000Z","updatedAt":"1970-01-01T00:00:00.000Z","deletedAt":null,"ctid":"",` +
		`"sendingInstitution":{"name":"Foothill College","codeType":null,"code":null},` +
		`"sending":[{"courses":[{"code":"CIS 120L","title":null,"credits":null,"minimumGrade":null,"takenFrom":null,"takenTo":null,"transferCourseId":null}]}],` +
		`"receiving":[{"courseId":"crs_1","label":null,"credits":null}],"decision":"EQUIVALENT","reason":null,"status":"DRAFT",` +
		`"effectiveFrom":"2026-01-01","effectiveTo":null,"effectiveTerm":null,"reviewAfter":null,"programIds":[],"publicNote":null,"privateNote":null,` +
		`"published":false,"supersedes":null,"decidedBy":null,"decidedAt":null,"evidence":null}`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
}

func TestArticulationRules(t *testing.T) {
	for name, test := range map[string]struct {
		body string
		want []string // locations
	}{
		"sound":                          {`{}`, nil},
		"a label":                        {`{"receiving":[{"label":"Humanities elective"}]}`, nil},
		"a course and a label":           {`{"receiving":[{"courseId":"crs_1"},{"courseId":"crs_1","label":"x"},{}]}`, []string{"body.receiving[1]", "body.receiving[2]"}},
		"unknown names":                  {`{"receiving":[{"courseId":"crs_9"}],"programIds":["prg_1","prg_9"],"supersedes":"art_9"}`, []string{"body.receiving[0].courseId", "body.programIds[1]", "body.supersedes"}},
		"an unknown transfer course":     {`{"sending":[{"courses":[{"code":"A","transferCourseId":"tcr_1"},{"code":"B","transferCourseId":"tcr_9"}]}]}`, []string{"body.sending[0].courses[1].transferCourseId"}},
		"a program twice":                {`{"programIds":["prg_1","nursing"]}`, []string{"body.programIds[1]"}},
		"nothing granted":                {`{"receiving":[]}`, []string{"body.receiving"}},
		"nothing granted, none given":    {`{"receiving":null}`, []string{"body.receiving"}},
		"no credit":                      {`{"decision":"NO_CREDIT","receiving":[],"reason":"remedial"}`, nil},
		"no credit without a reason":     {`{"decision":"NO_CREDIT","receiving":[],"reason":""}`, []string{"body.reason"}},
		"no credit for something":        {`{"decision":"NO_CREDIT"}`, []string{"body.receiving", "body.reason"}},
		"ends before it begins":          {`{"effectiveTo":"2025-12-31"}`, []string{"body.effectiveTo"}},
		"one day":                        {`{"effectiveTo":"2026-01-01"}`, nil},
		"taken backwards":                {`{"sending":[{"courses":[{"code":"A","takenFrom":"2020-01-02","takenTo":"2020-01-01"}]}]}`, []string{"body.sending[0].courses[0].takenTo"}},
		"a code of nothing":              {`{"sending":[{"courses":[{"code":"-. -"}]}]}`, []string{"body.sending[0].courses[0].code"}},
		"a code of two":                  {`{"sending":[{"courses":[{"code":"A,B"},{"code":"A;B"}]}]}`, []string{"body.sending[0].courses[0].code", "body.sending[0].courses[1].code"}},
		"a code twice":                   {`{"sending":[{"courses":[{"code":"CIS-0120l"},{"code":"B"},{"code":"cis 120L"}]}]}`, []string{"body.sending[0].courses[2].code"}},
		"a set twice":                    {`{"sending":[{"courses":[{"code":"A"},{"code":"B1"}]},{"courses":[{"code":"A"}]},{"courses":[{"code":"b-01"},{"code":"a"}]}]}`, []string{"body.sending[2]"}},
		"an institution of nothing":      {`{"sendingInstitution":{"name":"--"}}`, []string{"body.sendingInstitution.name"}},
		"credits backwards":              {`{"receiving":[{"label":"x","credits":{"min":4,"max":3,"unit":"ECTS"}}]}`, []string{"body.receiving[0].credits.min"}},
		"credits backwards, sent":        {`{"sending":[{"courses":[{"code":"A","credits":{"min":4,"max":3,"unit":"ECTS"}}]}]}`, []string{"body.sending[0].courses[0].credits.min"}},
		"a course that a file names":     {`{"receiving":[{"courseId":"CIS-1"}]}`, nil},
		"a code in two alternatives":     {`{"sending":[{"courses":[{"code":"A"}]},{"courses":[{"code":"A"},{"code":"B"}]}]}`, nil},
		"a code of nothing twice, too":   {`{"sending":[{"courses":[{"code":"."},{"code":"-"}]}]}`, []string{"body.sending[0].courses[0].code", "body.sending[0].courses[1].code"}},
		"empty optional texts are nulls": {`{"effectiveTerm":"","publicNote":"","sendingInstitution":{"name":"x","code":""}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range input(t, with(t, test.body)).Apply(&catalog.Articulation{}, known) {
				got = append(got, f.Location)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// draft returns an articulation that is a DRAFT.
func draft(t testing.TB, fields string) *catalog.Articulation {
	t.Helper()
	a := &catalog.Articulation{}
	if wrong := input(t, with(t, fields)).Apply(a, known); wrong != nil {
		t.Fatal(wrong)
	}
	return a
}

func TestInputOfAFileNamesTheRecordsIDs(t *testing.T) {
	a := draft(t, `{"receiving":[{"courseId":"CIS-1"},{"courseId":"crs_1"},{"courseId":"CIS-1"},{"label":"x"}],"programIds":["nursing"],"supersedes":"art_1"}`)
	if diff := cmp.Diff([]string{"crs_2", "crs_1"}, a.GrantedCourses()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"prg_1"}, a.ProgramIDs); diff != "" || *a.Supersedes != "art_1" {
		t.Error(diff, *a.Supersedes)
	}
}

func TestPatchIsJudgedByTheRecordThatItLeadsTo(t *testing.T) {
	none := catalog.Lookups{At: "body"}
	for patch, want := range map[string]string{
		`{}`:                           "",
		`{"decision":"NO_CREDIT"}`:     "body.receiving",
		`{"effectiveTo":"2025-01-01"}`: "body.effectiveTo",
		`{"effectiveTo":"2025-01-01","effectiveFrom":"2024-01-01"}`:   "",
		`{"decision":"NO_CREDIT","receiving":[],"reason":"remedial"}`: "",
		`{"receiving":null}`: "body.receiving",
		// What is named already may be gone meanwhile, and still be named.
		`{"receiving":[{"courseId":"crs_1","credits":{"min":3,"max":3,"unit":"ECTS"}}],"programIds":["prg_1"],"supersedes":"art_1"}`: "",
		`{"sending":[{"courses":[{"code":"B","transferCourseId":"tcr_1"}]}]}`:                                                        "",
		`{"receiving":[{"courseId":"crs_2"}]}`:                                                                                       "body.receiving[0].courseId",
	} {
		a := draft(t, `{"sending":[{"courses":[{"code":"A","transferCourseId":"tcr_1"}]}],"programIds":["prg_1"],"supersedes":"art_1"}`)
		err := input(t, patch).Revise(a, none)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", patch, err)
		case want != "" && (!isCode(err, catalog.ValidationFailed) || err.(*catalog.Error).Fields[0].Location != want):
			t.Errorf("%s: %v, want %s", patch, err, want)
		}
	}
}

func TestWhatMayStillChange(t *testing.T) {
	notes := `{"effectiveTo":"2027-01-01","reviewAfter":"2026-06-01","publicNote":"a","privateNote":"b","published":true}`
	frozen := []string{
		`{"sendingInstitution":{"name":"x"}}`, `{"sending":[{"courses":[{"code":"B"}]}]}`, `{"receiving":[{"label":"x"}]}`, `{"decision":"PARTIAL"}`,
		`{"decision":"NO_CREDIT"}`, `{"reason":"x"}`, `{"effectiveFrom":"2026-01-02"}`, `{"effectiveTerm":"x"}`, `{"programIds":["prg_1"]}`, `{"supersedes":"art_1"}`,
		`{"receiving":null}`, strings.TrimSuffix(notes, "}") + `,"effectiveTerm":"x"}`,
	}
	for status, allowed := range map[catalog.ArticulationStatus]bool{
		catalog.ArticulationApproved: true, catalog.ArticulationInReview: false, catalog.ArticulationRejected: false,
	} {
		for _, patch := range frozen {
			a := draft(t, `{}`)
			a.Status = status
			if err := input(t, patch).Revise(a, known); !isCode(err, catalog.Conflict) {
				t.Errorf("%s, %s: %v", status, patch, err)
			}
		}
		a := draft(t, `{}`)
		a.Status = status
		if err := input(t, notes).Revise(a, known); (err == nil) != allowed || err != nil && !isCode(err, catalog.Conflict) {
			t.Errorf("%s, notes: %v", status, err)
		}
		a = draft(t, `{}`)
		a.Status = status
		if err := input(t, sound).Revise(a, known); err != nil {
			t.Errorf("%s, as it is: %v", status, err)
		}
	}
	a := draft(t, `{}`)
	a.Status = catalog.ArticulationApproved
	if err := input(t, `{"effectiveTo":"2025-01-01"}`).Revise(a, known); !isCode(err, catalog.ValidationFailed) {
		t.Errorf("an approved one that ends before it begins: %v", err)
	}
}

// TestNotesStay: a PATCH without notes and publication leaves them; empty and false ones end them.
func TestNotesStay(t *testing.T) {
	a := draft(t, `{"publicNote":"for students","privateNote":"for us","published":true}`)
	if err := input(t, `{"effectiveTerm":"Fall"}`).Revise(a, known); err != nil {
		t.Fatal(err)
	}
	if a.PublicNote == nil || *a.PublicNote != "for students" || *a.PrivateNote != "for us" || !a.Published {
		t.Errorf("after another change: %v, %v, %v", a.PublicNote, a.PrivateNote, a.Published)
	}
	if err := input(t, `{"publicNote":"","privateNote":null,"published":false}`).Revise(a, known); err != nil {
		t.Fatal(err)
	}
	if a.PublicNote != nil || a.PrivateNote != nil || a.Published {
		t.Errorf("ended: %v, %v, %v", a.PublicNote, a.PrivateNote, a.Published)
	}
}

func TestArticulationMoves(t *testing.T) {
	states := []catalog.ArticulationStatus{catalog.ArticulationDraft, catalog.ArticulationInReview, catalog.ArticulationApproved, catalog.ArticulationRejected}
	allowed := map[string]bool{
		"DRAFT IN_REVIEW": true, "IN_REVIEW APPROVED": true, "IN_REVIEW REJECTED": true, "IN_REVIEW DRAFT": true, "REJECTED DRAFT": true,
	}
	by := catalog.Optional[*catalog.PersonInput]{Set: true, Value: &catalog.PersonInput{Name: "Registrar"}}
	because := catalog.Optional[*string]{Set: true, Value: new("Because.")}
	for _, from := range states {
		for _, to := range states {
			a := &catalog.Articulation{Status: from}
			move, err := catalog.MoveInput{Status: to, DecidedBy: by, Note: because}.Apply(a, "key_1", known, 7)
			if !allowed[string(from+" "+to)] {
				if !isCode(err, catalog.Conflict) || a.Status != from {
					t.Errorf("%s to %s: %v, is %s", from, to, err, a.Status)
				}
				continue
			}
			want := catalog.Move{At: 7, From: from, To: to, DecidedBy: &catalog.Person{Name: "Registrar"}, Note: new("Because."), KeyID: "key_1"}
			if diff := cmp.Diff(want, move); err != nil || diff != "" || a.Status != to {
				t.Errorf("%s to %s: %v, is %s\n%s", from, to, err, a.Status, diff)
			}
		}
		deleted := (&catalog.Articulation{Status: from}).CheckDelete()
		if can := from == catalog.ArticulationDraft || from == catalog.ArticulationRejected; can != (deleted == nil) || !can && !isCode(deleted, catalog.Conflict) {
			t.Errorf("deleting a %s one: %v", from, deleted)
		}
	}
	a := &catalog.Articulation{Status: catalog.ArticulationInReview}
	if _, err := (catalog.MoveInput{Status: catalog.ArticulationApproved}).Apply(a, "", known, 1); !isCode(err, catalog.ValidationFailed) || a.Status != catalog.ArticulationInReview {
		t.Errorf("approved by nobody: %v", err)
	}
	if _, err := (catalog.MoveInput{Status: catalog.ArticulationRejected, DecidedBy: by}).Apply(a, "", known, 1); !isCode(err, catalog.ValidationFailed) || a.Status != catalog.ArticulationInReview {
		t.Errorf("rejected without a note: %v", err)
	}
	if move, err := (catalog.MoveInput{Status: catalog.ArticulationRejected, Note: because}).Apply(a, "", known, 1); err != nil || move.DecidedBy != nil {
		t.Errorf("rejected by nobody: %v", err)
	}
}

// approved returns an articulation with an id that is approved.
func approved(t testing.TB, id, fields string) *catalog.Articulation {
	t.Helper()
	a := draft(t, fields)
	a.ID, a.Status = id, catalog.ArticulationApproved
	return a
}

func TestApprovalTakesTheCoursesAsTheyAre(t *testing.T) {
	credits := &catalog.Credits{Min: 3, Max: 3, Unit: "SEMESTER_HOUR"}
	live := map[string]*catalog.Course{"crs_1": {Meta: catalog.Meta{ID: "crs_1"}, Code: "CIS 1", Name: "Computing", Credits: credits}}
	move := catalog.Move{At: 5, DecidedBy: &catalog.Person{Name: "Registrar"}}
	evidence := &catalog.DecisionEvidence{CourseID: "crs_1"}
	a := approved(t, "art_2", `{}`)
	if err := a.Approve(move, catalog.Approval{Courses: live, Evidence: evidence}); err != nil {
		t.Fatal(err)
	}
	want := []catalog.CourseStamp{{CourseID: "crs_1", Code: "CIS 1", Name: "Computing", Credits: credits}}
	if diff := cmp.Diff(want, a.Granted); diff != "" || a.DecidedBy.Name != "Registrar" || *a.DecidedAt != 5 || a.Evidence != evidence {
		t.Errorf("%+v\n%s", a, diff)
	}
	if err := approved(t, "art_2", `{}`).Approve(move, catalog.Approval{}); !isCode(err, catalog.Conflict) {
		t.Errorf("a course that is gone: %v", err)
	}
}

func TestSupersession(t *testing.T) {
	live := map[string]*catalog.Course{"crs_1": {Meta: catalog.Meta{ID: "crs_1"}}}
	for name, test := range map[string]struct {
		old, new string
		status   catalog.ArticulationStatus
		end      string // "" where it is refused
	}{
		"open end":            {`{}`, `{"effectiveFrom":"2026-03-01"}`, catalog.ArticulationApproved, "2026-02-28"},
		"an end that is late": {`{"effectiveTo":"2026-12-31"}`, `{"effectiveFrom":"2026-03-01"}`, catalog.ArticulationApproved, "2026-02-28"},
		"an end that is soon": {`{"effectiveTo":"2026-01-31"}`, `{"effectiveFrom":"2026-03-01"}`, catalog.ArticulationApproved, "2026-01-31"},
		"the same day":        {`{}`, `{"effectiveFrom":"2026-01-01"}`, catalog.ArticulationApproved, ""},
		"the next day":        {`{}`, `{"effectiveFrom":"2026-01-02"}`, catalog.ArticulationApproved, "2026-01-01"},
		"a draft":             {`{}`, `{"effectiveFrom":"2026-03-01"}`, catalog.ArticulationDraft, ""},
		"in another spelling": {`{"sendingInstitution":{"name":"foothill-college"}}`, `{"effectiveFrom":"2026-03-01"}`, catalog.ArticulationApproved, "2026-02-28"},
		"another institution": {`{"sendingInstitution":{"name":"De Anza College"}}`, `{"effectiveFrom":"2026-03-01"}`, catalog.ArticulationApproved, ""},
	} {
		t.Run(name, func(t *testing.T) {
			old, successor := approved(t, "art_1", test.old), approved(t, "art_2", test.new)
			old.Status, successor.Supersedes = test.status, new("art_1")
			before := *old
			err := successor.Approve(catalog.Move{}, catalog.Approval{Courses: live, Superseded: old, Others: []*catalog.Articulation{&before}})
			if test.end == "" {
				if !isCode(err, catalog.Conflict) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || *old.EffectiveTo != test.end {
				t.Errorf("ends %v, %v", old.EffectiveTo, err)
			}
		})
	}
	lost := approved(t, "art_2", `{"supersedes":"art_1"}`)
	if err := lost.Approve(catalog.Move{}, catalog.Approval{Courses: live}); !isCode(err, catalog.Conflict) {
		t.Errorf("one that is gone: %v", err)
	}
}

func TestConflicts(t *testing.T) {
	one := approved(t, "art_1", `{"effectiveTo":"2026-06-30","sendingInstitution":{"name":"Foothill College","codeType":"IPEDS","code":"0114716"}}`)
	for name, test := range map[string]struct {
		other string
		want  bool
	}{
		"the same":                  {`{}`, true},
		"of which the last day":     {`{"effectiveFrom":"2026-06-30"}`, true},
		"the day after":             {`{"effectiveFrom":"2026-07-01"}`, false},
		"the day before":            {`{"effectiveFrom":"2025-01-01","effectiveTo":"2025-12-31"}`, false},
		"until the first day":       {`{"effectiveFrom":"2025-01-01","effectiveTo":"2026-01-01"}`, true},
		"in another spelling":       {`{"sending":[{"courses":[{"code":"cis-0120l"}]}],"sendingInstitution":{"name":"FOOTHILL  College."}}`, true},
		"by the institution's code": {`{"sendingInstitution":{"name":"Other","codeType":"IPEDS","code":"114716"}}`, true},
		"a code of another type":    {`{"sendingInstitution":{"name":"Other","codeType":"OPEID","code":"114716"}}`, false},
		"in any alternative":        {`{"sending":[{"courses":[{"code":"B"}]},{"courses":[{"code":"CIS 120L"}]}]}`, true},
		"a larger set":              {`{"sending":[{"courses":[{"code":"CIS 120L"},{"code":"B"}]}]}`, false},
		"other courses":             {`{"sending":[{"courses":[{"code":"CIS 12L"}]}]}`, false},
	} {
		other := approved(t, "art_2", test.other)
		if one.ConflictsWith(other) != test.want || other.ConflictsWith(one) != test.want {
			t.Errorf("%s: %v, the other way %v", name, one.ConflictsWith(other), other.ConflictsWith(one))
		}
		if err := one.CheckConflicts([]*catalog.Articulation{other}, "body.status"); test.want {
			if !isCode(err, catalog.Conflict) || err.(*catalog.Error).Fields[0] != (catalog.FieldError{Location: "body.status", Message: err.(*catalog.Error).Fields[0].Message, Value: "art_2"}) {
				t.Errorf("%s: %v", name, err)
			}
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		other.Status = catalog.ArticulationInReview
		if err := one.CheckConflicts([]*catalog.Articulation{other, one}, "body.status"); err != nil {
			t.Errorf("%s, not approved: %v", name, err)
		}
	}
	for _, test := range []struct {
		a, b []string
		want bool
	}{{nil, nil, true}, {[]string{"p"}, nil, true}, {[]string{"p"}, []string{"q"}, false}, {[]string{"p", "q"}, []string{"q", "r"}, true}} {
		a, b := approved(t, "art_1", `{}`), approved(t, "art_2", `{}`)
		a.ProgramIDs, b.ProgramIDs = test.a, test.b
		if a.ConflictsWith(b) != test.want || b.ConflictsWith(a) != test.want {
			t.Errorf("programs %v and %v", test.a, test.b)
		}
	}
}

func TestWhatKeepsACourse(t *testing.T) {
	a := approved(t, "art_1", `{"effectiveTo":"2026-06-30"}`)
	if !a.Keeps("crs_1", "2025-01-01") || !a.Keeps("crs_1", "2026-06-30") || a.Keeps("crs_1", "2026-07-01") || a.Keeps("crs_2", "2026-06-30") {
		t.Error("in force or to come, it keeps what it grants, and nothing else")
	}
	a.Status = catalog.ArticulationInReview
	if a.Keeps("crs_1", "2026-06-30") {
		t.Error("it is not approved")
	}
}

func TestWhatIsCompared(t *testing.T) {
	for body, want := range map[string]string{
		`{}`: "",
		`{"sending":[{"courses":[{"code":"A"},{"code":"B","transferCourseId":"tcr_1"}]}]}`:                                                                "tcr_1",
		`{"sending":[{"courses":[{"code":"A","transferCourseId":"tcr_1"}]}],"receiving":[{"courseId":"crs_1"},{"courseId":"CIS-1"}]}`:                     "",
		`{"sending":[{"courses":[{"code":"A","transferCourseId":"tcr_1"}]}],"receiving":[{"label":"x"}]}`:                                                 "",
		`{"sending":[{"courses":[{"code":"A"}]},{"courses":[{"code":"B","transferCourseId":"tcr_1"}]}],"receiving":[{"label":"x"},{"courseId":"crs_1"}]}`: "tcr_1",
	} {
		transfer, course, ok := draft(t, body).EvidenceFor()
		if transfer != want || ok != (want != "") || ok && course != "crs_1" {
			t.Errorf("%s: %s and %s", body, transfer, course)
		}
	}
}
