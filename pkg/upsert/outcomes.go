package upsert

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
	"skillscurriculum/pkg/schema"
)

// checkOutcomes returns how a row of outcomes violates the contract.
func (r *run) checkOutcomes(row *entry.Row) []catalog.FieldError {
	kind, given := row.Fields["ownerKind"]
	if given && kind != catalog.CourseKind.Resource() && kind != catalog.ProgramKind.Resource() {
		return []catalog.FieldError{{Location: "ownerKind", Message: "must be course or program", Value: kind}}
	}
	return schema.Check[catalog.OutcomesInput](outcomesBody(*row, "guid", "parent"))
}

// outcomesBody returns the body of a request that replaces the outcomes of a row, without some fields of outcomes.
func outcomesBody(row entry.Row, without ...string) map[string]any {
	body := maps.Clone(row.Fields)
	delete(body, "ownerKind")
	list := slices.Clone(body["outcomes"].([]any))
	for i, o := range list {
		fields := maps.Clone(o.(map[string]any))
		for _, name := range without {
			delete(fields, name)
		}
		list[i] = fields
	}
	body["outcomes"] = list
	return body
}

// owner returns the course or program that a row of outcomes names by its name in this file, external id, code or id. A
// record that is new in this file exists only in the pass, unless the pass saves.
func (p *plan) owner(ctx context.Context, row entry.Row) (catalog.Record, error) {
	var found []catalog.Record
	for _, kind := range []catalog.Kind{catalog.CourseKind, catalog.ProgramKind} {
		if of := row.Fields["ownerKind"]; of != nil && of != kind.Resource() {
			continue
		}
		owner, err := p.ownerNamed(ctx, kind, row.Parent)
		if err != nil {
			return nil, err
		}
		if owner != nil {
			found = append(found, owner)
		}
	}
	wrong := func(message string) error {
		return catalog.Invalid(catalog.FieldError{Location: "owner", Message: message, Value: row.Parent})
	}
	switch len(found) {
	case 0:
		return nil, wrong("must be the id, external id or code of exactly one course or program")
	case 1:
		owner := found[0].Base().ID
		if first, named := p.owners[owner]; named && first != row.Place {
			return nil, wrong("names the owner of the outcomes at " + first)
		}
		p.owners[owner] = row.Place
		return found[0], nil
	}
	return nil, wrong("is a course and a program; ownerKind must say which")
}

func (p *plan) ownerNamed(ctx context.Context, kind catalog.Kind, name string) (catalog.Record, error) {
	known, err := p.recordsNamed(ctx, kind, []string{name})
	if err != nil || known[name] != nil || entry.CTIDOf(name) != "" {
		return known[name], err
	}
	names, err := p.stored(ctx, kind)
	if err != nil {
		return nil, err
	}
	id := names.Find(name)
	if id == "" {
		return nil, nil
	}
	owner := kind.New()
	owner.Base().ID = id
	return owner, nil
}

// outcomes replaces the outcomes of a course or program. Each outcome counts as a record.
func (p *plan) outcomes(ctx context.Context, row entry.Row, _ catalog.ExternalID) error {
	owner, err := p.owner(ctx, row)
	if err != nil {
		return err
	}
	kind, id := catalog.KindOf(owner), owner.Base().ID
	present, err := p.actor().Outcomes(ctx, kind, id)
	fresh := catalog.HasCode(err, catalog.NotFound) && !p.save // its owner is new in this file
	if fresh {
		present.List = catalog.NewOutcomeList(owner)
	} else if err != nil {
		return err
	}
	body := outcomesBody(row)
	if wrong := resolveCanvas(body["outcomes"].([]any), present.List.Outcomes); wrong != nil {
		return catalog.Invalid(wrong...)
	}
	in, err := decode[catalog.OutcomesInput](body)
	if err != nil {
		return err
	}
	var ctids []string
	for i := range in.Outcomes {
		o := &in.Outcomes[i]
		o.Linked, o.Imported = row.Linked, true
		if o.CTID.Value != "" {
			ctids = append(ctids, o.CTID.Value)
		}
	}
	if p.registered == nil {
		p.registered = map[string]catalog.ExternalID{}
	}
	if len(ctids) > 0 {
		set, err := p.holders(ctx, p.org, ctids)
		if err != nil {
			return err
		}
		maps.Copy(p.registered, set)
	}
	before, list := catalog.Copy(present.List), present.List
	if fresh {
		if _, wrong := list.Replace(in, p.IDs, p.lookups); wrong != nil {
			return catalog.Invalid(wrong...)
		}
	} else {
		var change *catalog.Change
		if list, change, err = p.actor().ReplaceOutcomes(ctx, kind, id, in); err != nil {
			return err
		}
		p.change = *change
	}
	for i := range list.Outcomes {
		o := &list.Outcomes[i]
		switch was := slices.IndexFunc(before.Outcomes, func(b catalog.Outcome) bool { return b.ID == o.ID }); {
		case was < 0:
			p.Created++
		case reflect.DeepEqual(before.Outcomes[was], *o):
			p.Skipped++
		default:
			p.Updated++
		}
	}
	p.result(row, list, Updated)
	return nil
}

// resolveCanvas replaces the guids of outcomes of Canvas: those of present outcomes by their ids, those of parents by
// ids or codes. Present outcomes keep their alignments, which Canvas does not have.
func resolveCanvas(list []any, present []catalog.Outcome) (wrong []catalog.FieldError) {
	ids, at := map[string]int{}, map[string]int{}
	for i := range present {
		ids[entry.GUIDPrefix+present[i].ID] = i
	}
	for i, o := range list {
		fields := o.(map[string]any)
		guid, ok := fields["guid"].(string)
		if !ok {
			continue
		}
		refuse := func(field, message string, value any) {
			wrong = append(wrong, catalog.FieldError{
				Location: fmt.Sprintf("outcomes[%d].%s", i, field), Message: message, Value: value,
			})
		}
		if _, twice := at[guid]; twice {
			refuse("guid", "stands in the file twice", guid)
		}
		if parent, ok := fields["parent"].(string); ok {
			above, before := at[parent]
			was, known := ids[parent]
			switch {
			case !before:
				refuse("parentGuids", "must name an outcome that stands before it", parent)
			case known:
				fields["parentId"] = present[was].ID
			case list[above].(map[string]any)["code"] != nil:
				fields["parentCode"] = list[above].(map[string]any)["code"]
			default:
				refuse("parentGuids", "the title of the parent must have at most 50 characters and differ from its description, "+
					"as its code", parent)
			}
		}
		at[guid] = i
		if was, known := ids[guid]; known {
			fields["id"], fields["alignments"] = present[was].ID, present[was].Alignments
		}
		delete(fields, "guid")
		delete(fields, "parent")
	}
	return wrong
}
