package alignment_test

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"testing"

	"skillscurriculum/infra/browser"
	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/alignment/page"
	"skillscurriculum/pkg/catalog"
)

// promising is a program as colleges have them. Its courses take up one outcome after the other, at rising levels:
// some outcomes are dropped, some are not taught, every seventh course is silent, and people decided some marks. words
// are what strangers wrote.
func promising(outcomes, courses int, words string) alignment.Curriculum {
	promises := []string{
		"Analyse a problem and design an algorithm and data structures that solve it", "Write, test and debug programs in more than one programming language",
		"Design relational databases and query them with SQL", "Develop and deploy web applications that keep users’ data safe",
		"Plan and carry out a software project in a team, with version control", "Evaluate the security of computers and networks",
		"Make informed judgments on the basis of legal and ethical principles", "Explain how a computer executes programs",
	}
	subjects := []string{
		"Programming Fundamentals", "Discrete Structures", "Data Structures and Algorithms", "Computer Organization", "Database Systems",
		"Web Applications", "Operating Systems", "Software Engineering", "Networks", "Information Security", "Ethics of Computing", "Capstone Project",
	}
	skill := func(o, i, level int) catalog.SkillRef {
		return catalog.SkillRef{
			SkillID: fmt.Sprintf("skill-%d-%d", o, i), SkillName: cmp.Or(words, fmt.Sprintf("design of systems %d.%d", o+1, i+1)), Level: level, Confidence: 1,
		}
	}
	c := alignment.Curriculum{
		Program: &catalog.Program{Name: cmp.Or(words, "Bachelor of Science in Computer Science"), Code: new(cmp.Or(words, "BS-CS"))},
		Basis:   alignment.BothBasis, Related: func(string) []string { return nil }, Outcomes: &catalog.OutcomeList{},
	}
	c.Program.ID = masthead.Record
	for o := range outcomes {
		of := catalog.Outcome{
			ID: fmt.Sprint("out_", o), Code: new(fmt.Sprint("PLO ", o+1)), Statement: cmp.Or(words, promises[o%len(promises)]), Level: 3 + o%2,
		}
		if words != "" {
			of.Code = new(words[:50])
		}
		for i := range 3 {
			of.Skills = append(of.Skills, skill(o, i, of.Level))
		}
		c.Outcomes.Outcomes = append(c.Outcomes.Outcomes, of)
	}
	for k := range courses {
		id, code := fmt.Sprint("crs_", k), fmt.Sprintf("CS %d", 101+k*400/courses)
		course := alignment.CurriculumCourse{Outcomes: &catalog.OutcomeList{}}
		course.Profile = catalog.CourseProfile{CourseID: id, CourseCode: code + words, CourseName: cmp.Or(words, subjects[k%len(subjects)])}
		section := catalog.SectionProfile{CourseProfile: course.Profile, SectionID: "sec_" + id}
		for o := range outcomes {
			if (k*5+o*3)%11 > 2 || k%7 == 6 || o%9 == 8 {
				continue
			}
			for i := range 1 + (k+o)%3 {
				if o%5 == 4 && i == 2 {
					continue
				}
				taught := skill(o, i, 1+min(k*5/courses, 3))
				section.SectionSkills = append(section.SectionSkills, taught)
				course.Quotes = append(course.Quotes, catalog.Evidence{SkillID: taught.SkillID, Quote: cmp.Or(words,
					fmt.Sprintf("Students will design, implement and compare systems of kind %d in laboratories, and explain what each of them costs.", i+1))})
			}
		}
		if k%3 == 1 {
			course.Outcomes.Outcomes = []catalog.Outcome{{
				ID: "out_" + id, Statement: cmp.Or(words, "Compare designs and defend the choice of one"), Level: 4, Skills: []catalog.SkillRef{skill(k%outcomes, 0, 4), skill(k%outcomes, 1, 4)},
			}}
		}
		course.Sections = []catalog.SectionProfile{section}
		c.Courses = append(c.Courses, course)
		if k%4 == 3 {
			outcome := c.Outcomes.Outcomes[(k/2)%outcomes]
			c.Decisions = append(c.Decisions, catalog.MapDecision{OutcomeID: outcome.ID, CourseID: id, Assessed: true, Statement: outcome.Digest(), DecidedMark: catalog.DecidedMark{
				Mark: catalog.Reinforced, DecidedAt: masthead.Made, Note: new(cmp.Or(words, "The project is graded by the committee’s rubric.")), ComputedThen: catalog.Introduced,
			}})
		}
	}
	c.Jobs = []alignment.JobProfile{{Lib: "soc", JobID: "15-1252", JobName: cmp.Or(words, "Software Developers"), SkillRequirements: []catalog.SkillRef{skill(0, 0, 4), skill(1, 1, 3), skill(90, 0, 2)}}}
	return c
}

func mapPage(t testing.TB, c alignment.Curriculum) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := (page.Pages{}).Map(&b, masthead, c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A map is printed on landscape sheets without cut columns, in tables of at most 20 outcomes, and its first sheet has
// the whole map of 12 outcomes and 20 courses.
func TestMapPageAtEverySize(t *testing.T) {
	tab := browser.Start(t).Page(t, 1280, 900)
	for _, size := range [][2]int{{4, 8}, {12, 8}, {12, 20}, {12, 60}, {40, 20}, {60, 8}, {100, 60}} {
		name := fmt.Sprintf("map-%dx%d", size[0], size[1])
		tab.Show(mapPage(t, promising(size[0], size[1], "")))
		for paper, measures := range browser.Papers {
			pdf := tab.Print(measures)
			keep(t, fmt.Sprintf("%s-%s.pdf", name, paper), func() []byte { return pdf })
			wide, high := 0.0, 0.0
			if _, box, ok := strings.Cut(string(pdf), "/MediaBox [0 0 "); !ok {
				t.Fatal("no sheet")
			} else if fmt.Sscan(box, &wide, &high); wide <= high {
				t.Errorf("%s is printed on %s of %v by %v", name, paper, wide, high)
			}
			// What the table needs must fit what the sheet has: 8 mm of margin on both sides.
			sheet, needs := int((wide-2*8/25.4*72)/72*96), 0
			tab.Size(sheet, 900)
			tab.Do("Emulation.setEmulatedMedia", map[string]any{"media": "print"}, nil)
			tab.Eval(`Math.max(...[...document.querySelectorAll(".marks")].map((e) => e.scrollWidth))`, &needs)
			// Every table has all courses under heads that each sheet repeats, in letters that can be read.
			var faults []string
			tab.Eval(fmt.Sprintf(`[...document.querySelectorAll(".marks")].flatMap((table) => [
				table.tHead.rows[0].cells.length <= 21 && getComputedStyle(table.tHead).display === "table-header-group" ? "" : "head",
				table.tBodies[0].rows.length === %d ? "" : "courses", ...[...table.querySelectorAll("th, td, .code")].map((e) =>
					parseFloat(getComputedStyle(e).fontSize) < 7 * 96 / 72 ? "small " + e.outerHTML : e.scrollWidth > e.clientWidth + 1 && e.clientWidth ? "cut " + e.outerHTML : ""),
			]).filter(Boolean).slice(0, 5)`, size[1]), &faults)
			if len(faults) > 0 {
				t.Errorf("%s on %s: %q", name, paper, faults)
			}
			columns := 0
			if tab.Eval(`[...document.querySelectorAll(".marks thead th:not(:first-child)")].length`, &columns); columns != size[0] {
				t.Errorf("%s prints %d outcomes", name, columns)
			}
			tab.Do("Emulation.setEmulatedMedia", map[string]any{"media": ""}, nil)
			if needs > sheet {
				t.Errorf("%s needs %d of %d on %s", name, needs, sheet, paper)
			}
		}
		if size[0] > 12 { // else the picture is too large for the browser
			tab.Eval(`document.querySelectorAll(".outcome").forEach((e) => e.remove())`, nil)
		}
		for _, width := range []int{390, 1280} {
			tab.Size(width, 900)
			keep(t, fmt.Sprintf("%s-%d.png", name, width), tab.Picture)
		}
	}
}

// A page says what is wrong in plain words, quotes at most two sentences for a cell, and is never too large.
func TestMapPageSaysWhy(t *testing.T) {
	c := promising(12, 20, "")
	c.Courses[0].Quotes = append(c.Courses[0].Quotes, catalog.Evidence{SkillID: "skill-0-0", Quote: "A third sentence."})
	shown := mapPage(t, c)
	for _, text := range []string{
		"Hill &lt;College&gt;", "Bachelor of Science in Computer Science", "23 November 2026", "counter(page) \" of \" counter(pages)",
		"No course teaches it", "Built on before it is introduced", "<bdi>PLO 2, CS 121</bdi>: <bdi>Its first mark is mastered.</bdi>",
		"Computed introduced when it was decided, no mark now.", "Course outcome:</span> Compare designs", "Students will design",
		"Decided 23 November 2026; computed no mark. The project is graded", "All courses together", "67%</strong> covered",
	} {
		if !strings.Contains(shown, text) {
			t.Errorf("lacks %q", text)
		}
	}
	if strings.Contains(shown, "A third sentence.") {
		t.Error("quotes more than one sentence for a skill")
	}
	for _, why := range strings.Split(shown, `<div class="quotes">`)[1:] {
		why, _, _ = strings.Cut(why, "</div>")
		if n := strings.Count(why, "<q>"); n < 1 || n > 2 {
			t.Errorf("%d quotes in %q", n, why)
		}
	}
	large := largeCurriculum(100, 200, 6)
	for k := range large.Courses {
		for _, s := range large.Courses[k].Sections[0].SectionSkills {
			large.Courses[k].Quotes = append(large.Courses[k].Quotes, catalog.Evidence{SkillID: s.SkillID, Quote: s.SkillID + strings.Repeat(" words", 100)})
		}
	}
	if shown := mapPage(t, large); len(shown) > 5_500_000 || !strings.Contains(shown, "more courses are left out here") {
		t.Errorf("a page of %d bytes", len(shown))
	}
}
