package service

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
)

// CreateReport creates a report. All of its courses, programs, jobs and skills must exist.
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

// Report loads a stored report for a view, "" for the one in its settings. It leaves out what no longer exists.
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
	return courses, catalog.CheckNamed("course", ids, courses, location), err
}

// loadReport loads what a report's settings refer to. Missing records are field errors.
func (a Actor) loadReport(ctx context.Context, record catalog.Report) (alignment.Report, []catalog.FieldError, error) {
	report := alignment.Report{Record: record}
	settings := record.Settings
	wrong, err := a.reportCourses(ctx, &report)
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
	report.Warnings = append(report.Warnings, a.reportWarnings(report)...)
	more, err = a.reportMarket(ctx, &report, "body.settings.area.code")
	return report, append(wrong, more...), err
}

// reportWarnings returns the number of compared skills that are not in the taxonomy. The market view compares none.
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

// reportCourses loads the courses in the settings, those of the programs in the settings, and their sections.
func (a Actor) reportCourses(ctx context.Context, report *alignment.Report) ([]catalog.FieldError, error) {
	wrong, err := a.addPrograms(ctx, report)
	if err != nil {
		return nil, err
	}
	named := report.Record.Settings.Courses
	courses, err := GetByID[*catalog.Course](ctx, a.Store, a.Org, report.CourseIDs, true)
	if err != nil {
		return nil, err
	}
	wrong = append(catalog.CheckNamed("course", named, courses, "body.settings.courses"), wrong...)
	surveyed, _, err := a.withSections(ctx, courses)
	for _, course := range surveyed {
		report.Courses = append(report.Courses, course)
	}
	return wrong, err
}

// withSections loads the sections of courses that count, and returns the courses and the sections by id.
func (a Actor) withSections(
	ctx context.Context, courses map[string]*catalog.Course,
) (map[string]alignment.ReportCourse, map[string]*catalog.Section, error) {
	var ids []string
	for _, course := range courses {
		for _, ref := range course.Sections {
			ids = append(ids, ref.ID)
		}
	}
	sections, err := byID[*catalog.Section](a, ids...)(ctx)
	if err != nil {
		return nil, nil, err
	}
	all := make(map[string]alignment.ReportCourse, len(courses))
	for id, course := range courses {
		of := alignment.ReportCourse{Profile: course.Profile()}
		for _, ref := range course.Sections {
			if section := sections[ref.ID]; section != nil && !section.Cancelled() {
				of.Sections = append(of.Sections, section.Profile(course))
			}
		}
		all[id] = of
	}
	return all, sections, nil
}

// addPrograms sets CourseIDs: the settings' courses, then those that their programs have now. Programs that have grown
// beyond a report's bound since it was created lose their last courses, with a warning.
func (a Actor) addPrograms(ctx context.Context, report *alignment.Report) ([]catalog.FieldError, error) {
	settings := report.Record.Settings
	report.CourseIDs = slices.Clone(settings.Courses)
	const location = "body.settings.programs"
	programs, err := byID[*catalog.Program](a, settings.Programs...)(ctx)
	if err != nil {
		return nil, err
	}
	wrong := catalog.CheckNamed("program", settings.Programs, programs, location)
	for _, id := range settings.Programs {
		if program := programs[id]; program != nil {
			for _, course := range program.CourseOrder {
				if !slices.Contains(report.CourseIDs, course) {
					report.CourseIDs = append(report.CourseIDs, course)
				}
			}
		}
	}
	const most = catalog.MaxReportCourses
	if n := len(report.CourseIDs); n > most {
		report.CourseIDs = report.CourseIDs[:most]
		wrong = append(wrong, catalog.FieldError{
			Location: location, Message: fmt.Sprintf("there are %d courses with those of the programs; at most %d", n, most),
		})
		report.Warnings = append(report.Warnings, catalog.Warning{
			Code: catalog.TooManyCourses, Count: n - most, Total: n,
			Message: fmt.Sprintf("The programs now have %d courses; only the first %d are compared.", n, most),
		})
	}
	return wrong, nil
}

// reportSkills returns the profiles of skills in the settings.
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

// reportMarket looks up the occupations of the jobs if the view shows them; an unknown area is an error in any view.
func (a Actor) reportMarket(
	ctx context.Context, report *alignment.Report, location string,
) ([]catalog.FieldError, error) {
	settings := report.Record.Settings
	area := labor.Nation
	if settings.Area != nil {
		var known bool
		if area, known = labor.ParseArea(settings.Area.Code); !known {
			return []catalog.FieldError{{
				Location: location, Message: "must be national, a state FIPS code or a CBSA code", Value: settings.Area.Code,
			}}, nil
		}
	}
	if settings.View != alignment.MarketView && area == labor.Nation {
		return nil, nil
	}
	socs := map[string]bool{}
	for _, job := range report.Jobs {
		if job.SOCCode != "" {
			socs[job.SOCCode] = true
		}
	}
	market, err := labor.Lookup(ctx, a.Market, labor.Query{
		SOCCodes: slices.Sorted(maps.Keys(socs)), Area: area,
	})
	if catalog.HasCode(err, catalog.InvalidParameter) {
		return []catalog.FieldError{{Location: location, Message: "there is no such region", Value: settings.Area.Code}}, nil
	}
	if err != nil {
		return nil, err
	}
	report.Region = labor.Region{
		Area: labor.Area{RegionType: market.Data.RegionType, Region: market.Data.Region}, Name: market.Data.RegionName,
	}
	report.Market = map[string]labor.Occupation{}
	for _, occupation := range market.Data.Occupations {
		report.Market[occupation.SOCCode] = occupation
	}
	report.MarketNotes = slices.DeleteFunc(market.Warnings, func(w catalog.Warning) bool {
		return w.Code == catalog.RegionFallback // the report counts them
	})
	return nil, nil
}
