package rest

import (
	"context"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
)

// lookups returns what the rules of a body's fields ask; handlers add the records
// that the body names.
func (c *call) lookups() catalog.Lookups {
	return catalog.Lookups{
		At: "body", CheckHref: c.CheckHref,
		SkillName: func(id string) (string, bool) { return c.Taxonomy().Name(id) },
	}
}

// actor is the caller, to use cases.
func (c *call) actor() service.Actor {
	return service.Actor{
		Org: c.org, KeyID: c.caller.Key.ID, Now: c.now, Clock: c.Now, IDs: c.IDs, Lookups: c.lookups(),
		Store: c.Store, Market: c.Market, Taxonomy: c.Taxonomy, Index: &c.Server.index, Eventual: !c.strong,
	}
}

// actorWithDocuments is actor where inputs name documents.
func (c *call) actorWithDocuments(ctx context.Context, named ...catalog.Optional[*string]) (service.Actor, error) {
	return service.WithDocuments(ctx, c.Store, c.Files, c.actor(), named...)
}

// update changes a record that was just loaded.
func update[T any, R interface {
	*T
	catalog.Record
}](c *call, in catalog.Input[R], record R, err error) (R, *catalog.Change, error) {
	if err != nil {
		return nil, nil, err
	}
	return service.Update(c.actor(), in, record)
}
