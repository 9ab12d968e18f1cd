package catalog_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillscurriculum/pkg/catalog"
)

// art returns an approved articulation of Foothill College; each alternative is its
// codes, parted by +.
func art(id, from string, alternatives ...string) *catalog.Articulation {
	a := &catalog.Articulation{
		Meta: catalog.Meta{ID: id}, Status: catalog.ArticulationApproved, Decision: catalog.Equivalent, EffectiveFrom: from,
		SendingInstitution: catalog.Institution{Name: "Foothill College"}, Receiving: []catalog.Grant{{Label: new("for " + id)}}, ProgramIDs: []string{},
	}
	for _, codes := range alternatives {
		var alternative catalog.Alternative
		for code := range strings.SplitSeq(codes, "+") {
			alternative.Courses = append(alternative.Courses, catalog.SendingCourse{Code: code})
		}
		a.Sending = append(a.Sending, alternative)
	}
	return a
}

// short writes what is granted as "id[alternative] codes", and why a code is uncovered
// as "code: id[alternative] reason details".
func short(granted []catalog.Granted, uncovered []string, why []catalog.UncoveredCode) string {
	var text []string
	for _, g := range granted {
		text = append(text, fmt.Sprintf("%s[%d] %s", g.ArticulationID, g.Alternative, strings.Join(g.Codes, "+")))
	}
	for i, w := range why {
		line := w.Code + ":"
		if len(uncovered) != len(why) || uncovered[i] != w.Code {
			line = fmt.Sprint("not as uncovered: ", uncovered)
		}
		for _, no := range w.Considered {
			line += fmt.Sprintf(" %s[%d] %s", no.ArticulationID, no.Alternative, no.Reason)
			if no.Missing != nil {
				line += " " + strings.Join(no.Missing, "+")
			}
			for _, used := range no.Used {
				line += " " + used.Code + " by " + used.ArticulationID
			}
		}
		text = append(text, line)
	}
	return strings.Join(text, "\n")
}

func TestLookup(t *testing.T) {
	with := func(a *catalog.Articulation, change func(a *catalog.Articulation)) *catalog.Articulation {
		change(a)
		return a
	}
	const day = "2026-03-01"
	for name, test := range map[string]struct {
		codes   string
		program string
		all     []*catalog.Articulation
		want    string
	}{
		"nothing there":         {"A", "", nil, "A:"},
		"one course":            {"A,B", "", []*catalog.Articulation{art("art_1", day, "A")}, "art_1[0] A\nB:"},
		"in another spelling":   {"cis-0120l", "", []*catalog.Articulation{art("art_1", day, "CIS 120L")}, "art_1[0] cis-0120l"},
		"a code twice is one":   {"A 1,B,a01", "", []*catalog.Articulation{art("art_1", day, "A1")}, "art_1[0] A 1\nB:"},
		"in the order asked":    {"C,B,A,D", "", []*catalog.Articulation{art("art_1", day, "A+C")}, "art_1[0] C+A\nB:\nD:"},
		"half of one":           {"A", "", []*catalog.Articulation{art("art_1", day, "A+B+C")}, "A: art_1[0] COURSES_MISSING B+C"},
		"the larger first":      {"A,B", "", []*catalog.Articulation{art("art_1", "2026-02-01", "A"), art("art_2", "2020-01-01", "A+B")}, "art_2[0] A+B"},
		"the later first":       {"A,B", "", []*catalog.Articulation{art("art_1", "2026-01-01", "A+B"), art("art_2", "2026-02-01", "B+A")}, "art_2[0] A+B"},
		"the smaller id first":  {"A", "", []*catalog.Articulation{art("art_2", day, "A"), art("art_1", day, "A")}, "art_1[0] A"},
		"alternatives by index": {"A,B", "", []*catalog.Articulation{art("art_1", day, "B", "A")}, "art_1[0] B\nA: art_1[1] ALREADY_GRANTED"},
		"its larger one first":  {"A,B,C", "", []*catalog.Articulation{art("art_1", day, "A", "B+C")}, "art_1[1] B+C\nA: art_1[0] ALREADY_GRANTED"},
		"codes used": {"A,B,C", "", []*catalog.Articulation{art("art_1", day, "A+B"), art("art_2", day, "B+C")},
			"art_1[0] A+B\nC: art_2[0] CODES_USED B by art_1"},
		"only the first day":  {"A", "", []*catalog.Articulation{art("art_1", "2026-03-02", "A")}, "A: art_1[0] NOT_YET_IN_FORCE"},
		"the last day":        {"A", "", []*catalog.Articulation{with(art("art_1", day, "A"), func(a *catalog.Articulation) { a.EffectiveTo = new(day) })}, "art_1[0] A"},
		"after the last day":  {"A", "", []*catalog.Articulation{with(art("art_1", "2020-01-01", "A"), func(a *catalog.Articulation) { a.EffectiveTo = new("2026-02-28") })}, "A: art_1[0] ENDED"},
		"not approved":        {"A", "", []*catalog.Articulation{with(art("art_1", day, "A"), func(a *catalog.Articulation) { a.Status = catalog.ArticulationInReview })}, "A: art_1[0] NOT_APPROVED"},
		"another institution": {"A", "", []*catalog.Articulation{with(art("art_1", day, "A"), func(a *catalog.Articulation) { a.SendingInstitution.Name = "De Anza College" })}, "A:"},
		"by its code": {"A", "", []*catalog.Articulation{with(art("art_1", day, "A"), func(a *catalog.Articulation) {
			a.SendingInstitution = catalog.Institution{Name: "x", CodeType: new("CEEB"), Code: new("Foothill College")}
		})}, "art_1[0] A"},
		"no program":      {"A", "", []*catalog.Articulation{with(art("art_1", day, "A"), func(a *catalog.Articulation) { a.ProgramIDs = []string{"prg_1"} })}, "A: art_1[0] OTHER_PROGRAM"},
		"another program": {"A", "prg_2", []*catalog.Articulation{with(art("art_1", day, "A"), func(a *catalog.Articulation) { a.ProgramIDs = []string{"prg_1"} })}, "A: art_1[0] OTHER_PROGRAM"},
		"its program":     {"A", "prg_2", []*catalog.Articulation{with(art("art_1", day, "A"), func(a *catalog.Articulation) { a.ProgramIDs = []string{"prg_1", "prg_2"} })}, "art_1[0] A"},
		"all programs":    {"A", "prg_2", []*catalog.Articulation{art("art_1", day, "A")}, "art_1[0] A"},
		"no credit uses its codes": {"A,B", "", []*catalog.Articulation{art("art_1", day, "A"), with(art("art_2", day, "A+B"), func(a *catalog.Articulation) { a.Decision = catalog.NoCredit })},
			"art_2[0] A+B"},
		"published means nothing": {"A", "", []*catalog.Articulation{with(art("art_1", day, "A"), func(a *catalog.Articulation) { a.Published = true })}, "art_1[0] A"},
	} {
		t.Run(name, func(t *testing.T) {
			q := catalog.ArticulationQuery{Institution: "foothill-college", Codes: strings.Split(test.codes, ","), AsOf: day, ProgramID: test.program}
			if diff := cmp.Diff(test.want, short(q.Lookup(test.all))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLookupShowsWhatIsGrantedAndNoPrivateNote(t *testing.T) {
	a := art("art_1", "2026-01-01", "A")
	a.PublicNote, a.PrivateNote = new("public"), new("secret")
	granted, uncovered, why := catalog.ArticulationQuery{Institution: "Foothill College", Codes: []string{"A", "B"}, AsOf: "2026-01-01"}.Lookup([]*catalog.Articulation{a})
	text, err := json.Marshal([]any{granted, uncovered, why})
	want := `[[{"articulationId":"art_1","alternative":0,"codes":["A"],"receiving":[{"courseId":null,"label":"for art_1","credits":null}],"decision":"EQUIVALENT","publicNote":"public"}],` +
		`["B"],[{"code":"B","considered":[]}]]`
	if diff := cmp.Diff(want, string(text)); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// world draws few codes, days and programs, so that much collides.
func world(t *rapid.T) (all []*catalog.Articulation, q catalog.ArticulationQuery) {
	codes := []string{"A 1", "a-01", "B", "C", "D", "E"}
	days := []string{"2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"}
	names := []string{"Foothill College", "FOOTHILL-COLLEGE", "Foothill College", "FOOTHILL-COLLEGE", "De Anza"}
	pick := func(from []string, label string) string { return rapid.SampledFrom(from).Draw(t, label) }
	n := rapid.IntRange(3, 12).Draw(t, "articulations")
	for i := range n {
		a := art(fmt.Sprintf("art_%02d", (i*7)%13), pick(days, "from"))
		a.SendingInstitution.Name = pick(names, "institution")
		a.Status = rapid.SampledFrom([]catalog.ArticulationStatus{"APPROVED", "APPROVED", "APPROVED", "APPROVED", "DRAFT", "REJECTED"}).Draw(t, "status")
		a.Decision = rapid.SampledFrom([]catalog.Decision{catalog.Equivalent, catalog.NoCredit}).Draw(t, "decision")
		if rapid.IntRange(0, 3).Draw(t, "ends") == 0 {
			a.EffectiveTo = new(pick(days, "to"))
		}
		a.ProgramIDs = rapid.SampledFrom([][]string{{}, {}, {"p"}, {"q"}, {"p", "q"}}).Draw(t, "programs")
		sets := map[string]bool{}
		for range rapid.IntRange(1, 3).Draw(t, "alternatives") {
			var alternative catalog.Alternative
			for range rapid.IntRange(1, 3).Draw(t, "courses") {
				code := pick(codes, "code")
				if !slices.ContainsFunc(alternative.Courses, func(c catalog.SendingCourse) bool { return spelled(c.Code) == spelled(code) }) {
					alternative.Courses = append(alternative.Courses, catalog.SendingCourse{Code: code})
				}
			}
			if !sets[alternative.Key()] {
				sets[alternative.Key()] = true
				a.Sending = append(a.Sending, alternative)
			}
		}
		all = append(all, a)
	}
	q = catalog.ArticulationQuery{Institution: pick(names, "asked"), AsOf: pick(days[1:], "as of"), ProgramID: pick([]string{"", "p", "q"}, "program")}
	q.Codes = rapid.SliceOfN(rapid.SampledFrom(codes), 2, 9).Draw(t, "codes")
	return all, q
}

// spelled is the rule of normalisation for the names of world alone.
func spelled(s string) string {
	return strings.NewReplacer("a-01", "A1", "A 1", "A1", "FOOTHILL-COLLEGE", "Foothill College").Replace(s)
}

// use is an alternative that may be used.
type use struct {
	a     *catalog.Articulation
	index int
}

func (u use) has(code string) bool {
	return slices.ContainsFunc(u.a.Sending[u.index].Courses, func(c catalog.SendingCourse) bool { return spelled(c.Code) == code })
}

// before says the order of precedence.
func (u use) before(other use) bool {
	switch m, n := len(u.a.Sending[u.index].Courses), len(other.a.Sending[other.index].Courses); {
	case m != n:
		return m > n
	case u.a.EffectiveFrom != other.a.EffectiveFrom:
		return u.a.EffectiveFrom > other.a.EffectiveFrom
	case u.a.ID != other.a.ID:
		return u.a.ID < other.a.ID
	}
	return u.index < other.index
}

// counts reports whether the articulation counts for what is asked at all.
func counts(a *catalog.Articulation, q catalog.ArticulationQuery) bool {
	inTime := a.EffectiveFrom <= q.AsOf && (a.EffectiveTo == nil || q.AsOf <= *a.EffectiveTo)
	forProgram := len(a.ProgramIDs) == 0 || slices.Contains(a.ProgramIDs, q.ProgramID)
	return a.Status == "APPROVED" && inTime && forProgram && spelled(a.SendingInstitution.Name) == spelled(q.Institution)
}

// reference looks up by force: as long as any alternative can be used, it uses the one
// that no other goes before.
func reference(all []*catalog.Articulation, q catalog.ArticulationQuery) (granted []string, uncovered []string) {
	left := map[string]string{} // the first spelling of what is not used
	var order []string
	for _, code := range q.Codes {
		if _, twice := left[spelled(code)]; !twice {
			left[spelled(code)] = code
			order = append(order, spelled(code))
		}
	}
	var uses []use
	for _, a := range all {
		for i := range a.Sending {
			if counts(a, q) {
				uses = append(uses, use{a, i})
			}
		}
	}
	for {
		var best *use
		for _, u := range uses {
			whole := !slices.ContainsFunc(u.a.Sending[u.index].Courses, func(c catalog.SendingCourse) bool { return left[spelled(c.Code)] == "" })
			if whole && (best == nil || u.before(*best)) {
				best = &u
			}
		}
		if best == nil {
			break
		}
		uses = slices.DeleteFunc(uses, func(u use) bool { return u.a == best.a })
		var codes []string
		for _, code := range order {
			if best.has(code) {
				codes = append(codes, left[code])
				left[code] = ""
			}
		}
		granted = append(granted, fmt.Sprintf("%s[%d] %s", best.a.ID, best.index, strings.Join(codes, "+")))
	}
	for _, code := range order {
		if left[code] != "" {
			uncovered = append(uncovered, left[code])
		}
	}
	return granted, uncovered
}

func TestLookupIsWhatTheRuleSays(t *testing.T) {
	worlds, grants, reasons := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 5 {
			all, q := world(t)
			worlds++
			granted, uncovered, why := q.Lookup(all)
			checkGrants(t, all, q, granted, uncovered)
			grants += len(granted)
			reasons += checkTrace(t, all, q, granted, why)
			slices.Reverse(all)
			if again := short(q.Lookup(all)); again != short(granted, uncovered, why) {
				t.Fatalf("another order of the same:\n%s\nis\n%s", short(granted, uncovered, why), again)
			}
		}
	})
	if grants < worlds/5 || reasons < worlds/5 {
		t.Errorf("%d worlds are poor: %d grants, %d reasons", worlds, grants, reasons)
	}
}

func checkGrants(t *rapid.T, all []*catalog.Articulation, q catalog.ArticulationQuery, granted []catalog.Granted, uncovered []string) {
	wantGranted, wantUncovered := reference(all, q)
	want := strings.Join(wantGranted, "\n")
	if got := short(granted, nil, nil); got != want || !slices.Equal(uncovered, wantUncovered) {
		t.Fatalf("granted\n%s\nwant\n%s\nuncovered %v, want %v", got, want, uncovered, wantUncovered)
	}
}

// checkTrace holds each reason to what it says, and the trace to every alternative that
// has the code. It returns how many reasons there are.
func checkTrace(t *rapid.T, all []*catalog.Articulation, q catalog.ArticulationQuery, granted []catalog.Granted, why []catalog.UncoveredCode) (reasons int) {
	for _, w := range why {
		for _, no := range w.Considered {
			i := slices.IndexFunc(all, func(a *catalog.Articulation) bool { return a.ID == no.ArticulationID })
			checkReason(t, all[i], q, granted, no)
			reasons++
		}
		for _, a := range all {
			for i, alternative := range a.Sending {
				has := slices.ContainsFunc(alternative.Courses, func(c catalog.SendingCourse) bool { return spelled(c.Code) == spelled(w.Code) })
				listed := slices.ContainsFunc(w.Considered, func(no catalog.ConsideredAlternative) bool { return no.ArticulationID == a.ID && no.Alternative == i })
				if ours := spelled(a.SendingInstitution.Name) == spelled(q.Institution); (has && ours) != listed {
					t.Fatalf("%s[%d] has %s: %v, listed: %v", a.ID, i, w.Code, has, listed)
				}
			}
		}
	}
	return reasons
}

func checkReason(t *rapid.T, a *catalog.Articulation, q catalog.ArticulationQuery, granted []catalog.Granted, no catalog.ConsideredAlternative) {
	asked := func(code string) bool {
		return slices.ContainsFunc(q.Codes, func(c string) bool { return spelled(c) == spelled(code) })
	}
	var missing []string
	for _, course := range a.Sending[no.Alternative].Courses {
		if !asked(course.Code) {
			missing = append(missing, course.Code)
		}
	}
	granting := slices.ContainsFunc(granted, func(g catalog.Granted) bool { return g.ArticulationID == a.ID })
	holds := false
	switch no.Reason {
	case catalog.NotApproved:
		holds = a.Status != "APPROVED"
	case catalog.NotYetInForce:
		holds = a.EffectiveFrom > q.AsOf
	case catalog.Ended:
		holds = a.EffectiveTo != nil && *a.EffectiveTo < q.AsOf
	case catalog.OtherProgram:
		holds = len(a.ProgramIDs) > 0 && !slices.Contains(a.ProgramIDs, q.ProgramID)
	case catalog.CoursesMissing:
		holds = missing != nil && slices.Equal(missing, no.Missing)
	case catalog.AlreadyGranted:
		holds = granting && missing == nil
	case catalog.CodesUsed:
		holds = missing == nil && len(no.Used) > 0
		for _, used := range no.Used {
			holds = holds && slices.ContainsFunc(granted, func(g catalog.Granted) bool {
				return g.ArticulationID == used.ArticulationID && slices.Contains(g.Codes, used.Code)
			})
		}
	}
	if !holds || (no.Missing != nil) != (no.Reason == catalog.CoursesMissing) || (no.Used != nil) != (no.Reason == catalog.CodesUsed) {
		t.Fatalf("%+v does not hold for %+v", no, a)
	}
}

func TestDecidedIsTheDecisionOfOneCourse(t *testing.T) {
	const today = "2026-03-01"
	course := &catalog.TransferCourse{Meta: catalog.Meta{ID: "tcr_1"}, Code: new("CIS-0120l")}
	grants := func(a *catalog.Articulation, course string) *catalog.Articulation {
		a.Receiving = append(a.Receiving, catalog.Grant{CourseID: &course})
		return a
	}
	byID := grants(art("art_1", today, "X"), "crs_1")
	byID.Sending[0].Courses[0].TransferCourseID = new("tcr_1")
	draft := grants(art("art_1", today, "CIS 120L"), "crs_1")
	draft.Status = catalog.ArticulationDraft
	ended := grants(art("art_1", "2020-01-01", "CIS 120L"), "crs_1")
	ended.EffectiveTo = new("2026-02-28")
	elsewhere := grants(art("art_1", today, "CIS 120L"), "crs_1")
	elsewhere.SendingInstitution.Name = "De Anza College"
	for name, test := range map[string]struct {
		all  []*catalog.Articulation
		want string
	}{
		"none":                {nil, ""},
		"by code":             {[]*catalog.Articulation{grants(art("art_1", today, "A+B", "cis 120L"), "crs_1")}, "art_1"},
		"by id":               {[]*catalog.Articulation{byID}, "art_1"},
		"with others":         {[]*catalog.Articulation{grants(art("art_1", today, "CIS 120L+A"), "crs_1")}, ""},
		"another course":      {[]*catalog.Articulation{grants(art("art_1", today, "CIS 120L"), "crs_2")}, ""},
		"not yet":             {[]*catalog.Articulation{grants(art("art_1", "2026-03-02", "CIS 120L"), "crs_1")}, ""},
		"ended":               {[]*catalog.Articulation{ended}, ""},
		"a draft":             {[]*catalog.Articulation{draft}, ""},
		"another institution": {[]*catalog.Articulation{elsewhere}, ""},
		"the later":           {[]*catalog.Articulation{grants(art("art_2", today, "CIS 120L"), "crs_1"), grants(art("art_1", "2026-02-01", "CIS 120L"), "crs_1")}, "art_2"},
		"the smaller id":      {[]*catalog.Articulation{grants(art("art_2", today, "CIS 120L"), "crs_1"), grants(art("art_1", today, "CIS 120L"), "crs_1")}, "art_1"},
	} {
		got := ""
		if id := catalog.Decided(test.all, "Foothill-College", course, "crs_1", today); id != nil {
			got = *id
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	if catalog.Decided([]*catalog.Articulation{grants(art("art_1", today, "A"), "crs_1")}, "Foothill College", &catalog.TransferCourse{}, "crs_1", today) != nil {
		t.Error("a course without a code and another one's code")
	}
}
