// Package alignment compares sets of skills: which sections of the catalog a transfer course is equivalent to (Index),
// how courses meet what jobs require (Report, with its data, its tables as CSV and its page), and which sections make
// the best credential for some jobs (Build).
//
// It does no I/O except to the writer it is given, never reads a clock, and has no store: all input is loaded
// beforehand. All scores are computed in integers and rounded once, so the same input gives the same bytes on every
// machine, in whatever order it was loaded.
package alignment

import (
	"math"

	"skillscurriculum/pkg/catalog"
)

// Related returns a skill's neighbors in the taxonomy (broader, narrower or related). It must
// be a pure function. It may include the skill itself.
type Related func(skillID string) []string

// maxLevel is the highest level of a skill.
const maxLevel = 5

// whole is a full score in the unit of integer scores. It is a multiple of every level, so
// that taught/required is exact, and of ten, so that a neighbor's 0.7 is exact as well.
const whole = 600

// credit returns have/required, at most 1, in units of whole.
func credit(have, required int) int64 {
	return whole * int64(min(have, required)) / int64(required)
}

// level returns the level of a skill, clamped to 1..5.
func level(s catalog.SkillRef) int { return min(max(s.Level, 1), maxLevel) }

// weight returns the confidence of a skill in ten-thousandths, the contract's precision.
func weight(s catalog.SkillRef) int64 {
	return int64(math.Round(min(max(s.Confidence, 0), 1) * 10000))
}

// fraction returns part/all rounded to four decimals, half up; 0 if all is 0.
func fraction(part, all int64) float64 {
	if all == 0 {
		return 0
	}
	return float64(rounded(part, all)) / 10000
}

// rounded returns part/all in ten-thousandths, half up. It divides in two steps because part*10000 may overflow.
func rounded(part, all int64) int64 {
	return part/all*10000 + ((part%all)*20000+all)/(2*all)
}
