// Command starter fits the confidence of the built-in vocabulary in documents to courses that one reader judged, and
// prints how the model for other vocabularies and the fitted one do on them: open courses by cross-validation, sealed
// ones, that nothing is fitted to, by the fitted model. With -write it replaces the model in the extractor's weights.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"

	"skillscurriculum/infra/training/fit"
	"skillscurriculum/infra/training/gold"
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/extraction/wordvectors"
)

func main() {
	data := flag.String("data", "../shared/data", "folder of the development data")
	file := flag.String("weights", "pkg/extraction/weights.json", "weights of the extractor")
	write := flag.Bool("write", false, "write the fitted model to the weights")
	list := flag.Bool("unjudged", false, "list candidates that would be returned and were not judged")
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
	readings, err := gold.Readings(context.Background(), data)
	if err != nil {
		return err
	}
	e := extraction.NewExtractor(extraction.Starter(), wordvectors.Table())
	parts := map[bool][]gold.Reading{}
	for _, r := range readings {
		parts[r.Sealed] = append(parts[r.Sealed], r)
	}
	open, sealed := fit.Readings(e, parts[false]), fit.Readings(e, parts[true])
	other := weights.Document
	scored(open, &other)
	scored(sealed, &other)
	before := []string{figures(parts[false], open, &other, nil), figures(parts[true], sealed, &other, nil)}
	m := fit.Starter(open, other)
	scored(sealed, &m)
	var name func(id string) (string, bool)
	if list {
		name = extraction.Starter().Name
	}
	fmt.Printf("%d open courses, before: %s\n", len(parts[false]), before[0])
	fmt.Printf("    fitted, cross-validated: %s\n", figures(parts[false], open, &m, name))
	fmt.Printf("%d sealed courses, before: %s\n", len(parts[true]), before[1])
	fmt.Printf("    fitted to the open ones: %s\n", figures(parts[true], sealed, &m, name))
	if !write {
		return nil
	}
	weights.Starter = m
	if raw, err = json.MarshalIndent(weights, "", " "); err != nil {
		return err
	}
	return os.WriteFile(file, append(raw, '\n'), 0o644)
}

// scored sets the scores of rows to those of a model.
func scored(rows []fit.Row, m *extraction.Model) {
	for i, r := range rows {
		if r.Features != nil {
			rows[i].Score = m.Score(r.ID, r.Features)
		}
	}
}

// figures describes what a model returns of scored rows; name, if any, is used to list what was not judged.
func figures(readings []gold.Reading, rows []fit.Row, m *extraction.Model, name func(string) (string, bool)) string {
	var given, right, unjudged, things, found int
	var sum, bins [10]float64
	for _, reading := range readings {
		ids := map[string]bool{}
		for _, r := range rows {
			c := m.Confidence(r.Score, r.Bounds)
			if r.Item.Name != reading.Name || r.Features == nil || c < m.Cut {
				continue
			}
			ids[r.ID] = true
			ok, judged := reading.Judged[r.ID]
			if !judged {
				unjudged++
				if name != nil {
					n, _ := name(r.ID)
					fmt.Printf("%s\t%s\t%s\n", reading.Name, r.ID, n)
				}
				continue
			}
			bin := min(int(c*10), 9)
			given, sum[bin] = given+1, sum[bin]+c
			if ok {
				right++
				bins[bin]++
			}
		}
		for _, skills := range reading.Things {
			things++
			if slices.ContainsFunc(skills, func(id string) bool { return ids[id] }) {
				found++
			}
		}
	}
	off := 0.0
	for bin := range sum {
		off += math.Abs(sum[bin] - bins[bin])
	}
	return fmt.Sprintf("%d of %d skills right (%.3f), %d not judged; %d of %d important things found (%.3f); calibration error %.3f",
		right, given, float64(right)/float64(max(1, given)), unjudged, found, things, float64(found)/float64(max(1, things)),
		off/float64(max(1, given)))
}
