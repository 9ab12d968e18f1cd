package official

import (
	"io"
	"regexp"
	"strconv"
	"strings"

	"skillscurriculum/pkg/labor"
)

var periodForm = regexp.MustCompile(`([0-9]{4})\s*[-–—]\s*([0-9]{2,4})`)

// ReadProjections reads table 1.2 of the Employment Projections (occupation.xlsx, the whole workbook or the sheet as
// CSV). It converts growth from percent to a fraction and openings from thousands to jobs. It keeps line items (832
// occupations in 2024-34, including groups that are projected as one) and drops summaries. The period comes from the
// header. A dash is a figure that is not published.
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
	period := periodForm.FindStringSubmatch(t.title("openings"))
	if period == nil {
		t.fail("openings", "the header has no period")
		return nil, t.err
	}
	if !strings.Contains(strings.Join(t.above, " "), "thousands") {
		return nil, &FileError{Sheet: t.sheet, Line: 1, Reason: "the title does not say that employment is in thousands"}
	}
	vintage := period[1] + "-" + period[2][len(period[2])-2:]

	var projections []labor.Projection
	seen := map[string]bool{}
	for t.scan() {
		if t.cell("code") == "" { // the notes below the table have none
			break
		}
		if t.cell("type") != "Line item" {
			continue
		}
		p := labor.Projection{
			SOCCode: t.code("code", labor.IsSOC, "15-1252"), Vintage: vintage,
			Source: "BLS Employment Projections, " + vintage + ", United States",
		}
		if seen[p.SOCCode] {
			t.fail("code", "%s is a duplicate of a line above", p.SOCCode)
		}
		seen[p.SOCCode] = true
		p.Name = t.text("title")
		if percent := t.published("growth", -100); percent != nil {
			p.ProjectedGrowth = labor.Fraction(*percent)
		}
		if thousands := t.published("openings", 0); thousands != nil {
			p.AnnualOpenings = whole(*thousands * 1000)
		}
		if education := t.cell("education"); !isDash(education) {
			p.TypicalEducation = &education
		}
		projections = append(projections, p)
	}
	if err := t.end(len(projections), "line item"); err != nil {
		return nil, err
	}
	return projections, nil
}

// published returns the number in a cell, or nil for a dash.
func (t *table) published(column string, least float64) *float64 {
	cell := t.cell(column)
	if isDash(cell) {
		return nil
	}
	n, err := strconv.ParseFloat(cell, 64)
	if err != nil || !(n >= least && n < 1e6) {
		t.fail(column, "%q is not a number from %g to 999999, nor a dash", cell, least)
	}
	return &n
}

func isDash(cell string) bool { return cell == "—" || cell == "–" || cell == "-" }
