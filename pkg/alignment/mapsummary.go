package alignment

import (
	"cmp"
	"fmt"
	"slices"

	"skillscurriculum/pkg/catalog"
)

// IssueKind names something in a map that needs attention.
type IssueKind string

// The kinds of issues.
const (
	NotCovered           IssueKind = "NOT_COVERED"
	NotIntroduced        IssueKind = "NOT_INTRODUCED"
	NotMastered          IssueKind = "NOT_MASTERED"
	NotAssessed          IssueKind = "NOT_ASSESSED"
	GapInSequence        IssueKind = "GAP_IN_SEQUENCE"
	Repeated             IssueKind = "REPEATED"
	CourseWithoutOutcome IssueKind = "COURSE_WITHOUT_OUTCOME"
	CourseWithoutSkills  IssueKind = "COURSE_WITHOUT_SKILLS"
	SkillMissing         IssueKind = "SKILL_MISSING"
	DecisionStale        IssueKind = "DECISION_STALE"
	NoOutcomes           IssueKind = "NO_OUTCOMES"
	OutcomesFailed       IssueKind = "OUTCOMES_FAILED"
)

// MapIssue is something that needs attention.
type MapIssue struct {
	Kind      IssueKind `json:"kind" enum:"NOT_COVERED,NOT_INTRODUCED,NOT_MASTERED,NOT_ASSESSED,GAP_IN_SEQUENCE,REPEATED,COURSE_WITHOUT_OUTCOME,COURSE_WITHOUT_SKILLS,SKILL_MISSING,DECISION_STALE,NO_OUTCOMES,OUTCOMES_FAILED" doc:"What needs attention"`
	OutcomeID *string   `json:"outcomeId" doc:"Outcome concerned; null for none"`
	CourseID  *string   `json:"courseId" doc:"Course concerned; null for none"`
	Detail    string    `json:"detail" doc:"What was found; of SKILL_MISSING, the id of the skill"`
}

// issues returns the issues in their order.
func (m *mapping) issues() []MapIssue {
	if len(m.outcomes) == 0 {
		return []MapIssue{{Kind: NoOutcomes, Detail: "The program has no outcomes."}}
	}
	all := []MapIssue{}
	add := func(kind IssueKind, o, k int, format string, args ...any) {
		issue := MapIssue{Kind: kind, Detail: fmt.Sprintf(format, args...)}
		if o >= 0 {
			issue.OutcomeID = &m.outcomes[o].ID
		}
		if k >= 0 {
			issue.CourseID = &m.courses[k].profile.CourseID
		}
		all = append(all, issue)
	}
	assessed := make([]bool, len(m.outcomes)) // by a course with a mark
	covers := make([]bool, len(m.courses))
	for o, cells := range m.cells {
		for k, cell := range cells {
			if cell.mark != catalog.NoMark {
				covers[k] = true
				assessed[o] = assessed[o] || cell.decision != nil && cell.decision.Assessed
			}
		}
	}

	m.teachAll()
	for o, cells := range m.cells {
		var marked []int // courses
		for k, cell := range cells {
			if cell.mark != catalog.NoMark {
				marked = append(marked, k)
			}
			switch {
			case !cell.stale(m.outcomes[o]):
			case cell.decision.ComputedThen != cell.now:
				add(DecisionStale, o, k, "Computed %s when it was decided, %s now.", spoken(cell.decision.ComputedThen),
					spoken(cell.now))
			default:
				add(DecisionStale, o, k, "The outcome was worded differently when it was decided.")
			}
		}
		n := len(marked)
		if n == 0 {
			add(NotCovered, o, -1, "No course has a mark for the outcome.")
			continue
		}
		if first := cells[marked[0]].mark; first != catalog.Introduced {
			add(NotIntroduced, o, marked[0], "Its first mark is %s.", spoken(first))
		}
		if m.best(o) != catalog.Mastered {
			add(NotMastered, o, -1, "No course completes the outcome.")
		}
		if !assessed[o] && slices.Contains(assessed, true) {
			add(NotAssessed, o, -1, "No course assesses the outcome.")
		}
		if last := marked[n-1]; cells[last].mark == catalog.Introduced && last+1 < len(m.courses) {
			add(GapInSequence, o, last, "No later course takes it up.")
		}
		if n >= 4 && 2*n > len(m.courses) {
			add(Repeated, o, -1, "%d of %d courses have a mark for it.", n, len(m.courses))
		}
		for _, skill := range m.targets.missing(o) {
			add(SkillMissing, o, -1, "%s", skill.SkillID)
		}
	}
	const failed = "The skills of the outcomes could not be read."
	if m.Curriculum.Outcomes.ProcessingStatus == catalog.Failed {
		add(OutcomesFailed, -1, -1, failed)
	}
	for k, course := range m.courses {
		switch {
		case course.section == nil:
			add(CourseWithoutSkills, -1, k, "None of the course's sections has skills, so nothing can be computed for it.")
		case !covers[k]:
			add(CourseWithoutOutcome, -1, k, "The course has skills, but no mark for any outcome.")
		}
		if m.Courses[k].Outcomes.ProcessingStatus == catalog.Failed {
			add(OutcomesFailed, -1, k, failed)
		}
	}
	slices.SortStableFunc(all, func(a, b MapIssue) int { return cmp.Compare(adviceAt(a.Kind), adviceAt(b.Kind)) })
	return all
}

// teachAll sets the gains of all courses together.
func (m *mapping) teachAll() {
	var all []catalog.SkillRef
	for _, course := range m.courses {
		if course.section != nil {
			all = append(all, course.section.SectionSkills...)
		}
	}
	m.targets.learn(all)
}

// missing returns the skills of an outcome that were not taught last.
func (t *targets) missing(o int) []MapMissingSkill {
	missing := []MapMissingSkill{}
	for _, n := range t.skills[o] {
		if t.gains[n.slot].tenths == 0 {
			missing = append(missing, MapMissingSkill{n.SkillID, n.SkillName, level(n.SkillRef)})
		}
	}
	return missing
}

// summary returns what the courses together do for each outcome.
func (m *mapping) summary() []MapSummary {
	m.teachAll()
	all := []MapSummary{}
	for o, outcome := range m.outcomes {
		s := MapSummary{
			OutcomeID: outcome.ID, ReinforcedBy: []string{}, MasteredBy: []string{}, AssessedBy: []string{},
			MissingSkills: m.targets.missing(o),
		}
		for k, cell := range m.cells[o] {
			id := m.courses[k].profile.CourseID
			switch cell.mark {
			case catalog.Introduced:
				if s.IntroducedBy == nil {
					s.IntroducedBy = &id
				}
			case catalog.Reinforced:
				s.ReinforcedBy = append(s.ReinforcedBy, id)
			case catalog.Mastered:
				s.MasteredBy = append(s.MasteredBy, id)
			}
			if cell.decision != nil && cell.decision.Assessed {
				s.AssessedBy = append(s.AssessedBy, id)
			}
		}
		if len(outcome.Skills) > 0 {
			var part int64
			for _, n := range m.targets.skills[o] {
				part += weight(n.SkillRef) * int64(m.targets.gains[n.slot].tenths)
			}
			s.Coverage = new(fraction(part, m.targets.all[o]))
		}
		all = append(all, s)
	}
	return all
}

// market returns how far the courses meet each job.
func (m *mapping) market() []MapMarket {
	s := survey{courses: m.courses, names: map[string]string{}}
	for _, job := range m.Jobs {
		s.jobs = append(s.jobs, surveyedJob{profile: job, requirements: job.SkillRequirements})
	}
	all := []MapMarket{}
	for i, gap := range s.gap() {
		job := m.Jobs[i]
		of := MapMarket{Job: MapJob{job.JobID, job.Lib, job.JobName}, Coverage: gap.Coverage, Skills: []MapMarketSkill{}}
		for _, q := range job.SkillRequirements {
			skill := MapMarketSkill{
				SkillID: q.SkillID, SkillName: q.SkillName, RequiredLevel: level(q), TaughtLevel: s.taught(q.SkillID),
			}
			first := slices.IndexFunc(m.courses, func(c surveyedCourse) bool { return c.taught[q.SkillID] > 0 })
			if first >= 0 {
				skill.FirstTaughtIn = &m.courses[first].profile.CourseID
			}
			of.Skills = append(of.Skills, skill)
		}
		all = append(all, of)
	}
	return all
}

// maxMapSize is the maximum size of a map as JSON, in bytes.
const maxMapSize = 5_000_000

// bound leaves out details until the map is small enough, those first that can be found elsewhere.
func (m *CurriculumMap) bound() {
	cells := func(leaveOut func(c *MapCell)) func() {
		return func() {
			for i := range m.Cells {
				leaveOut(&m.Cells[i])
			}
		}
	}
	for _, leaveOut := range []func(){
		cells(func(c *MapCell) { c.Skills = nil }),
		cells(func(c *MapCell) { c.CourseOutcomes = nil }),
		cells(func(c *MapCell) {
			if c.Decided != nil {
				short := *c.Decided
				short.Note, c.Decided = nil, &short
			}
		}),
		func() {
			m.Cells = slices.DeleteFunc(m.Cells, func(c MapCell) bool { return c.Mark == catalog.NoMark && c.Decided == nil })
		},
		func() { m.Issues = m.Issues[:min(len(m.Issues), 1000)] },
		cells(func(c *MapCell) { c.Decided = nil }),
	} {
		if m.size() <= maxMapSize {
			return
		}
		m.Truncated = true
		leaveOut()
	}
}

// size returns about the size of the map as JSON: a little more, but without the few characters that JSON escapes.
func (m *CurriculumMap) size() int {
	const (
		record = 100 // names of fields, punctuation and numbers of a small object
		id     = 28
	)
	size := 10 * record
	for _, o := range m.Outcomes {
		size += 2*record + len(o.Statement)
		for _, skill := range o.Skills {
			size += record + len(skill.SkillID) + len(skill.SkillName)
		}
	}
	size += len(m.Courses) * 6 * record
	for _, c := range m.Cells {
		size += 4*record + (record-35)*len(c.CourseOutcomes)
		if c.Decided == nil {
			size -= 2 * record
		} else if c.Decided.Note != nil {
			size += len(*c.Decided.Note)
		}
		for _, skill := range c.Skills {
			size += record + len(skill.SkillID) + len(skill.SkillName)
		}
	}
	for _, s := range m.Summary {
		size += 2*record + (id+3)*(len(s.ReinforcedBy)+len(s.MasteredBy)+len(s.AssessedBy)) + 2*record*len(s.MissingSkills)
	}
	size += 2 * record * len(m.Issues)
	for _, of := range m.Market {
		size += 2 * record * (1 + len(of.Skills))
	}
	return size
}
