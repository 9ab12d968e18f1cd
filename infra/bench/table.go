package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"skillscurriculum/infra/bench/budget"
)

// table is figures next to their targets, printed as Markdown. Its last column
// holds the verdict.
type table struct {
	title  string
	rows   [][]string
	notes  []string
	broken []string
}

func newTable(title string, head ...string) *table {
	return &table{title: title, rows: [][]string{head}}
}

// judge returns a verdict; why says why a target is not met, empty where it is.
func (t *table) judge(broken bool, why string) string {
	verdict := "ok"
	if broken {
		verdict = "BROKEN"
	}
	if why == "" {
		return verdict
	}
	i := slices.Index(t.notes, why)
	if i < 0 {
		i = len(t.notes)
		t.notes = append(t.notes, why)
	}
	return fmt.Sprintf("%s (%d)", verdict, i+1)
}

// row adds a row: its cells, and the verdict at the end.
func (t *table) row(verdict string, cells ...any) {
	row := make([]string, 0, len(cells)+1)
	for _, cell := range cells {
		if f, ok := cell.(float64); ok {
			cell = strconv.FormatFloat(f, 'f', -1, 64)
		}
		row = append(row, fmt.Sprint(cell))
	}
	if strings.HasPrefix(verdict, "BROKEN") {
		t.broken = append(t.broken, t.title+": "+row[0])
	}
	t.rows = append(t.rows, append(row, verdict))
}

// target shows a target that may be none.
func target(v float64) string {
	if v == budget.Any {
		return ""
	}
	return "<= " + strconv.FormatFloat(v, 'f', -1, 64)
}

// bound shows a target, and what is held instead where that is wider.
func bound(wanted, held float64) string {
	if wanted == budget.Any || held <= wanted {
		return target(wanted)
	}
	return fmt.Sprintf("%s, held %s", target(wanted), target(held))
}

func (t *table) print(w io.Writer) {
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	line := func(row []string) {
		for i, cell := range row {
			fmt.Fprintf(w, "| %-*s ", widths[i], cell)
		}
		fmt.Fprintln(w, "|")
	}
	fmt.Fprintf(w, "\n### %s\n\n", t.title)
	line(t.rows[0])
	for _, width := range widths {
		fmt.Fprint(w, "|", strings.Repeat("-", width+2))
	}
	fmt.Fprintln(w, "|")
	for _, row := range t.rows[1:] {
		line(row)
	}
	for i, note := range t.notes {
		fmt.Fprintf(w, "\n(%d) %s\n", i+1, note)
	}
}
