package rest

import (
	"context"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
)

// lookups returns the look-ups for the rules of a body; use cases add the records that it refers to.
func (c *call) lookups() catalog.Lookups {
	return catalog.Lookups{
		At: "body", CheckHref: c.CheckHref,
		SkillName: func(id string) (string, bool) { return c.Taxonomy().Name(id) },
	}
}

// actor returns the caller as use cases need it.
func (c *call) actor() service.Actor {
	return service.Actor{
		Org: c.org, KeyID: c.caller.Key.ID, Now: c.now, Clock: c.Now, IDs: c.IDs, Lookups: c.lookups(),
		Store: c.Store, Market: c.Market, Taxonomy: c.Taxonomy, Index: &c.Server.index, Eventual: !c.strong, Name: c.look,
	}
}

// actorWithDocuments is actor for inputs that refer to documents.
func (c *call) actorWithDocuments(ctx context.Context, named ...catalog.Optional[*string]) (service.Actor, error) {
	return c.actor().WithDocuments(ctx, c.Files, named...)
}

// update changes a loaded record.
func update[T any, R interface {
	*T
	catalog.Record
}](c *call, in catalog.Input[R], record R, err error) (R, *catalog.Change, error) {
	if err != nil {
		return nil, nil, err
	}
	return service.Update(c.actor(), in, record)
}
