package catalog

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var outcomeLookups = Lookups{At: "body", SkillName: func(id string) (string, bool) { return "Name of " + id, len(id) == 1 }}

// anyOutcomes draws inputs that are valid as a list, in which the parents are named by code.
func anyOutcomes(t *rapid.T) []OutcomeInput {
	in := make([]OutcomeInput, rapid.IntRange(0, 6).Draw(t, "outcomes"))
	for i := range in {
		in[i].Statement = rapid.SampledFrom([]string{"Write", "Read", "Compare", "Judge"}).Draw(t, "statement")
		if rapid.Bool().Draw(t, "coded") {
			in[i].Code = Optional[*string]{true, new(fmt.Sprint("C", i, rapid.IntRange(0, 1).Draw(t, "code")))}
		}
		if rapid.Bool().Draw(t, "has level") {
			in[i].Level = Optional[*int]{true, rapid.SampledFrom([]*int{nil, new(1), new(5)}).Draw(t, "level")}
		}
		if rapid.Bool().Draw(t, "has skills") {
			in[i].Skills = Optional[[]SkillInput]{true, rapid.SampledFrom([][]SkillInput{nil, {}, {{SkillID: "a", Level: 3}}, {{SkillID: "b", Level: 1}, {SkillID: "c", Level: 2}}}).Draw(t, "skills")}
		}
		if i > 0 && in[i-1].Code.Value != nil && in[i-1].ParentCode.Value == nil && rapid.Bool().Draw(t, "child") {
			in[i].ParentCode = Optional[*string]{true, new(*in[i-1].Code.Value)}
		}
		if rapid.Bool().Draw(t, "aligned") {
			in[i].Alignments = Optional[[]AlignmentInput]{true, []AlignmentInput{{Type: "EXACT", URI: "urn:x:y"}}}
		}
	}
	return in
}

// again returns the input that a client makes of the outcomes it has read.
func again(list Outcomes, withIDs bool) []OutcomeInput {
	in := make([]OutcomeInput, len(list))
	for i, o := range list {
		in[i] = OutcomeInput{Code: Optional[*string]{true, o.Code}, Statement: o.Statement, ParentID: Optional[*string]{true, o.ParentID}}
		if withIDs {
			in[i].ID = Optional[*string]{true, &o.ID}
		}
		if o.LevelSource == GivenLevel {
			in[i].Level = Optional[*int]{true, &o.Level}
		}
		if o.SkillsSource == GivenSkills {
			in[i].Skills = Optional[[]SkillInput]{true, []SkillInput{}}
			for _, s := range o.Skills {
				in[i].Skills.Value = append(in[i].Skills.Value, SkillInput{SkillID: s.SkillID, Level: s.Level, Confidence: &s.Confidence})
			}
		}
		for _, a := range o.Alignments {
			in[i].Alignments.Set = true
			in[i].Alignments.Value = append(in[i].Alignments.Value, AlignmentInput{Type: a.Type, URI: a.URI, Label: Optional[*string]{true, a.Label}})
		}
	}
	return in
}

// read finishes the reading of a list: each statement has a skill of its own.
func read(list *OutcomeList) {
	result := &ExtractionResult{Statements: map[string]StatementResult{}}
	for _, o := range list.Outcomes {
		result.Statements[o.ID] = StatementResult{
			Statement: o.Statement, Skills: []SkillRef{{o.Statement[:1], o.Statement, 3, .5}}, Level: 4, LevelSource: VerbLevel, Verb: &o.Statement,
		}
	}
	list.Outcomes = slices.Clone(list.Outcomes)
	list.ApplyResult(result)
}

func replaced(t *rapid.T, list *OutcomeList, in []OutcomeInput) bool {
	changed, wrong := list.Replace(OutcomesInput{Outcomes: in}, IDs{rand.Reader}, outcomeLookups)
	if wrong != nil {
		t.Fatalf("%+v", wrong)
	}
	return changed
}

// What was read and is written back changes nothing, and what is stored is what was written.
func TestOutcomesWrittenBackStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := NewOutcomeList(&Course{Meta: Meta{ID: "crs_1"}})
		for range rapid.IntRange(1, 3).Draw(t, "lists") {
			before := list.Outcomes
			replaced(t, list, anyOutcomes(t))
			for _, o := range list.Outcomes {
				i := slices.IndexFunc(before, func(b Outcome) bool { return b.ID == o.ID })
				if i >= 0 && before[i].Statement == o.Statement && o.SkillsSource == ExtractedSkills && before[i].SkillsSource == ExtractedSkills && !reflect.DeepEqual(before[i].Skills, o.Skills) {
					t.Fatalf("a kept statement lost its skills: %+v, was %+v", o, before[i])
				}
			}
			if rapid.Bool().Draw(t, "finishes") && list.Unread() > 0 {
				read(list)
			}
		}
		if (list.ProcessingStatus == Pending) != (list.Unread() > 0) {
			t.Fatalf("%s with %d unread", list.ProcessingStatus, list.Unread())
		}
		packed, err := list.Outcomes.MarshalBinary()
		var stored Outcomes
		if err == nil {
			err = stored.UnmarshalBinary(packed)
		}
		if err != nil || !reflect.DeepEqual(stored, list.Outcomes) {
			t.Fatalf("%v: stored as %+v, was %+v", err, stored, list.Outcomes)
		}
		before, _ := json.Marshal(list.Outcomes)
		changed := replaced(t, list, again(list.Outcomes, true))
		after, _ := json.Marshal(list.Outcomes)
		if string(before) != string(after) || changed && list.Unread() == 0 {
			t.Fatalf("written back (%v):\n%s, was\n%s", changed, after, before)
		}
	})
}

// Skills that a file has as they are keep their reviews; those of a request, and others of a file, end them.
func TestImportedSkillsKeepReviews(t *testing.T) {
	for _, c := range []struct {
		imported bool
		level    int
		reviews  int
	}{{true, 2, 1}, {true, 3, 0}, {false, 2, 0}} {
		name, _ := outcomeLookups.SkillName("s")
		list := &OutcomeList{Outcomes: Outcomes{{
			ID: "out_1", Statement: "Write", Level: 1, LevelSource: GivenLevel, SkillsSource: GivenSkills, Skills: []SkillRef{{"s", name, 2, 1}},
			Reviews: Reviews{{SkillID: "s", SkillName: name, Verdict: Accepted}}, Alignments: []OutcomeAlignment{},
		}}}
		given := OutcomeInput{Statement: "Write", Skills: Optional[[]SkillInput]{true, []SkillInput{{SkillID: "s", Level: c.level}}}, Imported: c.imported}
		if _, wrong := list.Replace(OutcomesInput{Outcomes: []OutcomeInput{given}}, IDs{rand.Reader}, outcomeLookups); wrong != nil {
			t.Fatal(wrong)
		}
		if got := list.Outcomes[0]; len(got.Reviews) != c.reviews || got.Skills[0].Level != c.level {
			t.Errorf("%+v leaves %+v", c, got)
		}
	}
}

func TestUnionOfOutcomes(t *testing.T) {
	list := &OutcomeList{Outcomes: Outcomes{
		{Skills: []SkillRef{{"a", "A", 2, .9}, {"b", "B", 1, .5}}}, {Skills: []SkillRef{{"a", "A", 4, .6}}},
	}}
	if got, want := list.Union(), []SkillRef{{"a", "A", 4, .9}, {"b", "B", 1, .5}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A skill that the taxonomy has lost stays given, as reviews of such skills stay.
func TestVanishedSkillStaysGiven(t *testing.T) {
	list := &OutcomeList{Outcomes: Outcomes{{ID: "out_1", Statement: "Write", SkillsSource: GivenSkills, Skills: []SkillRef{{"vanished", "Vanished", 2, 1}}, Alignments: []OutcomeAlignment{}}}}
	given := OutcomeInput{Statement: "Write", Skills: Optional[[]SkillInput]{true, []SkillInput{{SkillID: "vanished", Level: 2}}}}
	if _, wrong := list.Replace(OutcomesInput{Outcomes: []OutcomeInput{given}}, IDs{rand.Reader}, outcomeLookups); wrong != nil || list.Outcomes[0].Skills[0].SkillName != "Vanished" {
		t.Errorf("%v: %+v", wrong, list.Outcomes)
	}
	given.Statement = "Read"
	if _, wrong := list.Replace(OutcomesInput{Outcomes: []OutcomeInput{given}}, IDs{rand.Reader}, outcomeLookups); len(wrong) != 1 || wrong[0].Location != "body.outcomes[0].skills[0].skillId" {
		t.Errorf("%v", wrong)
	}
}
