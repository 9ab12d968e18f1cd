package extraction

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"skillscurriculum/pkg/catalog"
)

func TestStatementHasLevelVerbAndEvidence(t *testing.T) {
	e := NewExtractor(Starter(), opened(t))
	for _, c := range []struct {
		statement, verb, skill string
		level                  int
		source                 catalog.LevelSource
	}{
		{"Write SQL queries.", "Write", "SQL", 3, catalog.VerbLevel},
		{"Describe, apply and evaluate machine learning.", "evaluate", "machine learning", 5, catalog.VerbLevel},
		{"Design relational databases (K3)", "Design", "", 3, catalog.PrintedLevel},
		{"Explain photosynthesis [Apply]", "Explain", "", 3, catalog.PrintedLevel},
		{"Design a bridge of steel – Cognitive level: Analyse", "Design", "", 4, catalog.PrintedLevel},
		{"Python", "", "Python", 2, catalog.NoLevel},
		{"Über SQL-Abfragen: ★ write SQL queries", "write", "SQL", 3, catalog.VerbLevel},
	} {
		r, err := e.Statement(context.Background(), c.statement)
		if err != nil {
			t.Fatal(err)
		}
		verb := ""
		if r.Verb != nil {
			verb = *r.Verb
		}
		if r.Level != c.level || r.LevelSource != c.source || verb != c.verb {
			t.Errorf("%q: level %d, %s, verb %q; want %d, %s, %q", c.statement, r.Level, r.LevelSource, verb, c.level, c.source, c.verb)
		}
		if c.skill != "" && !slices.ContainsFunc(r.Skills, func(s catalog.SkillRef) bool { return s.SkillName == c.skill }) {
			t.Errorf("%q has %v, not %s", c.statement, r.Skills, c.skill)
		}
		runes := []rune(c.statement)
		for _, ev := range r.Evidence {
			if string(runes[ev.Start:ev.End]) != ev.Quote || ev.Section != "outcomes" || ev.Page != 1 {
				t.Errorf("%q: evidence %+v", c.statement, ev)
			}
		}
		if len(r.Evidence) < len(r.Skills) {
			t.Errorf("%q: %d skills with %d pieces of evidence", c.statement, len(r.Skills), len(r.Evidence))
		}
	}
}

// TestStatementIsTheOnlyBlockOfASyllabus: what would be a heading, or a line about grades, elsewhere is read.
func TestStatementIsTheOnlyBlockOfASyllabus(t *testing.T) {
	e := NewExtractor(Starter(), opened(t))
	for _, statement := range []string{"Course Policies: Python programming", "Python programming; grades and exams due"} {
		r, err := e.Statement(context.Background(), statement)
		if err != nil || len(r.Skills) == 0 {
			t.Errorf("%q has no skills, %v", statement, err)
		}
	}
}

// found returns the outcomes of a document as code, statement and level.
func found(t *testing.T, lines ...string) []string {
	t.Helper()
	doc := document(lines...)
	r := extracted(t, NewExtractor(Starter(), opened(t)), doc)
	runes := []rune(doc.Text)
	all := []string{}
	for i, o := range r.Outcomes {
		if string(runes[o.Start:o.End]) != o.Statement || o.Number != i+1 || o.Page != 1 || o.SkillIDs == nil {
			t.Errorf("outcome %+v", o)
		}
		line := fmt.Sprintf("%d %s", o.Level, o.Statement)
		if o.Code != nil {
			line = *o.Code + ": " + line
		}
		all = append(all, line)
	}
	return all
}

func TestFoundOutcomes(t *testing.T) {
	for name, c := range map[string]struct{ lines, want []string }{
		"list with a lead-in": {
			[]string{"Course", "", "Learning Outcomes", "Students will be able to:", "Explain SQL – the language", "Write Python;", "", "Topics", "Loops"},
			[]string{"2 Explain SQL – the language", "3 Write Python"},
		},
		"labels": {
			[]string{"CO 1: Explain the loop.", "CLO2 - Write programs (K3)", "SLO 3. Judge designs", "LO 4 Test code", "CO1.2: Name types"},
			[]string{"CO 1: 2 Explain the loop.", "CLO2: 3 Write programs (K3)", "SLO 3: 5 Judge designs", "LO 4: 3 Test code", "CO1.2: 1 Name types"},
		},
		"labels where outcomes are silent": {
			[]string{"Course", "", "Mapping", "CO1 | 3 | 2", "CO2 | 1 | 1"}, nil,
		},
		"CO2 is also a gas": {
			[]string{"Climate", "", "Topics", "CO2 emissions of cars", "CO2 in the sea"}, nil,
		},
		"other labels": {
			[]string{"Course", "", "Objectives", "ILO1: Explain loops", "Objective 2. Write programs", "Course Outcome 3 (CO3): Test programs"},
			[]string{"ILO1: 2 Explain loops", "Objective 2: 3 Write programs", "Course Outcome 3 (CO3): 3 Test programs"},
		},
		"table": {
			[]string{
				"Course", "", "Course Outcomes", "CO | Course Outcome | Cognitive Level | PO", "CO1 | Explain the loop | K2 | PO1, PO2",
				"CO2 | Write programs | Apply | PO3", "3 | Compare two sorts of program | K4 | PO1",
			},
			[]string{"CO1: 2 Explain the loop", "CO2: 3 Write programs", "4 Compare two sorts of program"},
		},
		"paragraph": {
			[]string{
				"Course", "", "Objectives",
				"This course has two objectives. First, students should understand loops, e.g. Those of Python. They will write programs.",
			},
			[]string{"2 First, students should understand loops, e.g. Those of Python.", "3 They will write programs."},
		},
		"numbers in a paragraph": {
			[]string{"Course", "", "Objectives", "By the end students will be able to: (1) explain loops; (2) write programs, and (3) test them."},
			[]string{"2 explain loops", "3 write programs", "3 test them."},
		},
		"a lead-in without a heading": {
			[]string{"Course", "Upon completion of this course, students will be able to:", "Explain loops", "Write programs", "The exam is in May."},
			[]string{"2 Explain loops", "3 Write programs"},
		},
		"a lead-in on the line": {
			[]string{"Course", "", "Outcomes", "Students will be able to: explain loops", "CO 2: Students will be able to: write programs"},
			[]string{"2 explain loops", "CO 2: 3 write programs"},
		},
		"a part of the outcomes": {
			[]string{"Course", "", "Course Competencies", "", "Competency 1", "The student will use loops by:", "Writing programs", "", "Competency 2", "Testing programs", "", "Staff", "Ask the tutor"},
			[]string{"3 Writing programs", "3 Testing programs"},
		},
		"another part": {
			[]string{"Course", "", "Objectives", "Explain loops", "Audience:", "Students who learn to program"},
			[]string{"2 Explain loops"},
		},
		"items of a list in parts of the outcomes need no verb": {
			[]string{
				"Course", "", "Intended Learning Outcomes", "", "What should a student remember?", "Students should be able to ...",
				"Loops. Branches", "how to test", "This list follows the book that the department chose in the year before.", "Testing rooms",
				"", "What can a student apply?", "By the end, students should be able to ...", "SQL in practice", "What else?", "",
				"Grading", "Tests",
			},
			[]string{"2 Loops. Branches", "3 how to test", "2 SQL in practice"},
		},
		"a lead-in that is an outcome": {
			[]string{"Course", "", "Competencies", "The student will write long programs with loops by:", "Encouraging others", "", "Staff", "The tutor"},
			[]string{"3 The student will write long programs with loops", "2 Encouraging others"},
		},
		"claims of learners": {
			[]string{"Course", "", "Skills", "LA.1: I can write programs.", "I can be reached on Friday.", "", "Objectives", "I can test programs"},
			[]string{"LA.1: 3 I can write programs.", "3 I can test programs"},
		},
		"what follows a list": {
			[]string{
				"Course", "", "Objectives", "Explain loops", "This course follows the standards that the board of nursing chose for all its programs.",
				"Workshop rooms", "Students will write programs", "Assigned reading:", "Draw maps",
			},
			[]string{"2 Explain loops", "3 Students will write programs"},
		},
		"sentences about the course in prose": {
			[]string{"Course", "", "Objectives", "To this end, we draw maps. Students will write programs. Computing is older than that. It is everywhere."},
			[]string{"3 Students will write programs."},
		},
		"none": {[]string{"Course", "The course explains loops."}, nil},
	} {
		if got := found(t, c.lines...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestFoundOutcomesHaveTheSkillsThatTheyMention(t *testing.T) {
	r := extracted(t, NewExtractor(Starter(), opened(t)), document("Databases", "", "Course Outcomes", "Write SQL queries", "Draw maps", "", "Topics", "SQL"))
	if len(r.Outcomes) != 2 || len(r.Outcomes[0].SkillIDs) == 0 {
		t.Fatalf("outcomes %+v", r.Outcomes)
	}
	for _, id := range r.Outcomes[0].SkillIDs {
		if !slices.ContainsFunc(r.Skills, func(s catalog.SkillRef) bool { return s.SkillID == id }) || slices.Contains(r.Outcomes[1].SkillIDs, id) {
			t.Errorf("skill %s of %+v", id, r.Outcomes)
		}
	}
}

func TestFoundOutcomesAreBounded(t *testing.T) {
	lines := []string{"Course", "", "Outcomes"}
	for i := range maxOutcomes {
		lines = append(lines, fmt.Sprintf("Explain part %d", i))
	}
	e := NewExtractor(Starter(), opened(t))
	for want, lines := range map[int][]string{0: lines, 1: append(slices.Clip(lines), "Explain one more")} {
		r := extracted(t, e, document(lines...))
		warned := slices.ContainsFunc(r.Warnings, func(w catalog.Warning) bool { return w.Code == catalog.OutcomesTruncated })
		if len(r.Outcomes) != maxOutcomes || warned != (want == 1) {
			t.Errorf("%d outcomes, warnings %v", len(r.Outcomes), r.Warnings)
		}
	}
}
