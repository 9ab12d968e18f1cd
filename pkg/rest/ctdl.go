package rest

import (
	"context"
	"net/url"
	"time"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/quota"
	"skillscurriculum/pkg/service"
)

type ctdlInput struct {
	Graph bool `query:"graph" doc:"Whether to add the entities that the main one names and those that they need to be valid, at most 500 in all"`
}

type articulationCTDLInput struct {
	ctdlInput
	Alternative int `query:"alternative" default:"0" minimum:"0" doc:"Index of the alternative to describe; each is an entity of its own"`
}

type readinessInput struct {
	pageInput
	Resource string `query:"resource" enum:"course,program,credential,articulation,framework" doc:"Only entities that are made from these"`
}

type publicIndexInput struct {
	After string `query:"after" minLength:"1" maxLength:"200" doc:"Class and CTID, separated by a space, after which the page begins; next has them"`
}

// PublicIndex is a page of the addresses of an organization's public entities.
type PublicIndex struct {
	Classes []PublicClass `json:"classes" doc:"Classes of CTDL with entities in this page, by name"`
	Next    *string       `json:"next" doc:"Address of the next page; null on the last one"`
}

// PublicClass lists the addresses of the entities of a class.
type PublicClass struct {
	Class     string   `json:"class" doc:"Class of CTDL, such as ceterms:Course"`
	Addresses []string `json:"addresses" doc:"Addresses of its entities, sorted"`
}

// publicPage is the maximum number of addresses in a page of the index.
const publicPage = 1_000

// describe returns the record that the path names in CTDL; alternative is the index of one of an articulation.
func (c *call) describe(ctx context.Context, kind catalog.Kind, alternative int, graph bool) (anything, error) {
	document, err := c.publisher().Document(ctx, kind, c.recordID(), alternative, graph)
	c.rendered = &rendered{contentType: api.LinkedData, body: document}
	return anything{}, err
}

// describe binds the GET of a record in CTDL.
func describe(s *Server, id string, kind catalog.Kind) {
	read(s, id, func(ctx context.Context, c *call, in *ctdlInput) (anything, error) {
		return c.describe(ctx, kind, 0, in.Graph)
	})
}

func (s *Server) bindRegistry() {
	read(s, "listReadiness", func(ctx context.Context, c *call, in *readinessInput) (Page[service.Readiness], error) {
		all, total, err := c.publisher().Readiness(ctx, in.Resource, in.Offset, in.Limit)
		return page(c, in.pageInput, all, total), err
	})
	read(s, "getPublicIndex", func(ctx context.Context, c *call, in *publicIndexInput) (*PublicIndex, error) {
		publisher, err := c.public(ctx)
		if err != nil {
			return nil, err
		}
		base := publisher.Base(publisher.Handle)
		after := service.ParseAddress(in.After)
		page, more, err := publisher.Index(ctx, after, publicPage)
		if err != nil {
			return nil, err
		}
		index := &PublicIndex{Classes: []PublicClass{}}
		for _, a := range page {
			if n := len(index.Classes); n == 0 || index.Classes[n-1].Class != a.Class {
				index.Classes = append(index.Classes, PublicClass{Class: a.Class})
			}
			class := &index.Classes[len(index.Classes)-1]
			class.Addresses = append(class.Addresses, base+a.CTID)
		}
		if more {
			query := url.Values{"after": {page[len(page)-1].String()}}
			index.Next = new(base + "index.json?" + query.Encode())
		}
		c.rendered = &rendered{contentType: api.JSON + "; charset=utf-8", cache: publicCache, body: encode(index)}
		return index, nil
	})
	read(s, "getPublicEntity", func(ctx context.Context, c *call, _ *none) (anything, error) {
		publisher, err := c.public(ctx)
		if err != nil {
			return anything{}, err
		}
		document, err := publisher.Public(ctx, c.param("ctid"))
		c.rendered = &rendered{contentType: api.LinkedData, cache: publicCache, body: document}
		return anything{}, err
	})
	read(s, "allowPublicIndex", func(context.Context, *call, *none) (none, error) { return none{}, nil })
	read(s, "allowPublicEntity", func(context.Context, *call, *none) (none, error) { return none{}, nil })
}

// publicCache is how long anyone may keep what is public.
const publicCache = "public, max-age=300"

// publisher describes the records of the caller's organization.
func (c *call) publisher() service.Publisher {
	return service.Publisher{
		Actor: service.Actor{Org: c.org, Store: c.Store, Taxonomy: c.Taxonomy}, CTIDs: &c.Server.ctids,
		Base: func(handle string) string { return origin(c.request) + api.BasePath + "/public/" + handle + "/ctdl/" },
	}
}

// publicReads limits the reads of an organization's public addresses.
var publicReads = quota.Limit{Units: 600, Window: time.Minute}

// public sets the call's organization to the one with the handle in the path, and starts to count the call for it.
func (c *call) public(ctx context.Context) (service.Publisher, error) {
	handle := c.param("handle")
	org, err := c.organization(ctx, handle)
	if err == nil && org == "" {
		err = catalog.Absent()
	}
	if err != nil {
		return service.Publisher{}, err
	}
	c.org = org
	c.startPublic(ctx, "public:"+string(org), publicReads)
	publisher := c.publisher()
	publisher.Handle = handle
	return publisher, nil
}

// handleKept is how long, in ms, the organizations with handles are cached: what is public must be at most 60 s old.
const handleKept = 30_000

// organization returns the organization with a handle; "" for none.
func (c *call) organization(ctx context.Context, handle string) (catalog.OrgID, error) {
	if !catalog.CanBeHandle(handle) {
		return "", nil
	}
	org, ok := c.handles.find(handle, c.now, handleKept)
	if ok {
		return org, nil
	}
	org, err := c.Store.Handle(ctx, handle)
	if err == nil && org != "" {
		c.handles.keep(handle, org, c.now)
	}
	return org, err
}
