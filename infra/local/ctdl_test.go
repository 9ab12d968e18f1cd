package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"testing"

	"skillscurriculum/infra/local/demo"
	"skillscurriculum/infra/local/stack"
	"skillscurriculum/infra/local/stack/stacktest"
	"skillscurriculum/infra/terms/validators"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/client"
	"skillscurriculum/pkg/rest"
	"skillscurriculum/pkg/service"
)

// TestDemoIsValid: the validators find nothing in what both organizations of the demo publish, each entity on its own, as
// its key reads it and as anyone does, and all of an organization's as one graph.
func TestDemoIsValid(t *testing.T) {
	home := filepath.Join(t.TempDir(), "local")
	announced := run(t, stack.Config{
		Dir: home, Functions: stacktest.Functions(t), Console: log.New(io.Discard, "", 0), Env: map[string]string{api.EnvRateUnits: "1000000"},
		Syllabi: demo.Syllabi(), Demo: func(ctx context.Context, p stack.Places) (stack.Demo, error) {
			loaded, err := loadDemo(home, "", nil)(ctx, p)
			if err != nil {
				return loaded, err
			}
			// The second organization has no facts of its own.
			table := stack.Open(p.Env)
			before, err := table.Organization(ctx, catalog.OrgID(loaded.Customers[1].OrganizationID))
			if err != nil {
				return loaded, err
			}
			after := *before
			after.OrganizationFacts = catalog.OrganizationFacts{
				Description: "A technical college at a quarry", Webpage: "https://quarry-falls.example", AgentType: "TwoYear",
				Handle: "quarry-falls", Publication: true,
			}
			return loaded, table.ReplaceOrganization(ctx, before, &after)
		},
	})
	awaitExtractions(t, announced)
	var documents [][]byte
	for i, handle := range []string{"alder-bay", "quarry-falls"} {
		c := college{t, &client.Client{BaseURL: announced.BaseURL, Key: announced.Customers[i].APIKey}}
		ready, kept := c.ready()
		public := c.public(handle)
		t.Logf("%s: %d documents of records that are ready, %d records are not; %d public addresses", announced.Customers[i].Name, len(ready), kept, len(public))
		if len(ready) < 2 || len(public) <= len(ready)/2 {
			t.Errorf("%d and %d documents", len(ready), len(public))
		}
		documents = slices.Concat(documents, ready, public, [][]byte{graphOf(t, public)})
	}
	validators.Documents(t, documents...)
}

// ready returns the descriptions of the college's records that are ready, and the number of those that are not.
func (c college) ready() (documents [][]byte, kept int) {
	operations := map[string]string{
		"course": "getCourseCTDL", "program": "getProgramCTDL", "credential": "getCredentialCTDL",
		"articulation": "getArticulationCTDL",
	}
	list := ask[rest.Page[service.Readiness]](c, "listReadiness", nil, url.Values{"limit": {"100"}})
	for _, r := range list.Data {
		operation := operations[r.Resource]
		switch {
		case !r.Ready:
			kept++
		case operation != "": // a framework is only public
			documents = append(documents, ask[json.RawMessage](c, operation, nil, nil, r.ID))
			documents = append(documents, ask[json.RawMessage](c, operation, nil, url.Values{"graph": {"true"}}, r.ID))
		}
	}
	return documents, kept
}

// public returns what the addresses of a handle's index return without a key.
func (c college) public(handle string) (documents [][]byte) {
	get := func(address string) []byte {
		response, err := http.Get(address)
		if err != nil {
			c.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			c.Fatalf("%s: %d %v", address, response.StatusCode, err)
		}
		return body
	}
	var index rest.PublicIndex
	if err := json.Unmarshal(get(c.BaseURL+"/public/"+handle+"/ctdl/index.json"), &index); err != nil {
		c.Fatal(err)
	}
	for _, class := range index.Classes {
		for _, address := range class.Addresses {
			documents = append(documents, get(address))
		}
	}
	return documents
}

// graphOf returns one document with several entities.
func graphOf(t *testing.T, documents [][]byte) []byte {
	t.Helper()
	var graph []map[string]any
	for _, document := range documents {
		var entity map[string]any
		if err := json.Unmarshal(document, &entity); err != nil {
			t.Fatal(err)
		}
		delete(entity, "@context")
		graph = append(graph, entity)
	}
	text, err := json.Marshal(map[string]any{"@context": "https://credreg.net/ctdl/schema/context/json", "@graph": graph})
	if err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(text)
}
