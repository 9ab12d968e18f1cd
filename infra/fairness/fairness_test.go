// Package fairness imports a catalog and sends many syllabi from a stalling server as one customer, and a few syllabi as
// another. It measures how long the few take alone, during the import, during the extraction of the catalog and behind
// the many.
package fairness

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
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

var (
	many    = flag.Int("many", 100, "number of stalling syllabi")
	courses = flag.Int("courses", 300, "number of courses in the catalog")
)

const (
	few       = 5  // syllabi of the second customer
	atMost    = 30 // stalling syllabi that may begin before the few are done
	mostTimes = 2  // the time that the few take alone
)

// Neither a customer's catalog nor its stalling syllabi delay another's: only a few of the latter begin before the
// other's are done.
func TestFairness(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	results, err := measure(ctx, t.TempDir(), stacktest.Functions(t))
	if err != nil {
		t.Fatal(err)
	}
	alone := results[0]
	for _, r := range results {
		times := r.took.Seconds() / alone.took.Seconds()
		t.Logf("%d syllabi from a slow server %s: %.1fs (%.2f times), a call %v; %d stalling ones began",
			few, r.name, r.took.Seconds(), times, r.call.Round(time.Millisecond), r.begun)
		if r.begun > atMost {
			t.Errorf("%d of %d stalling syllabi began before another customer's %d were done", r.begun, *many, few)
		} else if r.begun == 0 && times > mostTimes {
			t.Errorf("%s, another customer's syllabi take %.2f times as long", r.name, times)
		}
	}
}

// result is the time of one customer's few extractions, of a call meanwhile, and how many of another's stalling syllabi
// began in that time.
type result struct {
	name       string
	took, call time.Duration
	begun      int64
}

// measure runs the stack and measures the few extractions alone, during an import and the extraction of its courses,
// and behind many stalling ones.
func measure(ctx context.Context, dir, functions string) (results []result, err error) {
	endpoint, stop, err := dynamodb.Server{}.Start(ctx)
	if err != nil {
		return nil, err
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
		Dir: filepath.Join(dir, "local"), Functions: functions, Console: log.New(io.Discard, "", 0),
		Env: map[string]string{
			api.EnvDynamoEndpoint: endpoint, api.EnvRateUnits: "1000000",
			api.EnvAllowedHosts: strings.TrimPrefix(syllabi.URL, "http://"),
		},
		Demo: func(ctx context.Context, p stack.Places) (stack.Demo, error) {
			for name, c := range map[string]*client.Client{"a": a, "b": b} {
				c.BaseURL = p.BaseURL
				org := catalog.OrgID("org_" + name)
				customer := catalog.Customer{ID: catalog.CustomerID("cus_" + name), OrganizationID: org, Name: name}
				if c.Key, err = stack.Open(p.Env).Admit(ctx, &customer); err != nil {
					return stack.Demo{}, err
				}
			}
			return stack.Demo{}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	defer stopStack()

	extractFew := func(name string) error {
		start, before := time.Now(), stalled.Load()
		call, err := extract(ctx, b, few, syllabi.URL+"/slow")
		results = append(results, result{name, time.Since(start), call, stalled.Load() - before})
		return err
	}
	for _, name := range []string{"the first time", "alone"} { // the first time includes starting the functions
		if err = extractFew(name); err != nil {
			return nil, err
		}
	}
	results = results[1:]
	id, err := startImport(ctx, a, *courses)
	if err == nil {
		err = extractFew("during an import")
	}
	i := catalog.Import{Status: catalog.ImportPending}
	for err == nil && !i.Ended() {
		i, err = client.Do[catalog.Import](ctx, a, client.Request{Operation: "getImport", IDs: []string{id}})
		time.Sleep(50 * time.Millisecond)
	}
	if err == nil && i.Counts.Created != *courses {
		err = fmt.Errorf("import: %s %+v", i.Status, i.Counts)
	}
	if err == nil {
		err = extractFew(fmt.Sprintf("while %d descriptions are extracted", *courses))
	}
	if err == nil {
		err = waitForLast(ctx, a)
	}
	for sent := 0; err == nil && sent < *many; sent += api.MaxItems {
		_, err = send(ctx, a, min(*many-sent, api.MaxItems), syllabi.URL+"/stalling")
	}
	if err == nil {
		err = extractFew(fmt.Sprintf("behind %d stalling ones", *many))
	}
	return results, err
}

// startImport uploads a catalog of n courses with descriptions, and starts to import it.
func startImport(ctx context.Context, c *client.Client, n int) (id string, err error) {
	content := bytes.NewBufferString("externalId,code,name,description\n")
	for i := range n {
		fmt.Fprintf(content, "X%[1]d,CIS %[1]d,Data Systems,Students write SQL queries for data set %[1]d.\n", i)
	}
	sum := sha256.Sum256(content.Bytes())
	type announced struct {
		ID     string
		Upload catalog.Upload
	}
	d, err := client.Do[announced](ctx, c, client.Request{Operation: "createDocument", Body: map[string]any{
		"fileName": "courses.csv", "sizeBytes": content.Len(), "sha256": hex.EncodeToString(sum[:]),
	}})
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, d.Upload.Method, d.Upload.URL, content)
	if err != nil {
		return "", err
	}
	for header, value := range d.Upload.Headers {
		request.Header.Set(header, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("upload: %s", response.Status)
	}
	i, err := client.Do[catalog.Import](ctx, c, client.Request{
		Operation: "createImport", Body: map[string]any{"documentId": d.ID},
	})
	return i.ID, err
}

// waitForLast waits until the description of the last course is extracted.
func waitForLast(ctx context.Context, c *client.Client) error {
	found, err := client.Do[struct{ Data []catalog.Course }](ctx, c, client.Request{
		Operation: "listCourses", Query: url.Values{"externalId": {fmt.Sprint("X", *courses-1)}},
	})
	if err != nil || len(found.Data) != 1 {
		return fmt.Errorf("last course: %d found, %w", len(found.Data), err)
	}
	_, err = client.Wait[catalog.Section](ctx, c, client.Request{
		Operation: "getSection", IDs: []string{found.Data[0].ID, found.Data[0].DefaultSectionID},
	})
	return err
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

// extract sends n syllabi and waits until their skills are extracted. It returns the median time of a call meanwhile.
func extract(ctx context.Context, c *client.Client, n int, href string) (call time.Duration, err error) {
	var calls []time.Duration
	pack, err := send(ctx, c, n, href)
	for done := 0; err == nil && done < n; {
		var courses []catalog.TransferCourse
		list := client.Request{Operation: "listTransferCourses", IDs: []string{pack.ID}}
		began := time.Now()
		courses, err = client.Do[[]catalog.TransferCourse](ctx, c, list)
		calls = append(calls, time.Since(began))
		done = 0
		for _, course := range courses {
			switch course.ProcessingStatus {
			case catalog.Completed:
				done++
			case catalog.Failed:
				return 0, fmt.Errorf("%s is FAILED: %v", course.ID, course.Failure)
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err != nil {
		return 0, err
	}
	slices.Sort(calls)
	return calls[len(calls)/2], nil
}
