package rest

import (
	"context"
	"slices"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/schema"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/service/parallel"
)

// OutcomeList has the outcomes of a course or a program.
type OutcomeList struct {
	CourseID         string                   `json:"courseId,omitempty" doc:"Course that the outcomes belong to; absent for those of a program"`
	ProgramID        string                   `json:"programId,omitempty" doc:"Program that the outcomes belong to; absent for those of a course"`
	ProcessingStatus catalog.ProcessingStatus `json:"processingStatus" enum:"PENDING,PROCESSING,COMPLETED,FAILED" doc:"State of the reading of statements; COMPLETED for an empty list"`
	Failure          *catalog.Failure         `json:"failure" doc:"Reason for the failure; null unless FAILED"`
	Outcomes         []OutcomeDetail          `json:"outcomes" maxItems:"100" doc:"The outcomes, in their order"`
	Extraction       *catalog.Provenance      `json:"extraction" doc:"How statements were read last; null if none was read"`
	catalog.Registered
	UpdatedAt catalog.Time `json:"updatedAt" doc:"When the list last changed; that of its course or program if it was never written"`
}

// OutcomeDetail is an outcome as include shows it.
type OutcomeDetail struct {
	catalog.Outcome
	Evidence *[]catalog.Evidence `json:"evidence,omitempty" doc:"Where in the statement each skill was found; only with include=evidence"`
	IncludedReviews
}

type outcomesBody struct {
	schema.ExcessAtItem
	catalog.OutcomesInput
}

type listOutcomesInput struct {
	pageInput
	SkillID string `query:"skillId" required:"true" minLength:"1" doc:"Only outcomes with this skill"`
	Level   int    `query:"level" default:"1" minimum:"1" maximum:"5" doc:"Only outcomes with the skill at this level or above"`
}

// PromisedOutcome is an outcome in the list of those with a skill.
type PromisedOutcome struct {
	Outcome   catalog.Outcome `json:"outcome" doc:"The outcome"`
	CourseID  string          `json:"courseId,omitempty" doc:"Course that the outcome belongs to; absent for one of a program"`
	ProgramID string          `json:"programId,omitempty" doc:"Program that the outcome belongs to; absent for one of a course"`
	Name      string          `json:"name" doc:"Name of the course or program"`
	Code      *string         `json:"code" doc:"Code of the course or program; null for none"`
}

// bindOutcomes binds the operations that courses and programs, the kinds of owner, have alike.
func bindOutcomes(s *Server, owner catalog.Kind) {
	name := string(owner)
	read(s, "get"+name+"Outcomes", func(ctx context.Context, c *call, in *includeInput) (*OutcomeList, error) {
		return c.outcomes(ctx, owner, *in)
	})
	write(s, "replace"+name+"Outcomes", func(
		ctx context.Context, c *call, in *body[outcomesBody],
	) (*OutcomeList, *catalog.Change, error) {
		return c.replaceOutcomes(ctx, owner, in.Body.OutcomesInput)
	})
	bindReviews[*catalog.Outcome](s, "review"+name+"OutcomeSkill", "delete"+name+"OutcomeReview", func(
		ctx context.Context, c *call,
	) (service.Reviewable, error) {
		return c.actor().ReviewableOutcome(ctx, owner, c.recordID(), c.param("outcomeId"))
	})
}

func adoptOutcomes(
	ctx context.Context, c *call, in *body[catalog.AdoptionInput],
) (*OutcomeList, *catalog.Change, error) {
	list, change, err := c.actor().AdoptOutcomes(ctx, c.recordID(), in.Body)
	if err != nil {
		return nil, nil, err
	}
	return outcomeList(list), change, nil
}

// outcomes returns the outcomes of the course or program that the path names.
func (c *call) outcomes(ctx context.Context, kind catalog.Kind, in includeInput) (*OutcomeList, error) {
	ownerID := c.recordID()
	p, result, err := parallel.Two(ctx, parallel.Call2(c.actor().Outcomes, kind, ownerID), func(
		ctx context.Context,
	) (*catalog.ExtractionResult, error) {
		if !slices.Contains(in.Include, "evidence") {
			return nil, nil
		}
		return c.Store.ExtractionResult(ctx, c.org, catalog.OutcomeListID(ownerID))
	})
	if err != nil {
		return nil, err
	}
	shown := outcomeList(p.List)
	if len(in.Include) > 0 {
		c.current = outcomeList(p.List)
	}
	for i := range shown.Outcomes {
		o := &shown.Outcomes[i]
		if slices.Contains(in.Include, "evidence") {
			o.Evidence = new(o.Outcome.Evidence(result))
		}
		if slices.Contains(in.Include, "reviews") {
			o.Shown = new(append([]catalog.Review{}, o.Reviews...))
		}
	}
	return shown, nil
}

func outcomeList(list *catalog.OutcomeList) *OutcomeList {
	shown := &OutcomeList{
		ProcessingStatus: list.ProcessingStatus, Failure: list.Failure, Outcomes: make([]OutcomeDetail, len(list.Outcomes)),
		Extraction: list.Provenance, Registered: list.Registered, UpdatedAt: list.UpdatedAt,
	}
	shown.CourseID, shown.ProgramID = ownerOf(list)
	for i, o := range list.Outcomes {
		shown.Outcomes[i].Outcome = o
	}
	return shown
}

// ownerOf returns the id of the course or of the program that owns a list.
func ownerOf(list *catalog.OutcomeList) (courseID, programID string) {
	if catalog.OutcomeOwner(list.OwnerID) == catalog.CourseKind {
		return list.OwnerID, ""
	}
	return "", list.OwnerID
}

// listOutcomes finds the outcomes with a skill of the taxonomy.
func listOutcomes(ctx context.Context, c *call, in *listOutcomesInput) (Page[PromisedOutcome], error) {
	if _, known := c.Taxonomy().Name(in.SkillID); !known {
		return Page[PromisedOutcome]{}, catalog.Absent()
	}
	found, total, err := c.Server.outcomeFinder.Find(ctx, c.actor(), in.SkillID, in.Level, in.Offset, in.Limit)
	data := make([]PromisedOutcome, len(found))
	for i, f := range found {
		data[i] = PromisedOutcome{Outcome: f.Outcome, Name: f.Name}
		data[i].CourseID, data[i].ProgramID = ownerOf(f.List)
		if f.Code != "" {
			data[i].Code = &f.Code
		}
	}
	return page(c, in.pageInput, data, total), err
}

// replaceOutcomes replaces the outcomes of the course or program that the path names. It charges for each statement
// that must be read.
func (c *call) replaceOutcomes(
	ctx context.Context, kind catalog.Kind, in catalog.OutcomesInput,
) (*OutcomeList, *catalog.Change, error) {
	list, change, err := c.actor().ReplaceOutcomes(ctx, kind, c.recordID(), in)
	if err != nil {
		return nil, nil, err
	}
	c.begun = list.Unread() > 0
	err = c.admission.items(ctx, list.Unread())
	return outcomeList(list), change, err
}

// countUnread counts the outcomes of a body that must be read unless the list has them: those without skills or level.
func countUnread(body map[string]any) (n int) {
	outcomes, _ := body["outcomes"].([]any)
	for _, item := range outcomes {
		if o, _ := item.(map[string]any); o["skills"] == nil || o["level"] == nil {
			n++
		}
	}
	return min(n, catalog.MaxOutcomes)
}
