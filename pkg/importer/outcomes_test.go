package importer_test

import (
	"strings"
	"testing"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
)

// outcomes returns the statements of a course's outcomes.
func (f *fixture) outcomes(courseID string) string {
	f.t.Helper()
	promises, err := service.Actor{Org: org, Store: f.store}.Outcomes(f.t.Context(), catalog.CourseKind, courseID)
	if err != nil {
		f.t.Fatal(err)
	}
	var all []string
	for _, o := range promises.List.Outcomes {
		all = append(all, o.Statement)
	}
	return strings.Join(all, "|")
}

func TestImportOfOutcomes(t *testing.T) {
	f := newFixture(t)
	f.request("courses.csv", "externalId,code,name\nb,BIO 1,Biology\na,ART 1,Drawing\n", nil)
	f.deliver()
	live, err := service.All[*catalog.Course](t.Context(), f.store, org, "")
	if err != nil || len(live) != 2 {
		t.Fatal(live, err)
	}
	const own = "owner,ownerKind,code,statement,level,parentCode,remark\n" +
		"BIO 1,course,A,Explain cells,2,,x\na,,A,Draw hands,,,\nBIO 1,course,B,Draw cells,,A,\nMUS 1,,A,Sing,,,\na,,B,Draw feet,7,,\nb,,,Never,,,\n"
	check := f.request("outcomes.csv", own, func(i *catalog.Import) { i.Mode = catalog.CheckOnly })
	apply := f.request("outcomes.csv", own, nil)
	again := f.request("outcomes.csv", own, nil)
	if f.deliver() > 0 {
		t.Fatal("not done")
	}
	// The list of a fails for its second row, the other name of BIO 1 and the unknown owner for themselves.
	for _, i := range []*catalog.Import{check, apply, again} {
		now, details := f.get(i)
		want := catalog.ImportCounts{Read: 6, Created: 2, Failed: 4}
		if i == again {
			want = catalog.ImportCounts{Read: 6, Unchanged: 2, Failed: 4}
		}
		if now.Status != catalog.ImportCompleted || now.Counts != want || *now.Resource != "outcome" || now.CountsByResource != nil {
			t.Errorf("%s %+v %+v", now.Status, now.Counts, now.Failure)
		}
		if c := details.Columns; len(c) != 7 || *c[3].Field != "statement" || c[3].Example != "Explain cells" || c[6].Field != nil {
			t.Errorf("columns %+v", c)
		}
		lines := map[int]string{}
		for _, p := range details.Problems {
			lines[p.Line] = p.Column + " " + p.Value
		}
		if len(lines) != 3 || lines[6] != "level 7" || lines[5] != "owner MUS 1" || lines[7] != "owner b" {
			t.Errorf("problems %+v", details.Problems)
		}
	}
	if got := f.outcomes(live[0].ID); got != "Explain cells|Draw cells" {
		t.Error(got)
	}
	if rejects := string(f.files[apply.ID]); strings.Count(rejects, "\n") != 5 || !strings.Contains(rejects, "line 6: must be 1 to 5") {
		t.Error(rejects)
	}

	const canvas = "vendor_guid,object_type,title,description,parent_guids,workflow_state\n" +
		"g,group,LAB,Work in a laboratory,,active\nz,outcome,OLD,Old,g,deleted\no,outcome,SAFE,Follow the rules of safety,g,active\n"
	lost := f.request("canvas.csv", canvas, nil)
	owned := f.request("canvas.csv", canvas, func(i *catalog.Import) { i.OwnerID = &live[1].ID })
	if f.deliver() > 0 {
		t.Fatal("not done")
	}
	if now, _ := f.get(lost); now.Failure == nil || now.Failure.Code != "missing_columns" {
		t.Errorf("without an owner: %+v", now)
	}
	if now, _ := f.get(owned); now.Counts != (catalog.ImportCounts{Read: 2, Created: 2}) || now.Layout != "CANVAS" || *now.Resource != "outcome" {
		t.Errorf("Canvas: %+v %+v", now, now.Failure)
	}
	if _, details := f.get(owned); catalog.ValueOr(details.Columns[1].Field, "") != "objectType" {
		t.Errorf("columns of Canvas: %+v", details.Columns)
	}
	odd := f.request("canvas.csv", strings.Replace(canvas, "o,outcome", "o,objective", 1), func(i *catalog.Import) { i.OwnerID = &live[1].ID })
	if f.deliver() > 0 {
		t.Fatal("not done")
	}
	if _, details := f.get(odd); len(details.Problems) == 0 || details.Problems[0].Message != `"objective" is none of group, outcome` {
		t.Errorf("an unknown type: %+v", details.Problems)
	}
	if got := f.outcomes(live[1].ID); got != "Work in a laboratory|Follow the rules of safety" {
		t.Error(got)
	}
}

func TestImportOfLinkedData(t *testing.T) {
	f := newFixture(t)
	const graph = `{"@context":"https://credreg.net/ctdl/schema/context/json","@graph":[
		{"@id":"https://example.org/c","@type":"ceterms:Course","ceterms:ctid":"ce-6b0c8f4e-5a8b-4c9e-9f64-0d6f6f1c2a11",
		 "ceterms:name":{"en-US":"Databases"},"ceterms:codedNotation":["DB 1"],"ceterms:description":{"en-US":"Relational databases"},
		 "ceterms:teaches":[{"@type":"ceterms:CredentialAlignmentObject","ceterms:targetNodeName":{"en-US":"sql"}},
		  {"@type":"ceterms:CredentialAlignmentObject","ceterms:targetNodeName":{"en-US":"No such skill"}}],
		 "ceterms:keyword":{"en-US":["data"]}}]}`
	i := f.request("catalog.jsonld", graph, nil)
	bare := f.request("graph", graph, nil)
	if f.deliver() > 0 {
		t.Fatal("not done")
	}
	now, details := f.get(i)
	if now.Status != catalog.ImportCompleted || now.Counts.Created != 1 {
		t.Fatalf("%+v %+v", now, details)
	}
	counted := 0
	for _, c := range details.Columns {
		if c.Header == "ceterms:keyword" && c.Field == nil {
			counted = c.Count
		}
	}
	if counted != 1 || len(details.Problems) != 1 || details.Problems[0].Value != "No such skill" {
		t.Errorf("%+v", details)
	}
	live, err := service.All[*catalog.Section](t.Context(), f.store, org, "")
	if err != nil || len(live) != 1 || len(live[0].Skills) != 1 || !strings.EqualFold(live[0].Skills[0].SkillName, "SQL") {
		t.Errorf("%+v %v", live, err)
	}
	if now, _ := f.get(bare); now.Counts.Unchanged != 1 {
		t.Errorf("the same without an ending: %+v %+v", now.Counts, now.Failure)
	}
}

// A row whose CTID is one record's and whose external id is another's fails alone.
func TestImportOfContradictingNames(t *testing.T) {
	f := newFixture(t)
	entity := func(ctid, external, name string) string {
		return `{"@id":"urn:` + name + `","@type":"ceterms:Course","ceterms:ctid":"ce-6b0c8f4e-5a8b-4c9e-9f64-0d6f6f1c2a1` + ctid + `",
			"ceterms:identifier":[{"@type":"ceterms:IdentifierValue","ceterms:identifierValueCode":"` + external + `"}],
			"ceterms:name":{"en-US":"` + name + `"},"ceterms:codedNotation":["` + name + `"]}`
	}
	f.request("one.jsonld", "["+entity("1", "X1", "A")+","+entity("2", "X2", "B")+"]", nil)
	mixed := f.request("two.jsonld", "["+entity("1", "X2", "A")+","+entity("3", "X3", "C")+","+entity("4", "X3", "D")+","+entity("5", "X5", "E")+"]", nil)
	if f.deliver() > 0 {
		t.Fatal("not done")
	}
	now, details := f.get(mixed)
	if now.Status != catalog.ImportCompleted || now.Counts != (catalog.ImportCounts{Read: 4, Created: 2, Failed: 2}) {
		t.Errorf("%+v %+v %+v", now.Counts, now.Failure, details.Problems)
	}
}
