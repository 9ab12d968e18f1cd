package catalog

import (
	"slices"
	"strconv"
)

// Facet is a value that records of a list share, in the form in which it is compared. The store finds all records of
// the list with a facet.
type Facet struct{ Name, Value string }

// The facets of articulations. Begins and Ends apply to approved ones only.
const (
	StatusFacet      = "status"
	PublishedFacet   = "published"
	InstitutionFacet = "institution" // a name or a code
	SendingFacet     = "sending"     // a code
	CourseFacet      = "course"      // the id of one that is granted
	BeginsFacet      = "begins"
	EndsFacet        = "ends"
)

// FacetedRecord is a listed record with the facets that it lost and gained; Has are all that it has now.
type FacetedRecord struct {
	Record            Record
	Left, Joined, Has []Facet
}

// facetsOf returns the distinct facets of a record; none for nil and for kinds without facets.
func facetsOf(r Record) []Facet {
	if f, ok := r.(interface{ facets() []Facet }); ok {
		return f.facets()
	}
	return nil
}

// changeFacets adds the change of a record's facets. before is nil for a new record, after for a deleted one.
func (c *Change) changeFacets(record, before, after Record) {
	was, is := facetsOf(before), facetsOf(after)
	left := slices.DeleteFunc(slices.Clone(was), func(f Facet) bool { return slices.Contains(is, f) })
	joined := slices.DeleteFunc(slices.Clone(is), func(f Facet) bool { return slices.Contains(was, f) })
	if len(left)+len(joined) > 0 {
		org := record.Base().OrganizationID
		all := effect(c, func(f *FacetChange) bool { return f.OrganizationID == org },
			func() *FacetChange { return &FacetChange{OrganizationID: org} })
		all.Records = append(all.Records, FacetedRecord{record, left, joined, is})
	}
}

func (a *Articulation) facets() []Facet {
	all := []Facet{{StatusFacet, string(a.Status)}, {PublishedFacet, strconv.FormatBool(a.Published)}}
	add := func(f Facet) {
		if !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	for _, key := range a.SendingInstitution.keys() {
		add(Facet{InstitutionFacet, key})
	}
	for _, alternative := range a.Sending {
		for _, course := range alternative.Courses {
			add(Facet{SendingFacet, Normalized(course.Code)})
		}
	}
	for _, id := range a.GrantedCourses() {
		add(Facet{CourseFacet, id})
	}
	if a.Status == ArticulationApproved {
		add(Facet{BeginsFacet, a.EffectiveFrom})
		if a.EffectiveTo != nil {
			add(Facet{EndsFacet, *a.EffectiveTo})
		}
	}
	return all
}

// keys returns the normalised name of the institution and its normalised code, if it has one.
func (i Institution) keys() []string {
	keys := []string{Normalized(i.Name)}
	if i.Code != nil {
		if code := Normalized(*i.Code); code != "" && code != keys[0] {
			keys = append(keys, code)
		}
	}
	return keys
}

// ArticulationFilter selects the articulations that meet all of its conditions. Empty fields are no conditions.
type ArticulationFilter struct {
	Institution string // name or code
	SendingCode string
	CourseID    string
	Status      ArticulationStatus
	Published   *bool
	AsOf        string // date on which they are in force
	Lasting     string // date before which they have not ended; APPROVED ones only
}

// Empty reports whether the filter has no conditions.
func (f ArticulationFilter) Empty() bool { return f == ArticulationFilter{} }

// Selects reports whether the filter selects the articulation.
func (f ArticulationFilter) Selects(a *Articulation) bool {
	has := facetsOf(a)
	for _, facet := range f.Facets() {
		if !slices.Contains(has, facet) {
			return false
		}
	}
	return (f.AsOf == "" || a.InForce(f.AsOf)) && (f.Lasting == "" || !a.EndedBefore(f.Lasting))
}

// Facets returns the facets that all selected articulations have. Those that begin after AsOf, or end before AsOf or
// Lasting, are not selected.
func (f ArticulationFilter) Facets() []Facet {
	var all []Facet
	add := func(name, value string) {
		if value != "" && !slices.Contains(all, Facet{name, value}) {
			all = append(all, Facet{name, value})
		}
	}
	add(StatusFacet, string(f.Status))
	if f.AsOf != "" || f.Lasting != "" {
		add(StatusFacet, string(ArticulationApproved))
	}
	if f.Published != nil {
		add(PublishedFacet, strconv.FormatBool(*f.Published))
	}
	if f.Institution != "" {
		all = append(all, Facet{InstitutionFacet, Normalized(f.Institution)})
	}
	if f.SendingCode != "" {
		all = append(all, Facet{SendingFacet, Normalized(f.SendingCode)})
	}
	add(CourseFacet, f.CourseID)
	return all
}
