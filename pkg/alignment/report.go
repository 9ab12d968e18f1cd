package alignment

import (
	"cmp"
	"maps"
	"slices"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
)

// The views of a report (docs/contract.md). Views lists them.
const (
	AlignmentView = "alignment"
	CoverageView  = "coverage"
	GapView       = "gap"
	MarketView    = "market"
)

// Views lists the views of a report.
func Views() []string { return []string{AlignmentView, CoverageView, GapView, MarketView} }

// Report is a stored report with everything its settings refer to. The order of Courses,
// Jobs and Skills does not matter: the order of CourseIDs and of the settings is used.
type Report struct {
	Record catalog.Report
	// CourseIDs are the settings' courses, then those of the settings' programs.
	CourseIDs []string
	Courses   []ReportCourse
	Jobs      []JobProfile
	// Skills has the taxonomy's names, at least for the settings' skills.
	Skills []SkillProfile
	// Market has the figures of each occupation for the settings' area, by SOC code; only the market view needs it.
	Market map[string]labor.Occupation
	// Region is that area; MarketNotes describe single figures, such as those that the survey does not publish.
	Region      labor.Region
	MarketNotes []catalog.Warning
	Surveyed    []labor.Region // the regions that have figures of their own, for pages
	// Warnings are those that do not follow from the other fields.
	Warnings []catalog.Warning
}

// ReportCourse is a course with its live sections in creation order.
type ReportCourse struct {
	Profile  catalog.CourseProfile
	Sections []catalog.SectionProfile
}

// JobProfile is a job or an occupation as shown in reports; the id of an occupation is its SOC code.
type JobProfile struct {
	JobID             string             `json:"jobId" doc:"Id of the job, or SOC code of the occupation"`
	JobName           string             `json:"jobName" doc:"Title of the job or occupation"`
	SkillRequirements []catalog.SkillRef `json:"skillRequirements" doc:"Skills that the job requires"`
	// SOCCode is the occupation, NN-NNNN; empty for a job without one. Lib is that of settings.
	SOCCode string `json:"-"`
	Lib     string `json:"-"`
}

// SkillProfile is a skill as shown in reports.
type SkillProfile struct {
	SkillID   string `json:"skillId"`
	SkillName string `json:"skillName"`
}

// Result is the response to creating or reading a report.
type Result struct {
	View   string         `json:"view" enum:"alignment,coverage,gap,market" doc:"The view in data" extension:"true"`
	Report catalog.Report `json:"report" doc:"The report's record"`
	// Data has AlignmentItem, CoverageItem, GapItem or labor market entries, depending on the view.
	Data       []any             `json:"data" doc:"Items of the report's view"`
	LookupData LookupData        `json:"lookupData" doc:"Profiles of the ids in data and settings"`
	Warnings   []catalog.Warning `json:"warnings" doc:"Why the report is emptier, or its figures less exact, than its settings suggest: course_without_skills, job_without_skills, skills_not_in_taxonomy, too_many_courses; in the market view job_without_soc and region_fallback, once for each wider area" extension:"true"`
}

// LookupData has exactly the profiles mentioned in data and settings, each once: first those
// of the settings in their order, then the others by id.
type LookupData struct {
	CourseProfiles  []catalog.CourseProfile  `json:"courseProfiles" doc:"Courses mentioned in data and settings, each once"`
	SectionProfiles []catalog.SectionProfile `json:"sectionProfiles" doc:"Sections mentioned in data, each once"`
	JobProfiles     []JobProfile             `json:"jobProfiles" doc:"Jobs and occupations mentioned in data and settings, each once"`
	SkillProfiles   []SkillProfile           `json:"skillProfiles" doc:"Skills mentioned in data and settings, each once"`
}

// AlignmentItem is how far one course meets the requirements of one job. SectionID is the
// section that represents the course, nil if none has skills.
type AlignmentItem struct {
	CourseID      string         `json:"courseId"`
	SectionID     *string        `json:"sectionId" doc:"Section that represents the course; null if none has skills"`
	JobID         string         `json:"jobId"`
	Score         float64        `json:"score" minimum:"0" maximum:"1" doc:"How far the course meets the job, weighted by the confidence of the requirements"`
	MatchedSkills []MatchedSkill `json:"matchedSkills" doc:"Required skills that the course teaches"`
	MissingSkills []MissingSkill `json:"missingSkills" doc:"Required skills that the course does not teach"`
}

// MatchedSkill is a required skill that the course teaches; Score is below 1 if its level is too low.
type MatchedSkill struct {
	SkillID       string  `json:"skillId"`
	SkillName     string  `json:"skillName"`
	RequiredLevel int     `json:"requiredLevel" minimum:"1" maximum:"5"`
	TaughtLevel   int     `json:"taughtLevel" minimum:"1" maximum:"5"`
	Score         float64 `json:"score" minimum:"0" maximum:"1" doc:"1 if taughtLevel is at least requiredLevel, otherwise their quotient"`
}

// MissingSkill is a required skill that the course does not teach.
type MissingSkill struct {
	SkillID       string `json:"skillId"`
	SkillName     string `json:"skillName"`
	RequiredLevel int    `json:"requiredLevel" minimum:"1" maximum:"5"`
}

// CoverageItem lists the courses that teach a skill and the jobs that require it; a level is 0 if none does.
type CoverageItem struct {
	SkillID          string   `json:"skillId"`
	SkillName        string   `json:"skillName"`
	CourseIDs        []string `json:"courseIds" doc:"Ids of the courses that teach the skill"`
	JobIDs           []string `json:"jobIds" doc:"Ids of the jobs and SOC codes of the occupations that require it"`
	MaxTaughtLevel   int      `json:"maxTaughtLevel" minimum:"0" maximum:"5" doc:"Highest level at which a course teaches it; 0 for none"`
	MaxRequiredLevel int      `json:"maxRequiredLevel" minimum:"0" maximum:"5" doc:"Highest level at which a job requires it; 0 for none"`
}

// GapItem is how far all courses together meet one job, and the skills still missing.
type GapItem struct {
	JobID         string     `json:"jobId"`
	Coverage      float64    `json:"coverage" minimum:"0" maximum:"1" doc:"How far the courses together meet the job, weighted by the confidence of the requirements"`
	MissingSkills []GapSkill `json:"missingSkills" doc:"Required skills that no course teaches at the required level"`
}

// GapSkill is a required skill that no course teaches at the required level; TaughtLevel is
// the highest taught, 0 if none teaches it.
type GapSkill struct {
	SkillID       string `json:"skillId"`
	SkillName     string `json:"skillName"`
	RequiredLevel int    `json:"requiredLevel" minimum:"1" maximum:"5"`
	TaughtLevel   int    `json:"taughtLevel" minimum:"0" maximum:"5" doc:"Highest level at which a course teaches it; 0 if none does"`
}

// Result returns the view chosen by the settings. settings.skills, if given, are the skills
// that the report is about: the items of the coverage view, and the only requirements that
// alignment and gap consider. Jobs without requirements score 0.
func (r Report) Result() Result {
	s := r.survey()
	result := Result{View: r.Record.Settings.View, Report: r.Record, Data: []any{}, Warnings: r.warnings(s)}
	switch r.Record.Settings.View {
	case CoverageView:
		result.Data = boxed(s.coverage())
	case GapView:
		result.Data = boxed(s.gap())
	case MarketView:
		result.Data = s.market(r.Market)
	default:
		result.Data = boxed(s.alignment())
	}
	result.LookupData = s.lookup(result.Data)
	return result
}

// alignment returns one item for each course and job, course by course.
func (s survey) alignment() []AlignmentItem {
	items := make([]AlignmentItem, 0, len(s.courses)*len(s.jobs))
	for _, c := range s.courses {
		for _, j := range s.jobs {
			item := AlignmentItem{
				CourseID: c.profile.CourseID, JobID: j.profile.JobID,
				MatchedSkills: []MatchedSkill{}, MissingSkills: []MissingSkill{},
			}
			if c.section != nil {
				item.SectionID = &c.section.SectionID
			}
			var met, all int64
			for _, q := range j.requirements {
				name, required, taught := s.names[q.SkillID], level(q), c.taught[q.SkillID]
				all += weight(q) * whole
				if taught == 0 {
					item.MissingSkills = append(item.MissingSkills, MissingSkill{q.SkillID, name, required})
					continue
				}
				share := credit(taught, required)
				met += weight(q) * share
				item.MatchedSkills = append(item.MatchedSkills, MatchedSkill{
					q.SkillID, name, required, taught, fraction(share, whole),
				})
			}
			item.Score = fraction(met, all)
			items = append(items, item)
		}
	}
	return items
}

// coverage returns one item for each of the settings' skills in their order, or without them
// one for each skill that is taught or required, by name.
func (s survey) coverage() []CoverageItem {
	skills := s.skills
	if len(skills) == 0 {
		seen := map[string]bool{}
		for _, c := range s.courses {
			for id := range c.taught {
				seen[id] = true
			}
		}
		for _, j := range s.jobs {
			for _, q := range j.requirements {
				seen[q.SkillID] = true
			}
		}
		skills = s.byName(seen)
	}
	items := make([]CoverageItem, len(skills))
	at := make(map[string]*CoverageItem, len(skills))
	for i, id := range skills {
		items[i] = CoverageItem{SkillID: id, SkillName: s.names[id], CourseIDs: []string{}, JobIDs: []string{}}
		at[id] = &items[i]
	}
	for _, c := range s.courses {
		for id, taught := range c.taught {
			if item := at[id]; item != nil {
				item.CourseIDs = append(item.CourseIDs, c.profile.CourseID)
				item.MaxTaughtLevel = max(item.MaxTaughtLevel, taught)
			}
		}
	}
	for _, j := range s.jobs {
		for _, q := range j.requirements {
			if item := at[q.SkillID]; item != nil {
				item.JobIDs = append(item.JobIDs, j.profile.JobID)
				item.MaxRequiredLevel = max(item.MaxRequiredLevel, level(q))
			}
		}
	}
	return items
}

// gap returns one item for each job, with missing skills in the order of the requirements.
func (s survey) gap() []GapItem {
	items := make([]GapItem, 0, len(s.jobs))
	for _, j := range s.jobs {
		item := GapItem{JobID: j.profile.JobID, MissingSkills: []GapSkill{}}
		var met, all int64
		for _, q := range j.requirements {
			required, taught := level(q), s.taught(q.SkillID)
			all += weight(q) * whole
			met += weight(q) * credit(taught, required)
			if taught < required {
				item.MissingSkills = append(item.MissingSkills, GapSkill{q.SkillID, s.names[q.SkillID], required, taught})
			}
		}
		item.Coverage = fraction(met, all)
		items = append(items, item)
	}
	return items
}

// lookup returns the profiles for data. Courses and jobs in data come from the
// settings, so only sections and skills can come from data alone.
func (s survey) lookup(data []any) LookupData {
	sections, skills := map[string]bool{}, map[string]bool{}
	for _, item := range data {
		switch item := item.(type) {
		case AlignmentItem:
			if item.SectionID != nil {
				sections[*item.SectionID] = true
			}
			for _, m := range item.MatchedSkills {
				skills[m.SkillID] = true
			}
			for _, m := range item.MissingSkills {
				skills[m.SkillID] = true
			}
		case CoverageItem:
			skills[item.SkillID] = true
		case GapItem:
			for _, m := range item.MissingSkills {
				skills[m.SkillID] = true
			}
		}
	}

	l := LookupData{
		CourseProfiles: []catalog.CourseProfile{}, SectionProfiles: []catalog.SectionProfile{},
		JobProfiles: []JobProfile{}, SkillProfiles: []SkillProfile{},
	}
	for _, c := range s.courses {
		l.CourseProfiles = append(l.CourseProfiles, c.profile)
		if c.section != nil && sections[c.section.SectionID] {
			l.SectionProfiles = append(l.SectionProfiles, *c.section)
		}
	}
	slices.SortFunc(l.SectionProfiles, func(a, b catalog.SectionProfile) int {
		return cmp.Compare(a.SectionID, b.SectionID)
	})
	for _, j := range s.jobs {
		profile := j.profile
		profile.SkillRequirements = append([]catalog.SkillRef{}, profile.SkillRequirements...)
		l.JobProfiles = append(l.JobProfiles, profile)
	}
	for _, id := range s.skills {
		l.SkillProfiles = append(l.SkillProfiles, SkillProfile{id, s.names[id]})
		delete(skills, id)
	}
	for _, id := range slices.Sorted(maps.Keys(skills)) {
		l.SkillProfiles = append(l.SkillProfiles, SkillProfile{id, s.names[id]})
	}
	return l
}

func boxed[T any](items []T) []any {
	all := make([]any, len(items))
	for i, item := range items {
		all[i] = item
	}
	return all
}
