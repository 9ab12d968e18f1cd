package skills

import (
	_ "embed"
	"strings"
)

// topicsText lists, for names of skills, other words for them and the subjects
// under which courses teach them; its head tells the form. It is the project's
// own work.
//
//go:embed topics.txt
var topicsText string

// taught is a line of the list, for one skill.
type taught struct{ synonyms, topics []string }

// topics returns, for each skill, what the list says of it. A line names a skill by
// its name, or by one of its aliases if no skill has that name.
func (b *Builder) topics(ids []string) map[int]taught {
	byName, byAlias := map[string]int{}, map[string]int{}
	for i, id := range ids {
		e := b.skills[id]
		byName[strings.ToLower(e.Name)] = i
		for _, a := range e.Aliases {
			if _, taken := byAlias[strings.ToLower(a)]; !taken {
				byAlias[strings.ToLower(a)] = i
			}
		}
	}
	lines := map[int]taught{}
	for line := range strings.Lines(topicsText) {
		name, subjects, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		i, known := byName[strings.ToLower(name)]
		if !known {
			i, known = byAlias[strings.ToLower(name)]
		}
		if !known {
			continue
		}
		t := lines[i]
		for _, s := range bars(subjects) {
			if synonym, ok := strings.CutPrefix(s, "="); ok {
				t.synonyms = append(t.synonyms, synonym)
			} else {
				t.topics = append(t.topics, s)
			}
		}
		lines[i] = t
	}
	return lines
}
