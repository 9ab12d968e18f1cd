package skills

import (
	_ "embed"
	"strings"
)

// topicsCSV lists, for names of skills, the subjects under which courses teach
// them. It is the project's own work; a line whose skill is not in the loaded
// taxonomy has no effect.
//
//go:embed topics.csv
var topicsCSV string

// topics gives, for each skill, the subjects that lead to it. A line of the list
// names a skill by its name or by one of its aliases if no skill has that name.
func (b *Builder) topics(ids []string) map[int][]string {
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
	taught := map[int][]string{}
	for line := range strings.Lines(topicsCSV) {
		name, subjects, ok := strings.Cut(strings.TrimSpace(line), ",")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		i, known := byName[strings.ToLower(name)]
		if !known {
			i, known = byAlias[strings.ToLower(name)]
		}
		if known {
			taught[i] = append(taught[i], bars(subjects)...)
		}
	}
	return taught
}
