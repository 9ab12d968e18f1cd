package upsert

import (
	"context"
	"fmt"
	"strings"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
	"skillscurriculum/pkg/service"
)

// existing changes a section that the row names, or the default section of a course that it names, by code or external
// id as codes are compared.
func (p *plan) existing(ctx context.Context, row entry.Row) error {
	in, err := decode[catalog.SectionInput](row.Fields)
	if err != nil {
		return err
	}
	names, err := p.stored(ctx, row.Kind)
	if err != nil {
		return err
	}
	id := names.FindLike(row.Name)
	if id != "" && row.Kind == catalog.CourseKind {
		course, err := service.Get[*catalog.Course](ctx, p.Store, p.org, id, true)
		if err != nil {
			return err
		}
		id = course.DefaultSectionID
	}
	switch {
	case id == "":
		return catalog.Invalid(catalog.FieldError{
			Message: fmt.Sprintf("not the code or external id of exactly one %s", strings.ToLower(string(row.Kind))),
			Value:   row.Name,
		})
	case p.revised[id]:
		return catalog.Invalid(catalog.FieldError{Message: "another row changes the same record", Value: row.Name})
	}
	section, err := service.Get[*catalog.Section](ctx, p.Store, p.org, id, true)
	if err != nil {
		return err
	}
	course := p.lookups.Courses[section.CourseID] // shared by its sections
	if course == nil {
		if course, err = service.Get[*catalog.Course](ctx, p.Store, p.org, section.CourseID, true); err != nil {
			return err
		}
	}
	changed, err := p.actor().ReviseSection(section, course, p.reviewed(in, section), &p.change)
	if err != nil {
		return err
	}
	if p.revised == nil {
		p.revised = map[string]bool{}
	}
	if p.lookups.Courses == nil {
		p.lookups.Courses = map[string]*catalog.Course{}
	}
	p.revised[id], p.lookups.Courses[course.ID] = true, course
	p.settle(row, section, changed)
	return nil
}
