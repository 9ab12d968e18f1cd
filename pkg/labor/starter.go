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

// Starter returns the built-in tables: some 290 common programs of study, the occupations they lead to with national
// figures (OEWS May 2024, Employment Projections 2024-34), the states, the District of Columbia, Puerto Rico, and the
// metropolitan areas. Washington with its metropolitan areas (2022) and New York (undated) have wages of their own;
// other areas fall back to the nation, with a warning.
var Starter = sync.OnceValue(func() *Tables {
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
			national := Wage{Area: Nation, Vintage: "May 2024", Source: "BLS OEWS, May 2024, United States"}
			wages = append(wages, national.filled(soc, title, cells[2:8]))
		}
		if cells[8] != "" {
			projections = append(projections, starterProjection(soc, title, cells[8:]))
		}
	}
	surveys := map[string]Wage{}
	for _, cells := range starterTable("surveys") {
		surveys[cells[1]] = Wage{Area: Area{RegionType(cells[0]), cells[1]}, Vintage: cells[2], Source: cells[3]}
	}
	for _, cells := range starterTable("wages") {
		soc := cells[1]
		wages = append(wages, surveys[cells[0]].filled(soc, crosswalk.Names[soc], cells[2:]))
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

// starterTable returns the lines below the header. The files are embedded, so an error in one is a bug and panics.
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

// filled returns the row of an occupation with the area and source of w and the figures in cells.
func (w Wage) filled(soc, title string, cells []string) Wage {
	w.SOCCode, w.Name = soc, title
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
