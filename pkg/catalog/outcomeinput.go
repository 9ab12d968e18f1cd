package catalog

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a list of outcomes.
const (
	MaxOutcomes            = 100
	MaxStatementCharacters = 60_000 // of all statements
	maxStatement           = 2_000  // characters
	maxOutcomeDepth        = 3      // a root has depth 1
	maxAlignments          = 10     // of an outcome
	// maxOutcomesBytes is the maximum size of a list as clients give it, compressed. It leaves room in a row for the
	// skills that are extracted.
	maxOutcomesBytes = 260 << 10
)

// OutcomesInput is the input for a list of outcomes.
type OutcomesInput struct {
	RegisteredInput
	Outcomes []OutcomeInput `json:"outcomes" maxItems:"100" doc:"All outcomes of the list, in their order"`
}

// OutcomeInput is the input for one outcome of a list.
type OutcomeInput struct {
	ID         Optional[*string]          `json:"id,omitzero" maxLength:"64" doc:"Id of the outcome of the list that this one replaces; without it, the outcome with an equal code, else with an equal statement, keeps its id"`
	Code       Optional[*string]          `json:"code,omitzero" maxLength:"50" doc:"Code of the outcome, unique in the list without regard to case"`
	Statement  string                     `json:"statement" minLength:"1" maxLength:"2000" doc:"What students can do afterwards; at most 60,000 characters in all"`
	Level      Optional[*int]             `json:"level,omitzero" minimum:"1" maximum:"5" doc:"Level that people give; absent: read from a new or changed statement, unless given before; null: forget the given one and read it"`
	Skills     Optional[[]SkillInput]     `json:"skills,omitzero" nullable:"true" maxItems:"500" doc:"Skills that people give, which end the reviews; absent: extracted from a new or changed statement, unless given before; null: forget the given ones and extract"`
	ParentID   Optional[*string]          `json:"parentId,omitzero" maxLength:"64" doc:"Id or CTID of an earlier outcome of the list; at most three levels. At most one of parentId and parentCode"`
	ParentCode Optional[*string]          `json:"parentCode,omitzero" maxLength:"50" doc:"Code of an earlier outcome of the list. At most one of parentId and parentCode"`
	Alignments Optional[[]AlignmentInput] `json:"alignments,omitzero" maxItems:"10" doc:"Statements elsewhere to which the outcome relates"`
	RegisteredInput

	// Linked reports that the input comes from CTDL, which names outcomes by their CTIDs and has the addresses of EXACT
	// alignments only. Present ones of other types stay, and so do labels.
	Linked bool `json:"-"`

	// Imported reports that the input comes from a file, where skills as they are leave them, with their reviews: an
	// import of an export changes nothing.
	Imported bool `json:"-"`
}

// AlignmentInput is the input for an alignment of an outcome.
type AlignmentInput struct {
	Type  string            `json:"type" enum:"EXACT,BROAD,NARROW,RELATED" doc:"How the outcome relates to the statement elsewhere"`
	URI   string            `json:"uri" minLength:"1" maxLength:"2000" doc:"Address (https) or urn"`
	Label Optional[*string] `json:"label,omitzero" maxLength:"255" doc:"What people call the statement elsewhere"`
}

// lineEnds gives statements the line ends that tables leave as they are.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Replace replaces the outcomes, and reports whether they change. What it keeps of an outcome follows from the rules of
// OutcomeInput. Statements that must be read make the list PENDING.
func (list *OutcomeList) Replace(all OutcomesInput, ids IDs, l Lookups) (changed bool, wrong []FieldError) {
	in := slices.Clone(all.Outcomes)
	for i := range in {
		in[i].Statement = lineEnds.Replace(in[i].Statement)
	}
	if len(in) > MaxOutcomes {
		return false, []FieldError{{Location: l.at(fmt.Sprintf("outcomes[%d]", MaxOutcomes)),
			Message: fmt.Sprintf("must be one of at most %d outcomes", MaxOutcomes)}}
	}
	check := l.checker()
	r := replacing{in: in, out: make(Outcomes, len(in)), depth: make([]int, len(in)), listCTID: all.CTID.Or(list.CTID)}
	r.kept = list.kept(in, check)
	characters := 0
	for i, item := range in {
		at := check.below(fmt.Sprintf("outcomes[%d]", i))
		if strings.ContainsRune(item.Statement, 0) {
			at.fault("statement", "must not contain the character U+0000, which no table can hold", nil)
		}
		length := utf8.RuneCountInString(item.Statement)
		if characters <= MaxStatementCharacters && characters+length > MaxStatementCharacters {
			at.fault("statement", fmt.Sprintf("must not take the statements beyond %d characters in all",
				MaxStatementCharacters), nil)
		}
		characters += length
		r.out[i] = item.outcome(r.kept[i], at)
		r.out[i].ID = cmp.Or(r.out[i].ID, ids.New("out_"))
		r.ctid(i, at)
		r.code(i, at)
		r.parent(i, at)
	}
	if *check.wrong != nil {
		return false, *check.wrong
	}
	if stored, err := r.out.MarshalBinary(); err != nil || len(stored) > maxOutcomesBytes {
		return false, []FieldError{{Location: l.at("outcomes"), Message: fmt.Sprintf(
			"must have at most %d KB of skills, alignments and statements when compressed", maxOutcomesBytes>>10)}}
	}
	ctid := list.CTID
	all.apply(&list.Registered)
	if reflect.DeepEqual(list.Outcomes, r.out) && list.Unread() == 0 {
		return list.CTID != ctid, nil
	}
	list.Outcomes = r.out
	list.await()
	return true, nil
}

// await makes the list PENDING if a statement must be read, and COMPLETED otherwise.
func (list *OutcomeList) await() {
	list.Extraction = Extraction{ProcessingStatus: Completed}
	if list.Unread() > 0 {
		list.ProcessingStatus = Pending
	}
}

// replacing is the state of a replacement of outcomes.
type replacing struct {
	in    []OutcomeInput
	kept  []*Outcome // the present outcome that each item replaces; nil for none
	out   Outcomes
	depth []int

	listCTID string
}

// kept returns the present outcome that each item replaces: by id, CTID (linked ones), code or
// statement, in this order.
func (list *OutcomeList) kept(in []OutcomeInput, check checker) []*Outcome {
	kept := make([]*Outcome, len(in))
	taken := map[*Outcome]bool{}
	given := map[string]bool{}
	for i, item := range in {
		id := text(item.ID, nil)
		if id == nil {
			continue
		}
		o, field := list.Find(*id), fmt.Sprintf("outcomes[%d].id", i)
		switch {
		case o == nil:
			check.fault(field, "must be the id of an outcome of this list", *id)
		case given[*id]:
			check.fault(field, "must not be repeated", *id)
		}
		given[*id] = true
		kept[i] = o
		taken[o] = true
	}
	match := func(same func(item OutcomeInput, o *Outcome) bool) {
		for i, item := range in {
			for j := range list.Outcomes {
				o := &list.Outcomes[j]
				if kept[i] == nil && text(item.ID, nil) == nil && !taken[o] && same(item, o) {
					kept[i], taken[o] = o, true
				}
			}
		}
	}
	match(func(item OutcomeInput, o *Outcome) bool { return item.Linked && item.CTID.Value == o.CTID })
	match(func(item OutcomeInput, o *Outcome) bool {
		code := text(item.Code, nil)
		return code != nil && o.Code != nil && foldCode(*code) == foldCode(*o.Code)
	})
	match(func(item OutcomeInput, o *Outcome) bool { return item.Statement == o.Statement })
	return kept
}

func foldCode(code string) string { return strings.ToLower(code) }

// outcome returns the outcome that replaces a present one, which is nil for a new outcome. Its id is empty if it is
// new.
func (in OutcomeInput) outcome(was *Outcome, check checker) Outcome {
	o := Outcome{
		Code: text(in.Code, nil), Statement: in.Statement, Level: 2, LevelSource: NoLevel, Skills: []SkillRef{},
		SkillsSource: ExtractedSkills, Alignments: check.alignments(in.Alignments.Value),
	}
	if in.Linked && was != nil {
		o.Alignments = withExact(was.Alignments, in.Alignments.Set, o.Alignments)
		if len(o.Alignments) > maxAlignments {
			check.fault("alignments",
				fmt.Sprintf("must be at most %d, with those present that are not EXACT", maxAlignments), nil)
		}
	}
	changed := was == nil || was.Statement != in.Statement
	if was != nil {
		o.ID, o.Reviews, o.Unread = was.ID, was.Reviews, was.Unread
		if !changed {
			o.Verb = was.Verb
		}
	} else {
		was = &Outcome{LevelSource: NoLevel, SkillsSource: ExtractedSkills}
	}
	o.Unread = o.Unread || changed

	gave := was.SkillsSource == GivenSkills
	switch {
	case in.Skills.Value != nil:
		check.SkillName = check.knownBy(was)
		o.Skills = check.skills(in.Skills, nil)
		if !in.Imported || !gave || !slices.Equal(o.Skills, was.Skills) {
			o.Reviews = nil
		}
		o.SkillsSource = GivenSkills
	case gave && !in.Skills.Set, !gave && !changed:
		o.Skills, o.SkillsSource = was.Skills, was.SkillsSource
	default:
		o.Skills, o.Reviews = ApplyReviews(was.Reviews, nil)
		o.Unread = true
	}

	gave = was.LevelSource == GivenLevel
	switch {
	case in.Level.Value != nil:
		o.Level, o.LevelSource = *in.Level.Value, GivenLevel
	case gave && !in.Level.Set, !gave && !changed:
		o.Level, o.LevelSource = was.Level, was.LevelSource
	default:
		o.Unread = true
	}
	if o.SkillsSource == GivenSkills && o.LevelSource == GivenLevel {
		o.Unread = false
	}
	return o
}

// knownBy returns the look-up of skill names in the taxonomy or, if it does not have them any more, in the outcome's
// present skills.
func (l Lookups) knownBy(was *Outcome) func(id string) (string, bool) {
	return func(id string) (string, bool) {
		if name, ok := l.SkillName(id); ok {
			return name, true
		}
		i := slices.IndexFunc(was.Skills, func(s SkillRef) bool { return s.SkillID == id })
		if i < 0 {
			return "", false
		}
		return was.Skills[i].SkillName, true
	}
}

// isURN reports whether a text is a uniform resource name (RFC 8141): "urn", a namespace and a name.
func isURN(s string) bool {
	scheme, rest, _ := strings.Cut(s, ":")
	space, name, _ := strings.Cut(rest, ":")
	return strings.EqualFold(scheme, "urn") && name != "" && len(space) > 0 && len(space) <= 32 &&
		strings.Trim(strings.ToLower(space), "abcdefghijklmnopqrstuvwxyz0123456789-") == "" &&
		strings.IndexFunc(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) < 0
}

func (c checker) alignments(in []AlignmentInput) []OutcomeAlignment {
	all := make([]OutcomeAlignment, len(in))
	for i, a := range in {
		if !isURN(a.URI) && !isWebpage(a.URI) {
			c.fault(fmt.Sprintf("alignments[%d].uri", i), "must be an https address without credentials, or a urn", a.URI)
		}
		all[i] = OutcomeAlignment{Type: a.Type, URI: a.URI, Label: text(a.Label, nil)}
	}
	return all
}

// withExact returns the present alignments and the given ones, which are EXACT. If replace, other present EXACT ones go.
func withExact(present []OutcomeAlignment, replace bool, given []OutcomeAlignment) []OutcomeAlignment {
	at := func(all []OutcomeAlignment, a OutcomeAlignment) bool {
		return slices.ContainsFunc(all, func(b OutcomeAlignment) bool { return a.Type == b.Type && a.URI == b.URI })
	}
	all := slices.DeleteFunc(slices.Clone(present), func(a OutcomeAlignment) bool {
		return replace && a.Type == "EXACT" && !at(given, a)
	})
	return append(all, slices.DeleteFunc(given, func(a OutcomeAlignment) bool { return at(present, a) })...)
}

// ctid sets the CTID of the outcome at i, and checks that no earlier one has it.
func (r *replacing) ctid(i int, at checker) {
	o := &r.out[i]
	o.CTID = DerivedCTID(o.ID)
	if r.kept[i] != nil {
		o.CTID = cmp.Or(r.kept[i].CTID, o.CTID)
	}
	r.in[i].apply(&o.Registered)
	taken := func(other Outcome) bool { return other.ID != o.ID && other.CTID == o.CTID }
	if o.CTID == r.listCTID || slices.ContainsFunc(r.out[:i], taken) {
		at.fault("ctid", "must not be repeated", o.CTID)
	}
}

// code checks that no earlier outcome has the code of the one at i.
func (r *replacing) code(i int, at checker) {
	code := r.out[i].Code
	switch {
	case code == nil:
	case strings.ContainsFunc(*code, unicode.IsControl):
		at.fault("code", "must not contain control characters", *code)
	case r.coded(*code, i) >= 0:
		at.fault("code", "must not be repeated, without regard to case", *code)
	}
}

// coded returns the place of an outcome before the one at end that has a code; -1 for none.
func (r *replacing) coded(code string, end int) int {
	return slices.IndexFunc(r.out[:end], func(o Outcome) bool {
		return o.Code != nil && foldCode(*o.Code) == foldCode(code)
	})
}

// parent sets the parent and the depth of the outcome at i.
func (r *replacing) parent(i int, at checker) {
	r.depth[i] = 1
	id, code := text(r.in[i].ParentID, nil), text(r.in[i].ParentCode, nil)
	field, value, parent := "parentId", id, -1
	switch {
	case id != nil && code != nil:
		at.fault("parentCode", "must not be given with parentId", *code)
		return
	case id != nil:
		parent = slices.IndexFunc(r.out[:i], func(o Outcome) bool { return o.ID == *id || o.CTID == *id })
	case code != nil:
		field, value, parent = "parentCode", code, r.coded(*code, i)
	default:
		return
	}
	if parent < 0 {
		at.fault(field, "must name an outcome of the list that stands before this one", *value)
		return
	}
	if r.depth[i] = r.depth[parent] + 1; r.depth[i] > maxOutcomeDepth {
		at.fault(field, fmt.Sprintf("must not take the outcome below level %d", maxOutcomeDepth), *value)
	}
	r.out[i].ParentID = new(r.out[parent].ID)
}
