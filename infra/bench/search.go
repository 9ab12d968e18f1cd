package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"net/http"
	"net/url"

	"skillscurriculum/pkg/catalog"
	usecases "skillscurriculum/pkg/service"
)

const (
	searchedCourses = 20_000
	// feedReadAgain is longer, in ms, than a search relies on an earlier reading of the change feed.
	feedReadAgain = 10_000
	maxColdTrips  = 8
)

const changedTitle = "The first search after a change reads each changed record again (1), after the " +
	"change feed and the page that it expects."

// courseWords are combined to the names of courses.
var courseWords = []string{"Introduction", "Advanced", "Data", "Nursing", "Design", "Systems", "History", "Statistics"}

// nthCourse returns the name and the code of the i-th course.
func nthCourse(i int) (name, code string) {
	word := func(n int) string { return courseWords[n%len(courseWords)] }
	return fmt.Sprintf("%s to %s and %s %d", word(i), word(i/8), word(i/64), i), fmt.Sprintf("%.3s %d", word(i), 100+i)
}

// searches measures searches among size courses of 1 KB.
func searches(ctx context.Context, s *service, size int) (*table, error) {
	t := newTable(fmt.Sprintf("Search: 100 of %s courses by words, 1 KB records", grouped(size)),
		"search", "matches", "trips", "target", "read units", "target", "")
	c, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := s.store.Directory(ctx, c.org, catalog.CourseKind)
	if err != nil {
		return nil, err
	}
	log.Printf("creating %s courses", grouped(size))
	description := filler(700)
	err = c.fill(ctx, size, jobsPerTransaction, func(change *catalog.Change, i int) {
		name, code := nthCourse(i)
		course := &catalog.Course{
			Name: name, Code: code, Description: &description, Sections: []catalog.SectionRef{},
			LifecycleStatus: catalog.ActiveCourse,
		}
		change.Add(course, ids, dir, now)
	})
	if err != nil {
		return nil, err
	}

	// Cold: a new process reads all titles.
	var index usecases.Search
	var total int
	actor := usecases.Actor{Org: c.org, Now: now(), Store: s.store}
	calls := s.counter.during(func() {
		_, total, err = usecases.Find[*catalog.Course](ctx, &index, actor, "data", "", 0, pageSize)
	})
	if err != nil {
		return nil, err
	}
	cost := costOf(calls)
	rows := math.Ceil(float64(size)/4)*1.2 + pageSize
	t.row(cost.trips > maxColdTrips || cost.read > rows, "", "cold", total,
		cost.trips, target(maxColdTrips), cost.read, target(rows))

	clock, late := s.server.Now, catalog.Time(0)
	s.server.Now = func() catalog.Time { return clock() + late }
	defer func() { s.server.Now = clock }()
	first := 0
	for _, step := range []struct {
		name, query string
		offset      int
		changed     float64
		before      func() error
	}{
		{"warm", "data", 0, 0, nil},
		{"warm, last page", "data", -1, 0, nil},
		{"warm, a code", "dat 102", 0, 0, nil},
		{"after 10 s", "data", 0, 0, func() error { late += feedReadAgain; return nil }},
		{"after 10 s and a new course", "data", 0, 1, func() error {
			late += feedReadAgain
			_, err := c.create(ctx, "/courses", with(newCourse, "name", "Data Mining"))
			return err
		}},
	} {
		offset := step.offset
		if offset < 0 {
			offset = first - pageSize
		}
		path := fmt.Sprintf("/courses?query=%s&limit=%d&offset=%d", url.QueryEscape(step.query), pageSize, offset)
		if first == 0 { // caches the caller and the titles
			if _, err := c.do(ctx, call(http.MethodGet, path, "")); err != nil {
				return nil, err
			}
		}
		if step.before != nil {
			if err := step.before(); err != nil {
				return nil, err
			}
		}
		var response map[string]any
		calls := s.counter.during(func() { response, err = c.do(ctx, call(http.MethodGet, path, "")) })
		if err != nil {
			return nil, err
		}
		cost := costOf(calls)
		total := int(response["pagination"].(map[string]any)["total"].(float64))
		first = max(first, total)
		page := float64(len(response["data"].([]any))) / 2
		if total == 0 || total-offset > pageSize && page < pageSize/2 {
			return nil, fmt.Errorf("%s: %d matches", path, total)
		}
		why := ""
		if step.changed > 0 {
			why = changedTitle
		}
		t.row(cost.trips > maxTrips || cost.read > 1+page+step.changed, why, step.name, total, cost.trips,
			target(maxTrips), cost.read, bound(1+page, 1+page+step.changed))
	}
	return t, nil
}
