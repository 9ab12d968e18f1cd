package rest

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
)

// ReportStore is what the handlers of reports need.
type ReportStore interface {
	Reports(ctx context.Context, org catalog.OrgID, offset, limit int) ([]*catalog.Report, int, error)
	Report(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Report, error)
}

type reportInput struct {
	ReportID string `path:"reportId"`
}

type readReportInput struct {
	reportInput
	Format string `query:"format" enum:"json,csv,html" default:"json" doc:"csv and html give the view's table and a page to read or print"`
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
	change.Add(&loaded.Record, c.IDs, dir, c.org, c.now)
	c.created(&loaded.Record)
	result := loaded.Result()
	return &result, &change, nil
}

func readReport(ctx context.Context, c *call, in *readReportInput) (any, error) {
	record, err := c.Store.Report(ctx, c.org, in.ReportID, c.strong)
	if err != nil {
		return nil, err
	}
	// What the settings name may be gone by now; the report is about what is there.
	loaded, _, err := c.loadReport(ctx, *record)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	switch in.Format {
	case "csv":
		c.contentType = "text/csv; charset=utf-8"
		err = loaded.WriteCSV(&text)
	case "html":
		c.contentType = "text/html; charset=utf-8"
		c.policy, err = c.WritePage(&text, loaded)
	default:
		return loaded.Result(), nil
	}
	return raw(text.Bytes()), err
}

// loadReport loads what a report's settings name; what is not there is a fault.
func (c *call) loadReport(ctx context.Context, record catalog.Report) (alignment.Report, []catalog.FieldError, error) {
	const location = "body.settings"
	report := alignment.Report{Record: record}
	settings := record.Settings
	courses, faults, err := c.namedCourses(ctx, settings.Courses, location+".courses")
	if err != nil {
		return report, nil, err
	}
	var ids []string
	for _, course := range courses {
		for _, ref := range course.Sections {
			ids = append(ids, ref.ID)
		}
	}
	sections := map[string]*catalog.Section{}
	if len(ids) > 0 {
		if sections, err = c.Store.SectionsByID(ctx, c.org, ids, c.strong); err != nil {
			return report, nil, err
		}
	}
	for _, course := range courses {
		of := alignment.ReportCourse{Profile: course.Profile()}
		for _, ref := range course.Sections {
			if section := sections[ref.ID]; section != nil {
				of.Sections = append(of.Sections, section.Profile(course))
			}
		}
		report.Courses = append(report.Courses, of)
	}
	jobs, wrong, err := c.jobProfiles(ctx, settings.Jobs, location+".jobs")
	if err != nil {
		return report, nil, err
	}
	report.Jobs, faults = jobs, append(faults, wrong...)
	seen := map[string]bool{}
	for i, skill := range settings.Skills {
		name, ok := c.Taxonomy().Name(skill.ID)
		if !ok || seen[skill.ID] {
			message := "not in the loaded taxonomy"
			if ok {
				message = "the skill is named twice"
			}
			faults = append(faults, catalog.FieldError{Location: fmt.Sprintf("%s.skills[%d].id", location, i), Message: message, Value: skill.ID})
			continue
		}
		seen[skill.ID] = true
		report.Skills = append(report.Skills, alignment.SkillProfile{SkillID: skill.ID, SkillName: name})
	}
	area := labor.Nation
	if settings.Area != nil {
		var ok bool
		if area, ok = labor.ParseArea(settings.Area.Code); !ok {
			return report, append(faults, catalog.FieldError{Location: location + ".area.code", Message: "neither national nor a state's FIPS code nor a CBSA code", Value: settings.Area.Code}), nil
		}
	}
	var socs []string
	for _, job := range settings.Jobs {
		if soc, ok := socOf(job); ok && !slices.Contains(socs, soc) {
			socs = append(socs, soc)
		}
	}
	if settings.View != alignment.MarketView && area == labor.Nation {
		return report, faults, nil
	}
	market, err := labor.Lookup(ctx, c.Market, labor.Query{SOCCodes: socs, Area: area})
	if hasCode(err, catalog.InvalidParameter) {
		return report, append(faults, catalog.FieldError{Location: location + ".area.code", Message: "there is no such region", Value: settings.Area.Code}), nil
	}
	if err != nil {
		return report, nil, err
	}
	report.Market = map[string]any{}
	for _, occupation := range market.Data.Occupations {
		for _, job := range settings.Jobs {
			if soc, ok := socOf(job); ok && soc == occupation.SOCCode {
				report.Market[job.ID] = occupation
			}
		}
	}
	return report, faults, nil
}

// socOf gives the SOC code of an occupation that a report or builder names.
func socOf(job catalog.ReportJob) (string, bool) {
	if job.Lib != libSOC || !catalog.ONETSOCPattern().MatchString(job.ID) {
		return "", false
	}
	return job.ID[:7], true
}

// The libraries that a job may be of.
const (
	libSOC    = "soc"
	libCustom = "custom"
)

// jobProfiles loads jobs of the organization and occupations, with what they
// require.
func (c *call) jobProfiles(ctx context.Context, jobs []catalog.ReportJob, location string) ([]alignment.JobProfile, []catalog.FieldError, error) {
	var ids, socs []string
	for _, job := range jobs {
		if job.Lib == libCustom {
			ids = append(ids, job.ID)
		} else if soc, ok := socOf(job); ok {
			socs = append(socs, soc)
		}
	}
	var own map[string]*catalog.Job
	var err error
	if len(ids) > 0 {
		if own, err = c.Store.JobsByID(ctx, c.org, ids, c.strong); err != nil {
			return nil, nil, err
		}
	}
	var names map[string]string
	if len(socs) > 0 {
		facts, err := c.Market.Facts(ctx, []labor.Area{labor.Nation}, socs)
		if err != nil {
			return nil, nil, err
		}
		names = facts.Names
	}
	var faults []catalog.FieldError
	profiles := make([]alignment.JobProfile, 0, len(jobs))
	seen := map[string]bool{}
	for i, job := range jobs {
		at := fmt.Sprintf("%s[%d]", location, i)
		profile := alignment.JobProfile{JobID: job.ID}
		fault := catalog.FieldError{Location: at + ".id", Value: job.ID}
		soc, isSOC := socOf(job)
		switch {
		case seen[job.ID]:
			fault.Message = "the job is named twice"
		case job.Lib == libCustom && own[job.ID] == nil:
			fault.Message = "there is no such job"
		case job.Lib == libCustom:
			profile.JobName, profile.SkillRequirements = own[job.ID].Name, own[job.ID].Skills
		case !isSOC:
			fault.Message = "no SOC code (NN-NNNN)"
		default:
			name, ok := c.Taxonomy().Occupation(job.ID)
			if known := names[soc]; known != "" {
				name, ok = known, true
			}
			if !ok {
				fault.Message = "there is no such occupation"
			}
			profile.JobName, profile.SkillRequirements = name, c.Taxonomy().Requirements(job.ID)
		}
		seen[job.ID] = true
		if fault.Message != "" {
			faults = append(faults, fault)
			continue
		}
		if profile.SkillRequirements == nil {
			profile.SkillRequirements = []catalog.SkillRef{}
		}
		profiles = append(profiles, profile)
	}
	return profiles, faults, nil
}
