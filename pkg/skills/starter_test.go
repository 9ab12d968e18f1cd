package skills

import (
	"encoding/csv"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/catalog"
)

// starterRows reads a table of the starter vocabulary, its header line left out.
func starterRows(t *testing.T, name string, header string) [][]string {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if got := strings.Join(rows[0], ","); got != header {
		t.Fatalf("%s: the header is %q", name, got)
	}
	return rows[1:]
}

// starterSkills reads all files of skills, as they are written.
func starterSkills(t *testing.T) []Skill {
	t.Helper()
	files, err := fs.Glob(starterFiles, "starter/skills/*.csv")
	if err != nil || len(files) == 0 {
		t.Fatalf("files of skills: %v, %v", files, err)
	}
	var all []Skill
	for _, name := range files {
		var last string
		for _, row := range starterRows(t, name, "id,name,kind,field,aliases,description,broader") {
			if at := row[3] + "\x00" + row[0]; at <= last {
				t.Errorf("%s: %s is not in the order of field and id", name, row[0])
			} else {
				last = at
			}
			all = append(all, Skill{ID: row[0], Name: row[1], Kind: row[2], Field: row[3], Aliases: bars(row[4]), Description: row[5], Broader: bars(row[6])})
		}
	}
	return all
}

func TestStarterSkills(t *testing.T) {
	all := starterSkills(t)
	if len(all) < 2500 {
		t.Errorf("%d skills", len(all))
	}
	id, ascii := regexp.MustCompile(`^core:[a-z0-9]+(-[a-z0-9]+)*$`), regexp.MustCompile(`^[ -~]+$`)
	byID := map[string]Skill{}
	aliases := 0
	for _, s := range all {
		if _, twice := byID[s.ID]; twice || !id.MatchString(s.ID) {
			t.Errorf("the id %q is malformed or stands there twice", s.ID)
		}
		byID[s.ID] = s
		aliases += len(s.Aliases)
		if !slices.Contains([]string{"knowledge", "skill", "tool", "language", "transferable"}, s.Kind) {
			t.Errorf("%s: the kind %q", s.ID, s.Kind)
		}
		if words := len(strings.Fields(s.Description)); words < 4 || words > 20 || !strings.HasSuffix(s.Description, ".") {
			t.Errorf("%s: the description %q", s.ID, s.Description)
		}
		if s.Field == "" || !ascii.MatchString(s.Field+s.Name+s.Description+strings.Join(s.Aliases, "")) {
			t.Errorf("%s has no field, or is not in ASCII", s.ID)
		}
	}
	if average := float64(aliases) / float64(len(all)); average < 3 {
		t.Errorf("%.2f aliases a skill", average)
	}
	var depth func(id string, below int) int
	depth = func(id string, below int) int {
		deepest := 1
		for _, up := range byID[id].Broader {
			if _, known := byID[up]; !known || below > 4 {
				t.Errorf("%s: the broader skill %q is unknown, or too deep", id, up)
				return deepest
			}
			deepest = max(deepest, 1+depth(up, below+1))
		}
		return deepest
	}
	for _, s := range all {
		if len(s.Broader) > 2 || depth(s.ID, 1) > 4 {
			t.Errorf("%s has %d broader skills, and is %d deep", s.ID, len(s.Broader), depth(s.ID, 1))
		}
	}
}

// TestStarterLabelsAreDistinct compares labels as written, without punctuation and
// spaces, and by stems, as the matcher does.
func TestStarterLabelsAreDistinct(t *testing.T) {
	written := func(label string) string {
		return strings.Map(func(r rune) rune {
			if wordRune(r) || r == '+' || r == '#' {
				return r
			}
			return -1
		}, strings.ToLower(label))
	}
	stems := func(label string) string { return strings.Join(contentStems(label), " ") }
	for name, key := range map[string]func(string) string{"letters": written, "stems": stems} {
		owner := map[string]string{}
		for _, s := range starterSkills(t) {
			for _, label := range append([]string{s.Name}, s.Aliases...) {
				k := key(label)
				if k == "" {
					t.Errorf("%s: the label %q has no %s", s.ID, label, name)
				}
				if other, taken := owner[k]; taken && other != s.ID {
					t.Errorf("%s and %s have the same %s: %q", other, s.ID, name, label)
				}
				owner[k] = s.ID
			}
		}
	}
	for _, s := range starterSkills(t) {
		seen := map[string]bool{}
		for _, label := range append([]string{s.Name}, s.Aliases...) {
			if l := strings.ToLower(label); seen[l] {
				t.Errorf("%s has the label %q twice", s.ID, label)
			} else {
				seen[l] = true
			}
		}
	}
}

// everydayWords stand in syllabi of every field. None may be the whole of a label,
// nor have the stem of one: "act" would find acting, "determine" determinants.
const everydayWords = `ability absence academic access accommodation act action activity add address age agree answer apply appoint area art assess assign assist attend attention audience
	available base basis behavior benefit book bring build calendar call campus canvas care case center change chapter character choice choose class code collect college come commit complete concept
	conduct connect consider construct contact content contribute coordinate course cover create credit critic current cycle date day deadline decide define degree demonstrate department depend
	describe determine develop differ differentiate direct discover discuss draft draw due effect email emphasis encourage engage event exam exercise expect explain explore express extension extra
	face factor factors fail feel field figure final find fit focus follow foot form foundation free full gain goal good grade group guide hand help high home homework honor hour idea identify image impact
	include increase individual influence inform instructor integrate interest introduce issue item journal keep key lab late learn lecture lesson letter level light list local look loop main
	make manner material matter mean meet midterm mind module need new note number objective observe offer office online open opportunity option order orient outcome outside overview page
	paper parent part participate pass people perform period person place plan point policy post practice prepare present problem professor program progress project protect prove provide public
	purchase purpose question quiz random range reach read reading reason receive recognize record refer reflect relate report represent request require research resource respond response
	responsible rest result review role romantic room rubric rule sample schedule score section select semester sense separate serve set share show sign site size skill solution source speak
	special specific start statement step stop strong structure student study style subject submit success sugar support survey syllabus synthesize take talk task teach team term test text textbook theme
	think time title tool topic total track train transform turn type understand unit urban use value view visit vocal voice volume week weather web work workshop world write year`

func TestStarterLabelsAreNoEverydayWords(t *testing.T) {
	everyday := map[string]string{}
	for w := range strings.FieldsSeq(everydayWords) {
		everyday[fold(w)] = w
	}
	letters := []string{"C", "R"} // languages, which the matcher takes only as capitals
	for _, s := range starterSkills(t) {
		for _, label := range append([]string{s.Name}, s.Aliases...) {
			stems := contentStems(label)
			if len(stems) != 1 {
				continue
			}
			if word, common := everyday[stems[0]]; common {
				t.Errorf("%s: the label %q is found wherever %q stands", s.ID, label, word)
			}
			if len(stems[0]) == 1 && !slices.Contains(letters, label) {
				t.Errorf("%s: the label %q is a letter", s.ID, label)
			}
		}
	}
}

// instruction lists the CIP 2020 families in which colleges award credentials, those of
// leisure, high school diplomas and residencies left out.
const instruction = "01 03 04 05 09 10 11 12 13 14 15 16 19 22 23 24 25 26 27 28 29 30 31 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 54"

func TestStarterCoversWhatCollegesTeach(t *testing.T) {
	const least = 25
	families := strings.Fields(instruction)
	skills, want := map[string]int{}, map[string]bool{}
	for _, s := range starterSkills(t) {
		skills[s.Field]++
		want[s.Field] = true
	}
	got, taught := map[string]bool{}, map[string]int{}
	for _, row := range starterRows(t, "starter/fields.csv", "field,cip") {
		got[row[0]] = true
		for _, family := range bars(row[1]) {
			if !slices.Contains(families, family) {
				t.Errorf("%s: %q is no family of instruction", row[0], family)
			}
			taught[family] += skills[row[0]]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) < 40 {
		t.Errorf("%d fields (-skills +fields.csv): %s", len(got), diff)
	}
	for _, family := range families {
		if taught[family] < least {
			t.Errorf("family %s has %d skills", family, taught[family])
		}
	}
}

// TestStarterIDsStay holds the vocabulary to what stored records refer to: every id of an
// earlier version.
func TestStarterIDsStay(t *testing.T) {
	ids, err := os.ReadFile("testdata/starter-1.0.txt")
	if err != nil {
		t.Fatal(err)
	}
	tax, n := Starter(), 0
	for id := range strings.FieldsSeq(string(ids)) {
		if _, ok := tax.Skill(id); !ok {
			t.Errorf("%s is gone", id)
		}
		n++
	}
	if n != 1765 {
		t.Errorf("%d ids", n)
	}
}

func TestStarterOccupations(t *testing.T) {
	rows := starterRows(t, "starter/occupations.csv", "soc,name,skillId,level,confidence")
	titles, skills := map[string]string{}, map[string]int{}
	for i, row := range rows {
		soc, title := row[0], row[1]
		if i > 0 && rows[i-1][0] > soc {
			t.Errorf("%s is not in the order of codes", soc)
		}
		if known, ok := titles[soc]; ok && known != title {
			t.Errorf("%s is called %q and %q", soc, known, title)
		}
		titles[soc] = title
		skills[soc]++
	}
	for soc, n := range skills {
		if n < 8 || n > 20 {
			t.Errorf("%s asks for %d skills", soc, n)
		}
		if got := len(Starter().Requirements(soc)); got != n {
			t.Errorf("%s: %d rows, %d requirements", soc, n, got)
		}
	}
}

// TestStarterFindsWhatCoursesName tries one sentence of each of many fields.
func TestStarterFindsWhatCoursesName(t *testing.T) {
	e := NewExtractor(Starter(), opened(t))
	for _, c := range []struct{ course, outcome, skill string }{
		{"Maternal-Child Nursing", "Interpret electronic fetal monitoring during labor.", "core:fetal-monitoring"},
		{"Dental Assisting", "Mix and pour dental materials.", "core:dental-materials"},
		{"Culinary Techniques", "Demonstrate knife skills and mise en place.", "core:knife-skills"},
		{"Financial Accounting", "Prepare journal entries and a trial balance.", "core:trial-balance"},
		{"English Composition", "Revise and edit essays with a clear thesis statement.", "core:essay-writing"},
		{"Child Development", "Record anecdotal records of young children.", "core:child-observation"},
		{"Criminal Law", "Explain mens rea and actus reus.", "core:criminal-law-defenses"},
		{"Gas Metal Arc Welding", "Make fillet and groove welds on steel plate.", "core:weld-positions-and-joints"},
		{"Introduction to Old Testament", "Interpret passages of the Pentateuch.", "core:hebrew-bible"},
		{"Supply Chain Management", "Compute safety stock.", "core:safety-stock-and-reorder-points"},
		{"Introduction to Sociology", "Compare functionalism, conflict theory and symbolic interactionism.", "core:classical-sociological-theory"},
		{"Fashion Design", "Drape a bodice using flat pattern drafting.", "core:flat-pattern-drafting"},
		{"Military Science", "Apply small unit tactics in the field.", "core:small-unit-tactics"},
		{"Women's Studies", "Discuss intersectionality theory.", "core:intersectionality-theory"},
	} {
		r := extracted(t, e, course(c.course, "", "Course Outcomes", c.outcome))
		if !slices.ContainsFunc(r.Skills, func(s catalog.SkillRef) bool { return s.SkillID == c.skill }) {
			t.Errorf("%q does not lead to %s: %v", c.outcome, c.skill, r.Skills)
		}
	}
}
