package boot_test

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/skills"
)

func environment(extra map[string]string) func(string) string {
	all := map[string]string{"AWS_REGION": "eu-west-1", "TABLE_NAME": "table"}
	maps.Copy(all, extra)
	return func(name string) string { return all[name] }
}

func TestDefaults(t *testing.T) {
	c, err := boot.Read(environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	if c.Limit.Units != 1000 || c.Limit.Window != time.Minute || c.CountTimeout != 100*time.Millisecond || len(c.AllowedHosts) != 0 || c.Region != "eu-west-1" || c.Table != "table" {
		t.Errorf("%+v", c)
	}
	if taxonomy, err := c.Taxonomy(skills.Starter); err != nil || taxonomy == nil {
		t.Errorf("built-in vocabulary: %v", err)
	}
}

func TestEnvironmentIsRead(t *testing.T) {
	c, err := boot.Read(environment(map[string]string{"RATE_LIMIT_UNITS": "200", "RATE_LIMIT_WINDOW_SECONDS": "5", "SYLLABUS_ALLOWED_HOSTS": "127.0.0.1:1, ,localhost:2,", "CONTRACT_EXAMPLES": `{"getJob.jobId":"job_1"}`}))
	if err != nil {
		t.Fatal(err)
	}
	if c.Limit.Units != 200 || c.Limit.Window != 5*time.Second || strings.Join(c.AllowedHosts, "|") != "127.0.0.1:1|localhost:2" || c.Examples["getJob.jobId"] != "job_1" {
		t.Errorf("%+v", c)
	}
}

func TestAllFaultsAreToldAtOnce(t *testing.T) {
	_, err := boot.Read(environment(map[string]string{
		"TABLE_NAME": "", "RATE_LIMIT_UNITS": "many", "RATE_LIMIT_WINDOW_SECONDS": "0", "TAXONOMY": filepath.Join(t.TempDir(), "none"), "CONTRACT_EXAMPLES": "{",
	}))
	if err == nil {
		t.Fatal("a broken configuration is taken")
	}
	for _, name := range []string{"TABLE_NAME", "RATE_LIMIT_UNITS", "RATE_LIMIT_WINDOW_SECONDS", "TAXONOMY", "CONTRACT_EXAMPLES"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not told of: %v", name, err)
		}
	}
}
