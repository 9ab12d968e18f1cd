package rest

import (
	"context"
	"slices"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/skills"
)

type createExtractionInput struct {
	Body struct {
		catalog.SyllabusExtractionInput
	}
}

type extractionInput struct {
	ExtractionID string   `path:"extractionId"`
	Include      []string `query:"include" enum:"evidence,text" doc:"evidence adds evidence and how it was extracted, text the text that its offsets count in"`
}

// AcceptedExtraction is an extraction that will be run.
type AcceptedExtraction struct {
	ExtractionID     string                   `json:"extractionId"`
	ProcessingStatus catalog.ProcessingStatus `json:"processingStatus" enum:"PENDING,PROCESSING,COMPLETED,FAILED"`
}

// ExtractionResult is an extraction with what it found so far.
type ExtractionResult struct {
	AcceptedExtraction
	OrganizationID catalog.OrgID      `json:"organizationId"`
	Name           *string            `json:"name" doc:"Name of the extraction"`
	SyllabusHref   *string            `json:"syllabusHref" format:"uri" doc:"Address of the syllabus; null where there was none"`
	DocumentID     *string            `json:"documentId" doc:"Uploaded document that holds the syllabus; null where there is none"`
	Skills         []catalog.SkillRef `json:"skills" doc:"Skills that were extracted, by confidence, then level, both descending, then name"`
	Failure        *catalog.Failure   `json:"failure,omitempty" doc:"Why the extraction failed; only when FAILED"`
	Warnings       []catalog.Warning  `json:"warnings,omitempty" doc:"What the extracted skills do not show"`
	CreatedAt      catalog.Time       `json:"createdAt" doc:"When the extraction was asked for"`
	UpdatedAt      catalog.Time       `json:"updatedAt" doc:"When its state last changed"`
	DeletedAt      *catalog.Time      `json:"deletedAt" doc:"Always null"`
	Included
	Text *string `json:"text,omitempty" doc:"The extracted text, that the offsets of the evidence count in; only with include=text"`
}

type searchInput struct {
	pageInput
	Query string `query:"query" doc:"Words to search for, the last one also as a beginning; all skills by name when empty"`
}

type skillInput struct {
	SkillID string `path:"skillId"`
}

type skillSectionsInput struct {
	skillInput
	pageInput
}

// Skill is a skill of the loaded taxonomy.
type Skill struct {
	ID          string      `json:"id" doc:"Id of the skill"`
	Name        string      `json:"name" doc:"Name of the skill"`
	Description string      `json:"description" doc:"What the skill is; empty where the taxonomy does not say"`
	Aliases     []string    `json:"aliases" doc:"Other names of the skill"`
	Kind        string      `json:"kind" doc:"Kind of the skill, as the taxonomy has it"`
	Field       string      `json:"field" doc:"Field that the skill is of, as the taxonomy has it"`
	Taxonomy    TaxonomyRef `json:"taxonomy" doc:"Taxonomy that the skill is of"`
}

// TaxonomyRef names the taxonomy of a skill.
type TaxonomyRef struct {
	Name    string `json:"name" doc:"Name of the taxonomy"`
	Version string `json:"version" doc:"Version of the taxonomy"`
}

func (s *Server) bindExtractions() {
	write(s, "createSyllabusExtraction", createExtraction)
	read(s, "getSyllabusExtraction", readExtraction)
	read(s, "listSkills", func(_ context.Context, c *call, in *searchInput) (Page[Skill], error) {
		found, total := c.Taxonomy().Search(in.Query, in.Limit, in.Offset)
		list := make([]Skill, len(found))
		for i, skill := range found {
			list[i] = c.skill(skill)
		}
		return page(c, in.pageInput, list, total), nil
	})
	read(s, "getSkill", func(_ context.Context, c *call, in *skillInput) (Skill, error) {
		skill, ok := c.Taxonomy().Skill(in.SkillID)
		if !ok {
			return Skill{}, catalog.Absent()
		}
		return c.skill(skill), nil
	})
	read(s, "listSkillSections", listSkillSections)
}

// listSkillSections finds the sections that teach a skill. One that the taxonomy has no
// more is still found where it is taught.
func listSkillSections(ctx context.Context, c *call, in *skillSectionsInput) (Page[catalog.TeachingSection], error) {
	candidates, err := c.candidates(ctx)
	if err != nil {
		return Page[catalog.TeachingSection]{}, err
	}
	places := candidates.taught()[in.SkillID]
	if _, known := c.Taxonomy().Name(in.SkillID); !known && places == nil {
		return Page[catalog.TeachingSection]{}, catalog.Absent()
	}
	asked := cut(in.pageInput, places)
	sections := make([]catalog.TeachingSection, len(asked))
	for i, place := range asked {
		p := candidates.profiles[place.section]
		sections[i] = catalog.TeachingSection{
			CourseProfile: p.CourseProfile, SectionID: p.SectionID, SectionName: p.SectionName, SectionInstructorName: p.SectionInstructorName,
			Level: place.level, Confidence: place.confidence,
		}
	}
	return page(c, in.pageInput, sections, len(places)), nil
}

func (c *call) skill(s skills.Skill) Skill {
	info := c.Taxonomy().Info()
	out := Skill{ID: s.ID, Name: s.Name, Description: s.Description, Aliases: s.Aliases, Kind: s.Kind, Field: s.Field, Taxonomy: TaxonomyRef{info.Name, info.Version}}
	if out.Aliases == nil {
		out.Aliases = []string{}
	}
	return out
}

func createExtraction(ctx context.Context, c *call, in *createExtractionInput) (*AcceptedExtraction, *catalog.Change, error) {
	extraction := &catalog.SyllabusExtraction{Meta: catalog.NewMeta(c.IDs.Of(catalog.SyllabusExtractionKind), c.org, c.now)}
	l, err := c.withDocuments(ctx, in.Body.DocumentID)
	if err != nil {
		return nil, nil, err
	}
	if err := catalog.Apply(in.Body.SyllabusExtractionInput, extraction, l); err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	change.Create(extraction, nil)
	if words := in.Body.Text.Value; words != nil {
		change.Texts = append(change.Texts, catalog.Text{RecordID: extraction.ID, Text: *words})
	}
	c.created(extraction)
	return &AcceptedExtraction{extraction.ID, extraction.ProcessingStatus}, &change, nil
}

func readExtraction(ctx context.Context, c *call, in *extractionInput) (*ExtractionResult, error) {
	e, err := c.Store.SyllabusExtraction(ctx, c.org, in.ExtractionID)
	if err != nil {
		return nil, err
	}
	out := &ExtractionResult{
		AcceptedExtraction: AcceptedExtraction{e.ID, e.ProcessingStatus}, OrganizationID: e.OrganizationID, Name: e.Name, SyllabusHref: e.SyllabusHref,
		DocumentID: e.DocumentID,
		Skills:     e.Skills, Failure: e.Failure, Warnings: e.Warnings, CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt, DeletedAt: e.DeletedAt,
	}
	if slices.Contains(in.Include, "text") {
		text, err := c.Store.Text(ctx, c.org, e.ID)
		if err != nil {
			return nil, err
		}
		words := string(text)
		out.Text = &words
	}
	out.Included, err = c.include(ctx, includeInput{in.Include}, e.ID, e.Skills, false)
	return out, err
}
