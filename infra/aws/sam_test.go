package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/api"
)

const moduleRoot = "../.."

// TestSAMFindsTheFunctions checks by SAM's rules for CDK templates: the code is
// in the directory that the metadata names next to the template, the property
// that it replaces is Code, and the function's id is in its construct path.
func TestSAMFindsTheFunctions(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		for id, f := range tpl.of("AWS::Lambda::Function") {
			asset, _ := f.Metadata["aws:asset:path"].(string)
			same(t, id+" asset property", f.Metadata["aws:asset:property"], "Code")
			path, _ := f.Metadata["aws:cdk:path"].(string)
			parts := strings.Split(path, "/")
			if len(parts) != 3 || parts[2] != "Resource" {
				t.Fatalf("%s has the construct path %q", id, path)
			}
			if filepath.IsAbs(asset) {
				t.Errorf("%s: %s only exists here", id, asset)
			}
			bootstrap := filepath.Join(filepath.Dir(tpl.file), asset, "bootstrap")
			info, err := os.Stat(bootstrap)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode()&0o111 == 0 {
				t.Errorf("%s cannot be run", bootstrap)
			}
			text, err := os.ReadFile(bootstrap)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "bootstrap of "+parts[1], string(text), "#!"+parts[1])
		}
	})
}

// TestSAMConfig checks samconfig.toml and the files it names against the
// template that make synth writes.
func TestSAMConfig(t *testing.T) {
	var config struct {
		Version float64
		Default map[string]struct{ Parameters map[string]any }
	}
	if _, err := toml.DecodeFile(filepath.Join(moduleRoot, "samconfig.toml"), &config); err != nil {
		t.Fatal(err)
	}
	same(t, "version", config.Version, 0.1)
	var cdk struct {
		App, Output string
		Context     map[string]any
	}
	readJSON(t, filepath.Join(moduleRoot, "cdk.json"), &cdk)
	stack := stageFor(t, map[string]any{"stage": cdk.Context["stage"].(string), "functions": stubs(t, t.TempDir())}).stackName()
	for _, command := range []string{"local_start_api", "local_invoke"} {
		p := config.Default[command].Parameters
		same(t, command+" template", p["template_file"], cdk.Output+"/"+stack+".template.json")
		same(t, command+" network", p["docker_network"], "skills-curriculum")

		var env map[string]map[string]string
		readJSON(t, filepath.Join(moduleRoot, p["env_vars"].(string)), &env)
		if len(env) != 1 {
			t.Fatalf("%s has more than Parameters", p["env_vars"])
		}
		dev, _ := synth(t)
		for name := range env["Parameters"] {
			for _, function := range api.Functions() {
				_, f := dev.named(t, "AWS::Lambda::Function", function)
				if _, ok := f.get("Environment", "Variables").(map[string]any)[name]; !ok {
					t.Errorf("sam local cannot set %s: %s does not declare it", name, function)
				}
			}
		}
		// Values that the template only has in AWS must be set here.
		for _, name := range []string{api.EnvTable, api.EnvQueueURL, api.EnvDynamoEndpoint, api.EnvSQSEndpoint, api.EnvBucket, api.EnvS3Endpoint} {
			if env["Parameters"][name] == "" {
				t.Errorf("%s leaves %s to AWS", p["env_vars"], name)
			}
		}
	}
}

// TestCDKConfig checks that make synth and npx aws-cdk run this program.
func TestCDKConfig(t *testing.T) {
	var cdk map[string]any
	readJSON(t, filepath.Join(moduleRoot, "cdk.json"), &cdk)
	if diff := cmp.Diff("build/cdk.out", cdk["output"]); diff != "" {
		t.Error(diff)
	}
	if app := cdk["app"].(string); !strings.HasSuffix(app, "go run ./infra/aws") {
		t.Errorf("cdk.json runs %s", app)
	}
}

func readJSON(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
