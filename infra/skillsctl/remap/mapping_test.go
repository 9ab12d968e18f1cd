package remap_test

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/infra/devdata"
	"skillscurriculum/infra/skillsctl/remap"
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/extraction/wordvectors"
	"skillscurriculum/pkg/skills"
)

// taxonomy compiles a vocabulary of lines id,name,kind,aliases.
func taxonomy(t *testing.T, lines string) *skills.Taxonomy {
	t.Helper()
	var b skills.Builder
	if err := b.AddCSV(skills.Info{Name: "T", Version: "1"}, strings.NewReader("id,name,kind,aliases\n"+lines)); err != nil {
		t.Fatal(err)
	}
	return compile(t, &b)
}

func compile(t *testing.T, b *skills.Builder) *skills.Taxonomy {
	t.Helper()
	b.Index = extraction.Indexer{}.Index
	compiled, err := b.Compile()
	if err != nil {
		t.Fatal(err)
	}
	opened, err := skills.Open(compiled)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

const (
	before = `old:sql,SQL,tool,
old:java,Java,tool,
old:weld,arc welding,skill,weld metals
old:team,teamwork,transversal,work in teams
old:pack,packing,skill,
old:adapt,adaptability,transversal,
old:quipu,quipu reading,skill,khipu decoding
old:gaap,accounting principles,skill,IFRS|bookkeeping rules
old:risk,hazard analysis,skill,risk review|hazard review
both:math,maths,knowledge,
`
	after = `new:sql,sql,tool,
new:java,Java (computer programming),tool,
new:weld,welding,skill,arc weldings|weld metal
new:team,work in teams,transversal,
new:pack1,pack goods,skill,packing
new:pack2,pack fruit,skill,packing
new:vfr,flight rules,skill,IFRS|bookkeeping rules of the air
new:risk,assess dangers,skill,risk review|hazard review
new:soft,language software,tool,adaptability
both:math,mathematics,knowledge,
`
)

func TestMap(t *testing.T) {
	used := map[string]string{
		"old:sql": "SQL", "old:java": "Java", "old:weld": "arc welding", "old:team": "teamwork", "old:pack": "packing",
		"old:adapt": "adaptability", "old:quipu": "quipu reading", "old:gaap": "accounting principles", "old:risk": "hazard analysis", "both:math": "maths", "gone:sql": "S.Q.L. of an earlier vocabulary", "gone:weld": "welding",
	}
	from, to := taxonomy(t, before), taxonomy(t, after)
	m, err := remap.Map(used, from, to, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []remap.Row{
		{"old:gaap", "accounting principles", "", "", "none"},
		{"old:adapt", "adaptability", "", "", "none"},
		{"old:pack", "packing", "", "", "ambiguous: new:pack1 (pack goods) | new:pack2 (pack fruit)"},
		{"old:quipu", "quipu reading", "", "", "none"},
		{"gone:sql", "S.Q.L. of an earlier vocabulary", "", "", "none"},
		{"old:weld", "arc welding", "new:weld", "welding", "alias"},
		{"old:risk", "hazard analysis", "new:risk", "assess dangers", "alias"},
		{"old:java", "Java", "new:java", "Java (computer programming)", "label"},
		{"both:math", "maths", "both:math", "mathematics", "id"},
		{"old:sql", "SQL", "new:sql", "sql", "label"},
		{"old:team", "teamwork", "new:team", "work in teams", "alias"},
		{"gone:weld", "welding", "new:weld", "welding", "label"},
	}
	if diff := cmp.Diff(want, m.Rows()); diff != "" {
		t.Error(diff)
	}

	// Skills that extraction finds in the names are suggested, but not mapped.
	with := taxonomy(t, after+"new:khipu,khipu decoding,skill,\n")
	if err := m.Suggest(t.Context(), from, with, extraction.NewExtractor(with, wordvectors.Table())); err != nil {
		t.Fatal(err)
	}
	if row := m["old:quipu"]; row.NewID != "" || row.How != "near: new:khipu (khipu decoding)" {
		t.Errorf("suggested %+v", row)
	}

	// Corrections of the table are followed.
	var text bytes.Buffer
	if err := m.Write(&text); err != nil {
		t.Fatal(err)
	}
	corrected := strings.NewReplacer(
		"old:pack,packing,,,", "old:pack,packing,new:pack1,,", "old:adapt,adaptability,,,", "old:adapt,adaptability,-,,",
		"new:team,work in teams", ",", "both:math", "").Replace("\ufeff" + text.String())
	table, err := remap.Read(strings.NewReader(corrected))
	if err != nil {
		t.Fatal(err)
	}
	if m, err = remap.Map(used, from, to, table); err != nil {
		t.Fatal(err)
	}
	for id, row := range map[string]remap.Row{
		"old:pack":  {"old:pack", "packing", "new:pack1", "pack goods", "table"},
		"old:adapt": {"old:adapt", "adaptability", "-", "", "table"},
		"old:team":  {"old:team", "teamwork", "", "", "table"},
		"old:sql":   {"old:sql", "SQL", "new:sql", "sql", "label"},
	} {
		if diff := cmp.Diff(row, m[id]); diff != "" {
			t.Errorf("%s: %s", id, diff)
		}
	}
	if id, name := m.Rename("old:adapt", "adaptability"); id != "" || name != "" {
		t.Errorf("a removed skill becomes %q %q", id, name)
	}
	if id, name := m.Rename("old:team", "teamwork"); id != "old:team" || name != "teamwork" {
		t.Errorf("an unmapped skill becomes %q %q", id, name)
	}
}

func TestRefusedTables(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":      {"", "empty"},
		"no columns": {"a,b\n", "line 1"},
		"no id":      {"oldId,newId\nx,y\n,z\n", "line 3: oldId is missing"},
		"twice":      {"oldId,newId\nx,y\nx,z\n", "line 3: x is repeated"},
		"quotes":     {"oldId,newId\n\"x,y\n", "quote"},
	} {
		if _, err := remap.Read(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	used := map[string]string{"old:sql": "SQL"}
	for name, c := range map[string]struct {
		table remap.Mapping
		want  string
	}{
		"unknown": {remap.Mapping{"old:sql": {NewID: "new:none"}}, "old:sql is mapped to new:none, which is not in the new taxonomy"},
		"chain":   {remap.Mapping{"old:sql": {NewID: "new:java"}, "new:java": {NewID: "new:weld"}}, "map both to the last one"},
	} {
		if _, err := remap.Map(used, taxonomy(t, before), taxonomy(t, after), c.table); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Well-known skills of the starter vocabulary are found in ESCO.
func TestStarterToESCO(t *testing.T) {
	var sources []fs.FS
	for _, name := range []string{"esco-1.1.1-classification-en.zip", "esco-1.1.1-relations.zip"} {
		archive, err := zip.OpenReader(devdata.Path(t, "esco", name))
		if err != nil {
			t.Fatal(err)
		}
		defer archive.Close()
		sources = append(sources, archive)
	}
	var b skills.Builder
	if err := b.AddESCO("1.1.1", sources...); err != nil {
		t.Fatal(err)
	}
	to, from := compile(t, &b), extraction.Starter()
	used := map[string]string{}
	all, _ := from.Search("", from.Info().Skills, 0)
	for _, s := range all {
		used[s.ID] = s.Name
	}
	m, err := remap.Map(used, from, to, nil)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"core:sql": "SQL", "core:geometry": "geometry", "core:computer-programming": "computer programming", "core:python": "Python (computer programming)"} {
		if row := m[id]; row.NewName != want || row.How != remap.ByLabel {
			t.Errorf("%s becomes %+v", id, row)
		}
	}
	mapped := 0
	for _, row := range m {
		if row.NewID != "" {
			mapped++
			if name, ok := to.Name(row.NewID); !ok || name != row.NewName {
				t.Errorf("%+v: in ESCO %q", row, name)
			}
		}
	}
	t.Logf("%d of %d skills of the starter vocabulary have an equivalent in ESCO", mapped, len(m))
	if mapped < 500 {
		t.Errorf("only %d are mapped", mapped)
	}
}
