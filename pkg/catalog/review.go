package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Verdict is a person's decision on a skill of a record.
type Verdict string

// The verdicts.
const (
	Accepted Verdict = "ACCEPTED"
	Rejected Verdict = "REJECTED"
)

// MaxReviews is the maximum number of reviews of a record.
const MaxReviews = 500

// Finding is the level and confidence of a found skill.
type Finding struct {
	Level      int     `json:"level" minimum:"1" maximum:"5"`
	Confidence float64 `json:"confidence" minimum:"0" maximum:"1"`
}

// Review is a person's decision on one skill of one record. Extractions do not change it; only a list of skills that
// is set by hand ends it.
type Review struct {
	SkillID    string   `json:"skillId"`
	SkillName  string   `json:"skillName"`
	Verdict    Verdict  `json:"verdict" enum:"ACCEPTED,REJECTED" doc:"Decision on the skill"`
	Level      *int     `json:"level" minimum:"1" maximum:"5" doc:"Level that was set, 1 to 5; null where the extracted one was kept, or the skill rejected"`
	Note       *string  `json:"note" doc:"Remark of the person who decided"`
	ReviewedAt Time     `json:"reviewedAt" doc:"When it was decided"`
	KeyID      string   `json:"keyId" doc:"Id of the API key with which it was written"`
	Extracted  *Finding `json:"extracted" doc:"What the last extraction found; null where it did not find the skill"`

	// Hidden from clients: the skill as it was set by hand, and the level that an ACCEPTED review without a level keeps.
	ByHand *Finding `json:"-"`
	Kept   int      `json:"-"`
}

// Reviews are a record's reviews. They are stored compressed in its row, so that they are read and saved together
// with its skills.
type Reviews []Review

// storedReview is a review with its hidden fields.
type storedReview struct {
	Review
	ByHand *Finding `json:"byHand,omitempty"`
	Kept   int      `json:"kept,omitempty"`
}

// MarshalBinary returns what UnmarshalBinary reads.
func (list Reviews) MarshalBinary() ([]byte, error) { return packed(storedReviews(list)) }

// UnmarshalBinary reads what MarshalBinary wrote.
func (list *Reviews) UnmarshalBinary(from []byte) error {
	var stored []storedReview
	if err := unpack(from, &stored); err != nil {
		return fmt.Errorf("reviews: %w", err)
	}
	*list = reviewsOf(stored)
	return nil
}

func storedReviews(list Reviews) []storedReview {
	stored := make([]storedReview, len(list))
	for i, r := range list {
		stored[i] = storedReview{r, r.ByHand, r.Kept}
	}
	return stored
}

func reviewsOf(stored []storedReview) (list Reviews) {
	for _, r := range stored {
		r.Review.ByHand, r.Review.Kept = r.ByHand, r.Kept
		list = append(list, r.Review)
	}
	return list
}

// before returns the skill as it would be without the review; nil for none.
func (r Review) before() *Finding { return cmp.Or(r.Extracted, r.ByHand) }

// stands appends the skill as the review leaves it, if it stays.
func (r Review) stands(skills []SkillRef) []SkillRef {
	if r.Verdict == Rejected {
		return skills
	}
	return append(skills, SkillRef{
		SkillID: r.SkillID, SkillName: r.SkillName, Level: ValueOr(r.Level, r.Kept), Confidence: 1,
	})
}

// withdrawn appends the skill as it would be without the review, if it stays.
func (r Review) withdrawn(skills []SkillRef) []SkillRef {
	found := r.before()
	if found == nil {
		return skills
	}
	return append(skills, SkillRef{
		SkillID: r.SkillID, SkillName: r.SkillName, Level: found.Level, Confidence: found.Confidence,
	})
}

// Reviewed has skills that people review: a record, or an outcome.
type Reviewed interface{ reviewed() skillset }

// skillset has a record's skills as its reviews leave them, and the reviews in display order.
type skillset struct {
	skills  *[]SkillRef
	reviews *Reviews
	byHand  *bool // the skills were set by hand since they were last extracted; nil where they cannot be
}

func (s *Section) reviewed() skillset        { return skillset{&s.Skills, &s.Reviews, &s.ByHand} }
func (c *TransferCourse) reviewed() skillset { return skillset{&c.Skills, &c.Reviews, nil} }

// ReviewsOf returns the reviews of a record, ordered by skillName, ignoring case, then skillId; those of outcomes one
// outcome after the other. It returns none for kinds without reviews.
func ReviewsOf(r Record) (all []Review) {
	switch record := r.(type) {
	case Reviewed:
		return *record.reviewed().reviews
	case *OutcomeList:
		for _, o := range record.Outcomes {
			all = append(all, o.Reviews...)
		}
	}
	return all
}

// ReviewInput is the input for a review.
type ReviewInput struct {
	Verdict Verdict           `json:"verdict" enum:"ACCEPTED,REJECTED" doc:"ACCEPTED: the skill stands with confidence 1. REJECTED: it does not stand, whatever is extracted"`
	Level   Optional[*int]    `json:"level,omitzero" minimum:"1" maximum:"5" doc:"Level of an ACCEPTED skill; required where it was not extracted, else the extracted one when absent"`
	Note    Optional[*string] `json:"note,omitzero" maxLength:"1000" doc:"Remark for people; null when absent"`
}

// Apply adds the review, or replaces the skill's present one, and updates the record's skills. The error is NotFound
// if neither the taxonomy nor the record has the skill, and Conflict beyond MaxReviews.
func (in ReviewInput) Apply(record Reviewed, skillID, keyID string, l Lookups, now Time) error {
	set := record.reviewed()
	review := Review{
		SkillID: skillID, Verdict: in.Verdict, Level: in.Level.Value, Note: text(in.Note, nil), ReviewedAt: now, KeyID: keyID,
	}
	was, skills, reviews := set.without(skillID)
	review.Extracted, review.ByHand, review.SkillName = was.Extracted, was.ByHand, was.SkillName
	known := was.SkillID != ""
	if !known {
		review.SkillName, known = l.SkillName(skillID)
	}
	switch found := review.before(); {
	case !known:
		return Absent()
	case in.Verdict == Rejected && in.Level.Value != nil:
		return Invalid(FieldError{l.at("level"), "must not be given with REJECTED", *in.Level.Value})
	case in.Verdict == Accepted && in.Level.Value == nil && found == nil:
		return Invalid(FieldError{Location: l.at("level"), Message: "is required: the skill was not extracted"})
	case len(reviews) >= MaxReviews:
		return tooManyReviews()
	case found != nil:
		review.Kept = found.Level
	}
	set.put(review.stands(skills), append(reviews, review))
	return nil
}

func tooManyReviews() error {
	return Errorf(Conflict, "A record has at most %d reviews.", MaxReviews)
}

// Unreview removes a skill's review, so that the extracted or given skill applies again, and reports whether there
// was one. The error is NotFound if neither the taxonomy nor the record has the skill.
func Unreview(record Reviewed, skillID string, l Lookups) (bool, error) {
	set := record.reviewed()
	was, skills, reviews := set.without(skillID)
	if len(reviews) == len(*set.reviews) {
		if _, known := l.SkillName(skillID); !known && was.SkillID == "" {
			return false, Absent()
		}
		return false, nil
	}
	set.put(was.withdrawn(skills), reviews)
	return true, nil
}

// Unreviewed returns the skills of a record as they would be without its reviews.
func Unreviewed(record Reviewed) []SkillRef {
	set := record.reviewed()
	skills := unnamed(*set.skills, *set.reviews)
	for _, r := range *set.reviews {
		skills = r.withdrawn(skills)
	}
	SortSkills(skills)
	return skills
}

// ApplyReviews applies reviews to the skills that an extraction has found. It returns the record's new skills, and
// the reviews with what was found.
func ApplyReviews(reviews []Review, found []SkillRef) ([]SkillRef, []Review) {
	byID := make(map[string]SkillRef, len(found))
	for _, skill := range found {
		byID[skill.SkillID] = skill
	}
	skills, reviews := unnamed(found, reviews), slices.Clone(reviews)
	for i := range reviews {
		r := &reviews[i]
		r.Extracted, r.ByHand = nil, nil
		if skill, ok := byID[r.SkillID]; ok {
			r.SkillName, r.Extracted = skill.SkillName, &Finding{skill.Level, skill.Confidence}
		}
		skills = r.stands(skills)
	}
	skillset{&skills, (*Reviews)(&reviews), nil}.put(skills, reviews)
	return skills, reviews
}

// FullyReviewed reports whether there are reviews, and one of every skill.
func FullyReviewed(skills []SkillRef, reviews []Review) bool {
	return len(reviews) > 0 && len(unnamed(skills, reviews)) == 0
}

// unnamed returns the skills without a review.
func unnamed(skills []SkillRef, reviews []Review) []SkillRef {
	named := make(map[string]bool, len(reviews))
	for _, r := range reviews {
		named[r.SkillID] = true
	}
	rest := make([]SkillRef, 0, len(skills))
	for _, skill := range skills {
		if !named[skill.SkillID] {
			rest = append(rest, skill)
		}
	}
	return rest
}

// without splits a record into one skill, as a review without a verdict, and the other skills and reviews. The
// review's skill id is empty if the record lacks the skill.
func (s skillset) without(skillID string) (was Review, skills []SkillRef, reviews []Review) {
	skills = make([]SkillRef, 0, len(*s.skills)+1)
	for _, skill := range *s.skills {
		if skill.SkillID != skillID {
			skills = append(skills, skill)
			continue
		}
		was = Review{SkillID: skillID, SkillName: skill.SkillName}
		if found := (&Finding{skill.Level, skill.Confidence}); s.byHand != nil && *s.byHand {
			was.ByHand = found
		} else {
			was.Extracted = found
		}
	}
	for _, review := range *s.reviews {
		if review.SkillID != skillID {
			reviews = append(reviews, review)
			continue
		}
		was = Review{SkillID: skillID, SkillName: review.SkillName, Extracted: review.Extracted, ByHand: review.ByHand}
	}
	return was, skills, reviews
}

// put sets skills and reviews in their orders.
func (s skillset) put(skills []SkillRef, reviews []Review) {
	SortSkills(skills)
	slices.SortFunc(reviews, func(a, b Review) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.SkillName), strings.ToLower(b.SkillName)),
			cmp.Compare(a.SkillID, b.SkillID))
	})
	*s.skills, *s.reviews = skills, reviews
}
