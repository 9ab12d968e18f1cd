package alignment

import (
	"slices"

	"skillscurriculum/pkg/catalog"
)

// The bases of a map: what the courses' fit is computed from.
const (
	SkillsBasis   = "skills"
	OutcomesBasis = "outcomes"
	BothBasis     = "both"
)

// Curriculum is a program with everything that its map is computed from.
type Curriculum struct {
	Program  *catalog.Program
	Outcomes *catalog.OutcomeList // of the program
	Courses  []CurriculumCourse   // in the order of the curriculum
	// Decisions on outcomes or courses that the program does not have are left out.
	Decisions []catalog.MapDecision
	Basis     string
	Asked     []string // the jobs as they were asked for
	Jobs      []JobProfile
	Related   Related
	// Address returns the last part of an outcome's address in linked data; nil for none.
	Address func(catalog.Outcome) string
}

// CurriculumCourse is a course of a program with its live sections in creation order.
type CurriculumCourse struct {
	ReportCourse
	Outcomes *catalog.OutcomeList
	Quotes   []catalog.Evidence // of the section that represents the course, for pages
}

// CurriculumMap shows where a program keeps its promises (docs/contract.md): its outcomes across, its courses down.
type CurriculumMap struct {
	ProgramID string        `json:"programId"`
	Outcomes  []MapOutcome  `json:"outcomes" doc:"The program's outcomes, in their order"`
	Courses   []MapCourse   `json:"courses" doc:"The program's courses, in the order of the curriculum"`
	Cells     []MapCell     `json:"cells" doc:"What each course does for each outcome, by course, then outcome; only where there is a mark, a decision or a score above 0"`
	Summary   []MapSummary  `json:"summary" doc:"One item for each outcome, in their order"`
	Issues    []MapIssue    `json:"issues" doc:"What needs attention, by kind, then outcome, then course"`
	Market    []MapMarket   `json:"market" doc:"One item for each of the jobs asked for"`
	Settings  MapParameters `json:"settings" doc:"What the map was computed with"`
	Settled   bool          `json:"settled" doc:"Whether all outcomes have been read; if not, their last known levels and skills are used"`
	Truncated bool          `json:"truncated" doc:"Whether the response was too large and lacks the cells' skills, and if necessary other details"`
}

// MapOutcome is an outcome of the program.
type MapOutcome struct {
	OutcomeID string             `json:"outcomeId"`
	Code      *string            `json:"code" doc:"Code of the outcome"`
	Statement string             `json:"statement" doc:"The outcome, as it was approved"`
	Level     int                `json:"level" minimum:"1" maximum:"5" doc:"Level that the outcome promises"`
	Skills    []catalog.SkillRef `json:"skills" doc:"Skills that the outcome names"`
}

// MapCourse is a course of the program.
type MapCourse struct {
	catalog.CourseProfile
	SectionID *string `json:"sectionId" doc:"Section that represents the course, as in reports; null if none has skills"`
	Position  int     `json:"position" minimum:"1" doc:"Place of the course in the curriculum, from 1"`
}

// MapCell is what one course does for one outcome.
type MapCell struct {
	OutcomeID      string               `json:"outcomeId"`
	CourseID       string               `json:"courseId"`
	Score          float64              `json:"score" minimum:"0" maximum:"1" doc:"How much of the outcome the course teaches, with four decimals"`
	TaughtLevel    *int                 `json:"taughtLevel" minimum:"1" maximum:"5" doc:"Level at which the course teaches it; null if it does not"`
	Computed       catalog.Mark         `json:"computed" enum:"INTRODUCED,REINFORCED,MASTERED,NONE" doc:"Mark by score, level and place"`
	Mark           catalog.Mark         `json:"mark" enum:"INTRODUCED,REINFORCED,MASTERED,NONE" doc:"Mark that holds: the decided one where there is one, otherwise the computed one"`
	Assessed       bool                 `json:"assessed" doc:"Whether a person decided that the course assesses the outcome"`
	Decided        *catalog.DecidedMark `json:"decided" doc:"The decision on the cell; null if nobody decided"`
	Skills         []MapSkill           `json:"skills,omitzero" doc:"The outcome's skills that the course's section teaches, at most 10, by confidence, then name; absent if truncated"`
	CourseOutcomes []MapSimilarity      `json:"courseOutcomes,omitzero" doc:"The course's outcomes that resemble the outcome, at most 5, best first; empty with the basis skills; may be absent if truncated"`
}

// MapSkill is a skill of an outcome that a course teaches.
type MapSkill struct {
	SkillID       string            `json:"skillId"`
	SkillName     string            `json:"skillName"`
	RequiredLevel int               `json:"requiredLevel" minimum:"1" maximum:"5" doc:"Level that the outcome promises"`
	TaughtLevel   int               `json:"taughtLevel" minimum:"1" maximum:"5" doc:"Level at which the course teaches it, or its neighbor"`
	MatchType     catalog.MatchType `json:"matchType" enum:"EXACT,RELATED" doc:"EXACT for the same skill, RELATED for a neighbor in the taxonomy"`
}

// MapSimilarity is how much of an outcome of the program an outcome of a course covers.
type MapSimilarity struct {
	OutcomeID  string  `json:"outcomeId" doc:"Id of the course's outcome"`
	Similarity float64 `json:"similarity" minimum:"0" maximum:"1" doc:"How much of the program's outcome it covers, with four decimals"`
}

// MapSummary lists the courses that keep an outcome.
type MapSummary struct {
	OutcomeID     string            `json:"outcomeId"`
	IntroducedBy  *string           `json:"introducedBy" doc:"Id of the first course that introduces the outcome; null for none"`
	ReinforcedBy  []string          `json:"reinforcedBy" doc:"Ids of the courses that reinforce it"`
	MasteredBy    []string          `json:"masteredBy" doc:"Ids of the courses that complete it"`
	AssessedBy    []string          `json:"assessedBy" doc:"Ids of the courses that assess it"`
	Coverage      *float64          `json:"coverage" minimum:"0" maximum:"1" doc:"Share of its skills that any course teaches, by confidence; neighbors count 0.7; null for an outcome without skills"`
	MissingSkills []MapMissingSkill `json:"missingSkills" doc:"Its skills that no course teaches, nor a neighbor of them"`
}

// MapMissingSkill is a skill of an outcome that no course teaches.
type MapMissingSkill struct {
	SkillID   string `json:"skillId"`
	SkillName string `json:"skillName"`
	Level     int    `json:"level" minimum:"1" maximum:"5" doc:"Level that the outcome promises"`
}

// MapMarket is how far the program meets a job, and which course first teaches what the job requires.
type MapMarket struct {
	Job      MapJob           `json:"job" doc:"Job that the courses are compared with"`
	Coverage float64          `json:"coverage" minimum:"0" maximum:"1" doc:"How far the courses together meet the job, as in the view gap of reports"`
	Skills   []MapMarketSkill `json:"skills" doc:"Skills that the job requires"`
}

// MapJob is a job of the organization, or an occupation.
type MapJob struct {
	ID   string `json:"id" doc:"Id of the job, or SOC code of the occupation"`
	Lib  string `json:"lib" enum:"soc,custom" doc:"soc for an occupation, custom for a job of the organization"`
	Name string `json:"name" doc:"Name of the job or occupation"`
}

// MapMarketSkill is a skill that a job requires.
type MapMarketSkill struct {
	SkillID       string  `json:"skillId"`
	SkillName     string  `json:"skillName"`
	RequiredLevel int     `json:"requiredLevel" minimum:"1" maximum:"5"`
	TaughtLevel   int     `json:"taughtLevel" minimum:"0" maximum:"5" doc:"Highest level at which a course teaches it; 0 for none"`
	FirstTaughtIn *string `json:"firstTaughtIn" doc:"Id of the first course that teaches it, at any level; null for none"`
}

// MapParameters are what a map was computed with.
type MapParameters struct {
	Basis string   `json:"basis" enum:"skills,outcomes,both" doc:"What marks are computed from: skills of courses, their outcomes, or both"`
	Touch float64  `json:"touch" minimum:"0" maximum:"1" doc:"Score from which a course has a mark"`
	Cover float64  `json:"cover" minimum:"0" maximum:"1" doc:"Score from which a course can complete an outcome"`
	Jobs  []string `json:"jobs" doc:"The jobs as they were asked for"`
}

// mapping is a map being computed. Its slices of cells are indexed by outcome, then course.
type mapping struct {
	Curriculum
	settings catalog.MapSettings
	outcomes []catalog.Outcome
	courses  []surveyedCourse
	targets  targets
	cells    [][]mapCell

	outcomeAt, courseAt map[string]int // places by id
}

// mapCell is a cell being computed.
type mapCell struct {
	fit      fit // by the basis
	both     fit
	similar  []ranked     // outcomes of the course, by their part of the outcome
	computed catalog.Mark // by the basis
	now      catalog.Mark // computed by both
	mark     catalog.Mark
	decision *catalog.MapDecision
}

func (c mapCell) shown() bool { return c.mark != catalog.NoMark || c.decision != nil || c.fit.part > 0 }

// stale reports whether the cell's decision was made on another mark or another statement.
func (c mapCell) stale(outcome catalog.Outcome) bool {
	return c.decision != nil && (c.decision.ComputedThen != c.now || c.decision.Statement != outcome.Digest())
}

// compute computes the marks.
func (c Curriculum) compute() *mapping {
	settings := catalog.ValueOr(c.Program.MapSettings, catalog.DefaultMapSettings)
	m := &mapping{
		Curriculum: c, settings: settings, outcomes: c.Outcomes.Outcomes,
		outcomeAt: map[string]int{}, courseAt: map[string]int{},
	}
	for k, course := range c.Courses {
		m.courses = append(m.courses, surveyCourse(course.ReportCourse))
		m.courseAt[course.Profile.CourseID] = k
	}
	m.targets = newTargets(m.outcomes, c.Related, c.Address)
	m.cells = make([][]mapCell, len(m.outcomes))
	for o, outcome := range m.outcomes {
		m.cells[o] = make([]mapCell, len(m.courses))
		m.outcomeAt[outcome.ID] = o
	}
	for k := range m.courses {
		m.fit(k)
	}
	m.decide()
	for o := range m.outcomes {
		m.mark(o)
	}
	return m
}

// fit computes how far a course teaches each outcome.
func (m *mapping) fit(k int) {
	bySkills := make([]fit, len(m.outcomes))
	m.targets.teachSection(m.courses[k])
	m.targets.parts(bySkills)
	m.targets.levels(bySkills)
	byOutcomes := make([]fit, len(m.outcomes))
	taught := make([]fit, len(m.outcomes))
	for place, outcome := range m.Courses[k].Outcomes.Outcomes {
		clear(taught)
		m.targets.learn(outcome.Skills)
		m.targets.parts(taught)
		m.targets.equate(outcome, taught)
		for o, f := range taught {
			if f.part == 0 {
				continue
			}
			f.level = outcomeLevel(outcome)
			if best := byOutcomes[o]; f.part > best.part || f.part == best.part && f.level > best.level {
				byOutcomes[o] = f
			}
			if m.Basis != SkillsBasis {
				cell := &m.cells[o][k]
				cell.similar = insert(cell.similar, ranked{place, f.part}, maxSimilar)
			}
		}
	}
	for o := range m.outcomes {
		cell := &m.cells[o][k]
		cell.both = byOutcomes[o]
		if bySkills[o].part > byOutcomes[o].part {
			cell.both = bySkills[o]
		}
		switch m.Basis {
		case SkillsBasis:
			cell.fit = bySkills[o]
		case OutcomesBasis:
			cell.fit = byOutcomes[o]
		default:
			cell.fit = cell.both
		}
	}
}

// outcomeLevel returns the level of an outcome, clamped to 1..5.
func outcomeLevel(o catalog.Outcome) int { return min(max(o.Level, 1), maxLevel) }

// decide places the decisions in their cells.
func (m *mapping) decide() {
	for i := range m.Decisions {
		d := &m.Decisions[i]
		o, known := m.outcomeAt[d.OutcomeID]
		if k, held := m.courseAt[d.CourseID]; known && held {
			m.cells[o][k].decision = d
		}
	}
}

// mark computes the marks of an outcome, course by course: marks that hold, decided ones included, count for later
// courses. The marks by both bases are those of a map with that basis.
func (m *mapping) mark(o int) {
	all, earlier, earlierBoth := m.targets.all[o], false, false
	rule := func(f fit, earlier *bool, decision *catalog.MapDecision) (computed, holds catalog.Mark) {
		reached := f.level >= outcomeLevel(m.outcomes[o])
		switch {
		case !f.reaches(m.settings.Touch, all):
			computed = catalog.NoMark
		case reached && f.reaches(m.settings.Cover, all):
			computed = catalog.Mastered
		case reached || *earlier:
			computed = catalog.Reinforced
		default:
			computed = catalog.Introduced
		}
		holds = computed
		if decision != nil {
			holds = decision.Mark
		}
		*earlier = *earlier || holds != catalog.NoMark
		return computed, holds
	}
	for k := range m.cells[o] {
		cell := &m.cells[o][k]
		cell.computed, cell.mark = rule(cell.fit, &earlier, cell.decision)
		cell.now, _ = rule(cell.both, &earlierBoth, cell.decision)
	}
}

// Map returns the map.
func (c Curriculum) Map() CurriculumMap {
	m := c.compute()
	out := CurriculumMap{
		ProgramID: c.Program.ID, Outcomes: []MapOutcome{}, Courses: []MapCourse{}, Cells: m.allCells(),
		Summary: m.summary(), Issues: m.issues(), Market: m.market(),
		Settings: MapParameters{c.Basis, m.settings.Touch, m.settings.Cover, append([]string{}, c.Asked...)},
		Settled:  c.settled(),
	}
	for _, o := range m.outcomes {
		out.Outcomes = append(out.Outcomes, MapOutcome{o.ID, o.Code, o.Statement, outcomeLevel(o),
			append([]catalog.SkillRef{}, o.Skills...)})
	}
	for k, course := range m.courses {
		shown := MapCourse{CourseProfile: course.profile, Position: k + 1}
		if course.section != nil {
			shown.SectionID = &course.section.SectionID
		}
		out.Courses = append(out.Courses, shown)
	}
	out.bound()
	return out
}

// settled reports whether no list of outcomes waits to be read.
func (c Curriculum) settled() bool {
	waits := func(l *catalog.OutcomeList) bool {
		return l.ProcessingStatus == catalog.Pending || l.ProcessingStatus == catalog.Processing
	}
	return !waits(c.Outcomes) && !slices.ContainsFunc(c.Courses,
		func(k CurriculumCourse) bool { return waits(k.Outcomes) })
}

// allCells returns the cells that are shown.
func (m *mapping) allCells() []MapCell {
	cells := []MapCell{}
	for k := range m.courses {
		m.targets.teachSection(m.courses[k])
		for o := range m.outcomes {
			if m.cells[o][k].shown() {
				cells = append(cells, m.shown(o, k))
			}
		}
	}
	return cells
}

// Cell returns the cell of an outcome and a course, also if the map does not show it, and the mark that both bases
// compute; false if the program does not have the outcome and the course.
func (c Curriculum) Cell(outcomeID, courseID string) (cell MapCell, computed catalog.Mark, ok bool) {
	m := c.compute()
	o, known := m.outcomeAt[outcomeID]
	k, held := m.courseAt[courseID]
	if !known || !held {
		return MapCell{}, "", false
	}
	m.targets.teachSection(m.courses[k])
	return m.shown(o, k), m.cells[o][k].now, true
}

// shown returns a cell of the course whose section was taught last.
func (m *mapping) shown(o, k int) MapCell {
	cell, all := m.cells[o][k], m.targets.all[o]
	out := MapCell{
		OutcomeID: m.outcomes[o].ID, CourseID: m.courses[k].profile.CourseID, Score: fraction(cell.fit.part, all),
		Computed: cell.computed, Mark: cell.mark, Skills: m.targets.matched(o),
		CourseOutcomes: make([]MapSimilarity, 0, len(cell.similar)),
	}
	if cell.fit.level > 0 {
		out.TaughtLevel = &cell.fit.level
	}
	if d := cell.decision; d != nil {
		out.Assessed, out.Decided = d.Assessed, &d.DecidedMark
	}
	for _, s := range cell.similar {
		out.CourseOutcomes = append(out.CourseOutcomes, MapSimilarity{m.Courses[k].Outcomes.Outcomes[s.place].ID,
			fraction(s.score, all)})
	}
	return out
}
