package catalog

// MatchingConfig has the lowest scores, 0..1, of full and partial equivalents; partial is at most full.
type MatchingConfig struct {
	FullEquivalentThreshold    float64 `json:"fullEquivalentThreshold" minimum:"0" maximum:"1" doc:"Score from which a match is FULL"`
	PartialEquivalentThreshold float64 `json:"partialEquivalentThreshold" minimum:"0" maximum:"1" doc:"Score from which a match is PARTIAL; not above fullEquivalentThreshold"`
}

// DefaultMatchingConfig has the default thresholds.
var DefaultMatchingConfig = MatchingConfig{FullEquivalentThreshold: 0.85, PartialEquivalentThreshold: 0.60}

// TransferPackage is a set of courses that students bring from another institution.
type TransferPackage struct {
	Meta
	External
	Name                    string         `json:"name" doc:"Name of the package"`
	TransferFromInstitution string         `json:"transferFromInstitution" doc:"Name of the institution that the courses were taken at"`
	MatchingConfig          MatchingConfig `json:"matchingConfig" doc:"Scores from which a match counts as an equivalent"`
	Description             *string        `json:"description" doc:"What the package is about"`
	UniqueTag               *string        `json:"uniqueTag" doc:"Tag chosen by the organization"`
	// Additions counts the times that courses were added to the package. It is stored, but not shown to clients.
	Additions int `json:"-" store:"grown,omitempty,guard"`
}

// MatchingConfigInput is the input for the thresholds.
type MatchingConfigInput struct {
	FullEquivalentThreshold    *float64 `json:"fullEquivalentThreshold,omitempty" minimum:"0" maximum:"1" default:"0.85"`
	PartialEquivalentThreshold *float64 `json:"partialEquivalentThreshold,omitempty" minimum:"0" maximum:"1" default:"0.6"`
}

// Apply sets the given thresholds.
func (in MatchingConfigInput) Apply(m *MatchingConfig, l Lookups) []FieldError {
	m.FullEquivalentThreshold = unsigned(ValueOr(in.FullEquivalentThreshold, m.FullEquivalentThreshold))
	m.PartialEquivalentThreshold = unsigned(ValueOr(in.PartialEquivalentThreshold, m.PartialEquivalentThreshold))
	if m.PartialEquivalentThreshold > m.FullEquivalentThreshold {
		return []FieldError{{l.at("partialEquivalentThreshold"), "must not be greater than fullEquivalentThreshold",
			m.PartialEquivalentThreshold}}
	}
	return nil
}

// TransferPackageInput is the input for a transfer package from a request or a file.
type TransferPackageInput struct {
	ExternalInput
	Name                    Optional[string]              `json:"name" minLength:"1" maxLength:"255"`
	TransferFromInstitution Optional[string]              `json:"transferFromInstitution" minLength:"1" maxLength:"255"`
	MatchingConfig          Optional[MatchingConfigInput] `json:"matchingConfig,omitzero"`
	Description             Optional[*string]             `json:"description,omitzero" maxLength:"10000"`
	UniqueTag               Optional[*string]             `json:"uniqueTag,omitzero" maxLength:"255"`
}

// Apply sets the fields of the package; a new one has the default thresholds.
func (in TransferPackageInput) Apply(p *TransferPackage, l Lookups) []FieldError {
	p.Name, p.TransferFromInstitution = in.Name.Or(p.Name), in.TransferFromInstitution.Or(p.TransferFromInstitution)
	p.Description, p.UniqueTag = text(in.Description, p.Description), text(in.UniqueTag, p.UniqueTag)
	if p.ID == "" {
		p.MatchingConfig = DefaultMatchingConfig
	}
	check := l.checker()
	in.apply(&p.External, check)
	check.add(in.MatchingConfig.Value.Apply(&p.MatchingConfig, l.Below("matchingConfig"))...)
	return *check.wrong
}

// TransferCourse is a course of a transfer package. Its skills are extracted from its syllabus, or without one from
// name and description.
type TransferCourse struct {
	Meta
	PackageID    string     `json:"packageId" doc:"Id of the transfer package that the course is in"`
	Name         string     `json:"name" doc:"Name of the course"`
	Description  *string    `json:"description" doc:"What the course is about; skills are extracted from name and description where there is no syllabus"`
	Code         *string    `json:"code" doc:"Code of the course at its institution" extension:"true"`
	Credits      *Credits   `json:"credits" doc:"Credits that the course is worth; null if unknown" extension:"true"`
	TakenTerm    *string    `json:"takenTerm" doc:"Term in which the course was taken, such as Fall 2025" extension:"true"`
	SyllabusHref *string    `json:"syllabusHref" format:"uri" doc:"Address of the syllabus, from which skills are extracted"`
	DocumentID   *string    `json:"documentId" doc:"Uploaded document that holds the syllabus, instead of an address" extension:"true"`
	Skills       []SkillRef `json:"skills" doc:"Skills that were extracted, as reviews leave them, by confidence, then level, both descending, then name"`
	Extraction
	// Reviews are people's decisions on the skills, which Skills follows; Provenance describes the extraction. Both
	// are hidden from clients.
	Reviews    Reviews     `json:"-" store:"reviews,omitempty"`
	Provenance *Provenance `json:"-" store:"provenance,omitempty"` // nil in rows from before it was stored
}

// TransferCourseInput is the input for a transfer course, which is immutable.
type TransferCourseInput struct {
	Name         Optional[string]   `json:"name" minLength:"1" maxLength:"255"`
	SyllabusHref Optional[*string]  `json:"syllabusHref,omitzero" maxLength:"2000" doc:"Address of the syllabus: https, without credentials. At most one of syllabusHref and documentId"`
	DocumentID   Optional[*string]  `json:"documentId,omitzero" maxLength:"64" doc:"Document whose file was uploaded and holds the syllabus. At most one of syllabusHref and documentId"`
	Description  Optional[*string]  `json:"description,omitzero" maxLength:"10000"`
	Code         Optional[*string]  `json:"code,omitzero" maxLength:"50"`
	Credits      Optional[*Credits] `json:"credits,omitzero"`
	TakenTerm    Optional[*string]  `json:"takenTerm,omitzero" maxLength:"50"`
}

// Apply sets the fields of a new transfer course and makes its extraction PENDING.
func (in TransferCourseInput) Apply(c *TransferCourse, l Lookups) []FieldError {
	c.Name = in.Name.Or(c.Name)
	c.Description = text(in.Description, c.Description)
	c.Code, c.TakenTerm = text(in.Code, c.Code), text(in.TakenTerm, c.TakenTerm)
	c.Skills, c.Extraction = []SkillRef{}, Extraction{ProcessingStatus: Pending}
	check := l.checker()
	c.Credits = check.credits(in.Credits, c.Credits)
	c.SyllabusHref, c.DocumentID = check.syllabus(in.SyllabusHref, in.DocumentID, c.SyllabusHref, c.DocumentID)
	return *check.wrong
}

// Retry makes the extraction of a FAILED course PENDING again.
func (c *TransferCourse) Retry() error {
	if !Retrying.StartsIn(c.ProcessingStatus) {
		return Errorf(Conflict, "The course is %s; only a FAILED course can be retried.", c.ProcessingStatus)
	}
	c.Extraction = Extraction{ProcessingStatus: Retrying.To}
	return nil
}

// Matchable reports whether the course can be compared with sections, because its skills are known.
func (c *TransferCourse) Matchable() bool { return c.ProcessingStatus == Completed }

// CheckMatch returns a Conflict unless the course is Matchable.
func (c *TransferCourse) CheckMatch() error {
	if c.Matchable() {
		return nil
	}
	return Errorf(Conflict, "The course is %s; its skills are known once it is COMPLETED.", c.ProcessingStatus)
}

// MaxTransferCourses is the maximum number of courses in a package.
const MaxTransferCourses = 1000

// CheckTransferCourses returns a Conflict if a package that has some courses cannot take that many more.
func CheckTransferCourses(has, more int) error {
	if has+more > MaxTransferCourses {
		return Errorf(Conflict, "A package holds at most %d courses; it has %d.", MaxTransferCourses, has)
	}
	return nil
}

// AddTransferCourse creates a course of the package. place is its position among the courses of the same instant.
func (c *Change) AddTransferCourse(course *TransferCourse, p *TransferPackage, ids IDs, now Time, place int) {
	number, _ := Sequence(TransferPackageKind, p.ID)
	course.Meta = NewMeta(ids.Ordered(TransferCourseKind, now, place, number), p.OrganizationID, now)
	course.PackageID = p.ID
	c.Create(course, nil)
}
