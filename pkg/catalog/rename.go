package catalog

import (
	"cmp"
	"slices"
)

// Rename returns the new id and name of a skill, which may be the present ones. An empty id removes the skill.
type Rename func(id, name string) (newID, newName string)

// RenameSkills renames the skills of a record and of its reviews, and reports whether the record changed. If two
// skills become one, the one with the higher confidence stays.
func RenameSkills(r Record, rename Rename) bool {
	if named, ok := r.(interface{ renameSkills(Rename) bool }); ok {
		return named.renameSkills(rename)
	}
	return false
}

// EachSkill calls visit for every skill of a record.
func EachSkill(r Record, visit func(id, name string)) {
	RenameSkills(r, func(id, name string) (string, string) {
		visit(id, name)
		return id, name
	})
}

func (s *Section) renameSkills(rename Rename) bool        { return s.reviewed().rename(rename) }
func (c *TransferCourse) renameSkills(rename Rename) bool { return c.reviewed().rename(rename) }
func (j *Job) renameSkills(rename Rename) bool            { return renameRefs(&j.Skills, rename) }

// rename renames skills and their reviews. If two reviews become one, the later one stays. Skills that become one
// with a reviewed skill follow its review.
func (s skillset) rename(rename Rename) bool {
	skills := renameRefs(s.skills, rename)
	reviews := renamed((*[]Review)(s.reviews), rename, func(r *Review) (*string, *string) {
		return &r.SkillID, &r.SkillName
	}, func(all []Review) {
		slices.SortStableFunc(all, func(a, b Review) int { return cmp.Compare(b.ReviewedAt, a.ReviewedAt) })
	})
	if !skills && !reviews {
		return false
	}
	standing := unnamed(*s.skills, *s.reviews)
	for _, review := range *s.reviews {
		standing = review.stands(standing)
	}
	s.put(standing, *s.reviews)
	return true
}

func (r *Report) renameSkills(rename Rename) bool {
	return renamed(&r.Settings.Skills, rename, func(s *ReportSkill) (*string, *string) { return &s.ID, new(string) }, nil)
}

// RenameSkills renames the skills of an extraction's result, of its evidence and of its outcomes.
func (o *ExtractionResult) RenameSkills(rename Rename) bool {
	skills := renameRefs(&o.Skills, rename)
	evidence := false
	kept := o.Evidence[:0:0]
	for _, e := range o.Evidence {
		id, _ := rename(e.SkillID, "")
		evidence = evidence || id != e.SkillID
		if e.SkillID = id; id != "" {
			kept = append(kept, e)
		}
	}
	if evidence {
		o.Evidence = kept
	}
	outcomes := false
	for i := range o.Outcomes {
		outcomes = renamed(&o.Outcomes[i].SkillIDs, rename, func(id *string) (*string, *string) { return id, new(string) },
			nil) || outcomes
	}
	statements := false
	for id, read := range o.Statements {
		of := ExtractionResult{Skills: read.Skills, Evidence: read.Evidence}
		if of.RenameSkills(rename) {
			read.Skills, read.Evidence, statements = of.Skills, of.Evidence, true
			o.Statements[id] = read
		}
	}
	return skills || evidence || outcomes || statements
}

func renameRefs(skills *[]SkillRef, rename Rename) bool {
	return renamed(skills, rename, func(s *SkillRef) (*string, *string) { return &s.SkillID, &s.SkillName }, SortSkills)
}

// renamed renames the skills of a list. Of those that become one, the first in order stays. An unchanged list keeps
// its order.
func renamed[T any](list *[]T, rename Rename, of func(*T) (id, name *string), sort func([]T)) bool {
	changed := false
	all := make([]T, 0, len(*list))
	for _, skill := range *list {
		id, name := of(&skill)
		newID, newName := rename(*id, *name)
		changed = changed || newID != *id || newName != *name
		if *id, *name = newID, newName; newID != "" {
			all = append(all, skill)
		}
	}
	if !changed {
		return false
	}
	if sort != nil {
		sort(all)
	}
	seen := map[string]bool{}
	kept := all[:0]
	for _, skill := range all {
		if id, _ := of(&skill); !seen[*id] {
			seen[*id] = true
			kept = append(kept, skill)
		}
	}
	*list = kept
	return true
}
