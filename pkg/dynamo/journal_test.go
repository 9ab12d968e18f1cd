package dynamo_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
)

type item = map[string]types.AttributeValue

// readFeed reads the feed from a cursor to its end in pieces of a size.
func readFeed(t *testing.T, store *dynamo.Store, cursor string, limit int) []catalog.RecordChange {
	t.Helper()
	var all []catalog.RecordChange
	for {
		piece, more, err := store.Changes(t.Context(), org, cursor, limit)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, piece...)
		if len(piece) > 0 {
			cursor = piece[len(piece)-1].Cursor.String()
		}
		if !more {
			return all
		}
	}
}

// Writers of two functions write while a reader follows with the cursor that it
// was given last. Nothing is lost, nothing comes twice, and the order that the
// reader saw is the order that the feed keeps.
func TestFeedLosesNothingUnderWriters(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	other := through(store, func(c call) (any, error) { return c.next() })
	const writers, each = 8, 10
	group, ctx := errgroup.WithContext(t.Context())
	for w := range writers {
		group.Go(func() error {
			from := store
			if w%2 == 1 {
				from = other
			}
			for i := range each {
				if _, err := newJob(ctx, from, fmt.Sprint(w, i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	done := make(chan error, 1)
	go func() { done <- group.Wait() }()
	var followed []catalog.RecordChange
	cursor := ""
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
		}
		for _, change := range readFeed(t, store, cursor, 5) {
			followed = append(followed, change)
			cursor = change.Cursor.String()
		}
	}
	all := readFeed(t, store, "", 7)
	if len(all) != writers*each || len(followed) != writers*each {
		t.Fatalf("the feed holds %d changes and the reader saw %d, want %d", len(all), len(followed), writers*each)
	}
	seen := map[string]bool{}
	for i, change := range all {
		if followed[i].ID != change.ID || seen[change.ID] {
			t.Fatalf("change %d was %s to the follower and is %s now", i, followed[i].ID, change.ID)
		}
		seen[change.ID] = true
	}
}

func TestCursorsLeadOn(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	const n = 30
	for i := range n {
		if _, err := newJob(t.Context(), store, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	all := readFeed(t, store, "", 4)
	if len(all) != n {
		t.Fatalf("%d changes, want %d", len(all), n)
	}
	for i, change := range all {
		rest, more, err := store.Changes(t.Context(), org, change.Cursor.String(), n)
		if err != nil || more || len(rest) != n-1-i {
			t.Errorf("%d changes behind number %d, more %v, %v", len(rest), i, more, err)
		}
	}
	if _, more, err := store.Changes(t.Context(), org, "", n); err != nil || more {
		t.Errorf("a piece that ends where the feed does says more %v, %v", more, err)
	}
	if _, more, err := store.Changes(t.Context(), org, "", n-1); err != nil || !more {
		t.Errorf("a piece that ends before the feed does says more %v, %v", more, err)
	}
	for _, cursor := range []string{"x", "c", "c-", "c1", "c1-", "c01-1", "c-1-1", "c1--1", "1-1", "c1-1 ", "c+1-1", "cZZZZZZZZZZZ-1", "C1-1"} {
		if _, _, err := store.Changes(t.Context(), org, cursor, 10); err == nil {
			t.Errorf("the made-up cursor %q was taken", cursor)
		}
	}
}

// A write whose answer comes late, when others have filled its page already, must
// not make its function believe that the next page is fuller than it is: another
// function would go on writing there, behind cursors that have moved past it.
func TestLateAnswerLeavesNoGapInTheFeed(t *testing.T) {
	t.Parallel()
	plain, _ := newStore(t)
	var late func()
	one := through(plain, func(c call) (any, error) {
		out, err := c.next()
		if meanwhile := late; c.operation == "TransactWriteItems" && meanwhile != nil {
			late = nil
			meanwhile()
		}
		return out, err
	})
	two := through(plain, func(c call) (any, error) { return c.next() })
	write := func(store *dynamo.Store, n int) {
		t.Helper()
		for range n {
			if _, err := newJob(t.Context(), store, "x"); err != nil {
				t.Fatal(err)
			}
		}
	}
	const page = 12
	write(one, page-2)
	late = func() { write(one, 1) }
	if _, err := newCourse(t.Context(), one, "two entries"); err != nil {
		t.Fatal(err)
	}
	write(two, 1) // knows the next page from now on
	write(one, page-1)
	follower := readFeed(t, plain, "", 100)
	write(two, 1)
	follower = append(follower, readFeed(t, plain, follower[len(follower)-1].Cursor.String(), 100)...)
	if all := readFeed(t, plain, "", 100); len(follower) != len(all) {
		t.Errorf("the follower saw %d of %d changes", len(follower), len(all))
	}
}

// A query reads its rows one after the other: a page may be read before its last
// entries come, or before it is there at all, and the one behind it after that. Who
// follows the feed then misses nothing, and gets it in the order of the feed.
func TestFeedReadWhileItGrows(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	const n = 30
	for i := range n {
		if _, err := newJob(t.Context(), store, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	all := readFeed(t, store, "", 100)
	for name, early := range map[string]func([]item) []item{
		"page not full":       func(rows []item) []item { return cut(rows, 1, 4) },
		"first page not full": func(rows []item) []item { return cut(rows, 0, 8) },
		"page not there": func(rows []item) []item {
			return slices.Delete(rows, 1, 2)
		},
		"first page not there": func(rows []item) []item {
			return slices.Delete(rows, 0, 1)
		},
	} {
		for _, limit := range []int{n, 5} {
			first := true
			follower := through(store, func(c call) (any, error) {
				out, err := c.next()
				if found, ok := out.(*sdk.QueryOutput); ok && first && len(found.Items) > 1 {
					first, found.Items = false, early(found.Items)
				}
				return out, err
			})
			if diff := cmp.Diff(all, readFeed(t, follower, "", limit)); diff != "" {
				t.Errorf("%s, %d at a time: %s", name, limit, diff)
			}
		}
	}
}

// cut returns rows of the feed as they were when a page had so many entries.
func cut(rows []item, page, entries int) []item {
	row := maps.Clone(rows[page])
	row["entries"] = &types.AttributeValueMemberL{Value: row["entries"].(*types.AttributeValueMemberL).Value[:entries]}
	row["filled"] = &types.AttributeValueMemberN{Value: fmt.Sprint(entries)}
	rows[page] = row
	return rows
}

// An extraction changes its record as any other change does: the feed leads to a
// section through its course and to a transfer course through its package, also
// when the job was found by the sweeper, which has keys only.
func TestFeedLeadsToExtractedRecords(t *testing.T) {
	t.Parallel()
	store, at := newStore(t)
	course, err := newCourse(t.Context(), store, "Databases")
	if err != nil {
		t.Fatal(err)
	}
	pending := catalog.Extraction{ProcessingStatus: catalog.Pending}
	section := &catalog.Section{Name: "Autumn", SyllabusHref: new("https://example.org/s.pdf")}
	transfer := &catalog.TransferCourse{Extraction: pending}
	pack := &catalog.TransferPackage{Meta: catalog.NewMeta(ids.Sequenced(catalog.TransferPackageKind, 1), org, at.Now())}
	extraction := &catalog.SyllabusExtraction{Meta: catalog.NewMeta(ids.Of(catalog.SyllabusExtractionKind), org, at.Now()), Extraction: pending}
	commit(t, store, func(change *catalog.Change) error {
		change.AddTransferCourse(transfer, pack, ids, at.Now(), 0)
		change.Create(extraction, nil)
		return change.AddSection(section, course, ids, at.Now)
	})
	want := map[string]string{
		section.ID:    "/courses/" + course.ID + "/sections/" + section.ID,
		transfer.ID:   "/transfer-packages/" + transfer.PackageID + "/courses/" + transfer.ID,
		extraction.ID: "/syllabus-extractions/" + extraction.ID,
	}
	feed := readFeed(t, store, "", 10)
	last := feed[len(feed)-1].Cursor.String()
	if err := store.Stuck(t.Context(), true, func(job catalog.ExtractionJob) error {
		task, err := store.Claim(t.Context(), job, ids.New("run_"), at.Now()+60_000)
		if err != nil {
			return err
		}
		return store.Finish(t.Context(), task, &catalog.ExtractionResult{Skills: []catalog.SkillRef{}})
	}); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, change := range readFeed(t, store, last, 10) {
		got[change.ID] = change.Kind.Href(change.ParentID, change.ID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// No effect of any type writes a row of another organization.
func TestCommitRefusesRecordsOfAnotherOrganization(t *testing.T) {
	t.Parallel()
	store, at := newStore(t)
	const other = catalog.OrgID("org_other")
	meta := func(kind catalog.Kind) catalog.Meta { return catalog.NewMeta(ids.Sequenced(kind, 0), other, at.Now()) }
	theirs := &catalog.Course{Meta: meta(catalog.CourseKind)}
	pack := &catalog.TransferPackage{Meta: meta(catalog.TransferPackageKind)}
	section := &catalog.Section{Meta: meta(catalog.SectionKind), CourseID: theirs.ID, DocumentID: new("doc_1")}
	articulation := &catalog.Articulation{Meta: meta(catalog.ArticulationKind), Sending: []catalog.Alternative{{Courses: []catalog.SendingCourse{{Code: "A"}, {Code: "B"}}}}}
	program := &catalog.Program{Meta: meta(catalog.ProgramKind)}
	imported := &catalog.Import{Meta: catalog.NewMeta(ids.New("imp_"), other, at.Now())}
	change := func(decide func(c *catalog.Change)) *catalog.Change {
		var c catalog.Change
		decide(&c)
		return &c
	}
	seen := map[string]bool{}
	for name, change := range map[string]*catalog.Change{
		"created":  change(func(c *catalog.Change) { c.Create(section, nil) }),
		"replaced": change(func(c *catalog.Change) { c.Replace(catalog.Copy(theirs), theirs, at.Now()) }),
		"deleted":  change(func(c *catalog.Change) { c.Delete(theirs, at.Now(), nil) }),
		"held":     change(func(c *catalog.Change) { c.HoldAs(theirs, "prg_1/"+theirs.ID) }),
		"revoked":  change(func(c *catalog.Change) { c.Revoke(theirs, []catalog.Reservation{{Holder: "prg_1"}}) }),
		"grown":    change(func(c *catalog.Change) { c.CountAddition(pack) }),
		"text":     change(func(c *catalog.Change) { c.StoreText(theirs, "text") }),
		"outcome":  change(func(c *catalog.Change) { c.ReplaceResult(theirs, &catalog.ExtractionResult{}) }),
		"named":    change(func(c *catalog.Change) { c.AssignExternalID(theirs, "x") }),
		"unnamed": change(func(c *catalog.Change) {
			c.Replace(&catalog.Job{External: catalog.External{ExternalID: new("x")}}, &catalog.Job{Meta: meta(catalog.JobKind)}, at.Now())
		}),
		"faceted": change(func(c *catalog.Change) { c.Create(articulation, nil) }),
		"entered": change(func(c *catalog.Change) { c.AddEntries(articulation, []*catalog.Approved{{}}) }),
		"hinted":  change(func(c *catalog.Change) { c.AddHints(articulation, []*catalog.Approved{{}}) }),
		"granted": change(func(c *catalog.Change) {
			_ = c.GrantCourses(granting(theirs.ID), map[string]*catalog.Course{theirs.ID: theirs})
		}),
		"moved":       change(func(c *catalog.Change) { c.Move(articulation, catalog.Move{}) }),
		"decided":     change(func(c *catalog.Change) { c.DecideCell(program, "out_1", theirs.ID, nil, at.Now()) }),
		"described":   change(func(c *catalog.Change) { c.SetImportDetails(imported, &catalog.ImportDetails{}) }),
		"rejected":    change(func(c *catalog.Change) { c.RejectRows(imported, catalog.ImportPosition{}, nil) }),
		"listed":      catalog.NewChange(&catalog.Directory{OrganizationID: other, Kind: catalog.CourseKind}),
		"webhooks":    catalog.NewChange(&catalog.Webhooks{OrganizationID: other}),
		"message":     catalog.NewChange(&catalog.WebhookMessage{OrganizationID: other}),
		"link":        catalog.NewChange(&catalog.Link{OrganizationID: other}),
		"idempotency": catalog.NewChange(&catalog.IdempotencyRecord{OrganizationID: other}),
	} {
		for _, e := range change.Effects() {
			seen[fmt.Sprintf("%T", e)] = true
			if err := catalog.NewChange(e).CheckOwner(org); err == nil {
				t.Errorf("%s: %T is taken for one's own", name, e)
			}
		}
		if err := store.Commit(t.Context(), org, change); err == nil || !strings.Contains(err.Error(), `belongs to the organization "org_other"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if diff := cmp.Diff(effectTypes(t), slices.Sorted(maps.Keys(seen))); diff != "" {
		t.Errorf("effects: %s", diff)
	}
	if feed, _, err := store.Changes(t.Context(), "org_other", "", 10); err != nil || len(feed) > 0 {
		t.Errorf("%v, %v", feed, err)
	}
	if feed := readFeed(t, store, "", 10); len(feed) > 0 {
		t.Errorf("the feed says %v", feed)
	}
}

// effectTypes lists the types of effects that package dynamo has rows for.
func effectTypes(t *testing.T) (types []string) {
	t.Helper()
	source, err := os.ReadFile("effects.go")
	if err != nil {
		t.Fatal(err)
	}
	_, cases, _ := strings.Cut(string(source), "switch e := e.(type) {")
	cases, _, _ = strings.Cut(cases, "\n\t}\n")
	for _, match := range regexp.MustCompile(`case (\*catalog\.\w+):`).FindAllStringSubmatch(cases, -1) {
		types = append(types, match[1])
	}
	slices.Sort(types)
	return types
}

// granting is an articulation that grants a course.
func granting(courseID string) *catalog.Articulation {
	return &catalog.Articulation{Receiving: []catalog.Grant{{CourseID: &courseID}}}
}
