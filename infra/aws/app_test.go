package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadStage(t *testing.T) {
	bundles := stubs(t, t.TempDir())
	got, err := readStage(map[string]any{
		"stage": "prod", "functions": bundles, "prod:table": "restored", "prod:rateLimitUnits": 2000, "dev:rateLimitUnits": "7",
		"prod:reservedConcurrency": "courses=50, extractor=10", "prod:backup": "on", "prod:owner": "team", "unrelated": true,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := stage{
		name: "prod", bundles: bundles, owner: "team", costCentre: "unassigned", table: "restored", rateUnits: "2000", rateWindow: "60",
		release: "allAtOnce", backup: true, reserved: map[string]int{"courses": 50, "extractor": 10},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(stage{})); diff != "" {
		t.Error(diff)
	}
}

func TestReadStageSaysAllThatIsWrong(t *testing.T) {
	bundles := stubs(t, t.TempDir())
	for name, c := range map[string]struct {
		context map[string]any
		says    []string
	}{
		"unknown stage":   {map[string]any{"stage": "test"}, []string{`stage "test" is unknown`, "-c stage=dev", "-c stage=staging"}},
		"unknown setting": {map[string]any{"functions": bundles, "prod:wav": "on"}, []string{"prod:wav is not a setting", "backup"}},
		"numbers": {map[string]any{"functions": bundles, "dev:rateLimitUnits": "many", "dev:rateLimitWindowSeconds": "0"},
			[]string{`dev:rateLimitUnits is "many"`, `dev:rateLimitWindowSeconds is "0"`}},
		"switches": {map[string]any{"functions": bundles, "dev:backup": "yes", "dev:encryption": "true"}, []string{`dev:backup is "yes"`, `dev:encryption is "true"`}},
		"domain":   {map[string]any{"functions": bundles, "dev:domain": "api.example.org"}, []string{"dev:domain and dev:certificateArn"}},
		"release":  {map[string]any{"functions": bundles, "dev:release": "slowly"}, []string{`dev:release is "slowly"`, "canary10Percent5Minutes"}},
		"backup":   {map[string]any{"functions": bundles, "dev:backupCopyTo": "arn:aws:backup:x:1:backup-vault:v"}, []string{"dev:backup=on"}},
		"reserved": {map[string]any{"functions": bundles, "dev:reservedConcurrency": "courses,extractor=9,nobody=3"},
			[]string{`reservedConcurrency is ""`, `"9"`, "at least 10", "nobody"}},
		"nothing is built": {map[string]any{"functions": filepath.Join(bundles, "nowhere")}, []string{filepath.Join("courses", "bootstrap") + " is missing: run make build first", filepath.Join("sweeper", "bootstrap")}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readStage(c.context)
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range c.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q lacks %q", err, part)
				}
			}
		})
	}
}

func TestDeployableSaysWhatIsMissing(t *testing.T) {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_DEFAULT_PROFILE"} {
		t.Setenv(name, "")
	}
	nowhere := filepath.Join(t.TempDir(), "none")
	t.Setenv("AWS_CONFIG_FILE", nowhere)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", nowhere)
	ctx := context.Background()
	for name, c := range map[string]struct {
		account, region, profile string
		says                     []string
	}{
		"account": {"", "us-east-1", "", []string{"no AWS account", "aws sso login", "run make deploy again"}},
		"region":  {"111122223333", "", "", []string{"no AWS region", "AWS_REGION=us-east-1", "run make deploy again"}},
		"profile": {"", "", "nobody", []string{"nobody", "check AWS_PROFILE"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("AWS_REGION", c.region)
			t.Setenv("AWS_PROFILE", c.profile)
			err := deployable(ctx, c.account)
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range c.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q lacks %q", err, part)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is more than a sentence", err)
			}
		})
	}
	t.Setenv("AWS_REGION", "us-east-1")
	if err := deployable(ctx, "111122223333"); err != nil {
		t.Error(err)
	}
}
