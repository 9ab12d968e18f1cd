package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// table is a Markdown table of figures and their targets. Its last column is the verdict.
type table struct {
	title  string
	rows   [][]string
	notes  []string
	broken []string
}

func newTable(title string, head ...string) *table {
	return &table{title: title, rows: [][]string{head}}
}

// row adds a row with its verdict as the last cell. why explains why the target is not met, and is empty if it is.
func (t *table) row(broken bool, why string, cells ...any) {
	row := make([]string, 0, len(cells)+1)
	for _, cell := range cells {
		if f, ok := cell.(float64); ok {
			cell = strconv.FormatFloat(f, 'f', -1, 64)
		}
		row = append(row, fmt.Sprint(cell))
	}
	verdict := "ok"
	if broken {
		verdict = "BROKEN"
		t.broken = append(t.broken, t.title+": "+row[0])
	}
	if why != "" {
		i := slices.Index(t.notes, why)
		if i < 0 {
			i = len(t.notes)
			t.notes = append(t.notes, why)
		}
		verdict = fmt.Sprintf("%s (%d)", verdict, i+1)
	}
	t.rows = append(t.rows, append(row, verdict))
}

// target formats a target, if there is one.
func target(v float64) string {
	if v == free {
		return ""
	}
	return "<= " + strconv.FormatFloat(v, 'f', -1, 64)
}

// bound formats a target, followed by the budget if that is wider.
func bound(wanted, held float64) string {
	if wanted == free || held <= wanted {
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

// page contains the tables of the last run.
const page = "docs/measurements.md"

// update replaces the tables of the same titles on a page.
func update(page string, tables []*table) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	for _, t := range tables {
		before, after, ok := t.find(string(text))
		if !ok {
			return fmt.Errorf("%s has no table %q", page, t.title)
		}
		text = []byte(before + t.String() + after)
	}
	return os.WriteFile(page, text, 0o644)
}

// find returns the text before and after the table with the same title, which ends before the next heading.
func (t *table) find(text string) (before, after string, ok bool) {
	before, rest, ok := strings.Cut(text, "\n### "+t.title+"\n")
	if i := strings.Index(rest, "\n#"); i >= 0 {
		after = rest[i:]
	}
	return before, after, ok
}

func (t *table) String() string {
	var text strings.Builder
	t.print(&text)
	return text.String()
}
