package alignment_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skillscurriculum/infra/browser"
	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/alignment/page"
	"skillscurriculum/pkg/catalog"
)

// decision is an articulation of one course on each side, whose section has a number of skills. Of each three one is
// not met; each other has two quotes on each side. words are what strangers wrote.
func decision(status catalog.ArticulationStatus, skills int, words string) alignment.Decision {
	word := cmp.Or(words, "Data Structures")
	a := &catalog.Articulation{
		Meta:               catalog.Meta{ID: masthead.Record, UpdatedAt: masthead.Made},
		SendingInstitution: catalog.Institution{Name: cmp.Or(words, "Cedar Hollow Community College")},
		Sending: []catalog.Alternative{{Courses: []catalog.SendingCourse{{
			Code: "CIS 220", Title: &word, Credits: &catalog.Credits{Min: 3, Max: 3, Unit: "SEMESTER_HOUR"},
			MinimumGrade: new("C"), TransferCourseID: new("tcr_1"),
		}}}},
		Receiving:     []catalog.Grant{{CourseID: new("crs_1"), Credits: &catalog.Credits{Min: 3, Max: 3, Unit: "SEMESTER_HOUR"}}},
		Decision:      catalog.Equivalent,
		Status:        status,
		EffectiveFrom: "2026-08-15", EffectiveTerm: new("Fall 2026"), ReviewAfter: new("2029-08-15"),
		PublicNote: new(cmp.Or(words, "The committee compared both syllabi.")),
	}
	evidence := &catalog.DecisionEvidence{
		TransferCourseID: "tcr_1", CourseID: "crs_1", SectionID: "sec_1", SkillsMatchScore: 0.8612,
		Equivalence: catalog.FullEquivalent, MatchingConfig: catalog.MatchingConfig{FullEquivalentThreshold: 0.85, PartialEquivalentThreshold: 0.6},
	}
	d := alignment.Decision{
		Articulation: a, Evidence: evidence, Courses: map[string]*catalog.Course{"crs_1": {Code: "CS 330", Name: word}},
		SkillName: func(string) string { return "" }, Related: func(string) []string { return nil },
		Sent:   alignment.Side{Name: word, Quotes: []catalog.Evidence{}},
		Taught: alignment.Side{Name: word, Quotes: []catalog.Evidence{}},
		Moves: []catalog.Move{
			{At: masthead.Made - 1, From: catalog.ArticulationDraft, To: catalog.ArticulationInReview, Note: new(cmp.Or(words, "For the committee in May."))},
		},
	}
	by := &catalog.Person{Name: cmp.Or(words, "Transfer committee"), Role: new("Registrar’s office")}
	switch status {
	case catalog.ArticulationApproved:
		a.DecidedBy, a.DecidedAt, a.Evidence = by, new(masthead.Made), evidence
		d.Moves = append(d.Moves, catalog.Move{At: masthead.Made, From: catalog.ArticulationInReview, To: status, DecidedBy: by})
	case catalog.ArticulationRejected:
		d.Moves = append(d.Moves, catalog.Move{At: masthead.Made, From: catalog.ArticulationInReview, To: status, DecidedBy: by, Note: new(cmp.Or(words, "No laboratory."))})
	}
	for i := range skills {
		id := fmt.Sprint("skill-", i)
		ref := catalog.SkillRef{SkillID: id, SkillName: cmp.Or(words, fmt.Sprint("Analyse algorithms of kind ", i)), Level: 3, Confidence: 1}
		d.Taught.Skills = append(d.Taught.Skills, ref)
		for n := range 2 {
			quote := cmp.Or(words, fmt.Sprintf("Students will implement, test and compare linear and tree data structures in a language of kind %d, and explain what each costs (%d).", i, n))
			d.Taught.Quotes = append(d.Taught.Quotes, catalog.Evidence{SkillID: id, Quote: quote})
			if i%3 > 0 {
				d.Sent.Quotes = append(d.Sent.Quotes, catalog.Evidence{SkillID: id, Quote: quote})
			}
		}
		if i%3 > 0 {
			d.Sent.Skills = append(d.Sent.Skills, ref)
			evidence.SkillMatches = append(evidence.SkillMatches, catalog.SkillMatch{
				SkillID: id, MatchScore: 1, MatchType: catalog.ExactMatch, TransferLevel: 3, InstitutionalLevel: 3,
			})
		}
	}
	return d
}

func articulation(t testing.TB, d alignment.Decision) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := (page.Pages{}).Articulation(&b, masthead, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sheets counts the pages of a PDF by Chromium.
func sheets(pdf []byte) int { return bytes.Count(pdf, []byte("/Type /Page\n")) }

// keep writes a picture or document where PICTURES says, for people to look at.
func keep(t testing.TB, name string, data func() []byte) {
	t.Helper()
	if folder := os.Getenv("PICTURES"); folder != "" {
		if err := os.WriteFile(filepath.Join(folder, name), data(), 0o600); err != nil {
			t.Error(err)
		}
	}
}

var (
	draft    = catalog.ArticulationDraft
	inReview = catalog.ArticulationInReview
	approved = catalog.ArticulationApproved
	rejected = catalog.ArticulationRejected
)

// An articulation of one course on each side fits two sheets of A4 and of Letter, however many skills it compares.
func TestArticulationFitsTwoSheets(t *testing.T) {
	tab := browser.Start(t).Page(t, 1280, 900)
	for _, status := range []catalog.ArticulationStatus{inReview, approved, rejected} {
		for _, skills := range []int{0, 8, 16, 30, 50} {
			tab.Show(articulation(t, decision(status, skills, "")))
			for size, paper := range browser.Papers {
				pdf := tab.Print(paper)
				keep(t, fmt.Sprintf("%s-%d-%s.pdf", status, skills, size), func() []byte { return pdf })
				if n := sheets(pdf); n < 1 || n > 2 {
					t.Errorf("%s with %d skills prints on %d sheets of %s", status, skills, n, size)
				}
			}
		}
	}
}

// An articulation counts only where it is approved, and only in its period; only what is, or is to be, decided has
// lines to sign.
func TestArticulationSaysWhatIsTrue(t *testing.T) {
	period := func(from, to string) func(*catalog.Articulation) {
		return func(a *catalog.Articulation) {
			if a.EffectiveFrom = from; to != "" {
				a.EffectiveTo = &to
			}
		}
	}
	nothing := func(a *catalog.Articulation) { a.Decision, a.Receiving = catalog.NoCredit, []catalog.Grant{} }
	for _, c := range []struct {
		name      string
		status    catalog.ArticulationStatus
		change    func(*catalog.Articulation)
		want, not []string
	}{
		{"draft", draft, nil, []string{"is proposed to count as CS 330", "What would be granted", ">draft<"}, []string{"In force", "Decision", "Signature", "counts here"}},
		{"in review", inReview, nil, []string{"is proposed to count as CS 330", "Signature", "For the committee in May."}, []string{"In force", "Decision", "counts here"}},
		{"rejected", rejected, nil, []string{"was not accepted as CS 330", "No laboratory.", "What was proposed"}, []string{"In force", "Decision", "Signature", "counts here", "would freeze"}},
		{"in force", approved, nil, []string{"counts here as CS 330", "In force", "Decision", "Signature", "Approved by"}, []string{"proposed"}},
		{"last day", approved, period("2026-01-01", "2026-11-23"), []string{"counts here as CS 330"}, []string{"until 23"}},
		{"ended", approved, period("2026-01-01", "2026-11-22"), []string{"counted as CS 330, until 22 November 2026", "approved, ended", "What was granted"}, []string{"counts here"}},
		{"to come", approved, period("2026-11-24", ""), []string{"will count as CS 330, from 24 November 2026", "not yet in force"}, []string{"counts here"}},
		{"no credit", approved, nothing, []string{"receives no credit here"}, []string{"counts here"}},
		{"no credit proposed", draft, nothing, []string{"is proposed to receive no credit"}, []string{"count as"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := decision(c.status, 3, "")
			if c.change != nil {
				c.change(d.Articulation)
			}
			shown := articulation(t, d)
			for _, text := range append(c.want, "Hill &lt;College&gt;", `@bottom-left { content: "Hill \00003cCollege\00003e, `+d.Articulation.ID+`, 23 November 2026"`, "counter(page) \" of \" counter(pages)", d.Articulation.ID, "As of <time", "23 November 2026</time>") {
				if !strings.Contains(shown, text) {
					t.Errorf("lacks %q", text)
				}
			}
			_, body, _ := strings.Cut(shown, "<body>")
			for _, text := range c.not {
				if strings.Contains(body, text) {
					t.Errorf("has %q", text)
				}
			}
		})
	}
}

// hostile is a text as strangers write it: markup, a script, an override of direction, a control that would end the
// isolation, and no blank; long is the same at the length of a note.
var (
	hostile = `<img src=x onerror=alert(1)><script>alert(1)</script>` + "\u202eevil\u2069\u202e" + strings.Repeat("W", 180)
	long    = hostile + strings.Repeat("W", 9_750)
)

// shownPages has every page in its states, as written by friends and by strangers.
func shownPages(t *testing.T) map[string]string {
	pages := map[string]string{}
	for writer, words := range map[string]string{"friend": "", "stranger": hostile} {
		for _, status := range []catalog.ArticulationStatus{draft, inReview, approved, rejected} {
			d := decision(status, 6, words)
			if words != "" {
				d.Articulation.PublicNote, d.Moves[len(d.Moves)-1].Note = &long, &long
			}
			pages[fmt.Sprintf("%s-%s", status, writer)] = articulation(t, d)
		}
		for _, view := range views {
			r := college(view)
			if words != "" {
				estrange(&r, words)
			}
			var b bytes.Buffer
			if err := pageOf(r)(&b); err != nil {
				t.Fatal(err)
			}
			pages[view+"-"+writer] = b.String()
		}
		pages["map-"+writer] = mapPage(t, promising(12, 20, words))
	}
	return pages
}

// estrange gives everything in a report that has a name another one.
func estrange(r *alignment.Report, words string) {
	r.Record.Name, r.Record.Description = words, &long
	for i := range r.Courses {
		r.Courses[i].Profile.CourseName = words
		r.Courses[i].Profile.CourseCode += words
		for _, section := range r.Courses[i].Sections {
			for n := range section.SectionSkills {
				section.SectionSkills[n].SkillName = words
			}
		}
	}
	for i := range r.Jobs {
		r.Jobs[i].JobName = words
		for n := range r.Jobs[i].SkillRequirements {
			r.Jobs[i].SkillRequirements[n].SkillName = words
		}
	}
	for i := range r.Skills {
		r.Skills[i].SkillName = words
	}
}

// No page is wider than its screen, runs what strangers wrote, or has a violation of axe, on a small and a large
// screen, light and dark; every element is isolated.
func TestPagesInABrowser(t *testing.T) {
	tab := browser.Start(t).Page(t, 1280, 900)
	for name, html := range shownPages(t) {
		tab.Show(html)
		var alien []string
		tab.Eval(`[...document.querySelectorAll("script, img, iframe, object, [onerror], [style]"), ...[...document.body.querySelectorAll("*")].filter((e) => !(e instanceof SVGElement) && getComputedStyle(e).unicodeBidi !== "isolate")].map((e) => e.outerHTML.slice(0, 80))`, &alien)
		if len(alien) > 0 {
			t.Errorf("%s has %q", name, alien[:min(len(alien), 5)])
		}
		if strings.ContainsAny(html, "\u2066\u2067\u2068\u2069") {
			t.Errorf("%s has controls that end an isolation", name)
		}
		for size, paper := range browser.Papers {
			pdf := tab.Print(paper)
			keep(t, fmt.Sprintf("%s-%s.pdf", name, size), func() []byte { return pdf })
		}
		for _, width := range []int{320, 390, 1280} {
			tab.Size(width, 900)
			wide := 0
			if tab.Eval("document.documentElement.scrollWidth", &wide); wide > width {
				t.Errorf("%s is %d wide on %d", name, wide, width)
			}
			if width == 320 {
				continue
			}
			for _, dark := range []bool{false, true} {
				tab.Dark(dark)
				if violations := tab.Axe(); len(violations) > 0 {
					t.Errorf("%s at %d, dark %t: %d violations of axe, such as %s", name, width, dark, len(violations), violations[0])
				}
				keep(t, fmt.Sprintf("%s-%d-%t.png", name, width, dark), tab.Picture)
			}
		}
	}
	for _, entry := range tab.Log() {
		t.Error(entry)
	}
}
