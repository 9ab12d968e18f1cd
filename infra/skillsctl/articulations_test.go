package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/catalog"
)

func TestArticulations(t *testing.T) {
	c := newConsole(t)
	org := string(value[catalog.Customer](c, "customers", "create", "-name", "College").OrganizationID)
	c.file("courses.csv", "externalId,code,name\n1,BIO 1,Biology\n")
	c.run(0, "import", "catalog", "-organization", org, "courses.csv")

	c.file("a.csv", "id,institution,codes,receiving,decision,reason,effectiveFrom\r\n"+
		"1,Foothill College,BIO 101;BIO 101L,BIO 1,EQUIVALENT,,2026-01-01\r\n"+
		"1,Foothill College,BIO 105,,,,\r\n"+
		"2,Foothill College,ART 1,,NO_CREDIT,,2026-01-01\r\n")
	out, says := c.run(1, "import", "articulations", "-organization", org, "a.csv")
	if !strings.Contains(out, "would be created  1") || !strings.Contains(out, "a.csv:4: Articulation 2: reason: is required with NO_CREDIT") || !strings.Contains(says, "nothing was changed") {
		t.Error(out, says)
	}
	rejects, err := os.ReadFile("a.csv.rejects.csv")
	if err != nil || !strings.HasPrefix(string(rejects), "rejected,rejectedBecause,id,institution,") {
		t.Fatalf("rejects %s %v", rejects, err)
	}
	// The corrected file of rejects can be imported.
	mended := strings.Replace(string(rejects), "NO_CREDIT,,", "NO_CREDIT,remedial,", 1)
	c.file("mended.csv", mended)
	if got := value[map[string]any](c, "import", "articulations", "-organization", org, "mended.csv"); got["created"] != 1.0 {
		t.Errorf("mended %v", got)
	}
	c.file("a.csv", strings.Replace("id,institution,codes,receiving,decision,reason,effectiveFrom\n"+
		"1,Foothill College,BIO 101;BIO 101L,BIO 1,EQUIVALENT,,2026-01-01\n1,Foothill College,BIO 105,,,,\n2,Foothill College,ART 1,,NO_CREDIT,remedial,2026-01-01\n", "\n", "\r\n", -1))
	if out, _ := c.run(0, "import", "articulations", "-organization", org, "a.csv", "-check"); !strings.Contains(out, "would be created  1") || !strings.Contains(out, "would be skipped  1") {
		t.Error(out)
	}
	c.run(0, "import", "articulations", "-organization", org, "a.csv")

	exported, _ := c.run(0, "export", "articulations", "-organization", org)
	if lines := strings.Split(exported, "\n"); len(lines) != 5 || !strings.HasPrefix(lines[0], "id,status,institution,") || !strings.Contains(lines[2], ",BIO 101;BIO 101L,") {
		t.Errorf("exported\n%s", exported)
	}
	c.file("b.csv", exported)
	if got := value[map[string]any](c, "import", "articulations", "-organization", org, "b.csv"); got["skipped"] != 2.0 {
		t.Errorf("the export, imported: %v", got)
	}
	again, _ := c.run(0, "export", "articulations", "-organization", org)
	if diff := cmp.Diff(exported, again); diff != "" {
		t.Error(diff)
	}
	c.run(1, "export", "articulations", "-organization", "org_unknown")
}
