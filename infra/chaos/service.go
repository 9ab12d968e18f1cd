package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// service compares the responses of the service, now that nothing fails, with the table.
func (a *audit) service(ctx context.Context, c *client) {
	org := c.organization.id
	for _, kind := range catalog.Kinds() {
		if operation := listing(kind); operation != "" {
			a.list(c, operation, "", a.of(org, kind))
		}
	}
	a.findArticulations(c, articulationsOf(a.of(org, catalog.ArticulationKind)))
	a.changes(ctx, c)
}

// list reads a whole list.
func (a *audit) list(c *client, operation, query string, records []*record) {
	var want, got []string
	for _, r := range records {
		want = append(want, r.id())
	}
	for more := true; more; {
		ids, p := c.list(operation, query, 100, len(got))
		got, more = append(got, ids...), p.Pagination.HasMore
	}
	if !slices.Equal(got, want) {
		a.breach("%s %s of %s: %v, the table has %v", operation, query, c.organization.id, got, want)
	}
}

// findArticulations compares filtered lists and look-ups of articulations with catalog's rules.
func (a *audit) findArticulations(c *client, all []*catalog.Articulation) {
	filters := map[string]catalog.ArticulationFilter{}
	for _, status := range statuses {
		filters["status="+status] = catalog.ArticulationFilter{Status: catalog.ArticulationStatus(status)}
	}
	for _, name := range senders {
		filters["institution="+url.QueryEscape(name)] = catalog.ArticulationFilter{Institution: name}
		for _, day := range begins {
			filters["asOf="+day] = catalog.ArticulationFilter{AsOf: day}
			for _, set := range sets {
				query := catalog.ArticulationQuery{Institution: name, Codes: strings.Split(set[0], ","), AsOf: day}
				a.lookUp(c, query, all)
			}
		}
	}
	for query, filter := range filters {
		var selected []*record
		for _, articulation := range all {
			if filter.Selects(articulation) {
				selected = append(selected, a.live[articulation.ID])
			}
		}
		a.list(c, "listArticulations", "&"+query, selected)
	}
}

func (a *audit) lookUp(c *client, q catalog.ArticulationQuery, all []*catalog.Articulation) {
	query := url.Values{"institution": {q.Institution}, "codes": {strings.Join(q.Codes, ",")}, "asOf": {q.AsOf}}
	response := c.send(request{operation: "lookupArticulations", path: "/articulations/lookup?" + query.Encode()})
	var found struct{ Data []catalog.Granted }
	granted, _, _ := q.Lookup(all)
	want, _ := json.Marshal(granted)
	err := json.Unmarshal(response.body, &found)
	if got, _ := json.Marshal(found.Data); response.status != http.StatusOK || err != nil || string(got) != string(want) {
		a.breach("look-up of %+v: %d %s, want %s", q, response.status, response.body, want)
	}
}

// changes compares the change feed with the table's, and reads every live record at its path in the feed.
func (a *audit) changes(ctx context.Context, c *client) {
	var want, got []string
	for _, page := range a.ordered(c.organization.id, api.JournalRows) {
		for _, entry := range texts(page, "entries") {
			want = append(want, changeOf(entry).ID)
		}
	}
	paths := map[string]string{} // by id
	for change, err := range c.service().Changes(ctx, "") {
		if err != nil {
			a.breach("changes: %v", err)
			return
		}
		got = append(got, change.ID)
		paths[change.ID] = strings.TrimPrefix(change.Href, api.BasePath)
	}
	if !slices.Equal(got, want) {
		a.breach("the feed of %s has %d changes, want the table's %d in order",
			c.organization.id, len(got), len(want))
	}
	for id, path := range paths {
		r := a.live[id]
		if r == nil {
			continue
		}
		kind := catalog.KindOf(r.Record)
		response := c.send(request{operation: "get" + string(kind), path: path})
		if response.status != http.StatusOK || !strings.Contains(string(response.body), id) && kind != catalog.ReportKind {
			a.breach("%s in the feed returned %d %s", path, response.status, response.body)
		}
		ready := text(response.parsed(), "status") == string(catalog.Ready)
		if kind == catalog.DocumentKind && ready != (a.files.of(r) != "") {
			a.breach("%s is ready: %t, its file is %q", id, ready, a.files.of(r))
		}
	}
}
