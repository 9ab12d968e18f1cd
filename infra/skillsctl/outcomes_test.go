package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/upsert"
)

func TestOutcomes(t *testing.T) {
	c := newConsole(t)
	org := string(value[catalog.Customer](c, "customers", "create", "-name", "College").OrganizationID)
	c.file("courses.csv", "externalId,code,name\n1,BIO 1,Biology\n2,ART 1,Drawing\n")
	c.run(0, "import", "catalog", "-organization", org, "courses.csv")
	header := "owner,ownerKind,code,statement,level,parentCode,skills,alignments,parentId\n"

	// A file with an error changes nothing.
	c.file("wrong.csv", header+"BIO 1,course,A,Explain cells,,,,,\nART 1,course,A,,,,,,\nART 1,course,B,Draw,9,,,,\n")
	if out, says := c.run(1, "import", "outcomes", "-organization", org, "wrong.csv"); !strings.Contains(out, "level: line 4: must be 1 to 5") {
		t.Error(out, says)
	}
	c.file("wrong.csv", header+"BIO 1,course,A,Explain cells,,,,,\nART 1,course,A,Draw,,Z,,,\nNONE 1,,,Draw,,,,,\n")
	out, says := c.run(1, "import", "outcomes", "-organization", org, "wrong.csv")
	for _, want := range []string{"line 3: parentCode: must name an outcome", "owner: must be the id, external id or code of exactly one course or program (NONE 1)", "nothing was changed"} {
		if !strings.Contains(out+says, want) {
			t.Errorf("%q is not in %s", want, out+says)
		}
	}
	if out, _ := c.run(0, "export", "outcomes", "-organization", org); out != header {
		t.Errorf("exported %q", out)
	}

	good := header +
		"1,course,A,Explain cells,2,,none,EXACT urn:x:1 A \\| B|BROAD https://example.org/b,\n" +
		"1,course,A1,\"Draw a cell, \"\"as seen\"\"\",4,A,none,,\n" +
		"1,course,,'=Explain sums,5,A,none,,\n" +
		"2,course,,Draw hands,2,,,,\n"
	c.file("good.csv", good)
	if got := value[upsert.Summary](c, "import", "outcomes", "-organization", org, "good.csv", "-check"); got.Created != 4 {
		t.Errorf("check %+v", got)
	}
	if got := value[upsert.Summary](c, "import", "outcomes", "-organization", org, "good.csv"); got.Created != 4 {
		t.Errorf("import %+v", got)
	}
	exported, _ := c.run(0, "export", "outcomes", "-organization", org)
	if diff := cmp.Diff(good, exported); diff != "" {
		t.Error(diff)
	}
	c.file("again.csv", exported)
	if got := value[upsert.Summary](c, "import", "outcomes", "-organization", org, "again.csv"); got.Skipped != 4 {
		t.Errorf("the export, imported: %+v", got)
	}

	canvas, _ := c.run(0, "export", "outcomes", "-organization", org, "-canvas", "-owner", "BIO 1")
	if !strings.HasPrefix(canvas, "vendor_guid,object_type,title,description,parent_guids,workflow_state\nscs-out_") ||
		!strings.Contains(canvas, ",group,A,Explain cells,,active\n") || !strings.Contains(canvas, `,outcome,A1,"Draw a cell, ""as seen""",scs-out_`) {
		t.Errorf("canvas\n%s", canvas)
	}
	c.file("canvas.csv", canvas)
	if got := value[upsert.Summary](c, "import", "outcomes", "-organization", org, "-owner", "BIO 1", "canvas.csv"); got.Skipped != 3 {
		t.Errorf("the Canvas export, imported: %+v", got)
	}
	after, _ := c.run(0, "export", "outcomes", "-organization", org)
	if diff := cmp.Diff(exported, after); diff != "" {
		t.Error(diff)
	}
	c.run(1, "import", "outcomes", "-organization", org, "canvas.csv")
	c.run(1, "export", "outcomes", "-organization", org, "-canvas")

	// A file that Canvas made: a group is a parent, deleted rows leave.
	c.file("canvas.csv", "vendor_guid,object_type,title,description,parent_guids,workflow_state,mastery_points\n"+
		"g,group,LAB,Work in a laboratory,,active,3\na,outcome,SAFE,Follow the rules of safety,g,active,3\nb,outcome,OLD,Old,g,deleted,3\n")
	if got := value[upsert.Summary](c, "import", "outcomes", "-organization", org, "-owner", "2", "canvas.csv"); got.Created != 2 {
		t.Errorf("Canvas %+v", got)
	}
	after, _ = c.run(0, "export", "outcomes", "-organization", org, "-owner", "ART 1")
	if want := header + "2,course,LAB,Work in a laboratory,,,,,\n2,course,SAFE,Follow the rules of safety,,LAB,,,\n"; after != want {
		t.Error(cmp.Diff(want, after))
	}
}
