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
			all = append(all, Skill{
				ID: row[0], Name: row[1], Kind: row[2], Field: row[3], Aliases: Bars(row[4]), Description: row[5],
				Broader: Bars(row[6]),
			})
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
	if average := float64(aliases) / float64(len(all)); average < 2.25 {
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
// spaces.
func TestStarterLabelsAreDistinct(t *testing.T) {
	owner := map[string]string{}
	for _, s := range starterSkills(t) {
		seen := map[string]bool{}
		for _, label := range append([]string{s.Name}, s.Aliases...) {
			letters := strings.Map(func(r rune) rune {
				if WordRune(r) || r == '+' || r == '#' {
					return r
				}
				return -1
			}, strings.ToLower(label))
			if letters == "" {
				t.Errorf("%s: the label %q has no letters", s.ID, label)
			}
			if other, taken := owner[letters]; taken && other != s.ID {
				t.Errorf("%s and %s have the same letters: %q", other, s.ID, label)
			}
			owner[letters] = s.ID
			if l := strings.ToLower(label); seen[l] {
				t.Errorf("%s has the label %q twice", s.ID, label)
			} else {
				seen[l] = true
			}
		}
	}
}

// instruction lists the CIP 2020 families in which colleges award credentials, those of
// leisure, high school diplomas and residencies left out.
const instruction = "01 03 04 05 09 10 11 12 13 14 15 16 19 22 23 24 25 26 27 28 29 30 31 38 39 40 41 42 43 44 45 46 " +
	"47 48 49 50 51 52 54"

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
		for _, family := range Bars(row[1]) {
			if !slices.Contains(families, family) {
				t.Errorf("%s: %q is not a family of instruction", row[0], family)
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
