package rest

import (
	"context"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/skills"
)

type extractionInput struct {
	Include []string `query:"include" enum:"evidence,text" doc:"evidence adds evidence and provenance; text adds the text to which the evidence's offsets refer"`
}

// AcceptedSyllabusExtraction is a queued extraction.
type AcceptedSyllabusExtraction struct {
	ExtractionID     string                   `json:"extractionId"`
	ProcessingStatus catalog.ProcessingStatus `json:"processingStatus" enum:"PENDING,PROCESSING,COMPLETED,FAILED"`
}

// SyllabusExtraction is an extraction with its result, if it is finished.
type SyllabusExtraction struct {
	AcceptedSyllabusExtraction
	OrganizationID catalog.OrgID      `json:"organizationId"`
	Name           *string            `json:"name" doc:"Name of the extraction"`
	SyllabusHref   *string            `json:"syllabusHref" format:"uri" doc:"Address of the syllabus, if any"`
	DocumentID     *string            `json:"documentId" doc:"Id of the uploaded syllabus, if any"`
	Skills         []catalog.SkillRef `json:"skills" doc:"Extracted skills, by confidence, then level, both descending, then name"`
	Failure        *catalog.Failure   `json:"failure,omitempty" doc:"Why the extraction failed; present only if FAILED"`
	Warnings       []catalog.Warning  `json:"warnings,omitempty" doc:"Limitations of the result"`
	CreatedAt      catalog.Time       `json:"createdAt" doc:"When the extraction was requested"`
	UpdatedAt      catalog.Time       `json:"updatedAt" doc:"When the extraction's state last changed"`
	DeletedAt      *catalog.Time      `json:"deletedAt" doc:"Always null"`
	Included
	Text *string `json:"text,omitempty" doc:"Text to which the evidence's offsets refer; only with include=text"`
}

type searchInput struct {
	pageInput
	Query string `query:"query" doc:"Words to search for; the last one also matches as a prefix. All skills by name when empty."`
}

// TaxonomySkill is a skill of the loaded taxonomy.
type TaxonomySkill struct {
	ID          string      `json:"id" doc:"Id of the skill"`
	Name        string      `json:"name" doc:"Name of the skill"`
	Description string      `json:"description" doc:"Description of the skill; may be empty"`
	Aliases     []string    `json:"aliases" doc:"Other names of the skill"`
	Kind        string      `json:"kind" doc:"Kind of the skill in the taxonomy"`
	Field       string      `json:"field" doc:"Field of the skill in the taxonomy"`
	Taxonomy    TaxonomyRef `json:"taxonomy" doc:"Taxonomy of the skill"`
}

// TaxonomyRef names the taxonomy of a skill.
type TaxonomyRef struct {
	Name    string `json:"name" doc:"Name of the taxonomy"`
	Version string `json:"version" doc:"Version of the taxonomy"`
}

func (s *Server) bindExtractions() {
	write(s, "createSyllabusExtraction", createExtraction)
	read(s, "getSyllabusExtraction", readExtraction)
	read(s, "listSkills", func(_ context.Context, c *call, in *searchInput) (Page[TaxonomySkill], error) {
		found, total := c.Taxonomy().Search(in.Query, in.Limit, in.Offset)
		list := make([]TaxonomySkill, len(found))
		for i, skill := range found {
			list[i] = c.skill(skill)
		}
		return page(c, in.pageInput, list, total), nil
	})
	read(s, "getSkill", func(_ context.Context, c *call, _ *none) (TaxonomySkill, error) {
		skill, ok := c.Taxonomy().Skill(c.param("skillId"))
		if !ok {
			return TaxonomySkill{}, catalog.Absent()
		}
		return c.skill(skill), nil
	})
	read(s, "listSkillSections", listSkillSections)
}

// listSkillSections finds the sections that teach a skill, even if the taxonomy no longer has the skill.
func listSkillSections(ctx context.Context, c *call, in *pageInput) (Page[catalog.TeachingSection], error) {
	candidates, err := c.Server.index.Candidates(ctx, c.actor())
	if err != nil {
		return Page[catalog.TeachingSection]{}, err
	}
	skill := c.param("skillId")
	sections, total := candidates.Teaching(skill, in.Offset, in.Limit)
	if _, known := c.Taxonomy().Name(skill); !known && total == 0 {
		return Page[catalog.TeachingSection]{}, catalog.Absent()
	}
	return page(c, *in, sections, total), nil
}

func (c *call) skill(s skills.Skill) TaxonomySkill {
	info := c.Taxonomy().Info()
	return TaxonomySkill{
		ID: s.ID, Name: s.Name, Description: s.Description, Aliases: append([]string{}, s.Aliases...), Kind: s.Kind,
		Field: s.Field, Taxonomy: TaxonomyRef{info.Name, info.Version},
	}
}

func createExtraction(
	ctx context.Context, c *call, in *body[catalog.SyllabusExtractionInput],
) (*AcceptedSyllabusExtraction, *catalog.Change, error) {
	actor, err := c.actorWithDocuments(ctx, in.Body.DocumentID)
	if err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	extraction, err := actor.CreateExtraction(in.Body, &change)
	if err != nil {
		return nil, nil, err
	}

	return &AcceptedSyllabusExtraction{extraction.ID, extraction.ProcessingStatus}, &change, nil
}

func readExtraction(ctx context.Context, c *call, in *extractionInput) (*SyllabusExtraction, error) {
	e, err := service.Get[*catalog.SyllabusExtraction](ctx, c.Store, c.org, c.recordID(), false)
	if err != nil {
		return nil, err
	}
	out := &SyllabusExtraction{
		AcceptedSyllabusExtraction: AcceptedSyllabusExtraction{e.ID, e.ProcessingStatus},
		OrganizationID:             e.OrganizationID, Name: e.Name, SyllabusHref: e.SyllabusHref, DocumentID: e.DocumentID,
		Skills: e.Skills, Failure: e.Failure, Warnings: e.Warnings, CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt,
		DeletedAt: e.DeletedAt,
	}
	text, err := c.includeText(ctx, in.Include, e, nil)
	if err != nil {
		return nil, err
	}
	out.Text = text.Text
	out.Included, err = c.include(ctx, in.Include, e.ID, e.Skills, false)
	return out, err
}
