// Command starter fits the confidence of the built-in vocabulary in documents to courses that two readers judged. It
// prints how the model for other vocabularies and the fitted one do on them by each reader: open courses by
// cross-validation, sealed ones, that nothing is fitted to, by the fitted model; and what the model for other
// vocabularies gives of ESCO in courses sealed for it. With -write it replaces the model in the extractor's weights.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"skillscurriculum/infra/training/fit"
	"skillscurriculum/infra/training/gold"
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/extraction/wordvectors"
)

func main() {
	data := flag.String("data", "../shared/data", "folder of the development data")
	file := flag.String("weights", "pkg/extraction/weights.json", "weights of the extractor")
	write := flag.Bool("write", false, "write the fitted model to the weights")
	list := flag.Bool("unjudged", false, "list candidates that would be returned and that a reader did not judge")
	flag.Parse()
	if err := run(*data, *file, *write, *list); err != nil {
		fmt.Fprintln(os.Stderr, "starter:", err)
		os.Exit(1)
	}
}

func run(data, file string, write, list bool) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var weights extraction.Weights
	if err := json.Unmarshal(raw, &weights); err != nil {
		return err
	}
	readings, err := gold.Readings(context.Background(), data, "core:")
	if err != nil {
		return err
	}
	e := extraction.NewExtractor(extraction.Starter(), wordvectors.Table())
	parts := map[bool][]gold.Reading{}
	for _, r := range readings {
		parts[r.Sealed] = append(parts[r.Sealed], r)
	}
	other := weights.Document
	open, sealed := fit.Readings(e, parts[false], other), fit.Readings(e, parts[true], other)
	before := []string{figures(parts[false], open, &other, nil), figures(parts[true], sealed, &other, nil)}
	scored(sealed, &weights.Starter)
	shipped := figures(parts[true], sealed, &weights.Starter, nil)
	m := fit.Starter(open, other)
	scored(sealed, &m)
	var name func(id string) (string, bool)
	if list {
		name = extraction.Starter().Name
	}
	fmt.Printf("%d open courses, readers: %s\n", len(parts[false])/2, agreement(parts[false]))
	fmt.Printf("model of other vocabularies:\n%s", before[0])
	fmt.Printf("fitted, cross-validated:\n%s", figures(parts[false], open, &m, name))
	fmt.Printf("%d sealed courses, readers: %s\n", len(parts[true])/2, agreement(parts[true]))
	fmt.Printf("model of other vocabularies:\n%s", before[1])
	fmt.Printf("as shipped:\n%s", shipped)
	fmt.Printf("fitted to the open ones:\n%s", figures(parts[true], sealed, &m, name))
	if err := esco(data, &other); err != nil {
		return err
	}
	if !write {
		return nil
	}
	weights.Starter = m
	if raw, err = json.MarshalIndent(weights, "", " "); err != nil {
		return err
	}
	return os.WriteFile(file, append(raw, '\n'), 0o644)
}

// esco prints what a model gives of ESCO in the courses whose ESCO skills were judged. All are sealed for it.
func esco(data string, m *extraction.Model) error {
	readings, err := gold.Readings(context.Background(), data, "esco:")
	if err != nil {
		return err
	}
	set, err := gold.Load(context.Background(), gold.Folders{Data: data})
	if err != nil {
		return err
	}
	rows := fit.Readings(extraction.NewExtractor(set.Taxonomy, wordvectors.Table()), readings, *m)
	fmt.Printf("ESCO, %d sealed courses, readers: %s\n%s", len(readings)/2, agreement(readings),
		figures(readings, rows, m, nil))
	return nil
}

// scored sets the scores of rows to those of a model.
func scored(rows []fit.Row, m *extraction.Model) {
	for i, r := range rows {
		if r.Features != nil {
			rows[i].Score = m.Score(r.ID, r.Features)
		}
	}
}

// tally counts what a model returns by one reader's judgment.
type tally struct {
	right, given, unjudged, found, things int
	off                                   float64 // sum of the distances of confidence and frequency
}

func (t tally) shares() (right, found, off float64) {
	given := float64(max(1, t.given))
	return float64(t.right) / given, float64(t.found) / float64(max(1, t.things)), t.off / given
}

// figures describes what a model returns of scored rows, by each reader and on average; name, if any, is used to list
// what a reader did not judge.
func figures(readings []gold.Reading, rows []fit.Row, m *extraction.Model, name func(string) (string, bool)) string {
	var out strings.Builder
	var right, found, off float64
	for reader := 1; reader <= 2; reader++ {
		t := judged(readings, reader, rows, m, name)
		a, b, c := t.shares()
		right, found, off = right+a/2, found+b/2, off+c/2
		fmt.Fprintf(&out, "    reader %d: %d of %d skills right (%.3f), %d not judged; %d of %d important things found "+
			"(%.3f); calibration error %.3f\n", reader, t.right, t.given, a, t.unjudged, t.found, t.things, b, c)
	}
	fmt.Fprintf(&out, "    mean: %.3f right, %.3f found, calibration error %.3f\n", right, found, off)
	return out.String()
}

// agreement counts how often the readers judge a candidate alike.
func agreement(readings []gold.Reading) *gold.Agreement {
	first, alike := map[string]map[string]bool{}, &gold.Agreement{}
	for _, r := range readings {
		if r.Reader == 1 {
			first[r.Name] = r.Judged
			continue
		}
		for id, right := range r.Judged {
			if other, both := first[r.Name][id]; both {
				alike.Add(other, right)
			}
		}
	}
	return alike
}

// judged counts what a model returns by the judgment of one reader.
func judged(readings []gold.Reading, reader int, rows []fit.Row, m *extraction.Model,
	name func(string) (string, bool)) (t tally) {
	var sum, bins [10]float64
	for i := range readings {
		reading := &readings[i]
		if reading.Reader != reader {
			continue
		}
		ids := map[string]bool{}
		for _, r := range rows {
			c := m.Confidence(r.Score, r.Bounds)
			if r.Item != &reading.Item || r.Features == nil || c < m.Cut {
				continue
			}
			ids[r.ID] = true
			ok, judged := reading.Judged[r.ID]
			if !judged {
				t.unjudged++
				if name != nil {
					n, _ := name(r.ID)
					fmt.Printf("%s\t%s\t%s\t%d\n", reading.Name, r.ID, n, reader)
				}
				continue
			}
			bin := min(int(c*10), 9)
			t.given, sum[bin] = t.given+1, sum[bin]+c
			if ok {
				t.right++
				bins[bin]++
			}
		}
		for _, skills := range reading.Things {
			t.things++
			if slices.ContainsFunc(skills, func(id string) bool { return ids[id] }) {
				t.found++
			}
		}
	}
	for bin := range sum {
		t.off += math.Abs(sum[bin] - bins[bin])
	}
	return t
}
