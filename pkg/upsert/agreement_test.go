package upsert_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillscurriculum/infra/local/dynamodb/dynamotest"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/intake"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/rest"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/upsert"
)

// pair is the service with one organization changed by requests and another changed by imports. Both have the courses
// C-0 to C-2, each with a second section S-0 to S-2, and the package T.
type pair struct {
	t       *testing.T
	server  *rest.Server
	store   *dynamo.Store
	loader  *upsert.Loader
	key     string
	ids     map[string]string // of the first organization's records, by external id
	names   map[string]string // external ids by the ids of both organizations' records
	scratch string            // path of a section for changes that are refused
	number  int
}

const byAPI, byFile = catalog.OrgID("org_api"), catalog.OrgID("org_file")

func newPair(t *testing.T, more ...catalog.OrgID) *pair {
	t.Helper()
	env := dynamotest.Environment()
	env[api.EnvRateUnits], env[api.EnvCountTimeout] = "100000000", "5000"
	config, err := boot.Read(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{t: t, store: config.Store(), ids: map[string]string{}, names: map[string]string{}}
	if err := p.store.CreateTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.server = group.New(config, p.store, nil)
	p.server.Queue, p.server.Callers = &queue{}, &rest.Callers{Keys: p.store, Now: p.store.Now}
	p.loader = &upsert.Loader{
		ArticulationFields: intake.ArticulationFields,
		Store:              p.store, Queue: &queue{}, Market: labor.Starter(), Now: p.store.Now, IDs: ids,
		SkillName: p.server.Taxonomy().Name, CheckHref: p.server.CheckHref,
	}
	p.key = p.admit(byAPI)
	const base = `{"courses":[
		{"externalId":"C-0","code":"C 0","name":"C","sections":[{"externalId":"S-0","name":"S"}]},
		{"externalId":"C-1","code":"C 1","name":"C","sections":[{"externalId":"S-1","name":"S"}]},
		{"externalId":"C-2","code":"C 2","name":"C","sections":[{"externalId":"S-2","name":"S"}]}],
		"transferPackages":[{"externalId":"T","name":"T","transferFromInstitution":"I"}]}`
	for _, org := range append([]catalog.OrgID{byAPI, byFile}, more...) {
		rows, err := intake.Read(strings.NewReader(base), "base.json", intake.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.loader.Load(t.Context(), org, rows, upsert.Options{}); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			name, external := row.Name, row.Name
			record := p.known(org, row.Kind, name)
			if org == byAPI {
				p.ids[external] = record.Base().ID
			}
			p.names[record.Base().ID] = external
			if course, ok := record.(*catalog.Course); ok {
				p.names[course.DefaultSectionID] = "default of " + external
			}
		}
	}
	p.scratch = "/courses/" + p.ids["C-0"] + "/sections/" + p.ids["S-0"]
	return p
}

// admit returns a key of a new customer of an organization.
func (p *pair) admit(org catalog.OrgID) string {
	p.t.Helper()
	secret := ids.NewSecret()
	customer := &catalog.Customer{ID: catalog.CustomerID("cus_" + org), OrganizationID: org, Name: "Test"}
	key := &catalog.Key{ID: "key_" + string(org), CustomerID: customer.ID, OrganizationID: org, Scope: catalog.WriteScope, Hash: catalog.HashSecret(secret)}
	if err := errors.Join(p.store.SaveCustomer(p.t.Context(), customer), p.store.SaveKey(p.t.Context(), key)); err != nil {
		p.t.Fatal(err)
	}
	return secret
}

func (p *pair) known(org catalog.OrgID, kind catalog.Kind, name string) catalog.Record {
	p.t.Helper()
	known, err := p.store.Known(p.t.Context(), org, kind, []string{name})
	if err != nil {
		p.t.Fatal(err)
	}
	return known[name].Record
}

// call sends a request and returns the record's id, or the errors of the body in the words of the import.
func (p *pair) call(method, path string, body map[string]any) (id string, wrong []string) {
	p.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	request := httptest.NewRequestWithContext(p.t.Context(), method, "/v1"+path, bytes.NewReader(text))
	request.Header.Set("X-API-Key", p.key)
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	p.server.ServeHTTP(recorder, request)
	var response struct {
		ID     string               `json:"id"`
		Errors []catalog.FieldError `json:"errors"`
	}
	list := []struct{ ID string }{}
	if err := json.Unmarshal(recorder.Body.Bytes(), &response); err != nil && json.Unmarshal(recorder.Body.Bytes(), &list) != nil {
		p.t.Fatalf("%s %s: %s", method, path, recorder.Body)
	}
	switch {
	case len(list) == 1:
		return list[0].ID, nil
	case recorder.Code == http.StatusCreated || recorder.Code == http.StatusOK:
		return response.ID, nil
	case recorder.Code != http.StatusUnprocessableEntity:
		p.t.Fatalf("%s %s %s: %d %s", method, path, text, recorder.Code, recorder.Body)
	}
	for _, e := range response.Errors {
		at := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(e.Location, "body.courses[0]"), "body"), ".")
		at = strings.NewReplacer("courseOrder", "courses", "courseSectionIds", "sections").Replace(at)
		text := e.Message
		if at != "" {
			text = at + ": " + text
		}
		if e.Value != nil {
			text += fmt.Sprintf(" (%v)", e.Value)
		}
		for name, id := range p.ids {
			text = strings.ReplaceAll(text, id, name)
		}
		wrong = append(wrong, text)
	}
	return "", wrong
}

// load imports the only record of a file and returns its errors.
func (p *pair) load(t *rapid.T, file map[string]any) (wrong []string) {
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := intake.Read(bytes.NewReader(text), "f.json", intake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows = rows[len(rows)-1:] // its parent exists
	summary, err := p.loader.Load(context.Background(), byFile, rows, upsert.Options{})
	if err != nil && !errors.Is(err, upsert.ErrRejected) {
		t.Fatal(err)
	}
	for _, reject := range summary.Rejects {
		wrong = append(wrong, strings.Split(reject.Reason, "; ")...)
	}
	return wrong
}

// shown returns a record as JSON without ids and times, which differ. Members have their external ids.
func (p *pair) shown(t interface{ Fatal(...any) }, records ...catalog.Record) string {
	var all []string
	for _, r := range records {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		for _, own := range []string{"id", "organizationId", "createdAt", "updatedAt", "ctid", "defaultSectionId", "courseId", "packageId"} {
			delete(fields, own)
		}
		if _, ok := r.(*catalog.Course); ok {
			sections := fields["sections"].([]any)
			for _, s := range sections {
				delete(s.(map[string]any), "id")
			}
		}
		if text, err = json.Marshal(fields); err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	text := strings.Join(all, "\n")
	for id, name := range p.names {
		text = strings.ReplaceAll(text, id, name)
	}
	return text
}

// kind is a kind of record that both create. The first values of all fields but color are valid together.
type kind struct {
	kind    catalog.Kind
	path    string // POST
	list    string // of the file
	parent  string // list and external id of its parent, "" for none
	members string // the field of the file with external ids
	ids     string // the same of a request
	fields  map[string][]any
}

var (
	minusZero = math.Copysign(0, -1)
	long      = strings.Repeat("x", 256)
	names     = []any{"N", " N 2 ", "", " ", long, nil, 7.0}
	notes     = []any{"text", " padded ", "", "  ", nil, nil, strings.Repeat("x", 10_001), true}
	codes     = []any{"X 1", "", nil, strings.Repeat("x", 51)}
	skillSets = []any{
		[]any{}, nil, "x", []any{map[string]any{"skillId": "core:sql", "level": 2.0}},
		[]any{map[string]any{"skillId": "core:algebra", "level": 3.0, "confidence": minusZero}, map[string]any{"skillId": " core:sql ", "level": 1.0, "confidence": 0.1234}},
		[]any{map[string]any{"skillId": "core:nothing", "level": 3.0}, map[string]any{"skillId": "core:sql", "level": 3.0}, map[string]any{"skillId": "core:sql", "level": 9.0}},
		[]any{map[string]any{"skillId": "core:nothing", "level": 3.0, "confidence": 0.12345}, map[string]any{"skillId": "core:nothing", "level": 1.0}},
	}
	hrefs = []any{"https://example.org/a", " https://example.org/b ", "http://example.org/", "ftp://x", "", nil, 1.0}
	unit  = []any{0.0, minusZero, 0.3, 0.6, 0.9, 1.0, 1.5, -1.0, nil}
	facts = []string{"credits", "level", "lifecycleStatus", "effectiveFrom", "effectiveTo", "webpage", "takenTerm"} // rarely set, or few records would be valid
	dates = []any{"2026-01-31", "2025-08-01", "2026-02-30", "2026-1-1", nil}
	worth = []any{
		map[string]any{"min": minusZero, "max": 3.0, "unit": "ECTS"}, nil, "x", map[string]any{"min": 3.0, "max": 1.0, "unit": "CEU"},
		map[string]any{"min": 0.3, "max": 1000.0, "unit": "CEU"}, map[string]any{"min": 1.0},
	}
	pay = []any{0.0, minusZero, 10.0, 20.5, -1.0, nil, "1"}
)

var agreeing = []kind{
	{kind: catalog.CourseKind, path: "/courses", list: "courses", fields: map[string][]any{
		"name": names, "code": codes, "description": notes, "instructorId": notes, "instructorName": names, "syllabusHref": hrefs, "skills": skillSets, "color": {"red"},
		"credits": worth, "level": {"GRADUATE", "x", nil}, "lifecycleStatus": {"RETIRED", "x", nil}, "effectiveFrom": dates, "effectiveTo": dates,
		"webpage": {"https://example.org/c", " https://example.org/d ", "http://example.org", "https://u@example.org", "https://", "", nil},
	}},
	{kind: catalog.SectionKind, path: "/courses/{C-1}/sections", list: "sections", parent: "courses C-1", fields: map[string][]any{
		"name": names, "description": notes, "instructorId": notes, "instructorName": names, "syllabusHref": hrefs, "skills": skillSets,
	}},
	{kind: catalog.JobKind, path: "/jobs", list: "jobs", fields: map[string][]any{
		"name": names, "employerId": {"E", " E ", "", nil}, "description": notes, "jobDescriptionHref": {"https://example.org", "", " ", nil},
		"locations": {[]any{}, nil, []any{map[string]any{"type": "location", "locationId": " x "}}, []any{map[string]any{"type": ""}}},
		"salaryMin": pay, "salaryMax": pay, "onetSocCode": {"15-1252", "15-1252.00", "15", "", nil}, "skills": skillSets,
	}},
	{kind: catalog.ProgramKind, path: "/programs", list: "programs", members: "courses", ids: "courseOrder", fields: map[string][]any{
		"name": names, "description": notes, "code": codes, "cipCode": {"11.0701", "99.0000", "9", "", nil},
		"members": {[]any{}, []any{"C-0"}, []any{"C-2", "C-0"}, []any{"C-1", "nothing", "C-1"}},
	}},
	{kind: catalog.CredentialKind, path: "/credentials", list: "credentials", members: "sections", ids: "courseSectionIds", fields: map[string][]any{
		"name": names, "description": notes, "code": codes, "members": {[]any{}, []any{"S-0"}, []any{"S-2", "S-0"}, []any{"S-1", "nothing", "S-1"}},
	}},
	{kind: catalog.TransferPackageKind, path: "/transfer-packages", list: "transferPackages", fields: map[string][]any{
		"name": names, "transferFromInstitution": {"I", " I ", "", nil}, "description": notes, "uniqueTag": notes,
		"matchingConfig": {map[string]any{}, nil, "x"},
	}},
	{kind: catalog.TransferCourseKind, path: "/transfer-packages/{T}/courses", list: "courses", parent: "transferPackages T", fields: map[string][]any{
		"name": names, "description": notes, "syllabusHref": hrefs, "code": codes, "credits": worth, "takenTerm": codes,
	}},
}

// draw draws fields. Changes have the fields required by creation too, as in files. Some inputs have only first values,
// which are valid, some a few others, some any.
func (k kind) draw(t *rapid.T, label string, change bool) map[string]any {
	in := map[string]any{}
	others := rapid.SampledFrom([]int{0, 1, 8}).Draw(t, label+"others in 8")
	for _, field := range slices.Sorted(maps.Keys(k.fields)) {
		required := slices.Contains([]string{"name", "code", "employerId", "transferFromInstitution"}, field) && (field != "code" || k.kind == catalog.CourseKind)
		often := 2
		if required {
			often = 12
		}
		if slices.Contains(facts, field) && rapid.IntRange(0, 3).Draw(t, label+"facts "+field) > 0 {
			continue
		}
		if change && required || rapid.IntRange(0, often).Draw(t, label+field+"?") > 0 {
			values := k.fields[field]
			if rapid.IntRange(1, 8).Draw(t, label+"other "+field) > others {
				values = values[:1]
			}
			in[field] = rapid.SampledFrom(values).Draw(t, label+field)
		}
		// Violations of the schema hide those of other rules.
		if _, given := in[field]; given && (field == "color" || required) && (others == 0 || rapid.IntRange(0, 9).Draw(t, label+"valid "+field) > 0) {
			if in[field] = any(" N "); field == "color" {
				delete(in, field)
			}
		} else if required && change && in[field] == nil {
			in[field] = ""
		}
	}
	if k.kind == catalog.TransferPackageKind && rapid.Bool().Draw(t, label+"config") {
		config := map[string]any{}
		for _, field := range []string{"fullEquivalentThreshold", "partialEquivalentThreshold"} {
			if rapid.Bool().Draw(t, label+field+"?") {
				config[field] = rapid.SampledFrom(unit).Draw(t, label+field)
			}
		}
		in["matchingConfig"] = config
	}
	return in
}

// request returns the input as a request, with members by id.
func (p *pair) request(k kind, in map[string]any) map[string]any {
	body := maps.Clone(in)
	if catalog.ExternalOf(k.kind.New()) != nil {
		body["externalId"] = fmt.Sprint("R-", p.number)
	}
	if members, ok := in["members"].([]any); ok {
		delete(body, "members")
		list := make([]any, len(members))
		for i, name := range members {
			list[i] = name
			if id := p.ids[name.(string)]; id != "" {
				list[i] = id
			}
		}
		body[k.ids] = list
	}
	return body
}

// file returns the input as a file, with members by external id and within its parent.
func (k kind) file(in map[string]any, name string) map[string]any {
	object := maps.Clone(in)
	object["externalId"] = name
	if members, ok := in["members"]; ok {
		delete(object, "members")
		object[k.members] = members
	}
	list, parent, inside := strings.Cut(k.parent, " ")
	if !inside {
		return map[string]any{k.list: []any{object}}
	}
	return map[string]any{list: []any{map[string]any{"externalId": parent, k.list: []any{object}}}}
}

var ofSection = []string{"instructorId", "instructorName", "syllabusHref", "skills"}

// save sends the input as a POST, or as a PATCH of the record at a path. A course's row is also a PATCH of its default
// section.
func (p *pair) save(k kind, in map[string]any, at string) (id string, wrong []string) {
	p.t.Helper()
	method, path, body := http.MethodPost, k.path, p.request(k, in)
	for name, id := range p.ids {
		path = strings.ReplaceAll(path, "{"+name+"}", id)
	}
	if at != "" {
		method, path = http.MethodPatch, at
	}
	if k.kind == catalog.TransferCourseKind {
		body = map[string]any{"courses": []any{body}}
	}
	if k.kind != catalog.CourseKind {
		return p.call(method, path, body)
	}
	section := map[string]any{}
	for _, field := range ofSection {
		if value, ok := body[field]; ok {
			section[field] = value
			delete(body, field)
		}
	}
	// Both parts of the row are valid, or nothing is saved.
	if _, wrong = p.call(http.MethodPatch, p.scratch, section); wrong != nil {
		delete(body, "externalId") // the course may already have it
		if _, more := p.call(http.MethodPost, "/courses", body); more != nil {
			return "", append(more, wrong...)
		}
		return "", wrong
	}
	if id, wrong = p.call(method, path, body); wrong == nil {
		course, err := service.Get[*catalog.Course](p.t.Context(), p.store, byAPI, id, true)
		if err != nil {
			p.t.Fatal(err)
		}
		_, wrong = p.call(http.MethodPatch, "/courses/"+id+"/sections/"+course.DefaultSectionID, section)
	}
	return id, wrong
}

// For any input, a request and a file create the same record or report the same errors at the same locations.
func TestRequestsAndFilesAgree(t *testing.T) {
	p := newPair(t)
	for _, k := range agreeing {
		t.Run(string(k.kind), func(t *testing.T) {
			p.t = t
			saved := 0
			rapid.Check(t, func(t *rapid.T) {
				p.number++
				name := fmt.Sprint("R-", p.number)
				compare := func(in map[string]any, id string, ofAPI, ofFile []string) bool {
					slices.Sort(ofAPI)
					slices.Sort(ofFile)
					if diff := cmp.Diff(ofAPI, ofFile); diff != "" {
						// The API checks a course and its default section separately: rules of one apply
						// even if the other violates the schema.
						if k.kind != catalog.CourseKind || len(ofAPI) == 0 || len(ofFile) == 0 {
							t.Fatalf("%v\nrequest and file disagree on the errors:\n%s", in, diff)
						}
					}
					if len(ofAPI) > 0 {
						return false
					}
					saved++
					asKnown := name
					if k.kind == catalog.TransferCourseKind {
						asKnown = "T/" + name
					}
					ours, theirs := k.kind.New(), p.known(byFile, k.kind, asKnown)
					ours.Base().ID, ours.Base().OrganizationID = id, byAPI
					if course, ok := ours.(*catalog.TransferCourse); ok {
						course.PackageID = p.ids["T"]
					}
					ours, err := p.store.Reload(context.Background(), ours)
					if err != nil || theirs == nil {
						t.Fatal(err, theirs)
					}
					first, second := []catalog.Record{ours}, []catalog.Record{theirs}
					if course, ok := ours.(*catalog.Course); ok {
						for of, list := range map[*catalog.Course]*[]catalog.Record{course: &first, theirs.(*catalog.Course): &second} {
							section, err := service.Get[*catalog.Section](context.Background(), p.store, of.OrganizationID, of.DefaultSectionID, true)
							if err != nil {
								t.Fatal(err)
							}
							*list = append(*list, section)
						}
					}
					a, b := p.shown(t, first...), p.shown(t, second...)
					if diff := cmp.Diff(a, b); diff != "" {
						t.Fatalf("%v\nrequest and file make different records:\n%s", in, diff)
					}
					if strings.Contains(a, ":-0") {
						t.Fatalf("a zero with a sign: %s", a)
					}
					return true
				}
				in := k.draw(t, "", false)
				id, wrong := p.save(k, in, "")
				if !compare(in, id, wrong, p.load(t, k.file(in, name))) || k.kind == catalog.TransferCourseKind {
					return
				}
				change := k.draw(t, "then ", true)
				if before, ok := in["members"].([]any); ok && k.kind == catalog.ProgramKind {
					change["members"] = append([]any{}, rapid.Permutation(before).Draw(t, "order")...)
				} else if k.kind == catalog.ProgramKind {
					delete(change, "members") // a PATCH only reorders courses
				}
				_, wrong = p.save(k, change, k.kind.Href(p.ids["C-1"], id))
				compare(change, id, wrong, p.load(t, k.file(change, name)))
			})
			if saved == 0 {
				t.Error("nothing was ever saved")
			}
		})
	}
}
