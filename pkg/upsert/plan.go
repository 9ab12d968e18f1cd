package upsert

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/schema"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/service/parallel"
)

// plan has the changes that a batch of rows needs.
type plan struct {
	*run
	importing
	after  *plan // of the rows before, if it is not saved yet
	step   *Step
	n      int // candidates, some of which may be no rows to save
	rows   []entry.Row
	known  map[string]catalog.ExternalID // by external id; their records are shared with other plans
	dir    *catalog.Directory            // including the records planned so far; nil until it is needed
	now    catalog.Time
	change catalog.Change
	seen   map[string]catalog.Record // those that other rows refer to
	used   map[string]string         // places of the rows that did not fail, by name

	registered map[string]catalog.ExternalID // by CTID, of those that the rows have
	usedCTIDs  map[string]string             // places of the rows that did not fail, by CTID and by externalOf

	Summary
	settled Summary // of rows that were not planned

	// Records that the rows refer to, by external id unless stated otherwise.
	lookups       catalog.Lookups
	sections      map[string]*catalog.Section
	packages      map[string]*catalog.TransferPackage
	size          map[string]int              // number of courses of a package, by its id
	byID          map[string]*catalog.Section // default sections, by id
	held          map[string]*catalog.Course  // members of programs or credentials, by id
	articulations map[string]*catalog.Articulation
	withCode      map[string]*[]*catalog.Course // by normalised code, where no course has the external id
	revised       map[string]bool               // ids of sections that rows with Existing have changed
}

// window has the records of the next rows of a kind, which are read together. They are never changed.
type window struct {
	kind     catalog.Kind
	names    map[string]bool // that were looked up
	known    map[string]catalog.ExternalID
	sections map[string]*catalog.Section // default sections of known courses, by id
}

// windowRows is the number of rows whose records are read together.
const windowRows = 100

// open reads the records of the next rows unless the window has those of the plan.
func (p *plan) open(ctx context.Context, next []candidate) error {
	w := &p.read
	missing := func(row entry.Row) bool {
		external := externalOf(row)
		return nameOf(row) != "" && !w.names[nameOf(row)] || external != "" && !w.names[external]
	}
	if w.kind != p.kind || slices.ContainsFunc(p.rows, missing) {
		*w = window{kind: p.kind, names: map[string]bool{}}
		for _, c := range next[:min(windowRows, len(next))] {
			for _, name := range []string{nameOf(c.row), externalOf(c.row)} {
				if name != "" && c.good() {
					w.names[name] = true
				}
			}
		}
		err := parallel.All(ctx, func(ctx context.Context) (err error) {
			names := slices.Collect(maps.Keys(w.names))
			if p.kind == catalog.CourseKind {
				w.known, w.sections, err = p.Store.KnownCourses(ctx, p.org, names)
			} else {
				w.known, err = p.Store.Known(ctx, p.org, p.kind, names)
			}
			return err
		}, func(ctx context.Context) error {
			if !p.kind.Listed() || p.dirs[p.kind] != nil {
				return nil
			}
			dir, err := p.Store.Directory(ctx, p.org, p.kind)
			p.dirs[p.kind] = dir
			return err
		})
		if err == nil && p.kind == catalog.CourseKind {
			var others map[string]*catalog.Section
			courses := map[string]*catalog.Course{}
			for name, x := range w.known {
				if course, ok := x.Record.(*catalog.Course); ok && w.sections[course.DefaultSectionID] == nil {
					courses[name] = course
				}
			}
			others, err = p.defaultSections(ctx, courses)
			maps.Copy(w.sections, others)
		}
		if err != nil {
			*w = window{}
			return err
		}
	}
	p.known, p.byID, p.dir = w.known, w.sections, p.dirs[p.kind].Clone()
	if p.after != nil && p.after.dir != nil {
		p.dir = p.after.dir.Clone()
		p.dir.Version += len(catalog.EffectsOf[*catalog.Directory](&p.after.change)) // once it is saved
	}
	return nil
}

// plan plans the first of the next rows. A row that breaks a rule is rejected; any other error ends the import.
func (p *plan) plan(ctx context.Context, next []candidate) error {
	p.now, p.seen, p.used, p.usedCTIDs = p.Now(), map[string]catalog.Record{}, map[string]string{}, map[string]string{}
	if p.after != nil {
		maps.Copy(p.used, p.after.used)
		maps.Copy(p.usedCTIDs, p.after.usedCTIDs)
	}
	lacks := map[int]error{}
	for _, c := range next[:p.n] {
		if c.good() {
			p.rows, lacks[c.row.Number] = append(p.rows, c.row), c.lacks
		}
		c.settle(&p.settled)
	}
	defer func() { p.Summary.add(&p.settled) }()
	if len(p.rows) == 0 {
		return nil
	}
	p.lookups = catalog.Lookups{SkillName: p.SkillName, CheckHref: p.CheckHref}
	if err := p.open(ctx, next); err != nil {
		return err
	}
	if err := p.loadDocuments(ctx); err != nil {
		return err
	}
	if err := p.loadCTIDs(ctx); err != nil {
		return err
	}
	if p.load != nil {
		if err := p.load(p, ctx); err != nil {
			return err
		}
	}
	for _, row := range p.rows {
		x := p.known[nameOf(row)]
		if x.Name = nameOf(row); x.Record != nil {
			x.Record, lacks[row.Number] = catalog.Copy(x.Record), nil
		}
		err := cmp.Or(lacks[row.Number], p.once(row), p.holdable(row), p.registrable(row, x.Record), p.nameable(row, x.Record))
		switch {
		case err != nil:
		case p.options.OnlyNew && x.Was != "":
			p.settle(row, x.Record, false)
		default:
			err = p.row(p, ctx, row, x)
		}
		var broken *catalog.Error
		if errors.As(err, &broken) && broken.Code != catalog.Unavailable {
			p.reject(row, broken)
		} else if err != nil {
			return fmt.Errorf("%s: %w", row.Place, err)
		} else {
			p.used[x.Name] = row.Place
			p.usedCTIDs[ctidOf(row)], p.usedCTIDs[externalOf(row)] = row.Place, row.Place
		}
	}
	known, err := p.assigned(ctx)
	if err != nil {
		return err
	}
	return p.change.Resolve(known, p.registered, "")
}

// once refuses a second row of one record.
func (p *plan) once(row entry.Row) error {
	name := nameOf(row)
	first := cmp.Or(p.used[name], p.places[p.kind][name])
	if name == "" || first == "" {
		return nil
	}
	wrong := catalog.FieldError{Message: "the external id " + row.Name + " is already used at " + first}
	if row.Header == nil || row.Column("externalId") != "" {
		wrong.Location = "externalId"
	}
	return catalog.Invalid(wrong)
}

// externalOf returns the external id of a row that names its record by CTID; "" for another row.
func externalOf(row entry.Row) string {
	external, _ := row.Fields["externalId"].(string)
	if entry.CTIDOf(row.Name) == "" {
		return ""
	}
	return external
}

// nameable refuses a row that names its record by CTID if another record, or row, has its external id.
func (p *plan) nameable(row entry.Row, record catalog.Record) error {
	external := externalOf(row)
	if external == "" {
		return nil
	}
	if first := cmp.Or(p.usedCTIDs[external], p.ctids[external]); first != "" {
		return catalog.Invalid(catalog.FieldError{Location: "externalId", Message: "is already used at " + first, Value: external})
	}
	holder := p.known[external].Record
	if holder == nil || record != nil && holder.Base().ID == record.Base().ID {
		return nil
	}
	return catalog.Invalid(catalog.FieldError{
		Location: "externalId", Message: "is in use by another record, whose id is the value", Value: holder.Base().ID,
	})
}

// documentOf returns the id of the document that a row names; "" for none.
func documentOf(row entry.Row) string {
	id, _ := row.Fields["documentId"].(string)
	return id
}

// loadDocuments reads the documents that the rows name.
func (p *plan) loadDocuments(ctx context.Context) (err error) {
	if ids := p.names(documentOf); len(ids) > 0 && p.Files != nil {
		p.lookups.Documents, err = service.ReadyDocuments(ctx, p.Store, p.Files, p.org, ids)
	}
	return err
}

// ctidOf returns the CTID that a row sets; "" for none.
func ctidOf(row entry.Row) string {
	ctid, _ := row.Fields["ctid"].(string)
	return ctid
}

// loadCTIDs reads the records that have the CTIDs of the rows.
func (p *plan) loadCTIDs(ctx context.Context) (err error) {
	if ctids := p.names(ctidOf); len(ctids) > 0 {
		p.registered, err = p.holders(ctx, p.org, ctids)
	}
	return err
}

// registrable refuses a row whose CTID the record, nil for a new one, cannot have.
func (p *plan) registrable(row entry.Row, record catalog.Record) error {
	ctid, id, before := ctidOf(row), "", ""
	if ctid == "" || row.Kind == catalog.OutcomeListKind { // the rule of lists checks theirs
		return nil
	}
	if own := p.articulations[row.Name]; own != nil {
		record = own
	}
	if record != nil {
		id, before = record.Base().ID, catalog.RegisteredOf(record).CTID
	}
	if first := cmp.Or(p.usedCTIDs[ctid], p.ctids[ctid]); first != "" && before != ctid {
		return catalog.Errorf(catalog.Conflict, "the ctid is already used at %s", first)
	}
	return catalog.CheckCTID(id, before, ctid, p.registered[ctid], "ctid")
}

// holdable refuses a row whose document has too many holders.
func (p *plan) holdable(row entry.Row) error {
	if document := p.lookups.Documents[documentOf(row)]; document != nil {
		return document.CheckHolders()
	}
	return nil
}

// planned is the table as if the records planned so far were saved.
type planned struct {
	Store
	plan *plan
}

// Directory returns the directory of the plan's list including the records planned so far.
func (p planned) Directory(ctx context.Context, org catalog.OrgID, kind catalog.Kind) (*catalog.Directory, error) {
	if kind == p.plan.kind && p.plan.dir != nil {
		return p.plan.dir, nil
	}
	return p.Store.Directory(ctx, org, kind)
}

// commit saves the changes if the pass saves, and queues their extractions.
func (p *plan) commit(ctx context.Context) error {
	if !p.save || p.change.Empty() {
		return nil
	}
	if err := p.Store.Commit(ctx, p.org, &p.change); err != nil {
		return err
	}
	if jobs := p.change.Jobs(); len(jobs) > 0 && p.Queue != nil {
		_ = p.Queue.Send(ctx, jobs) // the sweeper sends the jobs that are lost
	}
	return nil
}

// names returns the different names of the rows that have one.
func (p *plan) names(of func(entry.Row) string) (names []string) {
	for _, row := range p.rows {
		if name := of(row); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func parentOf(row entry.Row) string { return row.Parent }

// members returns the names of the members of the plan's only row: records with members are planned alone.
func (p *plan) members() (names []string) {
	list, _ := p.rows[0].Fields[memberFields[p.kind].field].([]any)
	for _, name := range list {
		names = append(names, name.(string))
	}
	return names
}

// membersIn returns the members that are records of a type: a row names all of them by external id, or all by id.
func membersIn[R catalog.Record](ctx context.Context, p *plan) (map[string]R, error) {
	if p.rows[0].Members != nil {
		return named[R](ctx, p.run, p.members())
	}
	return service.GetByID[R](ctx, p.Store, p.org, p.members(), true)
}

// defaultSections reads the default sections of courses.
func (p *plan) defaultSections(
	ctx context.Context, courses map[string]*catalog.Course,
) (map[string]*catalog.Section, error) {
	var ids []string
	for _, course := range courses {
		ids = append(ids, course.DefaultSectionID)
	}
	return service.GetByID[*catalog.Section](ctx, p.Store, p.org, ids, true)
}

// loadCourses reads the courses of sections by external id, or else by code.
func (p *plan) loadCourses(ctx context.Context) (err error) {
	names := p.names(parentOf)
	if p.lookups.Courses, err = named[*catalog.Course](ctx, p.run, names); err != nil {
		return err
	}
	byID := map[string]*catalog.Course{} // rows of one course share it
	for _, course := range p.lookups.Courses {
		byID[course.ID] = course
	}
	p.withCode = map[string]*[]*catalog.Course{}
	for _, name := range names {
		if code := catalog.Normalized(name); p.lookups.Courses[name] == nil && code != "" {
			p.withCode[code] = new([]*catalog.Course)
		}
	}
	err = parallel.Each(ctx, p.withCode, func(ctx context.Context, code string, found *[]*catalog.Course) (err error) {
		*found, err = p.coursesWithCode(ctx, code)
		return err
	})
	for _, name := range names {
		if found := p.withCode[catalog.Normalized(name)]; p.lookups.Courses[name] == nil && found != nil && len(*found) == 1 {
			course := cmp.Or(byID[(*found)[0].ID], (*found)[0])
			p.lookups.Courses[name], byID[course.ID] = course, course
		}
	}
	return err
}

// coursesWithCode returns the first courses with a normalised code, as they are once the pass is saved.
func (r *run) coursesWithCode(ctx context.Context, code string) ([]*catalog.Course, error) {
	const most = 10
	stored, _, err := r.Store.CoursesByCode(ctx, r.org, code, 0, most)
	byID := map[string]*catalog.Course{}
	for _, course := range stored {
		byID[course.ID] = course
	}
	maps.Copy(byID, r.coded[code])
	maps.DeleteFunc(byID, func(_ string, course *catalog.Course) bool { return catalog.Normalized(course.Code) != code })
	return slices.Collect(maps.Values(byID)), err
}

// loadProgram reads the old and new courses of a program.
func (p *plan) loadProgram(ctx context.Context) (err error) {
	if p.lookups.Courses, err = membersIn[*catalog.Course](ctx, p); err != nil {
		return err
	}
	if err = p.loadCredentials(ctx); err != nil {
		return err
	}
	p.held, err = p.loadHeld(ctx)
	return err
}

// loadCredentials reads the credentials that a program names by id or external id.
func (p *plan) loadCredentials(ctx context.Context) (err error) {
	in, err := decode[catalog.ProgramInput](p.rows[0].Fields)
	if err != nil || len(in.CredentialIDs.Value) == 0 {
		return err
	}
	names := in.CredentialIDs.Value
	if p.lookups.Credentials, err = named[*catalog.Credential](ctx, p.run, names); err != nil {
		return err
	}
	byID, err := service.GetByID[*catalog.Credential](ctx, p.Store, p.org, names, true)
	maps.Copy(p.lookups.Credentials, byID)
	return err
}

// loadPackages reads packages and then counts their courses: a package that gains some in between is stale.
func (p *plan) loadPackages(ctx context.Context) (err error) {
	if p.packages, err = named[*catalog.TransferPackage](ctx, p.run, p.names(parentOf)); err != nil {
		return err
	}
	p.size = map[string]int{}
	for _, pack := range p.packages {
		courses, err := service.All[*catalog.TransferCourse](ctx, p.Store, p.org, pack.ID)
		if err != nil {
			return err
		}
		p.size[pack.ID] = len(courses)
	}
	return nil
}

// loadCredential reads the sections of a credential, and its old and new courses.
func (p *plan) loadCredential(ctx context.Context) (err error) {
	if p.sections, err = membersIn[*catalog.Section](ctx, p); err != nil {
		return err
	}
	if p.lookups.Courses, err = named[*catalog.Course](ctx, p.run, p.rows[0].Members); err != nil {
		return err
	}
	if p.byID, err = p.defaultSections(ctx, p.lookups.Courses); err != nil {
		return err
	}
	if err = p.loadKept(ctx); err != nil {
		return err
	}
	if p.held, err = p.loadHeld(ctx); err != nil {
		return err
	}
	p.lookups.Sections = map[string]catalog.Placed{}
	for _, name := range p.members() {
		if placed := p.place(name); placed.Section != nil && placed.Course != nil {
			p.lookups.Sections[name] = placed
		}
	}
	return nil
}

// place finds the section that a member of a credential refers to: a section, or the default section of a course. While
// nothing is saved yet, the default section may be missing and its course suffices.
func (p *plan) place(name string) catalog.Placed {
	if section := p.sections[name]; section != nil {
		return catalog.Placed{Section: section, Course: p.held[section.CourseID]}
	}
	course := p.lookups.Courses[name]
	if course == nil {
		return catalog.Placed{}
	}
	section := p.byID[cmp.Or(p.kept(course.ID), course.DefaultSectionID)]
	if section == nil && !p.save {
		section = &catalog.Section{Meta: catalog.Meta{ID: course.DefaultSectionID}, CourseID: course.ID}
	}
	return catalog.Placed{Section: section, Course: p.held[course.ID]}
}

// loadHeld reads the current state of the courses that the batch's records have as members or that the rows refer to.
// While nothing is saved yet, some of them exist only in this pass.
func (p *plan) loadHeld(ctx context.Context) (map[string]*catalog.Course, error) {
	var ids []string
	for _, x := range p.known {
		ids = slices.AppendSeq(ids, maps.Values(membersOf(x.Record)))
	}
	for _, course := range p.lookups.Courses {
		ids = append(ids, course.ID)
	}
	for _, section := range p.sections {
		ids = append(ids, section.CourseID)
	}
	courses, err := service.GetByID[*catalog.Course](ctx, p.Store, p.org, ids, true)
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

// membersOf returns the members of a program or credential before it is changed.
func membersOf(r catalog.Record) map[string]string {
	if loaded, ok := r.(catalog.Holder); ok {
		return loaded.Members()
	}
	return nil
}

// recordsNamed returns records of a kind by external id: from the table or, while nothing is saved yet, as planned in
// this pass.
func (r *run) recordsNamed(
	ctx context.Context, kind catalog.Kind, names []string,
) (map[string]catalog.Record, error) {
	records := map[string]catalog.Record{}
	var asked []string
	for _, name := range names {
		if seen := r.found[kind][name]; seen != nil && !r.save {
			records[name] = seen
		} else {
			asked = append(asked, name)
		}
	}
	if len(asked) == 0 {
		return records, nil
	}
	known, err := r.Store.Known(ctx, r.org, kind, asked)
	for name, x := range known {
		if x.Record != nil {
			records[name] = x.Record
		}
	}
	return records, err
}

// named is recordsNamed for records of a type.
func named[R catalog.Record](ctx context.Context, r *run, names []string) (map[string]R, error) {
	var none R
	found, err := r.recordsNamed(ctx, catalog.KindOf(none), names)
	records := make(map[string]R, len(found))
	for name, record := range found {
		records[name] = record.(R)
	}
	return records, err
}

// actor returns the import as an actor of use cases.
func (p *plan) actor() service.Actor {
	return service.Actor{
		Org: p.org, Now: p.now, Clock: p.Now, IDs: p.IDs, Lookups: p.lookups, Store: planned{p.Store, p},
	}
}

// decode converts fields that satisfy the contract to an input.
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

// listed creates a record of a list, or changes it if the row differs.
func listed[I catalog.Input[R], T any, R record[T]](
	p *plan, ctx context.Context, row entry.Row, x catalog.ExternalID,
) error {
	_, err := save[I, T, R](p, ctx, row, x)
	return err
}

func save[I catalog.Input[R], T any, R record[T]](
	p *plan, ctx context.Context, row entry.Row, x catalog.ExternalID,
) (R, error) {
	in, err := decode[I](row.Fields)
	if err != nil {
		return nil, err
	}
	r, _ := x.Record.(R)
	if r == nil {
		r = R(new(T))
		if err := service.Create(ctx, p.actor(), in, r, &p.change); err != nil {
			return nil, err
		}
		p.create(row, r)
		return r, nil
	}
	before := *r
	if err := catalog.Apply(in, r, p.lookups); err != nil {
		return nil, err
	}
	*r = bare(*r)
	p.settle(row, r, catalog.ReplaceChanged(&p.change, bare(before), r, p.now))
	return r, nil
}

// bare returns a record as it is stored: without the details of its members.
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

// holding creates or changes a record that has courses as members. If one of them has too many holders, it drops the
// plan, which consists of this row only.
func holding[I catalog.Input[R], T any, R interface {
	record[T]
	catalog.Holder
}](p *plan, ctx context.Context, row entry.Row, x catalog.ExternalID) error {
	before := membersOf(x.Record)
	r, err := save[I, T, R](p, ctx, row, x)
	if err != nil {
		return err
	}
	if err = p.change.Hold(r, before, p.held); err != nil {
		p.change, p.Summary, p.seen = catalog.Change{}, Summary{}, map[string]catalog.Record{}
		p.dir = p.dirs[p.kind].Clone()
	}
	return err
}

// create counts a new record.
func (p *plan) create(row entry.Row, record catalog.Record) {
	p.Created++
	p.result(row, record, Created)
}

// settle counts a record that exists; nil if it was deleted.
func (p *plan) settle(row entry.Row, record catalog.Record, changed bool) {
	if changed {
		p.Updated++
		p.result(row, record, Updated)
	} else {
		p.Skipped++
		p.result(row, record, Unchanged)
	}
}

func (p *plan) result(row entry.Row, record catalog.Record, outcome Outcome) {
	result := Result{Row: row, Outcome: outcome}
	if record != nil {
		result.ID = record.Base().ID
	}
	p.Results = append(p.Results, result)
	p.see(nameOf(row), record)
}

func (p *plan) see(name string, record catalog.Record) {
	if record == nil || !p.referenced[p.kind][name] && p.codes(name, record) == nil {
		return
	}
	if course, ok := record.(*catalog.Course); ok && !p.save { // held until the pass ends
		slim := *course
		slim.Description = nil
		record = &slim
	}
	p.seen[name] = record
}

// codes returns the codes by which sections refer to a course that is planned but not saved: that of the course, and the
// one that it had before.
func (p *plan) codes(name string, record catalog.Record) (codes []string) {
	course, ok := record.(*catalog.Course)
	if !ok || p.save {
		return nil
	}
	before, known := p.known[name].Record.(*catalog.Course)
	for _, c := range []*catalog.Course{course, before} {
		if known || c == course {
			if code := catalog.Normalized(c.Code); p.referenced[p.kind][code] {
				codes = append(codes, code)
			}
		}
	}
	return codes
}

func (p *plan) course(ctx context.Context, row entry.Row, x catalog.ExternalID) error {
	if row.Existing {
		return p.existing(ctx, row)
	}
	in, err := decode[catalog.CourseInput](row.Fields)
	if err != nil {
		return err
	}
	ofSection, err := decode[catalog.SectionInput](sectionFields(row.Fields))
	if err != nil {
		return err
	}
	course, _ := x.Record.(*catalog.Course)
	if course == nil {
		if course, err = p.actor().CreateCourse(ctx, in, ofSection, &p.change); err == nil {
			p.create(row, course)
		}
		return err
	}
	section := p.byID[course.DefaultSectionID]
	if section == nil {
		return catalog.Errorf(catalog.Internal, "the course has lost its default section")
	}
	section = catalog.Copy(section)
	was, wasSection := *course, *section
	ofSection = p.linked(row, p.reviewed(ofSection, section), section)
	if wrong := append(in.Apply(course, p.lookups), ofSection.Apply(section, p.lookups)...); wrong != nil {
		return catalog.Invalid(wrong...)
	}
	changed, err := p.change.ReplaceCourse(&was, course, &wasSection, section, p.now)
	if err != nil {
		return err
	}
	p.settle(row, course, changed)
	return nil
}

// reviewed drops skills from the input that equal those of the section before its reviews: setting them would end the
// reviews.
func (p *plan) reviewed(in catalog.SectionInput, s *catalog.Section) catalog.SectionInput {
	if !in.Skills.Set || len(s.Reviews) == 0 {
		return in
	}
	skills, wrong := catalog.Skills(in.Skills.Value, p.SkillName, "skills")
	if wrong == nil && slices.Equal(skills, catalog.Unreviewed(s)) {
		in.Skills = catalog.Optional[[]catalog.SkillInput]{}
	}
	return in
}

func (p *plan) section(ctx context.Context, row entry.Row, x catalog.ExternalID) error {
	if row.Existing {
		return p.existing(ctx, row)
	}
	course := p.lookups.Courses[row.Parent]
	if course == nil {
		message := "no course has the external id or code"
		if found := p.withCode[catalog.Normalized(row.Parent)]; found != nil && len(*found) > 1 {
			message = "several courses have the code; name one by its external id"
		}
		return catalog.Invalid(catalog.FieldError{
			Location: "courseExternalId", Message: message, Value: schema.Shown(row.Parent),
		})
	}
	in, err := decode[catalog.SectionInput](row.Fields)
	if err != nil {
		return err
	}
	if row.Untitled {
		in.Name = catalog.Optional[string]{Set: true, Value: course.Name}
	}
	section, _ := x.Record.(*catalog.Section)
	if section != nil {
		if section.CourseID != course.ID {
			return catalog.Errorf(catalog.Conflict, "the section belongs to another course and cannot be moved")
		}
		changed, err := p.actor().ReviseSection(section, course, p.reviewed(in, section), &p.change)
		if err == nil {
			p.settle(row, section, changed)
		}
		return err
	}
	section = &catalog.Section{}
	if err := catalog.Apply(in, section, p.lookups); err != nil {
		return err
	}
	if err := p.change.AddSection(section, course, p.IDs, p.Now); err != nil {
		return err
	}
	p.create(row, section)
	return nil
}

func (p *plan) program(ctx context.Context, row entry.Row, x catalog.ExternalID) (err error) {
	if cip, ok := row.Fields["cipCode"].(string); ok {
		if p.lookups.Occupations, err = labor.Occupations(ctx, p.Market, &cip); err != nil {
			return err
		}
	}
	return holding[catalog.ProgramInput, catalog.Program](p, ctx, row, x)
}

// transferCourse creates a course of a package. An existing one is skipped, since transfer courses are immutable.
func (p *plan) transferCourse(_ context.Context, row entry.Row, x catalog.ExternalID) error {
	pack := p.packages[row.Parent]
	if pack == nil {
		return catalog.Errorf(catalog.NotFound, "no transfer package has the external id %q", row.Parent)
	}
	if course, _ := x.Record.(*catalog.TransferCourse); course != nil {
		p.settle(row, course, false)
		return nil
	}
	in, err := decode[catalog.TransferCourseInput](row.Fields)
	if err != nil {
		return err
	}
	course := &catalog.TransferCourse{}
	if err := catalog.Apply(in, course, p.lookups); err != nil {
		return err
	}
	if err := catalog.CheckTransferCourses(p.size[pack.ID], 1); err != nil {
		return err
	}
	p.size[pack.ID]++
	p.change.AddTransferCourse(course, pack, p.IDs, p.Now(), p.Created)
	p.change.CountAddition(pack)
	p.change.AssignExternalID(course, x.Name)
	p.create(row, course)
	return nil
}
