package alignment

import (
	"fmt"
	"strings"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
)

// unknownOccupation is the market view's item for an occupation without labor market data.
type unknownOccupation struct {
	SOCCode string `json:"socCode"`
	Name    string `json:"name"`
}

// market returns one item for each occupation of the jobs, in their order.
func (s survey) market(market map[string]labor.Occupation) []any {
	items := []any{}
	for _, o := range s.occupations(market) {
		if _, known := market[o.SOCCode]; known {
			items = append(items, o)
		} else {
			items = append(items, unknownOccupation{o.SOCCode, o.Name})
		}
	}
	return items
}

// occupations returns the same for tables and pages, in which an unknown occupation has no figures.
func (s survey) occupations(market map[string]labor.Occupation) []labor.Occupation {
	var all []labor.Occupation
	seen := map[string]bool{"": true}
	for _, j := range s.jobs {
		soc := j.profile.SOCCode
		if seen[soc] {
			continue
		}
		seen[soc] = true
		o, known := market[soc]
		if !known {
			o = labor.Occupation{SOCCode: soc, Name: j.profile.JobName}
		}
		all = append(all, o)
	}
	return all
}

// warnings returns all warnings of the report: those of its courses, of its jobs and of its figures.
func (r Report) warnings(s survey) []catalog.Warning {
	all := append([]catalog.Warning{}, r.Warnings...)
	for _, c := range s.courses {
		if c.section == nil {
			all = append(all, catalog.Warning{
				Code: catalog.CourseWithoutSkills, CourseID: c.profile.CourseID, SectionID: c.profile.CourseDefaultSectionID,
				Message: fmt.Sprintf("None of the sections of %s has skills.", c.profile.CourseDisplayName),
			})
		}
	}
	market := r.Record.Settings.View == MarketView
	for _, j := range s.jobs {
		w := catalog.Warning{JobID: j.profile.JobID}
		if j.occupation {
			w.SOCCode = j.profile.SOCCode
		}
		if len(j.profile.SkillRequirements) == 0 {
			w.Code, w.Message = catalog.JobWithoutSkills, "No skill requirements are known for "+j.profile.JobName+"."
			all = append(all, w)
		}
		if market && j.profile.SOCCode == "" {
			w.Code, w.Message = catalog.JobWithoutSOC, "The job "+j.profile.JobName+" has no onetSocCode, and so no figures."
			all = append(all, w)
		}
	}
	if market {
		all = append(all, fallbacks(s.occupations(r.Market), r.Region)...)
	}
	return all
}

// fallbacks returns a warning for each wider area whose employment and wages are shown, and one for projections.
func fallbacks(shown []labor.Occupation, asked labor.Region) []catalog.Warning {
	var areas []labor.Area // in the order of their first occupation
	count := map[labor.Area]int{}
	projected := 0
	for _, o := range shown {
		if wider(o, asked) {
			if count[o.WageArea] == 0 {
				areas = append(areas, o.WageArea)
			}
			count[o.WageArea]++
		}
		if o.Projected && asked.Area != labor.Nation {
			projected++
		}
	}
	var all []catalog.Warning
	warn := func(count int, format string, args ...any) {
		all = append(all, catalog.Warning{
			Code: catalog.RegionFallback, Count: count, Total: len(shown), Message: fmt.Sprintf(format, args...),
		})
	}
	for _, area := range areas {
		warn(count[area], "Employment and wages of %d of %d occupations are those of %s: the survey has none for %s.",
			count[area], len(shown), areaOf(area), asked.Name)
	}
	if projected > 0 {
		warn(projected, "Growth, openings and typical education of %d of %d occupations are national: projections are "+
			"published for the nation only.", projected, len(shown))
	}
	return all
}

// wider reports whether an occupation's employment and wages are those of a wider area than the requested one.
func wider(o labor.Occupation, asked labor.Region) bool {
	return o.WageArea != (labor.Area{}) && o.WageArea != asked.Area
}

// areaOf describes an area wider than the requested one.
func areaOf(a labor.Area) string {
	if a.RegionType == labor.State {
		return "the state (" + a.Region + ")"
	}
	return "the nation"
}

// fewRegions is the number of regions of a type that a page lists by name.
const fewRegions = 12

// surveyed describes the regions that have figures of their own.
func surveyed(regions []labor.Region) string {
	names := map[labor.RegionType][]string{}
	for _, r := range regions {
		names[r.RegionType] = append(names[r.RegionType], r.Name)
	}
	var parts []string
	if len(names[labor.National]) > 0 {
		parts = append(parts, "The nation")
	}
	for _, kind := range []struct {
		of   labor.RegionType
		noun string
	}{{labor.State, "States"}, {labor.MSA, "Metropolitan areas"}} {
		switch list := names[kind.of]; {
		case len(list) > fewRegions:
			parts = append(parts, fmt.Sprintf("%s: %d", kind.noun, len(list)))
		case len(list) > 0:
			parts = append(parts, kind.noun+": "+strings.Join(list, "; "))
		}
	}
	return strings.Join(parts, ". ")
}
