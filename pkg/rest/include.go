package rest

import (
	"context"
	"slices"

	"skillscurriculum/pkg/catalog"
)

type includeInput struct {
	Include []string `query:"include" enum:"evidence,reviews,text" doc:"evidence adds evidence and provenance; reviews adds people's decisions on the skills; text adds the text to which the evidence's offsets refer"`
}

// Included is what include=evidence adds to a record.
type Included struct {
	Evidence *[]catalog.Evidence `json:"evidence,omitempty" doc:"Where in the text each skill was found; only with include=evidence" extension:"true"`
	Stamp    *catalog.Provenance `json:"extraction,omitempty" doc:"How the skills were extracted, if they were; only with include=evidence" extension:"true"` // named unlike the record's Extraction and Provenance
}

// IncludedReviews is what include=reviews adds to a record, by case-insensitive skillName, then skillId.
type IncludedReviews struct {
	Shown *[]catalog.Review `json:"reviews,omitempty" doc:"People's decisions on the skills, by skillName, then skillId; only with include=reviews" extension:"true"` // named unlike the record's stored field Reviews
}

type includeReviewedInput struct {
	Include []string `query:"include" enum:"evidence,reviews,rejected,text" doc:"evidence adds evidence and provenance; reviews adds people's decisions on the skills; rejected adds the evidence of rejected skills; text adds the text to which the evidence's offsets refer"`
}

// IncludedDecisions is what include adds to a record with reviews.
type IncludedDecisions struct {
	Included
	IncludedReviews
	RejectedEvidence *[]catalog.Evidence `json:"rejectedEvidence,omitempty" doc:"Where in the text each skill was found that people rejected; only with include=rejected" extension:"true"`
}

// include loads the evidence of a record's skills if requested. Skills set by hand have none, even if an earlier
// extraction found them.
func (c *call) include(
	ctx context.Context, names []string, id string, found []catalog.SkillRef, byHand bool,
) (Included, error) {
	if !slices.Contains(names, "evidence") {
		return Included{}, nil
	}
	included := Included{Evidence: &[]catalog.Evidence{}}
	if byHand {
		return included, nil
	}
	outcome, err := c.Store.ExtractionResult(ctx, c.org, id)
	if err != nil {
		return Included{}, err
	}
	if outcome != nil {
		evidence := slices.DeleteFunc(outcome.Evidence, func(e catalog.Evidence) bool {
			return !slices.ContainsFunc(found, func(s catalog.SkillRef) bool { return s.SkillID == e.SkillID })
		})
		included.Evidence, included.Stamp = &evidence, &outcome.Provenance
	}
	return included, nil
}

// includeReviewed is include for a record with reviews: skills that a person added have no evidence.
func (c *call) includeReviewed(
	ctx context.Context, names []string, r catalog.Record, skills []catalog.SkillRef, byHand bool,
) (out IncludedDecisions, err error) {
	if len(names) > 0 {
		c.current = r
	}
	reviews := append([]catalog.Review{}, catalog.ReviewsOf(r)...)
	if slices.Contains(names, "reviews") {
		out.Shown = &reviews
	}
	rejected, found := []catalog.SkillRef{}, slices.Clone(skills)
	for _, r := range reviews {
		if r.Extracted == nil {
			found = slices.DeleteFunc(found, func(s catalog.SkillRef) bool { return s.SkillID == r.SkillID })
		} else if r.Verdict == catalog.Rejected {
			rejected = append(rejected, catalog.SkillRef{SkillID: r.SkillID})
		}
	}
	if slices.Contains(names, "rejected") {
		of, err := c.include(ctx, []string{"evidence"}, r.Base().ID, rejected, byHand)
		if err != nil {
			return out, err
		}
		out.RejectedEvidence = of.Evidence
	}
	out.Included, err = c.include(ctx, names, r.Base().ID, found, byHand)
	return out, err
}

// IncludedText is what include=text adds to a record.
type IncludedText struct {
	Text *string `json:"text,omitempty" doc:"Text to which the evidence's offsets refer, empty for none; only with include=text" extension:"true"`
}

// includeText loads the text from which a record's skills were extracted if requested. course is that of a section.
func (c *call) includeText(
	ctx context.Context, names []string, r catalog.Record, course *catalog.Course,
) (IncludedText, error) {
	if !slices.Contains(names, "text") {
		return IncludedText{}, nil
	}
	source, text := catalog.SourceOf(r, course)
	if source == catalog.FromSyllabus {
		stored, err := c.Store.Text(ctx, c.org, r.Base().ID)
		if err != nil {
			return IncludedText{}, err
		}
		text = string(stored)
	}
	return IncludedText{&text}, nil
}
