package upsert

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
	"skillscurriculum/pkg/schema"
	"skillscurriculum/pkg/service"
)

// loadArticulations reads the articulations of a batch and the records that they refer to.
func (p *plan) loadArticulations(ctx context.Context) error {
	courseNames, err := p.stored(ctx, catalog.CourseKind)
	if err != nil {
		return err
	}
	programNames, err := p.stored(ctx, catalog.ProgramKind)
	if err != nil {
		return err
	}
	l := &p.lookups
	l.Courses, l.Programs = map[string]*catalog.Course{}, map[string]*catalog.Program{}
	var transferCourses, superseded []string
	for _, row := range p.rows {
		in, err := decode[catalog.ArticulationInput](row.Fields)
		if err != nil {
			return err
		}
		courses, transfers, programs, others := in.Names()
		for _, name := range courses {
			if id := courseNames.Find(name); id != "" {
				l.Courses[name] = &catalog.Course{Meta: catalog.Meta{ID: id}}
			}
		}
		for _, name := range programs {
			if id := programNames.Find(name); id != "" {
				l.Programs[name] = &catalog.Program{Meta: catalog.Meta{ID: id}}
			}
		}
		transferCourses, superseded = append(transferCourses, transfers...), append(superseded, others...)
	}
	if len(transferCourses) > 0 {
		if l.TransferCourses, _, err = p.Store.TransferCoursesByID(ctx, p.org, transferCourses); err != nil {
			return err
		}
	}
	if l.Articulations, err = named[*catalog.Articulation](ctx, p.run, superseded); err != nil {
		return err
	}
	ids := slices.DeleteFunc(append(p.names(nameOf), superseded...), func(name string) bool {
		return !catalog.ArticulationKind.Made(name)
	})
	if p.articulations, err = service.GetByID[*catalog.Articulation](ctx, p.Store, p.org, ids, true); err != nil {
		return err
	}
	for _, name := range superseded {
		if own := p.articulations[name]; own != nil {
			l.Articulations[name] = own
		}
	}
	return nil
}

// articulation creates an articulation, or changes it if the row differs from an export of it.
func (p *plan) articulation(ctx context.Context, row entry.Row, x catalog.ExternalID) error {
	for name, record := range p.seen { // superseded ones of the same batch
		p.lookups.Articulations[name] = record.(*catalog.Articulation)
	}
	a := p.articulations[row.Name]
	if a == nil {
		a, _ = x.Record.(*catalog.Articulation)
	}
	if a == nil {
		return p.newArticulation(ctx, row, x)
	}
	names := p.run.names
	own, err := p.ArticulationFields(a, names[catalog.CourseKind].Of, names[catalog.ProgramKind].Of)
	if err != nil {
		return err
	}
	fields := maps.Clone(row.Fields)
	maps.DeleteFunc(fields, func(field string, value any) bool { return reflect.DeepEqual(value, own[field]) })
	in, err := decode[catalog.ArticulationInput](fields)
	if err != nil {
		return err
	}
	changed, err := p.actor().ReviseArticulation(ctx, a, in, &p.change)
	if err == nil {
		p.settle(row, a, changed)
	}
	return err
}

// newArticulation creates a DRAFT. It drops references by ids of another organization, whose export the file may be: to
// transfer courses and to articulations outside the file.
func (p *plan) newArticulation(ctx context.Context, row entry.Row, x catalog.ExternalID) error {
	in, err := decode[catalog.ArticulationInput](row.Fields)
	if err != nil {
		return err
	}
	if !in.Decision.Set {
		in.Decision = catalog.Optional[catalog.Decision]{Set: true, Value: catalog.Equivalent}
	}
	if !in.EffectiveFrom.Set {
		in.EffectiveFrom = catalog.Optional[string]{Set: true, Value: p.options.EffectiveFrom}
	}
	if !strings.HasPrefix(row.Name, entry.LineName) {
		p.dropForeign(row, &in)
	}
	a := &catalog.Articulation{}
	if err := service.Create(ctx, p.actor(), in, a, &p.change); err != nil {
		return err
	}
	p.change.AssignExternalID(a, x.Name)
	p.create(row, a)
	return nil
}

// dropForeign removes references that only another organization can resolve.
func (p *plan) dropForeign(row entry.Row, in *catalog.ArticulationInput) {
	var gone []string
	for _, alternative := range in.Sending.Value {
		for i, course := range alternative.Courses {
			if id := course.TransferCourseID; id != nil && p.lookups.TransferCourses[*id] == nil {
				gone = append(gone, *id)
				alternative.Courses[i].TransferCourseID = nil
			}
		}
	}
	if id := in.Supersedes.Value; id != nil && p.lookups.Articulations[*id] == nil {
		gone = append(gone, *id)
		in.Supersedes.Value = nil
	}
	if len(gone) > 0 {
		reason := "without " + strings.Join(gone, ", ") + ", which this organization does not have"
		p.Incomplete = append(p.Incomplete, Rejected(row, reason))
	}
}

// checkArticulation returns how a row, with the defaults of the import, violates the contract.
func (r *run) checkArticulation(row *entry.Row) []catalog.FieldError {
	body := maps.Clone(row.Fields)
	if _, ok := body["decision"]; !ok {
		body["decision"] = string(catalog.Equivalent)
	}
	if _, ok := body["effectiveFrom"]; !ok && r.options.EffectiveFrom != "" {
		body["effectiveFrom"] = r.options.EffectiveFrom
	}
	wrong := schema.Check[catalog.ArticulationInput](body)
	if len([]rune(row.Name)) > catalog.MaxExternalID {
		message := fmt.Sprintf("must be at most %d characters", catalog.MaxExternalID)
		wrong = append(wrong, catalog.FieldError{Location: "body.id", Message: message})
	}
	return wrong
}

// supersededFirst sorts articulations after those of the file that they supersede.
func supersededFirst(rows []entry.Row) []entry.Row {
	at := make(map[string]int, len(rows))
	for i, row := range rows {
		at[row.Name] = i
	}
	sorted := make([]entry.Row, 0, len(rows))
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
