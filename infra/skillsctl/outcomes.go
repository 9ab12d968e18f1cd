package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake"
	"skillscurriculum/pkg/schema"
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
		catalog.CourseKind: upsert.CourseNames(courses), catalog.ProgramKind: upsert.ProgramNames(programs),
	}}
	for _, c := range courses {
		o.ids[catalog.CourseKind] = append(o.ids[catalog.CourseKind], c.ID)
	}
	for _, p := range programs {
		o.ids[catalog.ProgramKind] = append(o.ids[catalog.ProgramKind], p.ID)
	}
	return o, nil
}

// find returns the only course or program of a name, of the kind if that is given.
func (o *owners) find(name, kindName string) (kind catalog.Kind, id string, err error) {
	for _, k := range ownerKinds {
		if kindName != "" && kindName != k.name {
			continue
		}
		if found := o.names[k.kind].Find(name); found != "" {
			if id != "" {
				return "", "", fmt.Errorf("%q is a course and a program; ownerKind must say which", name)
			}
			kind, id = k.kind, found
		}
	}
	if id == "" {
		return "", "", fmt.Errorf("no %s is named %q: neither id nor external id nor code", cmp.Or(kindName, "course or program"), name)
	}
	return kind, id, nil
}

type importOutcomes struct {
	Organization catalog.OrgID `required:"" placeholder:"ID" help:"Organization that owns the courses and programs."`
	Owner        string        `placeholder:"NAME" help:"Course or program of the outcomes, by id, external id or code: required for a file of Canvas."`
	Check        bool          `help:"Count and report errors, but change nothing."`
	Taxonomy     string        `placeholder:"FILE" help:"Compiled taxonomy of the skills. The default is the service's own."`
	File         string        `arg:"" help:"Table with one line per outcome, in the columns of the export or of Canvas's outcomes.csv."`
}

// Run replaces the outcomes of each owner in the file, or reports what it would do. A file with an error changes
// nothing.
func (c *importOutcomes) Run(ctx context.Context, t *tool, s *service) error {
	if err := s.organization(ctx, c.Organization); err != nil {
		return err
	}
	taxonomy, err := openTaxonomy(cmp.Or(c.Taxonomy, s.env[api.EnvTaxonomy]))
	if err != nil {
		return err
	}
	lists, canvas, err := intake.ReadOutcomes(c.File)
	if err != nil {
		return err
	}
	if canvas && c.Owner == "" {
		return errors.New("a file of Canvas does not say whose outcomes it has; name the course or program with -owner")
	}
	owners, err := s.owners(ctx, c.Organization)
	if err != nil {
		return err
	}
	actor := usecase.Actor{
		Org: c.Organization, KeyID: "skillsctl", Now: now(), Clock: now, IDs: ids, Store: s.store,
		Lookups: catalog.Lookups{SkillName: taxonomy.Name},
	}
	plans := make([]plannedOutcomes, len(lists))
	seen := map[string]bool{}
	var wrong []error
	for i, list := range lists {
		kind, id, err := owners.find(cmp.Or(list.Owner, c.Owner), list.OwnerKind)
		if err == nil && seen[id] {
			err = fmt.Errorf("%q is named in two ways", list.Owner)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s:%d: owner: %w", filepath.Base(c.File), line(list, 0), err))
			continue
		}
		seen[id] = true
		plans[i] = plannedOutcomes{kind: kind, id: id, list: list, canvas: canvas}
		if _, err := plans[i].change(ctx, actor); err != nil {
			wrong = append(wrong, located(c.File, list, err))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return fmt.Errorf("%w\nthe file has errors; nothing was changed", err)
	}
	result := struct {
		Updated int `json:"updated"`
		Skipped int `json:"skipped"`
	}{}
	for _, p := range plans {
		changed, err := p.save(ctx, actor, s, c.Check)
		if err != nil {
			return located(c.File, p.list, err)
		}
		if changed {
			result.Updated++
		} else {
			result.Skipped++
		}
	}
	return t.show(result, func(w io.Writer) {
		would := ""
		if c.Check {
			would = "would be "
		}
		fmt.Fprintf(w, "lists %supdated  %d\nlists %sskipped  %d\n", would, result.Updated, would, result.Skipped)
	})
}

// plannedOutcomes is a list of a file with its owner.
type plannedOutcomes struct {
	kind   catalog.Kind
	id     string
	list   *intake.OutcomeList
	canvas bool
}

// change returns the change that replaces the owner's outcomes; it is empty if they are as in the file.
func (p plannedOutcomes) change(ctx context.Context, actor usecase.Actor) (*catalog.Change, error) {
	list := intake.OutcomeList{Lines: p.list.Lines, Outcomes: make([]map[string]any, len(p.list.Outcomes))}
	for i, fields := range p.list.Outcomes {
		list.Outcomes[i] = map[string]any{}
		for name, value := range fields {
			list.Outcomes[i][name] = value
		}
	}
	if p.canvas {
		present, err := actor.Outcomes(ctx, p.kind, p.id)
		if err != nil {
			return nil, err
		}
		if err := list.ResolveCanvas(present.List.Outcomes); err != nil {
			return nil, err
		}
	}
	// Through JSON, so that the values have the types of a request's.
	packed, err := json.Marshal(map[string]any{"outcomes": list.Outcomes})
	if err != nil {
		return nil, err
	}
	var body map[string]any
	if err := json.Unmarshal(packed, &body); err != nil {
		return nil, err
	}
	if wrong := schema.Check[catalog.OutcomesInput](body); wrong != nil {
		return nil, catalog.Invalid(wrong...)
	}
	if packed, err = json.Marshal(body); err != nil {
		return nil, err
	}
	var in catalog.OutcomesInput
	if err := json.Unmarshal(packed, &in); err != nil {
		return nil, err
	}
	_, change, err := actor.ReplaceOutcomes(ctx, p.kind, p.id, in)
	return change, err
}

// save replaces the owner's outcomes and reports whether that changes anything; check saves nothing.
func (p plannedOutcomes) save(ctx context.Context, actor usecase.Actor, s *service, check bool) (bool, error) {
	for {
		actor.Now = now()
		change, err := p.change(ctx, actor)
		if err != nil || change.Empty() || check {
			return err == nil && !change.Empty(), err
		}
		if err = s.store.Commit(ctx, actor.Org, change); err == nil {
			if jobs := change.Jobs(); s.queue != nil && len(jobs) > 0 {
				_ = s.queue.Send(ctx, jobs) // the sweeper sends the jobs that are lost
			}
		}
		if !errors.Is(err, catalog.ErrStale) {
			return err == nil, err
		}
	}
}

func line(list *intake.OutcomeList, i int) int {
	if i < len(list.Lines) {
		return list.Lines[i]
	}
	return 1
}

var outcomePlace = regexp.MustCompile(`outcomes\[(\d+)\]\.?(.*)`)

// located returns an error with the lines of the outcomes that it is about.
func located(file string, list *intake.OutcomeList, err error) error {
	var invalid *catalog.Error
	if !errors.As(err, &invalid) || len(invalid.Fields) == 0 {
		return fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	var all []error
	for _, f := range invalid.Fields {
		field, at := f.Location, 0
		if m := outcomePlace.FindStringSubmatch(f.Location); m != nil {
			i, _ := strconv.Atoi(m[1])
			field, at = m[2], i
		}
		all = append(all, fmt.Errorf("%s:%d: %s: %s", filepath.Base(file), line(list, at), field, f.Message))
	}
	return errors.Join(all...)
}

type exportOutcomes struct {
	Organization catalog.OrgID `required:"" placeholder:"ID" help:"Organization that owns the courses and programs."`
	Owner        string        `placeholder:"NAME" help:"Write those of this course or program only, by id, external id or code; required with -canvas."`
	Canvas       bool          `help:"Write Canvas's outcomes.csv."`
}

// Run writes the outcomes of courses, then of programs, each in the order of their creation.
func (c *exportOutcomes) Run(ctx context.Context, t *tool, s *service) error {
	if err := s.organization(ctx, c.Organization); err != nil {
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
		kind, id, err := owners.find(c.Owner, "")
		if err != nil {
			return err
		}
		owners.ids = map[catalog.Kind][]string{kind: {id}}
	}
	actor := usecase.Actor{Org: c.Organization, Store: s.store}
	out := bufio.NewWriter(t.stdout)
	e := intake.OutcomeExport{Canvas: c.Canvas}
	if err := e.Begin(out); err != nil {
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
	if err := e.End(); err != nil {
		return err
	}
	return out.Flush()
}
