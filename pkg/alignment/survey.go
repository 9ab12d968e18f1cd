package alignment

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// survey is a report's input in the settings' order, without duplicates and with sections chosen: all views, tables and
// pages are built from it. Ids that were not loaded (a course deleted since) are left out.
type survey struct {
	courses []surveyedCourse
	jobs    []surveyedJob
	skills  []string          // the settings' skills
	names   map[string]string // by skill id
}

// surveyedCourse is a course with the section that represents it.
type surveyedCourse struct {
	profile catalog.CourseProfile
	section *catalog.SectionProfile // nil if no section has skills
	taught  map[string]int          // level by skill id
}

// surveyedJob is a job with the requirements that the report considers: all, or those among the settings' skills.
type surveyedJob struct {
	profile      JobProfile
	requirements []catalog.SkillRef
	occupation   bool
}

func (r Report) survey() survey {
	s := survey{names: map[string]string{}}

	chosen := map[string]bool{}
	for _, skill := range r.Record.Settings.Skills {
		if !chosen[skill.ID] {
			chosen[skill.ID] = true
			s.skills = append(s.skills, skill.ID)
		}
	}

	courses := byID(r.Courses, func(c ReportCourse) string { return c.Profile.CourseID })
	for _, id := range r.CourseIDs {
		if c, ok := take(courses, id); ok {
			s.courses = append(s.courses, surveyCourse(c))
		}
	}

	jobs := byID(r.Jobs, func(j JobProfile) string { return j.JobID })
	for _, named := range r.Record.Settings.Jobs {
		j, ok := take(jobs, named.ID)
		if !ok {
			continue
		}
		requirements := j.SkillRequirements
		if len(chosen) > 0 {
			requirements = filter(requirements, func(q catalog.SkillRef) bool { return chosen[q.SkillID] })
		}
		s.jobs = append(s.jobs, surveyedJob{j, requirements, named.Lib == "soc"})
	}

	// A skill has one name in a report: the taxonomy's, or else the first from a job or section.
	for _, skill := range r.Skills {
		s.call(skill.SkillID, skill.SkillName)
	}
	for _, j := range s.jobs {
		for _, q := range j.profile.SkillRequirements {
			s.call(q.SkillID, q.SkillName)
		}
	}
	for _, c := range s.courses {
		if c.section != nil {
			for _, t := range c.section.SectionSkills {
				s.call(t.SkillID, t.SkillName)
			}
		}
	}
	for _, id := range s.skills {
		s.call(id, id)
	}
	return s
}

func (s survey) call(id, name string) {
	if s.names[id] == "" {
		s.names[id] = name
	}
}

// Represented returns the section that represents a course (docs/contract.md): the default section if it has skills,
// otherwise the one with the most, the earliest of equals; nil if none has skills.
func (c ReportCourse) Represented() (chosen *catalog.SectionProfile) {
	most := 0
	for i := range c.Sections {
		section := &c.Sections[i]
		n := len(section.SectionSkills)
		if n > 0 && section.SectionID == c.Profile.CourseDefaultSectionID {
			return section
		}
		if n > most {
			chosen, most = section, n
		}
	}
	return chosen
}

func surveyCourse(c ReportCourse) surveyedCourse {
	s := surveyedCourse{profile: c.Profile, section: c.Represented(), taught: map[string]int{}}
	if s.section != nil {
		for _, t := range s.section.SectionSkills {
			s.taught[t.SkillID] = max(s.taught[t.SkillID], level(t))
		}
	}
	return s
}

// taught returns the highest level at which any course teaches a skill, 0 if none does.
func (s survey) taught(skillID string) int {
	highest := 0
	for _, c := range s.courses {
		highest = max(highest, c.taught[skillID])
	}
	return highest
}

// byName sorts skill ids by name, ignoring case, then by id.
func (s survey) byName(ids map[string]bool) []string {
	return slices.SortedFunc(maps.Keys(ids), func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.ToLower(s.names[a]), strings.ToLower(s.names[b])), cmp.Compare(a, b))
	})
}

func byID[T any](all []T, id func(T) string) map[string]T {
	m := make(map[string]T, len(all))
	for _, v := range all {
		m[id(v)] = v
	}
	return m
}

// take removes and returns a value.
func take[T any](m map[string]T, id string) (T, bool) {
	v, ok := m[id]
	delete(m, id)
	return v, ok
}

func filter[T any](all []T, keep func(T) bool) []T {
	var kept []T
	for _, v := range all {
		if keep(v) {
			kept = append(kept, v)
		}
	}
	return kept
}
