package skills

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"skillscurriculum/infra/devdata"
	"skillscurriculum/pkg/skills/workbook"
)

const (
	escoSkills = "conceptType,conceptUri,skillType,preferredLabel,altLabels,hiddenLabels,modifiedDate,description\n" +
		"KnowledgeSkillCompetence,http://data.europa.eu/esco/skill/1,knowledge,welding,\"weld metal\njoin " +
		"metal\",MIG,2021-05-06T07:08:09Z,Joining.\n" +
		"KnowledgeSkillCompetence,http://data.europa.eu/esco/skill/2,skill/competence,operate welding " +
		"torch,,,2022-05-06,Use it.\n" +
		"KnowledgeSkillCompetence,http://data.europa.eu/esco/skill/3,skill/competence,work in teams,,,,Together.\n" +
		"KnowledgeSkillCompetence,http://data.europa.eu/esco/skill/4,,a heading,,,,\n"
	escoBroader = "conceptType,conceptUri,broaderType,broaderUri\n" +
		"KnowledgeSkillCompetence,http://data.europa.eu/esco/skill/2,KnowledgeSkillCompetence,http://data.europa.eu/esco/skill/1\n" +
		"KnowledgeSkillCompetence,http://data.europa.eu/esco/skill/1,SkillGroup,http://data.europa.eu/esco/isced-f/0715\n"
	escoGroups = "conceptType,conceptUri,preferredLabel\nSkillGroup,http://data.europa.eu/esco/isced-f/0715,metal " +
		"trades\n"
	escoTransversal = "conceptUri,preferredLabel\nhttp://data.europa.eu/esco/skill/3,work in teams\n"
	escoOccupations = "conceptUri,iscoGroup,preferredLabel\nhttp://data.europa.eu/esco/occupation/a,7212,welder\nhttp://data.europa.eu/esco/occupation/b,7212,brazier\n"
	escoNeeds       = "occupationUri,relationType,skillType,skillUri\n" +
		"http://data.europa.eu/esco/occupation/a,essential,knowledge,http://data.europa.eu/esco/skill/1\n" +
		"http://data.europa.eu/esco/occupation/b,optional,knowledge,http://data.europa.eu/esco/skill/1\n" +
		"http://data.europa.eu/esco/occupation/a,optional,skill/competence,http://data.europa.eu/esco/skill/3\n"
	crosswalkCSV = "soc_code,soc_title,isco08_code,isco08_title,mapping_type\n51-4121,\"Welders, " +
		"Cutters\",7212,Welders,partial\nNote,,,\n"
)

func escoFiles() fstest.MapFS {
	return fstest.MapFS{
		"v1/skills_en.csv":                      {Data: []byte("\ufeff" + escoSkills)},
		"v1/broaderRelationsSkillPillar.csv":    {Data: []byte(escoBroader)},
		"v1/skillGroups_en.csv":                 {Data: []byte(escoGroups)},
		"v1/transversalSkillsCollection_en.csv": {Data: []byte(escoTransversal)},
		"v1/occupations_en.csv":                 {Data: []byte(escoOccupations)},
		"v1/occupationSkillRelations.csv":       {Data: []byte(escoNeeds)},
		"v1/readme.txt":                         {Data: []byte("not a table")},
	}
}

func compiled(t *testing.T, b *Builder) *Taxonomy {
	t.Helper()
	raw, err := b.Compile()
	if err != nil {
		t.Fatal(err)
	}
	tax, err := Open(raw)
	if err != nil {
		t.Fatal(err)
	}
	return tax
}

func TestReadESCO(t *testing.T) {
	var b Builder
	if err := b.AddESCO("", escoFiles()); err != nil {
		t.Fatal(err)
	}
	if err := b.AddONET("", fstest.MapFS{"soc_isco_crosswalk.csv": {Data: []byte(crosswalkCSV)}}); err != nil {
		t.Fatal(err)
	}
	tax := compiled(t, &b)
	if got := tax.Info(); got.Skills != 3 || got.Version != "2022-05-06" || got.Licence != escoLicence ||
		got.Attribution != escoAttribution {
		t.Errorf("%+v", got)
	}
	want := Skill{
		ID: "esco:1", Name: "welding", Description: "Joining.", Aliases: []string{"weld metal", "join metal"},
		Kind: "knowledge", Field: "metal trades",
	}
	got, _ := tax.Skill("esco:1")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s, _ := tax.Skill("esco:3"); s.Kind != "transversal" {
		t.Errorf("kind of a transversal skill: %s", s.Kind)
	}
	if diff := cmp.Diff([]string{"esco:2"}, tax.Related("esco:1")); diff != "" {
		t.Error(diff)
	}
	refs := tax.Requirements("51-4121")
	if len(refs) != 2 || refs[0].SkillID != "esco:1" || refs[0].Confidence != 0.75 || refs[0].Level != 4 ||
		refs[1].Confidence != 0.25 || refs[1].Level != 2 {
		t.Errorf("%+v", refs)
	}
	if name, _ := tax.Occupation("51-4121.00"); name != "Welders, Cutters" {
		t.Errorf("occupation is called %q", name)
	}
}

func TestReadESCOFromZip(t *testing.T) {
	var raw bytes.Buffer
	z := zip.NewWriter(&raw)
	w, err := z.Create("skills_en.csv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(escoSkills)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(raw.Bytes()), int64(raw.Len()))
	if err != nil {
		t.Fatal(err)
	}
	b := Builder{Incomplete: true}
	if err := b.AddESCO("1.0", r); err != nil {
		t.Fatal(err)
	}
	if got := compiled(t, &b).Info(); got.Skills != 3 || got.Version != "1.0" {
		t.Errorf("%+v", got)
	}
	if err := new(Builder).AddESCO("1.0", r); !errors.Is(err, ErrIncomplete) ||
		!strings.HasSuffix(err.Error(), "broaderRelationsSkillPillar.csv, occupations_en.csv, occupationSkillRelations.csv") {
		t.Errorf("without the relations: %v", err)
	}
}

func TestReadESCOErrors(t *testing.T) {
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"no skills":    {fstest.MapFS{"other.csv": {Data: []byte("a,b\n")}}, "skills_en.csv is missing"},
		"empty":        {fstest.MapFS{"skills_en.csv": {}}, "the table is empty"},
		"wrong header": {fstest.MapFS{"skills_en.csv": {Data: []byte("a,b\n1,2\n")}}, `"concepturi" is missing`},
		"no name": {
			fstest.MapFS{"skills_en.csv": {Data: []byte("conceptUri,preferredLabel,skillType\nx,,knowledge\n")}}, "row 2",
		},
		"twice": {
			fstest.MapFS{"skills_en.csv": {Data: []byte("conceptUri,preferredLabel,skillType\nx,a,knowledge\nx,b,knowledge\n")}},
			"duplicate skill",
		},
	} {
		b := Builder{Incomplete: true}
		if err := b.AddESCO("", c.files); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const (
	onetTechnology = "O*NET-SOC Code\tExample\tCommodity Code\tCommodity Title\tHot Technology\tIn Demand\n" +
		"15-1252.00\tPython\t43232402\tDevelopment environment software\tY\tY\n15-1252.00\tPascal\t43232402\tDevelopment " +
		"environment software\tN\tN\n15-1252.00\tJira\t43232201\tContent workflow software\tY\tN\n"
	onetOccupations = "O*NET-SOC Code\tTitle\tDescription\n15-1252.00\tSoftware Developers\tThey develop.\n"
	onetSkills      = "O*NET-SOC Code\tTitle\tElement ID\tElement Name\tScale ID\tScale Name\tData Value\tNot Relevant\n" +
		"15-1252.00\tSoftware Developers\t2.B.3.e\tProgramming\tIM\tImportance\t4.5\t\n15-1252.00\tSoftware " +
		"Developers\t2.B.3.e\tProgramming\tLV\tLevel\t5.25\tN\n" +
		"15-1252.00\tSoftware Developers\t2.B.3.l\tRepairing\tIM\tImportance\t1.2\t\n15-1252.00\tSoftware " +
		"Developers\t2.B.3.l\tRepairing\tLV\tLevel\t0.5\tN\n"
)

func sheet(t testing.TB, tabs string) []byte {
	t.Helper()
	x := excelize.NewFile()
	for i, line := range strings.Split(strings.TrimSpace(tabs), "\n") {
		for j, cell := range strings.Split(line, "\t") {
			at, err := excelize.CoordinatesToCellName(j+1, i+1)
			if err != nil {
				t.Fatal(err)
			}
			if err := x.SetCellStr("Sheet1", at, cell); err != nil {
				t.Fatal(err)
			}
		}
	}
	var out bytes.Buffer
	if _, err := x.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestReadONET(t *testing.T) {
	for name, files := range map[string]fstest.MapFS{
		"text": {
			"Technology Skills.txt": {Data: []byte(onetTechnology)}, "Occupation Data.txt": {Data: []byte(onetOccupations)},
			"Skills.txt": {Data: []byte(onetSkills)}, "Read Me.txt": {Data: []byte("words\n")},
		},
		"xlsx": {
			"a.xlsx": {Data: sheet(t, onetTechnology)}, "b.xlsx": {Data: sheet(t, onetOccupations)},
			"c.xlsx": {Data: sheet(t, onetSkills)},
		},
	} {
		b := Builder{Workbook: workbook.Rows}
		if err := b.AddONET("30.0", files); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		tax := compiled(t, &b)
		if got := tax.Info(); got.Name != "O*NET" || got.Version != "30.0" || got.Licence != "CC BY 4.0" {
			t.Errorf("%s: %+v", name, got)
		}
		if s, _ := tax.Skill("onet:43232402"); s.Kind != "tool" || !cmp.Equal(s.Aliases, []string{"Python", "Pascal"}) {
			t.Errorf("%s: %+v", name, s)
		}
		var got []string
		for _, r := range tax.Requirements("15-1252") {
			got = append(got, r.SkillName)
		}
		if diff := cmp.Diff([]string{"Development environment software", "Programming", "Content workflow software"},
			got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if r := tax.Requirements("15-1252")[1]; r.Level != 4 || r.Confidence != 0.875 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestReadONETErrors(t *testing.T) {
	for want, files := range map[string]fstest.MapFS{
		"none of the files": {"x.txt": {Data: []byte("a\tb\n")}},
		"Skills.txt: row 2": {"Skills.txt": {Data: []byte("O*NET-SOC Code\tElement ID\tScale ID\tData " +
			"Value\n11-1011.00\t2.A\tIM\tmany\n")}},
		"x.xlsx": {"x.xlsx": {Data: []byte("no spreadsheet")}},
	} {
		b := Builder{Workbook: workbook.Rows}
		if err := b.AddONET("", files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := new(Builder).AddONET("", fstest.MapFS{"x.xlsx": {Data: sheet(t, onetSkills)}}); err == nil {
		t.Error("a workbook was read without a reader of workbooks")
	}
}

func TestSourcesMergeByName(t *testing.T) {
	var b Builder
	if err := b.AddESCO("1", escoFiles()); err != nil {
		t.Fatal(err)
	}
	if err := b.AddCSV(Info{Name: "own", Version: "2"},
		strings.NewReader("id,name,aliases\nown:1,Welding,fusing\nown:2,Brazing,\n")); err != nil {
		t.Fatal(err)
	}
	tax := compiled(t, &b)
	if got := tax.Info(); got.Name != "ESCO + own" || got.Version != "1 + 2" || got.Skills != 4 {
		t.Errorf("%+v", got)
	}
	if s, _ := tax.Skill("esco:1"); !cmp.Equal(s.Aliases, []string{"weld metal", "join metal", "fusing"}) {
		t.Errorf("%+v", s.Aliases)
	}
}

func TestReadCSVErrors(t *testing.T) {
	for raw, want := range map[string]string{
		"":                    "empty",
		"id\nx\n":             `"name" is missing`,
		"id,name\n,x\n":       "row 2",
		"id,name\nx,a\nx,b\n": "duplicate id",
	} {
		var b Builder
		if err := b.AddCSV(Info{}, strings.NewReader(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", raw, err)
		}
	}
	for raw, want := range map[string]string{
		"soc,name,skillId,level,confidence\n15-125,x,y,1,1\n":    "not a SOC code",
		"soc,name,skillId,level,confidence\n15-1252,x,y,6,1\n":   "level must be 1 to 5",
		"soc,name,skillId,level,confidence\n15-1252,x,y,1,NaN\n": "confidence must be 0 to 1",
	} {
		var b Builder
		if err := b.AddRequirements(strings.NewReader(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

// fuzzReader checks that a reader neither panics nor makes a builder that cannot be compiled and opened.
func fuzzReader(t *testing.T, add func(*Builder) error) {
	var b Builder
	if add(&b) != nil || len(b.skills) == 0 {
		return
	}
	raw, err := b.Compile()
	if err != nil {
		return
	}
	if _, err := Open(raw); err != nil {
		t.Fatal(err)
	}
}

func FuzzAddCSV(f *testing.F) {
	f.Add([]byte(smallCSV))
	f.Add([]byte("id,name,aliases\n1,\"a\nb\",x|y\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		fuzzReader(t, func(b *Builder) error { return b.AddCSV(smallInfo, bytes.NewReader(raw)) })
	})
}

func FuzzAddRequirements(f *testing.F) {
	f.Add([]byte(smallOccupations))
	f.Fuzz(func(t *testing.T, raw []byte) {
		fuzzReader(t, func(b *Builder) error {
			if err := b.AddCSV(smallInfo, strings.NewReader(smallCSV)); err != nil {
				return err
			}
			return b.AddRequirements(bytes.NewReader(raw))
		})
	})
}

func FuzzAddESCO(f *testing.F) {
	f.Add([]byte(escoSkills), []byte(escoBroader), []byte(escoNeeds))
	f.Fuzz(func(t *testing.T, skills, broader, needs []byte) {
		files := escoFiles()
		files["v1/skills_en.csv"].Data = skills
		files["v1/broaderRelationsSkillPillar.csv"].Data = broader
		files["v1/occupationSkillRelations.csv"].Data = needs
		fuzzReader(t, func(b *Builder) error { return b.AddESCO("", files) })
	})
}

func FuzzAddONET(f *testing.F) {
	f.Add([]byte(onetTechnology), []byte(onetSkills), []byte(crosswalkCSV))
	f.Fuzz(func(t *testing.T, technology, elements, walk []byte) {
		files := fstest.MapFS{"a.txt": {Data: technology}, "b.txt": {Data: elements}, "c.csv": {Data: walk}}
		fuzzReader(t, func(b *Builder) error { return b.AddONET("", files) })
	})
}

func TestReadRealONET(t *testing.T) {
	raw, err := os.ReadFile(devdata.Path(t, "onet", "onet-30-text.zip"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	var b Builder
	if err := b.AddONET("30", z); err != nil {
		t.Fatal(err)
	}
	tax := compiled(t, &b)
	if len(tax.Requirements("15-1252")) == 0 || tax.Info().Occupations < 900 {
		t.Errorf("%+v", tax.Info())
	}
}
