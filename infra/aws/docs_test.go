package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleRoot, "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The operator's page has a runbook for each alarm that notifies somebody, and mentions every
// saved query and setting.
func TestOperatorsPage(t *testing.T) {
	text := page(t, "aws.md")
	both(t, func(t *testing.T, stage string, tpl template) {
		for _, kind := range []string{"AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm"} {
			for _, a := range tpl.of(kind) {
				name := strings.TrimPrefix(a.get("AlarmName").(string), service+"-"+stage+" ")
				if a.get("AlarmActions") != nil && !strings.Contains(text, "\n#### "+name+"\n") {
					t.Errorf("docs/aws.md has no runbook %q", name)
				}
			}
		}
	})
	for _, q := range queries {
		if !strings.Contains(text, "*"+q.name+"*") {
			t.Errorf("docs/aws.md does not use the query %q", q.name)
		}
	}
	for _, s := range settingNames {
		if !strings.Contains(text, "`"+s+"`") {
			t.Errorf("docs/aws.md lacks the setting %s", s)
		}
	}
	for name, o := range objectiveShares {
		kind, _, _ := strings.Cut(name, " ")
		row := text[strings.Index(text, "\n| "+kind)+1:]
		if row = row[:strings.Index(row, "\n")]; !strings.Contains(row, fmt.Sprintf("%g %%", o.percent)) {
			t.Errorf("the objective %s is %g %%, the page says %s", name, o.percent, row)
		}
	}
}

// The page states the number of alarms and metrics in the template.
func TestCostPage(t *testing.T) {
	text := page(t, "cost.md")
	dev, _ := synth(t)
	alarms, metrics := dev.of("AWS::CloudWatch::Alarm"), 0
	for _, a := range alarms {
		for _, m := range a.get("Metrics").([]any) {
			if at(m, "MetricStat") != nil {
				metrics++
			}
		}
	}
	composites := len(dev.of("AWS::CloudWatch::CompositeAlarm"))
	for _, line := range []string{
		fmt.Sprintf("| %d metrics in %d alarms, $0.10 each | %.2f |", metrics, len(alarms), 0.10*float64(metrics)),
		fmt.Sprintf("| %d composite alarms, $0.50 each | %.2f |", composites, 0.50*float64(composites)),
	} {
		if !strings.Contains(text, line) {
			t.Errorf("docs/cost.md lacks %q", line)
		}
	}
}
