package catalog

import (
	"net/url"
)

// Credits is the number of credits of a course: one number, or a range.
type Credits struct {
	_    struct{} `nullable:"true"`
	Min  float64  `json:"min" minimum:"0" maximum:"999" multipleOf:"0.25" doc:"Fewest credits, in quarters; not above max"`
	Max  float64  `json:"max" minimum:"0" maximum:"999" multipleOf:"0.25" doc:"Most credits, in quarters; the same as min where there is no range"`
	Unit string   `json:"unit" enum:"SEMESTER_HOUR,QUARTER_HOUR,ECTS,CLOCK_HOUR,CEU" doc:"What a credit is"`
}

// credits returns the given credits, or else the present ones.
func (l Lookups) credits(in Optional[*Credits], old *Credits) (*Credits, []FieldError) {
	if !in.Set || in.Value == nil {
		return in.Or(old), nil
	}
	c := *in.Value
	c.Min, c.Max = unsigned(c.Min), unsigned(c.Max)
	if c.Min > c.Max {
		return &c, []FieldError{{l.at("credits.min"), "must not be greater than max", c.Min}}
	}
	return &c, nil
}

// ActiveCourse is the default lifecycleStatus of a course.
const ActiveCourse = "ACTIVE"

// period checks the first and last date of a period. The field error is located at the last.
func (l Lookups) period(from, to *string) []FieldError {
	if from != nil && to != nil && *from > *to {
		return []FieldError{{l.at("effectiveTo"), "must not be before effectiveFrom", *to}}
	}
	return nil
}

// newWebpage sets the address of a page if the input has one.
func (l Lookups) newWebpage(in Optional[*string], page **string) []FieldError {
	if !in.Set {
		return nil
	}
	*page = text(in, nil)
	return l.webpage(*page)
}

// webpage checks the address of a page for people.
func (l Lookups) webpage(href *string) []FieldError {
	if href == nil || isWebpage(*href) {
		return nil
	}
	return []FieldError{{l.at("webpage"), "must be an https address without credentials", *href}}
}

// isWebpage reports whether an address is https, without credentials.
func isWebpage(href string) bool {
	u, err := url.Parse(href)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil
}
