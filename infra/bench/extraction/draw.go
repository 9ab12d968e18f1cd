package main

import (
	"fmt"
	"image/color"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"skillscurriculum/infra/training/fit"
	"skillscurriculum/infra/training/gold"
)

// draw writes the precision-recall curve and the reliability diagram, both from
// scores of texts that the model did not see.
func draw(folder string, documents, passages validated) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	sets := []struct {
		name string
		v    validated
		rows []fit.Row
	}{
		{"courses", documents, fit.Of(documents.rows, gold.CourseSet)},
		{"sentences", passages, fit.Judged(passages.rows)},
	}
	curve := square("Precision and recall, texts unseen", "recall of what is insisted on", "precision")
	reliability := square("Reliability, texts unseen", "confidence", "share that is right")
	diagonal, err := plotter.NewLine(plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}})
	if err != nil {
		return err
	}
	diagonal.Color = color.Gray{160}
	diagonal.Dashes = []vg.Length{vg.Points(4), vg.Points(4)}
	reliability.Add(diagonal)
	for i, s := range sets {
		_, figures := fit.Curve(s.rows, func(r fit.Row) float64 { return r.Score })
		var points plotter.XYs
		for _, f := range figures {
			points = append(points, plotter.XY{X: f.Recall, Y: f.Precision})
		}
		if err := add(curve, i, s.name, points, false); err != nil {
			return err
		}
		at := fit.Judge(s.rows, func(r fit.Row) bool { return s.v.model.Confidence(r.Score, r.Bounds) >= s.v.model.Cut })
		if err := add(curve, i, fmt.Sprintf("  at the cut: F1 %.2f", at.F1), plotter.XYs{{X: at.Recall, Y: at.Precision}}, true); err != nil {
			return err
		}
		var confidence []float64
		var right []bool
		for _, r := range s.rows {
			if r.Features != nil {
				confidence = append(confidence, s.v.model.Confidence(r.Score, r.Bounds))
				right = append(right, r.Right)
			}
		}
		bins, _ := fit.Calibration(confidence, right)
		var steps plotter.XYs
		for _, b := range bins {
			if b.N >= 5 {
				steps = append(steps, plotter.XY{X: b.Confidence / b.N, Y: b.Right / b.N})
			}
		}
		if err := add(reliability, i, s.name, steps, false); err != nil {
			return err
		}
		if err := add(reliability, i, "", steps, true); err != nil {
			return err
		}
	}
	curve.Legend.Left = true
	reliability.Legend.Left, reliability.Legend.Top = true, true
	for name, p := range map[string]*plot.Plot{"precision-recall.png": curve, "reliability.png": reliability} {
		if err := p.Save(6*vg.Inch, 6*vg.Inch, filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	fmt.Println("\npictures:", filepath.Join(folder, "precision-recall.png"), filepath.Join(folder, "reliability.png"))
	return nil
}

func square(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	p.Add(plotter.NewGrid())
	return p
}

// add puts a line or points into a plot, in the colour of its set.
func add(p *plot.Plot, i int, name string, xys plotter.XYs, points bool) error {
	if len(xys) == 0 {
		return nil
	}
	if points {
		s, err := plotter.NewScatter(xys)
		if err != nil {
			return err
		}
		s.Color, s.Shape, s.Radius = plotutil.Color(i), plotutil.Shape(i), vg.Points(4)
		p.Add(s)
		if name != "" {
			p.Legend.Add(name, s)
		}
		return nil
	}
	l, err := plotter.NewLine(xys)
	if err != nil {
		return err
	}
	l.Color, l.Width = plotutil.Color(i), vg.Points(1.5)
	p.Add(l)
	p.Legend.Add(name, l)
	return nil
}
