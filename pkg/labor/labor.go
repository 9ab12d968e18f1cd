// Package labor relates programs of study to occupations: which occupations a CIP
// code leads to, and what they pay and need in a region. It is what GET
// /labor-market responds (docs/contract.md). It keeps nothing and calls nobody: records
// come through Source. Package official reads the files that they are from.
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
// Starter holds a small table of such facts for a service that has imported none.
//
// # Units
//
// Employment and openings count jobs (not thousands); openings are a yearly average
// over the projection period. Wages are US dollars a year before tax, for wage and
// salary workers only. Growth is a fraction over the whole projection period: 0.158
// is 15.8 percent. The survey rounds employment to 10 jobs and wages to 10 dollars.
//
// # Rules
//
//   - A figure is a number, or nil with a Reason; never a guess. TopCoded is the one
//     reason that stands with a number: the wage is at least that much.
//   - Wage figures of an occupation come from one row: the row of the region asked
//     for, else of the state that contains the whole metropolitan area, else of the
//     nation. A row that exists decides, also where it suppresses a figure.
//     Projections are published for the nation only. Whatever comes from a wider
//     region says so in Occupation.Source and by a warning RegionFallback.
//   - Twelve groups of occupations are published under a code of the group only
//     (Group). Their members show the group's figures, with a warning
//     OccupationGroup, since the counts then include the other members.
//   - Occupations that the sources leave out (the military, fishing) have nil figures
//     and a warning NoFigures.
package labor

import (
	"context"

	"skillscurriculum/pkg/catalog"
)

// RegionType is the kind of a region.
type RegionType string

// The kinds of regions. MSA takes any CBSA code; the survey publishes the
// metropolitan ones, a micropolitan area shows its state's or the nation's figures.
const (
	National RegionType = "national"
	State    RegionType = "state"
	MSA      RegionType = "msa"
)

// Area names a region: "US" for the nation, a two-digit FIPS code for a state, a
// five-digit CBSA code for an msa.
type Area struct {
	RegionType RegionType `json:"regionType" enum:"national,state,msa"`
	Region     string     `json:"region" doc:"US, a state's FIPS code of two digits, or a CBSA code of five"`
}

// Nation is the area of national figures.
var Nation = Area{National, "US"}

// Region is an area with its name.
type Region struct {
	Area
	Name string `json:"name"`
	// State is the FIPS code of the state that contains the whole metropolitan
	// area; empty for other regions and for an area in several states.
	State string `json:"state,omitempty"`
}

// CIP is an instructional program of the crosswalk. SOCCodes are sorted, distinct
// and never nil; empty where the crosswalk says NO MATCH.
type CIP struct {
	CIPCode  string   `json:"cipCode"`
	Title    string   `json:"title"`
	SOCCodes []string `json:"socCodes"`
}

// WagePercentiles are wages in dollars a year below which 10, 25, 75 and 90 percent
// of the workers earn.
type WagePercentiles struct {
	P10 *int `json:"p10" doc:"Wage that 10 % earn less than, US dollars a year"`
	P25 *int `json:"p25" doc:"Wage that 25 % earn less than, US dollars a year"`
	P75 *int `json:"p75" doc:"Wage that 75 % earn less than, US dollars a year"`
	P90 *int `json:"p90" doc:"Wage that 90 % earn less than, US dollars a year"`
}

// Wage is what the survey publishes of an occupation in an area. Employment is in
// jobs, wages in dollars a year.
type Wage struct {
	Area
	SOCCode          string          `json:"socCode"`
	Name             string          `json:"name"`
	TotalEmployment  *int            `json:"totalEmployment"`
	MedianAnnualWage *int            `json:"medianAnnualWage"`
	WagePercentiles  WagePercentiles `json:"wagePercentiles"`
	// Reasons holds those figures that are nil or capped, under their names in
	// JSON: totalEmployment, medianAnnualWage, p10, p25, p75, p90.
	Reasons map[string]catalog.WarningCode `json:"reasons,omitempty"`
	Vintage string                         `json:"vintage" doc:"The survey's reference period, as May 2024"`
	Source  string                         `json:"source" doc:"Survey, period and region, as BLS OEWS, May 2024, United States"`
}

// Projection is what the Employment Projections say of an occupation in the
// nation. ProjectedGrowth is a fraction over the period, AnnualOpenings are jobs a
// year; nil where not published.
type Projection struct {
	SOCCode          string   `json:"socCode"`
	Name             string   `json:"name"`
	ProjectedGrowth  *float64 `json:"projectedGrowth"`
	AnnualOpenings   *int     `json:"annualOpenings"`
	TypicalEducation *string  `json:"typicalEducation"`
	Vintage          string   `json:"vintage" doc:"The projection period, as 2024-34"`
	Source           string   `json:"source" doc:"As BLS Employment Projections, 2024-34, United States"`
}

// Vintage dates the data of a response. Each is empty where nothing is loaded.
type Vintage struct {
	Wages       string `json:"wages" doc:"Reference period of the wage survey"`
	Projections string `json:"projections" doc:"Period of the projections"`
	Crosswalk   string `json:"crosswalk" doc:"Edition of the CIP to SOC crosswalk"`
}

// Scope is what a question is about.
type Scope struct {
	Region  *Region        // nil where the area is unknown
	CIPs    map[string]CIP // by code, known ones only
	Vintage Vintage        // of the national wages, the projections and the crosswalk
}

// Facts are what is known of occupations, each by SOC code; absent where unknown.
type Facts struct {
	Names       map[string]string // titles of SOC 2018
	Projections map[string]Projection
	Wages       map[Area]map[string]Wage
}

// Source returns the records that a response is made of. Lookup asks each question at
// most once, Scope first, so that a response costs a store two round trips. Both
// read one state of the data: an import is seen whole or not at all.
type Source interface {
	// Scope takes at most 25 distinct codes.
	Scope(ctx context.Context, area Area, cips []string) (Scope, error)
	// Facts takes one to three areas and distinct SOC codes, group codes among them.
	Facts(ctx context.Context, areas []Area, socs []string) (Facts, error)
}
