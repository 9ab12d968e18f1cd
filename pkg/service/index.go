package service

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service/parallel"
	"skillscurriculum/pkg/skills"
)

// Candidates are the sections of an organization at one position of its change feed.
type Candidates struct {
	list  []catalog.SectionProfile
	index *alignment.Index
	usage *skills.Usage // of the skills in list
	// taught returns the sections that teach each skill, those that teach it best first.
	taught func() map[string][]taught
}

// taught is how a section teaches a skill.
type taught struct {
	section    int // index in the list of candidates
	level      int
	confidence float64
}

// bySkill returns the sections that teach each skill.
func (c *Candidates) bySkill() map[string][]taught {
	all := map[string][]taught{}
	for i, candidate := range c.list {
		for _, s := range candidate.SectionSkills {
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

// share implements followed.
func (c *Candidates) share() float64 { return organizationShare }

// Index caches the sections of some organizations for comparisons.
type Index struct {
	Taxonomy func() *skills.Taxonomy
	Log      func() *slog.Logger

	followed[catalog.OrgID, *Candidates]
}

// Candidates returns the organization's sections with their skills.
func (x *Index) Candidates(ctx context.Context, a Actor) (*Candidates, error) {
	load := func(ctx context.Context) (*Candidates, error) { return x.load(ctx, a) }
	return x.now(ctx, a, a.Org, ofKinds(catalog.CourseKind, catalog.SectionKind), func(
		ctx context.Context, _ *Candidates, _ []string,
	) (*Candidates, error) {
		return load(ctx)
	}, load)
}

func (x *Index) load(ctx context.Context, a Actor) (*Candidates, error) {
	sections, courses, err := parallel.Two(ctx, every[*catalog.Section](a), every[*catalog.Course](a))
	if err != nil {
		return nil, err
	}
	courseOf := make(map[string]*catalog.Course, len(courses))
	for _, course := range courses {
		courseOf[course.ID] = course
	}
	fresh := &Candidates{usage: x.Taxonomy().Usage(nil)}
	for _, section := range sections {
		if course := courseOf[section.CourseID]; course != nil && len(section.Skills) > 0 && !section.Cancelled() {
			fresh.list = append(fresh.list, section.Profile(course))
			addSkills(fresh.usage, section.Skills)
		}
	}
	fresh.taught = sync.OnceValue(fresh.bySkill)
	fresh.index = alignment.NewIndex(fresh.list)
	if known, ok := x.last(a.Org); !ok || known.usage.Unknown() != fresh.usage.Unknown() {
		x.logUsage(ctx, a.Org, fresh.usage)
	}
	return fresh, nil
}

// Teaching lists a page of the sections that teach a skill, and how many there are.
func (c *Candidates) Teaching(skillID string, offset, limit int) (sections []catalog.TeachingSection, total int) {
	places := c.taught()[skillID]
	for _, place := range catalog.PageOf(places, offset, limit) {
		p := c.list[place.section]
		sections = append(sections, catalog.TeachingSection{
			CourseProfile: p.CourseProfile, SectionID: p.SectionID, SectionName: p.SectionName,
			SectionInstructorName: p.SectionInstructorName, Level: place.level, Confidence: place.confidence,
		})
	}
	return sections, len(places)
}
