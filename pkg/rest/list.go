package rest

import (
	"context"
	"fmt"
	"net/url"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// pageInput are the parameters of every list.
type pageInput struct {
	Limit  int `query:"limit" default:"50" minimum:"1" maximum:"100" doc:"How many records a page holds at most"`
	Offset int `query:"offset" default:"0" minimum:"0" doc:"How many records stand before the page"`
}

// namedPageInput are the parameters of the lists whose records have external ids.
type namedPageInput struct {
	pageInput
	ExternalID string `query:"externalId" minLength:"1" doc:"Only the record with exactly this externalId" extension:"true"`
}

// list reads a page of a list, or of what it has under a name.
func list[R catalog.Record](ctx context.Context, c *call, in namedPageInput, all func(ctx context.Context, org catalog.OrgID, offset, limit int) ([]R, int, error)) (Page[R], error) {
	if in.ExternalID == "" {
		records, total, err := all(ctx, c.org, in.Offset, in.Limit)
		return page(c, in.pageInput, records, total), err
	}
	records, err := named[R](ctx, c, in.ExternalID)
	return page(c, in.pageInput, cut(in.pageInput, records), len(records)), err
}

// named finds the live record with an external id: one, or none. An import of before
// records showed their external ids has only stored where the name leads.
func named[R catalog.Record](ctx context.Context, c *call, name string) ([]R, error) {
	if !catalog.CanBeExternalID(name) {
		return nil, nil
	}
	var kind R
	known, err := c.Store.Known(ctx, c.org, catalog.KindOf(kind), []string{name})
	if err != nil {
		return nil, err
	}
	record, ok := known[name].Record.(R)
	if !ok {
		return nil, nil
	}
	shown := catalog.ExternalOf(record)
	if shown.ExternalID == nil {
		shown.ExternalID = &name
	}
	if *shown.ExternalID != name {
		return nil, nil
	}
	return []R{record}, nil
}

// cut returns the page of a list that is read whole.
func cut[T any](in pageInput, whole []T) []T {
	rest := whole[min(in.Offset, len(whole)):]
	return rest[:min(in.Limit, len(rest))]
}

// Page is one page of a list.
type Page[T any] struct {
	Data       []T        `json:"data" doc:"The page's items, in the order of the list"`
	Pagination Pagination `json:"pagination" doc:"Where the page stands in the list"`
}

// Pagination is the position of a page in its list.
type Pagination struct {
	Total   int  `json:"total" doc:"How many items the list has"`
	Limit   int  `json:"limit" doc:"How many items a page holds at most"`
	Offset  int  `json:"offset" doc:"How many items stand before the page"`
	HasMore bool `json:"hasMore" doc:"Whether there are items behind the page"`
}

// page makes a list's response and its links.
func page[T any](c *call, in pageInput, data []T, total int) Page[T] {
	p := Pagination{Total: total, Limit: in.Limit, Offset: in.Offset, HasMore: in.Offset+len(data) < total && len(data) > 0}
	link := func(rel string, offset int) {
		c.link(rel, func(query url.Values) {
			query.Set("limit", fmt.Sprint(in.Limit))
			query.Set("offset", fmt.Sprint(offset))
		})
	}
	link("first", 0)
	if in.Offset > 0 {
		link("prev", max(0, min(in.Offset, total)-in.Limit))
	}
	if p.HasMore {
		link("next", in.Offset+in.Limit)
	}
	link("last", max(0, (total-1)/in.Limit*in.Limit))
	if data == nil {
		data = []T{}
	}
	return Page[T]{Data: data, Pagination: p}
}

// link adds a link to the same list, with another query.
func (c *call) link(rel string, change func(url.Values)) {
	query := c.request.URL.Query()
	change(query)
	c.links = append(c.links, fmt.Sprintf(`<%s?%s>; rel="%s"`, c.path, query.Encode(), rel))
}

// created names the one record that was created.
func (c *call) created(r catalog.Record) { c.location = api.BasePath + catalog.HrefOf(r) }
