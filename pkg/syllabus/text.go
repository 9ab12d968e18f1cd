package syllabus

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is wrapped by hand or by a program at narrow to wide characters, mostly at
// usual or more: a paragraph whose longest line is shorter is no evidence.
const (
	narrow = 40
	usual  = 58
	wide   = 110
)

// readText reads plain text as lines on one long page, so that text that was wrapped flows as in a PDF.
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
	for _, run := range runs {
		lines[run[0]].bold = titles(lines[run[0]:run[1]])
	}
	return flow(lines, spent)
}

const (
	titleWords = 8    // of a heading of plain text at most
	shortLine  = 0.75 // of the margin, beyond which a line may have been wrapped
)

// titles reports whether the first of some lines, which stands after an empty one, reads as the heading of the others:
// short, with a capital, without a stop, and not running on in the next line. Plain text has no bold face to show it.
func titles(run []line) bool {
	first := run[0].text
	words := len(strings.Fields(first))
	if words > titleWords || run[0].marked() || strings.ContainsAny(first[len(first)-1:], ".,;:?!") ||
		!startsUpper(first) {
		return false
	}
	return len(run) == 1 || run[0].right < shortLine*run[0].margin && run[1].top != run[0].top &&
		(startsUpper(run[1].text) || run[1].marked())
}

func startsUpper(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsUpper(first)
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

// pieces cuts a line at tabs and runs of three or more spaces; each piece but the first keeps the gap before it.
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
		case gap >= 0 && body && (i-gap >= 3 || strings.Contains(raw[gap:i], "\t")) &&
			!loneMarker(strings.TrimSpace(raw[start:gap])):
			out = append(out, raw[start:gap])
			start, gap = gap, -1
		default:
			body, gap = true, -1
		}
	}
	return append(out, raw[start:])
}
