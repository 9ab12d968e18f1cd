package service

import (
	"context"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/ctdl"
	"skillscurriculum/pkg/service/parallel"
)

// Publication describes the records of an organization in CTDL. Records refer only to those that are public: live, and
// ready for the Registry.
type Publication struct {
	ctdl.Organization
	Taxonomy string // name of the taxonomy of skills

	courses       []*catalog.Course
	programs      []*catalog.Program
	credentials   []*catalog.Credential
	articulations []*catalog.Articulation
	sections      map[string]*catalog.Section     // those that represent courses, by id
	outcomes      map[string]*catalog.OutcomeList // by the id of the course or program
	public        map[string]string               // CTIDs of public records, by id
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

// ReadPublication reads what an organization publishes. base is the address to which CTIDs are appended.
func ReadPublication(
	ctx context.Context, s Records, o *catalog.Organization, base, taxonomy string,
) (*Publication, error) {
	p := &Publication{Organization: InCTDL(o, base), Taxonomy: taxonomy}
	err := parallel.All(ctx, func(ctx context.Context) (err error) {
		if p.courses, err = All[*catalog.Course](ctx, s, o.ID, ""); err != nil {
			return err
		}
		var ids []string
		for _, c := range p.courses {
			ids = append(ids, Representing(c))
		}
		p.sections, err = GetByID[*catalog.Section](ctx, s, o.ID, ids, false)
		return err
	}, func(ctx context.Context) (err error) {
		p.programs, err = All[*catalog.Program](ctx, s, o.ID, "")
		return err
	}, func(ctx context.Context) (err error) {
		p.credentials, err = All[*catalog.Credential](ctx, s, o.ID, "")
		return err
	}, func(ctx context.Context) (err error) {
		p.articulations, err = All[*catalog.Articulation](ctx, s, o.ID, "")
		return err
	}, func(ctx context.Context) error {
		p.outcomes = map[string]*catalog.OutcomeList{}
		return Each(ctx, s, o.ID, "", func(list *catalog.OutcomeList) error {
			p.outcomes[list.OwnerID] = list
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	p.public = map[string]string{}
	for _, d := range p.Describe() { // whether a record is ready does not depend on those that it refers to
		if d.Ready() && p.public[d.ID] == "" {
			p.public[d.ID] = d.CTID
		}
	}
	return p, nil
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
	parts := map[string][]string{}
	for _, program := range p.programs {
		for _, id := range program.CourseOrder {
			if ctid := p.public[program.ID]; ctid != "" {
				parts[id] = append(parts[id], ctid)
			}
		}
	}
	for _, c := range p.courses {
		described := ctdl.Course{Course: c, Programs: parts[c.ID]}
		framework, outcomes := p.framework(c.ID, c.Code, c.Name)
		described.Taught.Outcomes = outcomes
		if section := p.sections[Representing(c)]; section != nil {
			described.Taught.Skills = ctdl.Skills(section.Skills, p.Taxonomy)
		}
		all = append(all, Described{"course", c.ID, c.Code, ctdl.CourseEntity(p.Organization, described, c.CTID), nil})
		all = append(all, framework...)
	}
	for _, program := range p.programs {
		described := ctdl.Program{
			Program: program, Courses: p.named(program.CourseOrder), Credentials: p.named(program.CredentialIDs),
		}
		code := ""
		if program.Code != nil {
			code = *program.Code
		}
		framework, outcomes := p.framework(program.ID, code, program.Name)
		described.Taught.Outcomes = outcomes
		if program.CIPCode != nil {
			described.CIP = []ctdl.Code{{Code: *program.CIPCode}}
		}
		for _, soc := range program.DerivedSOCs {
			described.SOC = append(described.SOC, ctdl.Code{Code: soc})
		}
		entity := ctdl.ProgramEntity(p.Organization, described, program.CTID)
		all = append(all, Described{"program", program.ID, program.Name, entity, nil})
		all = append(all, framework...)
	}
	for _, c := range p.credentials {
		var courses []string
		for _, section := range c.Sections {
			courses = append(courses, section.CourseID)
		}
		entity := ctdl.CredentialEntity(p.Organization, ctdl.Credential{Credential: c, Courses: p.named(courses)}, c.CTID)
		all = append(all, Described{"credential", c.ID, c.Name, entity, nil})
	}
	for _, a := range p.articulations {
		all = append(all, p.alternatives(a)...)
	}
	return all
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
	if a.Status != catalog.ArticulationApproved || !a.Published {
		return nil
	}
	for i := range a.Sending {
		described := ctdl.TransferValue{Articulation: a, Alternative: i, Courses: p.public}
		if a.Supersedes != nil {
			described.Supersedes = p.public[*a.Supersedes]
		}
		entity := ctdl.TransferValueEntity(p.Organization, described, a.AlternativeCTID(i))
		all = append(all, Described{"articulation", a.ID, a.SendingInstitution.Name, entity, nil})
	}
	return all
}
