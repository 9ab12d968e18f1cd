package alignment

import (
	"cmp"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// fit is how far something taught covers an outcome: part of the outcome's targets.all, and the level at which it is
// taught, 0 for none.
type fit struct {
	part  int64
	level int
}

// reaches reports whether a fit reaches a threshold.
func (f fit) reaches(threshold float64, all int64) bool {
	return f.part > 0 && f.part*20 >= catalog.Steps(threshold)*all
}

// The weights of a skill and of a neighbor in tenths.
const (
	exactTenths   = 10
	relatedTenths = 7
)

// targets finds the outcomes to which a taught skill counts. It is not safe for concurrent use.
type targets struct {
	all    []int64          // by outcome: the fit of all of its skills, at least 1
	skills [][]need         // by outcome, in its order
	ranked [][]need         // the same, as cells show them
	named  map[string][]int // outcomes by the addresses that name them
	wanted map[string]int   // slots by skill id
	counts [][]share        // by slot
	reach  map[string]reach
	near   Related

	// The last teaching, by slot.
	gains   []gain
	touched []int
}

// need is a skill of an outcome.
type need struct {
	catalog.SkillRef
	slot int
}

// share is the weight of a skill in an outcome.
type share struct {
	outcome int
	weight  int64
}

// reach has the slots that a taught skill reaches.
type reach struct {
	exact int // -1 for none
	near  []int
}

// gain is the best match of a skill: tenths 0 for none.
type gain struct{ tenths, level int }

func newTargets(outcomes []catalog.Outcome, related Related, address func(catalog.Outcome) string) targets {
	t := targets{named: map[string][]int{}, wanted: map[string]int{}, reach: map[string]reach{}, near: related}
	for o, outcome := range outcomes {
		var all int64
		needs := make([]need, len(outcome.Skills))
		for i, skill := range outcome.Skills {
			slot, known := t.wanted[skill.SkillID]
			if !known {
				slot = len(t.counts)
				t.wanted[skill.SkillID], t.counts = slot, append(t.counts, nil)
			}
			t.counts[slot] = append(t.counts[slot], share{o, weight(skill)})
			needs[i] = need{skill, slot}
			all += exactTenths * weight(skill)
		}
		ranked := slices.Clone(needs)
		slices.SortFunc(ranked, func(a, b need) int {
			return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.SkillName, b.SkillName),
				cmp.Compare(a.SkillID, b.SkillID))
		})
		t.skills, t.ranked, t.all = append(t.skills, needs), append(t.ranked, ranked), append(t.all, max(all, 1))
		names := exactURIs(outcome)
		names = append(names, "urn:outcome:"+outcome.ID)
		if address != nil {
			names = append(names, address(outcome))
		}
		for _, name := range names {
			t.named[name] = append(t.named[name], o)
		}
	}
	t.gains = make([]gain, len(t.counts))
	return t
}

// exactURIs returns the addresses of the statements that an outcome equals.
func exactURIs(o catalog.Outcome) (all []string) {
	for _, a := range o.Alignments {
		if a.Type == "EXACT" {
			all = append(all, a.URI)
		}
	}
	return all
}

// learn sets the gains of the skills: the same skill before a neighbor, then the higher level.
func (t *targets) learn(skills []catalog.SkillRef) {
	for _, slot := range t.touched {
		t.gains[slot] = gain{}
	}
	t.touched = t.touched[:0]
	put := func(slot, tenths, level int) {
		g := &t.gains[slot]
		if g.tenths == 0 {
			t.touched = append(t.touched, slot)
		}
		if tenths > g.tenths || tenths == g.tenths && level > g.level {
			*g = gain{tenths, level}
		}
	}
	for _, skill := range skills {
		r := t.reached(skill.SkillID)
		if r.exact >= 0 {
			put(r.exact, exactTenths, level(skill))
		}
		for _, slot := range r.near {
			put(slot, relatedTenths, level(skill))
		}
	}
}

func (t *targets) reached(skillID string) reach {
	r, known := t.reach[skillID]
	if known {
		return r
	}
	r.exact = -1
	if slot, ok := t.wanted[skillID]; ok {
		r.exact = slot
	}
	for _, id := range t.near(skillID) {
		if slot, ok := t.wanted[id]; ok && slot != r.exact {
			r.near = append(r.near, slot)
		}
	}
	t.reach[skillID] = r
	return r
}

// parts sets which part of each outcome was taught last.
func (t *targets) parts(fits []fit) {
	for _, slot := range t.touched {
		g := t.gains[slot]
		for _, s := range t.counts[slot] {
			fits[s.outcome].part += s.weight * int64(g.tenths)
		}
	}
}

// levels sets the level at which each outcome was taught last: the mean of the matched skills', weighted by the
// outcome's confidences, halves up.
func (t *targets) levels(fits []fit) {
	sums, weights := make([]int64, len(fits)), make([]int64, len(fits))
	for _, slot := range t.touched {
		for _, s := range t.counts[slot] {
			sums[s.outcome] += s.weight * int64(t.gains[slot].level)
			weights[s.outcome] += s.weight
		}
	}
	for o := range fits {
		if weights[o] > 0 {
			fits[o].level = int((2*sums[o] + weights[o]) / (2 * weights[o]))
		}
	}
}

// teachSection sets the gains of the section that represents a course.
func (t *targets) teachSection(c surveyedCourse) {
	if c.section == nil {
		t.learn(nil)
		return
	}
	t.learn(c.section.SectionSkills)
}

// equate sets a full fit to the outcomes that a course's outcome says it equals.
func (t *targets) equate(outcome catalog.Outcome, fits []fit) {
	for _, uri := range exactURIs(outcome) {
		// An address in linked data ends in the outcome's name, whatever its host.
		for _, name := range []string{uri, uri[strings.LastIndexByte(uri, '/')+1:]} {
			for _, o := range t.named[name] {
				fits[o].part = t.all[o]
			}
		}
	}
}

// maxMapSkills is the number of skills that a cell shows.
const maxMapSkills = 10

// matched returns the skills of an outcome that were taught last.
func (t *targets) matched(o int) []MapSkill {
	found := make([]MapSkill, 0, min(len(t.ranked[o]), maxMapSkills))
	for _, n := range t.ranked[o] {
		g := t.gains[n.slot]
		if g.tenths == 0 || len(found) == maxMapSkills {
			continue
		}
		kind := catalog.ExactMatch
		if g.tenths == relatedTenths {
			kind = catalog.RelatedMatch
		}
		found = append(found, MapSkill{n.SkillID, n.SkillName, level(n.SkillRef), g.level, kind})
	}
	return found
}

// maxSimilar is the number of course outcomes that a cell shows.
const maxSimilar = 5
