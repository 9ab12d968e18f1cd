// Package catalog is the language of the service: its records, the rules that
// change them, and its error codes. It imports nothing but the standard library
// and does no input or output; clocks and ids are passed in.
//
// A record is one struct: the Go field, the JSON name and the stored attribute
// are the same word (seed.md, "Resources and their fields").
package catalog

import (
	"encoding/json"
	"fmt"
	"time"
)

// OrgID names an organization. Every record belongs to one, and every store
// method takes it first, so that no key can be built without it.
type OrgID string

// CustomerID names a customer: the one that rate limits are counted for.
type CustomerID string

// Time is an instant in milliseconds since the Unix epoch. As text it is RFC 3339
// in UTC with exactly three decimals: 2026-11-21T08:00:00.000Z.
type Time int64

const timeLayout = "2006-01-02T15:04:05.000Z"

// TimeOf cuts t to milliseconds.
func TimeOf(t time.Time) Time { return Time(t.UnixMilli()) }

// Std gives the instant as a time.Time in UTC.
func (t Time) Std() time.Time { return time.UnixMilli(int64(t)).UTC() }

// After gives the first instant that is later than t and not before now: the
// updatedAt of a changed record, which therefore never stands still.
func (t Time) After(now Time) Time { return max(now, t+1) }

// String is the text form.
func (t Time) String() string { return t.Std().Format(timeLayout) }

// MarshalText is the text form.
func (t Time) MarshalText() ([]byte, error) { return t.Std().AppendFormat(nil, timeLayout), nil }

// UnmarshalText reads any RFC 3339 text.
func (t *Time) UnmarshalText(text []byte) error {
	std, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return fmt.Errorf("not an RFC 3339 time: %q", text)
	}
	*t = TimeOf(std)
	return nil
}

// Meta is what every record carries (seed.md, "Common fields").
type Meta struct {
	ID             string `json:"id"`
	OrganizationID OrgID  `json:"organizationId"`
	CreatedAt      Time   `json:"createdAt"`
	UpdatedAt      Time   `json:"updatedAt"`
	DeletedAt      *Time  `json:"deletedAt"`
}

// Base gives the record's own Meta, so that code can treat all records alike.
func (m *Meta) Base() *Meta { return m }

// Record is any record of the catalog.
type Record interface{ Base() *Meta }

// SkillRef says that a skill is taught or required, how deeply, and how sure that is.
type SkillRef struct {
	SkillID    string  `json:"skillId"`
	SkillName  string  `json:"skillName"`
	Level      int     `json:"level" minimum:"1" maximum:"5" doc:"1 remember, 2 understand, 3 apply, 4 analyse, 5 evaluate or create"`
	Confidence float64 `json:"confidence" minimum:"0" maximum:"1" doc:"0..1 with at most four decimals"`
}

// SectionRef is a section as its course mentions it.
type SectionRef struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Course is a course of the catalog. Sections stand in creation order.
type Course struct {
	Meta
	Name             string       `json:"name"`
	Code             string       `json:"code"`
	Description      *string      `json:"description"`
	Sections         []SectionRef `json:"sections"`
	DefaultSectionID string       `json:"defaultSectionId,omitempty"`
	// HeldBy names what contains the course (see Hold); it may name more than
	// that, never less. Only the store shows it.
	HeldBy []string `json:"-"`
}

// Section is the detail record of a course section.
type Section struct {
	Meta
	CourseID       string     `json:"courseId"`
	Name           string     `json:"name"`
	Description    *string    `json:"description"`
	InstructorID   *string    `json:"instructorId"`
	InstructorName *string    `json:"instructorName"`
	SyllabusHref   *string    `json:"syllabusHref" format:"uri"`
	Skills         []SkillRef `json:"skills"`
	Extraction
}

// CourseProfile is a course as programs, credentials and reports show it; it is
// always built from the live course.
type CourseProfile struct {
	CourseID               string `json:"courseId"`
	CourseName             string `json:"courseName"`
	CourseCode             string `json:"courseCode"`
	CourseDefaultSectionID string `json:"courseDefaultSectionId"`
	CourseDisplayName      string `json:"courseDisplayName"`
}

// SectionProfile is a section as credentials and reports show it.
type SectionProfile struct {
	CourseProfile
	SectionID             string     `json:"sectionId"`
	SectionName           string     `json:"sectionName"`
	SectionSkills         []SkillRef `json:"sectionSkills"`
	SectionInstructorName *string    `json:"sectionInstructorName"`
}

// Credential is a stackable credential: sections in the order in which they were
// added, at most one of each course. Stored, a section is its two ids; a read
// fills in the rest from the live course and section.
type Credential struct {
	Meta
	Name        string           `json:"name"`
	Description *string          `json:"description"`
	Code        *string          `json:"code"`
	Sections    []SectionProfile `json:"sections"`
}

// Program is an ordered list of courses. CourseOrder is a permutation of the ids
// in Courses, and Courses stand in that order; only CourseOrder is stored.
// DerivedSOCs follow CIPCode through the loaded crosswalk: sorted, distinct.
type Program struct {
	Meta
	Name        string          `json:"name"`
	Description *string         `json:"description"`
	Code        *string         `json:"code"`
	CIPCode     *string         `json:"cipCode"`
	Courses     []CourseProfile `json:"courses"`
	CourseOrder []string        `json:"courseOrder"`
	DerivedSOCs []string        `json:"derivedSocs"`
}

// JobLocation names a place of a job.
type JobLocation struct {
	Type       string `json:"type" minLength:"1" maxLength:"255" doc:"the value location is used"`
	LocationID string `json:"locationId" minLength:"1" maxLength:"255"`
}

// Job carries skill requirements. Salaries are amounts a year in the
// organization's currency, minimum not above maximum.
type Job struct {
	Meta
	Name               string        `json:"name"`
	EmployerID         string        `json:"employerId"`
	Description        *string       `json:"description"`
	JobDescriptionHref *string       `json:"jobDescriptionHref"`
	Locations          []JobLocation `json:"locations"`
	SalaryMin          *float64      `json:"salaryMin"`
	SalaryMax          *float64      `json:"salaryMax"`
	ONETSOCCode        *string       `json:"onetSocCode"`
	Skills             []SkillRef    `json:"skills"`
}

// MatchingConfig holds the score, 0..1, from which a match counts as a full or a
// partial equivalent; partial is not above full.
type MatchingConfig struct {
	FullEquivalentThreshold    float64 `json:"fullEquivalentThreshold" minimum:"0" maximum:"1"`
	PartialEquivalentThreshold float64 `json:"partialEquivalentThreshold" minimum:"0" maximum:"1"`
}

// DefaultMatchingConfig applies where a package says nothing.
var DefaultMatchingConfig = MatchingConfig{FullEquivalentThreshold: 0.85, PartialEquivalentThreshold: 0.60}

// TransferPackage is a set of courses that students bring from another institution.
type TransferPackage struct {
	Meta
	Name                    string         `json:"name"`
	TransferFromInstitution string         `json:"transferFromInstitution"`
	MatchingConfig          MatchingConfig `json:"matchingConfig"`
	Description             *string        `json:"description"`
	UniqueTag               *string        `json:"uniqueTag"`
	// Grown is how often the package was given courses. Only the store shows it.
	Grown int `json:"-"`
}

// TransferCourse is a course of a transfer package; its skills are extracted from
// its syllabus, or from name and description where it has none.
type TransferCourse struct {
	Meta
	PackageID    string     `json:"packageId"`
	Name         string     `json:"name"`
	Description  *string    `json:"description"`
	SyllabusHref *string    `json:"syllabusHref" format:"uri"`
	Skills       []SkillRef `json:"skills"`
	Extraction
}

// SyllabusExtraction is an extraction asked for by itself, without a record that
// its skills belong to.
type SyllabusExtraction struct {
	Meta
	Name         *string    `json:"name"`
	SyllabusHref *string    `json:"syllabusHref" format:"uri"`
	Skills       []SkillRef `json:"skills"`
	Extraction
}

// Report is a stored report: its settings, from which its data is generated anew
// at each read.
type Report struct {
	Meta
	Name        string         `json:"name"`
	Description *string        `json:"description"`
	Settings    ReportSettings `json:"settings"`
}

// ReportSettings choose what a report is about (interface.md section 9).
type ReportSettings struct {
	Courses []string      `json:"courses"`
	Jobs    []ReportJob   `json:"jobs"`
	Skills  []ReportSkill `json:"skills"`
	View    string        `json:"view"`
	Area    *ReportArea   `json:"area,omitempty"`
	Version float64       `json:"version"`
}

// ReportJob is an occupation (lib soc: a SOC code) or a job of the organization (lib custom: its id).
type ReportJob struct {
	ID  string `json:"id"`
	Lib string `json:"lib" enum:"soc,custom"`
}

// ReportSkill names a skill of the taxonomy.
type ReportSkill struct {
	ID string `json:"id"`
}

// ReportArea is national, a state's FIPS code or a CBSA code.
type ReportArea struct {
	Code string `json:"code"`
}

// Optional tells apart a field of a request that is absent, null (T a pointer,
// Value nil) and given.
type Optional[T any] struct {
	Set   bool
	Value T
}

// Or gives the value, or old where the field was absent.
func (o Optional[T]) Or(old T) T {
	if o.Set {
		return o.Value
	}
	return old
}

// Fill notes that the field was there and returns where its value goes, a *T.
func (o *Optional[T]) Fill() any {
	o.Set = true
	return &o.Value
}

// UnmarshalJSON notes that the field was there.
func (o *Optional[T]) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, o.Fill()) }
