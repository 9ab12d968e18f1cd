package catalog_test

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillscurriculum/pkg/catalog"
)

var source = catalog.IDs{Random: rand.Reader}

// school makes courses with two sections each.
func school(n int) (courses []*catalog.Course, sections [][]*catalog.Section) {
	dir := &catalog.Directory{OrganizationID: "org", Kind: catalog.CourseKind}
	now := func() catalog.Time { return 1 }
	for range n {
		var change catalog.Change
		c, first, second := &catalog.Course{Name: "Course", Code: "C"}, &catalog.Section{}, &catalog.Section{Name: "Second"}
		change.AddCourse(c, first, source, dir, now)
		if err := change.AddSection(second, c, source, now); err != nil {
			panic(err)
		}
		courses = append(courses, c)
		sections = append(sections, []*catalog.Section{first, second})
	}
	return courses, sections
}

func isCode(err error, code catalog.Code) bool {
	var known *catalog.Error
	return errors.As(err, &known) && known.Code == code
}

// However sections are added, set and removed, a credential never holds two of a
// course, and what it tells the courses of its holds is what it holds.
func TestCredentialHoldsOneSectionOfEachCourse(t *testing.T) {
	courses, sections := school(5)
	rapid.Check(t, func(t *rapid.T) {
		m := &credentialModel{courses: courses, sections: sections, credential: &catalog.Credential{Meta: catalog.NewMeta("crd_1", "org", 1)}}
		for _, c := range courses {
			c.HeldBy = []string{"prg_1/" + c.ID}
		}
		t.Repeat(rapid.StateMachineActions(m))
	})
}

// credentialModel is a credential and the ids of the sections that it should hold.
type credentialModel struct {
	courses    []*catalog.Course
	sections   [][]*catalog.Section // by course
	credential *catalog.Credential
	want       []string
	before     map[string]string // what the courses know of
}

// draw returns any section with its course.
func (m *credentialModel) draw(t *rapid.T) catalog.Placed {
	i, j := rapid.IntRange(0, len(m.courses)-1).Draw(t, "course"), rapid.IntRange(0, 1).Draw(t, "section")
	return catalog.Placed{Section: m.sections[i][j], Course: m.courses[i]}
}

// holders returns the sections of a course that the credential should hold.
func (m *credentialModel) holders(course int) []string {
	var held []string
	for _, id := range m.want {
		if slices.ContainsFunc(m.sections[course], func(s *catalog.Section) bool { return s.ID == id }) {
			held = append(held, id)
		}
	}
	return held
}

func (m *credentialModel) Add(t *rapid.T) {
	p := m.draw(t)
	added, err := m.credential.Add(p)
	switch {
	case slices.Contains(m.want, p.Section.ID):
		if added || err != nil {
			t.Fatalf("one that it has: %v, %v", added, err)
		}
	case len(m.holders(slices.Index(m.courses, p.Course))) > 0:
		if added || !isCode(err, catalog.Conflict) {
			t.Fatalf("another one of the course: %v, %v", added, err)
		}
	default:
		if !added || err != nil {
			t.Fatalf("a new one: %v, %v", added, err)
		}
		m.want = append(m.want, p.Section.ID)
	}
}

func (m *credentialModel) Set(t *rapid.T) {
	var ids []string
	placed := map[string]catalog.Placed{}
	wrong := 0
	seen, taken := map[string]bool{}, map[string]bool{}
	for range rapid.IntRange(0, 5).Draw(t, "n") {
		p := m.draw(t)
		id := p.Section.ID
		if rapid.IntRange(0, 5).Draw(t, "unknown") == 0 {
			p, id = catalog.Placed{}, "sec_unknown"
		} else {
			placed[id] = p
		}
		if seen[id] || p.Section == nil || taken[p.Course.ID] {
			wrong++
		} else {
			taken[p.Course.ID] = true
		}
		seen[id] = true
		ids = append(ids, id)
	}
	if got := m.credential.SetSections(ids, placed, "body.x"); len(got) != wrong {
		t.Fatalf("%d are wrong in %v: %v", wrong, ids, got)
	}
	if wrong == 0 {
		m.want = ids
	}
}

func (m *credentialModel) Remove(t *rapid.T) {
	id := m.draw(t).Section.ID
	held := slices.Contains(m.want, id)
	if m.credential.Remove(id) != held {
		t.Fatalf("removed: %v", !held)
	}
	m.want = slices.DeleteFunc(m.want, func(s string) bool { return s == id })
}

// Check compares the credential, and what its courses know of it, with the model.
func (m *credentialModel) Check(t *rapid.T) {
	var got []string
	for _, s := range m.credential.Sections {
		got = append(got, s.SectionID)
	}
	if !slices.Equal(got, m.want) {
		t.Fatalf("holds %v, want %v", got, m.want)
	}
	byID := map[string]*catalog.Course{}
	for _, c := range m.courses {
		byID[c.ID] = c
	}
	var change catalog.Change
	if err := change.Hold(m.credential, m.before, byID); err != nil {
		t.Fatal(err)
	}
	m.before = m.credential.Members()
	for _, h := range catalog.EffectsOf[*catalog.Holding](&change) {
		h.Record.HeldBy = slices.DeleteFunc(append(h.Record.HeldBy, h.Holders...), func(s string) bool { return slices.Contains(h.Released, s) })
	}
	for i, c := range m.courses {
		holders := []string{"prg_1/" + c.ID}
		for _, id := range m.holders(i) {
			holders = append(holders, "crd_1/"+id)
		}
		if !slices.Equal(c.HeldBy, holders) {
			t.Fatalf("course is held by %v, want %v", c.HeldBy, holders)
		}
	}
}

// CourseOrder stays a permutation of the courses' ids, and the courses in that order.
func TestProgramOrderIsAPermutation(t *testing.T) {
	courses, _ := school(6)
	rapid.Check(t, func(t *rapid.T) {
		program := &catalog.Program{Meta: catalog.NewMeta("prg_1", "org", 1), CourseOrder: []string{}, Courses: []catalog.CourseProfile{}}
		var want []string
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				c := rapid.SampledFrom(courses).Draw(t, "course")
				added, err := program.Add(c)
				if err != nil || added == slices.Contains(want, c.ID) {
					t.Fatalf("%v, %v", added, err)
				}
				if added {
					want = append(want, c.ID)
				}
			},
			"remove": func(t *rapid.T) {
				c := rapid.SampledFrom(courses).Draw(t, "course")
				if program.Remove(c.ID) != slices.Contains(want, c.ID) {
					t.Fatal("removed what it lacks, or kept what it has")
				}
				want = slices.DeleteFunc(want, func(id string) bool { return id == c.ID })
			},
			"reorder": func(t *rapid.T) {
				order := rapid.Permutation(want).Draw(t, "order")
				if wrong := program.Reorder(order, "body.courseOrder"); wrong != nil {
					t.Fatal(wrong)
				}
				want = order
			},
			"reorder wrongly": func(t *rapid.T) {
				wrong := slices.Clone(want)
				switch rapid.IntRange(0, 2).Draw(t, "how") {
				case 0:
					wrong = append(wrong, "crs_unknown")
				case 1:
					if len(wrong) == 0 {
						t.Skip("nothing to leave out")
					}
					wrong = wrong[1:]
				case 2:
					if len(wrong) < 2 {
						t.Skip("nothing to repeat")
					}
					wrong[0] = wrong[1]
				}
				if program.Reorder(wrong, "body.courseOrder") == nil {
					t.Fatalf("%v is taken for %v", wrong, want)
				}
			},
			"": func(t *rapid.T) {
				var shown []string
				for _, c := range program.Courses {
					shown = append(shown, c.CourseID)
				}
				if !slices.Equal(program.CourseOrder, want) || !slices.Equal(shown, want) {
					t.Fatalf("order %v, courses %v, want %v", program.CourseOrder, shown, want)
				}
			},
		})
	})
}

func TestBoundsOnMembers(t *testing.T) {
	courses, sections := school(catalog.MaxCredentialSections + 1)
	credential, program := &catalog.Credential{}, &catalog.Program{}
	for i, c := range courses {
		_, err := credential.Add(catalog.Placed{Section: sections[i][0], Course: c})
		_, other := program.Add(c)
		if full := i == catalog.MaxCredentialSections; full != isCode(err, catalog.Conflict) || full != isCode(other, catalog.Conflict) {
			t.Fatalf("member %d: %v, %v", i+1, err, other)
		}
	}
}

func TestSkillsAreChecked(t *testing.T) {
	half, fine, much := 0.5, 0.1234, 0.12345
	names := func(id string) (string, bool) { return "Name of " + id, id != "x" }
	got, wrong := catalog.Skills([]catalog.SkillInput{
		{SkillID: "c", Level: 1, Confidence: &half}, {SkillID: "b", SkillName: "ignored", Level: 2}, {SkillID: "a", Level: 2, Confidence: &half}, {SkillID: "d", Level: 2},
		{SkillID: "e", Level: 1, Confidence: &fine},
	}, names, "body.skills")
	if wrong != nil {
		t.Fatal(wrong)
	}
	want := []catalog.SkillRef{
		{SkillID: "b", SkillName: "Name of b", Level: 2, Confidence: 1}, {SkillID: "d", SkillName: "Name of d", Level: 2, Confidence: 1},
		{SkillID: "a", SkillName: "Name of a", Level: 2, Confidence: 0.5}, {SkillID: "c", SkillName: "Name of c", Level: 1, Confidence: 0.5}, {SkillID: "e", SkillName: "Name of e", Level: 1, Confidence: 0.1234},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, wrong = catalog.Skills([]catalog.SkillInput{{SkillID: "x", Level: 1}, {SkillID: "a", Level: 1, Confidence: &much}, {SkillID: "a", Level: 2}}, names, "at")
	var places []string
	for _, f := range wrong {
		places = append(places, f.Location)
	}
	if diff := cmp.Diff([]string{"at[0].skillId", "at[1].confidence", "at[2].skillId"}, places); diff != "" {
		t.Error(diff)
	}
}

func TestTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := catalog.Time(rapid.Int64Range(0, 4_000_000_000_000).Draw(t, "at"))
		text, err := at.MarshalText()
		var again catalog.Time
		if err != nil || again.UnmarshalText(text) != nil || again != at || len(text) != len("2026-11-21T08:00:00.000Z") {
			t.Fatalf("%d is %s, %v", at, text, err)
		}
		now := catalog.Time(rapid.Int64Range(0, 4_000_000_000_000).Draw(t, "now"))
		if next := at.After(now); next <= at || next < now {
			t.Fatalf("after %d at %d comes %d", at, now, next)
		}
	})
	var at catalog.Time
	if err := at.UnmarshalText([]byte("2026-11-21 08:00")); err == nil {
		t.Error("took a time that is not RFC 3339")
	}
}

func TestOptionalTellsAbsentFromNull(t *testing.T) {
	var v struct {
		Absent, Null, Given catalog.Optional[*string]
	}
	if err := json.Unmarshal([]byte(`{"Null":null,"Given":"x"}`), &v); err != nil {
		t.Fatal(err)
	}
	old := "old"
	if v.Absent.Set || v.Absent.Or(&old) != &old || !v.Null.Set || v.Null.Or(&old) != nil || *v.Given.Or(&old) != "x" {
		t.Errorf("%+v", v)
	}
}

func TestKeys(t *testing.T) {
	later, past := catalog.Time(20), catalog.Time(5)
	for _, c := range []struct {
		key  catalog.Key
		live bool
	}{
		{catalog.Key{}, true}, {catalog.Key{ExpiresAt: &later}, true}, {catalog.Key{ExpiresAt: &past}, false}, {catalog.Key{RevokedAt: &past}, false},
		{catalog.Key{RevokedAt: &later}, false},
	} {
		if c.key.Live(10) != c.live {
			t.Errorf("%+v is live: %v", c.key, !c.live)
		}
	}
	revoked := catalog.Time(1)
	keys := []*catalog.Key{{Scope: catalog.WriteScope}, {Scope: catalog.WriteScope, RevokedAt: &revoked}, {Scope: catalog.ReadScope}}
	if err := catalog.AddKey(keys, catalog.WriteScope, 10); err != nil {
		t.Error(err)
	}
	if err := catalog.AddKey(append(keys, &catalog.Key{Scope: catalog.WriteScope}), catalog.WriteScope, 10); !isCode(err, catalog.Conflict) {
		t.Errorf("a third key: %v", err)
	}
	secret := source.NewSecret()
	if len(secret) < len(catalog.SecretPrefix)+32 || len(catalog.HashSecret(secret)) != 64 {
		t.Errorf("secret %s", secret)
	}
}

// A course is refused to nobody but what contains it, or that section of it.
func TestCheckNotHeld(t *testing.T) {
	course := &catalog.Course{Meta: catalog.Meta{ID: "crs"}, HeldBy: []string{"prg/crs", "crd/sec1", "crd/sec2", "old/crs"}}
	program := &catalog.Program{Meta: catalog.Meta{ID: "prg"}, CourseOrder: []string{"other", "crs"}}
	credential := &catalog.Credential{Meta: catalog.Meta{ID: "crd"}, Sections: []catalog.SectionProfile{{CourseProfile: catalog.CourseProfile{CourseID: "crs"}, SectionID: "sec1"}}}
	if got := course.Holders(""); !slices.Equal(got, []string{"prg", "crd", "old"}) {
		t.Errorf("held by %v", got)
	}
	if got := course.Holders("sec2"); !slices.Equal(got, []string{"crd"}) {
		t.Errorf("section held by %v", got)
	}
	for _, c := range []struct {
		holder    catalog.Holder
		sectionID string
		held      bool
	}{
		{program, "", true}, {credential, "", true}, {credential, "sec1", true}, {credential, "sec2", false},
		{&catalog.Program{CourseOrder: []string{"other"}}, "", false}, {&catalog.Credential{}, "", false},
	} {
		if err := course.CheckNotHeld(c.holder, c.sectionID); (err != nil) != c.held {
			t.Errorf("%T %q: %v", c.holder, c.sectionID, err)
		}
	}
}

// A transfer course is compared once its skills are known, and tried again once it failed.
func TestStatesOfTransferCourses(t *testing.T) {
	for status, want := range map[catalog.ProcessingStatus][2]bool{
		catalog.Pending: {}, catalog.Processing: {}, catalog.Completed: {true, false}, catalog.Failed: {false, true},
	} {
		c := &catalog.TransferCourse{Extraction: catalog.Extraction{ProcessingStatus: status, Failure: &catalog.Failure{}}}
		matches := c.CheckMatch() == nil
		if retries := c.Retry() == nil; matches != want[0] || retries != want[1] || retries && (c.ProcessingStatus != catalog.Pending || c.Failure != nil) {
			t.Errorf("%s: compared %v, tried again %v: %+v", status, matches, retries, c.Extraction)
		}
	}
}

func TestParseCodes(t *testing.T) {
	most := strings.TrimSuffix(strings.Repeat("A,", catalog.MaxLookupCodes), ",")
	for list, want := range map[string]int{"ENG 1": 1, " a , B-1": 2, most: catalog.MaxLookupCodes, most + ",A": 0, "a,,b": 0, "a, -": 0, "": 0} {
		if codes, err := catalog.ParseCodes(list); len(codes) != want || (err == nil) != (want > 0) {
			t.Errorf("%.20q gives %d codes, %v", list, len(codes), err)
		}
	}
}

// Another syllabus of a section is extracted, and nothing else that changes.
func TestNewSyllabusIsExtracted(t *testing.T) {
	before := catalog.Section{Meta: catalog.Meta{ID: "sec", UpdatedAt: 1}, SyllabusHref: new("https://a"), Extraction: catalog.Extraction{ProcessingStatus: catalog.Pending}}
	renamed, moved := before, before
	renamed.Name, moved.SyllabusHref = "B", new("https://b")
	for _, c := range []struct {
		after catalog.Section
		jobs  int
	}{{before, 0}, {renamed, 0}, {moved, 1}} {
		var change catalog.Change
		catalog.ReplaceChanged(&change, before, &c.after, 5)
		if jobs := change.Jobs(); len(jobs) != c.jobs || c.jobs > 0 && jobs[0].RequestedAt != c.after.UpdatedAt {
			t.Errorf("%q: jobs %+v", c.after.Name, jobs)
		}
	}
}

// A course that changes while its section waits restarts the extraction: a worker may have
// begun to read the former text.
func TestAnotherDescriptionAlwaysRestarts(t *testing.T) {
	for _, status := range []catalog.ProcessingStatus{"", catalog.Pending, catalog.Processing, catalog.Completed, catalog.Failed} {
		course := &catalog.Course{Meta: catalog.Meta{ID: "crs", UpdatedAt: 1}, Name: "Databases", DefaultSectionID: "sec", Description: new("SQL.")}
		section := &catalog.Section{Meta: catalog.Meta{ID: "sec", UpdatedAt: 1}, CourseID: "crs", Extraction: catalog.Extraction{ProcessingStatus: status}}
		for _, byHand := range []bool{false, true} {
			section.ByHand = byHand
			before, was, after, now := *course, *section, *course, *section
			after.Description = new("More SQL.")
			var change catalog.Change
			if _, err := change.ReplaceCourse(&before, &after, &was, &now, 2); err != nil {
				t.Fatal(err)
			}
			if jobs := change.Jobs(); (len(jobs) == 1) == byHand {
				t.Errorf("%q, by hand %v: %d jobs", status, byHand, len(jobs))
			}
		}
	}
}
