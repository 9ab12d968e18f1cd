// Package alignment compares sets of skills: which sections of the catalog a
// transfer course is equivalent to (Index), how courses meet what jobs require
// (Report, with its data, its tables as CSV and its page), and which sections
// make the best credential for some jobs (Build).
//
// It never does input or output beyond the writer it is given, never reads a
// clock, and knows no store: everything arrives loaded. All scores are computed
// in whole numbers and rounded once, so the same input gives the same bytes on
// every machine, in whatever order it was loaded.
package alignment

import (
	"math"

	"skillscurriculum/pkg/catalog"
)

// Related names the taxonomy neighbours of a skill (broader, narrower or next to
// it, as the taxonomy decides). It must be a pure function; the skill itself
// among its own neighbours does no harm.
type Related func(skillID string) []string

// Candidate is a section that may be chosen: as the equivalent of a transfer
// course, or as a part of a credential.
type Candidate struct {
	SectionID   string
	CourseID    string
	CourseName  string
	SectionName string
	Skills      []catalog.SkillRef
}

// maxLevel is the highest level of a skill.
const maxLevel = 5

// whole is a full score in the unit that scores are computed in. It is a multiple
// of every level, so that taught/required has no remainder, and of ten, so that
// the neighbour's 0.7 has none either.
const whole = 600

// credit is how far a level reaches a required one, 0..whole:
// enough is whole, less is its share.
func credit(have, required int) int64 {
	return whole * int64(min(have, required)) / int64(required)
}

// level is the level of a skill, kept to the contract's 1..5.
func level(s catalog.SkillRef) int { return min(max(s.Level, 1), maxLevel) }

// weight is the confidence of a skill in ten-thousandths: all the decimals that
// the contract gives it.
func weight(s catalog.SkillRef) int64 {
	return int64(math.Round(min(max(s.Confidence, 0), 1) * 10000))
}

// fraction is part/all rounded to four decimals, halves up; 0 where there is nothing
// to be a part of.
func fraction(part, all int64) float64 {
	if all == 0 {
		return 0
	}
	return float64(rounded(part, all)) / 10000
}

// rounded is part/all in ten-thousandths, halves up. The division comes in two
// steps because part*10000 may not fit.
func rounded(part, all int64) int64 {
	return part/all*10000 + ((part%all)*20000+all)/(2*all)
}
