package hostile

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"skillscurriculum"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot/files"
	"skillscurriculum/pkg/catalog"
	records "skillscurriculum/pkg/service"
)

// Every operation, with requests that are wrong in every way, responds with documented statuses
// and problems only, never with a 5xx, and leaves another organization's records unchanged.
func TestEveryOperation(t *testing.T) {
	t.Parallel()
	s := newService(t)
	stranger := *s
	stranger.org = catalog.OrgID(ids.New("org_"))
	stranger.key, _ = stranger.customer(t, stranger.org, catalog.WriteScope)
	theirs := fixture(t, &stranger)
	before := stranger.call(t, 200, "GET", "/changes?limit=1000", "")
	g := newGenerator(t, s, *seed)
	for round := range 31 {
		// The last round deletes unheld records, with valid requests.
		g.known, g.sound = fixture(t, s), round == 30
		for _, op := range g.operations {
			if g.sound && !deletes(op) {
				continue
			}
			r := g.request(op)
			if g.random.IntN(8) == 0 && !g.sound {
				for name, id := range theirs {
					r.path = strings.Replace(r.path, g.known[name], id, 1)
				}
			}
			got, err := s.do(r)
			if err == nil {
				err = check(r, got)
			}
			if err != nil {
				t.Errorf("seed %d: %s: %v\n%v\nresponse %.600s", *seed, op.id, err, r, got.body)
			}
			g.note(op, got)
		}
	}
	for op, statuses := range g.seen {
		if !statuses[api.Of(op).Status] && !statuses[304] {
			t.Errorf("%s never succeeded: the requests do not reach it (%v)", op, slices.Sorted(maps.Keys(statuses)))
		}
	}
	if after := stranger.call(t, 200, "GET", "/changes?limit=1000", ""); string(after.body) != string(before.body) {
		t.Error("another organization's records changed")
	}
	if strings.Contains(s.logs.String(), "panic") {
		t.Errorf("a handler panicked: %s", s.logs)
	}
}

// operation is one operation of the OpenAPI document.
type operation struct {
	id, method, path string
	parameters       []map[string]any
	body             map[string]any // schema
}

// generator makes requests from the document.
type generator struct {
	random     *rand.Rand
	schemas    map[string]any
	operations []operation
	key        string
	known      map[string]string // an id of each path parameter
	seen       map[string]map[int]bool
	sound      bool // breaks nothing
}

func newGenerator(t testing.TB, s *service, seed uint64) *generator {
	t.Helper()
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string
			Parameters  []map[string]any
			RequestBody struct {
				Content map[string]struct{ Schema map[string]any }
			}
		}
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(skillscurriculum.OpenAPI, &document); err != nil {
		t.Fatal(err)
	}
	g := &generator{
		random: rand.New(rand.NewPCG(seed, 0)), schemas: document.Components.Schemas, key: s.key, known: fixture(t, s), seen: map[string]map[int]bool{},
	}
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(document.Paths[path])) {
			o := document.Paths[path][method]
			g.operations = append(g.operations, operation{o.OperationID, strings.ToUpper(method), path, o.Parameters, o.RequestBody.Content["application/json"].Schema})
		}
	}
	// Deletions come last, holders before the records that they hold.
	slices.SortStableFunc(g.operations, func(a, b operation) int {
		if deletes(a) && deletes(b) {
			return strings.Compare(b.path, a.path)
		}
		return map[bool]int{true: 1}[deletes(a)] - map[bool]int{true: 1}[deletes(b)]
	})
	if len(g.operations) != len(api.Operations()) {
		t.Fatalf("the document has %d operations, the contract %d", len(g.operations), len(api.Operations()))
	}
	return g
}

func deletes(op operation) bool { return op.method == http.MethodDelete }

// fixture creates a record of every kind, by the name of its path parameter.
func fixture(t testing.TB, s *service) map[string]string {
	t.Helper()
	handle := publishes(t, s)
	course := s.call(t, 201, "POST", "/courses", `{"name":"Course","code":"C 1","description":"What it is about"}`)
	id := course.text(t, "id")
	taught := skill(t, s)
	requires := fmt.Sprintf(`"skills":[{"skillId":%q,"level":3}]`, taught)
	section := s.call(t, 201, "POST", "/courses/"+id+"/sections", `{"name":"Section",`+requires+`}`).text(t, "id")
	credential := s.call(t, 201, "POST", "/credentials", fmt.Sprintf(`{"name":"Credential","description":"What it is about","webpage":"https://college.example","courseSectionIds":[%q]}`, section)).text(t, "id")
	program := s.call(t, 201, "POST", "/programs", fmt.Sprintf(`{"name":"Program","description":"What it is about","webpage":"https://college.example","courseOrder":[%q]}`, id)).text(t, "id")
	job := s.call(t, 201, "POST", "/jobs", `{"name":"Job","employerId":"e",`+requires+`}`).text(t, "id")
	pack := s.call(t, 201, "POST", "/transfer-packages", `{"name":"Package","transferFromInstitution":"I"}`).text(t, "id")
	var courses []struct{ ID string }
	created := s.call(t, 201, "POST", "/transfer-packages/"+pack+"/courses", `{"courses":[{"name":"Transfer"}]}`)
	if err := json.Unmarshal(created.body, &courses); err != nil {
		t.Fatal(err)
	}
	s.extracted(t, catalog.ExtractionJob{OrganizationID: s.org, Kind: catalog.TransferCourseKind, ID: courses[0].ID, PackageID: pack})
	report := s.call(t, 201, "POST", "/reports", fmt.Sprintf(`{"name":"Report","settings":{"courses":[%q]}}`, id)).text(t, "report", "id")
	link := func(path string) string {
		_, token, _ := strings.Cut(s.call(t, 201, "POST", path+"/links", `{"expiresInSeconds":604800}`).text(t, "url"), "token=")
		return token
	}
	extraction := s.call(t, 202, "POST", "/syllabus-extractions", `{"text":"Python"}`).text(t, "extractionId")
	document := s.call(t, 201, "POST", "/documents", fmt.Sprintf(`{"fileName":"a.csv","sizeBytes":%d,"sha256":"%x"}`, len(table), sha256.Sum256([]byte(table)))).text(t, "id")
	uploaded(t, s, document)
	imported := s.call(t, 202, "POST", "/imports", fmt.Sprintf(`{"documentId":%q}`, document)).text(t, "id")
	articulation := s.call(t, 201, "POST", "/articulations", fmt.Sprintf(`{"sendingInstitution":{"name":"I"},"sending":[{"courses":[{"code":"A 1","transferCourseId":%q}]}],`+
		`"receiving":[{"courseId":%q}],"decision":"EQUIVALENT","effectiveFrom":"2026-08-01"}`, courses[0].ID, id)).text(t, "id")
	public := s.call(t, 201, "POST", "/articulations", fmt.Sprintf(`{"sendingInstitution":{"name":"P"},"sending":[{"courses":[{"code":%q}]}],`+
		`"receiving":[{"label":"Elective","credits":{"min":3,"max":3,"unit":"ECTS"}}],"decision":"EQUIVALENT","effectiveFrom":"2026-08-01","published":true}`, id)).text(t, "id")
	for _, status := range []string{"IN_REVIEW", "APPROVED"} {
		s.call(t, 200, "POST", "/articulations/"+public+"/status", fmt.Sprintf(`{"status":%q,"decidedBy":{"name":"R"}}`, status))
	}
	promise := fmt.Sprintf(`{"outcomes":[{"statement":"Outcome","level":3,"skills":[{"skillId":%q,"level":3}]}]}`, taught)
	outcome := s.call(t, 200, "PUT", "/courses/"+id+"/outcomes", promise).text(t, "outcomes", "0", "id")
	programOutcome := s.call(t, 200, "PUT", "/programs/"+program+"/outcomes", promise).text(t, "outcomes", "0", "id")
	hook := webhook(t, s)
	message := s.call(t, 202, "POST", "/webhooks/"+hook+"/test", "").text(t, "messageId")
	return map[string]string{
		"webhookId": hook, "messageId": message, "outcomeId": outcome, "programOutcomeId": programOutcome,
		"articulationId": articulation, "publicArticulationId": public, "documentId": document, "importId": imported, "courseId": id, "sectionId": section, "credentialId": credential, "programId": program, "jobId": job, "packageId": pack,
		"transferCourseId": courses[0].ID, "reportId": report, "extractionId": extraction, "skillId": taught, "customerId": string(s.customerID), "asset": "page.js",
		"handle": handle, "ctid": course.text(t, "ctid"),
		"token": link("/reports/" + report), "articulationToken": link("/articulations/" + articulation), "mapToken": link("/programs/" + program + "/map"),
	}
}

// publishes turns publication on, and returns the organization's handle.
func publishes(t testing.TB, s *service) string {
	t.Helper()
	before, err := s.store.Organization(t.Context(), s.org)
	if err != nil {
		t.Fatal(err)
	}
	if before == nil {
		before = &catalog.Organization{ID: s.org}
	}
	after := &catalog.Organization{ID: s.org, Name: "College", OrganizationFacts: catalog.OrganizationFacts{
		Description: "A college for tests", Webpage: "https://college.example", AgentType: "TwoYear",
		Handle: "h-" + catalog.DerivedCTID(string(s.org))[:20], Publication: true,
	}}
	if err := s.store.ReplaceOrganization(t.Context(), before, after); err != nil {
		t.Fatal(err)
	}
	return after.Handle
}

// table is the file of the fixture's document.
const table = "name,code\nCourse,C 1\n"

// uploaded stores the file of a document.
func uploaded(t testing.TB, s *service, id string) {
	t.Helper()
	document, err := records.Get[*catalog.Document](t.Context(), s.store, s.org, id, true)
	if err == nil {
		err = files.New(s.config).Put(t.Context(), document, catalog.TimeOf(time.Now()), []byte(table))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// webhook returns the organization's first webhook, or creates one; their number is limited.
func webhook(t testing.TB, s *service) string {
	t.Helper()
	var page struct{ Data []struct{ ID string } }
	if err := json.Unmarshal(s.call(t, 200, "GET", "/webhooks", "").body, &page); err != nil {
		t.Fatal(err)
	}
	if len(page.Data) > 0 {
		return page.Data[0].ID
	}
	return s.call(t, 201, "POST", "/webhooks", `{"url":"https://hooks.example.edu/","types":["course.changed"]}`).text(t, "id")
}

// extracted ends an extraction; every second one fails.
func (s *service) extracted(t testing.TB, job catalog.ExtractionJob) {
	t.Helper()
	task, err := s.store.Claim(t.Context(), job, "run_1", catalog.TimeOf(time.Now().Add(time.Minute)))
	if err != nil {
		t.Fatal(err)
	}
	outcome := &catalog.ExtractionResult{Skills: []catalog.SkillRef{}, Evidence: []catalog.Evidence{}}
	if s.failures++; s.failures%2 == 0 {
		outcome = &catalog.ExtractionResult{Failure: &catalog.Failure{Code: catalog.DocumentNotFound, Message: "not there"}}
	}
	if err := s.store.Finish(t.Context(), task, outcome); err != nil {
		t.Fatal(err)
	}
}

func skill(t testing.TB, s *service) string {
	var page struct{ Data []struct{ ID string } }
	if err := json.Unmarshal(s.call(t, 200, "GET", "/skills", "").body, &page); err != nil || len(page.Data) == 0 {
		t.Fatalf("no skills: %v", err)
	}
	return page.Data[0].ID
}

// note records how far requests got.
func (g *generator) note(op operation, got reply) {
	if g.seen[op.id] == nil {
		g.seen[op.id] = map[int]bool{}
	}
	g.seen[op.id][got.status] = true
}

// request makes a valid request and breaks it in no place, one, or several.
func (g *generator) request(op operation) request {
	r := request{method: op.method, path: op.path, header: map[string][]string{api.HeaderKey: {g.key}}}
	if strings.HasPrefix(op.path, "/programs/") {
		r.path = strings.ReplaceAll(r.path, "{outcomeId}", g.known["programOutcomeId"])
	}
	if op.id == "getArticulationCTDL" {
		r.path = strings.ReplaceAll(r.path, "{articulationId}", g.known["publicArticulationId"])
	}
	for name, id := range g.known {
		r.path = strings.ReplaceAll(r.path, "{"+name+"}", id)
	}
	for _, p := range op.parameters {
		if p["in"] == "query" && (p["required"] == true || g.random.IntN(3) == 0) {
			r.query += fmt.Sprintf("&%s=%v", p["name"], g.parameter(op, p))
		}
	}
	var tree any
	if op.body != nil {
		tree = g.value(op.body, "", 0)
		r.header["Content-Type"] = []string{"application/json"}
	}
	times := [...]int{0, 1, 1, 2, 4}[g.random.IntN(5)]
	if g.sound {
		times = 0
	}
	if op.id == "createImport" { // the document is not optional here
		tree.(map[string]any)["documentId"] = g.known["documentId"]
	}
	bodies := false
	for range times {
		switch g.random.IntN(4) {
		case 0:
			g.breakPath(&r)
		case 1:
			g.breakQuery(&r)
		case 2:
			g.breakHeader(&r)
		default:
			bodies = true
			tree = g.breakTree(tree)
		}
	}
	if tree != nil {
		r.body, _ = json.Marshal(tree)
		if bodies && g.random.IntN(3) == 0 {
			r.body = g.breakBytes(r.body)
		}
	}
	return r
}

func (g *generator) parameter(op operation, p map[string]any) any {
	switch p["name"] {
	case "token":
		if strings.HasPrefix(op.path, "/articulations/") {
			return g.known["articulationToken"]
		}
		if strings.HasPrefix(op.path, "/programs/") {
			return g.known["mapToken"]
		}
		return g.known["token"]
	case "cipCodes":
		return "11.0701"
	case "limit":
		return 1 + g.random.IntN(100)
	case "institution", "codes", "sendingCode":
		return "A"
	case "asOf":
		return "2026-08-01"
	case "courseId", "programId":
		return g.known[p["name"].(string)]
	case "externalId":
		return g.externalID()
	case "code":
		return "national"
	}
	schema, _ := p["schema"].(map[string]any)
	if items, ok := schema["items"].(map[string]any); ok {
		schema = items // a list of one
	}
	if values, ok := schema["enum"].([]any); ok {
		return values[g.random.IntN(len(values))]
	}
	if schema["type"] == "boolean" {
		return true
	}
	if schema["type"] == "integer" || schema["type"] == "number" {
		return g.random.IntN(2)
	}
	if id, ok := g.known[fmt.Sprint(p["name"])]; ok {
		return id
	}
	if example, ok := p["example"].(string); ok {
		return url.QueryEscape(example)
	}
	return ""
}

// value returns a value that matches the schema.
func (g *generator) value(schema map[string]any, name string, depth int) any {
	if ref, ok := schema["$ref"].(string); ok {
		next, _ := g.schemas[ref[strings.LastIndex(ref, "/")+1:]].(map[string]any)
		return g.value(next, name, depth)
	}
	for _, several := range []string{"oneOf", "anyOf"} {
		if ways, ok := schema[several].([]any); ok {
			way, _ := ways[g.random.IntN(len(ways))].(map[string]any)
			return g.value(way, name, depth)
		}
	}
	if values, ok := schema["enum"].([]any); ok {
		if name == "status" && slices.Contains(values, any("IN_REVIEW")) && g.random.IntN(2) == 0 {
			return "IN_REVIEW" // the only move of a new draft
		}
		return values[g.random.IntN(len(values))]
	}
	kind, ok := schema["type"].(string)
	if kinds, several := schema["type"].([]any); several && !ok {
		kind, _ = kinds[0].(string)
	}
	switch kind {
	case "object":
		switch name {
		case "jobs", "jobIdentifiers":
			return map[string]any{"id": g.known["jobId"], "lib": "custom"}
		case "receiving":
			return map[string]any{"courseId": g.known["courseId"]}
		case "outcomes": // that of the fixture, which keeps its id
			return map[string]any{"statement": "Outcome", "level": 3, "skills": []any{map[string]any{"skillId": g.known["skillId"], "level": 3}}}
		}
		object := map[string]any{}
		required, _ := schema["required"].([]any)
		properties, _ := schema["properties"].(map[string]any)
		for _, p := range slices.Sorted(maps.Keys(properties)) {
			if slices.Contains(required, any(p)) || g.random.IntN(3) > 0 && depth < 4 {
				next, _ := properties[p].(map[string]any)
				object[p] = g.value(next, p, depth+1)
			}
		}
		return object
	case "array":
		items, _ := schema["items"].(map[string]any)
		// Without repetition: most arrays contain ids of records, each once.
		return []any{g.value(items, name, depth+1)}
	case "integer", "number":
		if name == "version" {
			return 1
		}
		low, _ := schema["minimum"].(float64)
		return low
	case "boolean":
		return true
	case "null":
		return nil
	}
	return g.text(schema, name)
}

// text returns a string that matches the schema of a property of that name.
func (g *generator) text(schema map[string]any, name string) any {
	switch name {
	case "courses", "courseOrder", "allowedCourseIds":
		return g.known["courseId"]
	case "courseSectionIds":
		return g.known["sectionId"]
	case "programIds", "programs":
		return g.known["programId"]
	case "documentId", "label", "supersedes", "ownerId":
		return nil // they do not stand with an address, a course, any articulation, and a file of courses
	case "credentialIds":
		return g.known["credentialId"]
	case "ctid":
		return fmt.Sprintf("ce-%08x-0000-4000-8000-%012x", g.random.Uint32(), g.random.Uint32())
	case "sha256":
		return strings.Repeat("ab", 32)
	case "types":
		return "course.*"
	case "url":
		return "https://hooks.example.edu/"
	case "syllabusHref", "jobDescriptionHref":
		return "https://syllabi.example.edu/a.pdf"
	case "cipCode":
		return "11.0701"
	case "onetSocCode":
		return "15-1252"
	case "id":
		return g.known["skillId"]
	case "code":
		return "national"
	case "webpage":
		return "https://example.edu/course"
	case "externalId":
		return g.externalID()
	}
	if schema["format"] == "date" {
		return "2026-08-01"
	}
	if id, ok := g.known[name]; ok {
		return id
	}
	return "A text"
}

// externalID returns one of few names, so that records collide.
func (g *generator) externalID() string { return fmt.Sprint("SIS-", g.random.IntN(50)) }

// nasty are strings that break programs.
var nasty = []string{
	"", " ", "\x00", "a\x00b", "\u2028", "\ufeff", "\u202e", "é\u0301", strings.Repeat("x", 256), strings.Repeat("€", 20_000), "\r\nX-Evil: 1", "a\r\n\r\n<html>",
	"../../etc/passwd", "%00", "%0d%0aX-Evil:%201", "'; DROP TABLE x; --", "${jndi:ldap://x}", "{{7*7}}", "<script>alert(1)</script>", "null", "-1", "1e400",
	"https://user:pass@example.edu/", "http://169.254.169.254/", "file:///etc/passwd", "javascript:alert(1)", "https://", "//", "o#org_x#Course", "sec_", "crs_000000000000000000000000",
	"crs_zzzzzzzzzzzzzzzzzzzzzzzz", "\U0010ffff", "😀", "a|b|c|d|e", "#", "!", "\x7f", "\x1b[31m",
}

func (g *generator) nasty() string { return nasty[g.random.IntN(len(nasty))] }

// wrong returns a value of any type.
func (g *generator) wrong() any {
	deep := any("deep")
	for range 200 {
		deep = []any{deep}
	}
	long := make([]any, 1001)
	for i := range long {
		long[i] = g.known["courseId"]
	}
	values := []any{
		nil, true, 0, -1, 1 << 53, -1e308, 1e308, 0.1, 1.5, json.Number("1e400"), json.Number("123456789012345678901234567890"), json.Number("-0"),
		json.Number("0.00000000000000000000000000000000001"), "", "text", []any{}, []any{nil}, []any{[]any{}}, map[string]any{}, map[string]any{"": 1}, deep, long, g.nasty(), []any{g.nasty(), g.nasty()},
		[]any{g.known["courseId"], g.known["courseId"]}, map[string]any{g.nasty(): g.nasty()},
	}
	return values[g.random.IntN(len(values))]
}

// breakTree puts a wrong value in one place of a body.
func (g *generator) breakTree(tree any) any {
	switch v := tree.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if len(keys) == 0 || g.random.IntN(6) == 0 {
			v[[]string{"extra", "id", "organizationId", "$schema", "__proto__", g.nasty()}[g.random.IntN(6)]] = g.wrong()
			return v
		}
		key := keys[g.random.IntN(len(keys))]
		switch g.random.IntN(4) {
		case 0:
			delete(v, key)
		case 1:
			v[key] = g.breakTree(v[key])
		case 2:
			v[key] = g.nasty()
		default:
			v[key] = g.wrong()
		}
		return v
	case []any:
		if len(v) > 0 && g.random.IntN(2) == 0 {
			i := g.random.IntN(len(v))
			v[i] = g.breakTree(v[i])
			return v
		}
		return append(v, g.wrong())
	}
	return g.wrong()
}

// breakBytes returns a body that is not JSON, or is unusual JSON.
func (g *generator) breakBytes(body []byte) []byte {
	text := string(body)
	switch g.random.IntN(14) {
	case 0:
		return body[:g.random.IntN(len(body)+1)]
	case 1:
		return append(body, " {}"...)
	case 2:
		return []byte("\xef\xbb\xbf" + text)
	case 3:
		return []byte(strings.Repeat("[", 100_000))
	case 4:
		return []byte(strings.Repeat(`{"a":`, 50_000))
	case 5:
		return []byte(strings.Replace(text, `"`, `"\ud800`, 2))
	case 6:
		return []byte(strings.Replace(text, `:"`, ":\"\\ud800", 1))
	case 7:
		return []byte(strings.Replace(text, `:"`, ":\"\xff\xfe", 1))
	case 8:
		return []byte(strings.Replace(text, "{", `{"name":1,"name":2,`, 1))
	case 9:
		return []byte(strings.Replace(text, `:"`, `:"\u0000`, 1))
	case 10:
		return []byte(strings.Replace(text, "{", "{/* comment */", 1))
	case 11:
		return []byte(`{"name":"` + strings.Repeat("x", 1<<20) + `"}`)
	case 12:
		return []byte("NaN")
	}
	flipped := slices.Clone(body)
	for range 3 {
		if len(flipped) > 0 {
			flipped[g.random.IntN(len(flipped))] = byte(g.random.IntN(256))
		}
	}
	return flipped
}

func (g *generator) breakPath(r *request) {
	segments := strings.Split(r.path, "/")
	i := 1 + g.random.IntN(len(segments)-1)
	switch g.random.IntN(5) {
	case 0:
		segments[i] = []string{
			"%00", "..", ".", "%2e%2e", "a%2Fb", "%zz", "%", "a%0d%0aX-Evil:%201", "%ff%fe", "%E2%82%AC", ";a=b", "a b", "%20", "é", strings.Repeat("a", 3000), "crs_%23", "*", "{courseId}",
		}[g.random.IntN(18)]
	case 1:
		segments[i] += []string{"%00", "%0a", "#", "?", "x", "%20", "!"}[g.random.IntN(7)]
	case 2:
		segments = slices.Insert(segments, i, "")
	case 3:
		segments = append(segments, "")
	default:
		segments[i] = strings.ToUpper(segments[i])
	}
	r.path = strings.Join(segments, "/")
}

func (g *generator) breakQuery(r *request) {
	value := []string{
		"", "-1", "0", "101", "1e3", "+5", "5.0", "%205", "99999999999999999999", "%zz", "%00", "%0d%0aX:%201", "%ff", "a;b", "[]", "null", strings.Repeat("9", 2000), "evidence,evidence", "text", "č",
	}[g.random.IntN(20)]
	name := []string{
		"limit", "offset", "include", "query", "since", "cipCodes", "regionType", "region", "format", "fullEquivalentThreshold", "partialEquivalentThreshold", "unknown", "", "%zz", "a%00",
	}[g.random.IntN(15)]
	for range 1 + g.random.IntN(2) {
		r.query += "&" + name + "=" + value
	}
}

func (g *generator) breakHeader(r *request) {
	name := []string{"Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", api.HeaderKey, "Accept", "Accept-Encoding", "Content-Encoding", "X-HTTP-Method-Override", "Host", "Range", "Expect", "X-Forwarded-For"}[g.random.IntN(13)]
	value := []string{
		"", " ", "a\r\nX-Evil: 1", "\x00", "text/plain", "application/xml", "application/json; charset=latin1", "application/json;;;", "*", `"*"`, `W/"x"`, "\"\"", "é", "\xff", strings.Repeat("k", 255),
		strings.Repeat("k", 256), strings.Repeat("k", 9000), http.MethodDelete, "gzip", "bytes=0-1", "100-continue", "skc_" + strings.Repeat("0", 32), "key one",
	}[g.random.IntN(23)]
	if g.random.IntN(4) == 0 {
		r.header[name] = append(r.header[name], value)
	} else {
		r.header[name] = []string{value}
	}
}

// FuzzBody sends arbitrary bytes to every operation with a body.
func FuzzBody(f *testing.F) {
	s := newService(f)
	g := newGenerator(f, s, 1)
	var taking []operation
	for _, op := range g.operations {
		if op.body != nil {
			taking = append(taking, op)
		}
	}
	for i := range taking {
		body, err := json.Marshal(g.value(taking[i].body, "", 0))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), "application/json", "", body)
		f.Add(uint8(i), "application/merge-patch+json", "key", g.breakBytes(body))
	}
	f.Fuzz(func(t *testing.T, n uint8, media, key string, body []byte) {
		op := taking[int(n)%len(taking)]
		r := request{method: op.method, path: op.path, header: map[string][]string{api.HeaderKey: {s.key}, "Content-Type": {media}}, body: body}
		if key != "" {
			r.header["Idempotency-Key"] = []string{key}
		}
		for name, id := range g.known {
			r.path = strings.ReplaceAll(r.path, "{"+name+"}", id)
		}
		got, err := s.do(r)
		if err == nil {
			err = check(r, got)
		}
		if err != nil {
			t.Errorf("%s: %v\n%v\nresponse %.600s", op.id, err, r, got.body)
		}
	})
}

// FuzzTarget sends arbitrary paths and queries.
func FuzzTarget(f *testing.F) {
	s := newService(f)
	methods := []string{"GET", "DELETE", "POST", "PATCH", "PUT", "HEAD", "OPTIONS", "TRACE", "BREW"}
	for _, path := range []string{
		"/courses", "/courses/", "//", "/courses/%zz", "/courses/%00/sections/..", "/skills/esco:x", "/openapi.json", "/jobs#", "/jobs?limit=1", "/customers/x/usage", "/changes", "*", "",
	} {
		f.Add(uint8(0), path, "limit=1&since=c1-1")
		f.Add(uint8(1), path, "%zz=%00&a;b")
	}
	f.Fuzz(func(t *testing.T, method uint8, path, query string) {
		r := request{method: methods[int(method)%len(methods)], path: path, query: query, header: map[string][]string{api.HeaderKey: {s.key}}}
		got, err := s.do(r)
		if err == nil {
			err = check(r, got)
		}
		if err != nil {
			t.Errorf("%v\n%v\nresponse %.600s", err, r, got.body)
		}
	})
}
