package catalog

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseCursor(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "c0-0": true, "cz-10": true, "c1-0": true, "c0-1": true,
		"c1--1": false, "c-1-1": false, "c-0": false, "c1": false, "1-1": false, "c1-": false, "c01-1": false, "c1-1-1": false, "cC-1": false, "c1-!": false,
	} {
		if c, ok := ParseCursor(text); ok != want || ok && text != "" && c.String() != text {
			t.Errorf("%q: %v %v", text, c, ok)
		}
	}
}

// Ids that this service cannot have made are no keys, and have no number.
func TestIDsThatNobodyMade(t *testing.T) {
	ids := IDs{Random: bytes.NewReader(bytes.Repeat([]byte("random"), 40))}
	course, owned := ids.Sequenced(CourseKind, 7), ids.Ordered(TransferCourseKind, 1, 0, 7)
	prefix := CourseKind.row().prefix
	if !CourseKind.Made(course) || !TransferCourseKind.Made(owned) {
		t.Fatal(course, owned)
	}
	for name, id := range map[string]string{
		"empty": "", "no prefix": strings.TrimPrefix(course, prefix), "short": prefix + encoding.EncodeToString(make([]byte, 14)),
		"long": prefix + encoding.EncodeToString(make([]byte, 45)), "not of the alphabet": course[:len(course)-1] + "!", "in upper case": strings.ToUpper(course),
	} {
		if _, ok := Sequence(CourseKind, id); ok || CourseKind.Made(id) {
			t.Errorf("%s: %s passes", name, id)
		}
	}
	if id := prefix + encoding.EncodeToString(make([]byte, 40)); !CourseKind.Made(id) || len(id) != len(prefix)+64 {
		t.Errorf("%s is refused", id)
	}
	if _, ok := Sequence(TransferCourseKind, owned); ok {
		t.Error("an id of 20 bytes has a number of its own")
	}
	if _, ok := PackageNumber(strings.Replace(course, prefix, TransferCourseKind.row().prefix, 1)); ok {
		t.Error("an id of 15 bytes leads to a package")
	}
	random := IDs{Random: bytes.NewReader([]byte("12345678abcdefgh"))}
	if first := random.Ordered(TransferCourseKind, 1, 0, 7); first == random.Ordered(TransferCourseKind, 1, 0, 7) {
		t.Error("two ids of one instant are the same")
	}
}

func TestInstitutions(t *testing.T) {
	ceeb, code := "CEEB", "0077"
	lake := Institution{Name: "Lake College", CodeType: &ceeb, Code: &code}
	for _, c := range []struct {
		name, codeType, code string
		same                 bool
	}{
		{"lake-college", "", "", true}, {"Hill", "CEEB", "77", true}, {"Hill", "CEEB", "78", false}, {"Hill", "ACT", "77", false}, {"Hill", "", "", false},
		{"Hill", "CEEB", "", false}, {"Hill", "", "77", false},
	} {
		other := Institution{Name: c.name, CodeType: nonEmpty(&c.codeType), Code: nonEmpty(&c.code)}
		if lake.Same(other) != c.same || other.Same(lake) != c.same {
			t.Errorf("%+v: not %v", c, c.same)
		}
	}
	blank := "- -"
	if (Institution{Name: "A", CodeType: &ceeb, Code: &blank}).Same(Institution{Name: "B", CodeType: &ceeb, Code: &blank}) {
		t.Error("codes of which nothing remains are the same")
	}
	for asked, want := range map[string]bool{"LAKE COLLEGE": true, "77": true, "Lake": false, "": false, "-": false} {
		if lake.Named(asked) != want {
			t.Errorf("%q: not %v", asked, want)
		}
	}
	if (Institution{Name: "--"}).Named("-") {
		t.Error("nothing is a name")
	}
	if (Institution{Name: "Lake"}).Named("77") {
		t.Error("an institution without a code has one")
	}
}

func TestKeysEnd(t *testing.T) {
	end := Time(1000)
	for now, want := range map[Time]bool{999: true, 1000: false, 1001: false} {
		if (&Key{ExpiresAt: &end}).Live(now) != want {
			t.Errorf("at %d: not %v", now, want)
		}
	}
	if !(&Key{}).Live(1) || (&Key{RevokedAt: &end}).Live(1) {
		t.Error("a key without an end, or a revoked one")
	}
}

// A course takes references up to its bound, and changes those that it has.
func TestCourseIsFull(t *testing.T) {
	course := &Course{}
	a, b := &Section{Meta: Meta{ID: "a"}, Name: "A"}, &Section{Meta: Meta{ID: "b"}, Name: "B"}
	for _, s := range []*Section{a, b} {
		if _, err := course.Mention(s); err != nil {
			t.Fatal(err)
		}
	}
	description := strings.Repeat("x", MaxCourseRowBytes-2*(1+1+110))
	b.Description = &description
	if _, err := course.Mention(b); err != nil || len(course.Sections) != 2 || course.Sections[1].Description != description {
		t.Errorf("%v, %d sections", err, len(course.Sections))
	}
	a.Name = "AA"
	if _, err := course.Mention(a); err == nil || course.Sections[0].Name != "A" {
		t.Errorf("one byte too many: %v", err)
	}
}

func TestSectionFields(t *testing.T) {
	given := func(text string) Optional[*string] { return Optional[*string]{true, &text} }
	l := Lookups{
		At: "body", SkillName: func(id string) (string, bool) { return "Name of " + id, true }, Documents: map[string]*Document{"doc": {}},
		CheckHref: func(href string) error {
			if href != "good" && href != "better" {
				return errors.New("not there")
			}
			return nil
		},
	}
	s := &Section{}
	apply := func(in SectionInput, want ...string) {
		t.Helper()
		var locations []string
		before := *s
		for _, wrong := range in.Apply(s, l) {
			locations = append(locations, wrong.Location)
		}
		s.settle(&before, "", "", &Course{DefaultSectionID: "another"})
		if !slices.Equal(locations, want) {
			t.Errorf("wrong at %v, want %v", locations, want)
		}
	}
	shown := func(texts ...*string) (all []string) {
		for _, text := range texts {
			if text == nil {
				text = new("none")
			}
			all = append(all, *text)
		}
		return all
	}
	state := func(want ...string) {
		t.Helper()
		got := append(shown(&s.Name, s.Description, s.InstructorID, s.InstructorName, s.SyllabusHref, s.DocumentID, s.ExternalID), string(s.ProcessingStatus))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	apply(SectionInput{Name: Optional[string]{true, "N"}, Description: given("D"), InstructorID: given("I"), InstructorName: given("M"), SyllabusHref: given("good")})
	state("N", "D", "I", "M", "good", "none", "none", "PENDING")
	if s.Skills == nil {
		t.Error("the skills are null")
	}
	s.ProcessingStatus = Completed
	apply(SectionInput{SyllabusHref: given("good"), InstructorID: given("")})
	state("N", "D", "none", "M", "good", "none", "none", "COMPLETED")
	apply(SectionInput{DocumentID: given("doc")})
	state("N", "D", "none", "M", "none", "doc", "none", "PENDING")
	apply(SectionInput{SyllabusHref: given("better"), ExternalInput: ExternalInput{given("E")}})
	state("N", "D", "none", "M", "better", "none", "E", "PENDING")
	apply(SectionInput{SyllabusHref: Optional[*string]{Set: true}, Description: Optional[*string]{Set: true}})
	state("N", "none", "none", "M", "none", "none", "E", "")
	apply(SectionInput{SyllabusHref: given("bad")}, "body.syllabusHref")
	apply(SectionInput{DocumentID: given("gone")}, "body.documentId")
	apply(SectionInput{SyllabusHref: given("good"), DocumentID: given("doc")}, "body.documentId")
	apply(SectionInput{ExternalInput: ExternalInput{given("a\x01")}}, "body.externalId")
	apply(SectionInput{ExternalInput: ExternalInput{given("")}})
	if s.ExternalID != nil {
		t.Errorf("the external id is %q", *s.ExternalID)
	}
}

func TestPeriods(t *testing.T) {
	early, late := "2026-01-01", "2026-01-02"
	for _, c := range []struct {
		from, to *string
		wrong    bool
	}{{nil, nil, false}, {&late, nil, false}, {nil, &early, false}, {&early, &early, false}, {&early, &late, false}, {&late, &early, true}} {
		effective := (Lookups{}).checker()
		if effective.period(c.from, c.to); (*effective.wrong != nil) != c.wrong {
			t.Errorf("effective: %v", *effective.wrong)
		}
		if wrong := faultsOf(SendingCourse{Code: "A 1", TakenFrom: c.from, TakenTo: c.to}, &Articulation{}); (wrong != nil) != c.wrong {
			t.Errorf("taken: %v", wrong)
		}
	}
}

func faultsOf(course SendingCourse, before *Articulation) []FieldError {
	check := (Lookups{}).checker()
	course.check(before, check)
	return *check.wrong
}

// What an articulation names may be named again after it is gone; other names that lead
// nowhere may not.
func TestNamesThatLeadNowhere(t *testing.T) {
	old, other := "old", "other"
	a := &Articulation{Supersedes: &old, Sending: []Alternative{{Courses: []SendingCourse{{Code: "B"}, {Code: "A", TransferCourseID: &old}}}}}
	for name, known := range map[*string]bool{&old: true, &other: false} {
		check := (Lookups{}).checker()
		if check.superseded(name, a); (*check.wrong == nil) != known {
			t.Errorf("supersedes %s: %v", *name, *check.wrong)
		}
		check = (Lookups{}).checker()
		if check.superseded(name, &Articulation{}); *check.wrong == nil {
			t.Errorf("supersedes %s: it is not there", *name)
		}
		if wrong := faultsOf(SendingCourse{Code: "A", TransferCourseID: name}, a); (wrong == nil) != known {
			t.Errorf("sends %s: %v", *name, wrong)
		}
	}
}

// An articulation is of a transfer course by its id or its code, where no other course
// goes with it.
func TestTakesACourseAlone(t *testing.T) {
	named, code, other := "tcr_1", "a-01", "B 1"
	alone := []SendingCourse{{Code: "A 1", TransferCourseID: &named}}
	for _, c := range []struct {
		courses []SendingCourse
		id      string
		code    *string
		want    bool
	}{
		{alone, "tcr_1", nil, true}, {alone, "tcr_2", &code, true}, {alone, "tcr_2", &other, false}, {alone, "tcr_2", nil, false},
		{append([]SendingCourse{{Code: "C 1"}}, alone...), "tcr_1", &code, false},
	} {
		a := &Articulation{Sending: []Alternative{{Courses: c.courses}}}
		if got := a.takes(&TransferCourse{Meta: Meta{ID: c.id}, Code: c.code}); got != c.want {
			t.Errorf("%d courses for %s %v: %v", len(c.courses), c.id, c.code, got)
		}
	}
}
