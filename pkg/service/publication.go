package service

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/ctdl"
	"skillscurriculum/pkg/service/parallel"
)

// Publication describes records of an organization in CTDL. Records refer only to those that are public: live, and
// ready for the Registry.
type Publication struct {
	ctdl.Organization
	Taxonomy string // name of the taxonomy of skills

	read     map[string]catalog.Record       // by id; nil for those that do not exist
	records  []catalog.Record                // of publishedKinds
	sections map[string]*catalog.Section     // those that represent courses, by id
	outcomes map[string]*catalog.OutcomeList // by the id of the course or program
	public   map[string]string               // CTIDs of public records, by id
	parts    map[string][]string             // CTIDs of the public programs of a course
}

// Described is a record in CTDL.
type Described struct {
	Resource string // course, program, credential, articulation or framework
	ID       string // of the record
	Name     string
	ctdl.Entity
	// Others are what the entity needs to be valid in the Registry, such as the competencies of a framework.
	Others []ctdl.Entity
}

// newPublication returns a publication without records.
func newPublication(taxonomy string) *Publication {
	return &Publication{
		Taxonomy: taxonomy, read: map[string]catalog.Record{}, sections: map[string]*catalog.Section{},
		outcomes: map[string]*catalog.OutcomeList{},
	}
}

// ReadPublication reads what an organization publishes. base is the address to which CTIDs are appended.
func ReadPublication(
	ctx context.Context, s Records, o *catalog.Organization, base, taxonomy string,
) (*Publication, error) {
	p := newPublication(taxonomy)
	p.Organization = InCTDL(o, base)
	var mu sync.Mutex
	var named []string
	var reads []func(context.Context) error
	for _, kind := range append(publishedKinds, catalog.OutcomeListKind) {
		reads = append(reads, func(ctx context.Context) error {
			return s.EachRecord(ctx, o.ID, kind, "", func(r catalog.Record) error {
				mu.Lock()
				defer mu.Unlock()
				named = append(named, p.add(r)...)
				return nil
			})
		})
	}
	err := parallel.All(ctx, reads...)
	if err == nil {
		named = slices.DeleteFunc(named, func(id string) bool { return !catalog.SectionKind.Made(id) })
		p.sections, err = GetByID[*catalog.Section](ctx, s, o.ID, named, false)
	}
	if err != nil {
		return nil, err
	}
	p.settle()
	return p, nil
}

// publishedKinds are the kinds of records that are published, in the order in which they are listed.
var publishedKinds = []catalog.Kind{
	catalog.CourseKind, catalog.ProgramKind, catalog.CredentialKind, catalog.ArticulationKind,
}

// load reads records by id, with the outcomes of courses and programs, and returns the ids of the records that those
// refer to. Each record is read once.
func (p *Publication) load(ctx context.Context, a Actor, ids []string) (named []string, err error) {
	wanted := map[catalog.Kind][]string{}
	for _, id := range ids {
		if _, known := p.read[id]; known {
			continue
		}
		p.read[id] = nil
		for _, kind := range append(publishedKinds, catalog.SectionKind) {
			if kind.Made(id) {
				wanted[kind] = append(wanted[kind], id)
			}
		}
		if catalog.OutcomeOwner(id) != "" {
			wanted[catalog.OutcomeListKind] = append(wanted[catalog.OutcomeListKind], catalog.OutcomeListID(id))
		}
	}
	var mu sync.Mutex
	err = parallel.Each(ctx, wanted, func(ctx context.Context, kind catalog.Kind, ids []string) error {
		records, err := a.Store.RecordsByID(ctx, a.Org, kind, ids, true)
		mu.Lock()
		defer mu.Unlock()
		for id, r := range records {
			p.read[id] = r
			named = append(named, p.add(r)...)
		}
		return err
	})
	p.settle()
	return named, err
}

// add adds a record and returns the ids of those that it refers to.
func (p *Publication) add(r catalog.Record) (named []string) {
	switch r := r.(type) {
	case *catalog.Section:
		p.sections[r.ID] = r
		return nil
	case *catalog.OutcomeList:
		p.outcomes[r.OwnerID] = r
		return nil
	case *catalog.Course:
		named = append(slices.DeleteFunc(r.Holders(""), func(id string) bool {
			return !catalog.ProgramKind.Made(id)
		}), Representing(r))
	case *catalog.Program:
		named = slices.Concat(r.CourseOrder, r.CredentialIDs)
	case *catalog.Credential:
		for _, section := range r.Sections {
			named = append(named, section.CourseID)
		}
	case *catalog.Articulation:
		if named = r.GrantedCourses(); r.Supersedes != nil {
			named = append(named, *r.Supersedes)
		}
	}
	p.records = append(p.records, r)
	return named
}

// settle finds which records are public. Whether a record is ready does not depend on those that it refers to.
func (p *Publication) settle() {
	slices.SortFunc(p.records, func(a, b catalog.Record) int { return comparePublished(a.Base().ID, b.Base().ID) })
	p.public, p.parts = map[string]string{}, map[string][]string{}
	for _, d := range p.Describe() {
		if d.Ready() && p.public[d.ID] == "" {
			p.public[d.ID] = d.CTID
		}
	}
	for _, r := range p.records {
		program, ok := r.(*catalog.Program)
		if ctid := p.public[r.Base().ID]; ok && ctid != "" {
			for _, id := range program.CourseOrder {
				p.parts[id] = append(p.parts[id], ctid)
			}
		}
	}
}

// comparePublished compares the ids of records that can be published by kind, then creation.
func comparePublished(a, b string) int {
	number := func(id string) int {
		n, _ := catalog.Sequence(publishedKinds[kindMade(id)], id)
		return n
	}
	return cmp.Or(cmp.Compare(kindMade(a), kindMade(b)), cmp.Compare(number(a), number(b)))
}

// InCTDL returns what documents state about an organization.
func InCTDL(o *catalog.Organization, base string) ctdl.Organization {
	return ctdl.Organization{
		CTID: o.RegistryID(), Name: o.Name, Description: o.Description, Webpage: o.Webpage, AgentType: o.AgentType,
		Language: o.LanguageTag(), Base: base,
	}
}

// Representing returns the id of the section whose skills represent the course: the default section if it has skills,
// otherwise the one with the most.
func Representing(c *catalog.Course) string {
	id, most := c.DefaultSectionID, 0
	for _, ref := range c.Sections {
		if ref.ID == c.DefaultSectionID && ref.SkillCount > 0 {
			return ref.ID
		}
		if ref.SkillCount > most && ref.Status != catalog.CancelledSection {
			id, most = ref.ID, ref.SkillCount
		}
	}
	return id
}

// Describe returns all records of the publication that can be published, ready or not.
func (p *Publication) Describe() (all []Described) {
	for _, r := range p.records {
		all = append(all, p.describe(r)...)
	}
	return all
}

// describe returns a record that can be published: a course or program with its outcomes, or the alternatives of an
// articulation.
func (p *Publication) describe(r catalog.Record) []Described {
	switch r := r.(type) {
	case *catalog.Course:
		described := ctdl.Course{Course: r, Programs: p.parts[r.ID]}
		framework, outcomes := p.framework(r.ID, r.Code, r.Name)
		described.Taught.Outcomes = outcomes
		if section := p.sections[Representing(r)]; section != nil {
			described.Taught.Skills = ctdl.Skills(section.Skills, p.Taxonomy)
		}
		entity := ctdl.CourseEntity(p.Organization, described, r.CTID)
		return append([]Described{{"course", r.ID, r.Code, entity, nil}}, framework...)
	case *catalog.Program:
		described := ctdl.Program{Program: r, Courses: p.named(r.CourseOrder), Credentials: p.named(r.CredentialIDs)}
		framework, outcomes := p.framework(r.ID, catalog.ValueOr(r.Code, ""), r.Name)
		described.Taught.Outcomes = outcomes
		if r.CIPCode != nil {
			described.CIP = []ctdl.Code{{Code: *r.CIPCode}}
		}
		for _, soc := range r.DerivedSOCs {
			described.SOC = append(described.SOC, ctdl.Code{Code: soc})
		}
		entity := ctdl.ProgramEntity(p.Organization, described, r.CTID)
		return append([]Described{{"program", r.ID, r.Name, entity, nil}}, framework...)
	case *catalog.Credential:
		var courses []string
		for _, section := range r.Sections {
			courses = append(courses, section.CourseID)
		}
		entity := ctdl.CredentialEntity(p.Organization, ctdl.Credential{Credential: r, Courses: p.named(courses)}, r.CTID)
		return []Described{{"credential", r.ID, r.Name, entity, nil}}
	case *catalog.Articulation:
		return p.alternatives(r)
	}
	return nil
}

// framework describes the outcomes of a course or program that is public, and returns their CTIDs.
func (p *Publication) framework(ownerID, code, name string) (all []Described, outcomes []string) {
	list := p.outcomes[ownerID]
	if list == nil || len(list.Outcomes) == 0 || p.public[ownerID] == "" {
		return nil, nil
	}
	f := ctdl.Framework{Code: code, Name: name}
	for _, o := range list.Outcomes {
		f.Competencies = append(f.Competencies, ctdl.Competency{Outcome: o, CTID: o.CTID})
		outcomes = append(outcomes, o.CTID)
	}
	entity, competencies := ctdl.FrameworkEntity(p.Organization, f, list.CTID)
	return []Described{{"framework", list.ID, name, entity, competencies}}, outcomes
}

// named returns the CTIDs of those records that are public.
func (p *Publication) named(ids []string) (ctids []string) {
	for _, id := range ids {
		if ctid := p.public[id]; ctid != "" {
			ctids = append(ctids, ctid)
		}
	}
	return ctids
}

// alternatives describes the alternatives of an articulation that is approved and meant for publication.
func (p *Publication) alternatives(a *catalog.Articulation) (all []Described) {
	if whyUnpublished(a) != "" {
		return nil
	}
	for i := range a.Sending {
		described := ctdl.TransferValue{Articulation: a, Alternative: i, Courses: p.public}
		if a.Supersedes != nil {
			described.Supersedes = p.public[*a.Supersedes]
		}
		var codes []string
		for _, c := range a.Sending[i].Courses {
			codes = append(codes, c.Code)
		}
		name := a.SendingInstitution.Name + ": " + strings.Join(codes, " + ")
		entity := ctdl.TransferValueEntity(p.Organization, described, a.AlternativeCTID(i))
		all = append(all, Described{"articulation", a.ID, name, entity, nil})
	}
	return all
}

// whyUnpublished tells why an articulation is not meant for publication; "" if it is.
func whyUnpublished(a *catalog.Articulation) string {
	switch {
	case a.Status != catalog.ArticulationApproved:
		return fmt.Sprintf("its status is %s, not %s", a.Status, catalog.ArticulationApproved)
	case !a.Published:
		return "published is false"
	}
	return ""
}
