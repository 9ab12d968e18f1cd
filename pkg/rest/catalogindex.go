package rest

import (
	"context"
	"sync"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/skills"
)

// candidates are the sections of an organization as they were at one point of its
// change feed.
type candidates struct {
	at    string
	list  []alignment.Candidate
	index *alignment.Index
	usage *skills.Usage // of the skills that they teach
}

// indexedOrganizations is how many organizations' sections are kept at a time.
const indexedOrganizations = 4

// sectionIndex keeps the candidates of the organizations that asked last; they
// serve until the organization's change feed moves on.
type sectionIndex struct {
	mu   sync.Mutex
	kept map[catalog.OrgID]*candidates
}

// candidates returns the organization's sections with their skills.
func (c *call) candidates(ctx context.Context) (*candidates, error) {
	at, err := c.Store.FeedEnd(ctx, c.org)
	if err != nil {
		return nil, err
	}
	x := &c.Server.sections
	x.mu.Lock()
	kept := x.kept[c.org]
	x.mu.Unlock()
	if kept != nil && kept.at == at {
		return kept, nil
	}
	sections, courses, err := parallel(ctx, func(ctx context.Context) ([]*catalog.Section, error) {
		return c.Store.AllSections(ctx, c.org)
	}, func(ctx context.Context) ([]*catalog.Course, error) {
		return c.Store.AllCourses(ctx, c.org)
	})
	if err != nil {
		return nil, err
	}
	names := make(map[string]string, len(courses))
	for _, course := range courses {
		names[course.ID] = course.Name
	}
	fresh := &candidates{at: at, usage: c.Taxonomy().Usage(nil)}
	for _, section := range sections {
		if name, ok := names[section.CourseID]; ok && len(section.Skills) > 0 {
			fresh.list = append(fresh.list, alignment.Candidate{
				SectionID: section.ID, CourseID: section.CourseID, CourseName: name, SectionName: section.Name, Skills: section.Skills,
			})
			addSkills(fresh.usage, section.Skills)
		}
	}
	fresh.index = alignment.NewIndex(fresh.list)
	if kept == nil || kept.usage.Unknown() != fresh.usage.Unknown() {
		c.logUsage(ctx, fresh.usage)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.kept == nil || len(x.kept) >= indexedOrganizations {
		x.kept = map[catalog.OrgID]*candidates{}
	}
	x.kept[c.org] = fresh
	return fresh, nil
}
