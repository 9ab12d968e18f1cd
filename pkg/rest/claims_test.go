package rest_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// hundred is a batch of 100 courses, enough to claim names.
var hundred = func() string {
	items := make([]string, 100)
	for i := range items {
		items[i] = fmt.Sprintf(`{"externalId":"E%d","code":"C %d","name":"Name of a course","description":"D"}`, i, i)
	}
	return `{"resource":"course","items":[` + strings.Join(items, ",") + `]}`
}()

// found returns how many courses the list has, and checks that look-ups by external id and code find exactly those.
func (c client) found() int {
	c.s.t.Helper()
	listed := map[any]int{}
	page := c.must(200, "GET", "/courses?limit=100", "")
	courses := page.get("data").([]any)
	for _, course := range courses {
		listed[course.(map[string]any)["externalId"]]++
	}
	page.want("pagination.total", len(courses))
	for i := 0; i < 100; i += 7 {
		name := fmt.Sprintf("E%d", i)
		c.must(200, "GET", "/courses?externalId="+name, "").want("pagination.total", listed[name])
		c.must(200, "GET", fmt.Sprintf("/courses?code=C+%d", i), "").want("pagination.total", listed[name])
	}
	for name, times := range listed {
		if times > 1 && name != nil {
			c.s.t.Errorf("%d courses have the externalId %s", times, name)
		}
	}
	return len(courses)
}

// Items of a batch that are saved in different transactions know of each other, and one that fails takes no number.
func TestBatchOfClaimsWithErrors(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	const ctid = `"ctid":"ce-01234567-89ab-4cde-8f01-23456789abcd",`
	body := strings.NewReplacer(
		`"E60",`, `"E3",`, `{"externalId":"E5",`, `{`+ctid+`"externalId":"E5",`, `{"externalId":"E70",`, `{`+ctid+`"externalId":"E70",`,
		`"code":"C 80",`, ``,
	).Replace(hundred)
	r := one.must(200, "POST", "/batches", body)
	r.want("counts.created", 97)
	r.want("counts.failed", 3)
	r.want("results.60.problem.errors.0.message", "the external id E3 is already used at item 3")
	r.want("results.70.problem.code", "conflict")
	r.want("results.80.problem.errors.0.location", "body.items[80].code")
	for i, item := range r.get("results").([]any) {
		if item := item.(map[string]any); item["outcome"] == "CREATED" {
			path := fmt.Sprint("/courses/", item["id"])
			one.must(200, "GET", path, "").want("externalId", fmt.Sprintf("E%d", i))
		}
	}
	if n := one.found(); n != 97 || len(s.queue.sent) != 97 {
		t.Errorf("%d courses, %d jobs", n, len(s.queue.sent))
	}
	one.must(200, "POST", "/batches", hundred).want("counts.created", 3)
}

// A batch that breaks off after any of its transactions leaves nothing that a look-up
// finds without its record, or that is in the way of the next who uses the names.
func TestBatchBreaksOffAnywhere(t *testing.T) {
	t.Parallel()
	const transactions = 5               // the first rows, two of claims beside them, and two of the rest
	for left := range transactions + 1 { // with the last, only the response is lost
		s := newService(t)
		one := s.one
		w := s.tap()
		var mu sync.Mutex
		done := 0
		w.through(func(c call) (any, error) {
			if _, ok := c.input.(*sdk.TransactWriteItemsInput); !ok {
				return c.next()
			}
			mu.Lock()
			done++
			number := done
			mu.Unlock()
			if number <= left {
				if out, err := c.next(); err != nil || number < transactions {
					return out, err
				}
			}
			return nil, &types.InternalServerError{}
		})
		one.must(503, "POST", "/batches", hundred)
		w.through(nil)
		before := one.found()
		// Others take names and the numbers of the courses that did not come.
		one.must(map[bool]int{false: 201, true: 409}[before == 100], "POST", "/courses", `{"name":"N","code":"C 98","externalId":"E99"}`)
		if before == 100 {
			continue
		}
		one.must(201, "POST", "/courses", `{"name":"N","code":"Other"}`)
		r := one.must(200, "POST", "/batches", hundred)
		r.want("counts.created", 99-before)
		r.want("counts.updated", 1) // E99 gets its own code and name
		r.want("counts.unchanged", before)
		one.must(200, "GET", "/courses", "").want("pagination.total", 101)
		one.must(200, "POST", "/batches", hundred).want("counts.unchanged", 100)
		feed := one.must(200, "GET", "/changes?limit=500", "").get("data").([]any)
		created := map[any]int{}
		for _, change := range feed {
			if c := change.(map[string]any); c["change"] == "created" && c["resource"] == "Course" {
				created[c["id"]]++
			}
		}
		if len(created) != 101 {
			t.Errorf("broken off after %d: %d courses in the feed", left, len(created))
		}
	}
}

// While a batch is between its claims and their records, others take one of the names. Whoever is first has it.
func TestBatchIsOvertaken(t *testing.T) {
	t.Parallel()
	for method, body := range map[string]string{
		"PATCH": `{"externalId":"E50"}`, "POST": `{"name":"Posted","code":"C 99","externalId":"E50"}`,
	} {
		s := newService(t)
		one, other := s.one, s.function().one
		path := "/courses"
		if method == "PATCH" {
			path += "/" + one.must(201, "POST", path, `{"name":"Old","code":"Old"}`).text("id")
		}
		w := s.tap()
		var mu sync.Mutex
		done := 0
		id := ""
		w.through(func(c call) (any, error) {
			if _, ok := c.input.(*sdk.TransactWriteItemsInput); ok {
				mu.Lock()
				if done++; done == 4 { // after the first rows and the claims
					other.must(200, "GET", "/courses?externalId=E50", "").want("data", []any{})
					other.must(200, "GET", "/courses?code=C+50", "").want("data", []any{})
					id = other.do(method, path, body).text("id")
				}
				mu.Unlock()
			}
			return c.next()
		})
		r := one.must(200, "POST", "/batches", hundred)
		w.through(nil)
		r.want("results.50.id", id)
		r.want("counts.created", 99)
		r.want("counts.updated", 1)
		if n := one.found(); n != 100 {
			t.Errorf("%s: %d courses", method, n)
		}
	}
}

// One that has read the claims, but not yet the records, does not take the names from them.
func TestBatchOvertakes(t *testing.T) {
	t.Parallel()
	for method, body := range map[string]string{
		"PATCH": `{"externalId":"E50"}`, "POST": `{"name":"Posted","code":"Other","externalId":"E50"}`,
	} {
		s := newService(t)
		batches, one := s.function(), s.one
		path := "/courses"
		if old := one.must(201, "POST", path, `{"name":"Old","code":"Old"}`); method == "PATCH" {
			path += "/" + old.text("id")
		}
		claimed, goOn, ended := make(chan bool), make(chan bool), make(chan bool)
		var mu sync.Mutex
		done := 0
		batches.tap().through(func(c call) (any, error) {
			if _, ok := c.input.(*sdk.TransactWriteItemsInput); ok {
				mu.Lock()
				done++
				last := done == 4
				mu.Unlock()
				if last {
					close(claimed)
					<-goOn
				}
			}
			return c.next()
		})
		go func() {
			defer close(ended)
			batches.one.must(200, "POST", "/batches", hundred).want("counts.created", 100)
		}()
		<-claimed
		var once sync.Once
		s.tap().through(func(c call) (any, error) {
			if _, ok := c.input.(*sdk.TransactWriteItemsInput); ok {
				once.Do(func() {
					close(goOn)
					<-ended
				})
			}
			return c.next()
		})
		one.must(409, method, path, body)
		one.must(200, "GET", "/courses?externalId=E50", "").want("data.0.code", "C 50")
		one.must(200, "GET", "/courses", "").want("pagination.total", 101)
	}
}

// Of several batches of the same courses and single requests at the same time, exactly one creates each course.
func TestConcurrentBatches(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var group sync.WaitGroup
	var mu sync.Mutex
	created := 0
	for range 3 {
		batches := s.function().one
		group.Go(func() {
			r := batches.must(200, "POST", "/batches", hundred)
			mu.Lock()
			defer mu.Unlock()
			created += r.number("counts.created")
			r.want("counts.failed", 0)
		})
	}
	single := s.function().one
	group.Go(func() {
		for i := 99; i >= 60; i -= 4 {
			r := single.do("POST", "/courses", fmt.Sprintf(`{"externalId":"E%d","code":"C %d","name":"Name of a course","description":"D"}`, i, i))
			mu.Lock()
			if r.Status == 201 {
				created++
			} else if r.Status != 409 {
				t.Errorf("%d: %s", r.Status, r.Body)
			}
			mu.Unlock()
		}
	})
	group.Wait()
	if n := s.one.found(); n != 100 || created != 100 {
		t.Errorf("%d courses, %d created", n, created)
	}
}
