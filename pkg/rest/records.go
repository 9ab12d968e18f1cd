package rest

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"skillscurriculum/pkg/catalog"
)

// patch makes every field of the body that embeds it optional: a PATCH says what
// is to change.
type patch struct{}

// TransformSchema implements huma.SchemaTransformer.
func (patch) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Required = nil
	return s
}

// lookups returns what the rules of a body's fields ask; handlers add the records
// that the body names.
func (c *call) lookups() catalog.Lookups {
	return catalog.Lookups{
		At: "body", CheckHref: c.CheckHref,
		SkillName: func(id string) (string, bool) { return c.Taxonomy().Name(id) },
	}
}

// create makes a listed record of its input.
func create[R catalog.Record](ctx context.Context, c *call, in catalog.Input[R], record R, l catalog.Lookups) (R, *catalog.Change, error) {
	var none R
	if err := catalog.Apply(in, record, l); err != nil {
		return none, nil, err
	}
	dir, err := c.Store.Directory(ctx, c.org, catalog.KindOf(record))
	if err != nil {
		return none, nil, err
	}
	var change catalog.Change
	change.Add(record, c.IDs, dir, c.org, c.Now())
	c.created(record)
	return record, &change, nil
}

// update changes a loaded record as its input says; nothing is saved where nothing
// is different.
func update[T any, R interface {
	*T
	catalog.Record
}](c *call, in catalog.Input[R], record R, l catalog.Lookups) (R, *catalog.Change, error) {
	before := *record
	if err := catalog.Apply(in, record, l); err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	catalog.ReplaceChanged(&change, before, record, c.now)
	return record, &change, nil
}

// deleteListed deletes a listed record that nothing else depends on.
func deleteListed[R catalog.Record](ctx context.Context, c *call, kind catalog.Kind, load func(context.Context) (R, error)) (none, *catalog.Change, error) {
	record, dir, err := parallel(ctx, load, func(ctx context.Context) (*catalog.Directory, error) {
		return c.Store.Directory(ctx, c.org, kind)
	})
	if err != nil {
		return none{}, nil, err
	}
	var change catalog.Change
	change.Delete(record, c.now, dir)
	return none{}, &change, nil
}
