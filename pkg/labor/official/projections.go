package official

import (
	"io"
	"regexp"
	"strconv"
	"strings"

	"skillscurriculum/pkg/labor"
)

var periodForm = regexp.MustCompile(`([0-9]{4})\s*[-–—]\s*([0-9]{2,4})`)

// ReadProjections reads table 1.2 of the Employment Projections (occupation.xlsx, the
// whole workbook or the sheet as csv). Growth, there in percent, becomes a fraction;
// openings, there in thousands, become jobs. Kept are line items: 832 occupations in
// 2024-34, groups that are projected as one among them; summaries are not kept. The
// period comes from the header. A dash is a figure that is not published.
func ReadProjections(r io.Reader, progress labor.Progress) ([]labor.Projection, error) {
	b, err := openBook(r, progress)
	if err != nil {
		return nil, err
	}
	defer b.close()
	t, err := b.open(
		col("title", `.*National Employment Matrix title`), col("code", `.*National Employment Matrix code`),
		col("type", `Occupation type`), col("growth", `Employment change, percent.*`),
		col("openings", `Occupational openings.*annual average.*`), col("education", `Typical education needed for entry`))
	if err != nil {
		return nil, err
	}
	defer t.close()
	period := periodForm.FindStringSubmatch(t.title("openings"))
	if period == nil {
		return nil, t.errorAt("openings", "the header names no period")
	}
	if !strings.Contains(strings.Join(t.above, " "), "thousands") {
		return nil, &FileError{Sheet: t.sheet, Line: 1, Reason: "the title does not say that employment is in thousands"}
	}
	vintage := period[1] + "-" + period[2][len(period[2])-2:]

	var projections []labor.Projection
	seen := map[string]bool{}
	for {
		more, err := t.scan()
		if err != nil {
			return nil, err
		}
		// The notes below the table have no code.
		if !more || t.cell("code") == "" {
			break
		}
		if t.cell("type") != "Line item" {
			continue
		}
		p := labor.Projection{Vintage: vintage, Source: "BLS Employment Projections, " + vintage + ", United States"}
		if p.SOCCode, err = t.code("code", labor.IsSOC, "15-1252"); err != nil {
			return nil, err
		}
		if seen[p.SOCCode] {
			return nil, t.errorAt("code", "%s stands above already", p.SOCCode)
		}
		seen[p.SOCCode] = true
		if p.Name, err = t.text("title"); err != nil {
			return nil, err
		}
		percent, err := t.published("growth", -100)
		if err != nil {
			return nil, err
		}
		if percent != nil {
			p.ProjectedGrowth = labor.Fraction(*percent)
		}
		thousands, err := t.published("openings", 0)
		if err != nil {
			return nil, err
		}
		if thousands != nil {
			p.AnnualOpenings = whole(*thousands * 1000)
		}
		if education := t.cell("education"); !isDash(education) {
			p.TypicalEducation = &education
		}
		projections = append(projections, p)
	}
	if len(projections) == 0 {
		return nil, &FileError{Sheet: t.sheet, Line: t.line, Reason: "no line item below the header"}
	}
	return projections, nil
}

// published returns a cell that is a number or, for nil, a dash.
func (t *table) published(column string, least float64) (*float64, error) {
	cell := t.cell(column)
	if isDash(cell) {
		return nil, nil
	}
	n, err := strconv.ParseFloat(cell, 64)
	if err != nil || !(n >= least && n < 1e6) {
		return nil, t.errorAt(column, "%q is no number from %g to 999999, nor a dash", cell, least)
	}
	return &n, nil
}

func isDash(cell string) bool { return cell == "—" || cell == "–" || cell == "-" }
