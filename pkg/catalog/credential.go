package catalog

import (
	"cmp"
	"fmt"
	"slices"
)

// Credential is a stackable credential: sections in the order in which they were added, at most one of each course.
// Only ids of sections are stored; reads fill in the rest from the live course and section.
type Credential struct {
	Meta
	External
	Registered
	Name           string           `json:"name" doc:"Name of the credential"`
	Description    *string          `json:"description" doc:"What the credential is about"`
	Code           *string          `json:"code" doc:"Code of the credential"`
	Sections       []SectionProfile `json:"sections" doc:"Sections that the credential stacks, at most one of each course, in their order"`
	CredentialType string           `json:"credentialType" doc:"Type of the credential in CTDL, without its prefix" extension:"true"`
	Status         string           `json:"status" enum:"ACTIVE,SUSPENDED,DEPRECATED,TEACH_OUT" doc:"Whether the credential is awarded; ACTIVE by default" extension:"true"`
	Webpage        *string          `json:"webpage" format:"uri" doc:"Page about the credential: an https address without credentials" extension:"true"`
}

// The defaults of a credential.
const (
	MicroCredential  = "MicroCredential"
	ActiveCredential = "ACTIVE"
)

// CredentialInput is the input for a credential from a request or a file.
type CredentialInput struct {
	ExternalInput
	RegisteredInput
	Name             Optional[string]   `json:"name" minLength:"1" maxLength:"255"`
	Description      Optional[*string]  `json:"description,omitzero" maxLength:"10000"`
	Code             Optional[*string]  `json:"code,omitzero" maxLength:"50"`
	CredentialType   Optional[string]   `json:"credentialType,omitzero" enum:"AcademicCertificate,ApprenticeshipCertificate,AssociateDegree,AssociateOfAppliedArtsDegree,AssociateOfAppliedScienceDegree,AssociateOfArtsDegree,AssociateOfScienceDegree,BachelorDegree,BachelorOfArtsDegree,BachelorOfScienceDegree,Badge,BasicTechnicalCertificate,Certificate,CertificateOfCompletion,CertificateOfParticipation,Certification,DigitalBadge,Diploma,DoctoralDegree,GeneralEducationDevelopment,GeneralEducationLevel1Certificate,GeneralEducationLevel2Certificate,HigherEducationLevel1Certificate,HigherEducationLevel2Certificate,JourneymanCertificate,License,MasterCertificate,MasterDegree,MasterOfArtsDegree,MasterOfScienceDegree,MicroCredential,OpenBadge,PostBaccalaureateCertificate,PostMasterCertificate,PreApprenticeshipCertificate,ProfessionalCertificate,ProfessionalDoctorate,ProficiencyCertificate,QualityAssuranceCredential,ResearchDoctorate,SecondaryEducationCertificate,SecondarySchoolDiploma,SpecialistDegree,TechnicalLevel1Certificate,TechnicalLevel2Certificate,TechnicalLevel3Certificate,WorkBasedLearningCertificate" doc:"Type of the credential in CTDL, one of those that can be published; MicroCredential by default"`
	Status           Optional[string]   `json:"status,omitzero" enum:"ACTIVE,SUSPENDED,DEPRECATED,TEACH_OUT"`
	Webpage          Optional[*string]  `json:"webpage,omitzero" maxLength:"2000"`
	CourseSectionIDs Optional[[]string] `json:"courseSectionIds,omitzero" maxItems:"200" doc:"Ids of all sections in order, which replace the present ones; at most one of each course"`
}

// Apply sets the fields of the credential. Its sections are looked up in l.Sections.
func (in CredentialInput) Apply(c *Credential, l Lookups) []FieldError {
	c.Name = in.Name.Or(c.Name)
	c.Description, c.Code = text(in.Description, c.Description), text(in.Code, c.Code)
	c.CredentialType = cmp.Or(in.CredentialType.Value, c.CredentialType, MicroCredential)
	c.Status = cmp.Or(in.Status.Value, c.Status, ActiveCredential)
	check := l.checker()
	in.ExternalInput.apply(&c.External, check)
	c.Webpage = check.webpage(in.Webpage, c.Webpage)
	in.RegisteredInput.apply(&c.Registered)
	if in.CourseSectionIDs.Set || c.Sections == nil {
		check.add(c.SetSections(in.CourseSectionIDs.Value, l.Sections, l.at("courseSectionIds"))...)
	}
	return *check.wrong
}

// MaxCredentialSections is the maximum number of sections in a credential.
const MaxCredentialSections = 200

// Add appends a section to the credential unless it is there already. Another section of the same course is a conflict.
func (c *Credential) Add(p Placed) (added bool, err error) {
	for _, s := range c.Sections {
		if s.SectionID == p.Section.ID {
			return false, nil
		}
		if s.CourseID == p.Course.ID {
			return false, Errorf(Conflict, "The credential already holds section %s of course %s.", s.SectionID, s.CourseID)
		}
	}
	if len(c.Sections) >= MaxCredentialSections {
		return false, Errorf(Conflict, "A credential holds at most %d sections.", MaxCredentialSections)
	}
	c.Sections = append(c.Sections, p.Section.Profile(p.Course))
	return true, nil
}

// SetSections replaces the credential's sections with those with the ids, in the same order.
// Field errors are located at "location[i]".
func (c *Credential) SetSections(ids []string, placed map[string]Placed, location string) []FieldError {
	var wrong []FieldError
	seen, courses := map[string]bool{}, map[string]string{}
	sections := make([]SectionProfile, 0, len(ids))
	for i, id := range ids {
		message := ""
		switch p := placed[id]; {
		case seen[id]:
			message = "the section is named twice"
		case p.Section == nil:
			message = "there is no such section"
		case courses[p.Course.ID] != "":
			message = "section " + courses[p.Course.ID] + " of the same course stands before it; a credential holds at most " +
				"one section of each course"
		default:
			courses[p.Course.ID] = id
			sections = append(sections, p.Section.Profile(p.Course))
		}
		seen[id] = true
		if message != "" {
			wrong = append(wrong, FieldError{fmt.Sprintf("%s[%d]", location, i), message, id})
		}
	}
	if wrong == nil {
		c.Sections = sections
	}
	return wrong
}

// Remove removes a section from the credential and reports whether it was there.
func (c *Credential) Remove(sectionID string) bool {
	n := len(c.Sections)
	c.Sections = slices.DeleteFunc(slices.Clone(c.Sections),
		func(s SectionProfile) bool { return s.SectionID == sectionID })
	return len(c.Sections) < n
}
