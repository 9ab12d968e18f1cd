package main

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNag reads the reports of the AwsSolutions rules: nothing may be open, and
// what is accepted is accepted for a reason.
func TestNag(t *testing.T) {
	synth(t)
	for _, stage := range stages {
		file, err := os.Open(filepath.Join(synthesized.out, "AwsSolutions-"+service+"-"+stage+"-NagReport.csv"))
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
		var accepted []string
		for _, row := range rows[1:] {
			rule, resource, compliance, reason := row[0], row[1], row[2], row[3]
			switch {
			case compliance == "Suppressed" && len(reason) > 40:
				accepted = append(accepted, rule)
			case compliance != "Compliant":
				t.Errorf("%s of %s is %s (%s)", rule, resource, compliance, reason)
			}
		}
		slices.Sort(accepted)
		want := []string{"AwsSolutions-APIG2", "AwsSolutions-APIG3", "AwsSolutions-APIG4", "AwsSolutions-COG4", "AwsSolutions-IAM4", "AwsSolutions-IAM5", "AwsSolutions-S1", "AwsSolutions-SMG4"}
		if stage == staging { // it has a web ACL
			want = slices.DeleteFunc(want, func(rule string) bool { return rule == "AwsSolutions-APIG3" })
		}
		if diff := cmp.Diff(want, slices.Compact(accepted)); diff != "" {
			t.Errorf("%s accepts: %s", stage, diff)
		}
	}
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
