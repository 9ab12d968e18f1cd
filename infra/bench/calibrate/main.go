// Command calibrate fits the weights of the extractor's confidence on the
// development data and writes them with a report.
//
// Two models are fitted: one for documents, on the labelled syllabi, and one for
// passages, on single sentences. Each is a logistic regression with a ridge
// penalty over the extractor's named features; its score is brought to a
// frequency by isotonic regression over scores from cross-validation, in which a
// text is never judged by a model that saw it. The default cut comes from the
// same scores.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"slices"
	"strings"

	"skillscurriculum/infra/bench/gold"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/skills"
	"skillscurriculum/pkg/syllabus"
)

func main() {
	data := flag.String("data", "../shared/data", "folder of the development data")
	out := flag.String("out", "pkg/skills/weights.json", "where the weights go")
	ridge := flag.Float64("ridge", 3, "penalty on the weights")
	flag.Parse()
	if err := run(*data, *out, *ridge); err != nil {
		fmt.Fprintln(os.Stderr, "calibrate:", err)
		os.Exit(1)
	}
}

func run(data, out string, ridge float64) error {
	_, t, err := gold.Taxonomy(data)
	if err != nil {
		return err
	}
	e := skills.NewExtractor(t)
	syllabi, err := gold.Syllabi(data, readMarkdown)
	if err != nil {
		return err
	}
	own, err := gold.Second(data, t, readMarkdown)
	if err != nil {
		return err
	}
	var sentences []gold.Item
	for _, set := range []string{"tech", "house"} {
		items, err := gold.Sentences(data, set, t)
		if err != nil {
			return err
		}
		sentences = append(sentences, items...)
	}
	synthetic, err := gold.SkillSkape(data, "dev", t)
	if err != nil {
		return err
	}

	w := skills.Weights{Features: skills.FeatureNames}
	fmt.Println("documents: syllabi, one left out at a time")
	documents := rowsOf(e, append(syllabi, own...), 1)
	w.Document = fit(documents, ridge, len(syllabi)+len(own))
	report(documents, &w.Document, "the development set", func(r row) bool { return len(r.item.Doc.Text) > 0 && r.item.Name[2:] == ".md" })
	report(documents, &w.Document, "our own labels", func(r row) bool { return r.item.Name[2:] != ".md" })
	fmt.Println("passages: SkillSpan sentences, ten folds; SkillSkape helps to fit, not to choose the cut")
	w.Passage = fit(append(rowsOf(e, sentences, 1), rowsOf(e, synthetic, 0.05)...), ridge, 10)
	for i, name := range skills.FeatureNames {
		fmt.Printf("%-20s %8.3f %8.3f\n", name, w.Document.Weights[i], w.Passage.Weights[i])
	}
	raw, err := json.MarshalIndent(w, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(raw, '\n'), 0o644)
}

func readMarkdown(raw []byte) (catalog.Document, error) {
	var r syllabus.Reader
	return r.Read(context.Background(), raw, syllabus.Hint{Kind: syllabus.Markdown})
}

// row is a candidate with its label.
type row struct {
	item   *gold.Item
	id     string
	x      []float64
	y      float64
	must   bool
	weight float64
	fold   string
	score  float64 // from a model that did not see its text
}

func rowsOf(e *skills.Extractor, items []gold.Item, weight float64) []row {
	var rows []row
	for i := range items {
		item := &items[i]
		for _, c := range e.Candidates(item.Doc) {
			r := row{item: item, id: c.SkillID, x: c.Features, weight: weight, fold: item.Group}
			if item.Wanted(c.SkillID) {
				r.y = 1
			}
			_, r.must = item.Must[c.SkillID]
			rows = append(rows, r)
		}
		if len(rows) == 0 || rows[len(rows)-1].item != item {
			rows = append(rows, row{item: item, fold: item.Group}) // so that what it wants is counted
		}
	}
	return rows
}

// fit trains a model and reports how its cross-validated scores do.
func fit(rows []row, ridge float64, folds int) skills.Model {
	foldOf := func(name string) int {
		h := fnv.New32a()
		h.Write([]byte(name))
		return int(h.Sum32() % uint32(folds))
	}
	if groups := distinct(rows); len(groups) == folds {
		foldOf = func(name string) int { i, _ := slices.BinarySearch(groups, name); return i }
	}
	for f := range folds {
		var train []row
		for _, r := range rows {
			if foldOf(r.fold) != f && r.x != nil {
				train = append(train, r)
			}
		}
		m := logistic(train, ridge)
		for i := range rows {
			if r := &rows[i]; foldOf(r.fold) == f && r.x != nil {
				r.score = m.Score(r.x)
			}
		}
	}
	var judged []row
	for _, r := range rows {
		if r.weight == 1 || r.x == nil && r.item.Doc.Text != "" && !strings.HasPrefix(r.item.Name, "skillskape") {
			judged = append(judged, r)
		}
	}
	all := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.x == nil })
	m := logistic(all, ridge)
	m.Steps = isotonic(judged)
	p, r, f, cut := bestCut(judged, func(r row) float64 { return m.Confidence(r.score) })
	m.Cut = cut
	fmt.Printf("  cross-validated: precision %.3f recall %.3f F1 %.3f at cut %.4f, calibration error %.3f above it\n", p, r, f, cut, calibrationError(judged, m))
	p, r, f, cut = bestCut(judged, func(r row) float64 {
		if r.x == nil {
			return 0
		}
		return m.Score(r.x)
	})
	fmt.Printf("  on the data it was fitted to: precision %.3f recall %.3f F1 %.3f at score %.4f\n", p, r, f, cut)
	return m
}

// report prints how the cross-validated scores of some of the rows do.
func report(rows []row, m *skills.Model, name string, in func(row) bool) {
	some := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !in(r) })
	var given, right, must, wanted float64
	seen := map[*gold.Item]bool{}
	for _, r := range some {
		if !seen[r.item] {
			seen[r.item] = true
			wanted += float64(len(r.item.Must))
		}
		if r.x != nil && m.Confidence(r.score) >= m.Cut {
			given++
			right += r.y
			if r.must {
				must++
			}
		}
	}
	p, c := right/given, must/wanted
	fmt.Printf("    of these %s, at that cut: precision %.3f recall %.3f F1 %.3f, calibration error %.3f, %.1f skills a text\n", name, p, c, 2*p*c/(p+c), calibrationError(some, *m), given/float64(len(seen)))
}

func distinct(rows []row) []string {
	var names []string
	for _, r := range rows {
		names = append(names, r.fold)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// logistic minimises the weighted log loss plus the ridge penalty by Newton's method.
func logistic(rows []row, ridge float64) skills.Model {
	n := len(skills.FeatureNames) + 1
	beta, x := make([]float64, n), make([]float64, n)
	for range 30 {
		hessian, step := make([][]float64, n), make([]float64, n)
		for i := range n {
			penalty := ridge
			if i == 0 {
				penalty = 1e-3
			}
			hessian[i] = make([]float64, n)
			hessian[i][i] = penalty
			step[i] = -penalty * beta[i]
		}
		for _, r := range rows {
			x[0] = 1
			copy(x[1:], r.x)
			z := 0.0
			for i, v := range x {
				z += v * beta[i]
			}
			p := 1 / (1 + math.Exp(-z))
			g, h := r.weight*(r.y-p), r.weight*p*(1-p)
			for i, v := range x {
				if v == 0 {
					continue
				}
				step[i] += g * v
				for j := range i + 1 {
					hessian[i][j] += h * v * x[j]
				}
			}
		}
		cholesky(hessian, step)
		size := 0.0
		for i := range beta {
			beta[i] += step[i]
			size += step[i] * step[i]
		}
		if size < 1e-12 {
			break
		}
	}
	m := skills.Model{Bias: round(beta[0])}
	for _, b := range beta[1:] {
		m.Weights = append(m.Weights, round(b))
	}
	return m
}

// cholesky replaces b by the solution of a x = b; a is positive definite, its
// lower half is read and overwritten.
func cholesky(a [][]float64, b []float64) {
	for i := range a {
		for j := range i + 1 {
			sum := a[i][j]
			for k := range j {
				sum -= a[i][k] * a[j][k]
			}
			if i == j {
				a[i][i] = math.Sqrt(sum)
			} else {
				a[i][j] = sum / a[j][j]
			}
		}
	}
	for i := range b {
		for k := range i {
			b[i] -= a[i][k] * b[k]
		}
		b[i] /= a[i][i]
	}
	for i := len(b) - 1; i >= 0; i-- {
		for k := i + 1; k < len(b); k++ {
			b[i] -= a[k][i] * b[k]
		}
		b[i] /= a[i][i]
	}
}

func round(v float64) float64 { return math.Round(v*1e5) / 1e5 }

// smallestStep is how many candidates a step of the calibration rests on.
const smallestStep = 25

// isotonic pools adjacent violators over the cross-validated scores.
func isotonic(rows []row) [][2]float64 {
	sorted := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.x == nil })
	slices.SortStableFunc(sorted, func(a, b row) int {
		switch {
		case a.score < b.score:
			return -1
		case a.score > b.score:
			return 1
		}
		return 0
	})
	type pool struct{ score, right, n float64 }
	var pools []pool
	for from := 0; from < len(sorted); from += smallestStep {
		to := from + smallestStep
		if to+smallestStep > len(sorted) {
			to = len(sorted)
		}
		p := pool{}
		for _, r := range sorted[from:min(to, len(sorted))] {
			p.score += r.score
			p.right += r.y
			p.n++
		}
		pools = append(pools, p)
		for len(pools) > 1 {
			a, b := pools[len(pools)-2], pools[len(pools)-1]
			if a.right/a.n < b.right/b.n {
				break
			}
			pools = append(pools[:len(pools)-2], pool{a.score + b.score, a.right + b.right, a.n + b.n})
		}
		if to == len(sorted) {
			break
		}
	}
	var steps [][2]float64
	for _, p := range pools {
		steps = append(steps, [2]float64{round(p.score / p.n), round((p.right + 0.5) / (p.n + 1))})
	}
	return steps
}

// bestCut finds the cut with the highest F1: precision against all that is right,
// recall against what is insisted on.
func bestCut(rows []row, score func(row) float64) (p, r, f, cut float64) {
	wanted := 0
	seen := map[*gold.Item]bool{}
	for _, row := range rows {
		if !seen[row.item] {
			seen[row.item] = true
			wanted += len(row.item.Must)
		}
	}
	type scored struct {
		s        float64
		ok, must bool
	}
	var all []scored
	for _, row := range rows {
		if row.x != nil {
			all = append(all, scored{score(row), row.y == 1, row.must})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int {
		switch {
		case a.s > b.s:
			return -1
		case a.s < b.s:
			return 1
		}
		return 0
	})
	ok, must := 0.0, 0.0
	for i, s := range all {
		if s.ok {
			ok++
		}
		if s.must {
			must++
		}
		if i+1 < len(all) && all[i+1].s == s.s {
			continue
		}
		pp, rr := ok/float64(i+1), must/float64(wanted)
		if ff := 2 * pp * rr / (pp + rr); ff > f {
			p, r, f, cut = pp, rr, ff, s.s
		}
	}
	return p, r, f, math.Floor(cut*1e4) / 1e4
}

// calibrationError is the expected error over ten bins of what stands above the cut.
func calibrationError(rows []row, m skills.Model) float64 {
	var sum, right, n [10]float64
	total := 0.0
	for _, r := range rows {
		if c := m.Confidence(r.score); r.x != nil && c >= m.Cut {
			b := min(9, int(c*10))
			sum[b] += c
			right[b] += r.y
			n[b]++
			total++
		}
	}
	e := 0.0
	for b := range n {
		e += math.Abs(sum[b] - right[b])
	}
	return e / total
}
