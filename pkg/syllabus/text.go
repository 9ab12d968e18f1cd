package syllabus

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// Text is wrapped by hand or by a program at narrow to wide characters, mostly at
// usual or more: a paragraph whose longest line is shorter says nothing about that.
const (
	narrow = 40
	usual  = 58
	wide   = 110
)

// readText reads plain text as lines on one long page, so that text that was
// wrapped flows as in a PDF.
func readText(text string, spent *budget) ([]block, error) {
	var lines []line
	var runs [][2]int // of lines without an empty one between
	y := 0.0
	empty := true
	for raw := range strings.Lines(text) {
		if err := spent.spend(len(raw)); err != nil {
			return nil, err
		}
		y--
		raw = strings.TrimRightFunc(raw, unicode.IsSpace)
		if raw == "" {
			empty = true
			continue
		}
		if empty {
			runs = append(runs, [2]int{len(lines), len(lines)})
			empty = false
		}
		column := 0.0
		for _, piece := range pieces(raw) {
			body := strings.TrimLeftFunc(piece, unicode.IsSpace)
			left := column + width(piece) - width(body)
			column += width(piece)
			if body != "" {
				word, _, _ := strings.Cut(body, " ")
				lines = append(lines, line{text: body, left: left, right: column, top: y + 1, bottom: y, first: width(word)})
			}
		}
		runs[len(runs)-1][1] = len(lines)
	}
	setTextMargins(lines, runs)
	return flow(lines, spent)
}

// setTextMargins takes the longest line of each run for its margin where that can
// be, else what nine in ten lines of the whole text keep to.
func setTextMargins(lines []line, runs [][2]int) {
	rights := make([]float64, 0, len(lines))
	for _, l := range lines {
		rights = append(rights, l.right)
	}
	slices.Sort(rights)
	for _, run := range runs {
		margin := 0.0
		for _, l := range lines[run[0]:run[1]] {
			margin = max(margin, l.right)
		}
		if margin < usual*charUnit {
			margin = rights[len(rights)*9/10]
		}
		if margin < narrow*charUnit || margin > wide*charUnit {
			margin = math.Inf(1)
		}
		for i := run[0]; i < run[1]; i++ {
			lines[i].margin = margin
		}
	}
}

// charUnit is the width of a character of plain text in line heights.
const charUnit = 0.5

// width counts a tab as the gap that it means.
func width(s string) float64 {
	return charUnit * float64(runes(s)+3*strings.Count(s, "\t"))
}

// pieces cuts a line at tabs and runs of three or more spaces; each piece but the
// first keeps the gap before it.
func pieces(raw string) []string {
	var out []string
	start, gap := 0, -1
	body := false
	for i, r := range raw {
		switch {
		case r == ' ' || r == '\t':
			if gap < 0 {
				gap = i
			}
		case gap >= 0 && body && (i-gap >= 3 || strings.Contains(raw[gap:i], "\t")) && !loneMarker(strings.TrimSpace(raw[start:gap])):
			out = append(out, raw[start:gap])
			start, gap = gap, -1
		default:
			body, gap = true, -1
		}
	}
	return append(out, raw[start:])
}
