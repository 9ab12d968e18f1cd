// Command marks measures how far the computed marks of curriculum maps agree with published ones. It reads maps, one
// JSON file each, finds the skills of courses and outcomes in their texts as the service does, chooses the thresholds
// with every second map and reports the others, beside two baselines: the words that an outcome and a course have in
// common, and no marks at all. maps.py makes the maps from a public repository; their texts are not kept here.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/extraction/wordvectors"
)

func main() {
	data := flag.String("data", filepath.Join("build", "maps"), "folder of the published maps")
	flag.Parse()
	if err := run(*data); err != nil {
		fmt.Fprintln(os.Stderr, "marks:", err)
		os.Exit(1)
	}
}

// published is a published map.
type published struct {
	Name     string
	Outcomes []struct{ Code, Statement string }
	Courses  []struct {
		Code, Name, Description string
		Goals                   []string
		Marks                   map[string]int // by outcome: 1 introduced, 2 reinforced, 3 mastered
	}
	alignment.Curriculum
}

// cells compares the marks of maps, in the order NONE, INTRODUCED, REINFORCED, MASTERED.
type cells [4][4]int // published, computed

// way compares a map's marks with those that it finds with two thresholds.
type way func(*published, catalog.MapSettings) cells

var marks = []catalog.Mark{catalog.NoMark, catalog.Introduced, catalog.Reinforced, catalog.Mastered}

func run(data string) error {
	paths, err := filepath.Glob(filepath.Join(data, "*.json"))
	if err != nil {
		return err
	}
	if len(paths) < 2 {
		return fmt.Errorf("%s has %d maps", data, len(paths))
	}
	var halves [2][]*published
	for i, path := range paths { // in the order of their names
		m, err := read(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		halves[i%2] = append(halves[i%2], m)
	}
	best, words := choose(halves[0], computed), choose(halves[0], overlap)
	ways := []struct {
		name     string
		compare  way
		settings catalog.MapSettings
	}{
		{"defaults", computed, catalog.DefaultMapSettings}, {"chosen", computed, best}, {"words", overlap, words},
		{"always NONE", overlap, catalog.MapSettings{Touch: 2, Cover: 2}},
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for i, half := range halves {
		fmt.Fprintf(w, "%s\tmarks\ttouch\tcover\tcells\texact\twithin one\tkappa\tmarked: found\tright\n",
			[]string{"Chosen with", "Reported"}[i])
		for _, m := range half {
			for _, way := range ways {
				fmt.Fprintf(w, "%s\t%s\t%.2f\t%.2f\t%s\n", m.Name, way.name, way.settings.Touch, way.settings.Cover,
					way.compare(m, way.settings))
			}
		}
		for _, way := range ways {
			fmt.Fprintf(w, "mean\t%s\t\t\t\t\t\t%.2f\n", way.name, mean(half, way.compare, way.settings))
		}
	}
	return w.Flush()
}

// read reads a map and extracts its skills.
func read(path string) (*published, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := &published{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, err
	}
	ctx, t := context.Background(), extraction.Starter()
	e := extraction.NewExtractor(t, wordvectors.Table())
	outcome := func(id, statement string) (catalog.Outcome, error) {
		r, err := e.Statement(ctx, statement)
		return catalog.Outcome{ID: id, Statement: statement, Level: r.Level, Skills: r.Skills}, err
	}
	m.Curriculum = alignment.Curriculum{Program: &catalog.Program{}, Outcomes: &catalog.OutcomeList{},
		Basis: alignment.BothBasis, Related: t.Related}
	for _, o := range m.Outcomes {
		read, err := outcome(o.Code, o.Statement)
		if err != nil {
			return nil, err
		}
		m.Curriculum.Outcomes.Outcomes = append(m.Curriculum.Outcomes.Outcomes, read)
	}
	for _, c := range m.Courses {
		r, err := e.Extract(ctx, catalog.SyllabusText{Text: c.Name + "\n\n" + c.Description})
		if err != nil {
			return nil, err
		}
		own := &catalog.OutcomeList{}
		for i, goal := range c.Goals {
			read, err := outcome(fmt.Sprintf("%s %d", c.Code, i), goal)
			if err != nil {
				return nil, err
			}
			own.Outcomes = append(own.Outcomes, read)
		}
		profile := catalog.CourseProfile{CourseID: c.Code, CourseDefaultSectionID: c.Code}
		m.Curriculum.Courses = append(m.Curriculum.Courses, alignment.CurriculumCourse{Outcomes: own,
			ReportCourse: alignment.ReportCourse{Profile: profile, Sections: []catalog.SectionProfile{
				{CourseProfile: profile, SectionID: c.Code, SectionSkills: r.Skills},
			}}})
	}
	return m, nil
}

// choose returns the thresholds with the highest mean kappa over the maps.
func choose(maps []*published, compare way) (best catalog.MapSettings) {
	most := -1.0
	for touch := 1; touch <= 20; touch++ {
		for cover := touch; cover <= 20; cover++ {
			s := catalog.MapSettings{Touch: float64(touch) / 20, Cover: float64(cover) / 20}
			if k := mean(maps, compare, s); k > most {
				best, most = s, k
			}
		}
	}
	return best
}

func mean(maps []*published, compare way, s catalog.MapSettings) (kappa float64) {
	for _, m := range maps {
		kappa += compare(m, s).kappa() / float64(len(maps))
	}
	return kappa
}

// computed compares the marks that a map computes.
func computed(m *published, s catalog.MapSettings) (all cells) {
	c := m.Curriculum
	c.Program = &catalog.Program{MapSettings: &s}
	found := map[[2]string]int{}
	for _, cell := range c.Map().Cells {
		found[[2]string{cell.CourseID, cell.OutcomeID}] = slices.Index(marks, cell.Mark)
	}
	for _, course := range m.Courses {
		for _, o := range m.Outcomes {
			all[course.Marks[o.Code]][found[[2]string{course.Code, o.Code}]]++
		}
	}
	return all
}

var word = regexp.MustCompile(`\pL{4,}`)

func wordsOf(text string) map[string]bool {
	words := map[string]bool{}
	for _, w := range word.FindAllString(strings.ToLower(text), -1) {
		words[w] = true
	}
	return words
}

// overlap compares marks by the share of a statement's words of four letters or more that the course's text has.
func overlap(m *published, s catalog.MapSettings) (all cells) {
	for _, o := range m.Outcomes {
		wanted, earlier := wordsOf(o.Statement), false
		for _, course := range m.Courses {
			text, n := wordsOf(course.Name+" "+course.Description+" "+strings.Join(course.Goals, " ")), 0
			for w := range wanted {
				if text[w] {
					n++
				}
			}
			mark := 0
			switch share := float64(n) / float64(max(len(wanted), 1)); {
			case share < s.Touch:
			case share >= s.Cover:
				mark = 3
			case earlier:
				mark = 2
			default:
				mark = 1
			}
			earlier = earlier || mark > 0
			all[course.Marks[o.Code]][mark]++
		}
	}
	return all
}

// kappa returns the agreement beyond chance, in which a distance of two marks counts twice that of one.
func (c cells) kappa() float64 {
	var n float64
	var rows, columns [4]float64
	for i, row := range c {
		for j, count := range row {
			rows[i] += float64(count)
			columns[j] += float64(count)
			n += float64(count)
		}
	}
	var seen, expected float64
	for i, row := range c {
		for j, count := range row {
			distance := float64(max(i-j, j-i))
			seen += distance * float64(count)
			expected += distance * rows[i] * columns[j] / n
		}
	}
	if expected == 0 {
		return 0
	}
	return 1 - seen/expected
}

func (c cells) String() string {
	var n, exact, near, published, given, both int
	for i, row := range c {
		for j, count := range row {
			n += count
			if i == j {
				exact += count
			}
			if max(i-j, j-i) <= 1 {
				near += count
			}
			if i > 0 {
				published += count
			}
			if j > 0 {
				given += count
			}
			if i > 0 && j > 0 {
				both += count
			}
		}
	}
	share := func(a, b int) float64 { return float64(a) / float64(cmp.Or(b, 1)) }
	return fmt.Sprintf("%d\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f", n, share(exact, n), share(near, n), c.kappa(),
		share(both, published), share(both, given))
}
