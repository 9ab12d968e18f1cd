package dynamo_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
)

// draw is a random articulation of few values, so that many have them in common.
func draw(random *rand.Rand) *catalog.Articulation {
	one := func(values ...string) string { return values[random.IntN(len(values))] }
	a := &catalog.Articulation{
		SendingInstitution: catalog.Institution{Name: one("Hill College", "hill-college", "Lake College", "Valley")},
		Receiving:          []catalog.Grant{}, ProgramIDs: []string{}, Decision: catalog.Elective, Published: random.IntN(2) == 0,
		Status:        []catalog.ArticulationStatus{"DRAFT", "IN_REVIEW", "APPROVED", "APPROVED", "APPROVED", "REJECTED"}[random.IntN(6)],
		EffectiveFrom: one("2024-08-01", "2025-08-01", "2026-01-01", "2026-08-01"),
	}
	if random.IntN(2) == 0 {
		a.SendingInstitution.CodeType, a.SendingInstitution.Code = new("CEEB"), new(one("0042", "42", "Valley", "7"))
	}
	if random.IntN(3) > 0 {
		a.EffectiveTo = new(one("2026-12-31", "2027-07-31", "2026-08-01"))
	}
	for range 1 + random.IntN(3) {
		var courses []catalog.SendingCourse
		for range 1 + random.IntN(3) {
			courses = append(courses, catalog.SendingCourse{Code: one("CIS 10", "cis-010", "CIS 11", "ENG 1", "MATH 101", "M 5")})
		}
		a.Sending = append(a.Sending, catalog.Alternative{Courses: courses})
	}
	for range random.IntN(3) {
		a.Receiving = append(a.Receiving, catalog.Grant{CourseID: new(one("crs_a", "crs_b", "crs_c"))})
	}
	return a
}

// drawFilter is a random filter, each part of which says something half of the time.
func drawFilter(random *rand.Rand) catalog.ArticulationFilter {
	one := func(values ...string) string {
		return append(values, make([]string, len(values))...)[random.IntN(2*len(values))]
	}
	dates := []string{"2024-07-31", "2024-08-01", "2025-12-31", "2026-01-01", "2026-08-01", "2026-08-02", "2026-12-31", "2027-01-01", "2027-07-31", "2027-08-01"}
	f := catalog.ArticulationFilter{
		Institution: one("HILL COLLEGE", "0042", "Valley", "Nowhere"), SendingCode: one("CIS-10", "eng 01", "M5", "X"), CourseID: one("crs_a", "crs_b", "crs_x"),
		Status: catalog.ArticulationStatus(one("DRAFT", "IN_REVIEW", "APPROVED", "REJECTED")), AsOf: one(dates...),
	}
	if f.AsOf == "" {
		f.Lasting = one(dates...)
	}
	if random.IntN(2) == 0 {
		f.Published = new(random.IntN(2) == 0)
	}
	return f
}

// selects is ArticulationFilter.Selects, written from the contract.
func selects(f catalog.ArticulationFilter, a *catalog.Articulation) bool {
	same := func(x, y string) bool { return catalog.Normalized(x) == catalog.Normalized(y) }
	institution := f.Institution == "" || same(f.Institution, a.SendingInstitution.Name) || a.SendingInstitution.Code != nil && same(f.Institution, *a.SendingInstitution.Code)
	code, course := f.SendingCode == "", f.CourseID == ""
	for _, alternative := range a.Sending {
		for _, c := range alternative.Courses {
			code = code || same(c.Code, f.SendingCode)
		}
	}
	for _, grant := range a.Receiving {
		course = course || *grant.CourseID == f.CourseID
	}
	approved := a.Status == "APPROVED"
	notEnded := func(day string) bool { return approved && (a.EffectiveTo == nil || *a.EffectiveTo >= day) }
	return institution && code && course && (f.Status == "" || f.Status == a.Status) && (f.Published == nil || *f.Published == a.Published) &&
		(f.AsOf == "" || notEnded(f.AsOf) && a.EffectiveFrom <= f.AsOf) && (f.Lasting == "" || notEnded(f.Lasting))
}

// shelf is the articulations of a store and, in creation order, what they must be.
type shelf struct {
	store  *dynamo.Store
	random *rand.Rand
	all    []*catalog.Articulation
}

// add creates two articulations, some numbers behind the last one.
func (s *shelf) add(t *testing.T) {
	t.Helper()
	a, b := draw(s.random), draw(s.random)
	commit(t, s.store, func(change *catalog.Change) error {
		dir, err := s.store.Directory(t.Context(), org, catalog.ArticulationKind)
		if err != nil {
			return err
		}
		for range s.random.IntN(240) {
			dir.Drop(dir.Take())
		}
		change.Add(a, ids, dir, org, s.store.Now())
		change.Add(b, ids, dir, org, s.store.Now())
		return nil
	})
	s.all = append(s.all, a, b)
}

// alter gives one of the articulations other content.
func (s *shelf) alter(t *testing.T) {
	t.Helper()
	at := s.random.IntN(len(s.all))
	commit(t, s.store, func(change *catalog.Change) error {
		before := *s.all[at]
		after := draw(s.random)
		after.Meta = before.Meta
		catalog.ReplaceChanged(change, before, after, s.store.Now())
		s.all[at] = after
		return nil
	})
}

func (s *shelf) drop(t *testing.T) {
	t.Helper()
	at := s.random.IntN(len(s.all))
	commit(t, s.store, func(change *catalog.Change) error {
		dir, err := s.store.Directory(t.Context(), org, catalog.ArticulationKind)
		if err == nil {
			change.Delete(s.all[at], s.store.Now(), dir)
		}
		return err
	})
	s.all = slices.Delete(s.all, at, at+1)
}

// TestFiltersFindWhatALookAtAllFinds holds filtered pages against every record.
func TestFiltersFindWhatALookAtAllFinds(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	seed := rand.Uint64()
	s := &shelf{store, rand.New(rand.NewPCG(seed, 1)), nil}
	found := 0
	for turn := range 100 {
		switch n := s.random.IntN(8); {
		case len(s.all) < 40 || n < 3:
			s.add(t)
		case n < 7:
			s.alter(t)
		default:
			s.drop(t)
		}
		if turn%2 == 0 {
			continue
		}
		f := drawFilter(s.random)
		var want []string
		for _, a := range s.all {
			if selects(f, a) {
				want = append(want, a.ID)
			}
		}
		offset, limit := s.random.IntN(len(want)+2), 1+s.random.IntN(20)
		page, total, err := store.Articulations(t.Context(), org, f, offset, limit)
		if err != nil {
			t.Fatalf("seed %d: %+v: %v", seed, f, err)
		}
		var got []string
		for _, a := range page {
			got = append(got, a.ID)
		}
		wanted := want[min(offset, len(want)):min(offset+limit, len(want))]
		if total != len(want) || !slices.Equal(got, wanted) && len(got)+len(wanted) > 0 {
			t.Errorf("seed %d: %+v from %d, %d: %d, %v, want %d, %v", seed, f, offset, limit, total, got, len(want), wanted)
		}
		found += len(got)
		if f.Lasting != "" {
			s.lasts(t, f.Lasting)
		}
	}
	if last, _ := catalog.Sequence(catalog.ArticulationKind, s.all[len(s.all)-1].ID); last < 2048 || found < 30 {
		t.Errorf("seed %d: the last number is %d, %d records were found", seed, last, found)
	}
}

// lasts holds LastingArticulations against every record.
func (s *shelf) lasts(t *testing.T, day string) {
	t.Helper()
	var got, want []string
	err := s.store.LastingArticulations(t.Context(), org, day, func(some []*catalog.Articulation) error {
		for _, a := range some {
			got = append(got, a.ID)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range s.all {
		if selects(catalog.ArticulationFilter{Lasting: day}, a) {
			want = append(want, a.ID)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("lasting on %s: %v, want %v", day, got, want)
	}
}

// TestFilteredPagesWhileRecordsChange: nothing that a filter selects throughout is
// missing, and what comes and goes is never shown as what it is not.
func TestFilteredPagesWhileRecordsChange(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	s := &shelf{store, rand.New(rand.NewPCG(rand.Uint64(), 1)), nil}
	for range 10 {
		s.add(t)
	}
	lasting := catalog.ArticulationFilter{Institution: s.all[0].SendingInstitution.Name}
	var writers errgroup.Group
	for i, a := range s.all[1:] {
		writers.Go(func() error {
			random := rand.New(rand.NewPCG(uint64(i), 2))
			for range 5 {
				before := *a
				after := draw(random)
				after.Meta = before.Meta
				if err := tryCommit(t.Context(), store, func(change *catalog.Change) error {
					after.Meta = before.Meta
					catalog.ReplaceChanged(change, before, after, store.Now())
					return nil
				}); err != nil {
					return err
				}
				a = after
			}
			return nil
		})
	}
	done := make(chan error)
	go func() { done <- writers.Wait() }()
	for pages := 0; ; pages++ {
		page, _, err := store.Articulations(t.Context(), org, lasting, 0, 100)
		if err != nil && !isCode(err, catalog.Unavailable) {
			t.Fatal(err)
		}
		if err == nil && (len(page) == 0 || page[0].ID != s.all[0].ID) {
			t.Error("a record that is selected throughout is missing")
		}
		for _, a := range page {
			if !selects(lasting, a) {
				t.Errorf("%s is not selected", a.ID)
			}
		}
		select {
		case err := <-done:
			if err != nil || pages < 3 {
				t.Errorf("%d pages were read, %v", pages, err)
			}
			return
		default:
		}
	}
}

// TestTransferCoursesByID: an id leads to its package, whether it says so or not.
func TestTransferCoursesByID(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	var packs []*catalog.TransferPackage
	var courses []*catalog.TransferCourse
	for i := range 3 {
		commit(t, store, func(change *catalog.Change) error {
			dir, err := store.Directory(t.Context(), org, catalog.TransferPackageKind)
			if err != nil {
				return err
			}
			pack, course := &catalog.TransferPackage{Name: fmt.Sprint("P ", i)}, &catalog.TransferCourse{Name: "C", Skills: []catalog.SkillRef{}}
			change.Add(pack, ids, dir, org, store.Now())
			change.AddTransferCourse(course, pack, ids, store.Now(), 0)
			if i == 1 { // as ids were before
				course.ID = course.ID[:4+25] + "0"
			}
			packs, courses = append(packs, pack), append(courses, course)
			return nil
		})
	}
	for _, asked := range [][]int{{0, 2}, {1}, {0, 1, 2}} {
		var names []string
		for _, i := range asked {
			names = append(names, courses[i].ID)
		}
		found, packages, err := store.TransferCoursesByID(t.Context(), org, append(names, "nonsense", ids.Ordered(catalog.TransferCourseKind, 1, 0, 0)))
		if err != nil || len(found) != len(asked) {
			t.Errorf("%v: %v, %v", asked, found, err)
		}
		for _, i := range asked {
			if found[courses[i].ID] == nil || packages[courses[i].PackageID] == nil || packages[courses[i].PackageID].ID != packs[i].ID {
				t.Errorf("%v: course %d is missing", asked, i)
			}
		}
	}
}
