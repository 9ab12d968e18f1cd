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
	got, err := readStage(settings(map[string]string{
		"stage": "prod", "functions": bundles, "prod:table": "restored", "prod:rateLimitUnits": "2000", "dev:rateLimitUnits": "7",
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := stage{name: "prod", bundles: bundles, table: "restored", rateUnits: "2000", rateWindow: "60"}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(stage{})); diff != "" {
		t.Error(diff)
	}
}

func TestReadStageSaysAllThatIsWrong(t *testing.T) {
	bundles := stubs(t, t.TempDir())
	for name, c := range map[string]struct {
		context map[string]string
		says    []string
	}{
		"unknown stage":    {map[string]string{"stage": "test"}, []string{`stage "test" is unknown`, "-c stage=dev"}},
		"numbers":          {map[string]string{"functions": bundles, "dev:rateLimitUnits": "many", "dev:rateLimitWindowSeconds": "0"}, []string{`dev:rateLimitUnits is "many"`, `dev:rateLimitWindowSeconds is "0"`}},
		"nothing is built": {map[string]string{"functions": filepath.Join(bundles, "nowhere")}, []string{filepath.Join("courses", "bootstrap") + " is missing: run make build first", filepath.Join("sweeper", "bootstrap")}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readStage(settings(c.context))
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
