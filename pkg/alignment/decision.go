package alignment

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"skillscurriculum/pkg/catalog"
)

// Decision is the input of an articulation's page: the record, its history and its evidence.
type Decision struct {
	Articulation *catalog.Articulation
	Moves        []catalog.Move
	Courses      map[string]*catalog.Course  // granted courses that still exist
	Programs     map[string]*catalog.Program // programs it applies to that still exist
	// Evidence is the evidence frozen at the approval, or before that the evidence that an
	// approval would freeze now; nil for none.
	Evidence *catalog.DecisionEvidence
	// Sent and Taught are the transfer course and the section of the evidence.
	Sent, Taught Side
	SkillName    func(id string) string // "" if the taxonomy lacks the skill
	Related      Related
}

// Side is the current state of one of the two sides that evidence compares.
type Side struct {
	Name   string // "" if it was deleted
	Skills []catalog.SkillRef
	ByHand bool // the evidence's skills were set by hand
	// Quotes are from the extraction that the evidence is based on; nil if there has been another since.
	Quotes []catalog.Evidence
}

// DecisionPage is an articulation for human readers; package page renders it. It omits the
// private note, because pages are shared.
type DecisionPage struct {
	ID, Institution, Status string
	Sent                    []string // codes of the alternatives
	Final                   bool     // whether it is approved or rejected
	Counts                  string   // how it counts, before the names of what is granted
	Grants                  []string // these names
	Until                   string   // the day on which it ended or begins, after them
	Granting                string   // the heading of what is granted
	Signed                  bool     // whether there are lines to sign
	Rejection               string   // why it was rejected
	Facts                   []fact
	Notes                   []fact
	Alternatives            []pageAlternative
	Granted                 []pageGrant
	Programs                []string // empty for all
	Comparison              *pageComparison
	NoComparison            string // why Comparison is nil
	Moves                   []pageMove
	Changed, Day            string // when the record was last changed
}

type pageAlternative struct {
	Number  int // from 1
	Courses []pageSending
}

type pageSending struct{ Code, Title, Credits, Grade, Taken string }

type pageGrant struct{ Code, Name, Credits string }

type pageComparison struct {
	Sent, Taught         string // names of both sides
	Rule                 string // how the thresholds classify the score
	Basis                string // the date of the figures
	Skills               []pageMatch
	Extra                []string // skills of the transfer course that the section does not teach
	AboutSent, AboutHere string   // why there are no quotes; "" where there are
}

// Lines returns the CSS class that limits the lines of a quote in print: with many skills, the page remains short.
func (c pageComparison) Lines() string {
	switch n := len(c.Skills); {
	case n > 30:
		return "single"
	case n > 16:
		return "two"
	}
	return ""
}

// pageMatch is a skill of the section and the transfer course's match for it.
type pageMatch struct {
	Name         string
	Kind         string // how it is met
	Share        cell   // how far, in percent
	Sent, Taught pageTeaching
}

type pageTeaching struct {
	Skill  string // if it differs from that of the row
	Level  string
	Quotes []string
}

type pageMove struct{ At, Day, From, To, By, Note string }

// Title names what is sent and by whom.
func (p DecisionPage) Title() string { return strings.Join(p.Sent, " or ") + " at " + p.Institution }

// Sentence is the rest of the sentence that the title begins.
func (p DecisionPage) Sentence() string {
	text := strings.TrimSpace(p.Counts + " " + strings.Join(p.Grants, " and "))
	if p.Until != "" {
		text += ", " + p.Until
	}
	return text
}

// Page returns the articulation for human readers on a day.
func (d Decision) Page(today string) DecisionPage {
	a := d.Articulation
	p := DecisionPage{
		ID: a.ID, Changed: a.UpdatedAt.String(), Day: dayName(catalog.DateOf(a.UpdatedAt)),
		Final: a.Status == catalog.ArticulationApproved || a.Status == catalog.ArticulationRejected,
		Sent:  sendingNames(a.Sending), Institution: a.SendingInstitution.Name,
		Facts: d.facts(), Notes: d.notes(), Granted: d.granted(),
		Signed: a.Status == catalog.ArticulationApproved || a.Status == catalog.ArticulationInReview,
	}
	for _, grant := range p.Granted {
		p.Grants = append(p.Grants, cmp.Or(grant.Code, grant.Name))
	}
	d.stand(&p, today)
	for i, alternative := range a.Sending {
		shown := pageAlternative{Number: i + 1}
		for _, c := range alternative.Courses {
			shown.Courses = append(shown.Courses, pageSending{
				c.Code, valueOf(c.Title), credits(c.Credits), valueOf(c.MinimumGrade),
				period(valueOf(c.TakenFrom), valueOf(c.TakenTo)),
			})
		}
		p.Alternatives = append(p.Alternatives, shown)
	}
	for _, id := range a.ProgramIDs {
		name := id
		if program := d.Programs[id]; program != nil {
			name = program.Name
		}
		p.Programs = append(p.Programs, name)
	}
	for _, m := range d.Moves {
		move := pageMove{
			At: m.At.String(), Day: dayName(catalog.DateOf(m.At)), From: words(m.From), To: words(m.To), Note: valueOf(m.Note),
		}
		if m.DecidedBy != nil {
			move.By = personName(*m.DecidedBy)
		}
		p.Moves = append(p.Moves, move)
	}
	if p.Comparison = d.comparison(); p.Comparison == nil {
		p.NoComparison = d.noComparison()
	}
	return p
}

// stand sets what is true of the articulation in its state: only an approved one counts, and only in its period.
func (d Decision) stand(p *DecisionPage, today string) {
	a := d.Articulation
	p.Status, p.Granting = words(a.Status), "What would be granted"
	credited := len(p.Grants) > 0
	switch {
	case a.Status == catalog.ArticulationRejected:
		p.Counts, p.Granting = choose(credited, "was not accepted as", "was not accepted as worth no credit"),
			"What was proposed"
		for _, move := range d.Moves {
			if move.To == catalog.ArticulationRejected {
				p.Rejection = valueOf(move.Note)
			}
		}
	case a.Status != catalog.ArticulationApproved:
		p.Counts = choose(credited, "is proposed to count as", "is proposed to receive no credit")
	case a.EndedBefore(today):
		p.Counts, p.Until = choose(credited, "counted as", "received no credit"), "until "+dayName(*a.EffectiveTo)
		p.Status, p.Granting = "approved, ended", "What was granted"
	case !a.InForce(today):
		p.Counts, p.Until = choose(credited, "will count as", "will receive no credit"), "from "+dayName(a.EffectiveFrom)
		p.Status, p.Granting = "approved, not yet in force", "What will be granted"
	default:
		p.Counts, p.Granting = choose(credited, "counts here as", "receives no credit here"), "What is granted"
	}
}

func choose(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

func (d Decision) facts() []fact {
	a := d.Articulation
	facts := []fact{
		{"Proposal", words(a.Decision)}, {"Proposed period", period(a.EffectiveFrom, valueOf(a.EffectiveTo))},
	}
	if a.Status == catalog.ArticulationApproved {
		facts[0].Label, facts[1].Label = "Decision", "In force"
	}
	if d.Evidence != nil {
		facts = append(facts, fact{
			"Skills match", fmt.Sprintf("%d%%, %s", percent(d.Evidence.SkillsMatchScore), words(d.Evidence.Equivalence)),
		})
	}
	facts = append(facts, known(
		fact{"First term", valueOf(a.EffectiveTerm)}, fact{"Review after", dayName(valueOf(a.ReviewAfter))},
	)...)
	if a.DecidedBy != nil {
		facts = append(facts, fact{"Approved by", personName(*a.DecidedBy)})
	}
	return facts
}

// notes returns the public notes.
func (d Decision) notes() []fact {
	a := d.Articulation
	return known(
		fact{"Reason", valueOf(a.Reason)}, fact{"Note for students", valueOf(a.PublicNote)},
		fact{"Supersedes", valueOf(a.Supersedes)},
	)
}

// known returns the facts that have a value.
func known(facts ...fact) []fact {
	return filter(facts, func(f fact) bool { return f.Value != "" })
}

// granted lists the grants, with courses as of the approval, or before that as of now.
func (d Decision) granted() []pageGrant {
	var all []pageGrant
	for _, g := range d.Articulation.Receiving {
		shown := pageGrant{Name: valueOf(g.Label), Credits: credits(g.Credits)}
		if g.CourseID != nil {
			shown.Code, shown.Name = *g.CourseID, "no longer in the catalog"
			granted := func(s catalog.CourseStamp) bool { return s.CourseID == *g.CourseID }
			stamp := slices.IndexFunc(d.Articulation.Granted, granted)
			switch course := d.Courses[*g.CourseID]; {
			case stamp >= 0:
				shown.Code, shown.Name = d.Articulation.Granted[stamp].Code, d.Articulation.Granted[stamp].Name
			case course != nil:
				shown.Code, shown.Name = course.Code, course.Name
			}
		}
		all = append(all, shown)
	}
	return all
}

// noComparison returns why nothing is compared.
func (d Decision) noComparison() string {
	if _, _, ok := d.Articulation.EvidenceFor(); !ok {
		return "No skills are compared: that requires exactly one granted course of the catalog, and a sending course " +
			"that refers to a transfer course."
	}
	if d.Articulation.Status == catalog.ArticulationApproved {
		return "No evidence was kept at the approval, because one of the two sides had no skills."
	}
	return "No skills are compared: one of the two sides has none, or has been deleted."
}

// comparison shows the evidence: each skill of the section with the transfer course's match, met skills first.
func (d Decision) comparison() *pageComparison {
	e := d.Evidence
	if e == nil {
		return nil
	}
	c := &pageComparison{
		Sent:   cmp.Or(d.Sent.Name, "the transfer course (deleted since)"),
		Taught: cmp.Or(d.Taught.Name, "the section (deleted since)"),
		Rule: fmt.Sprintf("A score of %.4f is %s: full from %s, partial from %s.", e.SkillsMatchScore,
			equivalenceNames[e.Equivalence],
			decimal(e.MatchingConfig.FullEquivalentThreshold), decimal(e.MatchingConfig.PartialEquivalentThreshold)),
		Basis:     "These are the current figures; an approval would freeze them.",
		AboutSent: d.Sent.noQuotes(), AboutHere: d.Taught.noQuotes(),
	}
	if d.Articulation.Status == catalog.ArticulationRejected {
		c.Basis = "These are the current figures, not those of the rejection."
	}
	if d.Articulation.DecidedAt != nil {
		c.Basis = "Score, levels and matches are those of the approval on " +
			dayName(catalog.DateOf(*d.Articulation.DecidedAt)) +
			"; unmet and additional skills are based on the current skills of both sides."
	}
	met := map[string]bool{}
	for _, m := range e.SkillMatches {
		met[m.SkillID] = true
		c.Skills = append(c.Skills, d.match(m))
	}
	slices.SortStableFunc(c.Skills, byName)
	missing := len(c.Skills)
	taught := map[string]bool{}
	for _, s := range d.Taught.Skills {
		if taught[s.SkillID] = true; !met[s.SkillID] {
			c.Skills = append(c.Skills, pageMatch{
				Name: s.SkillName, Kind: "not met", Share: cell{Text: "0", Class: "b0"},
				Taught: d.Taught.teaching(s.SkillID, level(s), ""),
			})
		}
	}
	slices.SortStableFunc(c.Skills[missing:], byName)
	isTaught := func(id string) bool { return taught[id] || met[id] }
	for _, s := range d.Sent.Skills {
		if !isTaught(s.SkillID) && !slices.ContainsFunc(d.Related(s.SkillID), isTaught) {
			c.Extra = append(c.Extra, s.SkillName)
		}
	}
	return c
}

var equivalenceNames = map[catalog.Equivalence]string{
	catalog.FullEquivalent: "a full match", catalog.PartialEquivalent: "a partial match", catalog.NoEquivalent: "no match",
}

func byName(a, b pageMatch) int {
	return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
}

// match shows a skill that is met, by the same skill or by a neighbor.
func (d Decision) match(m catalog.SkillMatch) pageMatch {
	share := percent(m.MatchScore)
	p := pageMatch{
		Name: cmp.Or(nameOf(d.Taught.Skills, m.SkillID), d.SkillName(m.SkillID), m.SkillID), Kind: "same skill",
		Share:  cell{Text: strconv.Itoa(share), Class: band(share)},
		Taught: d.Taught.teaching(m.SkillID, m.InstitutionalLevel, ""),
		Sent:   d.Sent.teaching(m.SkillID, m.TransferLevel, ""),
	}
	if m.MatchType != catalog.RelatedMatch {
		return p
	}
	p.Kind, p.Sent = "related skill", pageTeaching{Level: levelName(m.TransferLevel)}
	for _, s := range d.Sent.Skills {
		if s.SkillID != m.SkillID && level(s) == m.TransferLevel && slices.Contains(d.Related(s.SkillID), m.SkillID) {
			p.Sent = d.Sent.teaching(s.SkillID, m.TransferLevel, s.SkillName)
			break
		}
	}
	return p
}

// maxQuotes is how many quotes a page shows for a skill.
const maxQuotes = 3

func (s Side) teaching(id string, level int, name string) pageTeaching {
	t := pageTeaching{Skill: name, Level: levelName(level)}
	for _, e := range s.Quotes {
		if e.SkillID == id && len(t.Quotes) < maxQuotes && !slices.Contains(t.Quotes, e.Quote) {
			t.Quotes = append(t.Quotes, e.Quote)
		}
	}
	return t
}

// noQuotes returns why a side has no quotes; "" if it has some.
func (s Side) noQuotes() string {
	switch {
	case s.Name == "":
		return "It has been deleted, together with the text of its syllabus."
	case s.ByHand:
		return "Its skills were set by hand, not extracted from a syllabus."
	case s.Quotes == nil:
		return "Its skills have been replaced since; the quotes for the comparison no longer exist."
	}
	return ""
}

func nameOf(skills []catalog.SkillRef, id string) string {
	if i := slices.IndexFunc(skills, func(s catalog.SkillRef) bool { return s.SkillID == id }); i >= 0 {
		return skills[i].SkillName
	}
	return ""
}

// sendingNames lists the alternatives by their codes.
func sendingNames(alternatives []catalog.Alternative) (names []string) {
	for _, a := range alternatives {
		var codes []string
		for _, c := range a.Courses {
			codes = append(codes, c.Code)
		}
		names = append(names, strings.Join(codes, " with "))
	}
	return names
}

// words returns a constant such as NO_CREDIT in lower-case words.
func words[T ~string](constant T) string {
	return strings.ToLower(strings.ReplaceAll(string(constant), "_", " "))
}

func personName(p catalog.Person) string {
	if p.Role != nil {
		return p.Name + ", " + *p.Role
	}
	return p.Name
}

// dayName formats a date as 2 January 2006; any other text is returned unchanged.
func dayName(date string) string {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}
	return day.Format("2 January 2006")
}

// period formats a range of dates; "" if both are empty.
func period(from, to string) string {
	switch {
	case from == "" && to == "":
		return ""
	case to == "":
		return "from " + dayName(from)
	case from == "":
		return "until " + dayName(to)
	}
	return dayName(from) + " to " + dayName(to)
}

func credits(c *catalog.Credits) string {
	if c == nil {
		return ""
	}
	amount := decimal(c.Min)
	if c.Min != c.Max {
		amount += " to " + decimal(c.Max)
	}
	return amount + " " + creditUnits[c.Unit]
}

var creditUnits = map[string]string{
	"SEMESTER_HOUR": "semester hours", "QUARTER_HOUR": "quarter hours", "ECTS": "ECTS",
	"CLOCK_HOUR": "clock hours", "CEU": "CEU",
}

// valueOf returns *s, or "" for nil.
func valueOf(s *string) string { return catalog.ValueOr(s, "") }
