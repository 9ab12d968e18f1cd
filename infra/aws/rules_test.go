package main

import (
	"encoding/csv"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// accepted are the findings of the AwsSolutions rules that every stage accepts.
var accepted = []string{"AwsSolutions-APIG2", "AwsSolutions-APIG3", "AwsSolutions-APIG4", "AwsSolutions-COG4", "AwsSolutions-IAM4", "AwsSolutions-IAM5", "AwsSolutions-S1", "AwsSolutions-SMG4"}

// nag reads the report of the AwsSolutions rules on one stage: no finding may be open, and
// every accepted one needs a reason.
func nag(t *testing.T, assembly, stage string) {
	t.Helper()
	file, err := os.Open(filepath.Join(assembly, "AwsSolutions-"+service+"-"+stage+"-NagReport.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 100 {
		t.Fatalf("the report of %s has %d rows", stage, len(rows))
	}
	var got []string
	for _, row := range rows[1:] {
		rule, resource, compliance, reason := row[0], row[1], row[2], row[3]
		switch {
		case compliance == "Suppressed" && len(reason) > 40:
			got = append(got, rule)
		case compliance != "Compliant":
			t.Errorf("%s of %s is %s (%s)", rule, resource, compliance, reason)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(accepted, slices.Compact(got)); diff != "" {
		t.Errorf("%s accepts: %s", stage, diff)
	}
}

func TestNag(t *testing.T) {
	synth(t)
	nag(t, synthesized.out, dev)
	nag(t, synthesized.out, prod)
	nag(t, synthesized.out, staging)
}

// alone lists each setting by itself, or with those that it needs, and the types of resources
// that only it creates.
var alone = []struct {
	name     string
	settings map[string]any
	adds     []string
}{
	{"values", map[string]any{
		"owner": "team-a", "costCentre": "cc-1", "rateLimitUnits": "5000", "rateLimitWindowSeconds": "30", "table": restoredTable, "alarmEmail": "operator@example.org",
	}, []string{"AWS::SNS::Subscription"}},
	{"domain", map[string]any{"domain": "api.example.org", "certificateArn": everything["staging:certificateArn"]}, []string{"AWS::ApiGateway::BasePathMapping", "AWS::ApiGateway::DomainName"}},
	{"release", map[string]any{"release": "canary10Percent5Minutes"}, nil},
	{"encryption", map[string]any{"encryption": "on"}, []string{"AWS::KMS::Alias", "AWS::KMS::Key"}},
	{"backup", map[string]any{"backup": "on"}, []string{"AWS::Backup::…"}},
	{"backupCopyTo", map[string]any{"backup": "on", "backupCopyTo": everything["staging:backupCopyTo"]}, []string{"AWS::Backup::…"}},
	{"reservedConcurrency", map[string]any{"reservedConcurrency": "extractor=20,reports=5"}, nil},
}

// Each setting by itself synthesizes, satisfies the AwsSolutions rules, and creates no other
// resources.
func TestSettingsAlone(t *testing.T) {
	assembly, bundles := t.TempDir(), stubs(t, t.TempDir())
	app := newApp(assembly, flags(t))
	left := map[string]bool{}
	for _, name := range settingNames {
		left[name] = true
	}
	for _, c := range alone {
		context := map[string]any{"functions": bundles}
		for name, value := range c.settings {
			context["dev:"+name] = value
			delete(left, name)
		}
		s := stageFor(t, context)
		s.name = c.name // so that the stacks stand beside each other
		newStack(app, s)
	}
	app.Synth(nil)
	if len(left) > 0 {
		t.Errorf("nothing is known of %v", slices.Sorted(maps.Keys(left)))
	}
	dev, _ := synth(t)
	bare := dev.types()
	for _, c := range alone {
		t.Run(c.name, func(t *testing.T) {
			nag(t, assembly, c.name)
			var adds []string
			for _, kind := range read(t, assembly, c.name).types() {
				if service := kind[:strings.LastIndex(kind, "::")+2] + "…"; slices.Contains(c.adds, service) {
					kind = service
				}
				if !slices.Contains(bare, kind) && !slices.Contains(adds, kind) {
					adds = append(adds, kind)
				}
			}
			if diff := cmp.Diff(c.adds, adds); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// types returns the types of a template's resources.
func (tpl template) types() (types []string) {
	for _, r := range tpl.Resources {
		types = append(types, r.Type)
	}
	slices.Sort(types)
	return slices.Compact(types)
}

func TestCfnLint(t *testing.T) {
	if _, err := exec.LookPath("cfn-lint"); err != nil {
		t.Skip("cfn-lint is not installed: the templates are not linted")
	}
	if out, err := exec.Command("cfn-lint", "--version").CombinedOutput(); err != nil || !strings.Contains(string(out), "cfn-lint") {
		t.Skipf("this cfn-lint is not the one of AWS: %s", out)
	}
	dev, prod := synth(t)
	out, err := exec.Command("cfn-lint", "-t", dev.file, prod.file, full(t).file).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
