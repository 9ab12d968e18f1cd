package load

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"skillscurriculum/infra/skillsctl/intake"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/rest"
)

// catalogNames are the courses and programs of the organization, as articulations name
// them.
type catalogNames struct{ courses, programs *Names }

// catalogNames reads them once for all passes: a draft may name what has gone since.
func (r *run) catalogNames(ctx context.Context) (*catalogNames, error) {
	if r.names != nil {
		return r.names, nil
	}
	courses, err := r.Store.AllCourses(ctx, r.org)
	if err != nil {
		return nil, err
	}
	programs, err := r.Store.AllPrograms(ctx, r.org)
	if err != nil {
		return nil, err
	}
	r.names = &catalogNames{CourseNames(courses), ProgramNames(programs)}
	return r.names, nil
}

// articulationReferences is what the articulations of a batch are and name.
type articulationReferences struct {
	inputs map[string]catalog.ArticulationInput // by the row's name
	own    map[string]*catalog.Articulation     // that have the row's name as their id
	catalog.Lookups
}

// loadArticulations reads the articulations of a batch and what they name.
func (p *plan) loadArticulations(ctx context.Context, rows []intake.Row) (*articulationReferences, error) {
	names, err := p.catalogNames(ctx)
	if err != nil {
		return nil, err
	}
	b := &articulationReferences{inputs: map[string]catalog.ArticulationInput{}}
	b.Articulations = map[string]*catalog.Articulation{}
	var ids, transferCourses, superseded []string
	b.Courses, b.Programs = map[string]*catalog.Course{}, map[string]*catalog.Program{}
	for _, row := range rows {
		in, err := decode[catalog.ArticulationInput](row.Fields)
		if err != nil {
			return nil, err
		}
		b.inputs[row.Name] = in
		ids = append(ids, row.Name)
		courses, transfers, programs, others := in.Names()
		for _, name := range courses {
			if id := names.courses.Find(name); id != "" {
				b.Courses[name] = &catalog.Course{Meta: catalog.Meta{ID: id}}
			}
		}
		for _, name := range programs {
			if id := names.programs.Find(name); id != "" {
				b.Programs[name] = &catalog.Program{Meta: catalog.Meta{ID: id}}
			}
		}
		transferCourses, superseded = append(transferCourses, transfers...), append(superseded, others...)
	}
	if b.own, err = p.Store.ArticulationsByID(ctx, p.org, made(ids), true); err != nil {
		return nil, err
	}
	if len(transferCourses) > 0 {
		if b.TransferCourses, _, err = p.Store.TransferCoursesByID(ctx, p.org, transferCourses); err != nil {
			return nil, err
		}
	}
	if len(superseded) > 0 {
		if b.Articulations, err = named[*catalog.Articulation](ctx, p.run, catalog.ArticulationKind, superseded); err != nil {
			return nil, err
		}
		own, err := p.Store.ArticulationsByID(ctx, p.org, made(superseded), true)
		if err != nil {
			return nil, err
		}
		maps.Copy(b.Articulations, own)
	}
	return b, nil
}

// made lists those of the names that can be ids of articulations.
func made(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !catalog.ArticulationKind.Made(name) })
}

// articulation decides on an articulation: it is created, or changed where the row says
// something else than an export of it does.
func (p *plan) articulation(ctx context.Context, row intake.Row, x catalog.ExternalID, b *articulationReferences) error {
	for name, record := range p.seen {
		b.Articulations[name] = record.(*catalog.Articulation) // one of the same batch
	}
	a := b.own[row.Name]
	if a == nil {
		a, _ = x.Record.(*catalog.Articulation)
	}
	if a == nil {
		return p.newArticulation(ctx, row, x, b)
	}
	names := p.names
	own, err := intake.ArticulationFields(a, names.courses.Of, names.programs.Of)
	if err != nil {
		return err
	}
	fields := maps.Clone(row.Fields)
	maps.DeleteFunc(fields, func(field string, value any) bool { return reflect.DeepEqual(value, own[field]) })
	in, err := decode[catalog.ArticulationInput](fields)
	if err != nil {
		return err
	}
	before := *a
	if err := in.Revise(a, b.Lookups); err != nil {
		return err
	}
	if a.Status == catalog.ArticulationApproved && before.Period() != a.Period() {
		if err := rest.ExtendApproval(ctx, p.Store, a, &p.change, p.now); err != nil {
			return err
		}
	}
	p.settle(x, a, catalog.ReplaceChanged(&p.change, before, a, p.now))
	return nil
}

// newArticulation creates one as a DRAFT. What an export of another organization names
// by ids of that one, its transfer courses and what is not in the file, is left out.
func (p *plan) newArticulation(ctx context.Context, row intake.Row, x catalog.ExternalID, b *articulationReferences) error {
	in := b.inputs[row.Name]
	if !in.Decision.Set {
		in.Decision = catalog.Optional[catalog.Decision]{Set: true, Value: catalog.Equivalent}
	}
	if !in.EffectiveFrom.Set {
		in.EffectiveFrom = catalog.Optional[string]{Set: true, Value: p.options.EffectiveFrom}
	}
	if !strings.HasPrefix(row.Name, intake.LineName) {
		p.leaveOut(row, &in, b.Lookups)
	}
	a := &catalog.Articulation{}
	if err := catalog.Apply(in, a, b.Lookups); err != nil {
		return err
	}
	dir, err := p.directory(ctx, p.kind)
	if err != nil {
		return err
	}
	p.change.Add(a, p.IDs, dir, p.org, p.Now())
	p.change.Known = append(p.change.Known, catalog.ExternalID{Name: x.Name, Record: a})
	p.create(x, a)
	return nil
}

// leaveOut takes out of an input what only another organization knows.
func (p *plan) leaveOut(row intake.Row, in *catalog.ArticulationInput, l catalog.Lookups) {
	var gone []string
	for _, alternative := range in.Sending.Value {
		for i, course := range alternative.Courses {
			if id := course.TransferCourseID; id != nil && l.TransferCourses[*id] == nil {
				gone = append(gone, *id)
				alternative.Courses[i].TransferCourseID = nil
			}
		}
	}
	if id := in.Supersedes.Value; id != nil && l.Articulations[*id] == nil {
		gone = append(gone, *id)
		in.Supersedes.Value = nil
	}
	if len(gone) > 0 {
		p.incomplete = append(p.incomplete, rejected(row, "without "+strings.Join(gone, ", ")+", which this organization does not have"))
	}
}

// maxJoined is how many rows of the table the articulations of one transaction take, with
// their names and the lists that they join. DynamoDB takes 100; the change feed, the
// directory, the list of drafts, and those of what is published and what is not, are five.
const maxJoined = 95

// joined names the lists that the articulation of a row joins, besides those that all
// new ones do: those of its institution, codes and courses.
func joined(row intake.Row) (lists []string) {
	in, err := decode[catalog.ArticulationInput](row.Fields)
	if err != nil {
		return nil // the plan says so
	}
	institution := in.SendingInstitution.Value
	for _, name := range []*string{&institution.Name, institution.Code} {
		if name != nil {
			lists = append(lists, catalog.InstitutionFacet+catalog.Normalized(*name))
		}
	}
	for _, alternative := range in.Sending.Value {
		for _, course := range alternative.Courses {
			lists = append(lists, catalog.SendingFacet+catalog.Normalized(course.Code))
		}
	}
	courses, _, _, _ := in.Names()
	for _, id := range courses {
		lists = append(lists, catalog.CourseFacet+id)
	}
	return lists
}

// checkArticulation returns how a row breaks what createArticulation takes, with what
// the import fills in.
func (r *run) checkArticulation(row *intake.Row) []catalog.FieldError {
	body := maps.Clone(row.Fields)
	if _, ok := body["decision"]; !ok {
		body["decision"] = string(catalog.Equivalent)
	}
	if _, ok := body["effectiveFrom"]; !ok && r.options.EffectiveFrom != "" {
		body["effectiveFrom"] = r.options.EffectiveFrom
	}
	wrong := r.contract.FieldErrors("createArticulation", body)
	if len([]rune(row.Name)) > catalog.MaxExternalID {
		wrong = append(wrong, catalog.FieldError{Location: "body.id", Message: fmt.Sprintf("is longer than %d characters", catalog.MaxExternalID)})
	}
	return wrong
}

// supersededFirst puts articulations behind those of the file that they supersede.
func supersededFirst(rows []intake.Row) []intake.Row {
	at := make(map[string]int, len(rows))
	for i, row := range rows {
		at[row.Name] = i
	}
	sorted := make([]intake.Row, 0, len(rows))
	placed := make([]bool, len(rows))
	for i := range rows {
		var chain []int
		for j, ok := i, true; ok && !placed[j]; {
			placed[j] = true
			chain = append(chain, j)
			name, _ := rows[j].Fields["supersedes"].(string)
			j, ok = at[name]
		}
		for _, j := range slices.Backward(chain) {
			sorted = append(sorted, rows[j])
		}
	}
	return sorted
}
