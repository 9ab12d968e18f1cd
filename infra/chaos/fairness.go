package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"skillscurriculum/infra/local/dynamodb"
	"skillscurriculum/infra/local/stack"
	"skillscurriculum/pkg/catalog"
)

// few is how many syllabi the second customer sends.
const few = 5

// crowd is what one customer's few extractions took, and how many of another's began
// meanwhile.
type crowd struct {
	took  time.Duration
	begun int
}

// fairness has one customer send so many syllabi whose server stalls, and another a
// few: those it measures alone first, and then behind the others.
func fairness(ctx context.Context, dir, functions string, many int, out io.Writer) error {
	alone, behind, err := crowded(ctx, dir, functions, many)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "B alone:                       %d syllabi of a slow server in %.1fs\n", few, alone.took.Seconds())
	fmt.Fprintf(out, "B, with %d of A's that stall: %d syllabi in %.1fs, %.2f times as long; %d of A's began meanwhile\n",
		many, few, behind.took.Seconds(), behind.took.Seconds()/alone.took.Seconds(), behind.begun)
	return nil
}

// crowded runs the stack for fairness.
func crowded(ctx context.Context, dir, functions string, many int) (alone, behind crowd, err error) {
	endpoint, stop, err := dynamodb.Start(ctx, "")
	if err != nil {
		return alone, behind, err
	}
	defer stop()
	shelf, err := openLibrary()
	if err != nil {
		return alone, behind, err
	}
	defer shelf.close()
	w := &world{config: config{dir: dir, out: io.Discard}}
	everybody, err := customers(ctx, w.store(endpoint))
	if err != nil {
		return alone, behind, err
	}
	told, stopStack, err := w.serve(ctx, stack.Config{Functions: functions, DynamoDBEndpoint: endpoint, AllowedHosts: shelf.host})
	if err != nil {
		return alone, behind, err
	}
	defer stopStack()
	t := newTraffic(told.BaseURL, shelf)
	client := func(c *customer) *client {
		return &client{traffic: t, customer: c, name: string(c.id), random: rand.New(rand.NewPCG(1, 1))}
	}
	a, b := client(everybody[0]), client(everybody[customersOfEach])

	for range 2 { // the first time, functions start
		if alone, err = b.few(ctx); err != nil {
			return alone, behind, err
		}
	}
	for sent := 0; sent < many; sent += most {
		if _, err := a.transfers(min(many-sent, most), shelf.href("stalling", shelf.names[0])); err != nil {
			return alone, behind, err
		}
	}
	behind, err = b.few(ctx)
	return alone, behind, err
}

// most is how many transfer courses one request creates.
const most = 50

// transfers makes a package of transfer courses with one syllabus, and returns its path.
func (c *client) transfers(n int, href string) (path string, err error) {
	courses := make([]map[string]any, n)
	for i := range courses {
		courses[i] = map[string]any{"name": "Course", "syllabusHref": href}
	}
	got := c.send(request{operation: "createTransferPackage", path: "/transfer-packages", body: map[string]any{
		"name": "Package", "transferFromInstitution": "Elsewhere", "courses": courses,
	}, items: n})
	if got.outcome() != acknowledged {
		return "", fmt.Errorf("create a package: %d %s", got.status, got.body)
	}
	return "/transfer-packages/" + text(got.parsed(), "id"), nil
}

// few sends a few syllabi and waits until they are extracted.
func (c *client) few(ctx context.Context) (crowd, error) {
	start, before := time.Now(), c.library.stalled()
	path, err := c.transfers(few, c.library.href("slow", "gas-metal-arc-welding.txt"))
	for err == nil {
		var courses []catalog.TransferCourse
		if err = json.Unmarshal(c.send(request{operation: "listTransferCourses", path: path + "/courses"}).body, &courses); err != nil {
			break
		}
		done := 0
		for _, course := range courses {
			switch course.ProcessingStatus {
			case catalog.Completed:
				done++
			case catalog.Failed:
				return crowd{}, fmt.Errorf("%s is FAILED: %v", course.ID, course.Failure)
			}
		}
		if done == few {
			return crowd{time.Since(start), c.library.stalled() - before}, nil
		}
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return crowd{}, err
}

// stalled returns how many requests have come that stall.
func (l *library) stalled() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked["/stalling/"+l.names[0]]
}

// waits returns, for the runs of extractions that a log holds, how many of other
// organizations began while one waited for its turn: the median of each organization.
func waits(log io.Reader) map[string]int {
	type run struct {
		organization string
		sent, began  time.Time
	}
	var runs []run
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Msg, Organization string
			Time              time.Time
			Latency, Wait     int64 // ms
		}
		_, text, _ := strings.Cut(lines.Text(), "{")
		if json.Unmarshal([]byte("{"+text), &line) != nil || line.Msg != "extraction" {
			continue
		}
		began := line.Time.Add(-time.Duration(line.Latency) * time.Millisecond)
		runs = append(runs, run{line.Organization, began.Add(-time.Duration(line.Wait) * time.Millisecond), began})
	}
	passed := map[string][]int{}
	for _, r := range runs {
		n := 0
		for _, other := range runs {
			if other.organization != r.organization && other.began.After(r.sent) && other.began.Before(r.began) {
				n++
			}
		}
		passed[r.organization] = append(passed[r.organization], n)
	}
	medians := map[string]int{}
	for organization, list := range passed {
		slices.Sort(list)
		medians[organization] = list[len(list)/2]
	}
	return medians
}
