package rest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/catalog"
	usecase "skillscurriculum/pkg/service"
)

// What guards a decision has to be read before what it guards. Here others change
// things between the reads of one call, and between its reads and its transactions.

// reads reports whether a call reads rows of a kind, of those with a key or with a
// query.
func (c call) reads(kind catalog.Kind) bool {
	suffix := "#" + string(kind)
	at := func(v types.AttributeValue) bool {
		pk, _ := v.(*types.AttributeValueMemberS)
		return pk != nil && (strings.HasSuffix(pk.Value, suffix) || strings.Contains(pk.Value, suffix+"#"))
	}
	switch in := c.input.(type) {
	case *sdk.GetItemInput:
		return at(in.Key["pk"])
	case *sdk.QueryInput:
		return at(in.ExpressionAttributeValues[":pk"])
	case *sdk.BatchGetItemInput:
		for _, wanted := range in.RequestItems {
			return at(wanted.Keys[0]["pk"])
		}
	}
	return false
}

// between has the first read of guard wait until what is guarded was read, where the
// service reads them in parallel, and something done between the two.
func (w *wire) between(guarded, guard catalog.Kind, something func()) {
	var mu sync.Mutex
	var seen, held bool
	read := make(chan struct{})
	w.through(func(c call) (any, error) {
		mu.Lock()
		waits := c.reads(guard) && !held
		held = held || waits
		mu.Unlock()
		if waits {
			select {
			case <-read:
			case <-time.After(time.Second): // the service reads them one after the other
			}
			something()
		}
		out, err := c.next()
		mu.Lock()
		defer mu.Unlock()
		if c.reads(guarded) && !seen {
			seen = true
			close(read)
		}
		return out, err
	})
}

func TestPackageIsReadBeforeItsCourses(t *testing.T) {
	t.Parallel()
	s := newService(t)
	w := s.tap()
	// One function does both, so that no page of the feed is stale to it.
	fifty := `{"courses":[` + strings.TrimSuffix(strings.Repeat(`{"name":"X"},`, 50), ",") + `]}`
	pack := func() (id, path string) {
		id = s.one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I","courses":[{"name":"X"}]}`).text("id")
		return id, "/transfer-packages/" + id
	}
	id, path := pack()
	w.between(catalog.TransferCourseKind, catalog.TransferPackageKind, func() { s.one.must(201, "POST", path+"/courses", `{"courses":[{"name":"Y"}]}`) })
	s.one.must(204, "DELETE", path, "")
	w.through(nil)
	if left, err := usecase.All[*catalog.TransferCourse](t.Context(), s.store, "org_one", id); err != nil || len(left) > 0 {
		t.Errorf("%d courses outlive their package, %v", len(left), err)
	}

	_, path = pack()
	for range 18 {
		s.one.must(201, "POST", path+"/courses", fifty)
	}
	w.between(catalog.TransferCourseKind, catalog.TransferPackageKind, func() { s.one.must(201, "POST", path+"/courses", fifty) })
	s.one.must(201, "POST", path+"/courses", `{"courses":[{"name":"Y"}]}`)
	w.between(catalog.TransferCourseKind, catalog.TransferPackageKind, func() {
		s.one.must(201, "POST", path+"/courses", `{"courses":[`+strings.TrimSuffix(strings.Repeat(`{"name":"Z"},`, 48), ",")+`]}`)
	})
	s.one.must(409, "POST", path+"/courses", `{"courses":[{"name":"Y"}]}`)
}

// member is one way to hold a course.
type member struct {
	container, path, body string // of the request that puts the course in
	course                string
}

func (c client) members() map[string]member {
	program, credential := c.must(201, "POST", "/programs", `{"name":"P"}`).text("id"), c.must(201, "POST", "/credentials", `{"name":"C"}`).text("id")
	a, b := c.course("A"), c.course("B")
	section := b.text("defaultSectionId")
	return map[string]member{
		"Program":    {program, "/programs/" + program + "/courses", fmt.Sprintf(`{"courseId":%q}`, a.text("id")), a.text("id")},
		"Credential": {credential, "/credentials/" + credential + "/sections", fmt.Sprintf(`{"sectionId":%q}`, section), b.text("id")},
	}
}

// id is the id of the member in paths.
func (m member) id() string { return strings.Split(m.body, `"`)[3] }

// A member is taken out between the look at its course and the look at what it is
// put into: its hold is gone by then and has to be taken anew.
func TestMemberIsPutInWhileItIsTakenOut(t *testing.T) {
	t.Parallel()
	s := newService(t)
	other := s.function()
	w := s.tap()
	for kind, m := range s.one.members() {
		s.one.must(200, "POST", m.path, m.body)
		w.between(catalog.CourseKind, catalog.Kind(kind), func() { other.one.must(204, "DELETE", m.path+"/"+m.id(), "") })
		s.one.must(200, "POST", m.path, m.body)
		w.through(nil)
		s.one.must(409, "DELETE", "/courses/"+m.course, "")
	}
}

// A hold that nobody has does not keep a course, but the holder may take it
// again right before the course is deleted.
func TestStaleHoldIsTakenAgain(t *testing.T) {
	t.Parallel()
	s := newService(t)
	other := s.function()
	w := s.tap()
	for kind, m := range s.one.members() {
		course, err := usecase.Get[*catalog.Course](t.Context(), s.store, "org_one", m.course, true)
		if err != nil {
			t.Fatal(err)
		}
		stale := &catalog.Change{}
		stale.HoldAs(course, m.container+"/"+m.id())
		if err := s.store.Commit(t.Context(), "org_one", stale); err != nil {
			t.Fatal(err)
		}
		w.beside(func() { other.one.must(200, "POST", m.path, m.body) })
		s.one.must(409, "DELETE", "/courses/"+m.course, "")
		w.through(nil)
		s.one.must(204, "DELETE", m.path+"/"+m.id(), "")
		if course, err = usecase.Get[*catalog.Course](t.Context(), s.store, "org_one", m.course, true); err != nil || len(course.HeldBy) > 0 {
			t.Errorf("%s: held by %v, %v", kind, course.HeldBy, err)
		}
		s.one.must(204, "DELETE", "/courses/"+m.course, "")
	}
}

// many makes courses, with a section each.
func (c client) many(n int) (courses, sections []string) {
	for i := range n {
		course := c.course(fmt.Sprint(i))
		courses, sections = append(courses, course.text("id")), append(sections, course.text("defaultSectionId"))
	}
	return courses, sections
}

// credentialOf is the body that puts sections into a credential.
func credentialOf(sections []string) string {
	return `{"name":"C","courseSectionIds":["` + strings.Join(sections, `","`) + `"]}`
}

// saves reports whether a call saves a live record of a kind.
func (c call) saves(kind catalog.Kind) bool {
	in, ok := c.input.(*sdk.TransactWriteItemsInput)
	if !ok {
		return false
	}
	for _, action := range in.TransactItems {
		key := map[string]types.AttributeValue{}
		if action.Put != nil {
			key = action.Put.Item
		} else if action.Update != nil {
			key = action.Update.Key
		}
		pk, ok := key["pk"].(*types.AttributeValueMemberS)
		if ok && strings.HasPrefix(pk.Value+"#", "o#org_one#"+string(kind)+"#") {
			return true
		}
	}
	return false
}

// heldCourses counts the courses that something holds, as they record it.
func (s *service) heldCourses(t *testing.T, ids []string) (held int) {
	t.Helper()
	courses, err := usecase.GetByID[*catalog.Course](t.Context(), s.store, "org_one", ids, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, course := range courses {
		if len(course.HeldBy) > 0 {
			held++
		}
	}
	return held
}

// before runs something once, right before the first transaction that saves a record
// of the kind.
func (w *wire) before(kind catalog.Kind, something func()) {
	done := false
	w.through(func(c call) (any, error) {
		if c.saves(kind) && !done {
			done = true
			something()
		}
		return c.next()
	})
}

// deleteWhileSaved has another function delete a path right before this one saves a
// record of the kind: it looks at what holds the path before that, and deletes after it.
// The response comes from the channel.
func (s *service) deleteWhileSaved(kind catalog.Kind, path string) <-chan reply {
	deleting := s.function()
	saving, looking := s.tap(), deleting.tap()
	looked, saved, deleted := make(chan struct{}), make(chan struct{}), make(chan reply, 1)
	looking.beside(func() {
		close(looked)
		<-saved
	})
	begun := false
	saving.through(func(c call) (any, error) {
		if !c.saves(kind) || begun {
			return c.next()
		}
		begun = true
		go func() { deleted <- deleting.one.do("DELETE", path, "") }()
		<-looked
		defer close(saved)
		return c.next()
	})
	return deleted
}

// A credential of more sections than a transaction holds: a course that is deleted
// after it was held, and before the credential is saved, is not put in; and what was
// held in vain is free again.
func TestCourseGoesBeforeALargeCredentialIsSaved(t *testing.T) {
	t.Parallel()
	s := newService(t)
	other := s.function()
	w := s.tap()
	courses, sections := s.one.many(104)
	credential := s.one.must(201, "POST", "/credentials", `{"name":"C"}`).text("id")
	for i, request := range []struct{ method, path string }{{"PATCH", "/credentials/" + credential}, {"POST", "/credentials"}} {
		gone := courses[i*100]
		w.before(catalog.CredentialKind, func() { other.one.must(204, "DELETE", "/courses/"+gone, "") })
		s.one.must(422, request.method, request.path, credentialOf(sections)).want("errors.0.location", fmt.Sprintf("body.courseSectionIds[%d]", i*100))
		w.through(nil)
		if held := s.heldCourses(t, courses); held > 0 {
			t.Errorf("%s: %d courses are held in vain", request.method, held)
		}
		again := s.one.course("again")
		courses[i*100], sections[i*100] = again.text("id"), again.text("defaultSectionId")
	}
	s.one.must(200, "PATCH", "/credentials/"+credential, credentialOf(sections))
	if held := s.heldCourses(t, courses); held != len(courses) {
		t.Errorf("%d of %d courses are held", held, len(courses))
	}
	left, err := s.store.Reservations(t.Context(), "org_one", []string{credential})
	if err != nil || len(left) > 0 {
		t.Errorf("reservations %v, %v", left, err)
	}
}

// The other way round: the credential is saved after the look at its holds, and
// before the course is deleted.
func TestLargeCredentialIsSavedBeforeACourseGoes(t *testing.T) {
	t.Parallel()
	s := newService(t)
	courses, sections := s.one.many(104)
	credential := s.one.must(201, "POST", "/credentials", `{"name":"C"}`).text("id")
	deleted := s.deleteWhileSaved(catalog.CredentialKind, "/courses/"+courses[70])
	s.one.must(200, "PATCH", "/credentials/"+credential, credentialOf(sections))
	if r := <-deleted; r.Status != 409 {
		t.Errorf("%s: %d %s", r.call, r.Status, r.Body)
	}
}

// uploaded uploads files, and returns the documents and the body that makes a transfer
// course of each.
func (c client) uploaded(n int) (documents []string, body string) {
	courses := make([]string, n)
	for i := range n {
		id := c.document(fmt.Sprint("SQL ", i))
		documents, courses[i] = append(documents, id), fmt.Sprintf(`{"name":"X","documentId":%q}`, id)
	}
	return documents, `{"courses":[` + strings.Join(courses, ",") + `]}`
}

// heldDocuments counts the documents that something holds, as they record it.
func (s *service) heldDocuments(t *testing.T, ids []string) (held int) {
	t.Helper()
	documents, err := usecase.GetByID[*catalog.Document](t.Context(), s.store, "org_one", ids, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range documents {
		held += len(document.HeldBy)
	}
	return held
}

// The same for transfer courses of more documents than fit into their transaction: a
// document that is deleted after it was held, and before they are saved, is not named
// by any of them.
func TestDocumentGoesBeforeManyCoursesAreSaved(t *testing.T) {
	t.Parallel()
	s := newService(t)
	other := s.function()
	w := s.tap()
	documents, body := s.one.uploaded(50)
	pack := s.one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I"}`).text("id")
	path := "/transfer-packages/" + pack + "/courses"
	w.before(catalog.TransferCourseKind, func() { other.one.must(204, "DELETE", "/documents/"+documents[20], "") })
	s.one.must(422, "POST", path, body).want("errors.0.location", "body.courses[20].documentId")
	w.through(nil)
	if held := s.heldDocuments(t, documents); held > 0 {
		t.Errorf("%d documents are held in vain", held)
	}
	again := s.one.document("SQL again")
	s.one.must(201, "POST", path, strings.Replace(body, documents[20], again, 1))
	documents[20] = again
	if held := s.heldDocuments(t, documents); held != len(documents) {
		t.Errorf("%d of %d documents are held", held, len(documents))
	}
	left, err := s.store.Reservations(t.Context(), "org_one", []string{pack})
	if err != nil || len(left) > 0 {
		t.Errorf("reservations %v, %v", left, err)
	}
}

// The other way round: the courses are saved after the look at the document's holds,
// and before it is deleted.
func TestManyCoursesAreSavedBeforeADocumentGoes(t *testing.T) {
	t.Parallel()
	s := newService(t)
	documents, body := s.one.uploaded(50)
	deleted := s.deleteWhileSaved(catalog.TransferCourseKind, "/documents/"+documents[30])
	s.one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I",`+body[1:])
	if r := <-deleted; r.Status != 409 {
		t.Errorf("%s: %d %s", r.call, r.Status, r.Body)
	}
}

// Members come and go, alone and by the hundred, while their courses are deleted, with
// every call of the table late by chance. In the end nothing contains what is gone,
// and every course knows what contains it.
func TestHoldsUnderChance(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for round, size := range []int{3, 104} {
		courses, sections := s.one.many(size)
		credential := s.one.must(201, "POST", "/credentials", `{"name":"C"}`).text("id")
		program := s.one.must(201, "POST", "/programs", `{"name":"P"}`).text("id")
		var workers sync.WaitGroup
		for worker := range 6 {
			random := rand.New(rand.NewPCG(uint64(round), uint64(worker)))
			var mu sync.Mutex
			f := s.function()
			f.tap().through(func(c call) (any, error) {
				mu.Lock()
				late := time.Duration(random.IntN(8)) * time.Millisecond
				mu.Unlock()
				time.Sleep(late)
				return c.next()
			})
			workers.Go(func() {
				for range 8 {
					mu.Lock()
					i := random.IntN(3)
					mu.Unlock()
					course, section := courses[i], sections[i]
					switch worker {
					case 0:
						f.one.do("POST", "/credentials/"+credential+"/sections", fmt.Sprintf(`{"sectionId":%q}`, section))
					case 1:
						f.one.do("DELETE", "/credentials/"+credential+"/sections/"+section, "")
					case 2:
						f.one.do("POST", "/programs/"+program+"/courses", fmt.Sprintf(`{"courseId":%q}`, course))
					case 3:
						f.one.do("DELETE", "/programs/"+program+"/courses/"+course, "")
					case 4:
						f.one.do("PATCH", "/credentials/"+credential, credentialOf(sections))
					case 5:
						f.one.do("DELETE", "/courses/"+course, "")
					}
				}
			})
		}
		workers.Wait()
		all, err := usecase.GetByID[*catalog.Course](t.Context(), s.store, "org_one", courses, true)
		if err != nil {
			t.Fatal(err)
		}
		holds := func(course, holder string) {
			switch found := all[course]; {
			case found == nil:
				t.Errorf("round %d: %s holds a course that is gone", round, holder)
			case !strings.Contains(strings.Join(found.HeldBy, " "), holder):
				t.Errorf("round %d: a course does not know %s", round, holder)
			}
		}
		c, err := usecase.Get[*catalog.Credential](t.Context(), s.store, "org_one", credential, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, section := range c.Sections {
			holds(section.CourseID, credential+"/"+section.SectionID)
		}
		p, err := usecase.Get[*catalog.Program](t.Context(), s.store, "org_one", program, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, course := range p.CourseOrder {
			holds(course, program+"/"+course)
		}
	}
}

// A record whose number another one took in the meantime is created after that one:
// lists are in the order of createdAt.
func TestCreatedAtFollowsTheList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		list, body string
		kind       catalog.Kind
	}{
		{"/jobs", `{"name":"J","employerId":"e"}`, catalog.JobKind},
		{"/courses", `{"name":"C","code":"C 1"}`, catalog.CourseKind},
		{"/reports", `{"name":"R","settings":{"skills":[{"id":%q}]}}`, catalog.ReportKind},
		{"/articulations", `{"sendingInstitution":{"name":"I"},"sending":[{"courses":[{"code":"A 1"}]}],"receiving":[{"label":"L"}],"decision":"ELECTIVE","effectiveFrom":"2026-01-01"}`, catalog.ArticulationKind},
	} {
		s := newService(t)
		if c.kind == catalog.ReportKind {
			c.body = fmt.Sprintf(c.body, s.one.known(1)[0])
		}
		other := s.function()
		s.tap().before(c.kind, func() {
			s.clock.Add(1000)
			other.one.must(201, "POST", c.list, c.body)
			s.clock.Add(1000)
		})
		s.one.must(201, "POST", c.list, c.body)
		page := s.one.must(200, "GET", c.list, "")
		if first, second := page.text("data.0.createdAt"), page.text("data.1.createdAt"); first >= second {
			t.Errorf("%s lists one of %s before one of %s", c.list, first, second)
		}
	}
	s := newService(t)
	course := s.one.course("C").text("id")
	path := "/courses/" + course + "/sections"
	other := s.function()
	s.tap().before(catalog.SectionKind, func() {
		s.clock.Add(1000)
		other.one.must(201, "POST", path, `{"name":"S"}`)
		s.clock.Add(1000)
	})
	s.one.must(201, "POST", path, `{"name":"S"}`)
	sections := s.one.must(200, "GET", "/courses/"+course, "")
	created := func(i int) string {
		return s.one.must(200, "GET", path+"/"+sections.text(fmt.Sprintf("sections.%d.id", i)), "").text("createdAt")
	}
	if first, second := created(1), created(2); first >= second {
		t.Errorf("a course names a section of %s before one of %s", first, second)
	}
}

// A request whose time is up is 503, whatever it waits for: the store is what does not
// respond in time.
func TestTimeIsUp(t *testing.T) {
	t.Parallel()
	s := newService(t)
	course := "/v1/courses/" + s.one.course("C").text("id")
	for _, try := range []struct{ method, path, key, body string }{
		{"GET", course, s.one.key, ""},
		{"GET", "/v1/courses", s.one.key, ""},
		{"POST", "/v1/courses", s.one.key, `{"name":"N","code":"C 2"}`},
		{"PATCH", course, s.one.key, `{"name":"N"}`},
		{"POST", "/v1/reports", s.one.key, `{"name":"R","settings":{"skills":[]}}`},
		{"GET", course, ids.NewSecret(), ""},
	} {
		ctx, cancel := context.WithDeadline(t.Context(), time.Now())
		request := httptest.NewRequestWithContext(ctx, try.method, try.path, strings.NewReader(try.body))
		request.Header.Set("X-API-Key", try.key)
		request.Header.Set("Content-Type", "application/json")
		recorder := httptest.NewRecorder()
		s.server.ServeHTTP(recorder, request)
		cancel()
		if recorder.Code != http.StatusServiceUnavailable || recorder.Header().Get("Retry-After") == "" || recorder.Header()["X-RateLimit-Cost"][0] != "0" {
			t.Errorf("%s %s: %d %v %s", try.method, try.path, recorder.Code, recorder.Header(), recorder.Body)
		}
	}
}
