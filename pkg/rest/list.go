package rest

import (
	"fmt"
	"net/url"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// pageInput are the parameters of every list.
type pageInput struct {
	Limit  int `query:"limit" default:"50" minimum:"1" maximum:"100" doc:"how many records a page holds at most"`
	Offset int `query:"offset" default:"0" minimum:"0" doc:"how many records stand before the page"`
}

// Page is one page of a list.
type Page[T any] struct {
	Data       []T        `json:"data"`
	Pagination Pagination `json:"pagination"`
}

// Pagination says where a page stands in its list.
type Pagination struct {
	Total   int  `json:"total"`
	Limit   int  `json:"limit"`
	Offset  int  `json:"offset"`
	HasMore bool `json:"hasMore"`
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
