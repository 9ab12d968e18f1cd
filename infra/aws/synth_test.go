package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/jsii-runtime-go"

	"skillscurriculum/pkg/api"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	flag.Parse()
	status := m.Run()
	jsii.Close()
	if synthesized.root != "" {
		os.RemoveAll(synthesized.root)
	}
	os.Exit(status)
}

// template is what CloudFormation reads.
type template struct {
	file       string
	bytes      int
	Resources  map[string]resource
	Outputs    map[string]map[string]any
	Parameters map[string]map[string]any
	Rules      map[string]any
}

type resource struct {
	Type                string
	Properties          map[string]any
	Metadata            map[string]any
	DependsOn           any
	DeletionPolicy      string
	UpdateReplacePolicy string
	UpdatePolicy        map[string]any
}

// synthesized holds the stacks that all tests share: dev with its defaults, production with a
// taxonomy for its extractor, an e-mail address and a restored table, and staging with
// everything that is off by default.
var synthesized struct {
	once               sync.Once
	root               string // of everything below
	out                string // cloud assembly
	dev, prod, staging template
}

const restoredTable = "skills-curriculum-restored"

// everything turns on what is off by default.
var everything = map[string]any{
	"stage": "staging", "staging:domain": "api.example.org", "staging:certificateArn": "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-0000-0000-000000000000",
	"staging:release": "linear10PercentEvery1Min", "staging:encryption": "on",
	"staging:backup": "on", "staging:backupCopyTo": "arn:aws:backup:eu-west-1:444455556666:backup-vault:copies",
	"staging:reservedConcurrency": "extractor=20,reports=5", "staging:owner": "team-a", "staging:costCentre": "cc-1",
}

func synth(t *testing.T) (dev, prod template) {
	t.Helper()
	synthesized.once.Do(func() {
		root, err := os.MkdirTemp("", "infra-aws-")
		if err != nil {
			t.Fatal(err)
		}
		synthesized.root, synthesized.out = root, filepath.Join(root, "cdk.out")
		app := newApp(synthesized.out, flags(t))
		bundles := stubs(t, filepath.Join(root, "dev"))
		newStack(app, stageFor(t, map[string]any{"functions": bundles}))
		newStack(app, stageFor(t, with(everything, "functions", bundles)))
		bundles = stubs(t, filepath.Join(root, "prod"))
		write(t, filepath.Join(bundles, "extractor", taxonomyFile), "compiled")
		newStack(app, stageFor(t, map[string]any{
			"stage": "prod", "functions": bundles, "prod:alarmEmail": "operator@example.org", "prod:table": restoredTable,
			"prod:rateLimitUnits": "5000", "prod:release": "canary10Percent5Minutes", "dev:alarmEmail": "other@example.org",
		}))
		app.Synth(nil)
		synthesized.dev, synthesized.prod, synthesized.staging = read(t, synthesized.out, "dev"), read(t, synthesized.out, "prod"), read(t, synthesized.out, "staging")
	})
	if synthesized.dev.Resources == nil || synthesized.prod.Resources == nil || synthesized.staging.Resources == nil {
		t.Fatal("the synthesis failed in another test")
	}
	return synthesized.dev, synthesized.prod
}

// full is the stage with everything on.
func full(t *testing.T) template {
	synth(t)
	return synthesized.staging
}

func stageFor(t *testing.T, context map[string]any) stage {
	t.Helper()
	s, err := readStage(context)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func with(context map[string]any, key string, value any) map[string]any {
	context = maps.Clone(context)
	context[key] = value
	return context
}

// stubs creates a directory like that of make build.
func stubs(t *testing.T, dir string) string {
	for _, name := range api.Functions() {
		write(t, filepath.Join(dir, name, "bootstrap"), "#!"+name)
	}
	return dir
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// flags are CDK's feature flags in cdk.json.
func flags(t *testing.T) map[string]any {
	t.Helper()
	var cdk struct{ Context map[string]any }
	readJSON(t, filepath.Join(moduleRoot, "cdk.json"), &cdk)
	maps.DeleteFunc(cdk.Context, func(key string, _ any) bool { return !strings.HasPrefix(key, "@") })
	return cdk.Context
}

// read reads the template of a stage out of a cloud assembly.
func read(t *testing.T, assembly, stage string) template {
	t.Helper()
	out := template{file: filepath.Join(assembly, service+"-"+stage+".template.json")}
	text, err := os.ReadFile(out.file)
	if err != nil {
		t.Fatal(err)
	}
	out.bytes = len(text)
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// both runs a test on each stage.
func both(t *testing.T, test func(t *testing.T, stage string, tpl template)) {
	dev, prod := synth(t)
	t.Run("dev", func(t *testing.T) { test(t, "dev", dev) })
	t.Run("prod", func(t *testing.T) { test(t, "prod", prod) })
}

// of lists the resources of a type by logical id.
func (tpl template) of(kind string) map[string]resource {
	found := map[string]resource{}
	for id, r := range tpl.Resources {
		if r.Type == kind {
			found[id] = r
		}
	}
	return found
}

// only returns the one resource of a type.
func (tpl template) only(t *testing.T, kind string) (string, resource) {
	t.Helper()
	found := tpl.of(kind)
	if len(found) != 1 {
		t.Fatalf("%d resources of type %s, want 1", len(found), kind)
	}
	for id, r := range found {
		return id, r
	}
	panic("unreachable")
}

// named finds the one resource of a type whose construct has that id.
func (tpl template) named(t *testing.T, kind, name string) (string, resource) {
	t.Helper()
	for id, r := range tpl.of(kind) {
		path, _ := r.Metadata["aws:cdk:path"].(string)
		if parts := strings.Split(path, "/"); len(parts) > 1 && parts[1] == name {
			return id, r
		}
	}
	t.Fatalf("no %s named %s", kind, name)
	return "", resource{}
}

// at follows keys and indexes into a JSON value, and returns nil if there is no such value.
func at(value any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := value.(map[string]any)
			value = m[step]
		case int:
			list, _ := value.([]any)
			if step >= len(list) {
				return nil
			}
			value = list[step]
		}
	}
	return value
}

func (r resource) get(path ...any) any { return at(r.Properties, path...) }

// refersTo lists the logical ids in a value, each once, in order.
func refersTo(value any) []string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	var ids []string
	for _, match := range reference.FindAllStringSubmatch(string(text), -1) {
		id := match[1] + match[2]
		if !slices.Contains(ids, id) && !strings.HasPrefix(id, "AWS::") {
			ids = append(ids, id)
		}
	}
	return ids
}

var reference = regexp.MustCompile(`"Ref":"([^"]+)"|"Fn::GetAtt":\["([^"]+)"`)

// same compares JSON values, where all numbers are float64.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
