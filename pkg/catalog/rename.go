package catalog

import (
	"cmp"
	"slices"
)

// Rename returns the id and name under which a skill goes on, which may be the ones
// that it has; an empty id takes the skill out.
type Rename func(id, name string) (newID, newName string)

// RenameSkills renames every skill that a record or a review of it names, and reports
// whether that changed the record. Of two skills that become one, the more certain
// stands.
func RenameSkills(r Record, rename Rename) bool {
	if named, ok := r.(interface{ renameSkills(Rename) bool }); ok {
		return named.renameSkills(rename)
	}
	return false
}

// EachSkill passes every skill that a record names to visit.
func EachSkill(r Record, visit func(id, name string)) {
	RenameSkills(r, func(id, name string) (string, string) {
		visit(id, name)
		return id, name
	})
}

func (s *Section) renameSkills(rename Rename) bool        { return s.reviewed().rename(rename) }
func (c *TransferCourse) renameSkills(rename Rename) bool { return c.reviewed().rename(rename) }
func (j *Job) renameSkills(rename Rename) bool            { return renameRefs(&j.Skills, rename) }

// rename renames skills and their reviews. Of two reviews that become one the later
// stands, and skills that become one with a reviewed skill stand as reviewed.
func (s skillset) rename(rename Rename) bool {
	skills := renameRefs(s.skills, rename)
	reviews := renamed((*[]Review)(s.reviews), rename, func(r *Review) (*string, *string) { return &r.SkillID, &r.SkillName }, func(all []Review) {
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

// RenameSkills does the same for an extraction's outcome with its evidence.
func (o *Outcome) RenameSkills(rename Rename) bool {
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
	return skills || evidence
}

func renameRefs(skills *[]SkillRef, rename Rename) bool {
	return renamed(skills, rename, func(s *SkillRef) (*string, *string) { return &s.SkillID, &s.SkillName }, SortSkills)
}

// renamed renames the skills of a list; of those that become one the first in order
// stands. What is not changed keeps its order.
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
