package catalog

import "cmp"

// Report is a stored report: settings from which each read generates the data.
type Report struct {
	Meta
	Name        string         `json:"name" doc:"Name of the report"`
	Description *string        `json:"description" doc:"What the report is about"`
	Settings    ReportSettings `json:"settings" doc:"What the report is about and how it is shown"`
}

// ReportSettings choose what a report is about.
type ReportSettings struct {
	Courses  []string      `json:"courses" doc:"Ids of the courses that the report is about"`
	Programs []string      `json:"programs,omitempty" doc:"Ids of programs whose courses the report is about too, as they are when it is read" extension:"true"`
	Jobs     []ReportJob   `json:"jobs" doc:"Occupations and jobs that the report is about"`
	Skills   []ReportSkill `json:"skills" doc:"Skills that the report is about; all where there are none"`
	View     string        `json:"view" doc:"View that data is of"`
	Area     *ReportArea   `json:"area,omitempty" doc:"Region that labor market figures are of; the nation when absent"`
	Version  int           `json:"version" doc:"Version of the settings: always 1"`
}

// ReportJob is an occupation (lib soc: a SOC code) or a job of the organization (lib custom: its id).
type ReportJob struct {
	ID  string `json:"id" doc:"SOC code NN-NNNN or NN-NNNN.NN (lib soc), or id of a job of the organization (lib custom)"`
	Lib string `json:"lib" enum:"soc,custom" doc:"Where the id is from: soc for occupations, custom for jobs of the organization"`
}

// ReportSkill names a skill of the taxonomy.
type ReportSkill struct {
	ID string `json:"id" doc:"Id of a skill of the loaded taxonomy"`
}

// ReportArea is national, a state's FIPS code or a CBSA code.
type ReportArea struct {
	Code string `json:"code" doc:"The word national, a state's FIPS code, or the CBSA code of a metropolitan area"`
}

// MaxReportCourses is the number of courses that a report compares, those of its programs included.
const MaxReportCourses = 200

// DefaultReportView is the view of a report that names none.
const DefaultReportView = "alignment"

// ReportInput is the input for a report, which is immutable.
type ReportInput struct {
	Name        Optional[string]    `json:"name" minLength:"1" maxLength:"255"`
	Description Optional[*string]   `json:"description,omitzero" maxLength:"10000"`
	Settings    ReportSettingsInput `json:"settings"`
}

// ReportSettingsInput is the input for a report's settings.
type ReportSettingsInput struct {
	Courses  []string      `json:"courses,omitempty" maxItems:"100" doc:"Ids of courses; at least one course, program, job or skill is needed"`
	Programs []string      `json:"programs,omitempty" maxItems:"20" doc:"Ids of programs, whose courses are added to courses; at most 200 in all" extension:"true"`
	Jobs     []ReportJob   `json:"jobs,omitempty" maxItems:"50" doc:"Occupations and jobs of the organization"`
	Skills   []ReportSkill `json:"skills,omitempty" maxItems:"500" doc:"Skills that the report is limited to"`
	View     string        `json:"view,omitempty" enum:"alignment,coverage,gap,market" default:"alignment" doc:"Which data the report has"`
	Area     *ReportArea   `json:"area,omitempty" doc:"Region that labor market figures are of; the nation when absent"`
	Version  *int          `json:"version,omitempty" enum:"1" default:"1" doc:"Version of the settings"`
}

// Apply sets the fields of a new report. Whether what its settings name exists is checked when it is generated.
func (in ReportInput) Apply(r *Report, l Lookups) []FieldError {
	given := in.Settings
	r.Name, r.Description = in.Name.Or(r.Name), text(in.Description, r.Description)
	r.Settings = ReportSettings{
		Courses: append([]string{}, given.Courses...), Programs: append([]string{}, given.Programs...),
		Jobs: append([]ReportJob{}, given.Jobs...), Skills: append([]ReportSkill{}, given.Skills...),
		View: cmp.Or(given.View, DefaultReportView), Area: given.Area, Version: 1,
	}
	if len(given.Courses)+len(given.Programs)+len(given.Jobs)+len(given.Skills) == 0 {
		return []FieldError{{Location: l.at("settings"), Message: "must name a course, a program, a job or a skill"}}
	}
	return nil
}
