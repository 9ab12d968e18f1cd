package official

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
)

// hoursPerYear converts hourly wages to annual ones, as the survey does.
const hoursPerYear = 2080

// undated is the vintage of a file without a period.
const undated = "undated"

// ReadWages reads a file of the Occupational Employment and Wage Statistics, as CSV or
// XLSX, in one of these layouts, recognized by the header:
//
//   - the official layout (national, state, metropolitan, all data). The cap marked by #
//     and the period come from its sheet Field Descriptions, or else the period from the
//     sheet's name. Only cross-industry lines count.
//   - the state of Washington's: hourly wages, multiplied by 2,080 hours and rounded to
//     10 dollars; no 10th and 90th percentiles; an empty wage is Suppressed, or
//     HourlyOnly if the annual mean is empty but there is an hourly median.
//   - the state of New York's: annual median, no percentiles; the state is read, its own
//     regions are skipped.
//
// It keeps occupations of the level "detailed", which includes the survey's groups (labor.Group): 831 nationally in May
// 2024. It drops totals, major and minor groups, and broad occupations whose members are published.
//
// A non-empty vintage overrides the file's period; a file without one (New York) is "undated".
func ReadWages(r io.Reader, vintage string, progress labor.Progress) (*labor.WageFile, error) {
	b, err := openBook(r, progress)
	if err != nil {
		return nil, err
	}
	defer b.close()
	var first error
	for _, layout := range wageLayouts {
		t, err := b.open(layout.columns...)
		if err == nil {
			return readWages(t, layout, vintage)
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// wageLayout is a layout in which the survey is published. line returns the row of the
// current line; ok is false for a line that is not kept.
type wageLayout struct {
	columns []column
	survey  string
	notes   func(b *book, t *table) wageNotes
	line    func(t *table, notes wageNotes) (w labor.Wage, title string, ok bool)
}

// wageNotes is a file's information about itself.
type wageNotes struct {
	vintage string
	cap     int
}

var wageLayouts = []wageLayout{
	{
		columns: append(named("AREA", "AREA_TITLE", "AREA_TYPE", "OCC_CODE", "OCC_TITLE", "TOT_EMP", "A_PCT10", "A_PCT25",
			"A_MEDIAN", "A_PCT75", "A_PCT90", "HOURLY"), col("O_GROUP", "O_GROUP|OCC_GROUP"), optional("I_GROUP", "I_GROUP")),
		survey: "BLS OEWS",
		notes:  officialNotes,
		line:   officialLine,
	},
	{
		columns: named("Year", "Area code", "Area name", "SOC code", "Occupational title", "Employment", "25th Percentile",
			"50th Percentile", "75th Percentile", "Annual wage"),
		survey: "OEWS as published by the state of Washington",
		notes:  func(*book, *table) wageNotes { return wageNotes{} },
		line:   washingtonLine,
	},
	{
		columns: named("Area Type", "Area", "Area Name", "Standard Occupational Code", "Occupational Title", "Employment",
			"Median Wage"),
		survey: "OEWS as published by the state of New York",
		notes:  func(*book, *table) wageNotes { return wageNotes{vintage: undated} },
		line:   newYorkLine,
	},
}

func readWages(t *table, layout wageLayout, vintage string) (*labor.WageFile, error) {
	notes := layout.notes(t.book, t)
	file := &labor.WageFile{}
	type key struct {
		labor.Area
		soc string
	}
	lines := map[key]int{}
	sources := map[labor.Area]string{}
	for t.scan() {
		w, title, ok := layout.line(t, notes)
		if !ok || t.err != nil {
			continue
		}
		if w.Area == (labor.Area{}) {
			file.Skipped++
			continue
		}
		k := key{w.Area, w.SOCCode}
		if line, twice := lines[k]; twice {
			return nil, &FileError{Sheet: t.sheet, Line: t.line,
				Reason: fmt.Sprintf("%s in %s is a duplicate of line %d", w.SOCCode, title, line)}
		}
		lines[k] = t.line
		if vintage != "" {
			w.Vintage = vintage
		}
		if file.Vintage == "" {
			file.Vintage = w.Vintage
		}
		if w.Vintage != file.Vintage {
			return nil, &FileError{
				Sheet: t.sheet, Line: t.line, Reason: "a second period: " + w.Vintage + " after " + file.Vintage,
			}
		}
		if _, known := sources[w.Area]; !known {
			region := surveyRegion(w.Area, title)
			sources[w.Area] = layout.survey + ", " + w.Vintage + ", " + region.Name
			file.Regions = append(file.Regions, region)
		}
		w.Source = sources[w.Area]
		file.Wages = append(file.Wages, w)
	}
	if err := t.end(len(file.Wages), "detailed occupation"); err != nil {
		return nil, err
	}
	return file, nil
}

func surveyRegion(area labor.Area, title string) labor.Region {
	switch area.RegionType {
	case labor.National:
		return labor.Region{Area: area, Name: "United States"}
	case labor.MSA:
		return labor.Region{Area: area, Name: title, State: labor.StateOfMetro(title)}
	}
	return labor.Region{Area: area, Name: title}
}

var (
	estimatesForm = regexp.MustCompile(`^\s*(\w+ \d{4}) (?:OEWS|OES) Estimates`)
	sheetYearForm = regexp.MustCompile(`_M(\d{4})`)
	capForm       = regexp.MustCompile(`\$([0-9,]+) per year`)
)

func officialNotes(b *book, t *table) wageNotes {
	notes := wageNotes{cap: labor.TopWage, vintage: undated}
	if m := sheetYearForm.FindStringSubmatch(t.sheet); m != nil {
		notes.vintage = "May " + m[1]
	}
	for _, sheet := range b.sheets() {
		if !strings.Contains(strings.ToLower(sheet), "description") {
			continue
		}
		d, err := b.table(sheet)
		if err != nil {
			continue
		}
		for {
			_, cells, err := d.next()
			if err != nil {
				break
			}
			text := strings.Join(cells, " ")
			if m := estimatesForm.FindStringSubmatch(text); m != nil {
				notes.vintage = m[1]
			}
			if m := capForm.FindStringSubmatch(text); m != nil && strings.Contains(text, "#") {
				if dollars, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", "")); err == nil {
					notes.cap = dollars
				}
			}
		}
	}
	return notes
}

// officialAreas maps the area types of the official layout to the service's kinds of region.
var officialAreas = map[string]labor.RegionType{"1": labor.National, "2": labor.State, "3": labor.State, "4": labor.MSA}

var areaForm = regexp.MustCompile(`^[0-9]{1,7}$`)

func officialLine(t *table, notes wageNotes) (w labor.Wage, title string, ok bool) {
	if group := t.cell("I_GROUP"); t.has("I_GROUP") && !strings.EqualFold(group, "cross-industry") {
		return w, "", false
	}
	if !strings.EqualFold(t.cell("O_GROUP"), "detailed") {
		return w, "", false
	}
	area := t.code("AREA", areaForm.MatchString, "99, 06 or 41860")
	switch officialAreas[t.cell("AREA_TYPE")] {
	case labor.National:
		w.Area = labor.Nation
	case labor.State:
		if area = strings.TrimLeft(area, "0"); !labor.IsState(area) {
			t.fail("AREA", "%q is not a state", t.cell("AREA"))
		}
		w.Area = labor.StateArea(area)
	case labor.MSA:
		if area = strings.TrimLeft(area, "0"); !labor.IsCBSA(area) {
			t.fail("AREA", "%q is not a metropolitan area", t.cell("AREA"))
		}
		w.Area = labor.Area{RegionType: labor.MSA, Region: area}
	default:
		t.number("AREA_TYPE")
		return w, "", true
	}
	t.occupation(&w, "OCC_CODE", "OCC_TITLE")
	title = t.text("AREA_TITLE")
	unpublished := catalog.Suppressed
	switch hourly := t.cell("HOURLY"); strings.ToUpper(hourly) {
	case "TRUE", "1":
		unpublished = catalog.HourlyOnly
	case "", "FALSE", "0":
	default:
		t.fail("HOURLY", "%q is neither TRUE nor empty", hourly)
	}
	for _, f := range w.Figures() {
		switch cell := t.cell(columnsOf[f.Name].official); cell {
		case "", "*", "**":
			w.Lacks(f.Name, catalog.Suppressed)
			if f.Name != "totalEmployment" {
				w.Lacks(f.Name, unpublished)
			}
		case "#":
			if f.Name == "totalEmployment" {
				t.fail(columnsOf[f.Name].official, "# is allowed for wages only")
			}
			*f.Value = &notes.cap
			w.Lacks(f.Name, catalog.TopCoded)
		default:
			*f.Value = whole(t.number(columnsOf[f.Name].official))
		}
	}
	w.Vintage = notes.vintage
	return w, title, true
}

func washingtonLine(t *table, _ wageNotes) (w labor.Wage, title string, ok bool) {
	if !kept(t.cell("SOC code")) {
		return w, "", false
	}
	area := t.code("Area code", areaForm.MatchString, "000053 or 042660")
	switch area = strings.TrimLeft(area, "0"); len(area) {
	case 1, 2:
		w.Area = labor.StateArea(area)
	case 5:
		w.Area = labor.Area{RegionType: labor.MSA, Region: area}
	default:
		return w, "", true
	}
	t.occupation(&w, "SOC code", "Occupational title")
	title = t.text("Area name")
	t.employment(&w)
	hourlyOnly := t.cell("Annual wage") == "" && t.cell("50th Percentile") != ""
	for _, f := range w.Figures()[1:] {
		switch {
		case hourlyOnly:
			w.Lacks(f.Name, catalog.HourlyOnly)
		case columnsOf[f.Name].washington == "" || t.cell(columnsOf[f.Name].washington) == "":
			w.Lacks(f.Name, catalog.Suppressed)
		default:
			*f.Value = whole(math.Round(t.number(columnsOf[f.Name].washington)*hoursPerYear/10) * 10)
		}
	}
	w.Vintage = t.code("Year", yearForm.MatchString, "2022")
	return w, title, true
}

var yearForm = regexp.MustCompile(`^[0-9]{4}$`)

func newYorkLine(t *table, notes wageNotes) (w labor.Wage, title string, ok bool) {
	if !kept(t.cell("Standard Occupational Code")) {
		return w, "", false
	}
	if t.cell("Area Type") != "1" {
		t.number("Area Type")
		return w, "", true
	}
	area := t.code("Area", labor.IsState, "36")
	w.Area = labor.StateArea(area)
	t.occupation(&w, "Standard Occupational Code", "Occupational Title")
	title = t.text("Area Name")
	t.employment(&w)
	for _, f := range w.Figures()[1:] {
		w.Lacks(f.Name, catalog.Suppressed)
	}
	if t.cell("Median Wage") != "" {
		w.MedianAnnualWage = whole(t.number("Median Wage"))
		delete(w.Reasons, "medianAnnualWage")
	}
	w.Vintage = notes.vintage
	return w, title, true
}

// kept reports whether a code of a layout without levels is an occupation: not a total or a
// group, except groups that are published as one.
func kept(soc string) bool {
	return labor.Groups()[soc] != nil || !strings.HasSuffix(soc, "0")
}

// columnsOf has the columns of each figure in the layouts that have several.
var columnsOf = map[string]struct{ official, washington string }{
	"totalEmployment":  {"TOT_EMP", "Employment"},
	"medianAnnualWage": {"A_MEDIAN", "50th Percentile"},
	"p10":              {official: "A_PCT10"},
	"p25":              {"A_PCT25", "25th Percentile"},
	"p75":              {"A_PCT75", "75th Percentile"},
	"p90":              {official: "A_PCT90"},
}

// occupation reads the code and title of a line.
func (t *table) occupation(w *labor.Wage, code, title string) {
	w.SOCCode, w.Name = t.code(code, labor.IsSOC, "15-1252"), t.text(title)
}

// employment reads the column of that name; empty means not published.
func (t *table) employment(w *labor.Wage) {
	if t.cell("Employment") == "" {
		w.Lacks("totalEmployment", catalog.Suppressed)
		return
	}
	w.TotalEmployment = whole(t.number("Employment"))
}

// number returns a cell that must be a number from 0 to below a billion.
func (t *table) number(column string) float64 {
	cell := t.cell(column)
	n, err := strconv.ParseFloat(cell, 64)
	if err != nil || !(n >= 0 && n < 1e9) {
		t.fail(column, "%q is not a number from 0 to 999999999", cell)
	}
	return n
}

func whole(n float64) *int {
	i := int(math.Round(n))
	return &i
}
