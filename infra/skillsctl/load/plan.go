package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"skillscurriculum/infra/skillsctl/intake"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
)

// plan is what becomes of a batch.
type plan struct {
	*run
	kind   catalog.Kind
	now    catalog.Time
	change catalog.Change
	seen   map[string]catalog.Record // those that other rows name

	created, updated, skipped int
	rejects                   []Reject
}

// fields are those of every kind of record, as the contract names them.
type fields struct {
	Name                    catalog.Optional[string]                  `json:"name"`
	Code                    catalog.Optional[*string]                 `json:"code"`
	Description             catalog.Optional[*string]                 `json:"description"`
	InstructorID            catalog.Optional[*string]                 `json:"instructorId"`
	InstructorName          catalog.Optional[*string]                 `json:"instructorName"`
	SyllabusHref            catalog.Optional[*string]                 `json:"syllabusHref"`
	Skills                  catalog.Optional[[]catalog.SkillInput]    `json:"skills"`
	CIPCode                 catalog.Optional[*string]                 `json:"cipCode"`
	EmployerID              catalog.Optional[string]                  `json:"employerId"`
	JobDescriptionHref      catalog.Optional[*string]                 `json:"jobDescriptionHref"`
	Locations               catalog.Optional[[]catalog.JobLocation]   `json:"locations"`
	SalaryMin               catalog.Optional[*float64]                `json:"salaryMin"`
	SalaryMax               catalog.Optional[*float64]                `json:"salaryMax"`
	ONETSOCCode             catalog.Optional[*string]                 `json:"onetSocCode"`
	TransferFromInstitution catalog.Optional[string]                  `json:"transferFromInstitution"`
	UniqueTag               catalog.Optional[*string]                 `json:"uniqueTag"`
	MatchingConfig          catalog.Optional[*catalog.MatchingConfig] `json:"matchingConfig"`
}

// plan decides on every row of a batch. A row that breaks a rule is rejected; any
// other error ends the import.
func (p *plan) plan(ctx context.Context, rows []intake.Row) error {
	p.now, p.seen = p.Now(), map[string]catalog.Record{}
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = nameOf(row)
	}
	known, err := p.Store.Known(ctx, p.org, p.kind, names)
	if err != nil {
		return err
	}
	beside, err := p.load(ctx, rows, known)
	if err != nil {
		return err
	}
	for _, row := range rows {
		x := known[nameOf(row)]
		x.Name = nameOf(row)
		if p.options.OnlyNew && x.Was != "" {
			p.settle(x, x.Record, false)
			continue
		}
		var in fields
		packed, err := json.Marshal(row.Fields)
		if err == nil {
			err = json.Unmarshal(packed, &in)
		}
		if err == nil {
			err = p.row(ctx, row, in, x, beside)
		}
		var broken *catalog.Error
		if errors.As(err, &broken) && broken.Code != catalog.Unavailable {
			p.rejects = append(p.rejects, rejected(row, reason(broken)))
		} else if err != nil {
			return fmt.Errorf("%s: %w", row.Place, err)
		}
	}
	return nil
}

func reason(err *catalog.Error) string {
	if len(err.Fields) == 0 {
		return err.Detail
	}
	told := make([]string, len(err.Fields))
	for i, f := range err.Fields {
		told[i] = tell(f)
	}
	return strings.Join(told, "; ")
}

// commit saves the plan, where the pass saves, and queues its extractions.
func (p *plan) commit(ctx context.Context) error {
	if !p.save || p.change.Empty() {
		return nil
	}
	if err := p.Store.Commit(ctx, p.org, &p.change); err != nil {
		return err
	}
	if len(p.change.Jobs) > 0 && p.Queue != nil {
		// What does not reach the queue now, the sweeper sends.
		_ = p.Queue.Send(ctx, p.change.Jobs)
	}
	return nil
}

// beside is what the rows of a batch refer to: parents and members by external
// id, default sections by their ids.
type beside struct {
	courses  map[string]*catalog.Course
	sections map[string]*catalog.Section
	packages map[string]*catalog.TransferPackage
	byID     map[string]*catalog.Section
	held     map[string]*catalog.Course // by id: those that a program or credential holds
}

// load reads what the batch refers to.
func (p *plan) load(ctx context.Context, rows []intake.Row, known map[string]catalog.ExternalID) (*beside, error) {
	b := &beside{}
	var parents, members []string
	for _, row := range rows {
		parents = append(parents, row.Parent)
		members = append(members, row.Members...)
	}
	var err error
	switch p.kind {
	case catalog.CourseKind:
		var ids []string
		for _, x := range known {
			if course, ok := x.Record.(*catalog.Course); ok {
				ids = append(ids, course.DefaultSectionID)
			}
		}
		b.byID, err = p.Store.SectionsByID(ctx, p.org, ids, true)
	case catalog.SectionKind:
		b.courses, err = named[*catalog.Course](ctx, p.run, catalog.CourseKind, parents)
	case catalog.TransferCourseKind:
		b.packages, err = named[*catalog.TransferPackage](ctx, p.run, catalog.TransferPackageKind, parents)
	case catalog.ProgramKind:
		var before []string
		for _, x := range known {
			if program, ok := x.Record.(*catalog.Program); ok {
				before = append(before, program.CourseOrder...)
			}
		}
		if b.courses, err = named[*catalog.Course](ctx, p.run, catalog.CourseKind, members); err == nil {
			b.held, err = p.holders(ctx, before, b.courses)
		}
	case catalog.CredentialKind:
		err = p.loadSections(ctx, b, members, known)
	}
	return b, err
}

// loadSections reads the sections that a credential's members mean, and the
// courses that it has held or will hold.
func (p *plan) loadSections(ctx context.Context, b *beside, members []string, known map[string]catalog.ExternalID) (err error) {
	if b.sections, err = named[*catalog.Section](ctx, p.run, catalog.SectionKind, members); err != nil {
		return err
	}
	if b.courses, err = named[*catalog.Course](ctx, p.run, catalog.CourseKind, members); err != nil {
		return err
	}
	var ids []string
	for _, course := range b.courses {
		ids = append(ids, course.DefaultSectionID)
	}
	if b.byID, err = p.Store.SectionsByID(ctx, p.org, ids, true); err != nil {
		return err
	}
	var before []string
	for _, section := range b.sections {
		before = append(before, section.CourseID)
	}
	for _, x := range known {
		if credential, ok := x.Record.(*catalog.Credential); ok {
			for _, section := range credential.Sections {
				before = append(before, section.CourseID)
			}
		}
	}
	b.held, err = p.holders(ctx, before, b.courses)
	return err
}

// holders gives courses by id as they are now: those of ids and those named. A
// pass that saves nothing has some of them only in mind.
func (p *plan) holders(ctx context.Context, ids []string, named map[string]*catalog.Course) (map[string]*catalog.Course, error) {
	for _, course := range named {
		ids = append(ids, course.ID)
	}
	courses, err := p.Store.CoursesByID(ctx, p.org, ids, true)
	if err != nil {
		return nil, err
	}
	if !p.save {
		for _, planned := range p.found[catalog.CourseKind] {
			if course := planned.(*catalog.Course); courses[course.ID] == nil {
				courses[course.ID] = course
			}
		}
	}
	return courses, nil
}

// named gives records by external id: from the table, or, in a pass that saves
// nothing, as this pass would have made them.
func named[R catalog.Record](ctx context.Context, r *run, kind catalog.Kind, names []string) (map[string]R, error) {
	records := map[string]R{}
	var asked []string
	for _, name := range names {
		if seen, ok := r.found[kind][name].(R); ok && !r.save {
			records[name] = seen
		} else {
			asked = append(asked, name)
		}
	}
	known, err := r.Store.Known(ctx, r.org, kind, asked)
	if err != nil {
		return nil, err
	}
	for name, x := range known {
		if record, ok := x.Record.(R); ok {
			records[name] = record
		}
	}
	return records, nil
}

// row decides on one row; x is what its name stands for already.
func (p *plan) row(ctx context.Context, row intake.Row, in fields, x catalog.ExternalID, b *beside) error {
	switch p.kind {
	case catalog.CourseKind:
		return p.course(ctx, in, x, b)
	case catalog.SectionKind:
		return p.section(row, in, x, b)
	case catalog.ProgramKind:
		return p.program(ctx, row, in, x, b)
	case catalog.CredentialKind:
		return p.credential(ctx, row, in, x, b)
	case catalog.JobKind:
		return p.job(ctx, in, x)
	case catalog.TransferPackageKind:
		return p.pack(ctx, in, x)
	case catalog.TransferCourseKind:
		return p.transferCourse(row, in, x, b)
	}
	return fmt.Errorf("a %s cannot be imported", p.kind)
}

// create counts a record that is new and gives it its external id.
func (p *plan) create(x catalog.ExternalID, record catalog.Record) {
	x.Record = record
	p.change.Known = append(p.change.Known, x)
	p.created++
	p.see(x.Name, record)
}

// settle counts a record that there is: changed or as it was.
func (p *plan) settle(x catalog.ExternalID, record catalog.Record, changed bool) {
	if changed {
		p.updated++
	} else {
		p.skipped++
	}
	p.see(x.Name, record)
}

func (p *plan) see(name string, record catalog.Record) {
	if record != nil && p.named[p.kind][name] {
		p.seen[name] = record
	}
}

// replace saves a record that differs from what it was.
func (p *plan) replace(before, after any, record catalog.Record) bool {
	if reflect.DeepEqual(before, after) {
		return false
	}
	p.change.Replace(record, p.now)
	return true
}

func (p *plan) course(ctx context.Context, in fields, x catalog.ExternalID, b *beside) error {
	course, _ := x.Record.(*catalog.Course)
	if course == nil {
		dir, err := p.directory(ctx, catalog.CourseKind)
		if err != nil {
			return err
		}
		// The section is checked before the course takes a number.
		section := &catalog.Section{}
		if err := p.setSection(section, in); err != nil {
			return err
		}
		var change catalog.Change
		course = catalog.NewCourse(p.IDs, dir, p.org, p.now, in.Name.Value, *in.Code.Value, in.Description.Value, &change)
		made := change.Created[1].(*catalog.Section)
		section.Meta, section.CourseID, section.Name = made.Meta, made.CourseID, made.Name
		p.change.Create(course, dir)
		p.change.Create(section, nil)
		p.create(x, course)
		return nil
	}
	section := b.byID[course.DefaultSectionID]
	if section == nil {
		return catalog.Errorf(catalog.Internal, "the course has lost its default section")
	}
	was, wasSection := *course, *section
	if err := p.setSection(section, in); err != nil {
		return err
	}
	course.Name, course.Code, course.Description = in.Name.Or(course.Name), *in.Code.Or(&course.Code), in.Description.Or(course.Description)
	changed := p.replace(was, *course, course)
	changed = p.replaceSection(wasSection, section) || changed
	p.settle(x, course, changed)
	return nil
}

// setSection gives a section what the row says of its teaching.
func (p *plan) setSection(s *catalog.Section, in fields) error {
	before := s.SyllabusHref
	s.InstructorID, s.InstructorName = in.InstructorID.Or(s.InstructorID), in.InstructorName.Or(s.InstructorName)
	s.SyllabusHref = orNull(in.SyllabusHref.Or(s.SyllabusHref))
	if s.Skills == nil {
		s.Skills = []catalog.SkillRef{}
	}
	if in.Skills.Set {
		skills, faults := catalog.Skills(in.Skills.Value, p.SkillName, "skills")
		if faults != nil {
			return catalog.Invalid(faults...)
		}
		s.Skills = skills
	}
	switch {
	case s.SyllabusHref == nil:
		s.Extraction = catalog.Extraction{}
	case before == nil || *before != *s.SyllabusHref:
		if err := p.checkHref(s.SyllabusHref); err != nil {
			return err
		}
		s.Extraction = catalog.Extraction{ProcessingStatus: catalog.Pending}
	}
	return nil
}

func (p *plan) checkHref(href *string) error {
	if href == nil {
		return nil
	}
	if err := p.CheckHref(*href); err != nil {
		return catalog.Invalid(catalog.FieldError{Location: "syllabusHref", Message: err.Error(), Value: *href})
	}
	return nil
}

func (p *plan) replaceSection(before catalog.Section, s *catalog.Section) bool {
	changed := p.replace(before, *s, s)
	if changed && s.ProcessingStatus == catalog.Pending && before.ProcessingStatus != catalog.Pending {
		p.change.Restart(s)
	}
	return changed
}

func (p *plan) section(row intake.Row, in fields, x catalog.ExternalID, b *beside) error {
	course := b.courses[row.Parent]
	if course == nil {
		return catalog.Errorf(catalog.NotFound, "no course has the external id %q", row.Parent)
	}
	section, _ := x.Record.(*catalog.Section)
	if section != nil && section.CourseID != course.ID {
		return catalog.Errorf(catalog.Conflict, "the section belongs to another course, and sections do not move")
	}
	fresh := section == nil
	if fresh {
		section = course.NewSection(p.IDs, p.now, in.Name.Value)
	}
	before := *section
	section.Name, section.Description = in.Name.Or(section.Name), in.Description.Or(section.Description)
	if err := p.setSection(section, in); err != nil {
		return err
	}
	if fresh || before.Ref() != section.Ref() {
		if err := course.Mention(section); err != nil {
			return err
		}
		if !slices.ContainsFunc(p.change.Replaced, func(r catalog.Replacement) bool { return r.Record == course }) {
			p.change.Replace(course, p.now)
		}
	}
	if fresh {
		p.change.Create(section, nil)
		p.create(x, section)
		return nil
	}
	p.settle(x, section, p.replaceSection(before, section))
	return nil
}

func (p *plan) program(ctx context.Context, row intake.Row, in fields, x catalog.ExternalID, b *beside) error {
	program, _ := x.Record.(*catalog.Program)
	fresh := program == nil
	if fresh {
		program = &catalog.Program{Courses: []catalog.CourseProfile{}, CourseOrder: []string{}, DerivedSOCs: []string{}}
		program.Base().OrganizationID = p.org
	}
	before := *program
	program.Name, program.Code = in.Name.Or(program.Name), in.Code.Or(program.Code)
	program.Description = in.Description.Or(program.Description)
	if in.CIPCode.Set {
		socs, err := p.occupations(ctx, in.CIPCode.Value)
		if err != nil {
			return err
		}
		program.CIPCode, program.DerivedSOCs = in.CIPCode.Value, socs
	}
	if row.Members != nil {
		program.CourseOrder, program.Courses = []string{}, nil
		for _, name := range row.Members {
			course := b.courses[name]
			if course == nil {
				return catalog.Errorf(catalog.NotFound, "courses: no course has the external id %q", name)
			}
			added, err := program.Add(course)
			if err != nil {
				return err
			}
			if !added {
				return catalog.Errorf(catalog.Conflict, "courses: %q is named twice", name)
			}
		}
	}
	program.Courses = before.Courses // only their ids are kept
	if fresh {
		dir, err := p.directory(ctx, catalog.ProgramKind)
		if err != nil {
			return err
		}
		program.Meta = catalog.NewMeta(p.IDs.Sequenced(catalog.ProgramKind, dir.Take()), p.org, p.now)
		p.change.Create(program, dir)
		p.create(x, program)
	} else {
		p.settle(x, program, p.replace(before, *program, program))
	}
	program.Holds(&p.change, b.held)
	return nil
}

// occupations are those that a CIP code leads to.
func (p *plan) occupations(ctx context.Context, cip *string) ([]string, error) {
	socs := []string{}
	if cip == nil {
		return socs, nil
	}
	scope, err := p.Market.Scope(ctx, labor.Nation, []string{*cip})
	if err != nil {
		return nil, err
	}
	study, known := scope.CIPs[*cip]
	if !known {
		return nil, catalog.Invalid(catalog.FieldError{Location: "cipCode", Message: "not in the loaded CIP to SOC crosswalk", Value: *cip})
	}
	return append(socs, study.SOCCodes...), nil
}

func (p *plan) credential(ctx context.Context, row intake.Row, in fields, x catalog.ExternalID, b *beside) error {
	credential, _ := x.Record.(*catalog.Credential)
	fresh := credential == nil
	if fresh {
		credential = &catalog.Credential{Sections: []catalog.SectionProfile{}}
	}
	before := *credential
	credential.Name, credential.Code = in.Name.Or(credential.Name), in.Code.Or(credential.Code)
	credential.Description = in.Description.Or(credential.Description)
	if row.Members != nil {
		placed := make([]catalog.Placed, len(row.Members))
		for i, name := range row.Members {
			placed[i] = p.place(b, name)
		}
		if err := credential.SetSections(row.Members, placed, "sections"); err != nil {
			return err
		}
	}
	changed := !reflect.DeepEqual(sectionIDs(before), sectionIDs(*credential))
	if fresh {
		dir, err := p.directory(ctx, catalog.CredentialKind)
		if err != nil {
			return err
		}
		credential.Meta = catalog.NewMeta(p.IDs.Sequenced(catalog.CredentialKind, dir.Take()), p.org, p.now)
		p.change.Create(credential, dir)
		p.create(x, credential)
	} else {
		was, is := before, *credential
		was.Sections, is.Sections = nil, nil
		if changed = changed || !reflect.DeepEqual(was, is); changed {
			p.change.Replace(credential, p.now)
		}
		p.settle(x, credential, changed)
	}
	credential.Holds(&p.change, b.held)
	return nil
}

// place finds the section that a member of a credential means: a section, or a
// course's default section. In a pass that saves nothing the section may not be
// there yet, and its course is enough.
func (p *plan) place(b *beside, name string) catalog.Placed {
	if section := b.sections[name]; section != nil {
		return catalog.Placed{Section: section, Course: b.held[section.CourseID]}
	}
	course := b.courses[name]
	if course == nil {
		return catalog.Placed{}
	}
	section := b.byID[course.DefaultSectionID]
	if section == nil && !p.save {
		section = &catalog.Section{Meta: catalog.Meta{ID: course.DefaultSectionID}, CourseID: course.ID}
	}
	return catalog.Placed{Section: section, Course: b.held[course.ID]}
}

func sectionIDs(c catalog.Credential) []string {
	ids := []string{}
	for _, s := range c.Sections {
		ids = append(ids, s.SectionID)
	}
	return ids
}

func (p *plan) job(ctx context.Context, in fields, x catalog.ExternalID) error {
	job, _ := x.Record.(*catalog.Job)
	fresh := job == nil
	if fresh {
		job = &catalog.Job{Locations: []catalog.JobLocation{}, Skills: []catalog.SkillRef{}}
	}
	before := *job
	job.Name, job.EmployerID = in.Name.Or(job.Name), in.EmployerID.Or(job.EmployerID)
	job.Description, job.JobDescriptionHref = in.Description.Or(job.Description), in.JobDescriptionHref.Or(job.JobDescriptionHref)
	job.SalaryMin, job.SalaryMax = in.SalaryMin.Or(job.SalaryMin), in.SalaryMax.Or(job.SalaryMax)
	job.ONETSOCCode = in.ONETSOCCode.Or(job.ONETSOCCode)
	if in.Locations.Set {
		job.Locations = append([]catalog.JobLocation{}, in.Locations.Value...)
	}
	faults := job.Check("")
	if in.Skills.Set {
		skills, wrong := catalog.Skills(in.Skills.Value, p.SkillName, "skills")
		job.Skills, faults = skills, append(faults, wrong...)
	}
	if faults != nil {
		return catalog.Invalid(faults...)
	}
	if !fresh {
		p.settle(x, job, p.replace(before, *job, job))
		return nil
	}
	dir, err := p.directory(ctx, catalog.JobKind)
	if err != nil {
		return err
	}
	job.Meta = catalog.NewMeta(p.IDs.Sequenced(catalog.JobKind, dir.Take()), p.org, p.now)
	p.change.Create(job, dir)
	p.create(x, job)
	return nil
}

func (p *plan) pack(ctx context.Context, in fields, x catalog.ExternalID) error {
	pack, _ := x.Record.(*catalog.TransferPackage)
	fresh := pack == nil
	if fresh {
		pack = &catalog.TransferPackage{MatchingConfig: catalog.DefaultMatchingConfig}
	}
	before := *pack
	pack.Name, pack.TransferFromInstitution = in.Name.Or(pack.Name), in.TransferFromInstitution.Or(pack.TransferFromInstitution)
	pack.Description, pack.UniqueTag = in.Description.Or(pack.Description), in.UniqueTag.Or(pack.UniqueTag)
	if in.MatchingConfig.Value != nil {
		pack.MatchingConfig = *in.MatchingConfig.Value
	}
	if faults := pack.MatchingConfig.Check("matchingConfig"); faults != nil {
		return catalog.Invalid(faults...)
	}
	if !fresh {
		p.settle(x, pack, p.replace(before, *pack, pack))
		return nil
	}
	dir, err := p.directory(ctx, catalog.TransferPackageKind)
	if err != nil {
		return err
	}
	pack.Meta = catalog.NewMeta(p.IDs.Sequenced(catalog.TransferPackageKind, dir.Take()), p.org, p.now)
	p.change.Create(pack, dir)
	p.create(x, pack)
	return nil
}

// transferCourse creates a course of a package; one that is there stays as it is,
// since transfer courses cannot be changed.
func (p *plan) transferCourse(row intake.Row, in fields, x catalog.ExternalID, b *beside) error {
	pack := b.packages[row.Parent]
	if pack == nil {
		return catalog.Errorf(catalog.NotFound, "no transfer package has the external id %q", row.Parent)
	}
	if course, _ := x.Record.(*catalog.TransferCourse); course != nil {
		p.settle(x, course, false)
		return nil
	}
	href := orNull(in.SyllabusHref.Value)
	if err := p.checkHref(href); err != nil {
		return err
	}
	course := &catalog.TransferCourse{
		Meta:      catalog.NewMeta(p.IDs.Ordered(catalog.TransferCourseKind, p.now, len(p.change.Created)), p.org, p.now),
		PackageID: pack.ID, Name: in.Name.Value, Description: in.Description.Value, SyllabusHref: href,
		Skills: []catalog.SkillRef{}, Extraction: catalog.Extraction{ProcessingStatus: catalog.Pending},
	}
	p.change.Create(course, nil)
	p.change.Grows(pack)
	p.create(x, course)
	return nil
}

// orNull takes a blank text for none.
func orNull(s *string) *string {
	if s == nil || strings.TrimSpace(*s) == "" {
		return nil
	}
	return s
}
