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

// fill completes records with what is not stored with them.
type fill[R catalog.Record] func(a service.Actor, ctx context.Context, records ...R) error

// get binds the GET of a record.
func get[R catalog.Record](s *Server, id string, fills ...fill[R]) {
	read(s, id, func(ctx context.Context, c *call, _ *none) (R, error) {
		record, err := service.Get[R](ctx, c.Store, c.org, c.recordID(), c.strong)
		for _, complete := range fills {
			if err == nil {
				err = complete(c.actor(), ctx, record)
			}
		}
		return record, err
	})
}

// find binds the GET of a list whose records are also found by name.
func find[R catalog.Record](s *Server, id string, fills ...fill[R]) {
	read(s, id, func(ctx context.Context, c *call, in *namedPageInput) (Page[R], error) {
		records, err := list[R](ctx, c, *in)
		for _, complete := range fills {
			if err == nil {
				err = complete(c.actor(), ctx, records.Data...)
			}
		}
		return records, err
	})
}

// pages binds the GET of a list.
func pages[R catalog.Record](s *Server, id string) {
	read(s, id, func(ctx context.Context, c *call, in *pageInput) (Page[R], error) {
		records, total, err := service.List[R](ctx, c.Store, c.org, in.Offset, in.Limit)
		return page(c, *in, records, total), err
	})
}

// create binds the POST of a record.
func create[B, R any](
	s *Server, id string, use func(a service.Actor, ctx context.Context, in B) (R, *catalog.Change, error),
) {
	write(s, id, func(ctx context.Context, c *call, in *body[B]) (R, *catalog.Change, error) {
		return use(c.actor(), ctx, in.Body)
	})
}

// revise binds the PATCH of a record.
func revise[B, R any](
	s *Server, id string, use func(a service.Actor, ctx context.Context, id string, in B) (R, *catalog.Change, error),
) {
	write(s, id, func(ctx context.Context, c *call, in *body[B]) (R, *catalog.Change, error) {
		return use(c.actor(), ctx, c.recordID(), in.Body)
	})
}

// erase binds the DELETE of a record.
func erase(
	s *Server, id string, use func(a service.Actor, ctx context.Context, id string) (*catalog.Change, error),
) {
	remove(s, id, func(ctx context.Context, c *call, _ *none) (*catalog.Change, error) {
		return use(c.actor(), ctx, c.recordID())
	})
}

// bindReviews binds the operations on the reviews of the skills of an R.
func bindReviews[R catalog.Reviewed](
	s *Server, review, unreview string, load func(ctx context.Context, c *call) (service.Reviewable, error),
) {
	write(s, review, func(
		ctx context.Context, c *call, in *body[catalog.ReviewInput],
	) (shown R, change *catalog.Change, err error) {
		of, err := load(ctx, c)
		if err != nil {
			return shown, nil, err
		}
		change, err = c.actor().Review(of, c.param("skillId"), in.Body)
		c.reviewed(of)
		return of.Reviewed.(R), change, err
	})
	remove(s, unreview, func(ctx context.Context, c *call, _ *none) (*catalog.Change, error) {
		of, err := load(ctx, c)
		if err != nil {
			return nil, err
		}
		change, err := c.actor().Unreview(of, c.param("skillId"))
		c.reviewed(of)
		return change, err
	})
}

// reviewed sets the record of the response, if the response is something else.
func (c *call) reviewed(of service.Reviewable) {
	if !c.op.Record {
		return
	}
	c.current = of.Record
	if list, ok := of.Record.(*catalog.OutcomeList); ok {
		c.current = outcomeList(list)
	}
}
