package main

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"skillscurriculum/infra/load"
	"skillscurriculum/infra/local/child"
)

// Colours that people with any colour vision tell apart.
var (
	blue   = color.RGBA{0, 114, 178, 255}
	orange = color.RGBA{230, 159, 0, 255}
	red    = color.RGBA{213, 94, 0, 255}
)

// loadCharts draws a load run: latencies by operation, and responses over time.
func loadCharts(responses []load.Response) error {
	file, err := chartFile("latency.png")
	if err != nil {
		return err
	}
	if err := latencyChart(file, responses); err != nil {
		return err
	}
	if file, err = chartFile("responses.png"); err != nil {
		return err
	}
	return responsesChart(file, responses)
}

// chartFile returns the place of a chart below build/bench.
func chartFile(name string) (string, error) {
	root, err := child.ModuleRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "build", "bench")
	return filepath.Join(dir, name), os.MkdirAll(dir, 0o755)
}

// listLine is what a way to page costs at some offsets.
type listLine struct {
	way     string
	offsets [3]int
	costs   pages
}

func listChart(file string, lines []listLine) error {
	p := plot.New()
	last := lines[0].offsets[2]
	p.Title.Text = fmt.Sprintf("Read units of a page of 100 among %s records", grouped(last+100))
	p.X.Label.Text, p.Y.Label.Text = "offset", "read units"
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.YOffs = -vg.Inch
	p.Add(plotter.NewGrid())
	for i, l := range lines {
		points := make(plotter.XYs, len(l.offsets))
		for j, offset := range l.offsets {
			points[j] = plotter.XY{X: float64(offset), Y: l.costs[j].Read}
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		line.Color, line.Width, marks.Color = []color.Color{red, orange, blue}[i], vg.Points(2), []color.Color{red, orange, blue}[i]
		p.Add(line, marks)
		p.Legend.Add(l.way, line)
	}
	p.Y.Min = 1
	return p.Save(9*vg.Inch, 5*vg.Inch, file)
}

func latencyChart(file string, responses []load.Response) error {
	at := latenciesOf(responses)
	names := sortedOperations(at)
	floor := at[load.NoOp]
	p := plot.New()
	p.Title.Text = "Latency as a ratio to a no-op function behind the same gateway"
	p.Y.Label.Text = "times the no-op function's"
	p.Y.Min = 0
	p.Legend.Top, p.Legend.Left = true, true
	p.Title.Padding = vg.Points(6)
	width := vg.Points(9)
	for i, colour := range []color.Color{blue, orange, red} {
		values := make(plotter.Values, len(names))
		for j, name := range names {
			values[j] = float64(at[name][i]) / float64(floor[i])
		}
		bars, err := plotter.NewBarChart(values, width)
		if err != nil {
			return err
		}
		bars.Color, bars.LineStyle.Width = colour, 0
		bars.Offset = vg.Length(i-1) * width
		p.Add(bars)
		p.Legend.Add(fmt.Sprintf("%.0f %%", quantiles[i]*100), bars)
	}
	p.NominalX(names...)
	p.X.Tick.Label.Rotation = math.Pi / 5
	p.X.Tick.Label.XAlign = -1
	p.X.Min, p.X.Max, p.Y.Max = -0.5, float64(len(names))-0.5, 1.1*p.Y.Max
	p.Add(plotter.NewGrid())
	return p.Save(12*vg.Inch, 6*vg.Inch, file)
}

func responsesChart(file string, responses []load.Response) error {
	classes := []struct {
		name   string
		colour color.Color
		of     func(status int) bool
	}{
		{"2xx", blue, func(status int) bool { return status >= 200 && status < 300 }},
		{"429", orange, func(status int) bool { return status == 429 }},
		{"5xx or none", red, func(status int) bool { return status >= 500 || status == 0 }},
	}
	p := plot.New()
	p.Title.Text = "Responses per second of 20 customers, half of them with a small limit"
	p.X.Label.Text, p.Y.Label.Text = "seconds", "responses"
	p.Y.Min = 0
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	for _, class := range classes {
		var counts []float64
		for _, a := range responses {
			second := int(a.At / time.Second)
			for len(counts) <= second {
				counts = append(counts, 0)
			}
			if a.Operation != load.NoOp && class.of(a.Status) {
				counts[second]++
			}
		}
		points := make(plotter.XYs, len(counts))
		for i, n := range counts {
			points[i] = plotter.XY{X: float64(i), Y: n}
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		line.Color, line.Width = class.colour, vg.Points(1.5)
		p.Add(line)
		p.Legend.Add(class.name, line)
	}
	return p.Save(10*vg.Inch, 5*vg.Inch, file)
}
