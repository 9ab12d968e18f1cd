package syllabus

import (
	"context"
	"slices"
	"strings"
	"unicode"
)

// A plain text whose long lines exceed this many characters is not wrapped: each
// of its lines is a paragraph.
const wrapped = 110

// readText reads plain text as lines on one long page, so that text that was
// wrapped by hand or by a program flows as in a PDF.
func readText(ctx context.Context, text string, limits Limits) ([]block, error) {
	spent := budget{ctx: ctx, limits: limits}
	var lines []line
	var lengths []float64
	y := 0.0
	for raw := range strings.Lines(text) {
		if err := spent.spend(len(raw)); err != nil {
			return nil, err
		}
		y--
		column := 0.0
		for _, piece := range pieces(strings.TrimRightFunc(raw, unicode.IsSpace)) {
			body := strings.TrimLeftFunc(piece, unicode.IsSpace)
			column += width(piece) - width(body)
			if body != "" {
				right := column + width(body)
				lines = append(lines, line{text: body, left: column, right: right, top: y + 1, bottom: y})
				lengths = append(lengths, right)
				column = right
			}
		}
	}
	if len(lines) == 0 {
		return nil, nil
	}
	slices.Sort(lengths)
	margin := lengths[len(lengths)*9/10]
	if margin > wrapped*charUnit {
		margin = lengths[len(lengths)-1] * 2
	}
	for i := range lines {
		lines[i].margin = margin
	}
	return flow(lines), nil
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
		case gap >= 0 && body && (i-gap >= 3 || strings.Contains(raw[gap:i], "\t")) && markerLen(raw[start:gap]+" ") == 0:
			out = append(out, raw[start:gap])
			start, gap = gap, -1
		default:
			body, gap = true, -1
		}
	}
	return append(out, raw[start:])
}
