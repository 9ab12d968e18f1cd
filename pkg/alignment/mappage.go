package alignment

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
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
func (m *mapping) label(o int) string { return catalog.ValueOr(m.outcomes[o].Code, strconv.Itoa(o+1)) }

// WriteCSV writes the map as a table (RFC 4180): a row for each course, or, if long, for each cell.
func (c Curriculum) WriteCSV(w io.Writer, long bool) error {
	m := c.compute()
	out := csv.NewWriter(w)
	out.UseCRLF = true
	if long {
		return out.WriteAll(m.longRows())
	}
	header := []string{"code", "name"}
	for o := range m.outcomes {
		header = append(header, text(m.label(o)))
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
	rows := [][]string{{"outcomeId", "outcomeCode", "courseId", "courseCode", "courseName", "position", "score",
		"taughtLevel",
		"computed", "mark", "assessed", "decided", "note", "decidedAt", "keyId", "computedThen", "skills", "courseOutcomes"}}
	for _, cell := range m.allCells() {
		o, k := m.outcomeAt[cell.OutcomeID], m.courseAt[cell.CourseID]
		profile := m.courses[k].profile
		taught := ""
		if cell.TaughtLevel != nil {
			taught = strconv.Itoa(*cell.TaughtLevel)
		}
		decided := make([]string, 5)
		if d := cell.Decided; d != nil {
			decided = []string{
				string(d.Mark), text(valueOf(d.Note)), d.DecidedAt.String(), text(d.KeyID), string(d.ComputedThen),
			}
		}
		var skills, outcomes []string
		for _, s := range cell.Skills {
			skills = append(skills, fmt.Sprintf("%s (%d of %d)", s.SkillName, s.TaughtLevel, s.RequiredLevel))
		}
		for _, s := range cell.CourseOutcomes {
			outcomes = append(outcomes, fmt.Sprintf("%s (%s)", s.OutcomeID, decimal(s.Similarity)))
		}
		row := []string{text(cell.OutcomeID), text(m.label(o)), text(cell.CourseID), text(profile.CourseCode),
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
	Basis          string
	Touch, Cover   int // percent
	Outcomes       []pageOutcome
	Tables         []pageTable // none without outcomes or courses
	Issues         []pageIssues
	Market         []MapMarket
	Dense, Wide    bool // so many outcomes that their columns must be narrow

	mapping *mapping
}

// CodeOf returns the code of a course.
func (p MapPage) CodeOf(courseID string) string { return p.mapping.code(courseID) }

// Percent returns a score in whole percent.
func (MapPage) Percent(score float64) int { return percent(score) }

// pageTable is the part of the map that a sheet has room for: all courses, and some of the outcomes.
type pageTable struct {
	Title   string // "" if the map is one table
	Labels  []string
	Courses []pageCourse
	Best    []cell // the highest mark of each outcome
}

// maxColumns is the number of outcomes that a landscape sheet has room for.
const maxColumns = 20

// pageOutcome is an outcome with the courses that keep it. Left is the number of courses that are left out because the
// page would be too large.
type pageOutcome struct {
	Label, Statement, Level, Missing string
	Marks                            []pageMark
	Left                             int
}

// pageMark is the mark of a course for an outcome, and why it has it.
type pageMark struct {
	Code, Name, Basis, Decision, Promise, Teaches string
	Mark                                          cell
	Quotes                                        []string
}

// pageIssues are the issues of one kind.
type pageIssues struct {
	advice
	Items []pageIssue
}

// pageIssue is an issue: the outcome and course that it is about, and what was found.
type pageIssue struct{ About, Detail string }

// advice says what a kind of issue is and what to do about it.
type advice struct {
	Kind        IssueKind
	Title, Todo string
	Short       bool // the names of outcome and course say all; many fit on a line
}

// advices has the kinds in the order in which a map lists them.
var advices = []advice{
	{NotCovered, "No course teaches it", "Add the outcome to a course, or decide a mark where a course " +
		"already teaches it.", true},
	{NotIntroduced, "Built on before it is introduced", "Introduce the outcome in an earlier course, or change " +
		"the order of the courses.", false},
	{NotMastered, "Never mastered", "Let a later course teach the outcome to its full level, or lower the " +
		"level that is promised.", true},
	{NotAssessed, "Not assessed", "Name the course that assesses the outcome.", true},
	{GapInSequence, "Introduced, then dropped", "Take the outcome up again in a later course.", false},
	{Repeated, "Repeated in most courses", "Consider which of the courses are needed for the outcome.", false},
	{CourseWithoutOutcome, "Courses that serve no outcome", "Relate the course to an outcome, or consider whether the " +
		"program needs it.", true},
	{CourseWithoutSkills, "Courses about which nothing is known", "Add a syllabus, outcomes or a description: the " +
		"course is silent, not empty.", true},
	{SkillMissing, "Promised skills that no course teaches", "Add the skill to a course, or correct the skills " +
		"of the outcome.", false},
	{DecisionStale, "Decisions to look at again", "The courses or the outcome have changed since: confirm the " +
		"mark or delete the decision.", false},
	{NoOutcomes, "No outcomes", "Write the outcomes of the program: the map follows from them.", true},
	{OutcomesFailed, "Outcomes that could not be read", "Write them again, or give their skills and levels.", true},
}

func adviceAt(kind IssueKind) int {
	return slices.IndexFunc(advices, func(a advice) bool { return a.Kind == kind })
}

// maxMarks is the number of bytes that the marks of all outcomes may take on a page, about.
const maxMarks = 2_500_000

// Page returns the map for human readers.
func (c Curriculum) Page() MapPage {
	m := c.compute()
	p := MapPage{
		ID: c.Program.ID, Name: c.Program.Name, Code: valueOf(c.Program.Code), Settled: c.settled(),
		Dense: len(m.outcomes) > 6, Wide: len(m.outcomes) > 14,
		Basis: c.Basis, Touch: percent(m.settings.Touch), Cover: percent(m.settings.Cover),
		Market: m.market(), mapping: m,
	}
	kept := 0
	for o := range m.outcomes {
		if m.best(o) == catalog.Mastered {
			kept++
		}
	}
	p.Tables = m.pageTables()
	p.Outcomes = m.pageOutcomes()
	p.Issues = m.pageIssues()
	issues := 0
	for _, kind := range p.Issues {
		issues += len(kind.Items)
	}
	p.Facts = []fact{
		{"Outcomes", strconv.Itoa(len(m.outcomes))}, {"Courses", strconv.Itoa(len(m.courses))},
		{"Outcomes mastered", fmt.Sprintf("%d of %d", kept, len(m.outcomes))}, {"Points to look at", strconv.Itoa(issues)},
	}
	return p
}

// pageTables returns the map in tables of about as many outcomes each.
func (m *mapping) pageTables() (all []pageTable) {
	if len(m.outcomes) == 0 || len(m.courses) == 0 {
		return nil
	}
	tables := (len(m.outcomes) + maxColumns - 1) / maxColumns
	for i := range tables {
		from, to := len(m.outcomes)*i/tables, len(m.outcomes)*(i+1)/tables
		var t pageTable
		if tables > 1 {
			t.Title = fmt.Sprintf("Outcomes %d to %d of %d", from+1, to, len(m.outcomes))
		}
		for o := from; o < to; o++ {
			t.Labels = append(t.Labels, m.label(o))
			t.Best = append(t.Best, markCell(mapCell{mark: m.best(o)}))
		}
		for k, course := range m.courses {
			row := pageCourse{Code: course.profile.CourseCode, Name: course.profile.CourseName}
			for o := from; o < to; o++ {
				row.Cells = append(row.Cells, markCell(m.cells[o][k]))
			}
			t.Courses = append(t.Courses, row)
		}
		all = append(all, t)
	}
	return all
}

// best returns the highest mark of an outcome.
func (m *mapping) best(o int) catalog.Mark {
	rank := []catalog.Mark{catalog.NoMark, catalog.Introduced, catalog.Reinforced, catalog.Mastered}
	best := 0
	for _, cell := range m.cells[o] {
		best = max(best, slices.Index(rank, cell.mark))
	}
	return rank[best]
}

// pageOutcomes returns the outcomes, each with the courses that have a mark or a decision for it.
func (m *mapping) pageOutcomes() []pageOutcome {
	var all []pageOutcome
	m.teachAll()
	for o, outcome := range m.outcomes {
		shown := pageOutcome{Label: m.label(o), Statement: outcome.Statement, Level: levelName(outcomeLevel(outcome))}
		var missing []string
		for _, skill := range m.targets.missing(o) {
			missing = append(missing, skill.SkillName)
		}
		shown.Missing = strings.Join(missing, ", ")
		size := 0
		for k, cell := range m.cells[o] {
			if cell.mark == catalog.NoMark && cell.decision == nil {
				continue
			}
			mark := m.pageMark(o, k)
			if size += mark.size(); size > maxMarks/len(m.outcomes) {
				shown.Left++
				continue
			}
			shown.Marks = append(shown.Marks, mark)
		}
		all = append(all, shown)
	}
	return all
}

// pageMark returns the mark of a course for an outcome.
func (m *mapping) pageMark(o, k int) pageMark {
	cell, profile := m.cells[o][k], m.courses[k].profile
	mark := pageMark{Code: profile.CourseCode, Name: profile.CourseName, Mark: markCell(cell)}
	if mark.Quotes = m.quotes(o, k); mark.Quotes == nil {
		mark.Teaches = m.teaches(o, k)
	}
	if cell.fit.part > 0 {
		mark.Basis = fmt.Sprintf("%d%%", percent(fraction(cell.fit.part, m.targets.all[o])))
		if cell.fit.level > 0 {
			mark.Basis += " at level " + strconv.Itoa(cell.fit.level)
		}
	}
	if d := cell.decision; d != nil {
		mark.Decision = "Decided " + d.DecidedAt.Std().Format("2 January 2006") + "; computed " + spoken(cell.now) + "."
		if d.Note != nil {
			mark.Decision += " " + *d.Note
		}
	}
	if len(cell.similar) > 0 && cell.similar[0].score == cell.fit.part {
		mark.Promise = m.Courses[k].Outcomes.Outcomes[cell.similar[0].place].Statement
	}
	return mark
}

func (m pageMark) size() int {
	size := 400 + len(m.Code) + len(m.Name) + len(m.Decision) + len(m.Promise) + len(m.Teaches)
	for _, quote := range m.Quotes {
		size += len(quote)
	}
	return size
}

// spoken returns a mark in words.
func spoken(mark catalog.Mark) string {
	if mark == catalog.NoMark {
		return "no mark"
	}
	return strings.ToLower(string(mark))
}

// maxCellQuotes is how many quotes a page shows for a cell.
const maxCellQuotes = 2

// quotes returns words of the course's section about the outcome's skills, one for each skill, the most certain first.
func (m *mapping) quotes(o, k int) (quotes []string) {
	for _, need := range m.targets.ranked[o] {
		for _, e := range m.Courses[k].Quotes {
			if m.meets(k, e.SkillID, need) && !slices.Contains(quotes, e.Quote) {
				quotes = append(quotes, e.Quote)
				break
			}
		}
		if len(quotes) == maxCellQuotes {
			break
		}
	}
	return quotes
}

// teaches returns the names of the outcome's skills that the course's section teaches.
func (m *mapping) teaches(o, k int) string {
	var names []string
	for _, need := range m.targets.ranked[o] {
		if m.courses[k].section != nil && slices.ContainsFunc(m.courses[k].section.SectionSkills,
			func(s catalog.SkillRef) bool {
				return m.meets(k, s.SkillID, need)
			}) {
			names = append(names, need.SkillName)
		}
	}
	return strings.Join(names, ", ")
}

// meets reports whether a skill that the course teaches is the one needed, or its neighbor where that is not taught.
func (m *mapping) meets(k int, skillID string, need need) bool {
	taught := m.courses[k].taught
	if taught[need.SkillID] > 0 {
		return skillID == need.SkillID
	}
	return taught[skillID] > 0 && slices.Contains(m.targets.reached(skillID).near, need.slot)
}

// pageIssues returns the issues by kind, in plain words.
func (m *mapping) pageIssues() []pageIssues {
	var all []pageIssues
	about := ""
	for _, issue := range m.issues() {
		if n := len(all); n == 0 || all[n-1].Kind != issue.Kind {
			all, about = append(all, pageIssues{advice: advices[adviceAt(issue.Kind)]}), ""
		}
		last := &all[len(all)-1]
		var words []string
		if issue.OutcomeID != nil {
			words = append(words, m.label(m.outcomeAt[*issue.OutcomeID]))
		}
		if issue.CourseID != nil {
			words = append(words, m.code(*issue.CourseID))
		}
		item := pageIssue{strings.Join(words, ", "), issue.Detail}
		if issue.Kind == SkillMissing {
			item.Detail = nameOf(m.outcomes[m.outcomeAt[*issue.OutcomeID]].Skills, issue.Detail)
		}
		switch {
		case issue.Kind == SkillMissing && about == *issue.OutcomeID:
			last.Items[len(last.Items)-1].Detail += ", " + item.Detail
			continue
		case issue.Kind == SkillMissing:
			about = *issue.OutcomeID
		case last.Short && len(words) > 0:
			item.Detail = ""
		}
		last.Items = append(last.Items, item)
	}
	return all
}

func (m *mapping) code(courseID string) string {
	return m.courses[m.courseAt[courseID]].profile.CourseCode
}

// markCell returns a cell of the heat map: its letters, and what they mean for those who hear the page.
func markCell(c mapCell) cell {
	shade := map[catalog.Mark]string{catalog.NoMark: "b0", catalog.Introduced: "b1", catalog.Reinforced: "b3",
		catalog.Mastered: "b5"}
	out := cell{Text: c.letters(), Class: shade[c.mark], Aside: spoken(c.mark)}
	if out.Text == "" {
		return out
	}
	if out.Aside = ", " + out.Aside; c.decision != nil {
		if c.decision.Assessed {
			out.Aside += ", assessed"
		}
		out.Aside += ", decided by a person"
	}
	return out
}
