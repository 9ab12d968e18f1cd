package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/infra/local/dynamodb/dynamotest"
	"skillscurriculum/infra/skillsctl/remap"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	usecase "skillscurriculum/pkg/service"
	"skillscurriculum/pkg/skills"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

// console runs the tool in a directory of its own.
type console struct {
	t     *testing.T
	env   map[string]string
	stdin string
	store *dynamo.Store
}

func newConsole(t *testing.T) *console {
	t.Helper()
	t.Chdir(t.TempDir())
	c := &console{t: t, store: dynamotest.NewStore(t)}
	c.env = map[string]string{api.EnvTable: c.store.Table, api.EnvDynamoEndpoint: dynamotest.Endpoint()}
	return c
}

// run returns the output of a command. It fails the test if the exit code differs.
func (c *console) run(code int, args ...string) (stdout, stderr string) {
	c.t.Helper()
	var out, errs bytes.Buffer
	t := &tool{stdin: strings.NewReader(c.stdin), stdout: &out, stderr: &errs, getenv: func(name string) string { return c.env[name] }, pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
	if got := t.run(c.t.Context(), args); got != code {
		c.t.Fatalf("skillsctl %s: exit code %d: %s%s", strings.Join(args, " "), got, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

// value runs a command with -json and returns its output.
func value[T any](c *console, args ...string) T {
	c.t.Helper()
	out, _ := c.run(0, append(args, "-json")...)
	var v T
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		c.t.Fatalf("%v: %v: %s", args, err, out)
	}
	return v
}

func (c *console) file(name, text string) string {
	c.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
	return name
}

// Every mistake has its exit code and a message of one sentence.
func TestMistakes(t *testing.T) {
	c := newConsole(t)
	for _, m := range []struct {
		code int
		args string
		says string
	}{
		{2, "frobnicate", "unexpected argument frobnicate; see skillsctl -h"},
		{2, "keys", `expected one of "create", "list", "rotate", "revoke"; see skillsctl keys -h`},
		{2, "keys list", "missing flags: --customer=ID; see skillsctl keys list -h"},
		{1, "keys list -customer cus_0", "there is no customer cus_0"},
		{2, "keys create -customer cus_0 -scope all", `--scope must be one of "write","read" but got "all"`},
		{2, "keys create -customer cus_0 -valid -1h", "must not be negative"},
		{2, "keys rotate -customer cus_0 -grace=-1h", "must not be negative"},
		{2, "keys create -customer cus_0 -valid 3w", "must be a time such as 30d"},
		{1, "customers rename -customer cus_0 -name N", "there is no customer cus_0"},
		{1, "customers disable -customer cus_0", "there is no customer cus_0"},
		{1, "organizations export -organization org_0 -out x", "no bucket"},
		{2, "organizations erase -organization org_0", "missing flags: --confirm=NAME"},
		{2, "keys list -colour red -customer x", "unknown flag --colour"},
		{2, "customers create", "--name must not be blank"},
		{2, "customers create -name=", "--name must not be blank"},
		{1, "customers create -name N -organization org_0", "there is no organization org_0"},
		{2, "customers create -name N -units -1", `--units: expected a valid 64 bit uint but got "-1"`},
		{1, "customers limit -customer cus_0 -units 5", "there is no customer cus_0"},
		{2, "customers limit -customer cus_0 -units many", "many"},
		{2, "import catalog x.csv", "missing flags: --organization=ID"},
		{1, "import catalog -organization org_0 x.csv", "there is no organization org_0"},
		{2, "import wages", `expected "<file>"`},
		{2, "import wages a.csv b.csv", "unexpected argument b.csv"},
		{1, "import wages absent.xlsx", "no such file"},
		{1, "taxonomy info absent", "no such file"},
		{2, "taxonomy build -out x", "no source"},
		{2, "taxonomy remap -from starter", "missing flags: --to=FILE"},
		{1, "taxonomy remap -from starter -to absent", "no such file"},
		{1, "taxonomy remap -from starter -to starter -organization org_0", "there is no organization org_0"},
		{1, "taxonomy build -esco absent -out x", "no such file"},
		{2, "extract", "specify either documents or --jsonl"},
		{2, "extract -jsonl a b.txt", "specify either documents or --jsonl"},
		{2, "extract -kind rtf a.txt", "rtf"},
		{1, "extract -jsonl absent", "no such file"},
		{3, "extract absent.txt", "1 of 1 could not be read"},
		{1, "extract -taxonomy absent main.txt", "no such file"},
		{1, "reextract -organization org_0", "there is no organization org_0"},
		{1, "reviews -organization org_0", "there is no organization org_0"},
		{1, "env", "make run"},
	} {
		_, says := c.run(m.code, strings.Fields(m.args)...)
		lines := strings.Split(strings.TrimSpace(says), "\n")
		if last := lines[len(lines)-1]; !strings.HasPrefix(last, "skillsctl: ") || !strings.Contains(last, m.says) {
			t.Errorf("%s: %s", m.args, says)
		}
	}
}

// Every command has help, with one dash or two, before or after its name.
func TestHelp(t *testing.T) {
	c := newConsole(t)
	for args, wants := range map[string][]string{
		"":                         {"import catalog", "Exit codes"},
		"help":                     {"taxonomy build", "keys rotate", "reextract"},
		"--help":                   {"import catalog"},
		"keys -h":                  {"keys create ", "keys revoke"},
		"help import":              {"import wages"},
		"keys create -h":           {"--scope=", "--valid="},
		"keys create --help":       {"--scope="},
		"extract -help":            {"--jsonl=FILE", "standard input"},
		"help taxonomy build":      {"--esco=", "--out="},
		"import catalog -check -h": {"--organization=ID"},
	} {
		help, says := c.run(0, strings.Fields(args)...)
		for _, want := range wants {
			if !strings.Contains(help, want) || says != "" {
				t.Errorf("skillsctl %s lacks %q: %s%s", args, want, help, says)
			}
		}
	}
}

func TestVersion(t *testing.T) {
	release = "v1.2.3"
	defer func() { release = "" }()
	c := newConsole(t)
	if out, _ := c.run(0, "version"); !strings.HasPrefix(out, "skillsctl v1.2.3 (go") {
		t.Error(out)
	}
	release = ""
	if built := value[map[string]string](c, "version"); built["version"] == "" || built["platform"] == "" {
		t.Errorf("%v", built)
	}
}

// A shell can evaluate the output of env.
func TestEnv(t *testing.T) {
	c := newConsole(t)
	c.file(announcement, `{"baseUrl":"http://127.0.0.1:3000/v1","customers":[{"customerId":"cus_1","organizationId":"org_1","name":"A","apiKey":"it's","readOnlyApiKey":"r"}],
		"examples":{"courseId":"crs_1","jobId":"job_1"},"syllabi":"http://127.0.0.1:3001/","environment":{"TABLE_NAME":"t"}}`)
	out, _ := c.run(0, "env")
	shell := exec.Command("sh", "-c", `eval "$1"; echo "$BASE $API_KEY $READ_ONLY_API_KEY $CUSTOMER $ORGANIZATION $COURSE $JOB $SYLLABI"`, "sh", out)
	read, err := shell.Output()
	if want := "http://127.0.0.1:3000/v1 it's r cus_1 org_1 crs_1 job_1 http://127.0.0.1:3001/\n"; err != nil || string(read) != want {
		t.Errorf("%v: %s of %s", err, read, out)
	}
	if values := value[map[string]string](c, "env"); values["COURSE"] != "crs_1" || values["BASE"] == "" {
		t.Errorf("%v", values)
	}
}

func TestKeysAndCustomers(t *testing.T) {
	c := newConsole(t)
	first := value[catalog.Customer](c, "customers", "create", "-name", "First")
	second := value[catalog.Customer](c, "customers", "create", "-name", "Second", "-organization", string(first.OrganizationID), "-units", "50")
	if first.OrganizationID != second.OrganizationID || *second.RateLimitUnits != 50 || first.RateLimitUnits != nil {
		t.Errorf("customers %+v %+v", first, second)
	}
	all := value[[]map[string]any](c, "customers", "list")
	if len(all) != 2 || all[0]["customerId"] == nil || all[0]["customerId"] != all[0]["id"] {
		t.Errorf("customers %v", all)
	}
	if limited := value[catalog.Customer](c, "customers", "limit", "-customer", string(second.ID), "-units", "0"); limited.RateLimitUnits != nil {
		t.Errorf("customer %+v", limited)
	}
	id := string(first.ID)
	issued := value[key](c, "keys", "create", "-customer", id)
	saved, err := c.store.Key(t.Context(), catalog.HashSecret(issued.APIKey))
	if err != nil || saved == nil || saved.ID != issued.ID || saved.Scope != catalog.WriteScope || saved.OrganizationID != first.OrganizationID {
		t.Fatalf("key %+v %v", saved, err)
	}
	rotated := value[key](c, "keys", "rotate", "-customer", id, "-grace", "1h")
	reader := value[key](c, "keys", "create", "-customer", id, "-scope", "read", "-valid", "24h")
	if reader.ExpiresAt == nil || reader.Scope != catalog.ReadScope {
		t.Errorf("key %+v", reader)
	}
	if _, says := c.run(1, "keys", "create", "-customer", id); !strings.Contains(says, "has 2 live keys of scope write already") {
		t.Error(says)
	}
	value[key](c, "keys", "revoke", "-customer", id, "-key", issued.ID)
	states := map[string]string{}
	out, _ := c.run(0, "keys", "list", "-customer", id, "-json")
	if strings.Contains(out, issued.APIKey) || strings.Contains(out, saved.Hash) || strings.Contains(out, `"apiKey"`) {
		t.Errorf("a list shows keys: %s", out)
	}
	for _, k := range value[[]key](c, "keys", "list", "-customer", id) {
		states[k.ID] = k.State
	}
	if diff := cmp.Diff(map[string]string{issued.ID: "revoked", rotated.ID: "live", reader.ID: "live"}, states); diff != "" {
		t.Error(diff)
	}
	shown, _ := c.run(0, "keys", "create", "-customer", string(second.ID))
	if !strings.Contains(shown, catalog.SecretPrefix) || !strings.Contains(shown, "not be shown again") {
		t.Error(shown)
	}
}

func TestFindTheService(t *testing.T) {
	c := newConsole(t)
	full := c.env
	c.env = map[string]string{}
	if _, says := c.run(1, "customers", "list"); !strings.Contains(says, "make run") {
		t.Error(says)
	}
	c.file(outputs, `{"skills-curriculum-dev":{"TableName":"d"},"skills-curriculum-prod":{"TableName":"p","QueueUrl":"q","UsagePlanId":"u","BucketName":"b","BaseUrl":"https://api"}}`)
	if _, says := c.run(1, "customers", "list"); !strings.Contains(says, "choose one with STAGE") {
		t.Error(says)
	}
	c.env = map[string]string{"STAGE": "prod"}
	found, err := (&tool{getenv: func(name string) string { return c.env[name] }}).environment()
	if diff := cmp.Diff(map[string]string{api.EnvTable: "p", api.EnvQueueURL: "q", api.EnvBucket: "b", envUsagePlan: "u", envBaseURL: "https://api"}, found); diff != "" || err != nil {
		t.Error(diff, err)
	}
	c.file(announcement, fmt.Sprintf(`{"environment":{"TABLE_NAME":%q,"DYNAMODB_ENDPOINT":%q}}`, full[api.EnvTable], full[api.EnvDynamoEndpoint]))
	if all := value[[]catalog.Customer](c, "customers", "list"); len(all) != 0 {
		t.Errorf("customers %v", all)
	}
	c.env = map[string]string{api.EnvTable: "elsewhere", api.EnvDynamoEndpoint: full[api.EnvDynamoEndpoint]}
	if _, says := c.run(1, "customers", "list"); !strings.Contains(says, "the table elsewhere cannot be reached") {
		t.Error(says)
	}
	c.env = map[string]string{}
	c.file(announcement, `{"environment":{}}`)
	if _, says := c.run(1, "customers", "list"); !strings.Contains(says, "no table name") {
		t.Error(says)
	}
}

func TestExtract(t *testing.T) {
	c := newConsole(t)
	c.file("a.md", "# Databases\n\n## Outcomes\n\n- Write SQL queries.\n")
	c.file("b.txt", "")
	c.file("c.txt", "Students design relational databases.")
	out, _ := c.run(3, "extract", "a.md", "b.txt", "c.txt")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 3 {
		t.Fatal(out)
	}
	var got []extracted
	for _, line := range lines {
		var e extracted
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	if got[0].Document != "a.md" || len(got[0].Skills) == 0 || len(got[0].Evidence) == 0 || got[0].Failure != nil {
		t.Errorf("a.md: %+v", got[0])
	}
	if !strings.Contains(lines[1], `"document":"b.txt","skills":[],"evidence":[],"failure":{"code":"empty","message":`) {
		t.Error(lines[1])
	}
	if !strings.Contains(lines[0], `"failure":null`) {
		t.Error(lines[0])
	}
	c.file("t.jsonl", `{"id":"x","text":"Students write SQL queries."}`+"\n\n"+`{"id":7,"text":"Nothing here."}`+"\n")
	out, _ = c.run(0, "extract", "-jsonl", "t.jsonl")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[0], `{"document":"x","skills":[{"skillId":"core:sql-queries"`) || !strings.HasPrefix(lines[1], `{"document":"7","skills":[]`) {
		t.Error(out)
	}
	if out, _ := c.run(0, "extract", "-kind", "text", "a.md"); !strings.Contains(out, "core:sql") {
		t.Error(out)
	}
}

// Unreadable documents and lines are reported and do not stop the others. Documents have their line in the output.
func TestExtractContinues(t *testing.T) {
	c := newConsole(t)
	const text = "Students write SQL queries."
	c.file("docs/a.txt", text)
	c.file("docs/deep/b.md", text)
	c.file("docs/.hidden/c.txt", text)
	documents := func(out string) (names []string) {
		for line := range strings.Lines(out) {
			var e extracted
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if name := e.Document; e.Failure != nil {
				names = append(names, name+" "+string(e.Failure.Code))
			} else if len(e.Skills) > 0 {
				names = append(names, name)
			}
		}
		return names
	}
	c.stdin = text
	out, says := c.run(3, "extract", "absent.txt", "docs", "-")
	if diff := cmp.Diff([]string{"absent.txt not_found", "docs/a.txt", "docs/deep/b.md", "-"}, documents(out)); diff != "" {
		t.Error(diff)
	}
	if want := "skillsctl: absent.txt: no such file or directory\nskillsctl: 1 of 4 could not be read: the rest is done\n"; says != want {
		t.Errorf("%q", says)
	}
	// A document that is damaged counts like one that is absent.
	c.file("d.txt", text)
	for _, args := range [][]string{{"-kind", "pdf", "d.txt"}, {"-kind", "pdf", "d.txt", "absent.txt"}} {
		out, says = c.run(3, append([]string{"extract"}, args...)...)
		if n := len(args) - 2; documents(out)[0] != "d.txt malformed" || !strings.HasPrefix(says, "skillsctl: d.txt: ") || !strings.Contains(says, fmt.Sprintf("%d of %d could not be read", n, n)) {
			t.Errorf("%v: %s%s", args, out, says)
		}
	}
	c.stdin = `{"id":"x","text":"` + text + `"}
{"id":"y"}

["z"]
{"id":"long","text":"` + strings.Repeat("x", maxLine) + `"}
{"id":2,"text":"` + text + `"}`
	out, says = c.run(3, "extract", "-jsonl", "-")
	if diff := cmp.Diff([]string{"x", "2"}, documents(out)); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{`-:2: "id" or "text" is missing`, "-:4: not a JSON object", "-:5: the line is longer than 16 MB", "3 of 5 could not be read"} {
		if !strings.Contains(says, want) {
			t.Errorf("%q is not said: %s", want, says)
		}
	}
}

func TestTaxonomy(t *testing.T) {
	c := newConsole(t)
	c.file("mine.csv", "id,name,aliases\nmine:quipu,quipu reading,reading quipus\nmine:sql,SQL,\n")
	c.file("needs.csv", "soc,name,skillId,level,confidence\n15-1252,Software Developers,mine:sql,3,0.9\n")
	built := value[map[string]any](c, "taxonomy", "build", "-csv", "mine.csv", "needs.csv", "-version", "2", "-out", "t.bin")
	if built["name"] != "mine" || built["version"] != "2" || built["skills"] != 2.0 || built["occupations"] != 1.0 {
		t.Errorf("built %v", built)
	}
	if diff := cmp.Diff(built, value[map[string]any](c, "taxonomy", "info", "t.bin")); diff != "" {
		t.Error(diff)
	}
	c.file("a.txt", "Students practice quipu reading.")
	if out, _ := c.run(0, "extract", "-taxonomy", "t.bin", "a.txt"); !strings.Contains(out, "mine:quipu") {
		t.Error(out)
	}
	if _, says := c.run(1, "taxonomy", "info", "a.txt"); !strings.Contains(says, "a.txt") {
		t.Error(says)
	}
	c.file("bad.csv", "id\nx\n")
	c.run(1, "taxonomy", "build", "-csv", "bad.csv", "-out", "u.bin")
	if _, err := os.Stat("u.bin"); err == nil {
		t.Error("a taxonomy of nothing was written")
	}
}

// ESCO without its relations is refused, unless -incomplete is set.
func TestTaxonomyOfIncompleteESCO(t *testing.T) {
	c := newConsole(t)
	c.file("esco/skills_en.csv", "conceptUri,skillType,preferredLabel\nhttp://data.europa.eu/esco/skill/1,knowledge,welding\n")
	if _, says := c.run(1, "taxonomy", "build", "-esco", "esco", "-out", "t.bin"); !strings.Contains(says, "occupationSkillRelations.csv; add ESCO's relations") {
		t.Error(says)
	}
	if _, err := os.Stat("t.bin"); err == nil {
		t.Error("half a taxonomy was written")
	}
	if built := value[described](c, "taxonomy", "build", "-esco", "esco", "-incomplete", "-out", "t.bin"); built.Skills != 1 {
		t.Errorf("%+v", built)
	}
	c.file("esco/broaderRelationsSkillPillar.csv", "conceptUri,broaderUri\n")
	c.file("esco/occupations_en.csv", "conceptUri,iscoGroup\n")
	c.file("esco/occupationSkillRelations.csv", "occupationUri,relationType,skillUri\n")
	if _, says := c.run(0, "taxonomy", "build", "-esco", "esco", "-out", "t.bin"); !strings.Contains(says, "SOC-ISCO crosswalk") {
		t.Error(says)
	}
}

// The starter in bundles equals the one that functions would compile themselves.
func TestTaxonomyStarter(t *testing.T) {
	c := newConsole(t)
	built := value[map[string]any](c, "taxonomy", "build", "-starter", "-out", "a.bin")
	c.run(0, "taxonomy", "build", "-starter", "-out", "b.bin")
	first, _ := os.ReadFile("a.bin")
	again, _ := os.ReadFile("b.bin")
	if len(first) == 0 || !bytes.Equal(first, again) {
		t.Error("compiled twice, two files")
	}
	if want := skills.Starter().Info(); built["name"] != want.Name || built["version"] != want.Version || built["skills"] != float64(want.Skills) {
		t.Errorf("built %v, want %+v", built, want)
	}
	c.file("a.md", "Students write SQL queries and design databases.")
	mine, _ := c.run(0, "extract", "-taxonomy", "a.bin", "a.md")
	if own, _ := c.run(0, "extract", "a.md"); mine != own || !strings.Contains(own, "core:sql") {
		t.Errorf("with the file %s, without %s", mine, own)
	}
}

func TestNormalize(t *testing.T) {
	for given, want := range map[string]string{
		"-esco a b -onet c -csv d -csv e -out f g -json": "--esco a --esco b --onet c --csv d --csv e --out f g --json",
		"-esco=a --csv b c": "--esco=a --csv b --csv c",
		"x -units -1 - -h":  "x --units -1 - -h",
		"-check -- -check":  "--check -- -check",
		"help keys create":  "keys create --help",
		"":                  "--help",
	} {
		if got := strings.Join(normalize(strings.Fields(given)), " "); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}

func TestImportCatalog(t *testing.T) {
	c := newConsole(t)
	customer := value[catalog.Customer](c, "customers", "create", "-name", "College")
	org := string(customer.OrganizationID)
	c.file("courses.csv", "externalId,code,name\r\n1,A 1,\"Algebra, first\"\r\n2,,Nameless\r\n3,C 1,Chemistry\r\n")
	out, says := c.run(1, "import", "catalog", "-organization", org, "courses.csv")
	if !strings.Contains(out, "would be created  2") || !strings.Contains(out, "courses.csv:3: Course 2: ") || !strings.Contains(says, "nothing was changed") {
		t.Error(out, says)
	}
	rejects, err := os.ReadFile("courses.csv.rejects.csv")
	if err != nil || !strings.HasPrefix(string(rejects), "rejected,reason,externalId,code,name\ncourses.csv:3,") || !strings.HasSuffix(string(rejects), ",2,,Nameless\n") {
		t.Errorf("rejects %s %v", rejects, err)
	}
	if _, total, _ := usecase.List[*catalog.Course](t.Context(), c.store, customer.OrganizationID, 0, 1); total != 0 {
		t.Errorf("%d courses", total)
	}
	for says, flags := range map[string][]string{
		"1 record has errors: nothing was changed; an import would change nothing either": nil,
		"1 record has errors: nothing was changed; an import would do the rest":           {"-keep-going"},
	} {
		if _, said := c.run(3, append([]string{"import", "catalog", "-organization", org, "-check", "-rejects", "r.csv", "courses.csv"}, flags...)...); !strings.Contains(said, says) {
			t.Errorf("%v: %s", flags, said)
		}
	}
	if _, says := c.run(3, "import", "catalog", "-organization", org, "-keep-going", "-rejects", "r.csv", "courses.csv"); !strings.Contains(says, "1 record has errors: the rest is done") {
		t.Error(says)
	}
	c.file("mended.csv", strings.Replace(string(rejects), ",2,,", ",2,B 1,", 1))
	if mended := value[map[string]any](c, "import", "catalog", "mended.csv", "-organization", org); mended["created"] != 1.0 {
		t.Errorf("mended %v", mended)
	}
	c.file("good.csv", "externalId,code,Course Titel,Colour\n1,A 1,Algebra,red\n3,C 1,Chemistry,\n")
	if out, _ := c.run(1, "import", "catalog", "good.csv", "-organization", org, "-kind", "courses", "-check"); strings.Contains(out, "column") {
		t.Error(out) // without a name it is not a file of courses
	}
	c.file("good.csv", "externalId,code,name,Descripton,Colour\n1,A 1,Algebra,Numbers,red\n3,C 1,Chemistry,,\n")
	out, _ = c.run(0, "import", "catalog", "good.csv", "-organization", org, "-kind", "courses", "-check")
	for _, line := range []string{`column name +name +Algebra\n`, `column Descripton +ignored, did you mean description\? +Numbers\n`, `column Colour +ignored +red\n`} {
		if !regexp.MustCompile(line).MatchString(out) {
			t.Errorf("no column %s in %s", line, out)
		}
	}
	summary := value[map[string]any](c, "import", "catalog", "good.csv", "-organization", org, "-kind", "courses")
	columns, _ := summary["columns"].([]any)
	if want := map[string]any{"file": "good.csv", "header": "Descripton", "suggestion": "description", "example": "Numbers"}; len(columns) != 5 || !cmp.Equal(columns[3], any(want)) {
		t.Errorf("columns %v", columns)
	}
	delete(summary, "columns")
	if diff := cmp.Diff(map[string]any{"created": 0.0, "updated": 1.0, "skipped": 1.0, "failed": 0.0, "rejects": []any{}, "skips": []any{}}, summary); diff != "" {
		t.Error(diff)
	}
}

func TestImportReferenceData(t *testing.T) {
	c := newConsole(t)
	demo := value[struct {
		Customers []struct{ OrganizationID, APIKey string }
	}](c, "demo", "load")
	if again := value[struct {
		Customers []struct{ OrganizationID, APIKey string }
	}](c, "demo", "load"); !cmp.Equal(demo, again) {
		t.Error("the demo is another one the second time")
	}
	org := catalog.OrgID(demo.Customers[0].OrganizationID)
	end, err := c.store.FeedEnd(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	c.file("crosswalk.csv", "CIP2020Code,CIP2020Title,SOC2018Code,SOC2018Title\n11.0701,Computer Science.,27-2011,Actors\n51.3801,Nursing.,29-1141,Registered Nurses\n")
	told := value[imported](c, "import", "crosswalk", "crosswalk.csv")
	// It no longer has Alder Bay's data program and Quarry Falls' three.
	if told.Vintage != "CIP 2020 - SOC 2018" || told.Counts["matches"] != 2 || told.Counts["programs updated"] < 2 {
		t.Errorf("told %+v", told)
	}
	programs, _, err := usecase.List[*catalog.Program](t.Context(), c.store, org, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		if *p.CIPCode == "11.0701" && !slices.Equal(p.DerivedSOCs, []string{"27-2011"}) {
			t.Errorf("program %+v", p)
		}
	}
	if now, err := c.store.FeedEnd(t.Context(), org); err != nil || now == end {
		t.Errorf("the change feed lacks the programs: %v", err)
	}
	c.file("crosswalk.csv", "CIP2020Code,CIP2020Title,SOC2018Code\n11.0701,x,1\n")
	if _, says := c.run(1, "import", "crosswalk", "crosswalk.csv"); !strings.Contains(says, "nothing was imported") {
		t.Error(says)
	}
	c.file("states.csv", "state_name,state_abbr,long_name,fips\nWashington,WA,x,53\nOregon,OR,x,41\nIdaho,ID,x,16\n")
	if told := value[imported](c, "import", "regions", "states.csv"); told.Counts["regions"] != 3 {
		t.Errorf("told %+v", told)
	}
	c.file("fewer.csv", "state_name,state_abbr,long_name,fips\nWashington,WA,x,53\n")
	if _, says := c.run(1, "import", "regions", "fewer.csv"); !strings.Contains(says, "the file has 1 entries, but states.csv had 3: import it anyway with -force") {
		t.Error(says)
	}
	c.run(0, "import", "regions", "-force", "fewer.csv")
	sets, err := c.store.DataSets(t.Context())
	if err != nil || len(sets) != 2 || sets[1].Source != "fewer.csv" {
		t.Errorf("data sets %+v %v", sets, err)
	}
}

// All records with a syllabus or a description are extracted again, whatever their state, and the tool waits for all of
// them. That gives skills to sections of a release that did not read descriptions, and counts them in their courses.
func TestReextract(t *testing.T) {
	c := newConsole(t)
	customer := value[catalog.Customer](c, "customers", "create", "-name", "College")
	org := customer.OrganizationID
	c.file("c.json", `{"courses":[{"externalId":"A","code":"A","name":"A","syllabusHref":"https://example.com/a"},{"externalId":"B","code":"B","name":"B"},
		{"externalId":"C","code":"C","name":"C","description":"We write SQL."}],
		"transferPackages":[{"externalId":"T","name":"T","transferFromInstitution":"I","courses":[{"externalId":"X","name":"X"},{"externalId":"Y","name":"Y"}]}]}`)
	c.run(0, "import", "catalog", "-organization", string(org), "c.json")
	ctx := t.Context()
	known, err := c.store.Known(ctx, org, catalog.CourseKind, []string{"C"})
	if err != nil {
		t.Fatal(err)
	}
	course := known["C"].Record.(*catalog.Course)
	old, err := usecase.Get[*catalog.Section](ctx, c.store, org, course.DefaultSectionID, true)
	if err != nil {
		t.Fatal(err)
	}
	var change catalog.Change
	before := *old
	old.Extraction = catalog.Extraction{}
	change.Replace(&before, old, now())
	if err := c.store.Commit(ctx, org, &change); err != nil {
		t.Fatal(err)
	}
	finish := func() int { // like the extractor
		done := 0
		records, err := remap.Extracted(ctx, c.store, org)
		if err != nil {
			t.Error(err)
		}
		for _, r := range records {
			task, err := c.store.Claim(ctx, catalog.JobOf(r), ids.New("run_"), now()+60_000)
			if err != nil {
				continue
			}
			outcome := &catalog.ExtractionResult{Skills: []catalog.SkillRef{{SkillID: "core:sql", SkillName: "SQL", Level: 2, Confidence: 1}}}
			if task.Name == "X" {
				outcome = &catalog.ExtractionResult{Failure: &catalog.Failure{Code: catalog.EmptyDocument, Message: "empty"}}
			}
			if err := c.store.Finish(ctx, task, outcome); err != nil {
				t.Error(err)
			}
			done++
		}
		return done
	}
	if done := finish(); done != 3 {
		t.Fatalf("%d extractions after the import", done)
	}
	if queued := value[map[string]int](c, "reextract", "-wait=false", "-organization", string(org)); queued["queued"] != 4 {
		t.Errorf("queued %v", queued)
	}
	if done := finish(); done != 4 {
		t.Errorf("%d extractions", done)
	}
	stop := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				finish()
			}
		}
	}()
	got := value[map[string]int](c, "reextract")
	close(stop)
	<-stopped
	if got["queued"] != 4 || got["completed"]+got["failed"] != 4 {
		t.Errorf("re-extracted %v", got)
	}
	section, err := usecase.Get[*catalog.Section](ctx, c.store, org, old.ID, true)
	if err != nil {
		t.Fatal(err)
	}
	if course, err = usecase.Get[*catalog.Course](ctx, c.store, org, course.ID, true); err != nil || course.Sections[0].SkillCount != len(section.Skills) || len(section.Skills) == 0 {
		t.Errorf("the course counts %d of %d skills, %v", course.Sections[0].SkillCount, len(section.Skills), err)
	}
}
