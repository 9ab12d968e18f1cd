package rest_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/catalog"
)

const keyHeader = "Idempotency-Key"

func (c client) total(path string) int {
	c.s.t.Helper()
	return c.must(200, "GET", path, "").number("pagination.total")
}

func TestReplay(t *testing.T) {
	t.Parallel()
	s := newService(t)
	course := s.one.course("A")
	section := course.text("defaultSectionId")
	pack := s.one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I"}`).text("id")
	credential := s.one.must(201, "POST", "/credentials", `{"name":"C"}`).text("id")
	program := s.one.must(201, "POST", "/programs", `{"name":"P"}`).text("id")
	settings := fmt.Sprintf(`{"courses":[%q],"jobs":[{"id":"15-1252","lib":"soc"}]}`, course.text("id"))
	for i, c := range []struct {
		path, body string
		status     int
	}{
		{"/courses", `{"name":"A","code":"B"}`, 201},
		{"/courses/" + course.text("id") + "/sections", `{"name":"S","syllabusHref":"https://example.org/1"}`, 201},
		{"/jobs", `{"name":"J","employerId":"e"}`, 201},
		{"/credentials", `{"name":"C"}`, 201},
		{"/credentials/" + credential + "/sections", fmt.Sprintf(`{"sectionId":%q}`, section), 200},
		{"/programs", `{"name":"P"}`, 201},
		{"/programs/" + program + "/courses", fmt.Sprintf(`{"courseId":%q}`, course.text("id")), 200},
		{"/transfer-packages", `{"name":"P","transferFromInstitution":"I","courses":[{"name":"X"}]}`, 201},
		{"/transfer-packages/" + pack + "/courses", `{"courses":[{"name":"X"},{"name":"Y"}]}`, 201},
		{"/transfer-packages/" + pack + "/equivalencies", "", 200},
		{"/reports", `{"name":"R","settings":` + settings + `}`, 201},
		{"/syllabus-extractions", `{"text":"Write SQL"}`, 202},
	} {
		key := fmt.Sprintf("key %d ~!", i)
		first := s.one.must(c.status, "POST", c.path, c.body, keyHeader, key)
		if _, replayed := first.Header["Idempotency-Replayed"]; replayed {
			t.Errorf("POST %s: the first answer says that it is replayed", c.path)
		}
		sent := len(s.queue.sent)
		again := s.one.must(c.status, "POST", c.path, c.body, keyHeader, key)
		if again.header("Idempotency-Replayed") != "true" {
			t.Errorf("POST %s: not replayed", c.path)
		}
		if string(again.Body) != string(first.Body) || again.Header.Get("Location") != first.Header.Get("Location") || again.Header.Get("Content-Type") != first.Header.Get("Content-Type") {
			t.Errorf("POST %s gave\n%v %s\nand then\n%v %s", c.path, first.Header, first.Body, again.Header, again.Body)
		}
		if again.header("X-RateLimit-Cost") != first.header("X-RateLimit-Cost") {
			t.Errorf("POST %s: the replay costs %s, the call %s", c.path, again.header("X-RateLimit-Cost"), first.header("X-RateLimit-Cost"))
		}
		if len(s.queue.sent) != sent {
			t.Errorf("POST %s: the replay sent another extraction", c.path)
		}
		if c.body != "" {
			spaced := strings.Replace(c.body, `":`, "\" :\t", 1)
			s.one.must(c.status, "POST", c.path, spaced, keyHeader, key)
			other := strings.Replace(strings.Replace(c.body, `"name":"`, `"name":"other `, 1), `"text":"`, `"text":"other `, 1)
			if other != c.body {
				s.one.must(422, "POST", c.path, other, keyHeader, key).want("code", "idempotency_key_reused")
			}
		}
		s.one.must(422, "POST", "/courses", `{"name":"Z","code":"Z"}`, keyHeader, key).want("code", "idempotency_key_reused")
		if s.two.total("/courses") != 0 {
			t.Fatal("the other organization has a course")
		}
	}
	// The key is of one organization.
	s.two.must(201, "POST", "/courses", `{"name":"Z","code":"Z"}`, keyHeader, "key 0 ~!")
	if got := s.one.total("/courses"); got != 2 {
		t.Errorf("%d courses, want 2", got)
	}
}

func TestReplayOnAnotherRecord(t *testing.T) {
	t.Parallel()
	s := newService(t)
	a, b := s.one.must(201, "POST", "/programs", `{"name":"A"}`).text("id"), s.one.must(201, "POST", "/programs", `{"name":"B"}`).text("id")
	body := fmt.Sprintf(`{"courseId":%q}`, s.one.course("C").text("id"))
	s.one.must(200, "POST", "/programs/"+a+"/courses", body, keyHeader, "k")
	s.one.must(422, "POST", "/programs/"+b+"/courses", body, keyHeader, "k").want("code", "idempotency_key_reused")
}

func TestMalformedIdempotencyKeys(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, key := range []string{"", " ", "\t", "a\x7fb", "ümlaut", strings.Repeat("x", 256), "a\tb"} {
		s.one.must(400, "POST", "/courses", `{"name":"A","code":"B"}`, keyHeader, key).want("code", "invalid_parameter")
	}
	s.one.must(201, "POST", "/courses", `{"name":"A","code":"B"}`, keyHeader, strings.Repeat("x", 255))
	s.one.must(200, "GET", "/courses", "", keyHeader, "")
	if got := s.one.total("/courses"); got != 1 {
		t.Errorf("%d courses, want 1", got)
	}
}

func TestErrorsAreNotKept(t *testing.T) {
	t.Parallel()
	s := newService(t)
	w := s.tap()
	s.one.must(422, "POST", "/courses", `{"name":""}`, keyHeader, "k")
	s.one.must(400, "POST", "/courses", `{`, keyHeader, "k")
	s.one.must(404, "POST", "/courses/nope/sections", `{"name":"S"}`, keyHeader, "k")
	w.through(func(c call) (any, error) {
		if c.operation == "TransactWriteItems" {
			return nil, errDown
		}
		return c.next()
	})
	s.one.must(503, "POST", "/courses", `{"name":"A","code":"B"}`, keyHeader, "k")
	w.through(nil)
	s.one.must(201, "POST", "/courses", `{"name":"A","code":"B"}`, keyHeader, "k")
	s.one.must(422, "POST", "/courses", `{"name":"A","code":"C"}`, keyHeader, "k")
}

func TestBothAtOnce(t *testing.T) {
	t.Parallel()
	s := newService(t)
	other := s.function()
	const n = 8
	answers := make([]reply, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			from := s.one
			if i%2 == 1 {
				from = other.one
			}
			answers[i] = from.do("POST", "/courses", `{"name":"A","code":"B"}`, keyHeader, "k")
		})
	}
	group.Wait()
	fresh := 0
	for _, a := range answers {
		if a.Status != 201 || string(a.Body) != string(answers[0].Body) {
			t.Errorf("status %d: %s\nwant %s", a.Status, a.Body, answers[0].Body)
		}
		if a.Header["Idempotency-Replayed"] == nil {
			fresh++
		}
	}
	if total := s.one.total("/courses"); total != 1 || fresh != 1 {
		t.Errorf("%d courses, %d answers that are not replayed; want 1 and 1", total, fresh)
	}
}

// A retry that is loaded after the first call was saved, but whose record was looked
// for before that, is a replay too: not the conflict that the first call caused.
func TestRetryThatMissesTheRecord(t *testing.T) {
	t.Parallel()
	s := newService(t)
	path := "/transfer-packages/" + s.one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I","courses":[{"name":"X"}]}`).text("id") + "/courses"
	s.finish(s.queue.sent[0], &catalog.ExtractionResult{Failure: &catalog.Failure{Code: catalog.Unreachable, Message: "gone"}})
	id := s.one.must(200, "GET", path, "").text("0.id")
	other := s.function()
	w := s.tap()
	lookedUp := make(chan struct{})
	var once, first sync.Once
	var saved reply
	w.through(func(c call) (any, error) {
		in, ok := c.input.(*sdk.GetItemInput)
		switch {
		case ok && strings.HasSuffix(in.Key["pk"].(*types.AttributeValueMemberS).Value, "#answer"):
			defer once.Do(func() { close(lookedUp) })
		case ok && in.Key["sk"].(*types.AttributeValueMemberS).Value == id:
			<-lookedUp
			first.Do(func() { saved = other.one.must(202, "POST", path+"/"+id+"/retry", "", keyHeader, "k") })
		}
		return c.next()
	})
	again := s.one.must(202, "POST", path+"/"+id+"/retry", "", keyHeader, "k")
	if again.header("Idempotency-Replayed") != "true" || string(again.Body) != string(saved.Body) {
		t.Errorf("%v %s\nwant the replay of %s", again.Header, again.Body, saved.Body)
	}
	w.through(nil)
	s.one.must(409, "POST", path+"/"+id+"/retry", "", keyHeader, "another")
}

func TestAnswersExpireAfterADay(t *testing.T) {
	t.Parallel()
	s := newService(t)
	const body = `{"name":"A","code":"B"}`
	first := s.one.must(201, "POST", "/courses", body, keyHeader, "k").text("id")
	s.clock.Add(catalog.IdempotencyTTL - 1000)
	s.one.must(201, "POST", "/courses", body, keyHeader, "k").want("id", first)
	s.clock.Add(3000)
	second := s.one.must(201, "POST", "/courses", `{"name":"other","code":"B"}`, keyHeader, "k").text("id")
	if first == second {
		t.Error("the answer outlives its day")
	}
	s.one.must(201, "POST", "/courses", `{"name":"other","code":"B"}`, keyHeader, "k").want("id", second)
}

// A transaction that was applied and never answered: the client repeats it with
// its key and gets what was done.
func TestLostAnswerIsRepeatedSafely(t *testing.T) {
	t.Parallel()
	s := newService(t)
	w := s.tap()
	lost := false
	w.through(func(c call) (any, error) {
		out, err := c.next()
		if _, ok := c.input.(*sdk.TransactWriteItemsInput); ok && !lost {
			lost = true
			return nil, errDown
		}
		return out, err
	})
	s.one.must(503, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I","courses":[{"name":"X"}]}`, keyHeader, "k")
	r := s.one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I","courses":[{"name":"X"}]}`, keyHeader, "k")
	if r.header("Idempotency-Replayed") != "true" || s.one.total("/transfer-packages") != 1 {
		t.Errorf("done twice: %s", s.one.must(200, "GET", "/transfer-packages", "").Body)
	}
	w.through(nil)
	s.one.must(200, "GET", "/transfer-packages/"+r.text("id")+"/courses", "").want("1", absent{})
}

// Transactions that lose against others are decided anew.
func TestConflictsAreDecidedAnew(t *testing.T) {
	t.Parallel()
	s := newService(t)
	w := s.tap()
	conflicts := 0
	w.through(func(c call) (any, error) {
		if _, ok := c.input.(*sdk.TransactWriteItemsInput); ok && conflicts < 3 {
			conflicts++
			return nil, canceled()
		}
		return c.next()
	})
	s.one.must(201, "POST", "/courses", `{"name":"A","code":"B"}`, keyHeader, "k")
	if conflicts != 3 || s.one.total("/courses") != 1 {
		t.Errorf("%d conflicts, %d courses", conflicts, s.one.total("/courses"))
	}
}

// An answer that is longer than a row of the table is kept in several.
func TestLongAnswersAreKept(t *testing.T) {
	t.Parallel()
	s := newService(t)
	// What does not compress: skills in every order on many courses and jobs.
	page := s.one.must(200, "GET", "/skills?limit=100", "")
	skills := func(from int) string {
		var list []string
		for i := range 60 {
			list = append(list, fmt.Sprintf(`{"skillId":%q,"level":%d,"confidence":0.%04d}`, page.text(fmt.Sprintf("data.%d.id", (i*7+from*13)%100)), 1+(i+from)%5, (i*7919+from*104729)%10000))
		}
		seen := map[string]bool{}
		var distinct []string
		for _, skill := range list {
			id, _, _ := strings.Cut(skill, ",")
			if !seen[id] {
				seen[id] = true
				distinct = append(distinct, skill)
			}
		}
		return "[" + strings.Join(distinct, ",") + "]"
	}
	var courses, jobs []string
	for i := range 30 {
		course := s.one.course(fmt.Sprint("Course ", i))
		path := "/courses/" + course.text("id") + "/sections/" + course.text("defaultSectionId")
		s.one.must(200, "PATCH", path, `{"skills":`+skills(i)+`}`)
		courses = append(courses, fmt.Sprintf("%q", course.text("id")))
	}
	for i := range 20 {
		job := s.one.must(201, "POST", "/jobs", fmt.Sprintf(`{"name":"J","employerId":"e","skills":%s}`, skills(1000+i)))
		jobs = append(jobs, fmt.Sprintf(`{"id":%q,"lib":"custom"}`, job.text("id")))
	}
	body := fmt.Sprintf(`{"name":"R","settings":{"courses":[%s],"jobs":[%s]}}`, strings.Join(courses, ","), strings.Join(jobs, ","))
	first := s.one.must(201, "POST", "/reports", body, keyHeader, "k")
	again := s.one.must(201, "POST", "/reports", body, keyHeader, "k")
	if len(first.Body) < 1<<20 || string(first.Body) != string(again.Body) {
		t.Errorf("a report of %d bytes comes again as %d bytes", len(first.Body), len(again.Body))
	}
	if read := s.one.must(200, "GET", "/reports/"+first.text("report.id"), ""); string(read.Body) != string(first.Body) {
		t.Error("the report reads otherwise than it was created")
	}
}
