package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/infra/skillsctl/publish"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/ctdl"
	usecase "skillscurriculum/pkg/service"
)

// newCollege loads the demo and returns its first organization, which may publish.
func newCollege(c *console) (org string) {
	c.t.Helper()
	org = value[struct {
		Customers []struct{ OrganizationID string }
	}](c, "demo", "load").Customers[0].OrganizationID
	c.run(0, "organizations", "set", org, "-description", "A public two-year college", "-webpage", "https://college.example",
		"-agent-type", "TwoYear", "-publication", "on", "-handle", "demo-college")
	c.env[envBaseURL] = "https://api.example/v1"
	return org
}

func TestPublish(t *testing.T) {
	c := newConsole(t)
	org := newCollege(c)
	var log []string
	answer := func(string) string { return `{"Successful":true,"Messages":[]}` }
	assistant := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			PublishForOrganizationIdentifier string
			GraphInput                       struct {
				Graph []map[string]any `json:"@graph"`
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		if want := catalog.DerivedCTID(org); body.PublishForOrganizationIdentifier != want || r.Header.Get("Authorization") != "ApiToken secret-key" {
			t.Errorf("for %s, not %s; %s", body.PublishForOrganizationIdentifier, want, r.Header.Get("Authorization"))
		}
		ctid := body.GraphInput.Graph[0]["ceterms:ctid"].(string)
		log = append(log, r.URL.Path)
		fmt.Fprint(w, answer(ctid))
	}))
	t.Cleanup(assistant.Close)
	command := []string{"ctdl", "publish", "-organization", org, "-registry", assistant.URL}
	if _, says := c.run(1, command...); !strings.Contains(says, envRegistryKey) {
		t.Error(says)
	}
	planned := value[[]publish.Result](c, append(command, "-dry-run")...)
	c.env[envRegistryKey] = "secret-key"
	if len(log) > 0 {
		t.Errorf("a dry run sent %q", log)
	}
	results := value[[]publish.Result](c, command...)
	count := func(results []publish.Result, outcome publish.Outcome) (n int) {
		for _, r := range results {
			if r.Outcome == outcome {
				n++
			}
		}
		return n
	}
	published := count(results, publish.Published)
	if published < 5 || published != len(log) || count(planned, publish.Pending) != published || log[0] != "/organization/publishGraph" {
		t.Errorf("%d published of %d planned: %q", published, count(planned, publish.Pending), log)
	}
	if !slices.ContainsFunc(results, func(r publish.Result) bool { return r.Name == "Northmere State University: CSC 210 + CSC 211" }) {
		t.Errorf("an articulation is not named: %+v", results)
	}
	c.run(0, "organizations", "set", org, "-publication", "off")
	if _, says := c.run(0, append(command, "-dry-run")...); !strings.Contains(says, "publication is off") {
		t.Error(says)
	}
	c.run(0, "organizations", "set", org, "-publication", "on")
	if again := value[[]publish.Result](c, command...); count(again, publish.Unchanged) != published || len(log) != published {
		t.Errorf("sent again: %+v", again)
	}
	files, err := os.ReadDir(".")
	if err != nil || !slices.ContainsFunc(files, func(f os.DirEntry) bool { return strings.HasPrefix(f.Name(), "ctdl-publish-"+org+"-127.0.0.1") }) {
		t.Errorf("no file of the state: %v %v", files, err)
	}

	// Another file knows nothing of it.
	refused := ""
	answer = func(ctid string) string {
		if refused == "" {
			refused = ctid
		}
		return fmt.Sprintf(`{"Successful":%t,"Messages":["secret-key is not a name"]}`, ctid != refused)
	}
	log = nil
	out, says := c.run(3, append(command, "-only", "course", "-state", "other.json")...)
	if !strings.Contains(out, refused) || strings.Contains(out+says, "secret-key") || len(log) < 3 ||
		slices.ContainsFunc(log, func(path string) bool { return path != "/course/publishGraph" }) {
		t.Errorf("%s%s: %q", out, says, log)
	}
	assistant.Close()
	if _, says := c.run(4, append(command, "-state", "third.json")...); strings.Contains(says, "secret-key") {
		t.Error(says)
	}
}

// publicationOf returns the documents of everything that an organization publishes.
func (c *console) publicationOf(org string) (all []ctdl.Entity) {
	c.t.Helper()
	o, err := c.store.Organization(c.t.Context(), catalog.OrgID(org))
	if err != nil {
		c.t.Fatal(err)
	}
	p, err := usecase.ReadPublication(c.t.Context(), c.store, o, "https://api.example/v1/public/"+o.Handle+"/ctdl/", "Starter")
	if err != nil {
		c.t.Fatal(err)
	}
	for _, d := range p.Describe() {
		if d.Resource != "articulation" {
			all = append(append(all, d.Entity), d.Others...)
		}
	}
	return all
}

// The import of an organization's own export keeps what CTDL cannot express: alignments that are not EXACT, labels, levels
// and skills. An edited statement keeps its outcome.
func TestImportOfOwnOutcomes(t *testing.T) {
	c := newConsole(t)
	org := newCollege(c)
	c.file("courses.csv", "externalId,code,name,description\nA1,AL 1,Alignments,A course with alignments\n")
	c.run(0, "import", "catalog", "-organization", org, "courses.csv")
	c.file("outcomes.csv", "owner,ownerKind,code,statement,level,parentCode,skills,alignments,parentId\n"+
		"A1,course,R,Design a study,5,,none,BROAD urn:case:1 Research|EXACT urn:case:2 Design|RELATED urn:case:3,\n"+
		"A1,course,,Choose a method,4,R,none,EXACT urn:case:4 Choice,\n")
	c.run(0, "import", "outcomes", "-organization", org, "outcomes.csv")
	export := func() string {
		out, _ := c.run(0, "export", "outcomes", "-organization", org, "-owner", "A1")
		return out
	}
	before := export()
	entities := c.publicationOf(org)
	graph := string(ctdl.Graph(entities[0], entities[1:]...))
	c.file("export.jsonld", graph)
	if out, _ := c.run(0, "import", "catalog", "-organization", org, "export.jsonld"); !strings.Contains(out, "created  0\nupdated  0\n") {
		t.Errorf("the export changes its organization: %s", out)
	}
	if diff := cmp.Diff(before, export()); diff != "" {
		t.Error(diff)
	}
	edited := strings.NewReplacer("Choose a method", "Choose and defend a method", "urn:case:4", "urn:case:5").Replace(graph)
	c.file("export.jsonld", edited)
	c.run(0, "import", "catalog", "-organization", org, "export.jsonld")
	want := strings.NewReplacer("Choose a method", "Choose and defend a method", "urn:case:4 Choice", "urn:case:5").Replace(before)
	if diff := cmp.Diff(want, export()); diff != "" {
		t.Error(diff)
	}
}

// A competency whose parent has no code is imported below it.
func TestImportOfParentsWithoutCodes(t *testing.T) {
	c := newConsole(t)
	org := newCollege(c)
	c.run(0, "import", "catalog", "-organization", org, c.file("graph.jsonld", strings.ReplaceAll(`{"@context":"C","@graph":[
		{"@id":"/ce-NN1","@type":"ceterms:Course","ceterms:ctid":"ce-NN1","ceterms:name":"Statistics","ceterms:codedNotation":"ST 1",
		 "ceterms:teaches":["/ce-NN2","/ce-NN3"]},
		{"@id":"/ce-NN2","@type":"ceasn:Competency","ceterms:ctid":"ce-NN2","ceasn:competencyText":"Design a study"},
		{"@id":"/ce-NN3","@type":"ceasn:Competency","ceterms:ctid":"ce-NN3","ceasn:competencyText":"Choose a method","ceasn:isChildOf":["/ce-NN2"]}]}`,
		"NN", "00000000-0000-4000-8000-00000000000")))
	out, _ := c.run(0, "export", "outcomes", "-organization", org, "-owner", "ST 1")
	if !regexp.MustCompile(`Choose a method,,,,,out_`).MatchString(out) {
		t.Error(out)
	}
}

// What an organization exports and another imports is the same in its export, but for addresses.
func TestImportOfAnExport(t *testing.T) {
	c := newConsole(t)
	org := newCollege(c)
	entities := c.publicationOf(org)
	graph := string(ctdl.Graph(entities[0], entities[1:]...))
	c.file("export.jsonld", graph)
	if out, _ := c.run(0, "import", "catalog", "-organization", org, "export.jsonld"); !strings.Contains(out, "created  0\n") {
		t.Errorf("the export changes its organization: %s", out)
	}
	entities = c.publicationOf(org)
	if diff := cmp.Diff(lines(graph), lines(string(ctdl.Graph(entities[0], entities[1:]...)))); diff != "" {
		t.Errorf("%.3000s", diff)
	}
	other := string(value[catalog.Customer](c, "customers", "create", "-name", "Other").OrganizationID)
	c.run(0, "organizations", "set", other, "-name", "Alder Bay", "-ctid", catalog.DerivedCTID(org),
		"-description", "A public two-year college", "-webpage", "https://college.example", "-agent-type", "TwoYear",
		"-publication", "on", "-handle", "other-college")
	c.run(0, "import", "catalog", "-organization", other, "export.jsonld")
	imported := c.publicationOf(other)
	text := strings.ReplaceAll(string(ctdl.Graph(imported[0], imported[1:]...)), "/other-college/", "/demo-college/")
	if diff := cmp.Diff(lines(graph), lines(text)); diff != "" {
		t.Errorf("%.3000s", diff)
	}
	// Another import changes nothing.
	if out, _ := c.run(0, "import", "catalog", "-organization", other, "export.jsonld"); !strings.Contains(out, "created  0\nupdated  0\n") {
		t.Errorf("imported again: %s", out)
	}
}

func lines(graph string) []string {
	return strings.Split(strings.ReplaceAll(graph, `{"@id"`, "\n{\"@id\""), "\n")
}

// A graph of the Registry states things that no record has, refers to entities that are not in the file, and names a
// course that was imported from elsewhere.
func TestImportOfAGraphOfTheRegistry(t *testing.T) {
	c := newConsole(t)
	org := value[catalog.Customer](c, "customers", "create", "-name", "College").OrganizationID
	c.file("courses.csv", "externalId,code,name,description\nA1,CS 101,Programming,\nA2,CS 102,Databases,Kept\n")
	c.run(0, "import", "catalog", "-organization", string(org), "courses.csv")
	c.file("graph.jsonld", `{"@context":"https://credreg.net/ctdl/schema/context/json","@id":"https://registry.example/graph/ce-1","@graph":[
		{"@id":"https://registry.example/resources/ce-00000000-0000-4000-8000-000000000001","@type":"ceterms:LearningOpportunityProfile",
		 "ceterms:ctid":"ce-00000000-0000-4000-8000-000000000001","ceterms:name":{"en":"Introduction to programming"},"ceterms:codedNotation":"cs101",
		 "ceterms:keyword":{"en":["code"]},"ceterms:lifeCycleStatusType":{"@type":"ceterms:CredentialAlignmentObject","ceterms:targetNode":"lifeCycle:Ceased"},
		 "ceterms:creditValue":[{"@type":"ceterms:ValueProfile","ceterms:creditUnitType":[{"ceterms:targetNode":"creditUnit:QuarterHour"}],"schema:value":4}],
		 "ceterms:teaches":["https://registry.example/resources/ce-00000000-0000-4000-8000-000000000009"]},
		{"@id":"https://registry.example/resources/ce-00000000-0000-4000-8000-000000000002","@type":"ceterms:LearningProgram",
		 "ceterms:ctid":"ce-00000000-0000-4000-8000-000000000002","ceterms:name":{"en":"Computing"},
		 "ceterms:hasPart":["https://registry.example/resources/ce-00000000-0000-4000-8000-000000000001"],
		 "ceterms:isPreparationFor":["https://registry.example/resources/ce-00000000-0000-4000-8000-000000000008"]},
		{"@id":"_:b1","@type":"ceterms:Organization","ceterms:name":{"en":"College"}}]}`)
	out, _ := c.run(0, "import", "catalog", "-organization", string(org), "graph.jsonld")
	for _, want := range []string{"ceterms:keyword", "ignored", "created  1", "updated  1", "ceterms:Organization", "without outcomes", "without credentials"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	courses, err := usecase.All[*catalog.Course](t.Context(), c.store, org, "")
	if err != nil {
		t.Fatal(err)
	}
	got := courses[0]
	if got.Name != "Introduction to programming" || *got.ExternalID != "A1" || got.LifecycleStatus != "RETIRED" || got.Credits.Unit != "QUARTER_HOUR" ||
		got.CTID != "ce-00000000-0000-4000-8000-000000000001" || *courses[1].Description != "Kept" || len(courses) != 2 {
		t.Errorf("%+v %+v", got, courses[1])
	}
	programs, err := usecase.All[*catalog.Program](t.Context(), c.store, org, "")
	if err != nil || len(programs) != 1 || !slices.Equal(programs[0].CourseOrder, []string{got.ID}) {
		t.Errorf("%+v %v", programs, err)
	}
}
