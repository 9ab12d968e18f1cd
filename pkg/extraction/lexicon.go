package extraction

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"skillscurriculum/pkg/skills"
)

// lexiconFiles list, for skills, other words for them and the subjects under which
// courses teach them: lexicon/esco by the labels of ESCO, lexicon/core by the ids of the
// built-in vocabulary. pkg/extraction/lexicon/README.md tells the form. They are the project's own work.
//
//go:embed lexicon
var lexiconFiles embed.FS

// taught is a line of the lexicon.
type taught struct {
	skill            string // id, name or alias
	synonyms, topics []string
	says, parts      []string        // built-in skills, by id, that say the skill, and that are part of it
	whole            map[string]bool // whether an entry counts only where it stands whole
}

// builtin is how the id of a built-in skill begins, in the lexicon as elsewhere.
const builtin = "core:"

// readLexicon returns the lines of all files, in the order of their names.
func readLexicon(files fs.FS) ([]taught, error) {
	names, err := fs.Glob(files, "lexicon/*/*.txt")
	if err != nil {
		return nil, err
	}
	var all []taught
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			skill, words, ok := strings.Cut(line, ": ")
			if !ok {
				return nil, fmt.Errorf("%s:%d: no colon after the skill", name, n)
			}
			t := taught{skill: skill, whole: map[string]bool{}}
			for _, w := range skills.Bars(words) {
				word, synonym := strings.CutPrefix(w, "=")
				t.whole[word] = strings.HasPrefix(name, "lexicon/core/")
				switch refers := strings.HasPrefix(word, builtin); {
				case refers && synonym:
					t.says = append(t.says, word)
				case refers:
					t.parts = append(t.parts, word)
				case synonym:
					t.synonyms = append(t.synonyms, word)
				default:
					t.topics = append(t.topics, word)
				}
			}
			all = append(all, t)
		}
	}
	return all, nil
}

// taughtBy returns the lines for each skill. A line names a skill by its id or name, or by one
// of its aliases if no skill has that name. A line whose skill the taxonomy lacks has no
// effect, nor has a built-in skill that is in the taxonomy itself.
func taughtBy(c skills.Contents, lines []taught) map[int]taught {
	byName, byAlias := map[string]int{}, map[string]int{}
	for i, s := range c.Skills {
		byName[strings.ToLower(s.Name)] = i
		for _, a := range s.Aliases {
			if _, taken := byAlias[strings.ToLower(a)]; !taken {
				byAlias[strings.ToLower(a)] = i
			}
		}
	}
	for i, s := range c.Skills {
		byName[s.ID] = i
	}
	own := func(id string) bool { _, own := byName[id]; return own }
	all := map[int]taught{}
	for _, line := range lines {
		i, known := byName[strings.ToLower(line.skill)]
		if !known {
			i, known = byAlias[strings.ToLower(line.skill)]
		}
		if known {
			t := all[i]
			if t.whole == nil {
				t.whole = map[string]bool{}
			}
			maps.Copy(t.whole, line.whole)
			t.synonyms, t.topics = append(t.synonyms, line.synonyms...), append(t.topics, line.topics...)
			t.says = append(t.says, slices.DeleteFunc(line.says, own)...)
			t.parts = append(t.parts, slices.DeleteFunc(line.parts, own)...)
			all[i] = t
		}
	}
	return all
}

// builtinLabels returns the names and aliases of built-in skills.
func builtinLabels(ids []string) (labels []string) {
	for _, id := range ids {
		s, _ := skills.Starter().Skill(id)
		labels = append(append(labels, s.Name), s.Aliases...)
	}
	return labels
}
