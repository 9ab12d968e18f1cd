package rest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
)

type reportInput struct {
	ReportID string `path:"reportId"`
}

type readReportInput struct {
	reportInput
	Format string `query:"format" enum:"json,csv,html" doc:"instead of Accept: csv and html are the view's table and a page to read or print"`
}

type viewInput struct {
	reportInput
	View string `query:"view" enum:"alignment,coverage,gap,market" doc:"another view of the same report than the one that its settings name"`
}

type sharedReportInput struct {
	viewInput
	tokenInput
}

type createReportLinkInput struct {
	reportInput
	Body struct{ catalog.LinkInput }
}

type createReportInput struct {
	Body struct{ catalog.ReportInput }
}

func (s *Server) bindReports() {
	read(s, "listReports", func(ctx context.Context, c *call, in *pageInput) (Page[*catalog.Report], error) {
		reports, total, err := c.Store.Reports(ctx, c.org, in.Offset, in.Limit)
		return page(c, *in, reports, total), err
	})
	write(s, "createReport", createReport)
	read(s, "getReport", readReport)
	read(s, "getReportTable", func(ctx context.Context, c *call, in *viewInput) (anything, error) {
		report, err := c.report(ctx, in.ReportID, in.View)
		if err != nil {
			return anything{}, err
		}
		return anything{}, c.writeTable(report)
	})
	read(s, "getReportPage", func(ctx context.Context, c *call, in *viewInput) (anything, error) {
		return c.reportPage(ctx, *in)
	})
	write(s, "createReportLink", func(ctx context.Context, c *call, in *createReportLinkInput) (*catalog.LinkedPage, *catalog.Change, error) {
		report, err := c.Store.Report(ctx, c.org, in.ReportID, c.strong)
		if err != nil {
			return nil, nil, err
		}
		return c.linkTo(report, in.Body.LinkInput)
	})
	read(s, "getSharedReport", func(ctx context.Context, c *call, in *sharedReportInput) (anything, error) {
		if err := c.follow(ctx, catalog.ReportKind, in.ReportID, in.Token); err != nil {
			return anything{}, err
		}
		return c.reportPage(ctx, in.viewInput)
	})
	write(s, "deleteReport", func(ctx context.Context, c *call, in *reportInput) (none, *catalog.Change, error) {
		return deleteListed(ctx, c, catalog.ReportKind, func(ctx context.Context) (*catalog.Report, error) {
			return c.Store.Report(ctx, c.org, in.ReportID, true)
		})
	})
}

func createReport(ctx context.Context, c *call, in *createReportInput) (*alignment.Result, *catalog.Change, error) {
	var report catalog.Report
	wrong := in.Body.Apply(&report, c.lookups())
	loaded, more, err := c.loadReport(ctx, report)
	if err != nil {
		return nil, nil, err
	}
	if wrong = append(more, wrong...); wrong != nil {
		return nil, nil, catalog.Invalid(wrong...)
	}
	dir, err := c.Store.Directory(ctx, c.org, catalog.ReportKind)
	if err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	change.Add(&loaded.Record, c.IDs, dir, c.org, c.Now())
	c.created(&loaded.Record)
	result := loaded.Result()
	return &result, &change, nil
}

func readReport(ctx context.Context, c *call, in *readReportInput) (*alignment.Result, error) {
	report, err := c.report(ctx, in.ReportID, "")
	if err != nil {
		return nil, err
	}
	switch c.media(in.Format) {
	case api.CSV:
		return nil, c.writeTable(report)
	case api.HTML:
		return nil, c.writePage(report, func(view string) string { return c.path + "/page?view=" + view })
	}
	result := report.Result()
	return &result, nil
}

// reportPage renders a view of a report as a page whose other views have the same
// address but for their name.
func (c *call) reportPage(ctx context.Context, in viewInput) (anything, error) {
	report, err := c.report(ctx, in.ReportID, in.View)
	if err != nil {
		return anything{}, err
	}
	return anything{}, c.writePage(report, func(view string) string {
		query := c.request.URL.Query()
		query.Set("view", view)
		return "?" + query.Encode()
	})
}

// report loads a stored report with what its settings name, to be shown in that view;
// "" is the one of its settings. What they name may be gone by now; the report is about
// what is there.
func (c *call) report(ctx context.Context, id, view string) (alignment.Report, error) {
	record, err := c.Store.Report(ctx, c.org, id, c.strong)
	if err != nil {
		return alignment.Report{}, err
	}
	record.Settings.View = cmp.Or(view, record.Settings.View)
	report, _, err := c.loadReport(ctx, *record)
	return report, err
}

func (c *call) writeTable(report alignment.Report) error {
	var text bytes.Buffer
	err := report.WriteCSV(&text)
	c.rendered = &rendered{contentType: api.CSV + "; charset=utf-8", body: text.Bytes()}
	return err
}

func (c *call) writePage(report alignment.Report, address func(view string) string) error {
	return c.renderPage(func(w io.Writer) (string, error) { return c.Pages.Report(w, report, address) })
}

// loadReport loads what a report's settings name; what is not there is an error at
// its place.
func (c *call) loadReport(ctx context.Context, record catalog.Report) (alignment.Report, []catalog.FieldError, error) {
	report := alignment.Report{Record: record}
	settings := record.Settings
	courses, wrong, err := c.namedCourses(ctx, settings.Courses, "body.settings.courses")
	if err == nil {
		report.Courses, err = c.reportCourses(ctx, courses)
	}
	if err != nil {
		return report, nil, err
	}
	jobs, more, err := c.jobProfiles(ctx, settings.Jobs, "body.settings.jobs")
	if err != nil {
		return report, nil, err
	}
	report.Jobs, wrong = jobs, append(wrong, more...)
	report.Skills, more = c.reportSkills(settings.Skills, "body.settings.skills")
	wrong = append(wrong, more...)
	report.Warnings = c.reportWarnings(report)
	more, err = c.reportMarket(ctx, &report, "body.settings.area.code")
	return report, append(wrong, more...), err
}

// reportWarnings returns how many of the skills that a report compares the taxonomy lacks;
// the market view compares none.
func (c *call) reportWarnings(r alignment.Report) []catalog.Warning {
	if r.Record.Settings.View == alignment.MarketView {
		return nil
	}
	usage := c.Taxonomy().Usage(nil)
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
	return c.warnings(usage)
}

// reportCourses loads the sections of the courses.
func (c *call) reportCourses(ctx context.Context, courses map[string]*catalog.Course) ([]alignment.ReportCourse, error) {
	var ids []string
	for _, course := range courses {
		for _, ref := range course.Sections {
			ids = append(ids, ref.ID)
		}
	}
	sections := map[string]*catalog.Section{}
	if len(ids) > 0 {
		var err error
		if sections, err = c.Store.SectionsByID(ctx, c.org, ids, c.strong); err != nil {
			return nil, err
		}
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
func (c *call) reportSkills(named []catalog.ReportSkill, location string) (skills []alignment.SkillProfile, wrong []catalog.FieldError) {
	seen := map[string]bool{}
	for i, skill := range named {
		name, known := c.Taxonomy().Name(skill.ID)
		message := ""
		switch {
		case !known:
			message = "not in the loaded taxonomy"
		case seen[skill.ID]:
			message = "the skill is named twice"
		default:
			skills = append(skills, alignment.SkillProfile{SkillID: skill.ID, SkillName: name})
		}
		if message != "" {
			wrong = append(wrong, catalog.FieldError{Location: fmt.Sprintf("%s[%d].id", location, i), Message: message, Value: skill.ID})
		}
		seen[skill.ID] = true
	}
	return skills, wrong
}

// reportMarket looks up the occupations that the settings name, where the view shows
// them; an area that is not there is an error in any view.
func (c *call) reportMarket(ctx context.Context, report *alignment.Report, location string) ([]catalog.FieldError, error) {
	settings := report.Record.Settings
	area := labor.Nation
	if settings.Area != nil {
		var known bool
		if area, known = labor.ParseArea(settings.Area.Code); !known {
			return []catalog.FieldError{{Location: location, Message: "neither national nor a state's FIPS code nor a CBSA code", Value: settings.Area.Code}}, nil
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
	market, err := labor.Lookup(ctx, c.Market, labor.Query{SOCCodes: socs, Area: area})
	if hasCode(err, catalog.InvalidParameter) {
		return []catalog.FieldError{{Location: location, Message: "there is no such region", Value: settings.Area.Code}}, nil
	}
	if err != nil {
		return nil, err
	}
	report.Region = labor.Region{Area: labor.Area{RegionType: market.Data.RegionType, Region: market.Data.Region}, Name: market.Data.RegionName}
	report.Market, report.MarketWarnings = map[string]labor.Occupation{}, market.Warnings
	for _, occupation := range market.Data.Occupations {
		for _, id := range jobs[occupation.SOCCode] {
			report.Market[id] = occupation
		}
	}
	return nil, nil
}
