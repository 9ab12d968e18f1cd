package alignment_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/alignment/page"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
)

var masthead = alignment.Masthead{Organization: "Hill <College>", Record: "rpt_1", Made: 1_795_428_000_000}

// pageOf writes a report's page.
func pageOf(r alignment.Report) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := page.Pages{}.Report(w, masthead, r, func(view string) string { return "?view=" + view })
		return err
	}
}

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
			CourseProfile: c.Profile, SectionID: fmt.Sprintf("%s_sec%d", id, i+1),
			SectionName:   fmt.Sprintf("%s, section %d", name, i+1),
			SectionSkills: refs(skills),
		})
	}
	return c
}

func namedJob(id, name, requirements string) alignment.JobProfile {
	job := alignment.JobProfile{JobID: id, JobName: name, SkillRequirements: refs(requirements)}
	if !strings.HasPrefix(id, "job_") {
		job.SOCCode = id
	}
	return job
}

// college is a report of 12 courses and 6 jobs as a college would ask for one.
func college(view string) alignment.Report {
	description := "How the courses of the Software and Data program prepare for the jobs that employers of the region " +
		"advertised this year."
	r := alignment.Report{
		Record: catalog.Report{
			Meta: catalog.Meta{ID: "rpt_1", OrganizationID: "org_1", CreatedAt: 1795248000000, UpdatedAt: 1795248000000},
			Name: "Software and Data: courses and regional jobs", Description: &description,
			Settings: catalog.ReportSettings{
				View: view, Version: 1, Skills: []catalog.ReportSkill{}, Area: &catalog.ReportArea{Code: "06"},
			},
		},
		Courses: []alignment.ReportCourse{
			course("CIS 101", "Introduction to Computing",
				"computer literacy 2, spreadsheets 3, operating systems 1, information security 1 .6, technical writing 2 .5"),
			course("CIS 120", "Programming Fundamentals",
				"python 3, algorithms 2, debugging 3, version control 2 .8, problem solving 3"),
			course("CIS 215", "Object-Oriented Software Development", "",
				"java 4, object-oriented programming 4, software testing 3, debugging 3, version control 3, software design 3 .8"),
			course("CIS 230", "Database Systems",
				"sql 4, data modelling 4, relational databases 4, query tuning 2 .7, data quality 2 .6"),
			course("CIS 245", "Web Applications",
				"javascript 3, html and css 4, rest interfaces 3, version control 3, web accessibility 2 .8, software testing 2"),
			course("CIS 260", "Operating Systems and Cloud",
				"linux administration 3, operating systems 4, cloud computing 3, shell scripting 3, containers 2 .8, networking 2"),
			course("CIS 275", "Network Security",
				"information security 4, networking 4, risk assessment 3, incident response 2, cryptography 2 .7"),
			course("DAT 110", "Statistics for Data Analysis",
				"statistics 3, spreadsheets 4, data visualization 2, probability 3 .9, data quality 3"),
			course("DAT 220", "Data Engineering",
				"python 4, sql 3, data pipelines 3, data modelling 3, cloud computing 2, data quality 3"),
			course("DAT 250", "Machine Learning",
				"machine learning 3, python 4, statistics 4, model evaluation 3, data visualization 3 .8"),
			course("BUS 140", "Project Management",
				"project management 3, agile methods 3, stakeholder communication 3, risk assessment 2, technical writing 3"),
			course("ENG 105", "Writing Workshop", "", ""),
		},
		Jobs: []alignment.JobProfile{
			namedJob("15-1252", "Software Developers",
				"object-oriented programming 4, software testing 4, version control 3, rest interfaces 3, sql 3 .9, software "+
					"design 4 .9, algorithms 4 .8, containers 3 .7, agile methods 3 .7, code review 3 .6, continuous integration 3 .6"),
			namedJob("15-2051", "Data Scientists",
				"statistics 4, python 4, machine learning 4, sql 3, data visualization 4 .9, model evaluation 4 .9, data ethics "+
					"3 .6, stakeholder communication 3 .6"),
			namedJob("15-1212", "Information Security Analysts",
				"information security 4, networking 3, risk assessment 4, incident response 4, cryptography 3 .8, security "+
					"auditing 3 .8, shell scripting 2 .6, technical writing 3 .5"),
			namedJob("15-1254", "Web Developers",
				"javascript 4, html and css 4, rest interfaces 3, web accessibility 3 .9, version control 3, software testing 3 "+
					".8, user interface design 3 .8"),
			namedJob("job_analyst", "Junior data analyst, Harbor Logistics",
				"spreadsheets 4, sql 2, data visualization 2, data quality 2 .8"),
			namedJob("job_intern", "IT intern (requirements to follow)", ""),
		},
		Market: occupations(`[
			{"socCode":"15-1252","name":"Software Developers","cipCodes":["11.0701"],"totalEmployment":309000,"medianAnnualWage":173780,"wagePercentiles":{"p10":96420,"p25":132210,"p75":215860,"p90":239200},"projectedGrowth":0.158,"annualOpenings":115200,"typicalEducation":"Bachelor's degree","source":"Invented for tests"},
			{"socCode":"15-2051","name":"Data Scientists","cipCodes":["30.7001"],"totalEmployment":null,"medianAnnualWage":null,"wagePercentiles":{"p10":null,"p25":null,"p75":null,"p90":null},"projectedGrowth":-0.02,"annualOpenings":900,"typicalEducation":null,"source":"Invented for tests"},
			{"socCode":"15-1254","name":"Web Developers","cipCodes":["11.0801"],"totalEmployment":13720,"medianAnnualWage":97410,"wagePercentiles":{"p10":48900,"p25":66000,"p75":133000,"p90":171000},"projectedGrowth":0.075,"annualOpenings":7400,"typicalEducation":"Bachelor's degree","source":"Invented for tests"}
		]`),
		Region: labor.Region{Area: labor.StateArea("06"), Name: "California"},
		Surveyed: []labor.Region{
			{Area: labor.Nation, Name: "United States"}, {Area: labor.StateArea("06"), Name: "California"},
			{Area: labor.StateArea("53"), Name: "Washington"}, {Area: labor.Area{RegionType: labor.MSA, Region: "31080"}, Name: "Los Angeles"},
		},
		MarketNotes: []catalog.Warning{
			{Code: catalog.HourlyOnly, SOCCode: "15-1254", Message: "The survey publishes only hourly wages for Web Developers."},
		},
	}
	for _, c := range r.Courses {
		r.CourseIDs = append(r.CourseIDs, c.Profile.CourseID)
	}
	r.Record.Settings.Courses = r.CourseIDs
	for _, j := range r.Jobs {
		lib := "soc"
		if strings.HasPrefix(j.JobID, "job_") {
			lib = "custom"
		}
		r.Record.Settings.Jobs = append(r.Record.Settings.Jobs, catalog.ReportJob{ID: j.JobID, Lib: lib})
	}
	return r
}

// occupations reads figures by SOC code from a JSON array.
func occupations(text string) map[string]labor.Occupation {
	var all []labor.Occupation
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		panic(err)
	}
	market := map[string]labor.Occupation{}
	for _, o := range all {
		o.WageArea, o.Projected = labor.StateArea("06"), true
		if o.MedianAnnualWage == nil {
			o.WageArea = labor.Nation
		}
		market[o.SOCCode] = o
	}
	return market
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
		for name, write := range map[string]func(io.Writer) error{".csv": r.WriteCSV, ".html": pageOf(r)} {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			golden(t, view+name, unstyled.ReplaceAll(b.Bytes(), []byte("$1…$2")))
		}
	}
}

// unstyled finds the style sheet of a page that all have, and the digests.
var unstyled = regexp.MustCompile(`(?s)(<style>/\*|style-src &#39;sha256-).*?(</style>|&#39;;)`)

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

// report draws a report with loose ends: sections and jobs without skills,
// settings that name something twice, or something that is gone.
func report(view string) *rapid.Generator[alignment.Report] {
	return rapid.Custom(func(t *rapid.T) alignment.Report {
		r := alignment.Report{Record: catalog.Report{Settings: catalog.ReportSettings{View: view}}}
		for c := range rapid.IntRange(0, 4).Draw(t, "courses") {
			id := fmt.Sprintf("crs%d", c)
			loaded := alignment.ReportCourse{Profile: catalog.CourseProfile{
				CourseID: id, CourseName: "Course " + id, CourseCode: id,
			}}
			for n := range rapid.IntRange(0, 3).Draw(t, "sections") {
				section := catalog.SectionProfile{
					CourseProfile: loaded.Profile, SectionID: fmt.Sprintf("%s_sec%d", id, n),
					SectionSkills: skillList(4).Draw(t, "skills"),
				}
				loaded.Sections = append(loaded.Sections, section)
			}
			if n := len(loaded.Sections); n > 0 {
				loaded.Profile.CourseDefaultSectionID = loaded.Sections[rapid.IntRange(0, n-1).Draw(t, "default")].SectionID
			}
			r.Courses = append(r.Courses, loaded)
		}
		r.Jobs = jobs(4).Draw(t, "jobs")
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 4), 0, 5).Draw(t, "named courses") {
			r.CourseIDs = append(r.CourseIDs, fmt.Sprintf("crs%d", n))
		}
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 4), 0, 5).Draw(t, "named jobs") {
			r.Record.Settings.Jobs = append(r.Record.Settings.Jobs, catalog.ReportJob{
				ID: fmt.Sprintf("job%d", n), Lib: "custom",
			})
		}
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 9), 0, 4).Draw(t, "named skills") {
			r.Record.Settings.Skills = append(r.Record.Settings.Skills, catalog.ReportSkill{ID: fmt.Sprintf("s%d", n)})
		}
		return r
	})
}

// mentions collects the ids that a JSON value holds under some keys, except in
// the profiles of lookupData.
func mentions(v any, into map[string]map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			mentions(item, into)
		}
	case map[string]any:
		for key, value := range v {
			key = strings.TrimSuffix(key, "s")
			for _, one := range append([]any{value}, arrayOf(value)...) {
				if id, ok := one.(string); ok && into[key] != nil {
					into[key][id] = true
				}
			}
			mentions(value, into)
		}
	}
}

func arrayOf(v any) []any {
	list, _ := v.([]any)
	return list
}

// TestReportLaws holds for every view: the order in which things were loaded has
// no say, and lookupData is complete and minimal.
func TestReportLaws(t *testing.T) {
	for _, view := range views {
		t.Run(view, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				r := report(view).Draw(t, "report")
				text, err := json.Marshal(r.Result())
				if err != nil {
					t.Fatal(err)
				}
				shuffled := r
				shuffled.Courses, shuffled.Jobs = slices.Clone(r.Courses), slices.Clone(r.Jobs)
				slices.Reverse(shuffled.Courses)
				slices.Reverse(shuffled.Jobs)
				if again, err := json.Marshal(shuffled.Result()); err != nil || !bytes.Equal(text, again) {
					t.Fatalf("not the same bytes, error %v:\n%s\n%s", err, text, again)
				}

				var plain struct {
					Data       any                         `json:"data"`
					LookupData map[string][]map[string]any `json:"lookupData"`
				}
				if err := json.Unmarshal(text, &plain); err != nil {
					t.Fatal(err)
				}
				if nulls := regexp.MustCompile(`"(\w+)":null`).FindAllStringSubmatch(string(text[bytes.Index(text,
					[]byte(`"data":`)):]), -1); slices.ContainsFunc(nulls, func(m []string) bool {
					return m[1] != "sectionId" && m[1] != "sectionInstructorName"
				}) {
					t.Fatalf("null in %s", text)
				}
				want := map[string]map[string]bool{"courseId": {}, "sectionId": {}, "jobId": {}, "skillId": {}}
				mentions(plain.Data, want)
				for _, id := range r.CourseIDs {
					if slices.ContainsFunc(r.Courses, func(c alignment.ReportCourse) bool { return c.Profile.CourseID == id }) {
						want["courseId"][id] = true
					}
				}
				for _, j := range r.Record.Settings.Jobs {
					if slices.ContainsFunc(r.Jobs, func(l alignment.JobProfile) bool { return l.JobID == j.ID }) {
						want["jobId"][j.ID] = true
					}
				}
				for _, s := range r.Record.Settings.Skills {
					want["skillId"][s.ID] = true
				}
				for key, ids := range want {
					var profiles []string
					for _, p := range plain.LookupData[strings.TrimSuffix(key, "Id")+"Profiles"] {
						profiles = append(profiles, p[key].(string))
					}
					slices.Sort(profiles)
					var named []string
					for id := range ids {
						named = append(named, id)
					}
					slices.Sort(named)
					if diff := cmp.Diff(named, profiles); diff != "" {
						t.Fatalf("%s mentioned and looked up (-want +got):\n%s\nin %s", key, diff, text)
					}
				}

				for _, write := range []func(io.Writer) error{r.WriteCSV, pageOf(r)} {
					if err := write(io.Discard); err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	}
}

// TestViewsAgree checks scores by definition, and one view against another.
func TestViewsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := report(alignment.AlignmentView).Draw(t, "report")
		chosen := func(id string) bool {
			skills := r.Record.Settings.Skills
			return len(skills) == 0 || slices.ContainsFunc(skills, func(s catalog.ReportSkill) bool { return s.ID == id })
		}
		taught := map[string]map[string]int{} // by course
		for _, item := range r.Result().Data {
			item := item.(alignment.AlignmentItem)
			levels := map[string]int{}
			for _, c := range r.Courses {
				for _, s := range c.Sections {
					if item.SectionID != nil && s.SectionID == *item.SectionID {
						for _, skill := range s.SectionSkills {
							levels[skill.SkillID] = skill.Level
						}
					}
				}
			}
			taught[item.CourseID] = levels
			var met, all float64
			var matched, missing []string
			for _, j := range r.Jobs {
				if j.JobID != item.JobID {
					continue
				}
				for _, q := range j.SkillRequirements {
					if !chosen(q.SkillID) {
						continue
					}
					all += q.Confidence
					met += q.Confidence * math.Min(1, float64(levels[q.SkillID])/float64(q.Level))
					if levels[q.SkillID] > 0 {
						matched = append(matched, q.SkillID)
					} else {
						missing = append(missing, q.SkillID)
					}
				}
			}
			want := 0.0
			if all > 0 {
				want = met / all
			}
			if math.Abs(item.Score-want) > 0.00005001 {
				t.Fatalf("%s for %s scores %v, want %v", item.CourseID, item.JobID, item.Score, want)
			}
			var gotMatched, gotMissing []string
			for _, m := range item.MatchedSkills {
				gotMatched = append(gotMatched, m.SkillID)
			}
			for _, m := range item.MissingSkills {
				gotMissing = append(gotMissing, m.SkillID)
			}
			if diff := cmp.Diff([][]string{matched, missing}, [][]string{gotMatched, gotMissing}); diff != "" {
				t.Fatalf("matched and missing (-want +got):\n%s", diff)
			}
		}

		r.Record.Settings.View = alignment.GapView
		for _, item := range r.Result().Data {
			item := item.(alignment.GapItem)
			for _, m := range item.MissingSkills {
				highest := 0
				for _, levels := range taught {
					highest = max(highest, levels[m.SkillID])
				}
				if highest != m.TaughtLevel || highest >= m.RequiredLevel || !chosen(m.SkillID) {
					t.Fatalf("gap %+v, but the highest level taught is %d", m, highest)
				}
			}
		}
	})
}

func TestRepresentingSection(t *testing.T) {
	tests := []struct {
		name     string
		sections []string
		want     string
	}{
		{"the default section, however small", []string{"sql 1", "python 2, java 2"}, "crs_A1_sec1"},
		{"else the one with the most skills", []string{"", "sql 1", "python 2, java 2", "go 3"}, "crs_A1_sec3"},
		{"the earliest of equals", []string{"", "", "sql 1", "go 3"}, "crs_A1_sec3"},
		{"none without skills", []string{"", ""}, ""},
		{"none without sections", nil, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := college(alignment.AlignmentView)
			r.Courses = []alignment.ReportCourse{course("A1", "Course", test.sections...)}
			r.CourseIDs = []string{"crs_A1"}
			item := r.Result().Data[0].(alignment.AlignmentItem)
			got := ""
			if item.SectionID != nil {
				got = *item.SectionID
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestChosenSkills: settings.skills are what the report is about.
func TestChosenSkills(t *testing.T) {
	r := college(alignment.CoverageView)
	r.Record.Settings.Skills = []catalog.ReportSkill{{ID: "sql"}, {ID: "welding"}, {ID: "data-ethics"}, {ID: "sql"}}
	r.Skills = []alignment.SkillProfile{{SkillID: "welding", SkillName: "Welding"}, {SkillID: "sql", SkillName: "SQL"}}
	want := []any{
		alignment.CoverageItem{
			SkillID: "sql", SkillName: "SQL", CourseIDs: []string{"crs_CIS230", "crs_DAT220"},
			JobIDs: []string{"15-1252", "15-2051", "job_analyst"}, MaxTaughtLevel: 4, MaxRequiredLevel: 3,
		},
		alignment.CoverageItem{SkillID: "welding", SkillName: "Welding", CourseIDs: []string{}, JobIDs: []string{}},
		alignment.CoverageItem{
			SkillID: "data-ethics", SkillName: "Data ethics", CourseIDs: []string{}, JobIDs: []string{"15-2051"},
			MaxRequiredLevel: 3,
		},
	}
	result := r.Result()
	if diff := cmp.Diff(want, result.Data); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}

	r.Record.Settings.View = alignment.GapView
	gaps := r.Result()
	wantGap := alignment.GapItem{
		JobID: "15-2051", Coverage: 0.625,
		MissingSkills: []alignment.GapSkill{{SkillID: "data-ethics", SkillName: "Data ethics", RequiredLevel: 3}},
	}
	if diff := cmp.Diff(any(wantGap), gaps.Data[1]); diff != "" {
		t.Errorf("gap (-want +got):\n%s", diff)
	}
	if n := len(gaps.LookupData.JobProfiles[1].SkillRequirements); n != 8 {
		t.Errorf("the job's profile lists %d requirements, want all 8", n)
	}
}

// TestCSVReadsBack wants RFC 4180, and no cell that a spreadsheet runs.
func TestCSVReadsBack(t *testing.T) {
	r := college(alignment.AlignmentView)
	r.Courses = []alignment.ReportCourse{course("=A1", "+1 \"quoted\", and\nbroken", "@sum 3")}
	r.CourseIDs = []string{"crs_=A1"}
	r.Jobs = []alignment.JobProfile{
		{JobID: "job_1", JobName: "-2+3", SkillRequirements: refs("@sum 4")}, {JobID: "job_2", JobName: "\tTabbed"},
	}
	r.Record.Settings.Jobs = []catalog.ReportJob{{ID: "job_1", Lib: "custom"}, {ID: "job_2", Lib: "custom"}}
	var b bytes.Buffer
	if err := r.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(b.Bytes())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"crs_=A1", "'=A1", "'+1 \"quoted\", and\nbroken", "crs_=A1_sec1", "job_1", "'-2+3", "0.75", "'@sum (3 of 4)", "", ""},
		{"crs_=A1", "'=A1", "'+1 \"quoted\", and\nbroken", "crs_=A1_sec1", "job_2", "'\tTabbed", "0", "", "",
			"No skill requirements are known for \tTabbed."},
	}
	if diff := cmp.Diff(want, rows[1:]); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if lines, feeds := strings.Count(b.String(), "\r\n"), strings.Count(b.String(), "\n"); lines != feeds {
		t.Errorf("%d of %d lines end in CRLF", lines, feeds)
	}
}

// TestReportWarnings wants to be told why a report is empty, and whose figures it shows.
func TestReportWarnings(t *testing.T) {
	r := college(alignment.MarketView)
	r.Courses, r.CourseIDs = []alignment.ReportCourse{course("A1", "Empty", "")}, []string{"crs_A1"}
	metro := labor.Area{RegionType: labor.MSA, Region: "31080"}
	r.Region = labor.Region{Area: metro, Name: "Los Angeles"}
	r.Market = map[string]labor.Occupation{
		"15-1252": {SOCCode: "15-1252", WageArea: metro, Projected: true},
		"15-2051": {SOCCode: "15-2051", WageArea: labor.Nation, Projected: true},
		"15-1212": {SOCCode: "15-1212", WageArea: labor.StateArea("06")},
		"15-1254": {SOCCode: "15-1254", WageArea: labor.Nation},
	}
	type brief struct {
		Code         catalog.WarningCode
		About        string
		Count, Total int
	}
	told := func(r alignment.Report) (all []brief) {
		for _, w := range r.Result().Warnings {
			all = append(all, brief{w.Code, w.CourseID + w.JobID, w.Count, w.Total})
		}
		return all
	}
	empty := []brief{{catalog.CourseWithoutSkills, "crs_A1", 0, 0}}
	intern := brief{catalog.JobWithoutSkills, "job_intern", 0, 0}
	want := append(empty, brief{catalog.JobWithoutSOC, "job_analyst", 0, 0}, intern, brief{catalog.JobWithoutSOC, "job_intern", 0, 0},
		brief{catalog.RegionFallback, "", 2, 4}, brief{catalog.RegionFallback, "", 1, 4}, brief{catalog.RegionFallback, "", 2, 4})
	if diff := cmp.Diff(want, told(r)); diff != "" {
		t.Errorf("market (-want +got):\n%s", diff)
	}
	for _, view := range []string{alignment.AlignmentView, alignment.CoverageView, alignment.GapView} {
		r.Record.Settings.View = view
		if diff := cmp.Diff(append(empty, intern), told(r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", view, diff)
		}
	}

	// In the nation nothing falls back.
	r.Record.Settings.View, r.Region = alignment.MarketView, labor.Region{Area: labor.Nation, Name: "United States"}
	for soc, o := range r.Market {
		o.WageArea = labor.Nation
		r.Market[soc] = o
	}
	if diff := cmp.Diff(want[:4], told(r)); diff != "" {
		t.Errorf("national (-want +got):\n%s", diff)
	}
}

// TestOwnJobsInMarket counts a job of the organization by its occupation, and an occupation once.
func TestOwnJobsInMarket(t *testing.T) {
	r := college(alignment.MarketView)
	r.Jobs[4].SOCCode, r.Jobs[5].SOCCode = "15-2051", "15-1211"
	var got []string
	for _, item := range r.Result().Data {
		text, _ := json.Marshal(item)
		var o labor.Occupation
		if err := json.Unmarshal(text, &o); err != nil {
			t.Fatal(err)
		}
		got = append(got, o.SOCCode)
	}
	if diff := cmp.Diff([]string{"15-1252", "15-2051", "15-1212", "15-1254", "15-1211"}, got); diff != "" {
		t.Errorf("occupations (-want +got):\n%s", diff)
	}
	for _, w := range r.Result().Warnings {
		if w.Code == catalog.JobWithoutSOC {
			t.Errorf("warned: %+v", w)
		}
	}
}

// TestCSVWarnings puts a warning on the rows that it is about, others on the first row, and makes one if there is none.
func TestCSVWarnings(t *testing.T) {
	column := func(r alignment.Report) (all []string) {
		var b bytes.Buffer
		if err := r.WriteCSV(&b); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if last := rows[0][len(rows[0])-1]; last != "warnings" {
			t.Fatalf("the last column is %s", last)
		}
		for _, row := range rows[1:] {
			all = append(all, row[len(row)-1])
		}
		return all
	}
	r := college(alignment.AlignmentView)
	r.Courses, r.CourseIDs = []alignment.ReportCourse{course("A1", "Full", "sql 3"), course("B1", "Empty", "")}, []string{"crs_A1", "crs_B1"}
	r.Jobs, r.Warnings = r.Jobs[:1], []catalog.Warning{{Code: catalog.SkillsNotInTaxonomy, Message: "Of the report."}}
	if diff := cmp.Diff([]string{"Of the report.", "None of the sections of B1 Empty has skills."}, column(r)); diff != "" {
		t.Errorf("alignment (-want +got):\n%s", diff)
	}
	r.Jobs = nil
	if diff := cmp.Diff([]string{"Of the report.; None of the sections of B1 Empty has skills."}, column(r)); diff != "" {
		t.Errorf("no rows (-want +got):\n%s", diff)
	}
}

func TestMarketWithoutEntries(t *testing.T) {
	r := college(alignment.MarketView)
	r.Market = nil
	text, err := json.Marshal(r.Result().Data)
	const want = `[{"socCode":"15-1252","name":"Software Developers"},{"socCode":"15-2051","name":"Data Scientists"},{"socCode":"15-1212","name":"Information Security Analysts"},{"socCode":"15-1254","name":"Web Developers"}]`
	if err != nil || string(text) != want {
		t.Errorf("got %s, %v", text, err)
	}
}

// TestPageIsClosed: whatever the names hold, the page runs nothing and fetches nothing.
func TestPageIsClosed(t *testing.T) {
	const evil = `</style><script src="https://evil.example/x.js">alert(1)</script><img src=x onerror=alert(1)>`
	for _, view := range views {
		r := college(view)
		description := evil
		r.Record.Name, r.Record.Description = evil, &description
		for i := range r.Courses {
			r.Courses[i].Profile.CourseName, r.Courses[i].Profile.CourseCode = evil, evil
		}
		for i := range r.Jobs {
			r.Jobs[i].JobName = evil
			for k := range r.Jobs[i].SkillRequirements {
				r.Jobs[i].SkillRequirements[k].SkillName = evil
			}
		}
		education := evil
		r.Market["15-1252"] = labor.Occupation{SOCCode: evil, Name: evil, TypicalEducation: &education, Source: evil}
		var b bytes.Buffer
		named := masthead
		named.Organization, named.Record = evil, evil
		if _, err := (page.Pages{}).Report(&b, named, r, func(view string) string { return "?view=" + view }); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		for _, banned := range []string{"<script", "<img", "<link", "<iframe", "url(", "@import"} {
			if strings.Contains(page, banned) {
				t.Errorf("%s: the page holds %s", view, banned)
			}
		}
		for _, tag := range regexp.MustCompile(`<[a-z][^>]*>`).FindAllString(page, -1) {
			if regexp.MustCompile(`\s(on\w+|style|src|href)=`).MatchString(tag) &&
				!regexp.MustCompile(`^<a href="\?view=[a-z]+">$`).MatchString(tag) {
				t.Errorf("%s: %s", view, tag)
			}
		}
		// One style sheet is all pages', the other is what this one prints on every sheet.
		styles := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindAllStringSubmatch(page, -1)
		if n := strings.Count(page, "<style"); n != 2 || len(styles) != 2 || strings.Count(page, "</style") != 2 {
			t.Fatalf("%s: %d style sheets", view, n)
		}
		policy := "style-src"
		for _, style := range styles {
			digest := sha256.Sum256([]byte(style[1]))
			policy += " 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) + "'"
		}
		if !strings.Contains(html.UnescapeString(page), "default-src 'none'; "+policy+";") {
			t.Errorf("%s: the policy does not know the style sheets, or knows more", view)
		}
	}
}
