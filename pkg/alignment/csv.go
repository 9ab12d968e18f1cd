package alignment

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
)

// WriteCSV writes the view chosen by the settings as one table (RFC 4180: a header, CRLF, UTF-8). Columns are named as
// in data; lists are joined by "; ". Text that a spreadsheet would interpret as a formula is prefixed with an
// apostrophe; numbers need none. The last column has the warnings about a row's course, job or occupation; the first
// row also has those about no row.
func (r Report) WriteCSV(w io.Writer) error {
	s := r.survey()
	var rows [][]string
	switch r.Record.Settings.View {
	case CoverageView:
		rows = s.coverageRows()
	case GapView:
		rows = s.gapRows()
	case MarketView:
		rows = s.marketRows(r.Market, r.Region)
	default:
		rows = s.alignmentRows()
	}
	out := csv.NewWriter(w)
	out.UseCRLF = true
	return out.WriteAll(withWarnings(rows, r.warnings(s)))
}

// withWarnings adds the column warnings. A table without rows gets one for the warnings about no row.
func withWarnings(rows [][]string, warnings []catalog.Warning) [][]string {
	header, rows := rows[0], rows[1:]
	about := make([][]string, len(rows))
	for _, w := range warnings {
		placed := false
		for column, id := range map[string]string{"courseId": w.CourseID, "jobId": w.JobID, "socCode": w.SOCCode} {
			at := slices.Index(header, column)
			if id == "" || at < 0 {
				continue
			}
			for i, row := range rows {
				if row[at] == text(id) && !slices.Contains(about[i], w.Message) {
					about[i], placed = append(about[i], w.Message), true
				}
			}
		}
		if placed {
			continue
		}
		if len(rows) == 0 {
			rows, about = [][]string{make([]string, len(header))}, [][]string{nil}
		}
		about[0] = append(about[0], w.Message)
	}
	table := [][]string{append(header, "warnings")}
	for i, row := range rows {
		table = append(table, append(row, list(about[i])))
	}
	return table
}

func (s survey) alignmentRows() [][]string {
	rows := [][]string{{"courseId", "courseCode", "courseName", "sectionId", "jobId", "jobName", "score", "matchedSkills",
		"missingSkills"}}
	items := s.alignment()
	for _, c := range s.courses {
		for _, j := range s.jobs {
			item := items[0]
			items = items[1:]
			var matched, missing []string
			for _, m := range item.MatchedSkills {
				matched = append(matched, fmt.Sprintf("%s (%d of %d)", m.SkillName, m.TaughtLevel, m.RequiredLevel))
			}
			for _, m := range item.MissingSkills {
				missing = append(missing, fmt.Sprintf("%s (%d)", m.SkillName, m.RequiredLevel))
			}
			rows = append(rows, []string{
				text(item.CourseID), text(c.profile.CourseCode), text(c.profile.CourseName), text(valueOf(item.SectionID)),
				text(item.JobID), text(j.profile.JobName), decimal(item.Score), list(matched), list(missing),
			})
		}
	}
	return rows
}

func (s survey) coverageRows() [][]string {
	rows := [][]string{{"skillId", "skillName", "maxTaughtLevel", "maxRequiredLevel", "courseIds", "courseCodes",
		"jobIds", "jobNames"}}
	codes, jobs := map[string]string{}, map[string]string{}
	for _, c := range s.courses {
		codes[c.profile.CourseID] = c.profile.CourseCode
	}
	for _, j := range s.jobs {
		jobs[j.profile.JobID] = j.profile.JobName
	}
	named := func(ids []string, names map[string]string) string {
		var all []string
		for _, id := range ids {
			all = append(all, names[id])
		}
		return list(all)
	}
	for _, item := range s.coverage() {
		rows = append(rows, []string{
			text(item.SkillID), text(item.SkillName), strconv.Itoa(item.MaxTaughtLevel), strconv.Itoa(item.MaxRequiredLevel),
			list(item.CourseIDs), named(item.CourseIDs, codes), list(item.JobIDs), named(item.JobIDs, jobs),
		})
	}
	return rows
}

// gapRows returns a row for each missing skill, and one without a skill for a job that lacks none.
func (s survey) gapRows() [][]string {
	rows := [][]string{{"jobId", "jobName", "coverage", "skillId", "skillName", "requiredLevel", "taughtLevel"}}
	for i, item := range s.gap() {
		job := []string{text(item.JobID), text(s.jobs[i].profile.JobName), decimal(item.Coverage)}
		for _, m := range item.MissingSkills {
			rows = append(rows, slices.Concat(job, []string{
				text(m.SkillID), text(m.SkillName), strconv.Itoa(m.RequiredLevel), strconv.Itoa(m.TaughtLevel),
			}))
		}
		if len(item.MissingSkills) == 0 {
			rows = append(rows, slices.Concat(job, []string{"", "", "", ""}))
		}
	}
	return rows
}

func (s survey) marketRows(market map[string]labor.Occupation, asked labor.Region) [][]string {
	rows := [][]string{{"socCode", "name", "totalEmployment", "medianAnnualWage", "p10", "p25", "p75", "p90",
		"projectedGrowth", "annualOpenings", "typicalEducation", "source", "wageArea"}}
	for _, o := range s.occupations(market) {
		p := o.WagePercentiles
		growth, area := "", ""
		if o.ProjectedGrowth != nil {
			growth = decimal(*o.ProjectedGrowth)
		}
		switch {
		case wider(o, asked):
			area = areaOf(o.WageArea)
		case o.WageArea == asked.Area:
			area = asked.Name
		}
		rows = append(rows, []string{
			text(o.SOCCode), text(o.Name), figure(o.TotalEmployment), figure(o.MedianAnnualWage),
			figure(p.P10), figure(p.P25), figure(p.P75), figure(p.P90),
			growth, figure(o.AnnualOpenings), text(valueOf(o.TypicalEducation)), text(o.Source), text(area),
		})
	}
	return rows
}

// text returns a cell that no spreadsheet interprets as a formula.
func text(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(s)[0]) {
		return "'" + s
	}
	return s
}

func list(all []string) string { return text(strings.Join(all, "; ")) }

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// figure formats a number, empty if unknown.
func figure(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}
