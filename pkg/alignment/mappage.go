package alignment

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// letters returns a cell as tables and pages show it: the mark, A where assessed, * where a person decided.
func (c mapCell) letters() string {
	out := ""
	if c.mark != catalog.NoMark {
		out = string(c.mark[:1])
	}
	if c.decision != nil {
		if c.decision.Assessed {
			out += "A"
		}
		out += "*"
	}
	return out
}

// label returns the code of an outcome, otherwise its number.
func label(o int, outcome catalog.Outcome) string {
	if outcome.Code != nil {
		return *outcome.Code
	}
	return strconv.Itoa(o + 1)
}

// WriteCSV writes the map as a table (RFC 4180): a row for each course, or, if long, for each cell.
func (c Curriculum) WriteCSV(w io.Writer, long bool) error {
	m := c.compute()
	out := csv.NewWriter(w)
	out.UseCRLF = true
	if long {
		return out.WriteAll(m.longRows())
	}
	header := []string{"code", "name"}
	for o, outcome := range m.outcomes {
		header = append(header, text(label(o, outcome)))
	}
	rows := [][]string{header}
	for k, course := range m.courses {
		row := []string{text(course.profile.CourseCode), text(course.profile.CourseName)}
		for o := range m.outcomes {
			// The letters are ours: no spreadsheet reads a lone * as a formula.
			row = append(row, m.cells[o][k].letters())
		}
		rows = append(rows, row)
	}
	return out.WriteAll(rows)
}

// longRows returns a row for each cell.
func (m *mapping) longRows() [][]string {
	rows := [][]string{{"outcomeId", "outcomeCode", "courseId", "courseCode", "courseName", "position", "score", "taughtLevel",
		"computed", "mark", "assessed", "decided", "note", "decidedAt", "keyId", "computedThen", "skills", "courseOutcomes"}}
	places := map[string]int{}
	for o, outcome := range m.outcomes {
		places[outcome.ID] = o
	}
	positions := map[string]int{}
	for k, course := range m.courses {
		positions[course.profile.CourseID] = k
	}
	for _, cell := range m.allCells() {
		o, k := places[cell.OutcomeID], positions[cell.CourseID]
		profile := m.courses[k].profile
		taught := ""
		if cell.TaughtLevel != nil {
			taught = strconv.Itoa(*cell.TaughtLevel)
		}
		decided := make([]string, 5)
		if d := cell.Decided; d != nil {
			decided = []string{string(d.Mark), "", d.DecidedAt.String(), text(d.KeyID), string(d.ComputedThen)}
			if d.Note != nil {
				decided[1] = text(*d.Note)
			}
		}
		var skills, outcomes []string
		for _, s := range cell.Skills {
			skills = append(skills, fmt.Sprintf("%s (%d of %d)", s.SkillName, s.TaughtLevel, s.RequiredLevel))
		}
		for _, s := range cell.CourseOutcomes {
			outcomes = append(outcomes, fmt.Sprintf("%s (%s)", s.OutcomeID, decimal(s.Similarity)))
		}
		row := []string{text(cell.OutcomeID), text(label(o, m.outcomes[o])), text(cell.CourseID), text(profile.CourseCode),
			text(profile.CourseName), strconv.Itoa(k + 1), decimal(cell.Score), taught, string(cell.Computed), string(cell.Mark),
			strconv.FormatBool(cell.Assessed)}
		rows = append(rows, append(append(row, decided...), list(skills), list(outcomes)))
	}
	return rows
}

// MapPage is a curriculum map for human readers. Package page renders it as HTML.
type MapPage struct {
	ID, Name, Code string
	Facts          []fact
	Settled        bool
	Touch, Cover   int // percent
	Outcomes       []pageOutcome
	Courses        []pageCourse
	Issues         []pageIssues
	Market         []pageMarket
	Dense, Wide    bool // so many outcomes that their columns must be narrow
}

// pageOutcome is an outcome with the courses that keep it.
type pageOutcome struct {
	Label, Statement                           string
	Level                                      int
	Introduced, Reinforced, Mastered, Assessed string
	Missing                                    string
	Decisions                                  []string
}

// pageIssues are the issues of one kind: what they are and what to do about them.
type pageIssues struct {
	Title, Todo string
	Items       []string
}

type pageMarket struct {
	Name    string
	Percent int
	Skills  []pageMarketSkill
}

type pageMarketSkill struct{ Name, Required, Taught, First string }

// advice has the title of each kind of issue, and what to do.
var advice = map[IssueKind][2]string{
	NotCovered:           {"Not covered by any course", "Add the outcome to a course, or decide a mark where a course already teaches it."},
	NotIntroduced:        {"Not introduced before it is built on", "Introduce the outcome in an earlier course, or change the order of the courses."},
	NotMastered:          {"Never completed", "Let a later course teach the outcome to its full level, or lower the level that is promised."},
	NotAssessed:          {"Not assessed", "Name the course that assesses the outcome."},
	GapInSequence:        {"Introduced, then dropped", "Take the outcome up again in a later course."},
	Repeated:             {"Repeated in most courses", "Consider which of the courses are needed for the outcome."},
	CourseWithoutOutcome: {"Courses that serve no outcome", "Relate the course to an outcome, or consider whether the program needs it."},
	CourseWithoutSkills:  {"Courses about which nothing is known", "Add a syllabus, outcomes or a description: the course is silent, not empty."},
	SkillMissing:         {"Promised skills that no course teaches", "Add the skill to a course, or correct the skills of the outcome."},
	DecisionStale:        {"Decisions to look at again", "The courses or the outcome have changed since: confirm the mark or delete the decision."},
	NoOutcomes:           {"No outcomes", "Write the outcomes of the program: the map follows from them."},
	OutcomesFailed:       {"Outcomes that could not be read", "Write them again, or give their skills and levels."},
}

// Page returns the map for human readers.
func (c Curriculum) Page() MapPage {
	m := c.compute()
	p := MapPage{
		ID: c.Program.ID, Name: c.Program.Name, Settled: c.settled(), Dense: len(m.outcomes) > 8, Wide: len(m.outcomes) > 16,
		Touch: percent(m.settings.Touch), Cover: percent(m.settings.Cover),
	}
	if c.Program.Code != nil {
		p.Code = *c.Program.Code
	}
	codes, labels, names := map[string]string{}, map[string]string{}, map[string]string{}
	for k, course := range m.courses {
		codes[course.profile.CourseID] = course.profile.CourseCode
		row := pageCourse{Code: course.profile.CourseCode, Name: course.profile.CourseName}
		for o := range m.outcomes {
			row.Cells = append(row.Cells, markCell(m.cells[o][k]))
		}
		p.Courses = append(p.Courses, row)
	}
	all := func(ids []string) string {
		named := make([]string, len(ids))
		for i, id := range ids {
			named[i] = codes[id]
		}
		return strings.Join(named, ", ")
	}
	kept := 0
	for o, s := range m.summary() {
		outcome := m.outcomes[o]
		labels[outcome.ID] = label(o, outcome)
		shown := pageOutcome{
			Label: label(o, outcome), Statement: outcome.Statement, Level: outcomeLevel(outcome),
			Reinforced: all(s.ReinforcedBy), Mastered: all(s.MasteredBy), Assessed: all(s.AssessedBy),
		}
		if s.IntroducedBy != nil {
			shown.Introduced = codes[*s.IntroducedBy]
		}
		if len(s.MasteredBy) > 0 {
			kept++
		}
		var missing []string
		for _, skill := range s.MissingSkills {
			missing, names[skill.SkillID] = append(missing, skill.SkillName), skill.SkillName
		}
		shown.Missing = strings.Join(missing, ", ")
		for k, cell := range m.cells[o] {
			if d := cell.decision; d != nil {
				line := fmt.Sprintf("%s: %s, decided %s; computed %s.", m.courses[k].profile.CourseCode, strings.ToLower(string(d.Mark)),
					d.DecidedAt.Std().Format("2 January 2006"), strings.ToLower(string(cell.now)))
				if d.Note != nil {
					line += " " + *d.Note
				}
				shown.Decisions = append(shown.Decisions, line)
			}
		}
		p.Outcomes = append(p.Outcomes, shown)
	}
	p.Facts = []fact{{"Outcomes", strconv.Itoa(len(m.outcomes))}, {"Courses", strconv.Itoa(len(m.courses))},
		{"Outcomes completed", fmt.Sprintf("%d of %d", kept, len(m.outcomes))}}
	for _, issue := range m.issues() {
		if n := len(p.Issues); n == 0 || p.Issues[n-1].Title != advice[issue.Kind][0] {
			p.Issues = append(p.Issues, pageIssues{Title: advice[issue.Kind][0], Todo: advice[issue.Kind][1]})
		}
		var about []string
		if issue.OutcomeID != nil {
			about = append(about, "Outcome "+labels[*issue.OutcomeID])
		}
		if issue.CourseID != nil {
			about = append(about, codes[*issue.CourseID])
		}
		detail := issue.Detail
		if issue.Kind == SkillMissing {
			detail = cmp.Or(names[issue.Detail], issue.Detail)
		}
		about = append(about, detail)
		last := &p.Issues[len(p.Issues)-1]
		last.Items = append(last.Items, strings.Join(about, ": "))
	}
	for _, of := range m.market() {
		shown := pageMarket{Name: of.Job.Name, Percent: percent(of.Coverage)}
		for _, s := range of.Skills {
			skill := pageMarketSkill{Name: s.SkillName, Required: strconv.Itoa(s.RequiredLevel)}
			if s.FirstTaughtIn != nil {
				skill.Taught, skill.First = strconv.Itoa(s.TaughtLevel), codes[*s.FirstTaughtIn]
			}
			shown.Skills = append(shown.Skills, skill)
		}
		p.Market = append(p.Market, shown)
	}
	return p
}

// markCell returns a cell of the heat map: its letters, and what they mean for those who hear the page.
func markCell(c mapCell) cell {
	shade := map[catalog.Mark]string{catalog.NoMark: "b0", catalog.Introduced: "b1", catalog.Reinforced: "b3", catalog.Mastered: "b5"}
	out := cell{Text: c.letters(), Class: shade[c.mark]}
	if c.mark == catalog.NoMark {
		out.Aside = "no mark"
		return out
	}
	out.Aside = ", " + strings.ToLower(string(c.mark))
	if c.decision != nil {
		if c.decision.Assessed {
			out.Aside += ", assessed"
		}
		out.Aside += ", decided by a person"
	}
	return out
}
