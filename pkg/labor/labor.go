// Package labor relates programs of study to occupations: which occupations a CIP code leads to, and their pay, demand
// and education in a region. It implements GET /labor-market (docs/contract.md). It is stateless and does no I/O of its
// own: records come through Source. Package official reads the files they are published in.
//
// # Sources
//
//   - CIP 2020 - SOC 2018 crosswalk, NCES and BLS.
//   - Occupational Employment and Wage Statistics (OEWS), BLS, and state
//     publications of the same survey.
//   - Employment Projections, BLS, table 1.2.
//   - Core based statistical areas as OMB delineates them, and the FIPS codes of the
//     states.
//
// Starter is a small built-in table for a service that has imported nothing.
//
// # Units
//
// Employment and openings count jobs (not thousands); openings are a yearly average over the projection period. Wages
// are US dollars a year before tax, for wage and salary workers only. Growth is a fraction over the whole projection
// period: 0.158 is 15.8 percent. The survey rounds employment to 10 jobs and wages to 10 dollars.
//
// # Rules
//
//   - A figure is a number, or nil with a reason; never a guess. TopCoded is the only
//     reason that accompanies a number: the wage is at least that much.
//   - Wage figures of an occupation come from a single row: that of the requested region,
//     else of the state that contains the whole metropolitan area, else of the nation. A
//     row that exists is used even if it suppresses a figure. Projections are published
//     for the nation only. Figures from a wider region are marked in Occupation.Source
//     and by the warning RegionFallback.
//   - Twelve groups of occupations are published only under the group's code (Group).
//     Their members show the group's figures with the warning OccupationGroup, because
//     the counts include the other members.
//   - Occupations that the sources leave out (the military, fishing) have nil figures
//     and the warning NoFigures.
package labor

import (
	"context"

	"skillscurriculum/pkg/catalog"
)

// RegionType is the kind of a region.
type RegionType string

// The kinds of regions. MSA accepts any CBSA code; the survey publishes metropolitan areas
// only, so a micropolitan area shows its state's or the nation's figures.
const (
	National RegionType = "national"
	State    RegionType = "state"
	MSA      RegionType = "msa"
)

// Area names a region: "US" for the nation, a two-digit FIPS code for a state, a five-digit CBSA code for an msa.
type Area struct {
	RegionType RegionType `json:"regionType" enum:"national,state,msa"`
	Region     string     `json:"region" doc:"US, a two-digit state FIPS code, or a five-digit CBSA code"`
}

// Nation is the area for national figures.
var Nation = Area{National, "US"}

// Region is an area with its name.
type Region struct {
	Area
	Name string `json:"name"`
	// State is the FIPS code of the state that contains the whole metropolitan area;
	// empty for other kinds of region and for an area that spans states.
	State string `json:"state,omitempty"`
}

// CIP is an instructional program of the crosswalk. SOCCodes are sorted, distinct and never nil; empty for NO MATCH.
type CIP struct {
	CIPCode  string   `json:"cipCode" doc:"CIP code, NN.NNNN"`
	Title    string   `json:"title" doc:"Title of the program of study"`
	SOCCodes []string `json:"socCodes" doc:"SOC codes of the occupations that the program leads to, sorted"`
}

// WagePercentiles are annual wages in US dollars; 10, 25, 75 and 90 percent of workers earn less.
type WagePercentiles struct {
	P10 *int `json:"p10" doc:"10th percentile wage, US dollars a year"`
	P25 *int `json:"p25" doc:"25th percentile wage, US dollars a year"`
	P75 *int `json:"p75" doc:"75th percentile wage, US dollars a year"`
	P90 *int `json:"p90" doc:"90th percentile wage, US dollars a year"`
}

// Wage is the survey's row for an occupation in an area. Employment is in jobs, wages in US dollars a year.
type Wage struct {
	Area
	SOCCode          string          `json:"socCode"`
	Name             string          `json:"name"`
	TotalEmployment  *int            `json:"totalEmployment"`
	MedianAnnualWage *int            `json:"medianAnnualWage"`
	WagePercentiles  WagePercentiles `json:"wagePercentiles"`
	// Reasons holds why figures are nil or capped, by JSON name: totalEmployment, medianAnnualWage, p10, p25, p75, p90.
	Reasons map[string]catalog.WarningCode `json:"reasons,omitempty"`
	Vintage string                         `json:"vintage" doc:"The survey's reference period, such as May 2024"`
	Source  string                         `json:"source" doc:"Survey, period and region, such as BLS OEWS, May 2024, United States"`
}

// Projection is the Employment Projections' row for an occupation, nationwide. ProjectedGrowth is a fraction over the
// period, AnnualOpenings are jobs a year; nil if not published.
type Projection struct {
	SOCCode          string   `json:"socCode"`
	Name             string   `json:"name"`
	ProjectedGrowth  *float64 `json:"projectedGrowth"`
	AnnualOpenings   *int     `json:"annualOpenings"`
	TypicalEducation *string  `json:"typicalEducation"`
	Vintage          string   `json:"vintage" doc:"The projection period, such as 2024-34"`
	Source           string   `json:"source" doc:"Source, such as BLS Employment Projections, 2024-34, United States"`
}

// Vintage dates the data of a response. A field is empty if nothing is loaded.
type Vintage struct {
	Wages       string `json:"wages" doc:"Reference period of the wage survey"`
	Projections string `json:"projections" doc:"Period of the projections"`
	Crosswalk   string `json:"crosswalk" doc:"Edition of the CIP to SOC crosswalk"`
}

// Scope is the region and the programs that a query is about.
type Scope struct {
	Region  *Region        // nil where the area is unknown
	CIPs    map[string]CIP // by code, known ones only
	Vintage Vintage        // of the national wages, the projections and the crosswalk
}

// Facts are the known facts about occupations, by SOC code.
type Facts struct {
	Names       map[string]string // titles of SOC 2018
	Projections map[string]Projection
	Wages       map[Area]map[string]Wage
}

// Source returns the records that a response is built from. Lookup calls each method at
// most once, Scope first, so a response costs a store two round trips. Both must read the
// same state of the data: an import is visible completely or not at all.
type Source interface {
	// Scope is given at most 25 distinct codes.
	Scope(ctx context.Context, area Area, cips []string) (Scope, error)
	// Facts is given one to three areas and distinct SOC codes, including group codes.
	Facts(ctx context.Context, areas []Area, socs []string) (Facts, error)
}
