package service

import (
	"context"
	"slices"
	"sync"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service/parallel"
)

// HealthReader is the part of the table that Health uses.
type HealthReader interface {
	Sections
	Outcomes
	ArticulationsByNumber
	// LastingArticulations returns the sequence numbers of the approved articulations that have not ended before the
	// day, in creation order.
	LastingArticulations(ctx context.Context, org catalog.OrgID, day string) ([]int, error)
}

// Health caches the articulations with issues of some organizations.
type Health struct{ followed[healthOn, health] }

type healthOn struct {
	org catalog.OrgID
	day string
}

// health has the articulations with issues on a day.
type health struct {
	total int
	of    []issueCount // in creation order
}

func (health) share() float64 { return organizationShare }

// issueCount is the number of issues of an articulation.
type issueCount struct{ articulation, issues int32 }

// healthAttempts limits how often issues are counted again because of concurrent changes.
const healthAttempts = 5

// Issues returns a page of the issues of an organization's articulations today, and the number of all issues. It is
// charged an item for every 100 articulations of the page, or part of 100.
func (h *Health) Issues(
	ctx context.Context, s HealthReader, org catalog.OrgID, now catalog.Time, offset, limit int, charge Charge,
) ([]catalog.ArticulationIssue, int, error) {
	today := catalog.DateOf(now)
	charge = once(charge)
	for range healthAttempts {
		load := func(ctx context.Context) (health, error) { return countIssues(ctx, s, org, today) }
		known, err := h.now(ctx, s, org, healthOn{org, today},
			ofKinds(catalog.ArticulationKind, catalog.CourseKind, catalog.SectionKind),
			func(ctx context.Context, _ health, _ []string) (health, error) { return load(ctx) }, load)
		if err != nil {
			return nil, 0, err
		}
		page, skip := known.page(offset, limit)
		var issues []catalog.ArticulationIssue
		var same bool
		err = parallel.All(ctx, func(ctx context.Context) error {
			return charge(ctx, items(len(page), articulationPage))
		}, func(ctx context.Context) (err error) {
			issues, same, err = issuesOf(ctx, s, org, page, today)
			return err
		})
		if err != nil {
			return nil, 0, err
		}
		if same {
			return issues[skip:min(skip+limit, len(issues))], known.total, nil
		}
		h.drop(healthOn{org, today})
	}
	return nil, 0, catalog.ChangingTooFast()
}

// once returns a charge that counts only its first call.
func once(charge Charge) Charge {
	charged := false
	return func(ctx context.Context, items int) error {
		if charged {
			return nil
		}
		charged = true
		return charge(ctx, items)
	}
}

// page returns the articulations of a page of issues, and the number of issues of the first one that precede the page.
func (h health) page(offset, limit int) (page []issueCount, skip int) {
	for _, c := range h.of {
		n := int(c.issues)
		switch {
		case offset >= n:
			offset -= n
			continue
		case page == nil:
			skip, limit = offset, limit+offset
		}
		if limit <= 0 {
			break
		}
		page, offset, limit = append(page, c), 0, limit-n
	}
	return page, skip
}

// countIssues returns the number of issues per articulation.
func countIssues(ctx context.Context, s HealthReader, org catalog.OrgID, today string) (health, error) {
	numbers, err := s.LastingArticulations(ctx, org, today)
	if err != nil {
		return health{}, err
	}
	var fresh health
	for chunk := range slices.Chunk(numbers, articulationPage) {
		issues, err := issuesByNumber(ctx, s, org, chunk, today)
		if err != nil {
			return health{}, err
		}
		for _, seq := range chunk {
			if n := len(issues[seq]); n > 0 {
				fresh.of = append(fresh.of, issueCount{int32(seq), int32(n)})
				fresh.total += n
			}
		}
	}
	return fresh, nil
}

// issuesOf lists the issues of articulations, and reports whether their numbers are still as counted.
func issuesOf(
	ctx context.Context, s HealthReader, org catalog.OrgID, of []issueCount, today string,
) (all []catalog.ArticulationIssue, same bool, err error) {
	numbers := make([]int, len(of))
	for i, c := range of {
		numbers[i] = int(c.articulation)
	}
	issues, err := issuesByNumber(ctx, s, org, numbers, today)
	same = true
	for _, c := range of {
		some := issues[int(c.articulation)]
		all, same = append(all, some...), same && len(some) == int(c.issues)
	}
	return all, same, err
}

// issuesByNumber returns the issues of articulations, which depend on their courses and sections.
func issuesByNumber(
	ctx context.Context, s HealthReader, org catalog.OrgID, numbers []int, today string,
) (map[int][]catalog.ArticulationIssue, error) {
	articulations, err := s.ArticulationsByNumber(ctx, org, numbers, catalog.IssueFields, false)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, a := range articulations {
		for _, course := range a.Granted {
			ids = append(ids, course.CourseID)
		}
	}
	courses, documents, err := parallel.Two(ctx, func(ctx context.Context) (map[string]*catalog.Course, error) {
		return GetByID[*catalog.Course](ctx, s, org, ids, false)
	}, func(ctx context.Context) (map[string]string, error) {
		return sectionDocuments(ctx, s, org, articulations)
	})
	issues := map[int][]catalog.ArticulationIssue{}
	for _, a := range articulations {
		now := catalog.GrantedNow{Courses: courses}
		if a.Evidence != nil {
			now.Document = documents[a.Evidence.SectionID]
		}
		issues[a.Number()] = a.Issues(now, today)
	}
	return issues, err
}

// sectionDocuments returns the digests of the current documents of the sections in the articulations' evidence, by
// section.
func sectionDocuments(
	ctx context.Context, s HealthReader, org catalog.OrgID, articulations []*catalog.Articulation,
) (map[string]string, error) {
	var ids []string
	for _, a := range articulations {
		if a.Evidence != nil && a.Evidence.Extraction.Section != nil {
			ids = append(ids, a.Evidence.SectionID)
		}
	}
	sections, err := GetByID[*catalog.Section](ctx, s, org, ids, false)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	documents := map[string]string{}
	return documents, parallel.Each(ctx, sections, func(ctx context.Context, id string, section *catalog.Section) error {
		stamp, err := sectionProvenance(ctx, s, section)
		if stamp != nil {
			mu.Lock()
			defer mu.Unlock()
			documents[id] = stamp.DocumentSHA256
		}
		return err
	})
}
