package alignment_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
)

var update = flag.Bool("update", false, "write the golden files anew")

// refs reads "python 3 .9, sql 2": a skill's name, level and confidence (1 where it says none).
func refs(text string) []catalog.SkillRef {
	list := []catalog.SkillRef{}
	for _, entry := range strings.Split(text, ", ") {
		words := strings.Fields(entry)
		if len(words) == 0 {
			continue
		}
		ref := catalog.SkillRef{Confidence: 1}
		if c, err := strconv.ParseFloat(words[len(words)-1], 64); err == nil && c < 1 {
			ref.Confidence, words = c, words[:len(words)-1]
		}
		ref.Level, _ = strconv.Atoi(words[len(words)-1])
		name := strings.Join(words[:len(words)-1], " ")
		ref.SkillName, ref.SkillID = strings.ToUpper(name[:1])+name[1:], strings.ReplaceAll(name, " ", "-")
		list = append(list, ref)
	}
	return list
}

// course makes a course whose first section is its default one.
func course(code, name string, sections ...string) alignment.ReportCourse {
	id := "crs_" + strings.ReplaceAll(code, " ", "")
	c := alignment.ReportCourse{Profile: catalog.CourseProfile{
		CourseID: id, CourseName: name, CourseCode: code,
		CourseDefaultSectionID: id + "_sec1", CourseDisplayName: code + " " + name,
	}}
	for i, skills := range sections {
		c.Sections = append(c.Sections, catalog.SectionProfile{
			CourseProfile: c.Profile, SectionID: fmt.Sprintf("%s_sec%d", id, i+1), SectionName: fmt.Sprintf("%s, section %d", name, i+1),
			SectionSkills: refs(skills),
		})
	}
	return c
}

func namedJob(id, name, requirements string) alignment.JobProfile {
	return alignment.JobProfile{JobID: id, JobName: name, SkillRequirements: refs(requirements)}
}

// college is a report of 12 courses and 6 jobs as a college would ask for one.
func college(view string) alignment.Report {
	description := "How the courses of the Software and Data program prepare for the jobs that employers of the region advertised this year."
	r := alignment.Report{
		Record: catalog.Report{
			Meta: catalog.Meta{ID: "rpt_1", OrganizationID: "org_1", CreatedAt: 1795248000000, UpdatedAt: 1795248000000},
			Name: "Software and Data: courses and regional jobs", Description: &description,
			Settings: catalog.ReportSettings{View: view, Version: 1, Skills: []catalog.ReportSkill{}, Area: &catalog.ReportArea{Code: "06"}},
		},
		Courses: []alignment.ReportCourse{
			course("CIS 101", "Introduction to Computing", "computer literacy 2, spreadsheets 3, operating systems 1, information security 1 .6, technical writing 2 .5"),
			course("CIS 120", "Programming Fundamentals", "python 3, algorithms 2, debugging 3, version control 2 .8, problem solving 3"),
			course("CIS 215", "Object-Oriented Software Development", "", "java 4, object-oriented programming 4, software testing 3, debugging 3, version control 3, software design 3 .8"),
			course("CIS 230", "Database Systems", "sql 4, data modelling 4, relational databases 4, query tuning 2 .7, data quality 2 .6"),
			course("CIS 245", "Web Applications", "javascript 3, html and css 4, rest interfaces 3, version control 3, web accessibility 2 .8, software testing 2"),
			course("CIS 260", "Operating Systems and Cloud", "linux administration 3, operating systems 4, cloud computing 3, shell scripting 3, containers 2 .8, networking 2"),
			course("CIS 275", "Network Security", "information security 4, networking 4, risk assessment 3, incident response 2, cryptography 2 .7"),
			course("DAT 110", "Statistics for Data Analysis", "statistics 3, spreadsheets 4, data visualization 2, probability 3 .9, data quality 3"),
			course("DAT 220", "Data Engineering", "python 4, sql 3, data pipelines 3, data modelling 3, cloud computing 2, data quality 3"),
			course("DAT 250", "Machine Learning", "machine learning 3, python 4, statistics 4, model evaluation 3, data visualization 3 .8"),
			course("BUS 140", "Project Management", "project management 3, agile methods 3, stakeholder communication 3, risk assessment 2, technical writing 3"),
			course("ENG 105", "Writing Workshop", "", ""),
		},
		Jobs: []alignment.JobProfile{
			namedJob("15-1252", "Software Developers", "object-oriented programming 4, software testing 4, version control 3, rest interfaces 3, sql 3 .9, software design 4 .9, algorithms 4 .8, containers 3 .7, agile methods 3 .7, code review 3 .6, continuous integration 3 .6"),
			namedJob("15-2051", "Data Scientists", "statistics 4, python 4, machine learning 4, sql 3, data visualization 4 .9, model evaluation 4 .9, data ethics 3 .6, stakeholder communication 3 .6"),
			namedJob("15-1212", "Information Security Analysts", "information security 4, networking 3, risk assessment 4, incident response 4, cryptography 3 .8, security auditing 3 .8, shell scripting 2 .6, technical writing 3 .5"),
			namedJob("15-1254", "Web Developers", "javascript 4, html and css 4, rest interfaces 3, web accessibility 3 .9, version control 3, software testing 3 .8, user interface design 3 .8"),
			namedJob("job_analyst", "Junior data analyst, Harbor Logistics", "spreadsheets 4, sql 2, data visualization 2, data quality 2 .8"),
			namedJob("job_intern", "IT intern (requirements to follow)", ""),
		},
		Market: map[string]any{
			"15-1252": json.RawMessage(`{"socCode":"15-1252","name":"Software Developers","cipCodes":["11.0701"],"totalEmployment":309000,"medianAnnualWage":173780,"wagePercentiles":{"p10":96420,"p25":132210,"p75":215860,"p90":239200},"projectedGrowth":0.158,"annualOpenings":115200,"typicalEducation":"Bachelor's degree","source":"Invented for tests"}`),
			"15-2051": json.RawMessage(`{"socCode":"15-2051","name":"Data Scientists","cipCodes":["30.7001"],"totalEmployment":null,"medianAnnualWage":null,"wagePercentiles":{"p10":null,"p25":null,"p75":null,"p90":null},"projectedGrowth":-0.02,"annualOpenings":900,"typicalEducation":null,"source":"Invented for tests"}`),
			"15-1254": json.RawMessage(`{"socCode":"15-1254","name":"Web Developers","cipCodes":["11.0801"],"totalEmployment":13720,"medianAnnualWage":97410,"wagePercentiles":{"p10":48900,"p25":66000,"p75":133000,"p90":171000},"projectedGrowth":0.075,"annualOpenings":7400,"typicalEducation":"Bachelor's degree","source":"Invented for tests"}`),
		},
	}
	for _, c := range r.Courses {
		r.Record.Settings.Courses = append(r.Record.Settings.Courses, c.Profile.CourseID)
	}
	for _, j := range r.Jobs {
		lib := "soc"
		if strings.HasPrefix(j.JobID, "job_") {
			lib = "custom"
		}
		r.Record.Settings.Jobs = append(r.Record.Settings.Jobs, catalog.ReportJob{ID: j.JobID, Lib: lib})
	}
	return r
}

var views = []string{alignment.AlignmentView, alignment.CoverageView, alignment.GapView, alignment.MarketView}

func TestReportGoldens(t *testing.T) {
	for _, view := range views {
		r := college(view)
		text, err := json.MarshalIndent(r.Result(), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, view+".json", append(text, '\n'))
		for name, write := range map[string]func(io.Writer) error{".csv": r.WriteCSV, ".html": r.WriteHTML} {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			golden(t, view+name, b.Bytes())
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
