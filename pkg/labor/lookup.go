package labor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// Query asks for the occupations that programs of study lead to, for occupations by SOC
// code (as reports do), or for both.
type Query struct {
	CIPCodes []string // distinct, at most MaxCIPs
	SOCCodes []string // distinct
	Area     Area
}

// Answer is the response of GET /labor-market. Neither list is nil.
type Answer struct {
	Data     Market            `json:"data" doc:"Figures of the region"`
	Warnings []catalog.Warning `json:"warnings" doc:"Figures that are missing or come from a wider region or group, with the reason"`
}

// Market is a region's labor market for the requested programs. Occupations are ordered by
// totalEmployment, highest first and null last, then by code.
type Market struct {
	CIPCodes    []string     `json:"cipCodes" doc:"Requested CIP codes, NN.NNNN"`
	RegionType  RegionType   `json:"regionType" enum:"national,state,msa"`
	Region      string       `json:"region" doc:"US, a two-digit state FIPS code, or a CBSA code"`
	RegionName  string       `json:"regionName" doc:"Name of the region"`
	Vintage     Vintage      `json:"vintage" doc:"Periods and editions of the data"`
	Occupations []Occupation `json:"occupations" doc:"Occupations that the codes lead to, by totalEmployment, highest first, null last"`
}

// Occupation has the figures of one occupation. CIPCodes are the requested codes that lead
// to it. Source cites the survey and the projections, with period and region.
type Occupation struct {
	SOCCode          string          `json:"socCode"`
	Name             string          `json:"name" doc:"Name of the occupation"`
	CIPCodes         []string        `json:"cipCodes" doc:"Requested CIP codes that lead to the occupation"`
	TotalEmployment  *int            `json:"totalEmployment" doc:"Jobs of wage and salary workers"`
	MedianAnnualWage *int            `json:"medianAnnualWage" doc:"US dollars a year"`
	WagePercentiles  WagePercentiles `json:"wagePercentiles" doc:"US dollars a year"`
	ProjectedGrowth  *float64        `json:"projectedGrowth" doc:"Fraction over the projection period, national"`
	AnnualOpenings   *int            `json:"annualOpenings" doc:"Jobs a year, average of the projection period, national"`
	TypicalEducation *string         `json:"typicalEducation" doc:"Typical education needed for entry"`
	Source           string          `json:"source" doc:"Survey and projections of the figures, with period and region"`
	// WageArea is the area of the employment and wages; zero without any.
	WageArea  Area `json:"-"`
	Projected bool `json:"-"` // the projections cover it
}

// Lookup answers a query by the rules in the package comment. An unknown area is an invalid_parameter error; unknown
// codes are warnings. The same records always yield the same response, including the warnings and their order.
func Lookup(ctx context.Context, src Source, q Query) (Answer, error) {
	scope, err := src.Scope(ctx, q.Area, q.CIPCodes)
	if err != nil {
		return Answer{}, fmt.Errorf("labor market scope: %w", err)
	}
	if scope.Region == nil {
		return Answer{}, badParameter("region", q.Area.Region, "region %s is not a known %s", q.Area.Region,
			q.Area.RegionType)
	}
	a := answering{query: q, scope: scope, areas: widening(*scope.Region)}

	asked := a.occupations()
	socs := make([]string, 0, len(asked))
	for soc := range asked {
		socs = append(socs, soc)
		if group, ok := Group(soc); ok {
			socs = append(socs, group)
		}
	}
	slices.Sort(socs)
	socs = slices.Compact(socs)
	if len(socs) > 0 {
		if a.facts, err = src.Facts(ctx, a.areas, socs); err != nil {
			return Answer{}, fmt.Errorf("labor market facts: %w", err)
		}
	}

	entries := []entry{}
	for soc, cips := range asked {
		entries = append(entries, a.entry(soc, cips))
	}
	slices.SortFunc(entries, func(x, y entry) int {
		return cmp.Or(descending(x.TotalEmployment, y.TotalEmployment), cmp.Compare(x.SOCCode, y.SOCCode))
	})
	return a.answer(entries), nil
}

// answering is the state of one Lookup.
type answering struct {
	query    Query
	scope    Scope
	areas    []Area // the requested one, then wider ones
	facts    Facts
	warnings []catalog.Warning
}

// entry is an occupation with its warnings.
type entry struct {
	Occupation
	wage       *Wage
	projection *Projection
	warnings   []catalog.Warning
}

func (e *entry) warn(code catalog.WarningCode, format string, args ...any) {
	e.warnings = append(e.warnings, catalog.Warning{Code: code, Message: fmt.Sprintf(format, args...), SOCCode: e.SOCCode})
}

// widening returns the areas whose rows may be used for a region, narrowest first.
func widening(r Region) []Area {
	areas := []Area{r.Area}
	if r.State != "" {
		areas = append(areas, Area{State, r.State})
	}
	if r.Area != Nation {
		areas = append(areas, Nation)
	}
	return areas
}

// occupations returns the requested occupations, each with the programs that lead to it.
func (a *answering) occupations() map[string][]string {
	programs := map[string][]string{}
	for _, soc := range a.query.SOCCodes {
		programs[soc] = []string{}
	}
	for _, code := range a.query.CIPCodes {
		cip, known := a.scope.CIPs[code]
		switch {
		case !known:
			a.warnings = append(a.warnings, catalog.Warning{Code: catalog.UnknownCIP, CIPCode: code,
				Message: "The crosswalk has no CIP code " + code + "."})
		case len(cip.SOCCodes) == 0:
			a.warnings = append(a.warnings, catalog.Warning{Code: catalog.NoMatch, CIPCode: code,
				Message: "The crosswalk matches CIP code " + code + " to no occupation."})
		}
		for _, soc := range cip.SOCCodes {
			programs[soc] = append(programs[soc], code)
		}
	}
	return programs
}

func (a *answering) entry(soc string, cips []string) entry {
	e := entry{Occupation: Occupation{SOCCode: soc, CIPCodes: cips}, wage: a.wage(soc), projection: a.projection(soc)}
	e.Name = a.name(e)
	if e.Name == "" {
		return e
	}
	var sources []string
	if e.wage != nil {
		e.fillWages(a.scope.Region)
		sources = append(sources, e.wage.Source)
	} else {
		e.warn(catalog.NoFigures, "The wage survey publishes no figures for %s.", e.Name)
	}
	if e.projection != nil {
		e.fillProjection()
		sources = append(sources, e.projection.Source)
	} else {
		e.warn(catalog.NoFigures, "The projections do not cover %s.", e.Name)
	}
	e.Source = strings.Join(sources, "; ")
	return e
}

// wage returns the row of the narrowest area for an occupation, or nil. Within an area the
// occupation's own row takes precedence over its group's.
func (a *answering) wage(soc string) *Wage {
	group, _ := Group(soc)
	for _, area := range a.areas {
		for _, code := range []string{soc, group} {
			if w, ok := a.facts.Wages[area][code]; ok {
				return &w
			}
		}
	}
	return nil
}

func (a *answering) projection(soc string) *Projection {
	group, _ := Group(soc)
	for _, code := range []string{soc, group} {
		if p, ok := a.facts.Projections[code]; ok {
			return &p
		}
	}
	return nil
}

// name returns an occupation's title, empty if no source has the code.
func (a *answering) name(e entry) string {
	switch {
	case a.facts.Names[e.SOCCode] != "":
		return a.facts.Names[e.SOCCode]
	case e.wage != nil && e.wage.SOCCode == e.SOCCode:
		return e.wage.Name
	case e.projection != nil && e.projection.SOCCode == e.SOCCode:
		return e.projection.Name
	}
	return ""
}

func (e *entry) fillWages(asked *Region) {
	w := e.wage
	e.WageArea = w.Area
	e.TotalEmployment, e.MedianAnnualWage, e.WagePercentiles = w.TotalEmployment, w.MedianAnnualWage, w.WagePercentiles
	if w.Area != asked.Area {
		e.warn(catalog.RegionFallback, "There are no employment and wage figures for %s in %s; these are from %s.", e.Name,
			asked.Name, w.Source)
	}
	if w.SOCCode != e.SOCCode {
		e.warn(catalog.OccupationGroup,
			"%s is surveyed only as part of %s %s; employment and wages are those of the group.", e.Name, w.SOCCode, w.Name)
	}
	if names := w.figures(catalog.Suppressed); names != "" {
		e.warn(catalog.Suppressed, "The survey does not publish %s for %s.", names, e.Name)
	}
	if names := w.figures(catalog.HourlyOnly); names != "" {
		e.warn(catalog.HourlyOnly, "The survey publishes only hourly wages for %s, so %s is not available.", e.Name, names)
	}
	if names := w.figures(catalog.TopCoded); names != "" {
		e.warn(catalog.TopCoded,
			"%s for %s is the highest wage that the survey publishes; the true wage is that much or more.", names, e.Name)
	}
}

func (e *entry) fillProjection() {
	p := e.projection
	e.Projected = true
	e.ProjectedGrowth, e.AnnualOpenings, e.TypicalEducation = p.ProjectedGrowth, p.AnnualOpenings, p.TypicalEducation
	if p.SOCCode != e.SOCCode {
		e.warn(catalog.OccupationGroup,
			"%s is projected only as part of %s %s; growth, openings and education are those of the group.", e.Name,
			p.SOCCode, p.Name)
	}
	var missing []string
	for name, absent := range map[string]bool{"projectedGrowth": p.ProjectedGrowth == nil,
		"annualOpenings": p.AnnualOpenings == nil, "typicalEducation": p.TypicalEducation == nil} {
		if absent {
			missing = append(missing, name)
		}
	}
	if slices.Sort(missing); len(missing) > 0 {
		e.warn(catalog.Suppressed, "The projections do not publish %s for %s.", strings.Join(missing, ", "), e.Name)
	}
}

// figures names the figures that have a reason, in a fixed order.
func (w *Wage) figures(reason catalog.WarningCode) string {
	var names []string
	for name, r := range w.Reasons {
		if r == reason {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func (a *answering) answer(entries []entry) Answer {
	region := a.scope.Region
	market := Market{
		CIPCodes:   append([]string{}, a.query.CIPCodes...),
		RegionType: region.RegionType, Region: region.Region, RegionName: region.Name,
		Vintage: a.scope.Vintage, Occupations: []Occupation{},
	}
	warnings := append([]catalog.Warning{}, a.warnings...)
	var details []catalog.Warning
	var periods []string
	projected := false
	for _, e := range entries {
		if e.Name == "" {
			warnings = append(warnings, catalog.Warning{Code: catalog.UnknownSOC, SOCCode: e.SOCCode,
				Message: "No source has the occupation " + e.SOCCode + "."})
			continue
		}
		market.Occupations = append(market.Occupations, e.Occupation)
		details = append(details, e.warnings...)
		projected = projected || e.projection != nil
		if e.wage != nil && !slices.Contains(periods, e.wage.Vintage) {
			periods = append(periods, e.wage.Vintage)
		}
	}
	if slices.Sort(periods); len(periods) > 0 {
		market.Vintage.Wages = strings.Join(periods, ", ")
	}
	if projected && region.Area != Nation {
		warnings = append(warnings, catalog.Warning{Code: catalog.RegionFallback,
			Message: "projectedGrowth, annualOpenings and typicalEducation are national: " +
				"projections are published for the nation only."})
	}
	return Answer{Data: market, Warnings: append(warnings, details...)}
}

// descending orders numbers from highest to lowest, nil last.
func descending(x, y *int) int {
	switch {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return 1
	case y == nil:
		return -1
	}
	return cmp.Compare(*y, *x)
}
