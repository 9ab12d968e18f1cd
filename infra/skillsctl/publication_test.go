package main

import (
	"strings"
	"testing"
)

// The facts of an organization are set one by one, and wrong ones change nothing.
func TestOrganizationFacts(t *testing.T) {
	c := newConsole(t)
	loaded := value[struct {
		Customers []struct{ OrganizationID string }
	}](c, "demo", "load")
	org, other := loaded.Customers[0].OrganizationID, loaded.Customers[1].OrganizationID
	type facts struct {
		Name, Description, Webpage, AgentType, CTID, Language, Handle string
		Publication                                                   bool
		Missing                                                       []string
	}
	set := func(flags ...string) facts {
		return value[facts](c, append([]string{"organizations", "set", org}, flags...)...)
	}
	if off := value[map[string]any](c, "organizations", "set", org, "-publication", "off"); off["publication"] != false {
		t.Errorf("publication that is off: %v", off)
	}
	set("-description", "A public college of two years", "-webpage", "https://college.example")
	set("-agent-type", "orgType:TwoYear")
	set("-name", "Example College", "-handle", "example-college", "-language", "es")
	got := set("-publication", "on")
	if got.AgentType != "TwoYear" || got.Language != "es" || !got.Publication || got.Handle != "example-college" || len(got.Missing) != 0 ||
		got.Name != "Example College" || !strings.HasPrefix(got.CTID, "ce-") {
		t.Errorf("%+v", got)
	}
	for _, flags := range [][]string{
		{"-description", "too short"}, {"-webpage", "http://college.example"}, {"-agent-type", "Unheard"}, {"-handle", "A"},
		{"-language", "en_US"}, {"-name", " "}, {"-ctid", "ce-1"}, {"-ctid", got.CTID[:3] + strings.Repeat("0", 36)},
	} {
		c.run(codeFailed, append([]string{"organizations", "set", org}, flags...)...)
	}
	// A handle is one organization's, and is free once it has another.
	for want, flags := range map[string][]string{
		"another organization has the handle":      {"-handle", "example-college"},
		"handle is required with publication on":   {"-publication", "on"},
		"webpage must be an https address without": {"-webpage", "http://college.example"},
	} {
		if _, errs := c.run(codeFailed, append([]string{"organizations", "set", other}, flags...)...); !strings.HasPrefix(errs, "skillsctl: "+want) || strings.Contains(errs, "Dynamo") {
			t.Errorf("%s: %s", want, errs)
		}
	}
	set("-handle", "another")
	c.run(codeDone, "organizations", "set", other, "-handle", "example-college")
	const ctid = "ce-00000000-0000-4000-8000-000000000001"
	if got := set("-ctid", ctid); got.CTID != ctid {
		t.Errorf("%+v", got)
	}
	c.run(codeFailed, "organizations", "set", org, "-ctid", strings.Replace(ctid, "1", "2", 1))
}
