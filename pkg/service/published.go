package service

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/ctdl"
	"skillscurriculum/pkg/service/parallel"
)

// Publisher describes the records of an organization in CTDL one by one.
type Publisher struct {
	Actor  Actor
	CTIDs  *CTIDs
	Base   func(handle string) string // address to which CTIDs are appended
	Handle string                     // in a public address; "" for what only the organization reads
}

// maxEntities limits the entities of a graph.
const maxEntities = 500

// Document returns the description of a record. For an articulation, alternative selects one by its index. With graph,
// the description comes with those of the entities that it names and of those that they need to be valid.
func (x Publisher) Document(
	ctx context.Context, kind catalog.Kind, id string, alternative int, graph bool,
) ([]byte, error) {
	if !kind.Made(id) {
		return nil, catalog.Absent()
	}
	p, named, err := x.read(ctx, id)
	if err != nil {
		return nil, err
	}
	main, err := p.entity(id, alternative)
	if err != nil {
		return nil, err
	}
	if !graph {
		return main.JSON(), nil
	}
	if others := p.around(main); len(others) >= maxEntities {
		return nil, catalog.Invalid(catalog.FieldError{
			Location: "query.graph", Value: "true",
			Message: fmt.Sprintf("the graph would have more than %d entities: read them one by one", maxEntities),
		})
	}
	if _, err := p.load(ctx, x.Actor, named); err != nil {
		return nil, err
	}
	return ctdl.Graph(main, p.around(main)...), nil
}

// Readiness is what a record lacks to be taken by the Credential Registry.
type Readiness struct {
	Resource string         `json:"resource" enum:"course,program,credential,articulation,framework" doc:"What the entity is made from; a framework is made from the outcomes of a course or program"`
	ID       string         `json:"id" doc:"Id of the record; of a framework, of its course or program"`
	CTID     string         `json:"ctid" doc:"Identifier of the entity in the Credential Registry"`
	Ready    bool           `json:"ready" doc:"Whether nothing is missing that the Registry requires"`
	Missing  []ctdl.Missing `json:"missing" doc:"What the entity lacks of what the Registry requires or recommends"`
}

// Readiness returns a page of what can be published, all or of one of the resources, and the number of all. An
// articulation appears once, whatever the number of its alternatives.
func (x Publisher) Readiness(
	ctx context.Context, resource string, offset, limit int,
) (page []Readiness, total int, err error) {
	for range searchAttempts {
		resources, err := x.CTIDs.Resources(ctx, x.Actor, resource)
		if err != nil {
			return nil, 0, err
		}
		wanted := catalog.PageOf(resources, offset, limit)
		ids := make([]string, len(wanted))
		for i, resource := range wanted {
			ids[i] = resource.ID
		}
		p, _, err := x.read(ctx, ids...)
		if err != nil && !catalog.HasCode(err, catalog.NotFound) {
			return nil, 0, err
		}
		page = make([]Readiness, 0, len(wanted))
		for _, resource := range wanted {
			for _, d := range p.describe(p.read[resource.ID]) {
				if d.Resource == resource.Name {
					missing := append([]ctdl.Missing{}, d.Missing...)
					page = append(page, Readiness{d.Resource, resource.ID, d.CTID, d.Ready(), missing})
					break
				}
			}
		}
		if len(page) == len(wanted) {
			return page, len(resources), nil
		}
		// A record was changed or deleted since the feed was read.
	}
	return nil, 0, catalog.ChangingTooFast()
}

// Public returns the description of the public entity with a CTID. Whatever is not public is catalog.Absent.
func (x Publisher) Public(ctx context.Context, ctid string) ([]byte, error) {
	for _, now := range []bool{false, true} {
		id, err := x.CTIDs.Find(ctx, x.Actor, ctid, now)
		if err != nil {
			return nil, err
		}
		p, _, err := x.read(ctx, id)
		if p.CTID == ctid {
			return ctdl.OrganizationEntity(p.Organization).JSON(), nil
		}
		if err != nil && !catalog.HasCode(err, catalog.NotFound) {
			return nil, err
		}
		for _, d := range p.describe(p.read[id]) {
			for _, e := range append(d.Others, d.Entity) {
				if e.CTID == ctid && d.Ready() {
					return e.JSON(), nil
				}
			}
		}
		// It is not public, or has become so since the feed was read.
	}
	return nil, catalog.Absent()
}

// Index returns a page of the addresses of what the organization publishes, itself included: those after one of them,
// or the first ones. It reports whether there are more.
func (x Publisher) Index(ctx context.Context, after Address, limit int) (page []Address, more bool, err error) {
	p, page, err := parallel.Two(ctx, func(ctx context.Context) (*Publication, error) {
		p, _, err := x.read(ctx)
		return p, err
	}, parallel.Call(x.CTIDs.Addresses, x.Actor))
	if err != nil {
		return nil, false, err
	}
	from, found := slices.BinarySearchFunc(page, after, Address.compare)
	if found {
		from++
	}
	page = slices.Clone(page[from:min(from+limit+1, len(page))])
	if own := (Address{"ceterms:CredentialOrganization", p.CTID}); own.compare(after) > 0 {
		i, _ := slices.BinarySearchFunc(page, own, Address.compare)
		page = slices.Insert(page, i, own)
	}
	more = len(page) > limit
	return page[:min(limit, len(page))], more, nil
}

// read reads records with those that they refer to, and returns the ids of those that these refer to. Without the first
// record the error is catalog.Absent.
func (x Publisher) read(ctx context.Context, ids ...string) (*Publication, []string, error) {
	p := newPublication(x.Actor.Taxonomy().Info().Name)
	o, named, err := parallel.Two(ctx, parallel.Call(x.Actor.Store.Organization, x.Actor.Org),
		parallel.Call2(p.load, x.Actor, ids))
	if err == nil {
		if err = x.describe(p, o); len(ids) > 0 && p.read[ids[0]] == nil {
			err = catalog.Absent()
		}
	}
	if err == nil {
		named, err = p.load(ctx, x.Actor, named)
	}
	return p, named, err
}

// describe sets what the documents state about the organization. If it lacks facts, the error is a conflict that names
// them; if it does not publish under the handle, catalog.Absent.
func (x Publisher) describe(p *Publication, o *catalog.Organization) error {
	if o == nil {
		o = &catalog.Organization{} // organizations of early releases have no row
	}
	missing := o.MissingFacts()
	switch {
	case x.Handle != "" && (!o.Publication || o.Handle != x.Handle || len(missing) > 0):
		return catalog.Absent()
	case len(missing) == 0:
		p.Organization = InCTDL(o, x.Base(o.Handle))
		return nil
	}
	err := catalog.Errorf(catalog.Conflict, "The organization lacks facts that its operator sets: %s.",
		strings.Join(missing, ", "))
	for _, fact := range missing {
		err.Fields = append(err.Fields, catalog.FieldError{Location: "organization." + fact, Message: "is not set"})
	}
	return err
}

// entity returns the description of a record that was read, or a conflict that tells why it is not public.
func (p *Publication) entity(id string, alternative int) (main ctdl.Entity, err error) {
	all := p.describe(p.read[id])
	if a, ok := p.read[id].(*catalog.Articulation); !ok {
		alternative = 0
	} else if why := whyUnpublished(a); why != "" {
		return main, catalog.Errorf(catalog.Conflict, "The articulation is not public: %s.", why)
	} else if alternative >= len(all) {
		return main, catalog.Absent()
	}
	if main = all[alternative].Entity; main.Ready() {
		return main, nil
	}
	conflict := catalog.Errorf(catalog.Conflict, "The %s is not public: it lacks what the Credential Registry requires.",
		all[0].Resource)
	for _, m := range main.Missing {
		if m.Level == ctdl.Required {
			conflict.Fields = append(conflict.Fields,
				catalog.FieldError{Location: m.Field, Message: m.Property + " is required"})
		}
	}
	return main, conflict
}

// around returns the entities that an entity names and those that they need, by class, then CTID.
func (p *Publication) around(main ctdl.Entity) (others []ctdl.Entity) {
	all := map[string]ctdl.Entity{p.CTID: ctdl.OrganizationEntity(p.Organization)}
	for _, d := range p.Describe() {
		for _, e := range append(d.Others, d.Entity) {
			all[e.CTID] = e
		}
	}
	delete(all, main.CTID)
	var add func(ctids []string)
	add = func(ctids []string) {
		for _, ctid := range ctids {
			if e, ok := all[ctid]; ok {
				delete(all, ctid)
				others = append(others, e)
				add(e.Needs)
			}
		}
	}
	add(main.Names)
	slices.SortFunc(others, func(a, b ctdl.Entity) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.CTID, b.CTID))
	})
	return others
}
