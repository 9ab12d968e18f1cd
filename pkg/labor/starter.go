package labor

import (
	"embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"skillscurriculum/pkg/catalog"
)

// starterFiles are the built-in tables; each names its sources in its first lines.
//
//go:embed starter/*.csv
var starterFiles embed.FS

// Starter returns the built-in tables: some 290 common programs of study, the
// occupations they lead to with national figures (OEWS May 2024, Employment Projections
// 2024-34), the states, the District of Columbia, Puerto Rico, and the metropolitan areas.
// It has no figures for states or metropolitan areas: those fall back to the nation, with a
// warning.
func Starter() *Tables { return starter() }

var starter = sync.OnceValue(func() *Tables {
	crosswalk := &Crosswalk{CIPs: map[string]CIP{}, Names: map[string]string{}, Vintage: "CIP 2020 - SOC 2018"}
	for _, cells := range starterTable("programs") {
		crosswalk.CIPs[cells[0]] = CIP{CIPCode: cells[0], Title: cells[1], SOCCodes: strings.Fields(cells[2])}
	}
	var wages []Wage
	var projections []Projection
	for _, cells := range starterTable("occupations") {
		soc, title := cells[0], cells[1]
		crosswalk.Names[soc] = title
		if cells[2] != "" {
			wages = append(wages, starterWage(soc, title, cells[2:8]))
		}
		if cells[8] != "" {
			projections = append(projections, starterProjection(soc, title, cells[8:]))
		}
	}
	var regions []Region
	for _, cells := range starterTable("states") {
		regions = append(regions, Region{Area: StateArea(cells[0]), Name: cells[2]})
	}
	for _, cells := range starterTable("metros") {
		regions = append(regions, Region{Area: Area{MSA, cells[0]}, Name: cells[1], State: StateOfMetro(cells[1])})
	}
	return NewTables(crosswalk, regions, wages, projections)
})

// stateFIPS returns the code of a state by its postal abbreviation.
var stateFIPS = sync.OnceValue(func() map[string]string {
	codes := map[string]string{}
	for _, cells := range starterTable("states") {
		codes[cells[1]] = cells[0]
	}
	return codes
})

// starterTable returns the lines below the header. The files are embedded, so an error in
// one is a bug and panics.
func starterTable(name string) [][]string {
	file, err := starterFiles.Open("starter/" + name + ".csv")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.Comment = '#'
	lines, err := r.ReadAll()
	if err != nil {
		panic(fmt.Errorf("starter table %s: %w", name, err))
	}
	return lines[1:]
}

func starterWage(soc, title string, cells []string) Wage {
	w := Wage{Area: Nation, SOCCode: soc, Name: title, Vintage: "May 2024", Source: "BLS OEWS, May 2024, United States"}
	for i, f := range w.Figures() {
		switch cells[i] {
		case "#":
			*f.Value = starterInt(strconv.Itoa(TopWage))
			w.Lacks(f.Name, catalog.TopCoded)
		case "*":
			w.Lacks(f.Name, catalog.Suppressed)
		case "h":
			w.Lacks(f.Name, catalog.HourlyOnly)
		default:
			*f.Value = starterInt(cells[i])
		}
	}
	return w
}

func starterProjection(soc, title string, cells []string) Projection {
	percent, err := strconv.ParseFloat(cells[0], 64)
	if err != nil {
		panic(fmt.Errorf("starter table occupations: %s: %w", soc, err))
	}
	return Projection{SOCCode: soc, Name: title, ProjectedGrowth: Fraction(percent), AnnualOpenings: starterInt(cells[1]),
		TypicalEducation: &cells[2], Vintage: "2024-34", Source: "BLS Employment Projections, 2024-34, United States"}
}

func starterInt(cell string) *int {
	n, err := strconv.Atoi(cell)
	if err != nil {
		panic(fmt.Errorf("starter table occupations: %w", err))
	}
	return &n
}
