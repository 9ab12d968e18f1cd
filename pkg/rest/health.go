package rest

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/catalog"
)

// health is what needs a look at an organization's articulations, as it was on a day
// and at one point of its change feed.
type health struct {
	at     catalog.Cursor
	today  string
	issues []catalog.ArticulationIssue
}

// healthIndex keeps the health of the organizations that asked last; it serves until
// the organization's change feed moves on, or the day ends.
type healthIndex struct {
	mu   sync.Mutex
	kept map[catalog.OrgID]*health
}

func (x *healthIndex) get(org catalog.OrgID) *health {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.kept[org]
}

func (x *healthIndex) put(org catalog.OrgID, h *health) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.kept == nil || len(x.kept) >= indexedOrganizations {
		x.kept = map[catalog.OrgID]*health{}
	}
	x.kept[org] = h
}

func listArticulationIssues(ctx context.Context, c *call, in *pageInput) (Page[catalog.ArticulationIssue], error) {
	at, err := c.Store.FeedEnd(ctx, c.org)
	if err != nil {
		return Page[catalog.ArticulationIssue]{}, err
	}
	today, x := catalog.DateOf(c.now), &c.Server.health
	found := x.get(c.org)
	if found == nil || found.at != at || found.today != today {
		found = &health{at: at, today: today}
		if found.issues, err = c.issues(ctx, today); err != nil {
			return Page[catalog.ArticulationIssue]{}, err
		}
		x.put(c.org, found)
	}
	return page(c, *in, cut(*in, found.issues), len(found.issues)), nil
}

// issues looks at every approved articulation that has not ended, and at the courses
// and sections that these name.
func (c *call) issues(ctx context.Context, today string) ([]catalog.ArticulationIssue, error) {
	var issues []catalog.ArticulationIssue
	courses, asked := map[string]*catalog.Course{}, map[string]bool{}
	err := c.Store.LastingArticulations(ctx, c.org, today, func(some []*catalog.Articulation) error {
		var ids []string
		for _, a := range some {
			for _, id := range a.GrantedCourses() {
				if !asked[id] {
					asked[id] = true
					ids = append(ids, id)
				}
			}
		}
		more, documents, err := parallel(ctx, func(ctx context.Context) (map[string]*catalog.Course, error) {
			return c.Store.CoursesByID(ctx, c.org, ids, false)
		}, func(ctx context.Context) (map[string]string, error) {
			return c.sectionDocuments(ctx, some)
		})
		if err != nil {
			return err
		}
		for id, course := range more {
			courses[id] = course
		}
		for _, a := range some {
			now := catalog.GrantedNow{Courses: courses}
			if a.Evidence != nil {
				now.Document = documents[a.Evidence.SectionID]
			}
			issues = append(issues, a.Issues(now, today)...)
		}
		return nil
	})
	return issues, err
}

// sectionDocuments returns the digests of the documents that the skills of the
// articulations' compared sections are from now, by section.
func (c *call) sectionDocuments(ctx context.Context, articulations []*catalog.Articulation) (map[string]string, error) {
	var ids []string
	for _, a := range articulations {
		if a.Evidence != nil && a.Evidence.Extraction.Section != nil {
			ids = append(ids, a.Evidence.SectionID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	sections, err := c.Store.SectionsByID(ctx, c.org, ids, false)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	documents := map[string]string{}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for id, section := range sections {
		group.Go(func() (err error) {
			defer caught(&err)
			stamp, err := c.sectionProvenance(groupCtx, section)
			if stamp != nil {
				mu.Lock()
				defer mu.Unlock()
				documents[id] = stamp.DocumentSHA256
			}
			return err
		})
	}
	return documents, group.Wait()
}
