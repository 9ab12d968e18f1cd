package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/service"
)

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ,.-"

// noise is a text that does not compress.
func noise(n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(letters[rand.N(len(letters))])
	}
	return b.String()
}

// reviewedSection is a section with as many skills and reviews as a record has.
func reviewedSection(noteLength int) *catalog.Section {
	s := &catalog.Section{Name: noise(255), Description: new(noise(2000)), SyllabusHref: new("https://example.org/" + noise(100))}
	for i := range catalog.MaxReviews {
		skill := catalog.SkillRef{SkillID: fmt.Sprintf("http://data.europa.eu/esco/skill/%036d", i), SkillName: noise(60), Level: 3, Confidence: 1}
		s.Skills = append(s.Skills, skill)
		s.Reviews = append(s.Reviews, catalog.Review{
			SkillID: skill.SkillID, SkillName: skill.SkillName, Verdict: catalog.Accepted, Level: new(3), Note: new(noise(noteLength)),
			ReviewedAt: 1_795_000_000_000, KeyID: "key_0123456789abcdefghijklmn", Extracted: &catalog.Finding{Level: 2, Confidence: .75},
		})
	}
	return s
}

// The largest course that the contract allows takes many times what one transaction
// does: it is made, changed, extracted and deleted all the same.
func TestLargestCourse(t *testing.T) {
	const sections = 60
	store, at := newStore(t)
	ctx := t.Context()
	course, err := newCourse(ctx, store, "Largest")
	if err != nil {
		t.Fatal(err)
	}
	added := []string{}
	for range sections {
		s := reviewedSection(300)
		s.ProcessingStatus = catalog.Pending
		commit(t, store, func(change *catalog.Change) error {
			before, err := service.Get[*catalog.Course](ctx, store, org, course.ID, true)
			if err != nil {
				return err
			}
			return change.AddSection(s, before, ids, store.Now)
		})
		added = append(added, s.ID)
	}
	load := func() map[string]*catalog.Section {
		t.Helper()
		found, err := service.GetByID[*catalog.Section](ctx, store, org, added, true)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}

	// All at once is more than can be saved together, and says so; one by one it is not.
	var all catalog.Change
	for _, s := range load() {
		before := *s
		s.InstructorID = new("i")
		all.Replace(&before, s, store.Now())
	}
	if err := store.Commit(ctx, org, &all); !isCode(err, catalog.Conflict) {
		t.Fatalf("all sections at once: %v", err)
	}
	for _, s := range load() {
		var change catalog.Change
		before := *s
		s.InstructorID = new("i")
		change.Replace(&before, s, store.Now())
		if err := store.Commit(ctx, org, &change); err != nil {
			t.Fatal(err)
		}
	}

	for _, id := range added {
		task, err := store.Claim(ctx, catalog.ExtractionJob{OrganizationID: org, Kind: catalog.SectionKind, ID: id}, "lease", store.Now()+60_000)
		if err != nil {
			t.Fatal(err)
		}
		found := reviewedSection(0).Skills
		if err := store.Finish(ctx, task, &catalog.ExtractionResult{Skills: found, Text: noise(1000)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range load() {
		if s.ProcessingStatus != catalog.Completed || len(s.Skills) != catalog.MaxReviews || len(s.Reviews) != catalog.MaxReviews {
			t.Fatalf("%s is %s with %d skills and %d reviews", s.ID, s.ProcessingStatus, len(s.Skills), len(s.Reviews))
		}
	}

	// One that breaks off after the course and some of its sections is finished by the sweeper.
	remove := func(store *dynamo.Store) error {
		course, err := service.Get[*catalog.Course](ctx, store, org, course.ID, true)
		if err != nil {
			return err
		}
		dir, err := store.Directory(ctx, org, catalog.CourseKind)
		if err != nil {
			return err
		}
		var change catalog.Change
		change.Delete(course, store.Now(), dir)
		for _, ref := range course.Sections {
			s, err := service.Get[*catalog.Section](ctx, store, org, ref.ID, true)
			if err != nil {
				return err
			}
			change.Delete(s, store.Now(), nil)
		}
		return store.Commit(ctx, org, &change)
	}
	saved, broken := 0, errors.New("broken off")
	breaking := through(store, func(c call) (any, error) {
		if c.operation == "TransactWriteItems" {
			if saved++; saved > 2 {
				return nil, broken
			}
		}
		return c.next()
	})
	if err := remove(breaking); !errors.Is(err, broken) {
		t.Fatalf("deletion: %v", err)
	}
	left := len(load())
	if left == 0 || left == sections {
		t.Fatalf("%d sections are left", left)
	}
	at.Add(dynamo.SweepGrace + 1)
	for range 2 { // the second finds that nothing is left
		if err := store.CompleteDeletions(ctx, noFile); err != nil {
			t.Fatal(err)
		}
	}
	if left := len(load()); left != 0 {
		t.Errorf("%d sections are left", left)
	}
	if _, err := service.Get[*catalog.Course](ctx, store, org, course.ID, true); !isCode(err, catalog.NotFound) {
		t.Errorf("course: %v", err)
	}
}

func noFile(context.Context, catalog.OrgID, string) error { return nil }

// The notes of 500 reviews that are as long as the contract allows do not fit a row: that is a
// conflict.
func TestReviewsBeyondTheirRow(t *testing.T) {
	store, _ := newStore(t)
	course, err := newCourse(t.Context(), store, "C")
	if err != nil {
		t.Fatal(err)
	}
	section, err := service.Get[*catalog.Section](t.Context(), store, org, course.DefaultSectionID, true)
	if err != nil {
		t.Fatal(err)
	}
	before := *section
	section.Reviews = reviewedSection(1000).Reviews
	var change catalog.Change
	change.Replace(&before, section, store.Now())
	if err := store.Commit(t.Context(), org, &change); !isCode(err, catalog.Conflict) {
		t.Errorf("saved: %v", err)
	}
}

// A record that no sweep can finish keeps none behind it waiting, and comes last in the
// next sweep.
func TestSweepGoesOn(t *testing.T) {
	store, at := newStore(t)
	ctx := t.Context()
	broken := errors.New("no access")
	orgs := []catalog.OrgID{"org_first", "org_bad", "org_last"}
	for _, org := range orgs {
		document := &catalog.Document{Meta: catalog.NewMeta(ids.New("doc_"), org, store.Now())}
		expired := &catalog.Document{Meta: catalog.NewMeta(ids.New("doc_"), org, store.Now())}
		var change, deletion catalog.Change
		change.Create(document, nil)
		change.Create(expired, nil)
		if err := store.Commit(ctx, org, &change); err != nil {
			t.Fatal(err)
		}
		deletion.Delete(document, store.Now(), nil)
		if err := store.Commit(ctx, org, &deletion); err != nil {
			t.Fatal(err)
		}
		at.Add(10)
	}
	at.Add(catalog.DocumentTTL + 2*dynamo.SweepGrace)
	var visited []catalog.OrgID
	visit := func(org catalog.OrgID) error {
		visited = append(visited, org)
		if org == "org_bad" {
			return broken
		}
		return nil
	}
	removeFile := func(_ context.Context, org catalog.OrgID, _ string) error { return visit(org) }
	uploaded := func(_ context.Context, org catalog.OrgID, _ string) (catalog.Time, bool, error) {
		return 0, true, visit(org)
	}
	for name, sweep := range map[string]func() error{
		"deletions": func() error { return store.CompleteDeletions(ctx, removeFile) },
		"uploads":   func() error { return store.ExpireDocuments(ctx, uploaded) },
	} {
		for _, want := range []string{"[org_first org_bad org_last]", "[]", "[org_bad]"} {
			visited = nil
			err := sweep()
			if got := fmt.Sprint(visited); got != want {
				t.Errorf("%s visited %s, want %s", name, got, want)
			}
			var unfinished *catalog.Unfinished
			if is := errors.As(err, &unfinished); is != (len(visited) > 0) || is && (unfinished.OrganizationID != "org_bad" || unfinished.Kind != catalog.DocumentKind || !errors.Is(err, broken)) {
				t.Errorf("%s: %v", name, err)
			}
			if want == "[]" {
				at.Add(dynamo.SweepGrace + 1)
			}
		}
	}
}

// A deletion does not follow the extractor from course to course: what it deletes ahead is no longer extracted.
func TestDeletionsOvertakeTheExtractor(t *testing.T) {
	const courses, each = 400, 2 // courses that are extracted during each transaction
	store, _ := newStore(t)
	ctx := t.Context()
	var pack *catalog.TransferPackage
	for first := 0; first < courses; first += 40 {
		commit(t, store, func(change *catalog.Change) error {
			dir, err := store.Directory(ctx, org, catalog.TransferPackageKind)
			if err != nil {
				return err
			}
			if first == 0 {
				pack = &catalog.TransferPackage{Name: "P"}
				change.Add(pack, ids, dir, store.Now)
			}
			for i := range 40 {
				course := &catalog.TransferCourse{Name: "C", Extraction: catalog.Extraction{ProcessingStatus: catalog.Pending}}
				change.AddTransferCourse(course, pack, ids, store.Now(), first+i)
			}
			return nil
		})
	}
	all, err := service.All[*catalog.TransferCourse](ctx, store, org, pack.ID)
	if err != nil || len(all) != courses {
		t.Fatalf("%d courses, %v", len(all), err)
	}
	var jobs []catalog.ExtractionJob
	for _, course := range all {
		jobs = append(jobs, catalog.JobOf(course))
	}
	transactions, next := 0, courses/4
	extracting := through(store, func(c call) (any, error) {
		if c.operation == "TransactWriteItems" {
			transactions++
			for done := 0; done < each && next < courses; next++ {
				task, err := store.Claim(ctx, jobs[next], "run", store.Now()+60_000)
				if err == nil {
					err = store.Finish(ctx, task, &catalog.ExtractionResult{})
				}
				if err == nil {
					done++
				} else if !errors.Is(err, catalog.ErrFinished) {
					t.Error(err)
				}
			}
		}
		return c.next()
	})
	var change catalog.Change
	dir, err := store.Directory(ctx, org, catalog.TransferPackageKind)
	if err != nil {
		t.Fatal(err)
	}
	change.Delete(pack, store.Now(), dir)
	for _, course := range all {
		change.Delete(course, store.Now(), nil)
	}
	if err := extracting.Commit(ctx, org, &change); err != nil {
		t.Fatal(err)
	}
	left, err := service.All[*catalog.TransferCourse](ctx, store, org, pack.ID)
	if err != nil || len(left) > 0 {
		t.Errorf("%d courses are left, %v", len(left), err)
	}
	if transactions > courses/10 {
		t.Errorf("%d courses took %d transactions", courses, transactions)
	}
}
