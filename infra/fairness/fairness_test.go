// Package fairness sends many syllabi from a stalling server as one customer and a few as another, and measures how long
// the few take alone and behind the many.
package fairness

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"skillscurriculum/infra/local/dynamodb"
	"skillscurriculum/infra/local/stack"
	"skillscurriculum/infra/local/stack/stacktest"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/client"
)

var many = flag.Int("many", 100, "number of stalling syllabi")

const (
	few    = 5  // syllabi of the second customer
	atMost = 30 // stalling syllabi that may begin before the few are done
)

// A customer's stalling syllabi do not delay another's: only a few of them begin before the other's are done.
func TestFairness(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	alone, behind, err := measure(ctx, t.TempDir(), stacktest.Functions(t), *many)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d syllabi from a slow server in %.1fs alone, and in %.1fs (%.2f times) behind %d stalling ones of another "+
		"customer, of which %d began", few, alone.took.Seconds(), behind.took.Seconds(),
		behind.took.Seconds()/alone.took.Seconds(), *many, behind.begun)
	if behind.begun > atMost {
		t.Errorf("%d of %d stalling syllabi began before another customer's %d were done", behind.begun, *many, few)
	}
}

// result is the time of one customer's few extractions and how many of another's began in that time.
type result struct {
	took  time.Duration
	begun int64
}

// measure runs the stack and measures the few extractions alone and behind many stalling ones.
func measure(ctx context.Context, dir, functions string, many int) (alone, behind result, err error) {
	endpoint, stop, err := dynamodb.Start(ctx, "")
	if err != nil {
		return alone, behind, err
	}
	defer stop()
	var stalled atomic.Int64
	syllabi := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stalling" {
			stalled.Add(1)
			<-r.Context().Done()
			return
		}
		time.Sleep(2 * time.Second)
		fmt.Fprint(w, "Students learn to weld steel and to read drawings.")
	}))
	defer syllabi.Config.Close()
	a, b := &client.Client{}, &client.Client{}
	_, stopStack, err := stack.Start(ctx, stack.Config{
		Dir: filepath.Join(dir, "local"), Functions: functions, DynamoDBEndpoint: endpoint, RateUnits: "1000000",
		AllowedHosts: strings.TrimPrefix(syllabi.URL, "http://"), Console: log.New(io.Discard, "", 0),
		Demo: func(ctx context.Context, p stack.Places) (stack.Demo, error) {
			for name, c := range map[string]*client.Client{"a": a, "b": b} {
				c.BaseURL = p.BaseURL
				org := catalog.OrgID("org_" + name)
				customer := catalog.Customer{ID: catalog.CustomerID("cus_" + name), OrganizationID: org, Name: name}
				if c.Key, err = stack.Open(p).Admit(ctx, &customer); err != nil {
					return stack.Demo{}, err
				}
			}
			return stack.Demo{}, nil
		},
	})
	if err != nil {
		return alone, behind, err
	}
	defer stopStack()

	extractFew := func() (result, error) {
		start, before := time.Now(), stalled.Load()
		err := extract(ctx, b, few, syllabi.URL+"/slow")
		return result{time.Since(start), stalled.Load() - before}, err
	}
	for range 2 { // the first time includes starting the functions
		if alone, err = extractFew(); err != nil {
			return alone, behind, err
		}
	}
	for sent := 0; sent < many; sent += api.MaxItems {
		if _, err := send(ctx, a, min(many-sent, api.MaxItems), syllabi.URL+"/stalling"); err != nil {
			return alone, behind, err
		}
	}
	behind, err = extractFew()
	return alone, behind, err
}

// send creates a package of n transfer courses with the same syllabus.
func send(ctx context.Context, c *client.Client, n int, href string) (catalog.TransferPackage, error) {
	courses := make([]any, n)
	for i := range courses {
		courses[i] = map[string]string{"name": "Course", "syllabusHref": href}
	}
	body := map[string]any{"name": "Package", "transferFromInstitution": "Elsewhere", "courses": courses}
	return client.Do[catalog.TransferPackage](ctx, c, client.Request{Operation: "createTransferPackage", Body: body})
}

// extract sends n syllabi and waits until their skills are extracted.
func extract(ctx context.Context, c *client.Client, n int, href string) error {
	pack, err := send(ctx, c, n, href)
	for done := 0; err == nil && done < n; {
		var courses []catalog.TransferCourse
		list := client.Request{Operation: "listTransferCourses", IDs: []string{pack.ID}}
		courses, err = client.Do[[]catalog.TransferCourse](ctx, c, list)
		done = 0
		for _, course := range courses {
			switch course.ProcessingStatus {
			case catalog.Completed:
				done++
			case catalog.Failed:
				return fmt.Errorf("%s is FAILED: %v", course.ID, course.Failure)
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}
