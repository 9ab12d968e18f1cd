package rest_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/labor"
)

// A key can learn whose it is, what it may do, and what the service has loaded, at no cost.
func TestMe(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ctx := t.Context()
	if err := s.store.SaveOrganization(ctx, &catalog.Organization{ID: "org_one", Name: "Lake College"}); err != nil {
		t.Fatal(err)
	}
	info := s.server.Taxonomy().Info()
	if info.Skills == 0 {
		t.Fatal("the taxonomy has no skills")
	}
	for _, c := range []client{s.one, s.reader, s.two} {
		r := c.must(200, "GET", "/me", "")
		keys, err := s.store.Keys(ctx, c.customer.ID)
		if err != nil {
			t.Fatal(err)
		}
		var key *catalog.Key
		for _, k := range keys {
			if k.Hash == catalog.HashSecret(c.key) {
				key = k
			}
		}
		organization := "Lake College"
		if c.customer.OrganizationID != "org_one" {
			organization = ""
		}
		want := map[string]any{
			"customerId": c.customer.ID, "customerName": "Test",
			"organizationId": c.customer.OrganizationID, "organizationName": organization,
			"key":      map[string]any{"id": key.ID, "scope": key.Scope, "createdAt": key.CreatedAt, "expiresAt": nil},
			"limit":    map[string]any{"units": 1000000, "windowSeconds": 60},
			"taxonomy": map[string]any{"name": info.Name, "version": info.Version, "skills": info.Skills},
			"market": map[string]any{
				"vintage": map[string]any{"wages": "May 2024", "projections": "2024-34", "crosswalk": "CIP 2020 - SOC 2018"},
				"states":  r.get("market.states"), "metros": r.get("market.metros"),
			},
			"service": map[string]any{"version": "1.0.0", "baseUrl": "https://example.com/v1"},
		}
		for name, value := range want {
			r.want(name, value)
		}
		if names := slices.Sorted(maps.Keys(want)); r.whole().fields("whole") != strings.Join(names, " ") {
			t.Errorf("the body has %s", r.whole().fields("whole"))
		}
		if cost := r.header("X-RateLimit-Cost"); cost != "0" {
			t.Errorf("it costs %s", cost)
		}
	}
	s.one.must(400, "GET", "/me?x=1", "")
	client{s, "", s.one.customer}.must(401, "GET", "/me", "")

	// A key with an end says when; a customer's own limit counts; imported wages are counted once.
	before := s.one.must(200, "GET", "/me", "")
	limited := s.one.customer
	limited.RateLimitUnits = new(77)
	if err := s.store.SaveCustomer(ctx, &limited); err != nil {
		t.Fatal(err)
	}
	secret, ends := ids.NewSecret(), s.clock.Now()+1_000_000
	key := &catalog.Key{
		ID: "key_ends", CustomerID: limited.ID, OrganizationID: "org_one", Scope: catalog.ReadScope,
		Hash: catalog.HashSecret(secret), CreatedAt: s.clock.Now(), ExpiresAt: &ends,
	}
	if err := s.store.SaveKey(ctx, key); err != nil {
		t.Fatal(err)
	}
	file := &labor.WageFile{Vintage: "May 2030"}
	for _, area := range []labor.Area{labor.Nation, labor.StateArea("72"), {RegionType: labor.MSA, Region: "99999"}} {
		file.Wages = append(file.Wages, labor.Wage{Area: area, SOCCode: "15-1252", Vintage: "May 2030"})
	}
	if err := s.store.ImportWages(ctx, dynamo.Origin{Source: "wages", Generation: "1"}, file, nil); err != nil {
		t.Fatal(err)
	}
	s.clock.Add(dynamo.DataSeenWithin)
	after := client{s, secret, limited}.must(200, "GET", "/me", "")
	after.want("key.expiresAt", ends)
	after.want("limit.units", 77)
	after.want("market.vintage.wages", "May 2030")
	after.want("market.states", before.number("market.states")+1)
	after.want("market.metros", before.number("market.metros")+1)
}
