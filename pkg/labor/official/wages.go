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

// hoursPerYear makes a year's wage of an hour's, as the survey does.
const hoursPerYear = 2080

// undated is the vintage of a file that names no period.
const undated = "undated"

// ReadWages reads a file of the Occupational Employment and Wage Statistics, as csv
// or xlsx, told apart by the header:
//
//   - the official layout (national, state, metropolitan, all data). The cap that #
//     stands for and the period come from its sheet Field Descriptions, else the
//     period from the sheet's name. Only cross-industry lines count.
//   - the state of Washington's: hourly wages, here times 2,080 hours and rounded to
//     10 dollars; no 10th and 90th percentile; an empty wage is Suppressed, or
//     HourlyOnly where the year's mean is empty but an hourly median is there.
//   - the state of New York's: annual median, no percentiles; its own regions are
//     skipped, the state is read.
//
// Kept are occupations of the level "detailed", among which the survey counts the
// codes of its groups (labor.Group): 831 nationally in May 2024. Totals, major and minor
// groups are not kept, nor broad occupations whose members are published.
//
// vintage overrides what the file says of its period; empty takes the file's word,
// which is "undated" where it says nothing (New York).
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
			defer t.close()
			return readWages(t, layout, vintage)
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// wageLayout is a form in which the survey is published. line returns the row of the
// current line, or ok false for one that is not kept.
type wageLayout struct {
	columns []column
	survey  string
	notes   func(b *book, t *table) wageNotes
	line    func(t *table, notes wageNotes) (w labor.Wage, title string, ok bool, err error)
}

// wageNotes are what a file says about itself.
type wageNotes struct {
	vintage string
	cap     int
}

var wageLayouts = []wageLayout{
	{
		columns: []column{
			col("AREA", "AREA"), col("AREA_TITLE", "AREA_TITLE"), col("AREA_TYPE", "AREA_TYPE"),
			col("OCC_CODE", "OCC_CODE"), col("OCC_TITLE", "OCC_TITLE"), col("O_GROUP", "O_GROUP|OCC_GROUP"),
			col("TOT_EMP", "TOT_EMP"), col("A_PCT10", "A_PCT10"), col("A_PCT25", "A_PCT25"),
			col("A_MEDIAN", "A_MEDIAN"), col("A_PCT75", "A_PCT75"), col("A_PCT90", "A_PCT90"),
			col("HOURLY", "HOURLY"), optional("I_GROUP", "I_GROUP"),
		},
		survey: "BLS OEWS",
		notes:  officialNotes,
		line:   officialLine,
	},
	{
		columns: []column{
			col("Year", "Year"), col("Area code", "Area code"), col("Area name", "Area name"),
			col("SOC code", "SOC code"), col("Occupational title", "Occupational title"), col("Employment", "Employment"),
			col("25th Percentile", "25th Percentile"), col("50th Percentile", "50th Percentile"),
			col("75th Percentile", "75th Percentile"), col("Annual wage", "Annual wage"),
		},
		survey: "OEWS as published by the state of Washington",
		notes:  func(*book, *table) wageNotes { return wageNotes{} },
		line:   washingtonLine,
	},
	{
		columns: []column{
			col("Area Type", "Area Type"), col("Area", "Area"), col("Area Name", "Area Name"),
			col("Standard Occupational Code", "Standard Occupational Code"), col("Occupational Title", "Occupational Title"),
			col("Employment", "Employment"), col("Median Wage", "Median Wage"),
		},
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
	for {
		more, err := t.scan()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		w, title, ok, err := layout.line(t, notes)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if w.Area == (labor.Area{}) {
			file.Skipped++
			continue
		}
		k := key{w.Area, w.SOCCode}
		if line, twice := lines[k]; twice {
			return nil, &FileError{Sheet: t.sheet, Line: t.line,
				Reason: fmt.Sprintf("%s in %s stands in line %d already", w.SOCCode, title, line)}
		}
		lines[k] = t.line
		if vintage != "" {
			w.Vintage = vintage
		}
		if file.Vintage == "" {
			file.Vintage = w.Vintage
		}
		if w.Vintage != file.Vintage {
			return nil, &FileError{Sheet: t.sheet, Line: t.line, Reason: "a second period: " + w.Vintage + " after " + file.Vintage}
		}
		if _, known := sources[w.Area]; !known {
			region := surveyRegion(w.Area, title)
			sources[w.Area] = layout.survey + ", " + w.Vintage + ", " + region.Name
			file.Regions = append(file.Regions, region)
		}
		w.Source = sources[w.Area]
		file.Wages = append(file.Wages, w)
	}
	if len(file.Wages) == 0 {
		return nil, &FileError{Sheet: t.sheet, Line: t.line, Reason: "no detailed occupation below the header"}
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
		d.close()
	}
	return notes
}

// The kinds of areas of the official layout that are regions of the service.
var officialAreas = map[string]labor.RegionType{"1": labor.National, "2": labor.State, "3": labor.State, "4": labor.MSA}

var areaForm = regexp.MustCompile(`^[0-9]{1,7}$`)

func officialLine(t *table, notes wageNotes) (w labor.Wage, title string, ok bool, err error) {
	if group := t.cell("I_GROUP"); t.has("I_GROUP") && !strings.EqualFold(group, "cross-industry") {
		return w, "", false, nil
	}
	if !strings.EqualFold(t.cell("O_GROUP"), "detailed") {
		return w, "", false, nil
	}
	area, err := t.code("AREA", areaForm.MatchString, "99, 06 or 41860")
	if err != nil {
		return w, "", false, err
	}
	switch officialAreas[t.cell("AREA_TYPE")] {
	case labor.National:
		w.Area = labor.Nation
	case labor.State:
		if area = strings.TrimLeft(area, "0"); !labor.IsState(area) {
			return w, "", false, t.errorAt("AREA", "%q is no state", t.cell("AREA"))
		}
		w.Area = labor.StateArea(area)
	case labor.MSA:
		if area = strings.TrimLeft(area, "0"); !labor.IsCBSA(area) {
			return w, "", false, t.errorAt("AREA", "%q is no metropolitan area", t.cell("AREA"))
		}
		w.Area = labor.Area{RegionType: labor.MSA, Region: area}
	default:
		if _, err := t.number("AREA_TYPE"); err != nil {
			return w, "", false, err
		}
		return w, "", true, nil
	}
	if err := t.occupation(&w, "OCC_CODE", "OCC_TITLE"); err != nil {
		return w, "", false, err
	}
	if title, err = t.text("AREA_TITLE"); err != nil {
		return w, "", false, err
	}
	unpublished := catalog.Suppressed
	switch hourly := t.cell("HOURLY"); strings.ToUpper(hourly) {
	case "TRUE", "1":
		unpublished = catalog.HourlyOnly
	case "", "FALSE", "0":
	default:
		return w, "", false, t.errorAt("HOURLY", "%q is neither TRUE nor empty", hourly)
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
				return w, "", false, t.errorAt(columnsOf[f.Name].official, "# is for wages")
			}
			*f.Value = &notes.cap
			w.Lacks(f.Name, catalog.TopCoded)
		default:
			n, err := t.number(columnsOf[f.Name].official)
			if err != nil {
				return w, "", false, err
			}
			*f.Value = whole(n)
		}
	}
	w.Vintage = notes.vintage
	return w, title, true, nil
}

func washingtonLine(t *table, _ wageNotes) (w labor.Wage, title string, ok bool, err error) {
	if !kept(t.cell("SOC code")) {
		return w, "", false, nil
	}
	area, err := t.code("Area code", areaForm.MatchString, "000053 or 042660")
	if err != nil {
		return w, "", false, err
	}
	switch area = strings.TrimLeft(area, "0"); len(area) {
	case 1, 2:
		w.Area = labor.StateArea(area)
	case 5:
		w.Area = labor.Area{RegionType: labor.MSA, Region: area}
	default:
		return w, "", true, nil
	}
	if err := t.occupation(&w, "SOC code", "Occupational title"); err != nil {
		return w, "", false, err
	}
	if title, err = t.text("Area name"); err != nil {
		return w, "", false, err
	}
	if err := t.employment(&w); err != nil {
		return w, "", false, err
	}
	hourlyOnly := t.cell("Annual wage") == "" && t.cell("50th Percentile") != ""
	for _, f := range w.Figures()[1:] {
		switch {
		case hourlyOnly:
			w.Lacks(f.Name, catalog.HourlyOnly)
		case columnsOf[f.Name].washington == "" || t.cell(columnsOf[f.Name].washington) == "":
			w.Lacks(f.Name, catalog.Suppressed)
		default:
			hourly, err := t.number(columnsOf[f.Name].washington)
			if err != nil {
				return w, "", false, err
			}
			*f.Value = whole(math.Round(hourly*hoursPerYear/10) * 10)
		}
	}
	if w.Vintage, err = t.code("Year", yearForm.MatchString, "2022"); err != nil {
		return w, "", false, err
	}
	return w, title, true, nil
}

var yearForm = regexp.MustCompile(`^[0-9]{4}$`)

func newYorkLine(t *table, notes wageNotes) (w labor.Wage, title string, ok bool, err error) {
	if !kept(t.cell("Standard Occupational Code")) {
		return w, "", false, nil
	}
	if t.cell("Area Type") != "1" {
		if _, err := t.number("Area Type"); err != nil {
			return w, "", false, err
		}
		return w, "", true, nil
	}
	area, err := t.code("Area", labor.IsState, "36")
	if err != nil {
		return w, "", false, err
	}
	w.Area = labor.StateArea(area)
	if err := t.occupation(&w, "Standard Occupational Code", "Occupational Title"); err != nil {
		return w, "", false, err
	}
	if title, err = t.text("Area Name"); err != nil {
		return w, "", false, err
	}
	if err := t.employment(&w); err != nil {
		return w, "", false, err
	}
	for _, f := range w.Figures()[1:] {
		w.Lacks(f.Name, catalog.Suppressed)
	}
	if t.cell("Median Wage") != "" {
		n, err := t.number("Median Wage")
		if err != nil {
			return w, "", false, err
		}
		w.MedianAnnualWage = whole(n)
		delete(w.Reasons, "medianAnnualWage")
	}
	w.Vintage = notes.vintage
	return w, title, true, nil
}

// kept reports whether a layout without levels shows an occupation under this code:
// all but totals and groups, except the groups that are published as one.
func kept(soc string) bool {
	return labor.Groups()[soc] != nil || !strings.HasSuffix(soc, "0")
}

// columnsOf returns the columns of a figure in the layouts that have several.
var columnsOf = map[string]struct{ official, washington string }{
	"totalEmployment":  {"TOT_EMP", "Employment"},
	"medianAnnualWage": {"A_MEDIAN", "50th Percentile"},
	"p10":              {official: "A_PCT10"},
	"p25":              {"A_PCT25", "25th Percentile"},
	"p75":              {"A_PCT75", "75th Percentile"},
	"p90":              {official: "A_PCT90"},
}

// occupation reads the code and title of a line.
func (t *table) occupation(w *labor.Wage, code, title string) (err error) {
	if w.SOCCode, err = t.code(code, labor.IsSOC, "15-1252"); err != nil {
		return err
	}
	w.Name, err = t.text(title)
	return err
}

// employment reads the column of that name, empty where not published.
func (t *table) employment(w *labor.Wage) error {
	if t.cell("Employment") == "" {
		w.Lacks("totalEmployment", catalog.Suppressed)
		return nil
	}
	n, err := t.number("Employment")
	if err != nil {
		return err
	}
	w.TotalEmployment = whole(n)
	return nil
}

// number returns a cell that must be a number, not below 0 and below a billion.
func (t *table) number(column string) (float64, error) {
	cell := t.cell(column)
	n, err := strconv.ParseFloat(cell, 64)
	if err != nil || !(n >= 0 && n < 1e9) {
		return 0, t.errorAt(column, "%q is no number from 0 to 999999999", cell)
	}
	return n, nil
}

func whole(n float64) *int {
	i := int(math.Round(n))
	return &i
}
