package catalog

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// Outcome is a sentence about what students can do afterwards, which the institution has approved. Skills and a
// level are read out of it, never into it.
type Outcome struct {
	ID           string             `json:"id" doc:"Id of the outcome, which it keeps while its list is replaced"`
	Code         *string            `json:"code" doc:"Code of the outcome, unique in its list without regard to case"`
	Statement    string             `json:"statement" doc:"What students can do afterwards"`
	Level        int                `json:"level" minimum:"1" maximum:"5" doc:"1 remember, 2 understand, 3 apply, 4 analyze, 5 evaluate or create"`
	LevelSource  LevelSource        `json:"levelSource" doc:"Where the level comes from"`
	Verb         *string            `json:"verb" doc:"Verb of the statement that decides the level; null for none"`
	Skills       []SkillRef         `json:"skills" doc:"Skills that the statement names, by confidence, then level, both descending, then name"`
	SkillsSource SkillsSource       `json:"skillsSource" doc:"Where the skills come from"`
	ParentID     *string            `json:"parentId" doc:"Id of an outcome of the same list to which this one belongs"`
	Alignments   []OutcomeAlignment `json:"alignments" doc:"Statements elsewhere to which the outcome relates"`
	Registered

	// Reviews are people's decisions on the skills, which Skills follows. Unread reports that the statement has yet to
	// be read, for what was not given of skills and level. Both are hidden from clients.
	Reviews Reviews `json:"-"`
	Unread  bool    `json:"-"`
}

// LevelSource tells where the level of an outcome comes from.
type LevelSource string

// The sources of levels.
const (
	GivenLevel   LevelSource = "GIVEN"   // by a person
	PrintedLevel LevelSource = "PRINTED" // in the statement, such as "(K3)"
	VerbLevel    LevelSource = "VERB"
	NoLevel      LevelSource = "NONE" // then it is 2
)

// LevelSources lists all sources of levels.
func LevelSources() []LevelSource {
	return []LevelSource{GivenLevel, PrintedLevel, VerbLevel, NoLevel}
}

// SkillsSource tells where the skills of an outcome come from.
type SkillsSource string

// The sources of skills.
const (
	GivenSkills     SkillsSource = "GIVEN"
	ExtractedSkills SkillsSource = "EXTRACTED"
)

// OutcomeAlignment relates an outcome to a statement elsewhere.
type OutcomeAlignment struct {
	Type  string  `json:"type" enum:"EXACT,BROAD,NARROW,RELATED" doc:"How the outcome relates to the statement elsewhere"`
	URI   string  `json:"uri" maxLength:"2000" doc:"Address (https) or urn of the statement elsewhere"`
	Label *string `json:"label" maxLength:"255" doc:"What people call the statement elsewhere"`
}

// OutcomeList holds the outcomes of one course or one program, in their order. Its id follows from its owner's, see
// OutcomeListID, so that both can be read at once. Its changes are changes of its owner.
type OutcomeList struct {
	Meta
	Registered
	OwnerID  string   `json:"ownerId"` // of the course or program
	Outcomes Outcomes `json:"outcomes"`
	Extraction
	Provenance *Provenance `json:"-" store:"provenance,omitempty"` // of the last extraction; nil for none
}

// Outcomes are stored compressed, so that the largest list fits a row.
type Outcomes []Outcome

// storedOutcome is an outcome with its hidden fields.
type storedOutcome struct {
	Outcome
	Reviews []storedReview `json:"reviews,omitempty"`
	Unread  bool           `json:"unread,omitempty"`
}

// MarshalBinary returns what UnmarshalBinary reads.
func (list Outcomes) MarshalBinary() ([]byte, error) {
	stored := make([]storedOutcome, len(list))
	for i, o := range list {
		stored[i] = storedOutcome{o, storedReviews(o.Reviews), o.Unread}
	}
	return packed(stored)
}

// UnmarshalBinary reads what MarshalBinary wrote.
func (list *Outcomes) UnmarshalBinary(from []byte) error {
	var stored []storedOutcome
	if err := unpack(from, &stored); err != nil {
		return fmt.Errorf("outcomes: %w", err)
	}
	*list = make(Outcomes, len(stored))
	for i, o := range stored {
		(*list)[i] = o.Outcome
		(*list)[i].Reviews, (*list)[i].Unread = reviewsOf(o.Reviews), o.Unread
	}
	return nil
}

// packed returns a value as compressed JSON.
func packed(v any) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	err := json.NewEncoder(w).Encode(v)
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

// unpack decodes what packed returned.
func unpack(from []byte, v any) error {
	r, err := gzip.NewReader(bytes.NewReader(from))
	if err != nil {
		return err
	}
	return json.NewDecoder(r).Decode(v)
}

// OutcomeOwner returns the kind of the record with an id that owns outcomes; "" for another id.
func OutcomeOwner(id string) Kind {
	for _, kind := range []Kind{CourseKind, ProgramKind} {
		if kind.Made(id) {
			return kind
		}
	}
	return ""
}

// NewOutcomeList returns the empty list of an owner that has none in the store.
func NewOutcomeList(owner Record) *OutcomeList {
	meta := Meta{
		ID: OutcomeListID(owner.Base().ID), OrganizationID: owner.Base().OrganizationID, UpdatedAt: owner.Base().UpdatedAt,
	}
	list := &OutcomeList{
		Meta: meta, OwnerID: owner.Base().ID, Outcomes: Outcomes{}, Extraction: Extraction{ProcessingStatus: Completed},
	}
	DeriveCTID(list)
	return list
}

// Stored reports whether the list was ever written.
func (list *OutcomeList) Stored() bool { return list.CreatedAt != 0 }

// Find returns the outcome with an id; nil for none.
func (list *OutcomeList) Find(id string) *Outcome {
	for i := range list.Outcomes {
		if list.Outcomes[i].ID == id {
			return &list.Outcomes[i]
		}
	}
	return nil
}

// Unread returns the number of statements that have yet to be read.
func (list *OutcomeList) Unread() (n int) {
	for _, o := range list.Outcomes {
		if o.Unread {
			n++
		}
	}
	return n
}

// hasOtherStatements reports whether other statements must be read than before.
func (list *OutcomeList) hasOtherStatements(before *OutcomeList) bool {
	return !slices.EqualFunc(list.Outcomes, before.Outcomes, func(a, b Outcome) bool {
		return a.ID == b.ID && a.Statement == b.Statement && a.Unread == b.Unread
	})
}

// ApplyResult applies the result of an extraction to the outcomes that were read.
func (list *OutcomeList) ApplyResult(result *ExtractionResult) {
	if result.Failure != nil {
		list.Extraction = Extraction{ProcessingStatus: Failed, Failure: result.Failure}
		return
	}
	for i := range list.Outcomes {
		o := &list.Outcomes[i]
		if read, ok := result.Statements[o.ID]; ok && o.Unread {
			o.take(read)
		}
	}
	list.Extraction = Extraction{ProcessingStatus: Completed, Warnings: result.Warnings}
	list.Provenance = &result.Provenance
}

// Read returns what was read out of the statements of the list, now or before.
func (list *OutcomeList) Read(now map[string]StatementResult, before *ExtractionResult) map[string]StatementResult {
	all := map[string]StatementResult{}
	for _, o := range list.Outcomes {
		if read, ok := now[o.ID]; ok {
			all[o.ID] = read
		} else if before != nil && before.Statements[o.ID].Statement == o.Statement {
			all[o.ID] = before.Statements[o.ID]
		}
	}
	return all
}

// Forget has what was extracted read again, except what people gave. It reports whether there is anything to read.
func (list *OutcomeList) Forget() bool {
	list.Outcomes = slices.Clone(list.Outcomes)
	for i := range list.Outcomes {
		o := &list.Outcomes[i]
		o.Unread = o.SkillsSource != GivenSkills || o.LevelSource != GivenLevel
	}
	list.await()
	return list.Unread() > 0
}

// take sets what was read out of the statement, except what people gave.
func (o *Outcome) take(read StatementResult) {
	if o.SkillsSource == ExtractedSkills {
		o.Skills, o.Reviews = ApplyReviews(o.Reviews, read.Skills)
	}
	if o.LevelSource != GivenLevel {
		o.Level, o.LevelSource = read.Level, read.LevelSource
	}
	o.Verb, o.Unread = read.Verb, false
}

// Evidence returns the evidence for the extracted skills of an outcome. result is that of the list's last extraction.
func (o *Outcome) Evidence(result *ExtractionResult) []Evidence {
	shown := []Evidence{}
	if result == nil || o.SkillsSource != ExtractedSkills || result.Statements[o.ID].Statement != o.Statement {
		return shown
	}
	for _, e := range result.Statements[o.ID].Evidence {
		has := slices.ContainsFunc(o.Skills, func(s SkillRef) bool { return s.SkillID == e.SkillID })
		if has && !slices.ContainsFunc(o.Reviews, func(r Review) bool {
			return r.SkillID == e.SkillID && r.Extracted == nil
		}) {
			shown = append(shown, e)
		}
	}
	return shown
}

// SaveOutcomes saves a list with its owner, whose change it is. section is the default section of a course, which takes
// its skills from the outcomes if it has no others; nil for a program.
func (c *Change) SaveOutcomes(before, after *OutcomeList, owner Record, section *Section, now Time) error {
	if after.Stored() {
		c.Replace(before, after, now)
	} else {
		after.Meta = NewMeta(after.ID, after.OrganizationID, now)
		c.Create(after, nil)
	}
	was := Copy(owner)
	if course, ok := owner.(*Course); ok {
		unfollowed, from := Copy(section), section.Source(course)
		course.HasOutcomes = len(after.Outcomes) > 0
		if section.Source(course) == FromOutcomes {
			section.follow(after)
		} else if from == FromOutcomes {
			section.settle(unfollowed, from, "", course)
		}
		if !reflect.DeepEqual(unfollowed, section) {
			if err := c.saveMentioned(unfollowed, section, course, false, now); err != nil {
				return err
			}
			if section.Source(course) == FromOutcomes {
				c.ReplaceResult(section, &ExtractionResult{
					Skills: section.Skills, Evidence: []Evidence{}, Provenance: *section.Provenance,
				})
			}
		}
	}
	c.Replace(was, owner, now)
	return nil
}

// DeleteOutcomes deletes lists of outcomes with their owners.
func (c *Change) DeleteOutcomes(lists map[string]*OutcomeList, now Time) {
	for _, list := range lists {
		c.Delete(list, now, nil)
	}
}

// maxUnionSkills is the maximum number of skills that a section takes from outcomes.
const maxUnionSkills = 500

// Union returns the skills of all outcomes, each with its highest level and its highest confidence.
func (list *OutcomeList) Union() []SkillRef {
	place := map[string]int{}
	union := []SkillRef{}
	for _, o := range list.Outcomes {
		for _, s := range o.Skills {
			i, known := place[s.SkillID]
			if !known {
				place[s.SkillID] = len(union)
				union = append(union, s)
				continue
			}
			union[i].Level, union[i].Confidence = max(union[i].Level, s.Level), max(union[i].Confidence, s.Confidence)
		}
	}
	SortSkills(union)
	return union[:min(len(union), maxUnionSkills)]
}

func (o *Outcome) reviewed() skillset {
	return skillset{&o.Skills, &o.Reviews, new(o.SkillsSource == GivenSkills)}
}

// CheckReviews returns a Conflict if the reviews of all outcomes exceed MaxReviews.
func (list *OutcomeList) CheckReviews() error {
	reviews := 0
	for _, o := range list.Outcomes {
		reviews += len(o.Reviews)
	}
	if reviews > MaxReviews {
		return tooManyReviews()
	}
	return nil
}

// renameSkills renames the skills of all outcomes.
func (list *OutcomeList) renameSkills(rename Rename) bool {
	changed := false
	list.Outcomes = slices.Clone(list.Outcomes)
	for i := range list.Outcomes {
		changed = list.Outcomes[i].reviewed().rename(rename) || changed
	}
	return changed
}

// FoundOutcome is an outcome that the syllabus of a section states, as extracted.
type FoundOutcome struct {
	Number      int         `json:"number" minimum:"1" doc:"Number of the outcome in the syllabus, in its order"`
	Code        *string     `json:"code" doc:"Label of the outcome, such as CLO 3"`
	Statement   string      `json:"statement" doc:"Words of the outcome, without label and lead-in"`
	Page        int         `json:"page" minimum:"1" doc:"Page of the document where the statement begins, from 1; 1 for formats without pages"`
	Start       int         `json:"start" minimum:"0" doc:"Start of the statement in the extracted text, in Unicode code points from 0"`
	End         int         `json:"end" minimum:"1" doc:"End of the statement in the extracted text, in Unicode code points, exclusive"`
	Level       int         `json:"level" minimum:"1" maximum:"5" doc:"Level that the outcome asks for: 1 remember, 2 understand, 3 apply, 4 analyze, 5 evaluate or create"`
	LevelSource LevelSource `json:"levelSource" enum:"PRINTED,VERB,NONE" doc:"Where the level comes from: print beside the statement, its verb, or neither (then 2)"`
	Verb        *string     `json:"verb" doc:"The verb of the statement that asks for most"`
	SkillIDs    []string    `json:"skillIds" doc:"Skills of the syllabus that the statement mentions"`
}
