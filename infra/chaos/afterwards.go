package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// afterwards asks the service itself, now that nothing hurts it: its lists and
// its change feed say what the table says.
func (a *audit) afterwards(t *traffic, everybody []*customer) {
	asked := map[catalog.OrgID]bool{}
	for _, customer := range everybody {
		org := customer.organization.id
		if asked[org] || customer.limit < plenty {
			continue
		}
		asked[org] = true
		c := &client{traffic: t, customer: customer, name: "auditor"}
		for _, l := range lists {
			a.listed(c, l.operation, l.path, l.kind)
		}
		a.found(c)
		a.told(c)
	}
}

// listed reads a whole list.
func (a *audit) listed(c *client, operation, path string, kind catalog.Kind) {
	org := c.customer.organization.id
	records := a.all(org, kind)
	slices.SortFunc(records, func(x, y map[string]any) int { return strings.Compare(text(x, api.SortKey), text(y, api.SortKey)) })
	var want, got []string
	for _, r := range records {
		want = append(want, text(r, "id"))
	}
	for {
		response := c.send(request{operation: operation, path: fmt.Sprintf("%s?limit=100&offset=%d", path, len(got))})
		var p page
		if response.status != 200 || json.Unmarshal(response.body, &p) != nil || p.Pagination.Total != len(want) {
			a.breach("%s of %s: %d, total %d of %d", operation, org, response.status, p.Pagination.Total, len(want))
			return
		}
		for _, r := range p.Data {
			got = append(got, r.ID)
		}
		if !p.Pagination.HasMore {
			break
		}
	}
	if !slices.Equal(got, want) {
		a.breach("%s of %s: %d records, not those of the table in their order", operation, org, len(got))
	}
}

// told replays the change feed as a client reads it.
func (a *audit) told(c *client) {
	org := c.customer.organization.id
	live := map[string]string{} // where each record is read, by id
	for cursor := ""; ; {
		response := c.send(request{operation: "listChanges", path: "/changes?limit=500&since=" + cursor})
		var feed struct {
			Data []struct{ Change, Resource, ID, Href string }
			Next string
			More bool `json:"hasMore"`
		}
		if response.status != 200 || json.Unmarshal(response.body, &feed) != nil {
			a.breach("changes of %s: %d %s", org, response.status, response.body)
			return
		}
		for _, change := range feed.Data {
			live[change.ID] = change.Resource + " " + strings.TrimPrefix(change.Href, api.BasePath)
			if change.Change == catalog.Deleted {
				delete(live, change.ID)
			}
		}
		if cursor = feed.Next; !feed.More {
			break
		}
	}
	var want []string
	for _, records := range a.live[org] {
		want = slices.AppendSeq(want, maps.Keys(records))
	}
	slices.Sort(want)
	if told := slices.Sorted(maps.Keys(live)); !slices.Equal(told, want) {
		a.breach("changes of %s: %d live records, %d in the table", org, len(told), len(want))
	}
	for id, where := range live {
		resource, path, _ := strings.Cut(where, " ")
		response := c.send(request{operation: "get" + resource, path: path})
		if read := response.parsed(); response.status != 200 || text(read, "id") != id && text(read, "extractionId") != id && resource != string(catalog.ReportKind) {
			a.breach("the feed's %s leads to %d %s", path, response.status, response.body)
		}
	}
}
