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
	list  []alignment.Candidate
	index *alignment.Index
	usage *skills.Usage // of the skills in list

	profiles []catalog.SectionProfile // of list, without their skills
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

// Sections is the part of the table that the index of sections uses.
type Sections interface {
	Records
	// FeedEnd returns the cursor after the last change of the organization's records.
	FeedEnd(ctx context.Context, org catalog.OrgID) (catalog.Cursor, error)
}

// Index caches the sections of some organizations for comparisons.
type Index struct {
	Taxonomy func() *skills.Taxonomy
	Log      func() *slog.Logger

	kept kept[*Candidates]
}

// Candidates returns the organization's sections with their skills.
func (x *Index) Candidates(ctx context.Context, s Sections, org catalog.OrgID) (*Candidates, error) {
	at, err := s.FeedEnd(ctx, org)
	if err != nil {
		return nil, err
	}
	known, ok := x.kept.get(org, at)
	if ok {
		return known, nil
	}
	sections, courses, err := parallel.Two(ctx, every[*catalog.Section](s, org), every[*catalog.Course](s, org))
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
			fresh.list = append(fresh.list, alignment.Candidate{
				SectionID: section.ID, CourseID: course.ID, CourseName: course.Name,
				SectionName: section.Name, Skills: section.Skills,
			})
			addSkills(fresh.usage, section.Skills)
			profile := section.Profile(course)
			profile.SectionSkills = nil
			fresh.profiles = append(fresh.profiles, profile)
		}
	}
	fresh.taught = sync.OnceValue(fresh.bySkill)
	fresh.index = alignment.NewIndex(fresh.list)
	if known == nil || known.usage.Unknown() != fresh.usage.Unknown() {
		x.logUsage(ctx, org, fresh.usage)
	}
	x.kept.put(org, at, fresh)
	return fresh, nil
}

// Teaching lists a page of the sections that teach a skill, and how many there are.
func (c *Candidates) Teaching(skillID string, offset, limit int) (sections []catalog.TeachingSection, total int) {
	places := c.taught()[skillID]
	for _, place := range catalog.PageOf(places, offset, limit) {
		p := c.profiles[place.section]
		sections = append(sections, catalog.TeachingSection{
			CourseProfile: p.CourseProfile, SectionID: p.SectionID, SectionName: p.SectionName,
			SectionInstructorName: p.SectionInstructorName, Level: place.level, Confidence: place.confidence,
		})
	}
	return sections, len(places)
}

// followChanges is the number of changes after which everything is read again.
const followChanges = 1_000

// changedSince lists the records that the selected changes after a cursor are about, and returns the cursor after the
// last change. It reports whether they are few enough to be followed.
func changedSince(
	ctx context.Context, s Searched, org catalog.OrgID, at catalog.Cursor, selects func(catalog.RecordChange) bool,
) (ids []string, end catalog.Cursor, few bool, err error) {
	changes, more, err := s.Changes(ctx, org, at.String(), followChanges)
	for _, change := range changes {
		at = change.Cursor
		if selects(change) {
			ids = append(ids, change.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), at, !more, err
}

// followed keeps what was read of the records of the organizations that asked last, and follows their change feeds.
type followed[T any] struct{ kept kept[T] }

// now returns what is kept of an organization as it is now. apply makes it from what it was and the ids of the selected
// records that have changed; load reads everything.
func (f *followed[T]) now(
	ctx context.Context, s Searched, org catalog.OrgID, selects func(catalog.RecordChange) bool,
	apply func(ctx context.Context, last T, ids []string) (T, error), load func(context.Context) (T, error),
) (fresh T, err error) {
	if last, ok := f.kept.last(org); ok {
		ids, end, few, err := changedSince(ctx, s, org, last.at, selects)
		if fresh = last.what; err == nil && few && len(ids) > 0 {
			fresh, err = apply(ctx, last.what, ids)
		}
		if err == nil && few {
			f.kept.put(org, end, fresh)
		}
		if err != nil || few {
			return fresh, err
		}
	}
	end, err := s.FeedEnd(ctx, org)
	if err == nil {
		fresh, err = load(ctx)
	}
	if err == nil {
		f.kept.put(org, end, fresh)
	}
	return fresh, err
}

// kept caches a value per organization. A value is valid until the organization's change feed grows.
type kept[T any] struct {
	mu sync.Mutex
	of map[catalog.OrgID]keptAt[T]
}

type keptAt[T any] struct {
	at   catalog.Cursor
	what T
}

// keptOrganizations is the maximum number of cached organizations.
const keptOrganizations = 4

// last returns the cached value with its cursor, and whether there is one.
func (k *kept[T]) last(org catalog.OrgID) (keptAt[T], bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known, ok := k.of[org]
	return known, ok
}

// get returns the cached value, and whether it is valid for the cursor.
func (k *kept[T]) get(org catalog.OrgID, at catalog.Cursor) (T, bool) {
	known, ok := k.last(org)
	return known.what, ok && known.at == at
}

func (k *kept[T]) put(org catalog.OrgID, at catalog.Cursor, what T) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil || len(k.of) >= keptOrganizations {
		k.of = map[catalog.OrgID]keptAt[T]{}
	}
	k.of[org] = keptAt[T]{at, what}
}

// drop removes the value of an organization.
func (k *kept[T]) drop(org catalog.OrgID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.of, org)
}
