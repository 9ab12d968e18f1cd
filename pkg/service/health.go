package service

import (
	"context"
	"slices"
	"sync"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service/parallel"
)

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
	ctx context.Context, a Actor, offset, limit int, charge Charge,
) ([]catalog.ArticulationIssue, int, error) {
	today := catalog.DateOf(a.Now)
	charge = once(charge)
	for range healthAttempts {
		load := func(ctx context.Context) (health, error) { return a.countIssues(ctx, today) }
		known, err := h.now(ctx, a, healthOn{a.Org, today},
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
			issues, same, err = a.issuesOf(ctx, page, today)
			return err
		})
		if err != nil {
			return nil, 0, err
		}
		if same {
			return issues[skip:min(skip+limit, len(issues))], known.total, nil
		}
		h.drop(healthOn{a.Org, today})
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
func (a Actor) countIssues(ctx context.Context, today string) (health, error) {
	numbers, err := a.Store.LastingArticulations(ctx, a.Org, today)
	if err != nil {
		return health{}, err
	}
	var fresh health
	for chunk := range slices.Chunk(numbers, articulationPage) {
		issues, err := a.issuesByNumber(ctx, chunk, today)
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
func (a Actor) issuesOf(
	ctx context.Context, of []issueCount, today string,
) (all []catalog.ArticulationIssue, same bool, err error) {
	numbers := make([]int, len(of))
	for i, c := range of {
		numbers[i] = int(c.articulation)
	}
	issues, err := a.issuesByNumber(ctx, numbers, today)
	same = true
	for _, c := range of {
		some := issues[int(c.articulation)]
		all, same = append(all, some...), same && len(some) == int(c.issues)
	}
	return all, same, err
}

// issuesByNumber returns the issues of articulations, which depend on their courses and sections.
func (a Actor) issuesByNumber(
	ctx context.Context, numbers []int, today string,
) (map[int][]catalog.ArticulationIssue, error) {
	articulations, err := a.Store.ArticulationsByNumber(ctx, a.Org, numbers, catalog.IssueFields, false)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, articulation := range articulations {
		for _, course := range articulation.Granted {
			ids = append(ids, course.CourseID)
		}
	}
	courses, documents, err := parallel.Two(ctx,
		byID[*catalog.Course](a, ids...), parallel.Call(a.sectionDocuments, articulations))
	issues := map[int][]catalog.ArticulationIssue{}
	for _, articulation := range articulations {
		now := catalog.GrantedNow{Courses: courses}
		if articulation.Evidence != nil {
			now.Document = documents[articulation.Evidence.SectionID]
		}
		issues[articulation.Number()] = articulation.Issues(now, today)
	}
	return issues, err
}

// sectionDocuments returns the digests of the current documents of the sections in the articulations' evidence, by
// section.
func (a Actor) sectionDocuments(ctx context.Context, articulations []*catalog.Articulation) (map[string]string, error) {
	var ids []string
	for _, articulation := range articulations {
		if e := articulation.Evidence; e != nil && e.Extraction.Section != nil {
			ids = append(ids, e.SectionID)
		}
	}
	sections, err := byID[*catalog.Section](a, ids...)(ctx)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	documents := map[string]string{}
	return documents, parallel.Each(ctx, sections, func(ctx context.Context, id string, section *catalog.Section) error {
		stamp, err := a.sectionProvenance(ctx, section)
		if stamp != nil {
			mu.Lock()
			defer mu.Unlock()
			documents[id] = stamp.DocumentSHA256
		}
		return err
	})
}
