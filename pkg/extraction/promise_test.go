package extraction

import (
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"skillscurriculum/pkg/catalog"
)

// names are those of the skills that a text gives with the built-in vocabulary.
func names(t *testing.T, doc catalog.SyllabusText) map[string]float64 {
	t.Helper()
	found := map[string]float64{}
	for _, s := range extracted(t, NewExtractor(Starter(), opened(t)), doc).Skills {
		found[s.SkillName] = s.Confidence
	}
	return found
}

// TestASentenceThatPlainlyNamesASkillGivesIt puts every fifth skill of the built-in
// vocabulary into sentences that name it.
func TestASentenceThatPlainlyNamesASkillGivesIt(t *testing.T) {
	all, _ := Starter().Search("", Starter().Info().Skills, 0)
	e := NewExtractor(Starter(), opened(t))
	for i, s := range all {
		name, _, _ := strings.Cut(s.Name, " (")
		if i%5 != 0 || riskyNames(strings.ToLower(name)) {
			continue
		}
		for _, sentence := range []string{"Students will learn # in this course.", "The course covers #."} {
			doc := catalog.SyllabusText{Text: strings.Replace(sentence, "#", name, 1)}
			if !slices.ContainsFunc(extracted(t, e, doc).Skills, func(r catalog.SkillRef) bool { return r.SkillID == s.ID }) {
				t.Errorf("%q does not give %s", doc.Text, s.Name)
			}
		}
	}
}

// TestNamesThatAreEverydayWords holds both readings of such words apart.
func TestNamesThatAreEverydayWords(t *testing.T) {
	e := NewExtractor(Starter(), opened(t))
	for word, name := range map[string]string{
		"Go": "Go", "Swift": "Swift", "Rust": "Rust", "Julia": "Julia", "R": "R", "C": "C", "Excel": "Microsoft Excel",
	} {
		gives := func(sentence string) bool {
			r := extracted(t, e, catalog.SyllabusText{Text: strings.Replace(sentence, "#", word, 1)})
			return slices.ContainsFunc(r.Skills, func(r catalog.SkillRef) bool { return r.SkillName == name })
		}
		for _, sentence := range []string{
			"Students will learn #.", "Introduction to #", "We will use # for data analysis.", "Learn Python, # and SQL.",
		} {
			if !gives(sentence) {
				t.Errorf("%s does not give %s", strings.Replace(sentence, "#", word, 1), name)
			}
		}
		for _, sentence := range []string{"Students will meet # at the Harbour.", "Introduction to # Street and its Houses"} {
			if gives(sentence) {
				t.Errorf("%s gives %s", strings.Replace(sentence, "#", word, 1), name)
			}
		}
	}
}

func TestALetterOfAnAbbreviationIsNoLanguage(t *testing.T) {
	r := extracted(t, NewExtractor(Starter(), opened(t)),
		catalog.SyllabusText{Text: "Students review the A/R aging report with accounting software."})
	if slices.ContainsFunc(r.Skills, func(r catalog.SkillRef) bool { return r.SkillName == "R" }) {
		t.Errorf("A/R gives R: %v", r.Skills)
	}
}

// TestANameOfALanguageMayBeAnAdjective tells languages that are learned from the people and places they are named after.
func TestANameOfALanguageMayBeAnAdjective(t *testing.T) {
	for text, want := range map[string]bool{
		"# HIST 230 Latin America\n\nStudents compare independence and revolution in Latin America.": false,
		"# HIST 102 Modern Europe\n\nTopics: German unification, Latin American exiles.":             false,
		"# LAT 101 Elementary Latin\n\nStudents read simple Latin prose.":                            true,
		"Students sing Latin texts.": true,
		"Students learn Latin.":      true,
	} {
		if _, given := names(t, catalog.SyllabusText{Text: text})["Latin"]; given != want {
			t.Errorf("%q gives Latin: %t", text, given)
		}
	}
}

// TestAnOutcomeThatNamesASkillNeedsNoNeighboursOfItsField names Python in a course of
// another field.
func TestAnOutcomeThatNamesASkillNeedsNoNeighboursOfItsField(t *testing.T) {
	doc := catalog.SyllabusText{Text: `Nutrition and Health

Description
The course covers nutrients, diets, metabolism, food labels, and the role of diet in public health. Students compare diets and plan meals for people of every age.

Course Outcomes
Explain the digestion of proteins, fats and carbohydrates.
Plan a diet for an athlete.
Analyse records of food intake with Python.

Topics
Vitamins and minerals
Energy balance
Food safety
Nutrition of children and of the elderly
Diet and disease: diabetes, heart disease, allergies
Food policy, labels and advertising
Cooking for health, and what cooking does to nutrients
Sport nutrition, water and salt
How to judge what newspapers say about food, and what studies of diets can show`}
	found := names(t, doc)
	if !slices.ContainsFunc(keys(found), func(n string) bool { return strings.HasPrefix(n, "Python") }) {
		t.Errorf("Python is not among %v", found)
	}
}

func keys(m map[string]float64) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// TestWordsOfALabelDoNotMakeItsSkill: no label of query optimization appears.
func TestWordsOfALabelDoNotMakeItsSkill(t *testing.T) {
	found := names(t, catalog.SyllabusText{Text: "Students will write SQL queries and design relational databases."})
	for name := range found {
		if strings.Contains(strings.ToLower(name), "optimi") {
			t.Errorf("%s stands nowhere: %v", name, found)
		}
	}
	if !slices.ContainsFunc(keys(found), func(n string) bool { return strings.HasPrefix(n, "SQL") }) {
		t.Errorf("SQL is not among %v", found)
	}
}

// TestWhatOneSubjectLeadsToIsNeverSure holds the bound of skills that are inferred.
func TestWhatOneSubjectLeadsToIsNeverSure(t *testing.T) {
	m := &Model{Bias: 9}
	if c := m.Confidence(m.Score("", nil), Bounds{Inferred: true}); c != 0.6 {
		t.Errorf("confidence %v, want 0.6", c)
	}
	x := &extraction{}
	f := &finding{labels: 1}
	f.exact[topic] = true
	if b := x.bounds(f); !b.Inferred {
		t.Errorf("bounds %+v", b)
	}
}

// TestConfidenceIsBoldOnlyWhereItHolds: what is wrong too often for .80 is given .79.
func TestConfidenceIsBoldOnlyWhereItHolds(t *testing.T) {
	m := &Model{Bold: 0.9}
	for score, want := range map[float64]float64{0.7: 0.7, 0.795: 0.79, 0.8: 0.79, 0.8999: 0.79, 0.9: 0.9, 0.97: 0.97} {
		if c := m.Confidence(score, Bounds{}); c != want {
			t.Errorf("%v becomes %v, want %v", score, c, want)
		}
	}
	if c := (&Model{}).Confidence(0.85, Bounds{}); c != 0.85 {
		t.Errorf("without a bound .85 becomes %v", c)
	}
}

// TestRecordOfASkillCounts holds that what labelled courses said of a skill moves its
// score and no other's.
func TestRecordOfASkillCounts(t *testing.T) {
	m := &Model{Record: map[string]float64{"x:a": 2, "x:b": -2}}
	if a, b, c := m.Score("x:a", nil), m.Score("x:b", nil), m.Score("x:c", nil); a <= c || b >= c || c != 0.5 {
		t.Errorf("scores %v, %v, %v", a, b, c)
	}
}

// TestASentenceThatTeachesANameNeedsNoNeighbour: everyday words are names of tools
// where a sentence teaches them by name.
func TestASentenceThatTeachesANameNeedsNoNeighbour(t *testing.T) {
	for text, want := range map[string]bool{
		"Students will learn Rust.": true, "The course covers Rust Belt cities.": false,
		"Students will learn how rust forms.": false,
	} {
		if _, got := names(t, catalog.SyllabusText{Text: text})["Rust"]; got != want {
			t.Errorf("%q gives Rust: %v, want %v", text, got, want)
		}
	}
}

// TestAddressesSayNothing: the words of URLs, e-mail addresses, files and placeholders
// are not words of the text.
func TestAddressesSayNothing(t *testing.T) {
	got := considered(t, openSmall(t),
		document("See https://example.org/statistics/welding-techniques and www.thermodynamics.com.",
			"Write to sql@statistics.edu", "Open statistics.pdf and {{ page.statistics }}.", "Look into ./welding/techniques"))
	if len(got) > 0 {
		t.Errorf("%v", got)
	}
	got = considered(t, openSmall(t), document("Reading/writing/statistics"))
	if !slices.Contains(got, "statistics") {
		t.Errorf("a list with slashes: %v", got)
	}
}

// TestALicenceIsNoCourse reads the licence of this program.
func TestALicenceIsNoCourse(t *testing.T) {
	licence, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	warned := func(text string) bool {
		r := extracted(t, NewExtractor(Starter(), opened(t)), catalog.SyllabusText{Text: text})
		return slices.ContainsFunc(r.Warnings, func(w catalog.Warning) bool { return w.Code == catalog.NotACourse })
	}
	if !warned(string(licence)) {
		t.Error("the licence is taken for a course")
	}
	law := strings.Repeat("Students learn the law of contracts, licences, warranties, liability and damages, and read "+
		"agreements. ", 30)
	if warned("Business Law\n\n" + law) {
		t.Error("a course of law is taken for a contract")
	}
}

func TestExtractStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := NewExtractor(openSmall(t), opened(t)).Extract(ctx, document("Apply statistics."))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// hostile are texts of a stranger that grow by repetition.
var hostile = map[string]string{
	"risky letters":  "R C ",
	"risky lines":    "R\n",
	"one long line":  "statistics and circuit design, ",
	"brackets":       "((((",
	"dots":           "a.b.c.",
	"headings":       "Module 1\n\n",
	"acronyms":       "product lifecycle management (PLM) ",
	"levels":         "Apply statistics [K3] ",
	"addresses":      "x@y.z/",
	"combining":      "e\u0301\u0301\u0301 ",
	"outcome labels": "CO1: Design SQL and Python. ",
	"other clauses":  "Write Python; use C; ",
}

// worked is the time that the processor has spent on this program, which does not
// pass while others have it.
func worked(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano())
}

// TestWorkGrowsAsTheText grows each text tenfold and compares the work: linear work is
// ten times as much, quadratic a hundred times. The bound between lies far from both,
// and the least of several runs counts.
func TestWorkGrowsAsTheText(t *testing.T) {
	e := NewExtractor(Starter(), opened(t))
	took := func(text string) time.Duration {
		least := time.Duration(math.MaxInt64)
		for range 3 {
			before := worked(t)
			extracted(t, e, catalog.SyllabusText{Text: text})
			least = min(least, worked(t)-before)
		}
		return least
	}
	const small = 20_000
	for name, piece := range hostile {
		text := strings.Repeat(piece, small/len(piece))
		short, long := took(text), took(strings.Repeat(text, 10))
		t.Logf("%s: %v, tenfold %v", name, short, long)
		if long > 45*short+200*time.Millisecond {
			t.Errorf("%s: %d bytes take %v, ten times as many %v", name, small, short, long)
		}
	}
}

// TestWhatIsPlainlyNamedIsGiven has the sentences in which earlier engines missed what stands there.
func TestWhatIsPlainlyNamedIsGiven(t *testing.T) {
	for text, want := range map[string]string{
		"Write programs in Python (computer programming) that read and clean data.": "computer programming|Python",
		"Students will use Jupyter notebooks and git.":                              "Jupyter Notebook|Git",
		"Students will cite sources in MLA and APA style.":                          "MLA style|APA style",
		"Deploy applications to AWS using Docker and Kubernetes.":                   "Amazon Web Services|Docker|Kubernetes",
		"Take vital signs and perform venipuncture.":                                "vital signs|phlebotomy",
		"Topics: Excel, SQL, Python, Tableau, Power BI":                             "Microsoft Excel|SQL|Python|Tableau|Power BI",
		"Topics: addiction counseling, credit scores, email marketing":              "addiction counseling|credit scores|email marketing",
		"Use version control to manage code.":                                       "version control",
		"Students will use MLA citation in research papers.":                        "MLA style",
		"Advanced Excel": "Microsoft Excel",
		"Blueprint Reading\n\nDrawings of machined parts.": "blueprint reading",
	} {
		found := names(t, catalog.SyllabusText{Text: text})
		for name := range strings.SplitSeq(want, "|") {
			if _, ok := found[name]; !ok {
				t.Errorf("%q does not give %s: %v", text, name, found)
			}
		}
	}
}

// TestBoilerplateGivesNothing reads sentences about what a course runs on, alone and inside the
// description of a course, and sentences of courses that teach such things.
func TestBoilerplateGivesNothing(t *testing.T) {
	const before = "General Chemistry\n\nThis course covers atoms, bonds and reactions. "
	e := NewExtractor(Starter(), opened(t))
	for _, text := range []string{
		"Download the app from Google Play or the App Store. Android and iOS are supported.",
		"Required software: Adobe Acrobat Reader, Google Chrome and Microsoft Word.",
		"You need a computer with Windows or macOS, a webcam and Zoom.",
		"The college offers tutoring, counseling, financial aid, library services and career services.",
		"Students have access to Microsoft Office 365 for free.",
		"Your e-book works on iPhone, iPad, Android and Kindle.",
		"This work is licensed under a Creative Commons Attribution licence.",
	} {
		if found := names(t, catalog.SyllabusText{Text: text}); len(found) > 0 {
			t.Errorf("%q gives %v", text, found)
		}
		for _, ev := range extracted(t, e, catalog.SyllabusText{Text: before + text}).Evidence {
			if ev.End > len(before) {
				t.Errorf("%q in a description gives %s", text, ev.SkillID)
			}
		}
	}
	for text, want := range map[string]string{
		"Students develop apps for Android and iOS and publish them on Google Play.": "Android development",
		"The course covers the administration of Windows and Linux.":                 "Linux",
	} {
		found := names(t, catalog.SyllabusText{Text: text})
		if _, ok := found[want]; !ok {
			t.Errorf("%q does not give %s: %v", text, want, found)
		}
	}
}

// TestNoLevelIsAboveTheHighestVerb governs skills, those whose names ask to create among them,
// by verbs of every level.
func TestNoLevelIsAboveTheHighestVerb(t *testing.T) {
	e := NewExtractor(Starter(), opened(t))
	all := starterSkills()
	checked := 0
	for _, verb := range []string{"list", "explain", "use", "apply", "compare", "evaluate", "design"} {
		for i := 0; i < len(all); i += 40 {
			for _, text := range []string{
				"Students will " + verb + " " + all[i].Name + ".",
				"Course Outcomes\n\n" + verb + " techniques of " + all[i].Name + "\n" + verb + " " + all[i].Name + " in projects",
			} {
				highest := unknownLevel
				for _, g := range governors(strings.ReplaceAll(text, "\n", ". ")) {
					highest = max(highest, g.level)
				}
				for _, s := range extracted(t, e, catalog.SyllabusText{Text: text}).Skills {
					checked++
					if s.Level > highest {
						t.Errorf("%q: %s has level %d, the highest verb %d", text, s.SkillName, s.Level, highest)
					}
				}
			}
		}
	}
	if checked < 1000 {
		t.Errorf("only %d levels checked", checked)
	}
}
