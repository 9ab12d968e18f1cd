package ctdl

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/catalog"
)

func pointer[T any](v T) *T { return &v }

var college = Organization{
	CTID: catalogCTID(1), Name: "Example College", Description: "A public two-year college", Webpage: "https://college.example",
	AgentType: "TwoYear", Language: "en-US", Base: "https://api.example/v1/public/example/ctdl/",
}

// catalogCTID returns one of the CTIDs of the tests.
func catalogCTID(n int) string {
	return "ce-00000000-0000-4000-8000-" + strings.Repeat("0", 11) + string(rune('0'+n))
}

func TestDocumentOfACourse(t *testing.T) {
	course := Course{
		Course: &catalog.Course{
			Name: "Databases", Code: "CS 201", Description: pointer("Relational & other databases"), Level: pointer("NON_CREDIT"),
			LifecycleStatus: "ACTIVE", Credits: &catalog.Credits{Min: 3, Max: 4.5, Unit: "SEMESTER_HOUR"},
		},
		Programs: []string{catalogCTID(3)},
		Taught:   Taught{Skills: Skills([]catalog.SkillRef{{SkillID: "esco:abc", SkillName: "SQL", Confidence: .5}}, "ESCO")},
	}
	e := CourseEntity(college, course, catalogCTID(2))
	want := `{"@context":"https://credreg.net/ctdl/schema/context/json",` +
		`"@id":"https://api.example/v1/public/example/ctdl/ce-00000000-0000-4000-8000-000000000002","@type":"ceterms:Course",` +
		`"ceterms:ctid":"ce-00000000-0000-4000-8000-000000000002","ceterms:codedNotation":"CS 201",` +
		`"ceterms:creditValue":[{"@type":"ceterms:ValueProfile","ceterms:creditUnitType":["creditUnit:SemesterHour"],` +
		`"schema:maxValue":4.5,"schema:minValue":3}],"ceterms:description":{"en-US":"Relational \u0026 other databases"},` +
		`"ceterms:inLanguage":["en-US"],"ceterms:isNonCredit":true,` +
		`"ceterms:isPartOf":["https://api.example/v1/public/example/ctdl/ce-00000000-0000-4000-8000-000000000003"],` +
		`"ceterms:lifeCycleStatusType":{"@type":"ceterms:CredentialAlignmentObject",` +
		`"ceterms:framework":"https://credreg.net/ctdl/terms/LifeCycleStatus","ceterms:frameworkName":{"en-US":"Life Cycle Status"},` +
		`"ceterms:targetNode":"lifeCycle:Active","ceterms:targetNodeName":{"en-US":"Active"}},"ceterms:name":{"en-US":"Databases"},` +
		`"ceterms:offeredBy":["https://api.example/v1/public/example/ctdl/ce-00000000-0000-4000-8000-000000000001"],` +
		`"ceterms:ownedBy":["https://api.example/v1/public/example/ctdl/ce-00000000-0000-4000-8000-000000000001"],` +
		`"ceterms:teaches":[{"@type":"ceterms:CredentialAlignmentObject","ceterms:frameworkName":{"en":"ESCO"},` +
		`"ceterms:targetNode":"http://data.europa.eu/esco/skill/abc","ceterms:targetNodeName":{"en":"SQL"},"ceterms:weight":0.5}]}`
	if diff := cmp.Diff(want, string(e.JSON())); diff != "" {
		t.Error(diff)
	}
	if missing := []Missing{{"ceterms:subjectWebpage", Recommended, "webpage"}}; !cmp.Equal(e.Missing, missing) || !e.Ready() {
		t.Errorf("missing: %v, ready: %v", e.Missing, e.Ready())
	}
}

// Without any one of its required properties, nothing is ready.
func TestReadinessNeedsEveryRequiredProperty(t *testing.T) {
	description, page := pointer("Fifteen letters"), pointer("https://college.example")
	course := CourseEntity(college, Course{Course: &catalog.Course{
		Name: "Databases", Description: description, LifecycleStatus: "ACTIVE",
	}}, catalogCTID(2))
	program := ProgramEntity(college, Program{Program: &catalog.Program{
		Name: "Computing", Description: description, LifecycleStatus: "ACTIVE", Webpage: page,
	}}, catalogCTID(2))
	credential := CredentialEntity(college, Credential{Credential: &catalog.Credential{
		Name: "Databases", Description: description, Status: "ACTIVE", Webpage: page, CredentialType: "Badge",
	}}, catalogCTID(2))
	framework, outcomes := FrameworkEntity(college, Framework{
		Name: "Databases", Competencies: []Competency{{catalog.Outcome{ID: "out_1", Statement: "Query"}, catalogCTID(3)}},
	}, catalogCTID(2))
	value := TransferValueEntity(college, transferred, catalogCTID(2))
	for e, required := range map[*Entity]string{
		&course:      "name description ctid ownedBy inLanguage lifeCycleStatusType",
		&program:     "name description ctid ownedBy inLanguage lifeCycleStatusType subjectWebpage",
		&credential:  "name description ctid ownedBy inLanguage credentialStatusType subjectWebpage",
		&framework:   "ctid ceasn:name ceasn:description ceasn:inLanguage ceasn:publisher",
		&outcomes[0]: "ctid ceasn:competencyText ceasn:isPartOf",
		&value:       "name description ctid ownedBy subjectWebpage transferValue",
	} {
		if !e.Ready() {
			t.Errorf("%s lacks %v", e.Class, e.Missing)
		}
		var terms []string
		for term := range strings.FieldsSeq(required) {
			if !strings.Contains(term, ":") {
				term = "ceterms:" + term
			}
			terms = append(terms, term)
		}
		for term := range e.properties {
			without := *e
			without.properties = maps.Clone(e.properties)
			delete(without.properties, term)
			if without.Missing = without.check(without.properties); without.Ready() == slices.Contains(terms, term) {
				t.Errorf("%s without %s: ready %t", e.Class, term, without.Ready())
			}
		}
	}
	short := CourseEntity(college, Course{Course: &catalog.Course{
		Name: "Databases", Description: pointer("Fourteen chars"), LifecycleStatus: "ACTIVE",
	}}, catalogCTID(2))
	other := CredentialEntity(college, Credential{Credential: &catalog.Credential{
		Name: "Databases", Description: description, Status: "ACTIVE", Webpage: page, CredentialType: "Degree",
	}}, catalogCTID(2))
	if short.Ready() || other.Ready() {
		t.Errorf("a short description: %v; a class of classes: %v", short.Missing, other.Missing)
	}
}

var transferred = TransferValue{Articulation: &catalog.Articulation{
	SendingInstitution: catalog.Institution{Name: "Other College", CodeType: pointer("OPEID"), Code: pointer("001234")},
	Sending: []catalog.Alternative{{Courses: []catalog.SendingCourse{
		{Code: "CIS 120", Title: pointer("Introduction")}, {Code: "CIS 121"},
	}}},
	Receiving: []catalog.Grant{
		{CourseID: pointer("crs_1"), Credits: &catalog.Credits{Min: 3, Max: 3, Unit: "SEMESTER_HOUR"}},
		{Label: pointer("Elective"), Credits: &catalog.Credits{Min: 1, Max: 1, Unit: "SEMESTER_HOUR"}},
	},
	Granted:       []catalog.CourseStamp{{CourseID: "crs_1", Code: "CS 101"}},
	EffectiveFrom: "2026-01-01",
}, Courses: map[string]string{"crs_1": catalogCTID(2)}}

func TestTransferValueHasBlankNodes(t *testing.T) {
	e := TransferValueEntity(college, transferred, catalogCTID(3))
	if !e.Ready() {
		t.Error("missing:", e.Missing)
	}
	var graph struct {
		Graph []map[string]any `json:"@graph"`
	}
	if err := json.Unmarshal(Graph(e), &graph); err != nil {
		t.Fatal(err)
	}
	ids := map[string]map[string]any{}
	for _, node := range graph.Graph {
		ids[node["@id"].(string)] = node
	}
	main := ids[e.ID]
	if got := main["ceterms:name"].(map[string]any)["en-US"]; got != "Other College: CIS 120 + CIS 121 as CS 101 + Elective" {
		t.Error("name:", got)
	}
	if got := main["ceterms:transferValue"].([]any)[0].(map[string]any)["schema:value"]; got != 4.0 {
		t.Error("credits:", got)
	}
	if len(ids) != 4 {
		t.Errorf("%d nodes, not the profile, two courses and their institution", len(ids))
	}
	for _, id := range main["ceterms:transferValueFrom"].([]any) {
		owner := ids[id.(string)]["ceterms:ownedBy"].([]any)[0].(string)
		if !strings.HasPrefix(owner, "_:") || ids[owner]["ceterms:name"] == nil {
			t.Errorf("%s has the owner %s", id, owner)
		}
	}
}

// Every property that the tables name is published, and for the class.
func TestTermsArePublished(t *testing.T) {
	published(t, "ceterms:Course", courses)
	published(t, "ceterms:LearningProgram", programs)
	published(t, "ceterms:MicroCredential", credentials)
	published(t, "ceterms:CredentialOrganization", organizations)
	published(t, "ceasn:CompetencyFramework", frameworks)
	published(t, "ceasn:Competency", competencies)
	published(t, "ceterms:TransferValueProfile", transferValues)
	for _, s := range []scheme{lifecycles, credentialStatuses, audienceLevels, creditUnits} {
		for value, id := range s.concepts {
			if concept := Terms()[id]; concept.Type != "concept" || !slices.Contains(concept.Of, s.name) {
				t.Errorf("%s: %s is not a concept of %s", value, id, s.name)
			}
		}
	}
}

func published[T any](t *testing.T, class string, table []mapping[T]) {
	t.Helper()
	seen := map[string]bool{}
	for _, m := range table {
		term := Terms()[m.term]
		within := func(domain string) bool { return Within(class, domain) }
		if term.Type != "property" || !slices.ContainsFunc(term.Of, within) {
			t.Errorf("%s is not a property of %s", m.term, class)
		}
		if seen[m.term] {
			t.Errorf("%s is mapped twice for %s", m.term, class)
		}
		seen[m.term] = true
	}
}
