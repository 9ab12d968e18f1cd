package labor

import "skillscurriculum/pkg/catalog"

// TopWage is the survey's cap in dollars a year since May 2022, for files that do not state it.
const TopWage = 239_200

// WageFile is the content of a file of the wage survey.
type WageFile struct {
	Wages []Wage // in the order of the file, one for each area and occupation
	// Regions are the areas of the wages with the survey's titles, in the order of the
	// file. They supply names that the region lists lack.
	Regions []Region
	Vintage string
	// Skipped counts lines of areas that the service has no region for: nonmetropolitan
	// areas, and regions delineated only by a state.
	Skipped int
}

// Figure is a figure of a row: its JSON name and its address.
type Figure struct {
	Name  string
	Value **int
}

// Figures returns a row's figures, employment first.
func (w *Wage) Figures() []Figure {
	return []Figure{
		{"totalEmployment", &w.TotalEmployment}, {"medianAnnualWage", &w.MedianAnnualWage},
		{"p10", &w.WagePercentiles.P10}, {"p25", &w.WagePercentiles.P25}, {"p75", &w.WagePercentiles.P75},
		{"p90", &w.WagePercentiles.P90},
	}
}

// Lacks records why a figure is missing, or only a bound.
func (w *Wage) Lacks(figure string, why catalog.WarningCode) {
	if w.Reasons == nil {
		w.Reasons = map[string]catalog.WarningCode{}
	}
	w.Reasons[figure] = why
}

// Progress is called now and then with the number of lines read. total is an estimate of the whole, never below done.
type Progress func(done, total int)
