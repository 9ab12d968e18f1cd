package extraction

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/skills"
)

const (
	mostEntries = 60 // of a line, beside built-in skills
	mostSkills  = 6  // that one entry may stand under
)

// Entries that consist of these words alone say how a course is run, not what it teaches.
var (
	ofRunning = set("exam exams examination examinations attendance plagiarism syllabus homework quiz quizzes midterm " +
		"midterms")
	besideThose = set("course class final late weekly policy policies assignment assignments submission grade grades " +
		"grading test tests and")
)

func runsTheCourse(entry string) bool {
	if strings.EqualFold(entry, "office hours") {
		return true
	}
	running := false
	for w := range strings.FieldsSeq(strings.ToLower(entry)) {
		if !ofRunning(w) && !besideThose(w) {
			return false
		}
		running = running || ofRunning(w)
	}
	return running
}

// checkLexicon returns what is wrong with the form of the files, and under which skills of its list every entry stands.
func checkLexicon(files fs.FS) (wrong []string, under map[string][]string, err error) {
	core := map[string]bool{}
	for _, s := range starterSkills() {
		core[s.ID] = true
	}
	names, err := fs.Glob(files, "lexicon/*/*")
	if err != nil {
		return nil, nil, err
	}
	under = map[string][]string{}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, nil, err
		}
		list := strings.Split(name, "/")[1]
		once := map[string]bool{}
		for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
			report := func(format string, args ...any) {
				wrong = append(wrong, fmt.Sprintf("%s:%d: ", name, i+1)+fmt.Sprintf(format, args...))
			}
			if line == "" || strings.HasPrefix(line, "# ") {
				continue
			}
			skill, entries, ok := strings.Cut(line, ": ")
			if !ok || skill == "" || skill != strings.TrimSpace(skill) {
				report("no skill before a colon and a space")
				continue
			}
			if once[strings.ToLower(skill)] {
				report("%s stands in the file twice", skill)
			}
			once[strings.ToLower(skill)] = true
			if list == "core" && !core[skill] || list == "esco" && strings.HasPrefix(skill, "core:") {
				report("%s is no skill of the list %s", skill, list)
			}
			in, words := map[string]bool{}, 0
			for entry := range strings.SplitSeq(entries, " | ") {
				word := strings.TrimPrefix(entry, "=")
				key := strings.ToLower(word)
				refers := list == "esco" && strings.HasPrefix(word, builtin)
				switch {
				case refers && !core[word]:
					report("%s is no built-in skill", word)
				case word == "" || word != strings.Join(strings.Fields(word), " ") || strings.ContainsAny(word, "|="):
					report("%q is not trimmed, or empty", entry)
				case in[key]:
					report("%q stands in the line twice", word)
				case runsTheCourse(word) && skill+": "+word != ofOld:
					report("%q is about the running of a course", word)
				}
				in[key] = true
				if !refers {
					words++
				}
				if at := list + ": " + key; key != "" && !refers && !slices.Contains(under[at], skill) {
					under[at] = append(under[at], skill)
				}
			}
			if words > mostEntries {
				report("%d entries, more than %d", words, mostEntries)
			}
		}
	}
	for _, entry := range slices.Sorted(maps.Keys(under)) {
		if n := len(under[entry]); n > mostSkills {
			wrong = append(wrong, fmt.Sprintf("%q stands under %d skills: %s", entry, n, strings.Join(under[entry], "; ")))
		}
	}
	return wrong, under, nil
}

// ofOld is older than the rule that it breaks; its weight is part of the fitted figures.
const ofOld = "ethics: plagiarism"

func TestLexiconHasItsForm(t *testing.T) {
	wrong, under, err := checkLexicon(lexiconFiles)
	if err != nil {
		t.Fatal(err)
	}
	if len(wrong) > 0 {
		t.Error(strings.Join(wrong, "\n"))
	}
	if len(under) < 4000 {
		t.Errorf("%d entries", len(under))
	}
	for _, entry := range slices.Sorted(maps.Keys(under)) {
		if len(under[entry]) > 2 {
			t.Logf("%q stands under %s", entry, strings.Join(under[entry], "; "))
		}
	}
}

func TestCheckOfTheLexicon(t *testing.T) {
	many := ""
	for i := range mostSkills + 1 {
		many += fmt.Sprintf("skill %d: =everywhere\n", i)
	}
	for line, want := range map[string]string{
		"# a comment\n\nwelding: =metal joining | weld symbols": "",
		"welding":                            "no skill",
		"welding : a":                        "no skill",
		"welding:metal joining":              "no skill",
		"welding: a\nWelding: b":             "twice",
		"welding: a |  b":                    "trimmed",
		"welding: a | ":                      "trimmed",
		"welding: =":                         "trimmed",
		"welding: a|b":                       "trimmed",
		"welding: a | =A":                    "twice",
		"welding: office hours":              "running",
		"welding: weld symbols | final exam": "running",
		"welding: exam of welds":             "",
		"welding: =core:welding | core:sql":  "",
		"welding: =core:no-such-skill":       "no built-in skill",
		"core:welding: a":                    "no skill of the list esco",
		many:                                 "under 7 skills",
		"welding: " + strings.Repeat("a ", 61) + "| b":     "",
		"welding: " + strings.Join(entriesUpTo(61), " | "): "61 entries",
		"# ethics\nethics: =academic integrity | homework": "running",
	} {
		wrong, _, err := checkLexicon(fstest.MapFS{"lexicon/esco/x.txt": {Data: []byte(line + "\n")}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(wrong, "\n"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	wrong, _, err := checkLexicon(fstest.MapFS{"lexicon/core/x.txt": {Data: []byte("core:sql: " +
		"=queries\ncore:no-such-skill: a\nSQL: a\n")}})
	if err != nil || len(wrong) != 2 {
		t.Errorf("%q, %v", wrong, err)
	}
}

func entriesUpTo(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprint("entry ", i))
	}
	return list
}

func TestLexiconNamesSkillsByIDNameOrAlias(t *testing.T) {
	lines, err := readLexicon(fstest.MapFS{
		"lexicon/core/a.txt": {Data: []byte("# computing\n\ncore:sql: =queries | joins\nno such skill: =nothing\n")},
		"lexicon/esco/b.txt": {Data: []byte("Databases: tables\nstructured query language: =selects\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := taughtBy(skills.Contents{Skills: []*skills.Entry{
		{Skill: skills.Skill{ID: "core:databases", Name: "databases"}},
		{Skill: skills.Skill{ID: "core:sql", Name: "SQL", Aliases: []string{"structured query language"}}},
	}}, lines)
	want := map[int]taught{
		0: {topics: []string{"tables"}, whole: map[string]bool{"tables": false}},
		1: {synonyms: []string{"queries", "selects"}, topics: []string{"joins"},
			whole: map[string]bool{"queries": true, "joins": true, "selects": false}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(taught{})); diff != "" {
		t.Error(diff)
	}
	if _, err := readLexicon(fstest.MapFS{"lexicon/esco/a.txt": {Data: []byte("# head\nno colon\n")}}); err == nil ||
		!strings.Contains(err.Error(), "a.txt:2") {
		t.Error(err)
	}
}
