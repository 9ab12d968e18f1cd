// Command naming measures whether sentences that plainly name a skill give it: each name of a
// vocabulary, and each alias of a single skill, in patterns of sentences that courses use.
// It prints, for each pattern, the share that is given and the number of other skills given with it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/extraction/wordvectors"
	"skillscurriculum/pkg/skills"
)

func main() {
	file := flag.String("taxonomy", "", "compiled taxonomy; the default is the built-in vocabulary")
	every := flag.Int("every", 1, "use every nth label")
	flag.Parse()
	if err := run(*file, *every); err != nil {
		fmt.Fprintln(os.Stderr, "naming:", err)
		os.Exit(1)
	}
}

// patterns have one % for each label.
var patterns = []struct{ name, text string }{
	{"outcome", "Students will be able to apply % in practice."},
	{"topic list", "Topics: %, %, %."},
	{"using X", "Solve practical problems using %."},
	{"in X", "Students gain hands-on experience in %."},
	{"X (Y)", "Complete assignments in % (%) that build on each other."},
	{"tools in a list", "Students will use %, %, and %."},
	{"introduction", "Introduction to %"},
	{"title", "Advanced %\n\nA second course for students who have completed the first."},
	{"learn", "Students will learn %."},
	{"covers", "The course covers %."},
}

// label is a name or alias with its skill.
type label struct{ skill, text string }

func run(file string, every int) error {
	taxonomy, err := boot.Config{TaxonomyFile: file}.Taxonomy(extraction.Starter)
	if err != nil {
		return err
	}
	labels := labelsOf(taxonomy)
	e := extraction.NewExtractor(taxonomy, wordvectors.Table())
	w := tabwriter.NewWriter(os.Stdout, 2, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s: %d labels, every %d\n", taxonomy.Info().Name, len(labels), every)
	fmt.Fprintln(w, "pattern\tgiven\tof\tother skills per sentence")
	var all count
	for _, p := range patterns {
		var c count
		blanks := strings.Count(p.text, "%")
		for i := 0; i+blanks <= len(labels); i += every * blanks {
			text, wanted := p.text, labels[i:i+blanks]
			for _, l := range wanted {
				text = strings.Replace(text, "%", l.text, 1)
			}
			result, err := e.Extract(context.Background(), catalog.SyllabusText{Text: text})
			if err != nil {
				return err
			}
			c.add(wanted, result.Skills)
		}
		c.print(w, p.name)
		all.sum(c)
	}
	all.print(w, "all")
	return w.Flush()
}

// count is what sentences gave.
type count struct{ sentences, wanted, given, besides int }

func (c *count) add(wanted []label, found []catalog.SkillRef) {
	c.sentences++
	for _, l := range wanted {
		c.wanted++
		if slices.ContainsFunc(found, func(s catalog.SkillRef) bool { return s.SkillID == l.skill }) {
			c.given++
		}
	}
	for _, s := range found {
		if !slices.ContainsFunc(wanted, func(l label) bool { return l.skill == s.SkillID }) {
			c.besides++
		}
	}
}

func (c *count) sum(o count) {
	c.sentences, c.wanted, c.given = c.sentences+o.sentences, c.wanted+o.wanted, c.given+o.given
	c.besides += o.besides
}

func (c *count) print(w *tabwriter.Writer, name string) {
	fmt.Fprintf(w, "%s\t%.4f\t%d\t%.2f\n", name, float64(c.given)/float64(max(1, c.wanted)), c.wanted,
		float64(c.besides)/float64(max(1, c.sentences)))
}

// labelsOf returns the names and aliases of a taxonomy that belong to one skill only.
func labelsOf(t *skills.Taxonomy) []label {
	all, _ := t.Search("", t.Info().Skills, 0)
	owners := map[string]string{}
	each := func(yield func(label)) {
		for _, s := range all {
			name, _, _ := strings.Cut(s.Name, " (")
			yield(label{s.ID, name})
			for _, a := range s.Aliases {
				yield(label{s.ID, a})
			}
		}
	}
	const several = "several"
	each(func(l label) {
		key := extraction.LabelKey(l.text)
		if owner, taken := owners[key]; taken && owner != l.skill {
			owners[key] = several
		} else {
			owners[key] = l.skill
		}
	})
	var labels []label
	seen := map[string]bool{}
	each(func(l label) {
		key := extraction.LabelKey(l.text)
		if key != "" && owners[key] != several && !seen[key] {
			seen[key] = true
			labels = append(labels, l)
		}
	})
	return labels
}
