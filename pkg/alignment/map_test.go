package alignment_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
)

// The skills of the random programs; related ones are next to each other in a ring.
var mapSkills = []string{"s0", "s1", "s2", "s3", "s4", "s5", "s6"}

func ring(id string) []string {
	i := slices.Index(mapSkills, id)
	if i < 0 {
		return nil
	}
	n := len(mapSkills)
	return []string{mapSkills[(i+1)%n], id, mapSkills[(i+n-1)%n]}
}

func drawSkills(t *rapid.T, most int, label string) []catalog.SkillRef {
	ids := rapid.SliceOfNDistinct(rapid.SampledFrom(mapSkills), 0, most, rapid.ID).Draw(t, label)
	skills := make([]catalog.SkillRef, len(ids))
	for i, id := range ids {
		skills[i] = catalog.SkillRef{
			SkillID: id, SkillName: "skill " + id[1:], Level: rapid.IntRange(1, 5).Draw(t, "level"),
			Confidence: float64(rapid.SampledFrom([]int{0, 1, 3000, 3333, 5000, 7000, 10000}).Draw(t, "confidence")) / 10000,
		}
	}
	catalog.SortSkills(skills)
	return skills
}

var mapURIs = []string{"urn:a", "urn:b", "urn:outcome:out_p0", "address of out_p1"}

func drawOutcomes(t *rapid.T, prefix string, most int) *catalog.OutcomeList {
	list := &catalog.OutcomeList{Extraction: catalog.Extraction{ProcessingStatus: rapid.SampledFrom([]catalog.ProcessingStatus{
		catalog.Completed, catalog.Completed, catalog.Pending, catalog.Failed,
	}).Draw(t, "status")}}
	for i := range rapid.IntRange(0, most).Draw(t, prefix) {
		o := catalog.Outcome{
			ID: fmt.Sprintf("out_%s%d", prefix, i), Statement: fmt.Sprint("Statement ", i),
			Level: rapid.IntRange(1, 5).Draw(t, "level"), Skills: drawSkills(t, 4, "outcome"),
		}
		if rapid.IntRange(0, 4).Draw(t, "aligned") == 0 {
			o.Alignments = []catalog.OutcomeAlignment{{
				Type: rapid.SampledFrom([]string{"EXACT", "EXACT", "BROAD"}).Draw(t, "type"), URI: rapid.SampledFrom(mapURIs).Draw(t, "uri"),
			}}
		}
		list.Outcomes = append(list.Outcomes, o)
	}
	return list
}

func drawCurriculum(t *rapid.T) alignment.Curriculum {
	c := alignment.Curriculum{
		Program: &catalog.Program{}, Outcomes: drawOutcomes(t, "p", 4), Related: ring,
		Basis:   rapid.SampledFrom([]string{"skills", "outcomes", "both", "both"}).Draw(t, "basis"),
		Address: func(o catalog.Outcome) string { return "address of " + o.ID },
	}
	c.Program.ID = "prg_1"
	if rapid.Bool().Draw(t, "thresholds") {
		touch := rapid.IntRange(1, 20).Draw(t, "touch")
		c.Program.MapSettings = &catalog.MapSettings{
			Touch: float64(touch) / 20, Cover: float64(rapid.IntRange(touch, 20).Draw(t, "cover")) / 20,
		}
	}
	for k := range rapid.IntRange(0, 6).Draw(t, "courses") {
		id := fmt.Sprint("crs_", k)
		course := alignment.CurriculumCourse{
			ReportCourse: alignment.ReportCourse{Profile: catalog.CourseProfile{CourseID: id, CourseDefaultSectionID: "sec_" + id + "0"}},
			Outcomes:     drawOutcomes(t, fmt.Sprint("c", k), 7),
		}
		for s := range rapid.IntRange(0, 2).Draw(t, "sections") {
			course.Sections = append(course.Sections, catalog.SectionProfile{
				CourseProfile: course.Profile, SectionID: fmt.Sprint("sec_", id, s), SectionSkills: drawSkills(t, 5, "section"),
			})
		}
		c.Courses = append(c.Courses, course)
	}
	for o := range 5 {
		for k := range 7 {
			if rapid.IntRange(0, 5).Draw(t, "decide") == 0 {
				c.Decisions = append(c.Decisions, drawDecision(t, c, fmt.Sprint("out_p", o), fmt.Sprint("crs_", k)))
			}
		}
	}
	if rapid.Bool().Draw(t, "jobs") {
		c.Asked = []string{"job_1"}
		c.Jobs = []alignment.JobProfile{{
			Lib: "custom", JobID: "job_1", JobName: "Job", SkillRequirements: drawSkills(t, 5, "requirements"),
		}}
	}
	return c
}

var marks = []catalog.Mark{catalog.NoMark, catalog.Introduced, catalog.Reinforced, catalog.Mastered}

func drawDecision(t *rapid.T, c alignment.Curriculum, outcomeID, courseID string) catalog.MapDecision {
	d := catalog.MapDecision{OutcomeID: outcomeID, CourseID: courseID, DecidedMark: catalog.DecidedMark{
		Mark: rapid.SampledFrom(marks).Draw(t, "decided"), ComputedThen: rapid.SampledFrom(marks).Draw(t, "then"),
	}}
	d.Assessed = d.Mark != catalog.NoMark && rapid.Bool().Draw(t, "assessed")
	for _, o := range c.Outcomes.Outcomes {
		if o.ID == outcomeID && rapid.Bool().Draw(t, "same statement") {
			d.Statement = o.Digest()
		}
	}
	return d
}

// The oracle: the contract's sentences, cell by cell, in fractions.

type oracleCell struct {
	score   *big.Rat
	level   int // 0 for none
	similar map[string]*big.Rat
}

// confidence is exact in ten-thousandths.
func confidence(s catalog.SkillRef) *big.Rat { return big.NewRat(int64(s.Confidence*10000+0.5), 10000) }

// met returns how a skill is met by what is taught: the match, the level, and the type.
func met(skillID string, taught []catalog.SkillRef) (match *big.Rat, level int, kind catalog.MatchType) {
	for _, s := range taught {
		if s.SkillID == skillID {
			return big.NewRat(1, 1), s.Level, catalog.ExactMatch
		}
	}
	for _, s := range taught {
		if slices.Contains(ring(s.SkillID), skillID) {
			level = max(level, s.Level)
		}
	}
	if level == 0 {
		return new(big.Rat), 0, ""
	}
	return big.NewRat(7, 10), level, catalog.RelatedMatch
}

func scored(outcome catalog.Outcome, taught []catalog.SkillRef) oracleCell {
	met0, all, levels, weights := new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)
	for _, s := range outcome.Skills {
		match, level, kind := met(s.SkillID, taught)
		all.Add(all, confidence(s))
		met0.Add(met0, new(big.Rat).Mul(confidence(s), match))
		if kind != "" {
			weights.Add(weights, confidence(s))
			levels.Add(levels, new(big.Rat).Mul(confidence(s), big.NewRat(int64(level), 1)))
		}
	}
	c := oracleCell{score: new(big.Rat)}
	if all.Sign() > 0 {
		c.score.Quo(met0, all)
	}
	if weights.Sign() > 0 {
		mean := new(big.Rat).Quo(levels, weights)
		for big.NewRat(int64(2*c.level+1), 2).Cmp(mean) <= 0 {
			c.level++
		}
	}
	return c
}

func represents(c alignment.CurriculumCourse) *catalog.SectionProfile {
	var best *catalog.SectionProfile
	for i, s := range c.Sections {
		if s.SectionID == c.Profile.CourseDefaultSectionID && len(s.SectionSkills) > 0 {
			return &c.Sections[i]
		}
		if len(s.SectionSkills) > 0 && (best == nil || len(s.SectionSkills) > len(best.SectionSkills)) {
			best = &c.Sections[i]
		}
	}
	return best
}

func equals(a, b catalog.Outcome) bool {
	for _, x := range a.Alignments {
		if x.Type != "EXACT" {
			continue
		}
		if x.URI == "urn:outcome:"+b.ID || x.URI == "address of "+b.ID {
			return true
		}
		for _, y := range b.Alignments {
			if y.Type == "EXACT" && y.URI == x.URI {
				return true
			}
		}
	}
	return false
}

func oracleFit(c alignment.Curriculum, o, k int, basis string) oracleCell {
	outcome, course := c.Outcomes.Outcomes[o], c.Courses[k]
	bySkills := oracleCell{score: new(big.Rat)}
	if s := represents(course); s != nil {
		bySkills = scored(outcome, s.SectionSkills)
	}
	byOutcomes := oracleCell{score: new(big.Rat), similar: map[string]*big.Rat{}}
	for _, own := range course.Outcomes.Outcomes {
		cell := scored(outcome, own.Skills)
		if equals(own, outcome) {
			cell.score = big.NewRat(1, 1)
		}
		if cell.score.Sign() == 0 {
			continue
		}
		byOutcomes.similar[own.ID] = cell.score
		if order := cell.score.Cmp(byOutcomes.score); order > 0 || order == 0 && own.Level > byOutcomes.level {
			byOutcomes.score, byOutcomes.level = cell.score, own.Level
		}
	}
	switch {
	case basis == "skills":
		return bySkills
	case basis == "outcomes":
		return byOutcomes
	case bySkills.score.Cmp(byOutcomes.score) > 0:
		bySkills.similar = byOutcomes.similar
		return bySkills
	}
	return byOutcomes
}

func decisionAt(c alignment.Curriculum, o, k int) *catalog.MapDecision {
	for i, d := range c.Decisions {
		if d.OutcomeID == c.Outcomes.Outcomes[o].ID && d.CourseID == c.Courses[k].Profile.CourseID {
			return &c.Decisions[i]
		}
	}
	return nil
}

func thresholds(c alignment.Curriculum) (touch, cover *big.Rat) {
	if s := c.Program.MapSettings; s != nil {
		return big.NewRat(int64(s.Touch*20+.5), 20), big.NewRat(int64(s.Cover*20+.5), 20)
	}
	return big.NewRat(3, 10), big.NewRat(6, 10)
}

// oracleMark returns the computed mark and the one that holds.
func oracleMark(c alignment.Curriculum, o, k int, basis string) (computed, holds catalog.Mark) {
	touch, cover := thresholds(c)
	f, wanted := oracleFit(c, o, k, basis), c.Outcomes.Outcomes[o].Level
	computed = catalog.NoMark
	if f.score.Cmp(touch) >= 0 {
		computed = catalog.Introduced
		for earlier := range k {
			if _, mark := oracleMark(c, o, earlier, basis); mark != catalog.NoMark {
				computed = catalog.Reinforced
			}
		}
		if f.level >= wanted {
			computed = catalog.Reinforced
			if f.score.Cmp(cover) >= 0 {
				computed = catalog.Mastered
			}
		}
	}
	if d := decisionAt(c, o, k); d != nil {
		return computed, d.Mark
	}
	return computed, computed
}

func shown(r *big.Rat) float64 {
	n := new(big.Int).Mul(r.Num(), big.NewInt(20000))
	n.Add(n, r.Denom()).Quo(n, new(big.Int).Mul(r.Denom(), big.NewInt(2)))
	return float64(n.Int64()) / 10000
}

func oracleCells(c alignment.Curriculum) []alignment.MapCell {
	cells := []alignment.MapCell{}
	for k, course := range c.Courses {
		for o, outcome := range c.Outcomes.Outcomes {
			f, d := oracleFit(c, o, k, c.Basis), decisionAt(c, o, k)
			computed, holds := oracleMark(c, o, k, c.Basis)
			if holds == catalog.NoMark && d == nil && f.score.Sign() == 0 {
				continue
			}
			cell := alignment.MapCell{
				OutcomeID: outcome.ID, CourseID: course.Profile.CourseID, Score: shown(f.score), Computed: computed, Mark: holds,
				Skills: []alignment.MapSkill{}, CourseOutcomes: []alignment.MapSimilarity{},
			}
			if f.level > 0 {
				cell.TaughtLevel = &f.level
			}
			if d != nil {
				cell.Assessed, cell.Decided = d.Assessed, &d.DecidedMark
			}
			wanted := slices.Clone(outcome.Skills)
			slices.SortFunc(wanted, func(a, b catalog.SkillRef) int {
				return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.SkillName, b.SkillName))
			})
			if section := represents(course); section != nil {
				for _, s := range wanted {
					if _, level, kind := met(s.SkillID, section.SectionSkills); kind != "" {
						cell.Skills = append(cell.Skills, alignment.MapSkill{SkillID: s.SkillID, SkillName: s.SkillName, RequiredLevel: s.Level, TaughtLevel: level, MatchType: kind})
					}
				}
			}
			var own []catalog.Outcome
			for _, o := range course.Outcomes.Outcomes {
				if f.similar[o.ID] != nil {
					own = append(own, o)
				}
			}
			slices.SortStableFunc(own, func(a, b catalog.Outcome) int { return f.similar[b.ID].Cmp(f.similar[a.ID]) })
			for _, o := range own[:min(5, len(own))] {
				cell.CourseOutcomes = append(cell.CourseOutcomes, alignment.MapSimilarity{OutcomeID: o.ID, Similarity: shown(f.similar[o.ID])})
			}
			cells = append(cells, cell)
		}
	}
	return cells
}

func allTaught(c alignment.Curriculum) (all []catalog.SkillRef) {
	for _, course := range c.Courses {
		if s := represents(course); s != nil {
			all = append(all, s.SectionSkills...)
		}
	}
	return all
}

// oracleIssues returns kind, outcome and course of each issue, and the skill of SKILL_MISSING.
func oracleIssues(c alignment.Curriculum) (all []string) {
	if len(c.Outcomes.Outcomes) == 0 {
		return []string{"NO_OUTCOMES - - "}
	}
	add := func(kind, outcome, course, detail string) {
		all = append(all, fmt.Sprintf("%s %s %s %s", kind, cmp.Or(outcome, "-"), cmp.Or(course, "-"), detail))
	}
	mark := func(o, k int) catalog.Mark { _, m := oracleMark(c, o, k, c.Basis); return m }
	var letters []string // by outcome, a letter for each course
	assessed := map[int]bool{}
	for o := range c.Outcomes.Outcomes {
		row := ""
		for k := range c.Courses {
			row += map[catalog.Mark]string{catalog.NoMark: ".", catalog.Introduced: "I", catalog.Reinforced: "R", catalog.Mastered: "M"}[mark(o, k)]
			if d := decisionAt(c, o, k); d != nil && d.Assessed {
				assessed[o] = true
			}
		}
		letters = append(letters, row)
	}
	count := func(row, of string) (n int) {
		for _, r := range row {
			for _, x := range of {
				if r == x {
					n++
				}
			}
		}
		return n
	}
	for _, kind := range []string{"NOT_COVERED", "NOT_INTRODUCED", "NOT_MASTERED", "NOT_ASSESSED", "GAP_IN_SEQUENCE", "REPEATED"} {
		for o, row := range letters {
			id := c.Outcomes.Outcomes[o].ID
			marked := count(row, "IRM")
			first, last := -1, -1
			for k := range row {
				if row[k] != '.' {
					last = k
					if first < 0 {
						first = k
					}
				}
			}
			switch {
			case kind == "NOT_COVERED" && marked == 0:
				add(kind, id, "", "")
			case marked == 0:
			case kind == "NOT_INTRODUCED" && row[first] != 'I':
				add(kind, id, c.Courses[first].Profile.CourseID, "")
			case kind == "NOT_MASTERED" && count(row, "M") == 0,
				kind == "NOT_ASSESSED" && len(assessed) > 0 && !assessed[o],
				kind == "REPEATED" && marked >= 4 && marked > len(row)-marked:
				add(kind, id, "", "")
			case kind == "GAP_IN_SEQUENCE" && row[last] == 'I' && last != len(row)-1:
				add(kind, id, c.Courses[last].Profile.CourseID, "")
			}
		}
	}
	for _, silent := range []bool{false, true} {
		for k, course := range c.Courses {
			marked := false
			for _, row := range letters {
				marked = marked || row[k] != '.'
			}
			if section := represents(course); silent && section == nil {
				add("COURSE_WITHOUT_SKILLS", "", course.Profile.CourseID, "")
			} else if !silent && section != nil && !marked {
				add("COURSE_WITHOUT_OUTCOME", "", course.Profile.CourseID, "")
			}
		}
	}
	for o, outcome := range c.Outcomes.Outcomes {
		for _, s := range outcome.Skills {
			if _, _, kind := met(s.SkillID, allTaught(c)); kind == "" && count(letters[o], "IRM") > 0 {
				add("SKILL_MISSING", outcome.ID, "", s.SkillID)
			}
		}
	}
	for o, outcome := range c.Outcomes.Outcomes {
		for k, course := range c.Courses {
			both, _ := oracleMark(c, o, k, "both")
			if d := decisionAt(c, o, k); d != nil && (d.Statement != outcome.Digest() || d.ComputedThen != both) {
				add("DECISION_STALE", outcome.ID, course.Profile.CourseID, "")
			}
		}
	}
	if c.Outcomes.ProcessingStatus == catalog.Failed {
		add("OUTCOMES_FAILED", "", "", "")
	}
	for _, course := range c.Courses {
		if course.Outcomes.ProcessingStatus == catalog.Failed {
			add("OUTCOMES_FAILED", "", course.Profile.CourseID, "")
		}
	}
	return all
}

func oracleSummary(c alignment.Curriculum) []alignment.MapSummary {
	all := []alignment.MapSummary{}
	for o, outcome := range c.Outcomes.Outcomes {
		s := alignment.MapSummary{OutcomeID: outcome.ID, ReinforcedBy: []string{}, MasteredBy: []string{}, AssessedBy: []string{}, MissingSkills: []alignment.MapMissingSkill{}}
		for k, course := range c.Courses {
			id := course.Profile.CourseID
			switch _, mark := oracleMark(c, o, k, c.Basis); {
			case mark == catalog.Introduced && s.IntroducedBy == nil:
				s.IntroducedBy = &id
			case mark == catalog.Reinforced:
				s.ReinforcedBy = append(s.ReinforcedBy, id)
			case mark == catalog.Mastered:
				s.MasteredBy = append(s.MasteredBy, id)
			}
			if d := decisionAt(c, o, k); d != nil && d.Assessed {
				s.AssessedBy = append(s.AssessedBy, id)
			}
		}
		if len(outcome.Skills) > 0 {
			covered := shown(scored(outcome, highest(allTaught(c))).score)
			s.Coverage = &covered
		}
		for _, m := range outcome.Skills {
			if _, _, kind := met(m.SkillID, allTaught(c)); kind == "" {
				s.MissingSkills = append(s.MissingSkills, alignment.MapMissingSkill{SkillID: m.SkillID, SkillName: m.SkillName, Level: m.Level})
			}
		}
		all = append(all, s)
	}
	return all
}

// highest returns each skill once, at its highest level.
func highest(all []catalog.SkillRef) (once []catalog.SkillRef) {
	for _, s := range all {
		if i := slices.IndexFunc(once, func(o catalog.SkillRef) bool { return o.SkillID == s.SkillID }); i >= 0 {
			once[i].Level = max(once[i].Level, s.Level)
		} else {
			once = append(once, s)
		}
	}
	return once
}

func oracleMarket(c alignment.Curriculum) []alignment.MapMarket {
	all := []alignment.MapMarket{}
	for _, job := range c.Jobs {
		of := alignment.MapMarket{Job: alignment.MapJob{ID: job.JobID, Lib: job.Lib, Name: job.JobName}, Skills: []alignment.MapMarketSkill{}}
		met, wanted := new(big.Rat), new(big.Rat)
		for _, q := range job.SkillRequirements {
			s := alignment.MapMarketSkill{SkillID: q.SkillID, SkillName: q.SkillName, RequiredLevel: q.Level}
			for _, course := range c.Courses {
				if section := represents(course); section != nil {
					for _, t := range section.SectionSkills {
						if t.SkillID == q.SkillID {
							s.TaughtLevel = max(s.TaughtLevel, t.Level)
							if s.FirstTaughtIn == nil {
								s.FirstTaughtIn = &course.Profile.CourseID
							}
						}
					}
				}
			}
			wanted.Add(wanted, confidence(q))
			met.Add(met, new(big.Rat).Mul(confidence(q), big.NewRat(int64(min(s.TaughtLevel, q.Level)), int64(q.Level))))
			of.Skills = append(of.Skills, s)
		}
		if wanted.Sign() > 0 {
			of.Coverage = shown(met.Quo(met, wanted))
		}
		all = append(all, of)
	}
	return all
}

func TestMapEqualsTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCurriculum(t)
		m := c.Map()
		equal := func(name string, want, got any) {
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Fatalf("%s (-oracle +map):\n%s", name, diff)
			}
		}
		equal("cells", oracleCells(c), m.Cells)
		equal("summary", oracleSummary(c), m.Summary)
		equal("market", oracleMarket(c), m.Market)
		var issues []string
		for _, i := range m.Issues {
			text := func(s *string) string {
				if s == nil {
					return "-"
				}
				return *s
			}
			detail := ""
			if i.Kind == alignment.SkillMissing {
				detail = i.Detail
			}
			issues = append(issues, fmt.Sprintf("%s %s %s %s", i.Kind, text(i.OutcomeID), text(i.CourseID), detail))
		}
		equal("issues", oracleIssues(c), issues)
		waits := c.Outcomes.ProcessingStatus == catalog.Pending
		for _, course := range c.Courses {
			waits = waits || course.Outcomes.ProcessingStatus == catalog.Pending
		}
		equal("settled", !waits, m.Settled)
	})
}

var rankOf = map[catalog.Mark]int{catalog.NoMark: 0, catalog.Introduced: 1, catalog.Reinforced: 2, catalog.Mastered: 3}

func computedMarks(m alignment.CurriculumMap) map[[2]string]catalog.Mark {
	all := map[[2]string]catalog.Mark{}
	for _, c := range m.Cells {
		all[[2]string{c.OutcomeID, c.CourseID}] = c.Computed
	}
	return all
}

// Raising a level that a course teaches never lowers a mark of that course.
func TestRaisingATaughtLevelNeverLowersTheMark(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCurriculum(t)
		if len(c.Courses) == 0 {
			return
		}
		before := computedMarks(c.Map())
		k := rapid.IntRange(0, len(c.Courses)-1).Draw(t, "course")
		for _, s := range c.Courses[k].Sections {
			for i := range s.SectionSkills {
				s.SectionSkills[i].Level = rapid.IntRange(s.SectionSkills[i].Level, 5).Draw(t, "raised")
			}
		}
		for i := range c.Courses[k].Outcomes.Outcomes {
			o := &c.Courses[k].Outcomes.Outcomes[i]
			o.Level = rapid.IntRange(o.Level, 5).Draw(t, "raised")
		}
		for at, mark := range computedMarks(c.Map()) {
			if at[1] == c.Courses[k].Profile.CourseID && rankOf[mark] < rankOf[before[at]] {
				t.Fatalf("%v fell from %s to %s", at, before[at], mark)
			}
		}
	})
}

// A decision never changes the cells of another outcome.
func TestADecisionChangesNoOtherOutcome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCurriculum(t)
		if len(c.Courses) == 0 || len(c.Outcomes.Outcomes) == 0 {
			return
		}
		outcome := rapid.SampledFrom(c.Outcomes.Outcomes).Draw(t, "outcome").ID
		course := rapid.SampledFrom(c.Courses).Draw(t, "course").Profile.CourseID
		others := func() []alignment.MapCell {
			return slices.DeleteFunc(c.Map().Cells, func(cell alignment.MapCell) bool { return cell.OutcomeID == outcome })
		}
		before := others()
		c.Decisions = slices.DeleteFunc(slices.Clone(c.Decisions), func(d catalog.MapDecision) bool { return d.OutcomeID == outcome && d.CourseID == course })
		c.Decisions = append(c.Decisions, drawDecision(t, c, outcome, course))
		if diff := gocmp.Diff(before, others()); diff != "" {
			t.Fatalf("-before +after:\n%s", diff)
		}
	})
}

// largeCurriculum has the contract's bounds: 100 outcomes, 200 courses.
func largeCurriculum(outcomes, courses, own int) alignment.Curriculum {
	w := newWorld()
	list := func(prefix string, field, n int) *catalog.OutcomeList {
		l := &catalog.OutcomeList{}
		for i := range n {
			l.Outcomes = append(l.Outcomes, catalog.Outcome{
				ID: fmt.Sprintf("out_%s%020d", prefix, i), Statement: fmt.Sprint("Statement ", i), Level: 1 + w.IntN(5), Skills: w.skills(field, 6),
			})
		}
		return l
	}
	c := alignment.Curriculum{Program: &catalog.Program{}, Outcomes: list("p", 0, outcomes), Related: family, Basis: "both"}
	for k := range courses {
		profile := catalog.CourseProfile{
			CourseID: fmt.Sprintf("crs_%020d", k), CourseCode: fmt.Sprint("C ", k), CourseName: fmt.Sprint("Course ", k), CourseDefaultSectionID: fmt.Sprintf("sec_%020d", k),
		}
		c.Courses = append(c.Courses, alignment.CurriculumCourse{
			ReportCourse: alignment.ReportCourse{Profile: profile, Sections: []catalog.SectionProfile{{
				CourseProfile: profile, SectionID: profile.CourseDefaultSectionID, SectionSkills: w.skills(0, 25),
			}}},
			Outcomes: list(fmt.Sprint("c", k, "x"), 0, own),
		})
	}
	return c
}

func TestAMapIsNeverTooLarge(t *testing.T) {
	c := largeCurriculum(100, 200, 6)
	note := "A note, which is rather long: " + fmt.Sprintf("%0970d", 0)
	for _, o := range c.Outcomes.Outcomes {
		for _, k := range c.Courses {
			c.Decisions = append(c.Decisions, catalog.MapDecision{OutcomeID: o.ID, CourseID: k.Profile.CourseID, DecidedMark: catalog.DecidedMark{
				Mark: catalog.Introduced, ComputedThen: catalog.Introduced, Note: &note, KeyID: "key_000000000000000000000000",
			}})
		}
	}
	for _, n := range []int{0, 200, 2000, len(c.Decisions)} {
		some := c
		some.Decisions = c.Decisions[:n]
		m := some.Map()
		body, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d decisions: %d bytes, truncated %v, %d cells, %d issues", n, len(body), m.Truncated, len(m.Cells), len(m.Issues))
		if len(body) > 5_000_000 {
			t.Errorf("%d bytes with %d decisions", len(body), n)
		}
	}
	small := largeCurriculum(12, 20, 6).Map()
	if small.Truncated || small.Cells[0].Skills == nil {
		t.Error("a small map is truncated")
	}
}

func BenchmarkMap(b *testing.B) {
	c := largeCurriculum(100, 200, 20)
	b.ReportAllocs()
	for b.Loop() {
		c.Map()
	}
}
