package catalog

import (
	"cmp"
)

// Report is a stored report: its settings, from which its data is generated anew
// at each read.
type Report struct {
	Meta
	Name        string         `json:"name"`
	Description *string        `json:"description"`
	Settings    ReportSettings `json:"settings"`
}

// ReportSettings choose what a report is about.
type ReportSettings struct {
	Courses []string      `json:"courses"`
	Jobs    []ReportJob   `json:"jobs"`
	Skills  []ReportSkill `json:"skills"`
	View    string        `json:"view"`
	Area    *ReportArea   `json:"area,omitempty"`
	Version int           `json:"version"`
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

// DefaultReportView is the view of a report that names none.
const DefaultReportView = "alignment"

// ReportInput is what a request says of a report, which does not change once it is
// there.
type ReportInput struct {
	Name        Optional[string]    `json:"name" minLength:"1" maxLength:"255"`
	Description Optional[*string]   `json:"description,omitzero" maxLength:"10000"`
	Settings    ReportSettingsInput `json:"settings"`
}

// ReportSettingsInput is what a request says of a report's settings.
type ReportSettingsInput struct {
	Courses []string      `json:"courses,omitempty" maxItems:"100"`
	Jobs    []ReportJob   `json:"jobs,omitempty" maxItems:"50"`
	Skills  []ReportSkill `json:"skills,omitempty" maxItems:"500"`
	View    string        `json:"view,omitempty" enum:"alignment,coverage,gap,market" default:"alignment"`
	Area    *ReportArea   `json:"area,omitempty"`
	Version *int          `json:"version,omitempty" enum:"1" default:"1"`
}

// Apply sets the fields of a new report. Whether there is what its settings name is
// seen when it is generated.
func (in ReportInput) Apply(r *Report, l Lookups) []FieldError {
	given := in.Settings
	r.Name, r.Description = in.Name.Or(r.Name), text(in.Description, r.Description)
	r.Settings = ReportSettings{
		Courses: append([]string{}, given.Courses...), Jobs: append([]ReportJob{}, given.Jobs...), Skills: append([]ReportSkill{}, given.Skills...),
		View: cmp.Or(given.View, DefaultReportView), Area: given.Area, Version: 1,
	}
	if len(given.Courses)+len(given.Jobs)+len(given.Skills) == 0 {
		return []FieldError{{Location: l.at("settings"), Message: "names neither a course nor a job nor a skill"}}
	}
	return nil
}
