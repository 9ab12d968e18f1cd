package alignment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
)

// Masthead is what every page names: the organization ("" if it has no name), the record, and the day on which the
// page was made.
type Masthead struct {
	Organization, Record string
	Made                 catalog.Time
}

// Page is a report for human readers: a heat map of its courses against its jobs (or of its
// skills against its courses) and the skills missing for each job, or for the market view the
// figures. Parts names its sections in their order. Package page renders it as HTML.
type Page struct {
	ID, Name, Description string
	View                  string
	Created, Day          string
	Facts                 []fact
	Warnings              []catalog.Warning
	Parts                 []string
	Courses               []pageCourse
	Jobs                  []pageJob
	Skills                []skillGroup
	Occupations           []pageOccupation
	National              bool   // the figures requested are national
	Region                string // the region requested
	Surveyed              string // the regions that have figures
	Notes                 []catalog.Warning
	WideJobs              bool // so many jobs that their columns must be narrow
	WideCourses           bool
	Narrowed              bool // limited to the settings' skills
}

type fact struct{ Label, Value string }

type cell struct{ Text, Class, Aside string }

type pageCourse struct {
	Code, Name string
	Cells      []cell
}

type pageJob struct {
	Name     string
	Cell     cell
	Percent  float64
	Required int
	Missing  []GapSkill
}

// skillGroup is the skills that were requested, or those taught in addition.
type skillGroup struct {
	Title  string
	Skills []pageSkill
}

type pageSkill struct {
	Name             string
	Required, Taught cell
	Cells            []cell
}

type pageOccupation struct {
	Wider string // the area of its employment and wages, if wider than the region

	Code, Name, Employment, Median, Range, Growth, Openings, Education, Source string
}

// Level returns a level's name.
func (Page) Level(level int) string { return levelName(level) }

// SkillColumns returns the number of columns of the table of skills.
func (p Page) SkillColumns() int { return 3 + len(p.Courses) }

// Wider reports whether some employment and wages are for a wider area.
func (p Page) Wider() bool {
	return slices.ContainsFunc(p.Occupations, func(o pageOccupation) bool { return o.Wider != "" })
}

// Page returns the report for human readers.
func (r Report) Page() Page {
	s := r.survey()
	view := r.Record.Settings.View
	if view == "" {
		view = AlignmentView
	}
	p := Page{
		ID: r.Record.ID, Name: r.Record.Name, Description: valueOf(r.Record.Description), View: view,
		Created: r.Record.CreatedAt.String(), Day: r.Record.CreatedAt.Std().Format("2 January 2006"),
		Courses: s.pageCourses(), Jobs: s.pageJobs(), Warnings: r.warnings(s),
		WideJobs: len(s.jobs) > 10, WideCourses: len(s.courses) > 16, Narrowed: len(s.skills) > 0,
	}
	switch view {
	case CoverageView:
		p.Parts, p.Skills = []string{"skills", "gaps"}, s.pageSkills()
	case GapView:
		p.Parts = []string{"gaps", "courses"}
	case MarketView:
		all := s.occupations(r.Market)
		p.Parts, p.Occupations = []string{"market"}, pageOccupations(all, r.Region)
		p.National, p.Region, p.Surveyed = r.Region.Area == labor.Nation, r.Region.Name, surveyed(r.Surveyed)
		p.Facts = []fact{{"Area", areaName(r.Region)}, {"Occupations", strconv.Itoa(len(all))}}
		p.Notes = r.MarketNotes
	default:
		p.Parts = []string{"courses", "gaps"}
	}
	if p.Facts == nil {
		p.Facts = s.facts()
	}
	return p
}

func (s survey) facts() []fact {
	facts := []fact{{"Courses", strconv.Itoa(len(s.courses))}, {"Jobs", strconv.Itoa(len(s.jobs))}}
	required, met := 0, 0
	for _, item := range s.coverage() {
		if item.MaxRequiredLevel > 0 {
			required++
			if item.MaxTaughtLevel >= item.MaxRequiredLevel {
				met++
			}
		}
	}
	if required > 0 {
		facts = append(facts, fact{"Skills required", strconv.Itoa(required)}, fact{
			"Of these met in full", fmt.Sprintf("%d (%d%%)", met, percent(fraction(int64(met), int64(required)))),
		})
	}
	return facts
}

func (s survey) pageCourses() []pageCourse {
	items := s.alignment()
	courses := make([]pageCourse, len(s.courses))
	for i, c := range s.courses {
		courses[i] = pageCourse{Code: c.profile.CourseCode, Name: c.profile.CourseName}
		for _, j := range s.jobs {
			courses[i].Cells = append(courses[i].Cells, scoreCell(items[0].Score, j))
			items = items[1:]
		}
	}
	return courses
}

func (s survey) pageJobs() []pageJob {
	items := s.gap()
	jobs := make([]pageJob, len(s.jobs))
	for i, j := range s.jobs {
		jobs[i] = pageJob{
			Name: j.profile.JobName, Cell: scoreCell(items[i].Coverage, j), Percent: items[i].Coverage * 100,
			Required: len(j.requirements), Missing: items[i].MissingSkills,
		}
	}
	return jobs
}

// areaName returns a region's name with its code.
func areaName(r labor.Region) string {
	switch r.RegionType {
	case labor.State:
		return r.Name + " (state " + r.Region + ")"
	case labor.MSA:
		return r.Name + " (metropolitan area " + r.Region + ")"
	}
	return r.Name + " (national)"
}

// pageSkills separates the requested skills, by the settings or else by the jobs, from those
// that the courses teach in addition.
func (s survey) pageSkills() []skillGroup {
	asked := skillGroup{Title: "Required by the jobs"}
	also := skillGroup{Title: "Also taught, required by none of the jobs"}
	switch {
	case len(s.skills) > 0:
		asked.Title = "Skills that this report asks for"
	case len(s.jobs) == 0:
		also.Title = "Taught"
	}
	for _, item := range s.coverage() {
		skill := pageSkill{
			Name:     item.SkillName,
			Required: cell{Text: strconv.Itoa(item.MaxRequiredLevel), Class: "plain"},
			Taught:   levelCell(item.MaxTaughtLevel, item.MaxRequiredLevel),
		}
		if item.MaxRequiredLevel == 0 {
			skill.Required = cell{"–", "plain", " not required"}
		}
		if item.MaxRequiredLevel > 0 && item.MaxTaughtLevel == 0 {
			skill.Taught = cell{Text: "none", Class: "absent"}
		}
		for _, c := range s.courses {
			skill.Cells = append(skill.Cells, levelCell(c.taught[item.SkillID], item.MaxRequiredLevel))
		}
		group := &also
		if len(s.skills) > 0 || item.MaxRequiredLevel > 0 {
			group = &asked
		}
		group.Skills = append(group.Skills, skill)
	}
	return filter([]skillGroup{asked, also}, func(g skillGroup) bool { return len(g.Skills) > 0 })
}

// levelCell shows a taught level, shaded by its share of the required one.
func levelCell(taught, required int) cell {
	switch {
	case taught == 0:
		return cell{"–", "b0", " not taught"}
	case required == 0:
		return cell{Text: strconv.Itoa(taught), Class: "extra"}
	}
	return cell{Text: strconv.Itoa(taught), Class: band(percent(fraction(credit(taught, required), whole)))}
}

func pageOccupations(all []labor.Occupation, region labor.Region) []pageOccupation {
	var shown []pageOccupation
	for _, o := range all {
		p := pageOccupation{
			Code: o.SOCCode, Name: o.Name,
			Education: cmp.Or(valueOf(o.TypicalEducation), unknown), Source: cmp.Or(o.Source, unknown),
			Employment: amount("", o.TotalEmployment), Median: amount("$", o.MedianAnnualWage),
			Range:  amount("$", o.WagePercentiles.P10) + " to " + amount("$", o.WagePercentiles.P90),
			Growth: growth(o.ProjectedGrowth), Openings: amount("", o.AnnualOpenings),
		}
		if wider(o, region) {
			p.Wider = areaOf(o.WageArea)
		}
		if o.WagePercentiles.P10 == nil && o.WagePercentiles.P90 == nil {
			p.Range = unknown
		}
		shown = append(shown, p)
	}
	return shown
}

// scoreCell shows the score for a job; a job without requirements has none.
func scoreCell(score float64, j surveyedJob) cell {
	if len(j.requirements) == 0 {
		return cell{"–", "plain", " no requirements known"}
	}
	return cell{Text: strconv.Itoa(percent(score)), Class: band(percent(score))}
}

// percent returns a score in whole percent; only 1 is 100, and only 0 is 0.
func percent(score float64) int {
	switch {
	case score <= 0:
		return 0
	case score >= 1:
		return 100
	}
	return min(max(int(math.Round(score*100)), 1), 99)
}

// band returns the CSS class for a percentage's shade: none, the four quarters, all.
func band(percent int) string {
	switch percent {
	case 0:
		return "b0"
	case 100:
		return "b5"
	}
	return "b" + strconv.Itoa(1+percent/25)
}

func levelName(l int) string {
	return [...]string{"", "1 remember", "2 understand", "3 apply", "4 analyze", "5 create"}[l]
}

const unknown = "not known"

// amount formats a number with thousands separators.
func amount(currency string, n *int) string {
	if n == nil {
		return unknown
	}
	digits := strconv.Itoa(*n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return currency + b.String()
}

// growth formats a fraction as a signed percentage.
func growth(f *float64) string {
	if f == nil {
		return unknown
	}
	return strings.Replace(fmt.Sprintf("%+.1f%%", *f*100), "-", "−", 1)
}
