package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	incomplete                []Reject
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
	b, err := p.load(ctx, rows, known)
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
		err := p.row(ctx, row, x, b)
		var broken *catalog.Error
		if errors.As(err, &broken) && broken.Code != catalog.Unavailable {
			p.rejects = append(p.rejects, rejected(row, reason(broken)))
		} else if err != nil {
			return fmt.Errorf("%s: %w", row.Place, err)
		}
	}
	return p.change.Resolve(known, "externalId")
}

func reason(err *catalog.Error) string {
	if len(err.Fields) == 0 {
		return err.Detail
	}
	texts := make([]string, len(err.Fields))
	for i, f := range err.Fields {
		texts[i] = describe(f)
	}
	return strings.Join(texts, "; ")
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

// references is what the rows of a batch refer to: parents and members by external
// id, default sections by their ids.
type references struct {
	courses  map[string]*catalog.Course
	sections map[string]*catalog.Section
	packages map[string]*catalog.TransferPackage
	size     map[string]int // courses of a package, by its id
	byID     map[string]*catalog.Section
	placed   map[string]catalog.Placed
	held     map[string]*catalog.Course // by id: those that a program or credential holds

	articulations *articulationReferences
}

// load reads what the batch refers to.
func (p *plan) load(ctx context.Context, rows []intake.Row, known map[string]catalog.ExternalID) (*references, error) {
	b := &references{}
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
		err = p.loadPackages(ctx, b, parents)
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
	case catalog.ArticulationKind:
		b.articulations, err = p.loadArticulations(ctx, rows)
	}
	return b, err
}

// loadPackages reads packages, and after them how many courses each has: a package that
// gains some meanwhile is not as it was loaded.
func (p *plan) loadPackages(ctx context.Context, b *references, names []string) (err error) {
	if b.packages, err = named[*catalog.TransferPackage](ctx, p.run, catalog.TransferPackageKind, names); err != nil {
		return err
	}
	b.size = map[string]int{}
	for _, pack := range b.packages {
		courses, err := p.Store.TransferCourses(ctx, p.org, pack.ID)
		if err != nil {
			return err
		}
		b.size[pack.ID] = len(courses)
	}
	return nil
}

// loadSections reads the sections that a credential's members mean, and the
// courses that it has held or will hold.
func (p *plan) loadSections(ctx context.Context, b *references, members []string, known map[string]catalog.ExternalID) (err error) {
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
	if b.held, err = p.holders(ctx, before, b.courses); err != nil {
		return err
	}
	b.placed = map[string]catalog.Placed{}
	for _, name := range members {
		if placed := p.place(b, name); placed.Section != nil && placed.Course != nil {
			b.placed[name] = placed
		}
	}
	return nil
}

// place finds the section that a member of a credential means: a section, or a
// course's default section. In a pass that saves nothing the section may not be
// there yet, and its course is enough.
func (p *plan) place(b *references, name string) catalog.Placed {
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

// holders returns courses by id as they are now: those of ids and those named. A
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

// named returns records by external id: from the table, or, in a pass that saves
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
func (p *plan) row(ctx context.Context, row intake.Row, x catalog.ExternalID, b *references) error {
	l := catalog.Lookups{SkillName: p.SkillName, CheckHref: p.CheckHref, Courses: b.courses, Sections: b.placed}
	switch p.kind {
	case catalog.CourseKind:
		return p.course(ctx, row, x, b, l)
	case catalog.SectionKind:
		return p.section(row, x, b, l)
	case catalog.ProgramKind:
		return p.program(ctx, row, x, b, l)
	case catalog.CredentialKind:
		return p.credential(ctx, row, x, b, l)
	case catalog.JobKind:
		_, err := listed[catalog.JobInput, catalog.Job](ctx, p, row, x, l)
		return err
	case catalog.TransferPackageKind:
		_, err := listed[catalog.TransferPackageInput, catalog.TransferPackage](ctx, p, row, x, l)
		return err
	case catalog.TransferCourseKind:
		return p.transferCourse(row, x, b, l)
	case catalog.ArticulationKind:
		return p.articulation(ctx, row, x, b.articulations)
	}
	return fmt.Errorf("a %s cannot be imported", p.kind)
}

// decode reads fields, which keep the contract, as a record's input.
func decode[I any](fields map[string]any) (in I, err error) {
	packed, err := json.Marshal(fields)
	if err != nil {
		return in, err
	}
	return in, json.Unmarshal(packed, &in)
}

// record is the pointer type of a record struct.
type record[T any] interface {
	*T
	catalog.Record
}

// listed decides on a record of a list: it is created, or changed where the row says
// something else.
func listed[I catalog.Input[R], T any, R record[T]](ctx context.Context, p *plan, row intake.Row, x catalog.ExternalID, l catalog.Lookups) (R, error) {
	in, err := decode[I](row.Fields)
	if err != nil {
		return nil, err
	}
	r, _ := x.Record.(R)
	if fresh := r == nil; fresh {
		r = R(new(T))
		if err := catalog.Apply(in, r, l); err != nil {
			return nil, err
		}
		dir, err := p.directory(ctx, p.kind)
		if err != nil {
			return nil, err
		}
		p.change.Add(r, p.IDs, dir, p.org, p.Now())
		p.create(x, r)
		return r, nil
	}
	before := *r
	if err := catalog.Apply(in, r, l); err != nil {
		return nil, err
	}
	*r = bare(*r)
	p.settle(x, r, catalog.ReplaceChanged(&p.change, bare(before), r, p.now))
	return r, nil
}

// bare returns a record as the store keeps it: without what is shown of its members.
func bare[T any](r T) T {
	switch r := any(&r).(type) {
	case *catalog.Program:
		r.Courses = nil
	case *catalog.Credential:
		sections := make([]catalog.SectionProfile, len(r.Sections))
		for i, s := range r.Sections {
			sections[i].CourseID, sections[i].SectionID = s.CourseID, s.SectionID
		}
		r.Sections = sections
	}
	return r
}

// create counts a record that is new.
func (p *plan) create(x catalog.ExternalID, record catalog.Record) {
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

func (p *plan) course(ctx context.Context, row intake.Row, x catalog.ExternalID, b *references, l catalog.Lookups) error {
	in, err := decode[catalog.CourseInput](row.Fields)
	if err != nil {
		return err
	}
	ofSection, err := decode[catalog.SectionInput](sectionFields(row.Fields))
	if err != nil {
		return err
	}
	course, _ := x.Record.(*catalog.Course)
	fresh := course == nil
	section := &catalog.Section{}
	if fresh {
		course = &catalog.Course{}
	} else if section = b.byID[course.DefaultSectionID]; section == nil {
		return catalog.Errorf(catalog.Internal, "the course has lost its default section")
	}
	was, wasSection := *course, *section
	ofSection = reviewed(ofSection, section, l)
	if wrong := append(in.Apply(course, l), ofSection.Apply(section, l)...); wrong != nil {
		return catalog.Invalid(wrong...)
	}
	if fresh {
		dir, err := p.directory(ctx, catalog.CourseKind)
		if err != nil {
			return err
		}
		p.change.AddCourse(course, section, p.IDs, dir, p.org, p.Now())
		p.create(x, course)
		return nil
	}
	changed := catalog.ReplaceChanged(&p.change, was, course, p.now)
	changed = p.replaceSection(wasSection, section) || changed
	p.settle(x, course, changed)
	return nil
}

// reviewed leaves the skills of a section alone, where a row says what they were before
// people reviewed them: other skills would end the reviews.
func reviewed(in catalog.SectionInput, s *catalog.Section, l catalog.Lookups) catalog.SectionInput {
	if !in.Skills.Set || len(s.Reviews) == 0 {
		return in
	}
	skills, wrong := catalog.Skills(in.Skills.Value, l.SkillName, "skills")
	if wrong == nil && slices.Equal(skills, catalog.Unreviewed(s)) {
		in.Skills = catalog.Optional[[]catalog.SkillInput]{}
	}
	return in
}

// replaceSection saves a section that is not as it was, and reports whether that is so.
func (p *plan) replaceSection(before catalog.Section, s *catalog.Section) bool {
	changed := catalog.ReplaceChanged(&p.change, before, s, p.now)
	if s.HasNewSyllabus(before) {
		p.change.Restart(s)
	}
	return changed
}

func (p *plan) section(row intake.Row, x catalog.ExternalID, b *references, l catalog.Lookups) error {
	course := b.courses[row.Parent]
	if course == nil {
		return catalog.Errorf(catalog.NotFound, "no course has the external id %q", row.Parent)
	}
	in, err := decode[catalog.SectionInput](row.Fields)
	if err != nil {
		return err
	}
	if row.Untitled {
		in.Name = catalog.Optional[string]{Set: true, Value: course.Name}
	}
	section, _ := x.Record.(*catalog.Section)
	if section != nil && section.CourseID != course.ID {
		return catalog.Errorf(catalog.Conflict, "the section belongs to another course, and sections do not move")
	}
	fresh := section == nil
	if fresh {
		section = &catalog.Section{}
	}
	before := *section
	if err := catalog.Apply(reviewed(in, section, l), section, l); err != nil {
		return err
	}
	if fresh {
		err = p.change.AddSection(section, course, p.IDs, p.Now())
	} else {
		err = course.Mention(section)
	}
	if err != nil {
		return err
	}
	if fresh || before.Ref() != section.Ref() {
		if !slices.ContainsFunc(p.change.Replaced, func(r catalog.Replacement) bool { return r.Record == course }) {
			p.change.Replace(course, p.now)
		}
	}
	if fresh {
		p.create(x, section)
		return nil
	}
	p.settle(x, section, p.replaceSection(before, section))
	return nil
}

func (p *plan) program(ctx context.Context, row intake.Row, x catalog.ExternalID, b *references, l catalog.Lookups) error {
	if cip, ok := row.Fields["cipCode"].(string); ok {
		var err error
		if l.Occupations, err = labor.Occupations(ctx, p.Market, []string{cip}); err != nil {
			return err
		}
	}
	var before []string
	if loaded, ok := x.Record.(*catalog.Program); ok {
		before = loaded.CourseOrder
	}
	program, err := listed[catalog.ProgramInput, catalog.Program](ctx, p, row, x, l)
	if err == nil {
		err = p.held(program.Holds(&p.change, before, b.held))
	}
	return err
}

// held drops the plan, which is of this one row, where a course takes no more holders.
func (p *plan) held(err error) error {
	if err != nil {
		*p = plan{run: p.run, kind: p.kind, now: p.now, seen: map[string]catalog.Record{}}
		delete(p.dirs, p.kind)
	}
	return err
}

func (p *plan) credential(ctx context.Context, row intake.Row, x catalog.ExternalID, b *references, l catalog.Lookups) error {
	var before []catalog.SectionProfile
	if loaded, ok := x.Record.(*catalog.Credential); ok {
		before = loaded.Sections
	}
	credential, err := listed[catalog.CredentialInput, catalog.Credential](ctx, p, row, x, l)
	if err == nil {
		err = p.held(credential.Holds(&p.change, before, b.held))
	}
	return err
}

// transferCourse creates a course of a package; one that is there stays as it is,
// since transfer courses cannot be changed.
func (p *plan) transferCourse(row intake.Row, x catalog.ExternalID, b *references, l catalog.Lookups) error {
	pack := b.packages[row.Parent]
	if pack == nil {
		return catalog.Errorf(catalog.NotFound, "no transfer package has the external id %q", row.Parent)
	}
	if course, _ := x.Record.(*catalog.TransferCourse); course != nil {
		p.settle(x, course, false)
		return nil
	}
	in, err := decode[catalog.TransferCourseInput](row.Fields)
	if err != nil {
		return err
	}
	course := &catalog.TransferCourse{}
	if err := catalog.Apply(in, course, l); err != nil {
		return err
	}
	if err := catalog.CheckTransferCourses(b.size[pack.ID], 1); err != nil {
		return err
	}
	b.size[pack.ID]++
	p.change.AddTransferCourse(course, pack, p.IDs, p.Now(), len(p.change.Created))
	p.change.Grows(pack)
	p.change.Known = append(p.change.Known, catalog.ExternalID{Name: x.Name, Record: course})
	p.create(x, course)
	return nil
}
