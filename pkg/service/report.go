package service

import (
	"cmp"
	"context"
	"fmt"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
)

// CreateReport creates a report. All courses, jobs and skills in its settings must exist.
func (a Actor) CreateReport(
	ctx context.Context, in catalog.ReportInput,
) (*alignment.Report, *catalog.Change, error) {
	var record catalog.Report
	wrong := in.Apply(&record, a.Lookups)
	report, more, err := a.loadReport(ctx, record)
	if err != nil {
		return nil, nil, err
	}
	if wrong = append(more, wrong...); wrong != nil {
		return nil, nil, catalog.Invalid(wrong...)
	}
	var change catalog.Change
	return &report, &change, a.add(ctx, &report.Record, &change)
}

// Report loads a stored report for a view, "" for the one in its settings. It leaves out what was deleted since.
func (a Actor) Report(ctx context.Context, id, view string) (alignment.Report, error) {
	record, err := one[*catalog.Report](a, id)(ctx)
	if err != nil {
		return alignment.Report{}, err
	}
	record.Settings.View = cmp.Or(view, record.Settings.View)
	report, _, err := a.loadReport(ctx, *record)
	return report, err
}

// namedCourses loads courses by id. Missing and duplicate ones are field errors.
func (a Actor) namedCourses(
	ctx context.Context, ids []string, location string,
) (map[string]*catalog.Course, []catalog.FieldError, error) {
	courses, err := GetByID[*catalog.Course](ctx, a.Store, a.Org, ids, true)
	return courses, catalog.CheckCourses(ids, courses, location), err
}

// loadReport loads what a report's settings refer to. Missing records are field errors.
func (a Actor) loadReport(ctx context.Context, record catalog.Report) (alignment.Report, []catalog.FieldError, error) {
	report := alignment.Report{Record: record}
	settings := record.Settings
	courses, wrong, err := a.namedCourses(ctx, settings.Courses, "body.settings.courses")
	if err == nil {
		report.Courses, err = a.reportCourses(ctx, courses)
	}
	if err != nil {
		return report, nil, err
	}
	jobs, more, err := a.jobProfiles(ctx, settings.Jobs, "body.settings.jobs")
	if err != nil {
		return report, nil, err
	}
	report.Jobs, wrong = jobs, append(wrong, more...)
	report.Skills, more = a.reportSkills(settings.Skills, "body.settings.skills")
	wrong = append(wrong, more...)
	report.Warnings = a.reportWarnings(report)
	more, err = a.reportMarket(ctx, &report, "body.settings.area.code")
	return report, append(wrong, more...), err
}

// reportWarnings returns how many of the skills that a report compares the taxonomy lacks;
// the market view compares none.
func (a Actor) reportWarnings(r alignment.Report) []catalog.Warning {
	if r.Record.Settings.View == alignment.MarketView {
		return nil
	}
	usage := a.Taxonomy().Usage(nil)
	for _, course := range r.Courses {
		for _, section := range course.Sections {
			addSkills(usage, section.SectionSkills)
		}
	}
	for _, job := range r.Jobs {
		addSkills(usage, job.SkillRequirements)
	}
	for _, skill := range r.Record.Settings.Skills {
		usage.Add(skill.ID)
	}
	return warnings(a.Taxonomy(), usage)
}

// reportCourses loads the sections of the courses.
func (a Actor) reportCourses(
	ctx context.Context, courses map[string]*catalog.Course,
) ([]alignment.ReportCourse, error) {
	var ids []string
	for _, course := range courses {
		for _, ref := range course.Sections {
			ids = append(ids, ref.ID)
		}
	}
	sections, err := byID[*catalog.Section](a, ids...)(ctx)
	if err != nil {
		return nil, err
	}
	var all []alignment.ReportCourse
	for _, course := range courses {
		of := alignment.ReportCourse{Profile: course.Profile()}
		for _, ref := range course.Sections {
			if section := sections[ref.ID]; section != nil {
				of.Sections = append(of.Sections, section.Profile(course))
			}
		}
		all = append(all, of)
	}
	return all, nil
}

// reportSkills looks up skills that are named for their own sake.
func (a Actor) reportSkills(
	named []catalog.ReportSkill, location string,
) (skills []alignment.SkillProfile, wrong []catalog.FieldError) {
	seen := map[string]bool{}
	for i, skill := range named {
		name, known := a.Taxonomy().Name(skill.ID)
		message := ""
		switch {
		case !known:
			message = "must be in the loaded taxonomy"
		case seen[skill.ID]:
			message = "the skill is named twice"
		default:
			skills = append(skills, alignment.SkillProfile{SkillID: skill.ID, SkillName: name})
		}
		if message != "" {
			wrong = append(wrong, catalog.FieldError{
				Location: fmt.Sprintf("%s[%d].id", location, i), Message: message, Value: skill.ID,
			})
		}
		seen[skill.ID] = true
	}
	return skills, wrong
}

// reportMarket looks up the occupations that the settings name, where the view shows
// them; an area that is not there is an error in any view.
func (a Actor) reportMarket(
	ctx context.Context, report *alignment.Report, location string,
) ([]catalog.FieldError, error) {
	settings := report.Record.Settings
	area := labor.Nation
	if settings.Area != nil {
		var known bool
		if area, known = labor.ParseArea(settings.Area.Code); !known {
			return []catalog.FieldError{{
				Location: location, Message: "neither national nor a state's FIPS code nor a CBSA code", Value: settings.Area.Code,
			}}, nil
		}
	}
	if settings.View != alignment.MarketView && area == labor.Nation {
		return nil, nil
	}
	var socs []string
	jobs := map[string][]string{} // their ids by SOC code
	for _, job := range settings.Jobs {
		if soc, ok := socOf(job); ok {
			if jobs[soc] == nil {
				socs = append(socs, soc)
			}
			jobs[soc] = append(jobs[soc], job.ID)
		}
	}
	market, err := labor.Lookup(ctx, a.Market, labor.Query{SOCCodes: socs, Area: area})
	if hasCode(err, catalog.InvalidParameter) {
		return []catalog.FieldError{{Location: location, Message: "there is no such region", Value: settings.Area.Code}}, nil
	}
	if err != nil {
		return nil, err
	}
	report.Region = labor.Region{
		Area: labor.Area{RegionType: market.Data.RegionType, Region: market.Data.Region}, Name: market.Data.RegionName,
	}
	report.Market, report.MarketWarnings = map[string]labor.Occupation{}, market.Warnings
	for _, occupation := range market.Data.Occupations {
		for _, id := range jobs[occupation.SOCCode] {
			report.Market[id] = occupation
		}
	}
	return nil, nil
}
