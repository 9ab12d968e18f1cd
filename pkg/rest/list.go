package rest

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
)

// pageInput are the parameters of every list.
type pageInput struct {
	Limit  int `query:"limit" default:"50" minimum:"1" maximum:"100" doc:"Maximum number of records in the page"`
	Offset int `query:"offset" default:"0" minimum:"0" doc:"Number of records to skip"`
}

// namedPageInput are the parameters of the lists whose records have external ids.
type namedPageInput struct {
	pageInput
	ExternalID string `query:"externalId" minLength:"1" doc:"Only the record with exactly this externalId" extension:"true"`
	Query      string `query:"query" minLength:"1" maxLength:"100" doc:"Only records whose code or name has, for each of these words, a word that begins with it; best matches first" extension:"true"`
}

// list reads a page of a list: of all records, of those that match the query, or the one with the external id.
func list[R catalog.Record](ctx context.Context, c *call, in namedPageInput) (Page[R], error) {
	return coded(ctx, c, in, "", service.List[R])
}

// coded reads a page of a list as list does. A code that is not empty also selects among the records; all must select
// by it itself.
func coded[R catalog.Record](
	ctx context.Context, c *call, in namedPageInput, code string,
	all func(ctx context.Context, s service.Records, org catalog.OrgID, offset, limit int) ([]R, int, error),
) (Page[R], error) {
	var records []R
	var total int
	var err error
	switch {
	case in.ExternalID != "":
		records, err = named[R](ctx, c, in.ExternalID)
		records = slices.DeleteFunc(records, func(r R) bool { return !service.Matches(r, in.Query, code) })
		records, total = catalog.PageOf(records, in.Offset, in.Limit), len(records)
	case in.Query != "":
		records, total, err = service.Find[R](ctx, &c.Server.search, c.actor(), in.Query, code, in.Offset, in.Limit)
	default:
		records, total, err = all(ctx, c.Store, c.org, in.Offset, in.Limit)
	}
	return page(c, in.pageInput, records, total), err
}

// named returns the live record with an external id, if any. Records of early imports do not store their external id
// themselves.
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

// Page is one page of a list.
type Page[T any] struct {
	Data       []T        `json:"data" doc:"The page's items, in the order of the list"`
	Pagination Pagination `json:"pagination" doc:"Position of the page in the list"`
}

// Pagination is the position of a page in its list.
type Pagination struct {
	Total   int  `json:"total" doc:"Number of items in the list"`
	Limit   int  `json:"limit" doc:"Maximum number of items in a page"`
	Offset  int  `json:"offset" doc:"Number of items before the page"`
	HasMore bool `json:"hasMore" doc:"Whether there are more items after the page"`
}

// page returns the response of a list and adds its links.
func page[T any](c *call, in pageInput, data []T, total int) Page[T] {
	p := Pagination{
		Total: total, Limit: in.Limit, Offset: in.Offset, HasMore: in.Offset+len(data) < total && len(data) > 0,
	}
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

// link adds a link to the same list with a changed query.
func (c *call) link(rel string, change func(url.Values)) {
	query := c.request.URL.Query()
	change(query)
	c.links = append(c.links, fmt.Sprintf(`<%s?%s>; rel="%s"`, c.path, query.Encode(), rel))
}

// locate sets Location to the address of the record that a change creates. Changes create a record before its children,
// such as the courses of a package; several records of one kind have no Location.
func (c *call) locate(change *catalog.Change) {
	created := catalog.EffectsOf[*catalog.Creation](change)
	if c.op.Creates == "" || len(created) == 0 {
		return
	}
	first := created[0].Record
	if len(created) == 1 || catalog.KindOf(created[1].Record) != catalog.KindOf(first) {
		c.location = api.BasePath + catalog.HrefOf(first)
	}
}
