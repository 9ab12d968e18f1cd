package catalog

import "net/url"

// Credits is the number of credits of a course: one number, or a range.
type Credits struct {
	_    struct{} `nullable:"true"`
	Min  float64  `json:"min" minimum:"0" maximum:"999" multipleOf:"0.25" doc:"Fewest credits, in quarters; not above max"`
	Max  float64  `json:"max" minimum:"0" maximum:"999" multipleOf:"0.25" doc:"Most credits, in quarters; the same as min where there is no range"`
	Unit string   `json:"unit" enum:"SEMESTER_HOUR,QUARTER_HOUR,ECTS,CLOCK_HOUR,CEU" doc:"What a credit is"`
}

// credits returns the given credits, or else the present ones.
func (c checker) credits(in Optional[*Credits], old *Credits) *Credits {
	if !in.Set || in.Value == nil {
		return in.Or(old)
	}
	given := *in.Value
	given.Min, given.Max = unsigned(given.Min), unsigned(given.Max)
	if given.Min > given.Max {
		c.fault("credits.min", "must not be greater than max", given.Min)
	}
	return &given
}

// ActiveCourse is the default lifecycleStatus of a course.
const ActiveCourse = "ACTIVE"

// period checks the first and last date of a period. The field error is located at the last.
func (c checker) period(from, to *string) {
	if from != nil && to != nil && *from > *to {
		c.fault("effectiveTo", "must not be before effectiveFrom", *to)
	}
}

// webpage returns the given address of a page for people, or else the present one.
func (c checker) webpage(in Optional[*string], old *string) *string {
	if href := text(in, nil); href != nil && !isWebpage(*href) {
		c.fault("webpage", "must be an https address without credentials", *href)
	}
	return text(in, old)
}

// isWebpage reports whether an address is https, without credentials.
func isWebpage(href string) bool {
	u, err := url.Parse(href)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil
}
