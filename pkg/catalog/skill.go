package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// SkillRef is a taught or required skill with its level and confidence.
type SkillRef struct {
	SkillID    string  `json:"skillId"`
	SkillName  string  `json:"skillName"`
	Level      int     `json:"level" minimum:"1" maximum:"5" doc:"1 remember, 2 understand, 3 apply, 4 analyze, 5 evaluate or create"`
	Confidence float64 `json:"confidence" minimum:"0" maximum:"1" doc:"From 0 to 1, with at most four decimals"`
}

// SortSkills sorts skills in the contract's order: confidence, then level, both descending, then name.
func SortSkills(skills []SkillRef) {
	slices.SortFunc(skills, func(a, b SkillRef) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.Level, a.Level),
			cmp.Compare(a.SkillName, b.SkillName), cmp.Compare(a.SkillID, b.SkillID))
	})
}

// SkillInput is the input for a skill.
type SkillInput struct {
	SkillID    string   `json:"skillId" minLength:"1" maxLength:"255" doc:"Id of a skill of the loaded taxonomy; at most once in a list"`
	SkillName  string   `json:"skillName,omitempty" doc:"Ignored: the taxonomy names the skill"`
	Level      int      `json:"level" minimum:"1" maximum:"5"`
	Confidence *float64 `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"Confidence with at most four decimals; 1 when absent"`
}

// Skills returns the skills of a request in order, and field errors. name looks them up in the taxonomy.
func Skills(in []SkillInput, name func(id string) (string, bool), location string) ([]SkillRef, []FieldError) {
	var wrong []FieldError
	skills := make([]SkillRef, 0, len(in))
	seen := map[string]bool{}
	for i, s := range in {
		at := fmt.Sprintf("%s[%d]", location, i)
		known, ok := name(s.SkillID)
		confidence := unsigned(ValueOr(s.Confidence, 1))
		if !ok {
			wrong = append(wrong, FieldError{at + ".skillId", "must be in the loaded taxonomy", s.SkillID})
		}
		if seen[s.SkillID] {
			wrong = append(wrong, FieldError{at + ".skillId", "must not be repeated", s.SkillID})
		}
		if _, decimals, _ := strings.Cut(strconv.FormatFloat(confidence, 'f', -1, 64), "."); len(decimals) > 4 {
			wrong = append(wrong, FieldError{at + ".confidence", "must have at most four decimals", confidence})
		}
		seen[s.SkillID] = true
		skills = append(skills, SkillRef{SkillID: s.SkillID, SkillName: known, Level: s.Level, Confidence: confidence})
	}
	SortSkills(skills)
	return skills, wrong
}
