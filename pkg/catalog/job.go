package catalog

// JobLocation names a place of a job.
type JobLocation struct {
	Type       string `json:"type" minLength:"1" maxLength:"255" doc:"Kind of the place; location is used"`
	LocationID string `json:"locationId" minLength:"1" maxLength:"255" doc:"Id of the place in the organization's own systems"`
}

// Job carries skill requirements. Salaries are amounts a year in the
// organization's currency, minimum not above maximum.
type Job struct {
	Meta
	External
	Name               string        `json:"name" doc:"Title of the job"`
	EmployerID         string        `json:"employerId" doc:"Id of the employer in the organization's own systems"`
	Description        *string       `json:"description" doc:"What the job is about"`
	JobDescriptionHref *string       `json:"jobDescriptionHref" doc:"Address of the job's description"`
	Locations          []JobLocation `json:"locations" doc:"Places of the job"`
	SalaryMin          *float64      `json:"salaryMin" doc:"Lowest salary, an amount a year in the organization's currency; not above salaryMax"`
	SalaryMax          *float64      `json:"salaryMax" doc:"Highest salary, an amount a year in the organization's currency"`
	ONETSOCCode        *string       `json:"onetSocCode" doc:"SOC code NN-NNNN or O*NET-SOC code NN-NNNN.NN of the occupation"`
	Skills             []SkillRef    `json:"skills" doc:"Skills that the job requires, by confidence, then level, both descending, then name"`
}

// JobInput is the input for a job from a request or a file.
type JobInput struct {
	ExternalInput
	Name               Optional[string]        `json:"name" minLength:"1" maxLength:"255"`
	EmployerID         Optional[string]        `json:"employerId" minLength:"1" maxLength:"255"`
	Description        Optional[*string]       `json:"description,omitzero" maxLength:"10000"`
	JobDescriptionHref Optional[*string]       `json:"jobDescriptionHref,omitzero" maxLength:"2000"`
	Locations          Optional[[]JobLocation] `json:"locations,omitzero" nullable:"true" maxItems:"100" doc:"Places of the job, which replace the present ones; null for none"`
	SalaryMin          Optional[*float64]      `json:"salaryMin,omitzero" minimum:"0" maximum:"1000000000000"`
	SalaryMax          Optional[*float64]      `json:"salaryMax,omitzero" minimum:"0" maximum:"1000000000000"`
	ONETSOCCode        Optional[*string]       `json:"onetSocCode,omitzero" pattern:"^\\d{2}-\\d{4}(\\.\\d{2})?$"`
	Skills             Optional[[]SkillInput]  `json:"skills,omitzero" nullable:"true" maxItems:"500" doc:"Skills that the job requires, which replace the present ones; null for none"`
}

// Apply sets the fields of the job.
func (in JobInput) Apply(j *Job, l Lookups) []FieldError {
	j.Name, j.EmployerID = in.Name.Or(j.Name), in.EmployerID.Or(j.EmployerID)
	j.Description = text(in.Description, j.Description)
	j.JobDescriptionHref = text(in.JobDescriptionHref, j.JobDescriptionHref)
	j.Locations = append([]JobLocation{}, in.Locations.Or(j.Locations)...)
	j.SalaryMin, j.SalaryMax = amount(in.SalaryMin, j.SalaryMin), amount(in.SalaryMax, j.SalaryMax)
	j.ONETSOCCode = text(in.ONETSOCCode, j.ONETSOCCode)
	check := l.checker()
	in.apply(&j.External, check)
	if j.SalaryMin != nil && j.SalaryMax != nil && *j.SalaryMin > *j.SalaryMax {
		check.fault("salaryMin", "must not be greater than salaryMax", *j.SalaryMin)
	}
	j.Skills = check.skills(in.Skills, j.Skills)
	return *check.wrong
}

// ONETSOCPattern is the form of a SOC or O*NET-SOC code.
var ONETSOCPattern = form(`^\d{2}-\d{4}(\.\d{2})?$`)
