package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// What articulations are of: few institutions and sets of codes, so that they meet, each
// in spellings that are one. The audit compares what the first of them stands for.
var (
	senders  = [][]string{{"Hill College", "hill-college", "HILL.COLLEGE"}, {"Lake 7", "LAKE 007"}}
	sets     = [][]string{{"CIS 1", "cis-001"}, {"CIS 1,ENG 2", "eng 02,CIS1"}, {"MATH 10", "math.0010"}}
	begins   = []string{"2024-01-01", "2025-01-01", "2026-01-01", "2030-01-01"}
	ends     = []any{nil, nil, "2024-12-31", "2025-12-31", "2031-01-01"}
	statuses = []string{"IN_REVIEW", "IN_REVIEW", "APPROVED", "APPROVED", "APPROVED", "REJECTED", "DRAFT"}
)

// articulation is an articulation as it is stored and shown.
type articulation struct {
	ID, Status, EffectiveFrom string
	EffectiveTo               *string
	SendingInstitution        struct{ Name string }
	Sending                   []struct{ Courses []struct{ Code string } }
	Receiving                 []struct{ CourseID *string }
}

// sameAs returns which of the spelled ones a text is; -1 for none.
func sameAs(all [][]string, text string) int {
	return slices.IndexFunc(all, func(spellings []string) bool { return slices.Contains(spellings, text) })
}

// codes lists the sets of an articulation's alternatives, as they were spelled.
func (a articulation) codes() (all []string) {
	for _, alternative := range a.Sending {
		var codes []string
		for _, course := range alternative.Courses {
			codes = append(codes, course.Code)
		}
		all = append(all, strings.Join(codes, ","))
	}
	return all
}

func (a articulation) endsBefore(day string) bool {
	return a.EffectiveTo != nil && *a.EffectiveTo < day
}

// overlaps reports whether not both may be approved.
func (a articulation) overlaps(b articulation) bool {
	if sameAs(senders, a.SendingInstitution.Name) != sameAs(senders, b.SendingInstitution.Name) || a.endsBefore(b.EffectiveFrom) || b.endsBefore(a.EffectiveFrom) {
		return false
	}
	return slices.ContainsFunc(a.codes(), func(x string) bool {
		return slices.ContainsFunc(b.codes(), func(y string) bool { return sameAs(sets, x) == sameAs(sets, y) })
	})
}

func one[T any](c *client, of []T) T { return of[c.random.IntN(len(of))] }

// createArticulation makes a draft; one of three names an older one that it supersedes.
func (c *client) createArticulation() {
	course := c.pick(catalog.CourseKind)
	if course == "" {
		return
	}
	var sending []any
	for _, set := range c.random.Perm(len(sets))[:1+c.random.IntN(2)] {
		var courses []any
		for code := range strings.SplitSeq(one(c, sets[set]), ",") {
			courses = append(courses, map[string]any{"code": code})
		}
		sending = append(sending, map[string]any{"courses": courses})
	}
	marker := c.marker()
	body := map[string]any{
		"sendingInstitution": map[string]any{"name": one(c, one(c, senders))}, "sending": sending, "decision": "EQUIVALENT",
		"receiving": []any{map[string]any{"courseId": idOf(course)}}, "effectiveFrom": one(c, begins), "publicNote": marker,
	}
	if older := c.pick(catalog.ArticulationKind); older != "" && c.random.IntN(3) == 0 {
		body["supersedes"] = idOf(older)
	}
	got := c.create(request{operation: "createArticulation", path: "/articulations", body: body}, marker, 1)
	if id := text(got.parsed(), "id"); got.outcome() == acknowledged {
		c.know(catalog.ArticulationKind, "/articulations/"+id, "")
		c.history.created("status "+id, "DRAFT")
	}
}

// decide moves an articulation, mostly towards its approval.
func (c *client) decideArticulation() {
	path := c.pick(catalog.ArticulationKind)
	for range 2 {
		if path != "" {
			c.moveArticulation(path, one(c, statuses))
		}
	}
}

// bringToApproval takes an articulation from its draft to its approval.
func (c *client) bringToApproval() {
	if path := c.pick(catalog.ArticulationKind); path != "" {
		c.moveArticulation(path, "IN_REVIEW")
		c.moveArticulation(path, "APPROVED")
	}
}

func (c *client) moveArticulation(path, status string) {
	r := request{
		operation: "moveArticulation", path: path + "/status", effects: map[string]string{"status " + idOf(path): status},
		body: map[string]any{"status": status, "decidedBy": map[string]any{"name": c.name}}, key: "move of " + c.marker(),
	}
	if c.random.IntN(4) == 0 {
		r.ifMatch = c.tagOf(path)
	}
	c.change(r)
	c.acts++ // each request has a marker of its own
}

// endArticulation moves the end of an articulation.
func (c *client) endArticulation() {
	path := c.pick(catalog.ArticulationKind)
	if path == "" {
		return
	}
	note := c.marker()
	c.change(request{
		operation: "updateArticulation", path: path, effects: map[string]string{"note " + idOf(path): note},
		body: map[string]any{"effectiveTo": one(c, ends), "privateNote": note},
	})
}

// deleteArticulation deletes one as it was read.
func (c *client) deleteArticulation() {
	if path := c.pick(catalog.ArticulationKind); path != "" {
		c.change(request{operation: "deleteArticulation", path: path, effects: map[string]string{"record " + idOf(path): "deleted"}, ifMatch: c.tagOf(path)})
	}
}

// tagOf returns the ETag of a record; "" where it cannot be read.
func (c *client) tagOf(path string) string {
	return c.send(request{operation: "getArticulation", path: path}).tag
}

// findArticulations reads a filtered page, or looks codes up.
func (c *client) findArticulations() {
	query := url.Values{"institution": {one(c, one(c, senders))}}
	if c.random.IntN(2) == 0 {
		query.Set("codes", "CIS 1,ENG 2,MATH 10")
		c.send(request{operation: "lookupArticulations", path: "/articulations/lookup?" + query.Encode()})
		return
	}
	query.Set("status", one(c, statuses))
	query.Set("sendingCode", "CIS 1")
	c.send(request{operation: "listArticulations", path: "/articulations?" + query.Encode()})
}

// articulations holds what was decided to the rules: no two approved ones overlap, what
// they grant is there, and their moves lead from DRAFT to where they stand.
func (a *audit) articulations() {
	today := time.Now().UTC().Format(time.DateOnly)
	for _, org := range slices.Sorted(maps.Keys(a.live)) {
		var approved []articulation
		for _, r := range a.all(org, catalog.ArticulationKind) {
			decided := articulationOf(r)
			a.moved(org, decided)
			if decided.Status != "APPROVED" {
				continue
			}
			for _, other := range approved {
				if decided.overlaps(other) {
					a.breach("articulations %s and %s are both approved and overlap", decided.ID, other.ID)
				}
			}
			approved = append(approved, decided)
			for _, grant := range decided.Receiving {
				if !decided.endsBefore(today) && a.live[org][catalog.CourseKind][*grant.CourseID] == nil {
					a.breach("articulation %s grants course %s, which is not live", decided.ID, *grant.CourseID)
				}
			}
		}
	}
}

func articulationOf(r map[string]any) (decided articulation) {
	packed, _ := json.Marshal(r)
	_ = json.Unmarshal(packed, &decided)
	return decided
}

// moved follows the moves of an articulation.
func (a *audit) moved(org catalog.OrgID, decided articulation) {
	moves := a.moves[org]
	slices.SortFunc(moves, func(x, y map[string]any) int { return strings.Compare(text(x, api.SortKey), text(y, api.SortKey)) })
	at := "DRAFT"
	for _, move := range moves {
		if !strings.HasPrefix(text(move, api.SortKey), decided.ID+"#") {
			continue
		}
		if text(move, "from") != at {
			a.breach("articulation %s moves from %s, but was %s", decided.ID, text(move, "from"), at)
		}
		at = text(move, "to")
	}
	if at != decided.Status {
		a.breach("articulation %s is %s, its moves lead to %s", decided.ID, decided.Status, at)
	}
}

// found asks for articulations by what they are found by: filters and look-ups.
func (a *audit) found(c *client) {
	org := c.customer.organization.id
	all := a.all(org, catalog.ArticulationKind)
	slices.SortFunc(all, func(x, y map[string]any) int { return strings.Compare(text(x, api.SortKey), text(y, api.SortKey)) })
	filters := map[string]func(articulation) bool{}
	for _, status := range []string{"DRAFT", "IN_REVIEW", "APPROVED", "REJECTED"} {
		filters["status="+status] = func(d articulation) bool { return d.Status == status }
	}
	for i := range senders {
		filters["institution="+url.QueryEscape(senders[i][0])] = func(d articulation) bool { return sameAs(senders, d.SendingInstitution.Name) == i }
	}
	for _, code := range []string{"CIS 1", "ENG 2", "MATH 10"} {
		filters["sendingCode="+url.QueryEscape(code)] = func(d articulation) bool {
			return slices.ContainsFunc(d.codes(), func(set string) bool { return strings.Contains(sets[sameAs(sets, set)][0], code) })
		}
	}
	for _, day := range begins {
		filters["asOf="+day] = func(d articulation) bool {
			return d.Status == "APPROVED" && d.EffectiveFrom <= day && !d.endsBefore(day)
		}
	}
	for _, filter := range slices.Sorted(maps.Keys(filters)) {
		var want []string
		for _, r := range all {
			if decided := articulationOf(r); filters[filter](decided) {
				want = append(want, decided.ID)
			}
		}
		response := c.send(request{operation: "listArticulations", path: "/articulations?limit=100&" + filter})
		var p page
		if response.status != 200 || json.Unmarshal(response.body, &p) != nil || p.Pagination.Total != len(want) {
			a.breach("articulations of %s with %s: %d, total %d of %d", org, filter, response.status, p.Pagination.Total, len(want))
			continue
		}
		var got []string
		for _, r := range p.Data {
			got = append(got, r.ID)
		}
		if !slices.Equal(got, want[:min(100, len(want))]) {
			a.breach("articulations of %s with %s: %v, want %v", org, filter, got, want)
		}
	}
	for _, r := range all {
		if decided := articulationOf(r); decided.Status == "APPROVED" {
			a.lookedUp(c, decided)
		}
	}
}

// lookedUp: each alternative of an approved articulation is what its codes are worth on
// its first day.
func (a *audit) lookedUp(c *client, decided articulation) {
	if decided.endsBefore(decided.EffectiveFrom) {
		return
	}
	for i, set := range decided.codes() {
		query := url.Values{"institution": {decided.SendingInstitution.Name}, "codes": {set}, "asOf": {decided.EffectiveFrom}}
		response := c.send(request{operation: "lookupArticulations", path: "/articulations/lookup?" + query.Encode()})
		var found struct {
			Data []struct {
				ArticulationID string
				Alternative    int
			}
		}
		if response.status != http.StatusOK || json.Unmarshal(response.body, &found) != nil || len(found.Data) != 1 || found.Data[0].ArticulationID != decided.ID || found.Data[0].Alternative != i {
			a.breach("look-up of %s on %s: %d %s, want %s", set, decided.EffectiveFrom, response.status, response.body, fmt.Sprint(decided.ID, " ", i))
		}
	}
}
