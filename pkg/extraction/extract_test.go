package extraction

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/skills"
)

func document(lines ...string) catalog.SyllabusText {
	return catalog.SyllabusText{Text: strings.Join(lines, "\n")}
}

// opened opens the word vectors of the program; package wordvectors, which embeds
// them, imports this one.
func opened(t testing.TB) *Words {
	t.Helper()
	words, err := openTable()
	if err != nil {
		t.Fatal(err)
	}
	return words
}

var openTable = sync.OnceValues(func() (*Words, error) {
	file, err := os.ReadFile("wordvectors/words.bin")
	if err != nil {
		return nil, err
	}
	return OpenWords(file)
})

// extracted extracts without a deadline.
func extracted(t testing.TB, e *Extractor, doc catalog.SyllabusText) catalog.ExtractionResult {
	t.Helper()
	r, err := e.Extract(context.Background(), doc)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// considered returns the names of the skills that a text may teach, whatever their confidence.
func considered(t *testing.T, tax *skills.Taxonomy, doc catalog.SyllabusText) []string {
	t.Helper()
	var names []string
	for _, c := range NewExtractor(tax, opened(t)).Candidates(doc) {
		name, _ := tax.Name(c.SkillID)
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// course is long enough to be a document.
func course(lines ...string) catalog.SyllabusText {
	filler := "The course meets twice a week in the main building and every group brings its own notes to the room. "
	return document(append(lines, "", "About the course", strings.Repeat(filler, 8))...)
}

func TestSections(t *testing.T) {
	doc := `Introduction to Welding

Credits 15 Level 5 Semester 2
Students weld steel

Course type: Theory · Credits: 2
Prerequisites: statistics and calculus

Course Objectives
Explain thermodynamics

Course Outcomes:
CO 1: Apply welding
Design circuits

Module 1: Metals
Types of metals

UNIT II
Electronics
Introduction
6 | Midterm
7 | Circuits
Midterm exam
Diodes

Text Books
Smith, J., Statistics for All, Wiley, 2015

Assessment
Quizzes on algorithms 20 marks

Course Content
Algorithms
teacher@example.org, office hours Monday
Shannon, C., Communication, Oxford University Press, 1999, 2nd ed.

Grading Policy
Half of the grade is a report.

Learning Unit 7: Communication and Advocacy
Listening to clients

Title IX
Report to the office.

content_type: page title: Calendar
1 | Injection Molding

Recording
Lectures are recorded.

Where Sediment and Ice Go
Glaciers`
	want := []string{
		"title Introduction to Welding", "policy Credits 15 Level 5 Semester 2", "other Students weld steel",
		"policy Course type: Theory · Credits: 2",
		"prerequisites Prerequisites: statistics and calculus",
		"outcomes Course Objectives", "outcomes Explain thermodynamics", "outcomes Course Outcomes:",
		"outcomes Apply welding", "outcomes Design circuits",
		"topics Module 1: Metals", "topics Types of metals", "topics UNIT II", "topics Electronics",
		"topics Introduction", "policy 6 | Midterm", "topics 7 | Circuits", "policy Midterm exam", "topics Diodes", "readings Text Books",
		"readings Smith, J., Statistics for All, Wiley, 2015",
		"policy Assessment", "policy Quizzes on algorithms 20 marks", "topics Course Content", "topics Algorithms",
		"policy teacher@example.org, office hours Monday",
		"readings Shannon, C., Communication, Oxford University Press, 1999, 2nd ed.",
		"policy Grading Policy", "policy Half of the grade is a report.",
		"topics Learning Unit 7: Communication and Advocacy", "topics Listening to clients",
		"policy Title IX", "policy Report to the office.",
		"topics content_type: page title: Calendar", "topics 1 | Injection Molding",
		"policy Recording", "policy Lectures are recorded.",
		"other Where Sediment and Ice Go", "other Glaciers",
	}
	names := [sections]string{"other", "title", "outcomes", "topics", "description", "readings", "prerequisites", "policy"}
	var got []string
	for _, b := range blocks(doc) {
		got = append(got, names[b.section]+" "+doc[b.start:b.end])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMarkersAreNoText(t *testing.T) {
	for line, want := range map[string]string{
		"- item": "item", "* **bold** item": "bold** item", "1. first": "first", "2) second": "second",
		"(a) third": "third", "iv. fourth": "fourth", "1.2 fifth": "fifth", "• dot": "dot", "CO3: sixth": "sixth",
		"co 1: seventh": "seventh", "**CO2**: eighth": "eighth", "## Heading": "Heading", "plain": "plain",
	} {
		text := "Title\n\n\n" + line + "\nend"
		all := blocks(text)
		if got := text[all[1].start:all[1].end]; got != want {
			t.Errorf("%q gives %q, want %q", line, got, want)
		}
	}
}

func TestFrontMatterGivesOnlyTheTitle(t *testing.T) {
	text := "---\ncountry: \"india\"\ncourse_title: \"statistics\"\n---\n\nOverview\nnothing"
	all := blocks(text)
	if len(all) != 3 || all[0].section != title || text[all[0].start:all[0].end] != `"statistics"` {
		t.Errorf("%+v", all)
	}
}

func TestSilentSectionsGiveNothing(t *testing.T) {
	tax := openSmall(t)
	got := considered(t, tax, course("Introduction", "", "Prerequisites: statistics", "", "Grading",
		"Welding techniques 20 marks", "", "Course content", "thermodynamics"))
	if diff := cmp.Diff([]string{"thermodynamics"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestCandidates(t *testing.T) {
	tax := openSmall(t)
	for text, want := range map[string][]string{
		"Write C++, not C#":                                {"C++"},
		"The C language":                                   {"C"},
		"Vitamin C and point C of the figure":              nil,
		"Students go to the lab; they code":                nil,
		"Services in Go and Python":                        {"Go (programming language)"},
		"Students will learn Go.":                          {"Go (programming language)"},
		"Introduction to Go":                               {"Go (programming language)"},
		"We will use Go for homework":                      {"Go (programming language)"},
		"Introduction to Go openings":                      nil,
		"The course covers Go openings":                    nil,
		"Students learn Go in the Games Room":              nil,
		"Students go, learn and go":                        nil,
		"We use .NET and asp.net":                          {".NET"},
		"Built on . NET by us":                             {".NET"},
		"node.js, NodeJS and Node.js":                      {"Node.js"},
		"Structured Query Languages":                       {"SQL"},
		"Thermodynamic laws":                               {"thermodynamics"},
		"circuit analysis and design":                      {"circuit design", "electronics"}, // coordination, in any order
		"design and test software":                         {"test software"},
		"Design of electronic circuits":                    {"electronics"}, // which a label that fills it says
		"techniques of welding":                            {"welding techniques"},
		"welding":                                          {"welding techniques"}, // techniques says little
		"techniques":                                       nil,
		"Circuits are shown; the design is another matter": nil,
		"product lifecycle management (PLM)":               {"product lifecycle management"},
	} {
		if diff := cmp.Diff(want, considered(t, tax, document(text)), cmpEmpty); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

var cmpEmpty = cmp.Transformer("empty", func(s []string) []string { return append([]string{}, s...) })

func TestAcronymsStandForTheirLongForm(t *testing.T) {
	tax := openSmall(t)
	r := NewExtractor(tax, opened(t)).Candidates(document("Explain product lifecycle management (PLM).",
		"Apply PLM to machines.", "The plm file"))
	for _, c := range r {
		if c.SkillID == "x:plm" {
			i := slices.Index(FeatureNames(), "repetition")
			if c.Features[i] == 0 {
				t.Error("the short form was not counted")
			}
			return
		}
	}
	t.Error("the long form was not found")
}

func TestWordsAreFolded(t *testing.T) {
	for _, same := range [][]string{
		{"analyse", "analyze", "analysis", "analytical", "analysing"}, {"colour", "color", "colours"},
		{"fibre", "fiber", "fibres"},
		{"modelling", "modeling"}, {"optimisation", "optimization", "optimise"}, {"NodeJS", "node.js"},
		{"chemistry", "chemical"}, {"ethics", "ethical"}, {"data", "datum"},
	} {
		for _, w := range same[1:] {
			if fold(w) != fold(same[0]) {
				t.Errorf("%s is %q, %s is %q", w, fold(w), same[0], fold(same[0]))
			}
		}
	}
	for _, apart := range [][2]string{
		{"engine", "engineering"}, {"physics", "physical"}, {"mechanism", "mechanics"}, {"marketing", "market"},
		{"security", "securities"}, {"c", "c++"}, {"university", "universe"},
	} {
		if fold(apart[0]) == fold(apart[1]) {
			t.Errorf("%s and %s are both %q", apart[0], apart[1], fold(apart[0]))
		}
	}
}

func TestParentGivesWayToChild(t *testing.T) {
	clause := []mention{
		{skill: 1, tokens: 0b0110, strength: 2},
		{skill: 2, tokens: 0b0010, strength: 1},
		{skill: 3, tokens: 0b1000, strength: 0.5},
	}
	compete(clause)
	if clause[0].beaten || !clause[1].beaten || clause[2].beaten {
		t.Errorf("beaten: %v %v %v", clause[0].beaten, clause[1].beaten, clause[2].beaten)
	}
	if clause[0].share != 1 || clause[1].share != 0.5 || clause[2].share != 1 {
		t.Errorf("share: %v %v %v", clause[0].share, clause[1].share, clause[2].share)
	}
}

func TestLevels(t *testing.T) {
	for text, want := range map[string]int{
		"List the parts of a pump":                                1,
		"Recall the role of engineers and relate the disciplines": 2,
		"Explain the principles of surveying":                     2,
		"Apply statistics to data":                                3,
		"Students will be able to apply statistics":               3,
		"Analyse networks":                                        4,
		"Analyze and implement rendering":                         4,
		"Perform a kinematic analysis of robots":                  4,
		"Evaluate energy policies":                                5,
		"Create technical presentations":                          5,
		"Develop web applications":                                5,
		"Develop simple web applications":                         3,
		"Understand random variables and apply them":              3,
		"Identify suitable joining processes":                     3,
		"Design algorithms for searching":                         3,
		"Working with sketches of pumps":                          3,
		"Pumps and turbines":                                      2,
		"Explain machine design (K3)":                             3,
		"Explain machine design [K1, K4]":                         4,
		"Explain pumps (Cognitive Knowledge Level: Apply)":        3,
		"Explain pumps. Cognitive level: Understand & Apply":      3,
		"Define pumps. Bloom's level: Analyse":                    4,
		"Design an algorithm. (Create)":                           5,
		"Discuss pumps [K6]":                                      5,
		"CO4 | Discuss pumps | K2":                                2,
		"To enable the students to understand pumps":              2,
		"This course teaches students to analyse pumps":           4,
		"Design: pumps":                                           2,
		"Explain K3 surfaces in algebra":                          2,
	} {
		if got, verb := LevelOf(text); got != want {
			t.Errorf("%q: level %d, want %d (verb %q)", text, got, want, verb)
		}
	}
}

func TestNamesBeginWithVerbs(t *testing.T) {
	for name, want := range map[string]int{"analyse stress resistance of materials": 4, "think critically": 4,
		"assess risks": 5, "human anatomy": 0, "design": 0,
		"design circuit boards": 5, "develop animations": 5, "think creatively": 5, "use a computer": 3} {
		if _, got := ownVerb(name); got != want {
			t.Errorf("%q: level %d, want %d", name, got, want)
		}
	}
}

func TestLevelIsTheHighestOverMentionsAndPrintedOnesWin(t *testing.T) {
	tax := openSmall(t)
	find := func(id string, lines []string) int {
		e := NewExtractor(tax, opened(t))
		text := strings.Join(lines, "\n")
		x := e.begin(text, blocks(text))
		defer e.end(x)
		if err := x.tokenize(t.Context()); err != nil {
			t.Fatal(err)
		}
		findings, err := x.findings(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			if e.t.ID(int(f.skill)) == id {
				level, shown := x.level(f)
				if len(shown) == 0 {
					t.Fatal("nothing is shown")
				}
				return level
			}
		}
		t.Fatalf("not found in %q", lines)
		return 0
	}
	for _, c := range []struct {
		name, id string
		want     int
		lines    []string
	}{
		{"highest over mentions", "x:thermo", 4, []string{
			"Title", "", "Course outcomes", "Explain thermodynamics.", "Analyse problems of thermodynamics.", "", "Topics",
			"Thermodynamics",
		}},
		{"printed", "x:thermo", 3, []string{
			"Title", "", "Course outcomes", "Explain thermodynamics. (K3)", "Evaluate problems of thermodynamics.",
		}},
		{"no verb", "x:thermo", unknownLevel, []string{"Title", "", "Topics", "Thermodynamics"}},
		{"gerund of a subject", "x:thermo", 3, []string{"Title", "", "Topics", "Applying thermodynamics"}},
		{"a means", "x:thermo", applied, []string{
			"Title", "", "Course outcomes", "Create plans of engines using thermodynamics.",
		}},
		{"made of it", "x:thermo", applied, []string{"Title", "", "Course outcomes", "Compose thermodynamics."}},
		{"judged", "x:thermo", 5, []string{"Title", "", "Course outcomes", "Criticise thermodynamics."}},
		{"another sentence's verb", "x:thermo", unknownLevel, []string{
			"Title", "", "Description", "Students evaluate engines. They meet thermodynamics, too.",
		}},
		{"another sentence's verb, of the same outcome", "x:thermo", 5, []string{
			"Title", "", "Course outcomes", "Evaluate engines: power, losses and thermodynamics",
		}},
		{"near its verb in a description", "x:thermo", 3, []string{
			"Title", "", "Description", "This course teaches students to apply thermodynamics.",
		}},
		{"far from its verb in a description", "x:thermo", unknownLevel, []string{
			"Title", "", "Description", "Students will apply the many things that were found in the age of steam to " +
				"thermodynamics.",
		}},
		{"far from its verb in an outcome", "x:thermo", 3, []string{
			"Title", "", "Course outcomes", "Apply the many things that were found in the age of steam to thermodynamics.",
		}},
		{"something done, in a description", "x:testsw", 3, []string{
			"Title", "", "Description", "Software testing is at the heart of the course.",
		}},
	} {
		if got := find(c.id, c.lines); got != c.want {
			t.Errorf("%s: level %d, want %d", c.name, got, c.want)
		}
	}
}

func TestResult(t *testing.T) {
	tax := openSmall(t)
	doc := document("Mechanical engineering\n\nCourse Outcomes\nApply thermodynamics to engines.\n\nModule " +
		"1\nthermodynamics, welding techniques")
	doc.Pages = []int{0, strings.Index(doc.Text, "Module")}
	r := extracted(t, NewExtractor(tax, opened(t)), doc)
	if len(r.Skills) == 0 {
		t.Fatal("nothing found")
	}
	for i, s := range r.Skills {
		if i > 0 && (r.Skills[i-1].Confidence < s.Confidence || r.Skills[i-1].Confidence == s.Confidence &&
			r.Skills[i-1].Level < s.Level) {
			t.Error("not ordered by confidence, then level")
		}
		if name, _ := tax.Name(s.SkillID); name != s.SkillName {
			t.Errorf("%+v", s)
		}
	}
	for _, e := range r.Evidence {
		if e.SkillID == "x:weld" && (e.Page != 2 || e.Section != "topics" || e.Label != "welding techniques") {
			t.Errorf("%+v", e)
		}
	}
	if r.Warnings == nil || r.Evidence == nil {
		t.Error("lists must not be nil")
	}
}

// checkResult holds a result to what must always be so.
func checkResult(tax *skills.Taxonomy, doc catalog.SyllabusText, r catalog.ExtractionResult) error {
	text := []rune(doc.Text)
	shown := map[string]bool{}
	for _, e := range r.Evidence {
		if e.Start < 0 || e.Start >= e.End || e.End > len(text) || string(text[e.Start:e.End]) != e.Quote {
			return fmt.Errorf("the quote %q does not stand at %d..%d", e.Quote, e.Start, e.End)
		}
		if e.Page < 1 || e.Label == "" || !slices.Contains([]string{
			"outcomes", "topics", "description", "readings", "other",
		}, e.Section) {
			return fmt.Errorf("evidence %+v", e)
		}
		shown[e.SkillID] = true
	}
	seen := map[string]bool{}
	for _, s := range r.Skills {
		if s.Level < 1 || s.Level > 5 || s.Confidence <= 0 || s.Confidence > 1 || !shown[s.SkillID] || seen[s.SkillID] {
			return fmt.Errorf("skill %+v", s)
		}
		if text := fmt.Sprint(s.Confidence); len(text) > len("0.1234") {
			return fmt.Errorf("confidence %s has more than four decimals", text)
		}
		if _, ok := tax.Name(s.SkillID); !ok {
			return fmt.Errorf("%s is not in the taxonomy", s.SkillID)
		}
		seen[s.SkillID] = true
	}
	if len(shown) != len(seen) {
		return fmt.Errorf("evidence of %d skills, %d skills", len(shown), len(seen))
	}
	return nil
}

func TestQuotesStandInTheText(t *testing.T) {
	tax := Starter()
	e := NewExtractor(tax, opened(t))
	parts := []string{"Apply statistics to data", "Course Outcomes", "Module 1: algorithms and data structures",
		"naïve café — 数学 and thermodynamics", "- C++, C# and node.js;",
		"𝒳 machine learning 🙂 project management",
		"| CO1 | Analyse financial statements | K4 |", "", "References", "Prerequisites: SQL", "Évaluer marketing",
		"1. Write technical reports (K3)", "Explain accounting, budgeting & cost control.",
		"\u0301odd marks: communication skills", "Design, build and test software"}
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom(parts), 1, 30).Draw(rt, "lines")
		doc := catalog.SyllabusText{Text: norm.NFC.String(strings.Join(lines, "\n"))}
		if err := checkResult(tax, doc, extracted(t, e, doc)); err != nil {
			rt.Fatal(err)
		}
	})
}

func TestRunsAreIdentical(t *testing.T) {
	tax := Starter()
	e := NewExtractor(tax, opened(t))
	doc := course("Data Science", "", "Course Outcomes", "Apply statistics and machine learning in Python.",
		"Analyse data with SQL.", "", "Module 1", "Databases, algorithms, probability, data visualization")
	other := document("Explain welding and thermodynamics")
	want, err := json.Marshal(extracted(t, e, doc))
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 20 {
				extracted(t, e, other)
				got, err := json.Marshal(extracted(t, e, doc))
				if err != nil || string(got) != string(want) {
					t.Errorf("another run differs: %v\n%s\n%s", err, want, got)
					return
				}
			}
		})
	}
	wait.Wait()
}

func FuzzExtract(f *testing.F) {
	tax := Starter()
	e := NewExtractor(tax, opened(f))
	f.Add("Course Outcomes\n\nApply statistics (K3)\nModule 1\nC++ [cite: 3]")
	f.Add("---\ncourse_title: sql\n---\n# x\n**CO1**: Design and test software\n\n")
	f.Add("Product lifecycle management (PLM). PLM; e-commerce – .NET . NET node.js \u0301")
	f.Fuzz(func(t *testing.T, text string) {
		text = norm.NFC.String(strings.ToValidUTF8(text, "\ufffd"))
		doc := catalog.SyllabusText{Text: text}
		if err := checkResult(tax, doc, extracted(t, e, doc)); err != nil {
			t.Fatal(err)
		}
	})
}

func TestLabelledSyllabusKeepsItsFigures(t *testing.T) {
	tax := openESCO(t)
	r := extracted(t, NewExtractor(tax, opened(t)), document("Introduction to Robotics", "",
		"Course Outcomes", "Select sensors and actuators for robots.", "Perform kinematic analysis of robots.",
		"Design and control a simple robot.", "",
		"Course Content", "Robot anatomy, end effectors, degrees of freedom", "Sensors: position, velocity, tactile sensors",
		"Robot control: open-loop and closed-loop systems, transfer functions",
		"Embedded systems: microcontroller architecture, interfacing of sensors",
		"Electric motors: stepper motor, servo motor",
		strings.Repeat("The laboratory is open to all groups during the afternoon. ", 10)))
	var names []string
	for _, s := range r.Skills {
		names = append(names, s.SkillName)
	}
	for _, want := range []string{"robotics", "sensors", "control engineering", "embedded systems", "electric motors"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing from %q", want, names)
		}
	}
}

func BenchmarkExtract(b *testing.B) {
	tax := Starter()
	e := NewExtractor(tax, opened(b))
	doc := course("Data Science", "", "Course Outcomes", "Apply statistics and machine learning in Python.", "",
		"Module 1", "Databases, algorithms, probability")
	b.ReportAllocs()
	for b.Loop() {
		extracted(b, e, doc)
	}
}
