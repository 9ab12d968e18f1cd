package rest

import (
	"context"
	"maps"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
)

type credentialInput struct {
	CredentialID string `path:"credentialId"`
}

type createCredentialInput struct {
	Body struct{ catalog.CredentialInput }
}

type updateCredentialInput struct {
	credentialInput
	Body struct {
		patch
		catalog.CredentialInput
	}
}

type addSectionInput struct {
	credentialInput
	Body struct {
		SectionID string `json:"sectionId" minLength:"1" maxLength:"64" doc:"Section to be added; no other section of its course may be there"`
	}
}

type credentialSectionInput struct {
	credentialInput
	SectionID string `path:"sectionId"`
}

func (s *Server) bindCredentials() {
	read(s, "listCredentials", func(ctx context.Context, c *call, in *namedPageInput) (Page[*catalog.Credential], error) {
		credentials, err := list(ctx, c, *in, c.Store.Credentials)
		if err == nil {
			err = c.fillCredentials(ctx, credentials.Data...)
		}
		return credentials, err
	})
	read(s, "getCredential", func(ctx context.Context, c *call, in *credentialInput) (*catalog.Credential, error) {
		credential, err := c.Store.Credential(ctx, c.org, in.CredentialID, c.strong)
		if err == nil {
			err = c.fillCredentials(ctx, credential)
		}
		return credential, err
	})
	write(s, "createCredential", createCredential)
	write(s, "updateCredential", updateCredential)
	write(s, "deleteCredential", deleteCredential)
	write(s, "addCredentialSection", addCredentialSection)
	write(s, "removeCredentialSection", removeCredentialSection)
	read(s, "buildCredential", buildCredential)
}

// fillCredentials makes the profiles of the credentials' sections from the live
// courses and sections.
func (c *call) fillCredentials(ctx context.Context, credentials ...*catalog.Credential) error {
	var ids []string
	for _, credential := range credentials {
		for _, section := range credential.Sections {
			ids = append(ids, section.SectionID)
		}
	}
	placed, err := c.place(ctx, ids, c.strong)
	if err != nil {
		return err
	}
	for _, credential := range credentials {
		profiles := make([]catalog.SectionProfile, 0, len(credential.Sections))
		for _, section := range credential.Sections {
			if p := placed[section.SectionID]; p.Section != nil {
				profiles = append(profiles, p.Section.Profile(p.Course))
			}
		}
		credential.Sections = profiles
	}
	return nil
}

// coursesOf loads the courses of a credential's sections, as they are now.
func (c *call) coursesOf(ctx context.Context, credential *catalog.Credential) (map[string]*catalog.Course, error) {
	ids := make([]string, len(credential.Sections))
	for i, section := range credential.Sections {
		ids[i] = section.CourseID
	}
	if len(ids) == 0 {
		return map[string]*catalog.Course{}, nil
	}
	return c.Store.CoursesByID(ctx, c.org, ids, true)
}

func createCredential(ctx context.Context, c *call, in *createCredentialInput) (*catalog.Credential, *catalog.Change, error) {
	l := c.lookups()
	var err error
	if l.Sections, err = c.place(ctx, in.Body.CourseSectionIDs.Value, true); err != nil {
		return nil, nil, err
	}
	credential, change, err := create(ctx, c, in.Body.CredentialInput, &catalog.Credential{}, l)
	if err == nil {
		err = credential.Holds(change, nil, coursesIn(l.Sections))
	}
	return credential, change, err
}

func updateCredential(ctx context.Context, c *call, in *updateCredentialInput) (*catalog.Credential, *catalog.Change, error) {
	l := c.lookups()
	credential, placed, err := parallel(ctx, func(ctx context.Context) (*catalog.Credential, error) {
		return c.Store.Credential(ctx, c.org, in.CredentialID, true)
	}, func(ctx context.Context) (map[string]catalog.Placed, error) {
		return c.place(ctx, in.Body.CourseSectionIDs.Value, true)
	})
	if err != nil {
		return nil, nil, err
	}
	l.Sections = placed
	loaded := *credential
	_, had, err := parallel(ctx, func(ctx context.Context) (none, error) {
		return none{}, c.fillCredentials(ctx, credential)
	}, func(ctx context.Context) (map[string]*catalog.Course, error) {
		if !in.Body.CourseSectionIDs.Set {
			return nil, nil
		}
		return c.coursesOf(ctx, &loaded)
	})
	if err != nil {
		return nil, nil, err
	}
	credential, change, err := update(c, in.Body.CredentialInput, credential, l)
	if err == nil && in.Body.CourseSectionIDs.Set {
		courses := coursesIn(placed)
		maps.Copy(courses, had)
		err = credential.Holds(change, loaded.Sections, courses)
	}
	return credential, change, err
}

// coursesIn returns the courses of placed sections by id.
func coursesIn(placed map[string]catalog.Placed) map[string]*catalog.Course {
	courses := map[string]*catalog.Course{}
	for _, p := range placed {
		courses[p.Course.ID] = p.Course
	}
	return courses
}

func deleteCredential(ctx context.Context, c *call, in *credentialInput) (none, *catalog.Change, error) {
	credential, dir, err := parallel(ctx, func(ctx context.Context) (*catalog.Credential, error) {
		return c.Store.Credential(ctx, c.org, in.CredentialID, true)
	}, func(ctx context.Context) (*catalog.Directory, error) {
		return c.Store.Directory(ctx, c.org, catalog.CredentialKind)
	})
	if err != nil {
		return none{}, nil, err
	}
	courses, err := c.coursesOf(ctx, credential)
	if err != nil {
		return none{}, nil, err
	}
	var change catalog.Change
	change.Delete(credential, c.now, dir)
	return none{}, &change, credential.Holds(&change, credential.Sections, courses)
}

func addCredentialSection(ctx context.Context, c *call, in *addSectionInput) (*catalog.Credential, *catalog.Change, error) {
	id := in.Body.SectionID
	credential, placed, err := parallel(ctx, func(ctx context.Context) (*catalog.Credential, error) {
		return c.Store.Credential(ctx, c.org, in.CredentialID, true)
	}, func(ctx context.Context) (map[string]catalog.Placed, error) {
		return c.place(ctx, []string{id}, true)
	})
	if err != nil {
		return nil, nil, err
	}
	before := credential.Sections
	if err := c.fillCredentials(ctx, credential); err != nil {
		return nil, nil, err
	}
	if placed[id].Section == nil {
		return nil, nil, catalog.Invalid(catalog.FieldError{Location: "body.sectionId", Message: "there is no such section", Value: id})
	}
	var change catalog.Change
	added, err := credential.Add(placed[id])
	if err != nil || !added {
		return credential, &change, err
	}
	change.Replace(credential, c.now)
	err = credential.Holds(&change, before, map[string]*catalog.Course{placed[id].Course.ID: placed[id].Course})
	return credential, &change, err
}

func removeCredentialSection(ctx context.Context, c *call, in *credentialSectionInput) (none, *catalog.Change, error) {
	credential, courses, err := parallel(ctx, func(ctx context.Context) (*catalog.Credential, error) {
		return c.Store.Credential(ctx, c.org, in.CredentialID, true)
	}, func(ctx context.Context) (map[string]*catalog.Course, error) {
		return c.Store.CoursesOfSections(ctx, c.org, []string{in.SectionID}, true)
	})
	if err != nil {
		return none{}, nil, err
	}
	before := credential.Sections
	if !credential.Remove(in.SectionID) {
		return none{}, nil, catalog.Absent()
	}
	var change catalog.Change
	change.Replace(credential, c.now)
	held := map[string]*catalog.Course{}
	if course := courses[in.SectionID]; course != nil {
		held[course.ID] = course
	}
	return none{}, &change, credential.Holds(&change, before, held)
}

type builderInput struct {
	Body struct {
		JobIdentifiers   []catalog.ReportJob `json:"jobIdentifiers" minItems:"1" maxItems:"20" doc:"Occupations and jobs that the credential is to serve"`
		AllowedCourseIDs []string            `json:"allowedCourseIds,omitempty" maxItems:"1000" doc:"Courses whose sections may be proposed; all when absent or empty"`
		MinSections      *int                `json:"minSections,omitempty" minimum:"1" maximum:"200" default:"1" doc:"Fewest sections of a proposal"`
		MaxSections      *int                `json:"maxSections,omitempty" minimum:"1" maximum:"200" default:"20" doc:"Most sections of a proposal; not below minSections"`
		Weights          *builderWeights     `json:"weights,omitempty" doc:"What makes a proposal expensive; the defaults when absent"`
	}
}

type builderWeights struct {
	OverlapPenalty       *float64 `json:"overlapPenalty,omitempty" minimum:"0" maximum:"100" default:"10" doc:"Weight of teaching a skill more than once"`
	SectionCountPenalty  *float64 `json:"sectionCountPenalty,omitempty" minimum:"0" maximum:"100" default:"30" doc:"Weight of each section"`
	UndercoveragePenalty *float64 `json:"undercoveragePenalty,omitempty" minimum:"0" maximum:"100" default:"60" doc:"Weight of what is required and not taught"`
}

// Proposal is a proposed credential: the sections, and how well they serve.
type Proposal struct {
	Sections []catalog.SectionProfile `json:"sections" doc:"Proposed sections, at most one of each course"`
	alignment.Proposal
	Warnings []catalog.Warning `json:"warnings,omitempty" doc:"skills_not_in_taxonomy: how many of the skills taught and required the loaded taxonomy lacks"`
}

func or[T any](given *T, otherwise T) T {
	if given == nil {
		return otherwise
	}
	return *given
}

func buildCredential(ctx context.Context, c *call, in *builderInput) (*Proposal, error) {
	body := in.Body
	request := alignment.CredentialRequest{MinSections: or(body.MinSections, 1), MaxSections: or(body.MaxSections, 20), Weights: alignment.DefaultWeights}
	if w := body.Weights; w != nil {
		request.Weights.OverlapPenalty = or(w.OverlapPenalty, request.Weights.OverlapPenalty)
		request.Weights.SectionCountPenalty = or(w.SectionCountPenalty, request.Weights.SectionCountPenalty)
		request.Weights.UndercoveragePenalty = or(w.UndercoveragePenalty, request.Weights.UndercoveragePenalty)
	}
	if request.MinSections > request.MaxSections {
		return nil, catalog.Invalid(catalog.FieldError{Location: "body.minSections", Message: "greater than maxSections", Value: request.MinSections})
	}
	jobs, wrong, err := c.jobProfiles(ctx, body.JobIdentifiers, "body.jobIdentifiers")
	if err != nil {
		return nil, err
	}
	courses, more, err := c.namedCourses(ctx, body.AllowedCourseIDs, "body.allowedCourseIds")
	if err != nil {
		return nil, err
	}
	if wrong = append(wrong, more...); wrong != nil {
		return nil, catalog.Invalid(wrong...)
	}
	candidates, err := c.candidates(ctx)
	if err != nil {
		return nil, err
	}
	request.Jobs = jobs
	for _, candidate := range candidates.list {
		if len(courses) == 0 || courses[candidate.CourseID] != nil {
			request.Candidates = append(request.Candidates, candidate)
		}
	}
	proposal, err := alignment.Build(request)
	if err != nil {
		return nil, err
	}
	placed, err := c.place(ctx, proposal.SectionIDs, c.strong)
	if err != nil {
		return nil, err
	}
	usage := c.Taxonomy().Usage(candidates.usage)
	for _, job := range jobs {
		addSkills(usage, job.SkillRequirements)
	}
	out := &Proposal{Sections: []catalog.SectionProfile{}, Proposal: proposal, Warnings: c.warnings(usage)}
	for _, id := range proposal.SectionIDs {
		if p := placed[id]; p.Section != nil {
			out.Sections = append(out.Sections, p.Section.Profile(p.Course))
		}
	}
	return out, nil
}
