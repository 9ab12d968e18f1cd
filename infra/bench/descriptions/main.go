// Command descriptions measures what the extractor finds in catalog descriptions of one to four sentences. It reads 60
// of them, drawn from the courses of the development data, and prints how many of the skills found now two readers
// judged right, and how many of the things that they had written down as the most important are among them.
package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"skillscurriculum/infra/training/gold"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/extraction/wordvectors"
	"skillscurriculum/pkg/skills"
)

func main() {
	data := flag.String("data", "../shared/data", "folder of the development data")
	files := flag.String("taxonomies", "", "compiled taxonomies beside the built-in vocabulary, comma-separated")
	flag.Parse()
	if err := run(*data, *files); err != nil {
		fmt.Fprintln(os.Stderr, "descriptions:", err)
		os.Exit(1)
	}
}

// course is a course as a catalog has it, with the skills found in each vocabulary.
type course struct {
	doc, name, text string
	skillsGiven     [][]catalog.SkillRef
}

func run(data, files string) error {
	courses, err := draw(data)
	if err != nil {
		return err
	}
	vocabularies := []*skills.Taxonomy{extraction.Starter()}
	for file := range strings.FieldsFuncSeq(files, func(r rune) bool { return r == ',' }) {
		t, err := boot.Config{TaxonomyFile: file}.Taxonomy(extraction.Starter)
		if err != nil {
			return err
		}
		vocabularies = append(vocabularies, t)
	}
	for _, t := range vocabularies {
		e := extraction.NewExtractor(t, wordvectors.Table())
		for i := range courses {
			c := &courses[i]
			r, err := e.Extract(context.Background(), catalog.SyllabusText{Text: c.name + "\n\n" + c.text})
			if err != nil {
				return err
			}
			c.skillsGiven = append(c.skillsGiven, r.Skills)
		}
	}
	return figures(courses, vocabularies)
}

// list has the courses that were drawn: those with the lowest SHA-256 of the document's name among the courses of the
// development data with a description; the first four sentences of it at most, from byte to byte.
//
//go:embed courses.csv
var list []byte

var (
	link  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	marks = regexp.MustCompile("[*_`]+")
)

// draw returns the courses of the list with their descriptions.
func draw(data string) ([]course, error) {
	rows, err := csv.NewReader(bytes.NewReader(list)).ReadAll()
	if err != nil {
		return nil, err
	}
	var all []course
	for _, row := range rows[1:] {
		raw, err := os.ReadFile(filepath.Join(data, "syllabi", row[1]))
		if err != nil {
			return nil, err
		}
		start, _ := strconv.Atoi(row[3])
		end, _ := strconv.Atoi(row[4])
		if start >= end || end > len(raw) {
			return nil, fmt.Errorf("%s has no text from %s to %s", row[1], row[3], row[4])
		}
		text := marks.ReplaceAllString(link.ReplaceAllString(string(raw[start:end]), "$1"), "")
		all = append(all, course{doc: row[0], name: row[2], text: strings.Join(strings.Fields(text), " ")})
	}
	return all, nil
}

// judgements of readers: doc, kind, text, verdict. A thing ("important") has the names of skills that say it, with bars
// between them; a skill ("given") is right or wrong.
//
//go:embed readers
var judgements embed.FS

// figures prints each reader's judgment of the skills that are found now, the mean, and how often the readers agree.
func figures(courses []course, vocabularies []*skills.Taxonomy) error {
	readers, err := judgements.ReadDir("readers")
	if err != nil {
		return err
	}
	var all [][][]string
	for _, reader := range readers {
		raw, err := judgements.ReadFile("readers/" + reader.Name())
		if err != nil {
			return err
		}
		rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
		if err != nil {
			return fmt.Errorf("%s: %w", reader.Name(), err)
		}
		all = append(all, rows[1:])
	}
	for i, t := range vocabularies {
		fmt.Println(t.Info().Name)
		var right, found float64
		for r, rows := range all {
			counts := judge(courses, i, rows)
			fmt.Printf("    %s: %s\n", strings.TrimSuffix(readers[r].Name(), ".csv"), counts)
			right += float64(counts.right) / float64(max(1, counts.judged)) / float64(len(all))
			found += float64(counts.found) / float64(max(1, counts.things)) / float64(len(all))
		}
		fmt.Printf("    mean: %.2f right, %.2f important things found\n", right, found)
	}
	fmt.Printf("readers, skills of any vocabulary: %s\n", agreement(all[0], all[1]))
	return nil
}

// agreement counts how often two readers judge a skill alike.
func agreement(first, second [][]string) *gold.Agreement {
	verdicts, alike := map[[2]string]string{}, &gold.Agreement{}
	for _, row := range first {
		if row[1] == "given" {
			verdicts[[2]string{row[0], row[2]}] = row[3]
		}
	}
	for _, row := range second {
		if v := verdicts[[2]string{row[0], row[2]}]; v != "" && row[1] == "given" {
			alike.Add(v == "right", row[3] == "right")
		}
	}
	return alike
}

// tally counts the judgments of a reader on one vocabulary.
type tally struct {
	right, judged, unjudged, things, found int
	confidence                             float64 // sum over the judged skills
}

func (t tally) String() string {
	judged := float64(max(1, t.judged))
	return fmt.Sprintf("%d of %d skills right (%.2f, mean confidence %.2f), %d not judged; "+
		"%d of %d important things found (%.2f)",
		t.right, t.judged, float64(t.right)/judged, t.confidence/judged, t.unjudged, t.found, t.things,
		float64(t.found)/float64(max(1, t.things)))
}

// judge counts the skills of the vocabulary by the verdicts of a reader.
func judge(courses []course, vocabulary int, rows [][]string) (t tally) {
	for _, c := range courses {
		names := map[string]float64{}
		for _, s := range c.skillsGiven[vocabulary] {
			names[s.SkillName] = s.Confidence
		}
		judged := 0
		for _, row := range rows {
			switch {
			case row[0] != c.doc:
			case row[1] == "important":
				t.things++
				if slices.ContainsFunc(strings.Split(row[3], "|"), func(n string) bool { return names[n] > 0 }) {
					t.found++
				}
			case names[row[2]] > 0:
				judged++
				t.confidence += names[row[2]]
				if row[3] == "right" {
					t.right++
				}
			}
		}
		t.judged, t.unjudged = t.judged+judged, t.unjudged+len(names)-judged
	}
	return t
}
