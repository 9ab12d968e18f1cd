package rest

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/skills"
)

// candidates are the sections of an organization as they were at one point of its
// change feed.
type candidates struct {
	at    catalog.Cursor
	list  []alignment.Candidate
	index *alignment.Index
	usage *skills.Usage // of the skills that they teach

	profiles []catalog.SectionProfile // of list, without their skills
	// taught returns where each skill is taught, the places that teach it most first.
	taught func() map[string][]taught
}

// taught is a section of the candidates' list, and how it teaches a skill.
type taught struct {
	section    int
	level      int
	confidence float64
}

// bySkill returns where each skill of the candidates is taught.
func (c *candidates) bySkill() map[string][]taught {
	all := map[string][]taught{}
	for i, candidate := range c.list {
		for _, s := range candidate.Skills {
			all[s.SkillID] = append(all[s.SkillID], taught{i, s.Level, s.Confidence})
		}
	}
	for _, places := range all {
		slices.SortFunc(places, func(a, b taught) int {
			return cmp.Or(cmp.Compare(b.level, a.level), cmp.Compare(b.confidence, a.confidence),
				cmp.Compare(c.list[a.section].SectionID, c.list[b.section].SectionID))
		})
	}
	return all
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
	courseOf := make(map[string]*catalog.Course, len(courses))
	for _, course := range courses {
		courseOf[course.ID] = course
	}
	fresh := &candidates{at: at, usage: c.Taxonomy().Usage(nil)}
	for _, section := range sections {
		if course := courseOf[section.CourseID]; course != nil && len(section.Skills) > 0 {
			fresh.list = append(fresh.list, alignment.Candidate{
				SectionID: section.ID, CourseID: course.ID, CourseName: course.Name, SectionName: section.Name, Skills: section.Skills,
			})
			addSkills(fresh.usage, section.Skills)
			profile := section.Profile(course)
			profile.SectionSkills = nil
			fresh.profiles = append(fresh.profiles, profile)
		}
	}
	fresh.taught = sync.OnceValue(fresh.bySkill)
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
