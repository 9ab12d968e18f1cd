package catalog

import "fmt"

// Unfinished is the error for a record that a sweep could not process. The sweep continues
// with the next record, and a later sweep tries this one again.
type Unfinished struct {
	OrganizationID OrgID
	Kind           Kind
	ID             string
	Cause          error
}

// Unfinished returns the error for the record of a job.
func (j ExtractionJob) Unfinished(cause error) *Unfinished {
	return &Unfinished{j.OrganizationID, j.Kind, j.ID, cause}
}

func (u *Unfinished) Error() string {
	return fmt.Sprintf("%s %s of %s: %v", u.Kind, u.ID, u.OrganizationID, u.Cause)
}

func (u *Unfinished) Unwrap() error { return u.Cause }
