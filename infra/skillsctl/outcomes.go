package main

import (
	"context"
	"errors"
	"fmt"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake"
	usecase "skillscurriculum/pkg/service"
	"skillscurriculum/pkg/upsert"
)

// owners are the courses and programs of an organization, in the order of their creation.
type owners struct {
	ids   map[catalog.Kind][]string
	names map[catalog.Kind]*upsert.Names
}

// ownerKinds are the kinds of records with outcomes, as files name them.
var ownerKinds = []struct {
	kind catalog.Kind
	name string
}{{catalog.CourseKind, "course"}, {catalog.ProgramKind, "program"}}

func (s *service) owners(ctx context.Context, org catalog.OrgID) (*owners, error) {
	courses, err := usecase.All[*catalog.Course](ctx, s.store, org, "")
	if err != nil {
		return nil, err
	}
	programs, err := usecase.All[*catalog.Program](ctx, s.store, org, "")
	if err != nil {
		return nil, err
	}
	o := &owners{map[catalog.Kind][]string{}, map[catalog.Kind]*upsert.Names{
		catalog.CourseKind: upsert.NamesOf(courses), catalog.ProgramKind: upsert.NamesOf(programs),
	}}
	for _, c := range courses {
		o.ids[catalog.CourseKind] = append(o.ids[catalog.CourseKind], c.ID)
	}
	for _, p := range programs {
		o.ids[catalog.ProgramKind] = append(o.ids[catalog.ProgramKind], p.ID)
	}
	return o, nil
}

// find returns the only course or program of a name.
func (o *owners) find(name string) (kind catalog.Kind, id string, err error) {
	for _, k := range ownerKinds {
		if found := o.names[k.kind].Find(name); found != "" {
			if id != "" {
				return "", "", fmt.Errorf("%q is a course and a program; name its id", name)
			}
			kind, id = k.kind, found
		}
	}
	if id == "" {
		return "", "", fmt.Errorf("no course or program is named %q: neither id nor external id nor code", name)
	}
	return kind, id, nil
}

type importOutcomes struct {
	ofImport
	Owner string `placeholder:"NAME" help:"Course or program of the outcomes, by id, external id or code: required for a file of Canvas."`
	File  string `arg:"" help:"Table with one line per outcome, in the columns of the export or of Canvas's outcomes.csv."`
}

// Run replaces the outcomes of each owner in the file, or reports what it would do. A file with an error changes
// nothing.
func (c *importOutcomes) Run(ctx context.Context, t *tool, s *service) error {
	in := intake.Options{Resource: catalog.OutcomeListKind, Owner: c.Owner}
	return c.load(ctx, t, s, c.File, in, upsert.Options{})
}

type exportOutcomes struct {
	Organization catalog.OrgID `required:"" placeholder:"ID" help:"Organization that owns the courses and programs."`
	Owner        string        `placeholder:"NAME" help:"Write those of this course or program only, by id, external id or code; required with -canvas."`
	Canvas       bool          `help:"Write Canvas's outcomes.csv."`
}

// Run writes the outcomes of courses, then of programs, each in the order of their creation.
func (c *exportOutcomes) Run(ctx context.Context, t *tool, s *service) error {
	if _, err := s.organization(ctx, c.Organization); err != nil {
		return err
	}
	if c.Canvas && c.Owner == "" {
		return errors.New("a file of Canvas has the outcomes of one owner; name the course or program with -owner")
	}
	owners, err := s.owners(ctx, c.Organization)
	if err != nil {
		return err
	}
	if c.Owner != "" {
		kind, id, err := owners.find(c.Owner)
		if err != nil {
			return err
		}
		owners.ids = map[catalog.Kind][]string{kind: {id}}
	}
	actor := usecase.Actor{Org: c.Organization, Store: s.store}
	e := intake.OutcomeExport{Canvas: c.Canvas}
	if err := e.Begin(t.stdout); err != nil {
		return err
	}
	for _, k := range ownerKinds {
		for _, id := range owners.ids[k.kind] {
			lists, err := actor.OutcomeLists(ctx, id)
			if err != nil {
				return err
			}
			if list := lists[id]; list != nil {
				if err := e.Write(owners.names[k.kind].Of(id), k.name, list.Outcomes); err != nil {
					return err
				}
			}
		}
	}
	return e.End()
}
