package labor

import "skillscurriculum/pkg/catalog"

// TopWage is the survey's cap in dollars a year since May 2022, for a file that does
// not state it.
const TopWage = 239_200

// WageFile is what a file of the wage survey holds.
type WageFile struct {
	Wages []Wage // in the order of the file, one of each area and occupation
	// Regions are the areas of the wages under the titles that the survey gives
	// them, in the order of the file. They fill in what the region lists lack.
	Regions []Region
	Vintage string
	// Skipped counts lines of areas that are no region of the service:
	// nonmetropolitan areas, and regions that only a state delineates.
	Skipped int
}

// Figure is a figure of a row: its name in JSON and where it stands.
type Figure struct {
	Name  string
	Value **int
}

// Figures returns a row's figures, employment first.
func (w *Wage) Figures() []Figure {
	return []Figure{
		{"totalEmployment", &w.TotalEmployment}, {"medianAnnualWage", &w.MedianAnnualWage},
		{"p10", &w.WagePercentiles.P10}, {"p25", &w.WagePercentiles.P25}, {"p75", &w.WagePercentiles.P75}, {"p90", &w.WagePercentiles.P90},
	}
}

// Lacks notes why a figure is not there, or is no more than a bound.
func (w *Wage) Lacks(figure string, why catalog.WarningCode) {
	if w.Reasons == nil {
		w.Reasons = map[string]catalog.WarningCode{}
	}
	w.Reasons[figure] = why
}

// Progress is called now and then how many lines of a file were read. total is about
// what there is to read, and never below done.
type Progress func(done, total int)
