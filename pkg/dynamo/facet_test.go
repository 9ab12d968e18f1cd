package dynamo_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
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
		change.Add(a, ids, dir, s.store.Now)
		change.Add(b, ids, dir, s.store.Now)
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
	if last, _ := catalog.Sequence(catalog.ArticulationKind, s.all[len(s.all)-1].ID); last < 2048 || found < 10 {
		t.Errorf("seed %d: the last number is %d, %d records were found", seed, last, found)
	}
}

// lasts holds LastingArticulations against every record.
func (s *shelf) lasts(t *testing.T, day string) {
	t.Helper()
	var got, want []string
	numbers, err := s.store.LastingArticulations(t.Context(), org, day)
	if err != nil {
		t.Fatal(err)
	}
	articulations, err := s.store.ArticulationsByNumber(t.Context(), org, numbers, catalog.IssueFields, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range articulations {
		got = append(got, a.ID)
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
			change.Add(pack, ids, dir, store.Now)
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

// TestCodesOfOneRow: articulations whose codes all belong to one row are created, and
// the row keeps nothing of codes that they have no more.
func TestCodesOfOneRow(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	var codes []string
	for i := 0; len(codes) < 4100; i++ {
		code := fmt.Sprintf("%050d", 1_000_000+i) // as long as a code may be
		if sum := sha256.Sum256([]byte(catalog.Normalized(code))); sum[1]%64 == 0 {
			codes = append(codes, code)
		}
	}
	with := func(codes []string) *catalog.Articulation {
		a := &catalog.Articulation{Status: catalog.ArticulationDraft, ProgramIDs: []string{}, Receiving: []catalog.Grant{}}
		for some := range slices.Chunk(codes, 10) {
			var alternative catalog.Alternative
			for _, code := range some {
				alternative.Courses = append(alternative.Courses, catalog.SendingCourse{Code: code})
			}
			a.Sending = append(a.Sending, alternative)
		}
		return a
	}
	var last *catalog.Articulation
	for some := range slices.Chunk(codes[:4000], 100) {
		last = with(some)
		commit(t, store, func(change *catalog.Change) error {
			dir, err := store.Directory(t.Context(), org, catalog.ArticulationKind)
			change.Add(last, ids, dir, store.Now)
			return err
		})
	}
	holds := func(code string, want int) {
		t.Helper()
		page, total, err := store.Articulations(t.Context(), org, catalog.ArticulationFilter{SendingCode: code}, 0, 100)
		if err != nil || total != want || len(page) != want {
			t.Errorf("%s is found %d times, %v", code, total, err)
		}
	}
	before := *last
	after := with(codes[4000:])
	after.Meta = before.Meta
	size := codeRows(t, store)
	commit(t, store, func(change *catalog.Change) error {
		catalog.ReplaceChanged(change, before, after, store.Now())
		return nil
	})
	if again := codeRows(t, store); again != size {
		t.Errorf("the row has %d bytes after a change of codes, %d before", again, size)
	}
	if full := size / 40 * 64; full > 396<<10 {
		t.Errorf("64 articulations take %d bytes", full)
	}
	holds(codes[0], 1)
	holds(codes[3999], 0)
	holds(codes[4000], 1)
}

// codeRows returns the size of the one row of codes.
func codeRows(t *testing.T, store *dynamo.Store) (size int) {
	t.Helper()
	in := partition(store.Table, "o#"+string(org)+"#facet#Articulation")
	in.KeyConditionExpression = aws.String("pk = :pk AND begins_with(sk, :code)")
	in.ExpressionAttributeValues[":code"] = &types.AttributeValueMemberS{Value: "code#"}
	out, err := store.Client.Query(t.Context(), in)
	if err != nil || len(out.Items) != 1 {
		t.Fatalf("%d rows, %v", len(out.Items), err)
	}
	for name, v := range out.Items[0] {
		size += len(name)
		if set, ok := v.(*types.AttributeValueMemberSS); ok {
			for _, code := range set.Value {
				size += 1 + len(code)
			}
		}
	}
	return size
}

// TestApprovedDivides: what is approved under a key may be more than a row holds. All of
// it is found, the newest entry of an articulation counts, and of two that enter others at
// the same time one has to decide anew.
func TestApprovedDivides(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	under := []catalog.ApprovedKey{{Institution: "hillcollege", Codes: "a"}}
	read := func() []*catalog.Approved {
		t.Helper()
		rows, err := store.Approved(t.Context(), org, under)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	numbered := func(seq int, from string) *catalog.Articulation {
		return &catalog.Articulation{Meta: catalog.Meta{ID: ids.Sequenced(catalog.ArticulationKind, seq), OrganizationID: org}, EffectiveFrom: from}
	}
	const each, most = 100, 3200
	for made := 0; made < most; made += each {
		commit(t, store, func(change *catalog.Change) error {
			rows := read()
			for i := range each {
				a := numbered(1_000_000_000+made+i, "2026-08-01")
				a.EffectiveTo = new("2027-07-31")
				if i%2 == 0 {
					change.AddEntries(a, rows)
				}
			}
			return nil
		})
		commit(t, store, func(change *catalog.Change) error {
			change.AddHints(numbered(1_000_000_001+made, ""), read())
			return nil
		})
	}
	all := read()[0]
	if want := most/2 + most/each; len(all.Periods) != want || all.Parts != 1 {
		t.Errorf("%d entries in %d parts, want %d", len(all.Periods), all.Parts, want)
	}
	commit(t, store, func(change *catalog.Change) error {
		change.AddEntries(numbered(1_000_000_000, "2030-01-01"), read())
		return nil
	})
	if period := read()[0].Periods[1_000_000_000]; period != "2030-01-01/" {
		t.Errorf("the period is %s", period)
	}
	var one, two catalog.Change
	one.AddEntries(numbered(1, "2026-08-01"), read())
	two.AddEntries(numbered(2, "2026-08-01"), read())
	if err := store.Commit(t.Context(), org, &one); err != nil {
		t.Fatal(err)
	}
	if err := store.Commit(t.Context(), org, &two); err != catalog.ErrStale {
		t.Errorf("the second of two at the same time: %v", err)
	}
	out, err := store.Client.Query(t.Context(), partition(store.Table, "o#"+string(org)+"#approved"))
	if err != nil || len(out.Items) != 2 {
		t.Fatalf("%d rows, %v", len(out.Items), err)
	}
	for _, row := range out.Items {
		size := 0
		for name, v := range row {
			if s, ok := v.(*types.AttributeValueMemberS); ok {
				size += len(name) + len(s.Value)
			}
		}
		if size > 36<<10 { // 40 of them are far from the 4 MB of a transaction
			t.Errorf("a row has %d bytes", size)
		}
	}
}
