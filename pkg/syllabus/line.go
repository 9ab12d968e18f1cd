package syllabus

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// line is a piece of text as it stands on a page: without wide gaps, y growing
// upwards. In plain text a character is half a unit wide and one high.
type line struct {
	text                     string
	page                     int
	left, right, top, bottom float64
	margin                   float64 // right end that lines of this column reach
	bold                     bool    // from its first to its last letter
}

func (l line) height() float64 { return l.top - l.bottom }

// charWidth is the width of a usual character of the line.
func (l line) charWidth() float64 { return (l.right - l.left) / float64(max(1, runes(l.text))) }

// setMargins finds for each line how far right its column reaches: what nine in
// ten lines that start near it do not exceed.
func setMargins(lines []line) {
	const bucket = 36
	key := func(l line) int { return int(math.Round(max(-1e6, min(1e6, l.left)) / bucket)) }
	rights := map[int][]float64{}
	for _, l := range lines {
		rights[key(l)] = append(rights[key(l)], l.right)
	}
	margins := map[int]float64{}
	for k := range rights {
		near := slices.Concat(rights[k-1], rights[k], rights[k+1])
		slices.Sort(near)
		margins[k] = near[len(near)*9/10]
	}
	for i := range lines {
		lines[i].margin = margins[key(lines[i])]
	}
}

// flow joins lines to blocks: wrapped lines to one, pieces side by side to rows.
func flow(lines []line) []block {
	f := flowing{body: bodyHeight(lines), leading: leading(lines), hyphens: hyphensOf(lines)}
	for i, l := range lines {
		if i == 0 || !f.append(l) {
			f.finish()
			f.start(l)
		}
	}
	f.finish()
	return f.blocks
}

// flowing is the block in the making and what the whole document tells.
type flowing struct {
	body    float64 // height of most of the text
	leading float64 // distance of wrapped lines in line heights
	hyphens hyphens
	blocks  []block

	text        []byte
	cells       int
	lines       int // of the cell in the making
	cell, last  line
	top, bottom float64 // of the row in the making
	page        int
	bold        bool
	marked      bool // the block begins with a bullet or enumerator
	labelled    bool // the block begins with a label
	height      float64
	gapAbove    bool
}

func (f *flowing) start(l line) {
	f.gapAbove = f.lines == 0 || l.page != f.last.page || f.last.top-l.top > 1.25*f.leading*l.height()
	f.text = append(f.text[:0], l.text...)
	f.cells, f.lines = 1, 1
	f.cell, f.last = l, l
	f.top, f.bottom = l.top, l.bottom
	f.page, f.bold, f.height = l.page, l.bold, l.height()
	f.marked = markerLen(l.text) > 0
	f.labelled = labelled.MatchString(l.text)
}

// append takes l into the block in the making, or refuses.
func (f *flowing) append(l line) bool {
	h := l.height()
	samePage := l.page == f.last.page
	if samePage && l.left >= f.cell.right+0.3*h && l.top <= f.top+0.5*h && l.top > f.bottom {
		f.text = append(append(f.text, '\t'), l.text...)
		f.cells++
		f.lines = 1
		f.cell, f.last = l, l
		f.bottom = min(f.bottom, l.bottom)
		return true
	}
	if !f.continues(l, samePage) {
		return false
	}
	between, dehyphenate := f.hyphens.glue(f.last.text, l.text)
	if f.cells > 1 && l.begins() && !f.last.full(l) {
		between, dehyphenate = clauseEnd(f.last.text), false
	}
	if dehyphenate {
		f.text = f.text[:len(f.text)-1]
	}
	f.text = append(append(f.text, between...), l.text...)
	f.lines++
	f.cell.right = max(f.cell.right, l.right)
	f.bottom = min(f.bottom, l.bottom)
	f.last = l
	return true
}

func (f *flowing) continues(l line, samePage bool) bool {
	h := l.height()
	if markerLen(l.text) > 0 && !f.dashInside(l) || labelled.MatchString(l.text) && (ended(f.last.text) || f.labelled) || math.Abs(h-f.last.height()) > 0.12*h || l.bold != f.last.bold {
		return false
	}
	if !samePage {
		return l.page == f.last.page+1 && f.cells == 1 && f.last.full(l) && !ended(f.last.text) && !l.begins()
	}
	distance := f.last.top - l.top
	if distance <= 0 || distance > 1.25*f.leading*h {
		return false
	}
	if f.cells > 1 {
		return math.Abs(l.left-f.cell.left) < h
	}
	indent := l.left - f.last.left
	if f.lines > 1 && math.Abs(indent) > 0.6*h || math.Abs(indent) > 4*h {
		return false
	}
	return f.last.full(l)
}

// dashInside says whether the dash at the start of a line stands in a sentence that
// was wrapped before it, and starts no item.
func (f *flowing) dashInside(l line) bool {
	first, _ := utf8.DecodeRuneInString(l.text)
	return strings.ContainsRune("-–—", first) && (!f.marked || l.left > f.cell.left) && f.last.full(l) && !ended(f.last.text)
}

// begins says whether a line looks like the start of something.
func (l line) begins() bool {
	first, _ := utf8.DecodeRuneInString(l.text)
	return unicode.IsUpper(first) || unicode.IsDigit(first)
}

// full says whether the first word of next would not have fitted on the line, so
// that the break between them need not mean anything. Where the words run on,
// a doubt is decided for that.
func (l line) full(next line) bool {
	word, _, _ := strings.Cut(next.text, " ")
	width := next.charWidth()
	slack := 1.5 * width
	first, _ := utf8.DecodeRuneInString(word)
	if unicode.IsLower(first) && !ended(l.text) || strings.HasSuffix(l.text, ",") || strings.HasSuffix(l.text, "-") {
		slack = 8 * width
	}
	return l.right+float64(runes(word)+1)*width+slack > l.margin
}

// ended says whether a text ends in a sign that ends a clause.
func ended(text string) bool {
	return text != "" && strings.ContainsRune(".;:!?", rune(text[len(text)-1]))
}

func (f *flowing) finish() {
	if f.lines == 0 {
		return
	}
	b := block{text: string(f.text), page: f.page}
	short := runes(b.text) <= 90 && f.lines <= 3 && f.cells == 1 && !strings.HasSuffix(b.text, ".") && !strings.HasSuffix(b.text, ",")
	switch ratio := f.height / f.body; {
	case f.cells > 1:
		b.kind = row
	case short && ratio > 1.6:
		b.kind, b.level = heading, 1
	case short && ratio > 1.3:
		b.kind, b.level = heading, 2
	case short && ratio > 1.12:
		b.kind, b.level = heading, 3
	case short && f.bold && !f.marked:
		b.kind, b.level = heading, 4
	case f.marked:
		b.kind = item
	case short && f.gapAbove && f.lines == 1 && allCaps(b.text):
		b.kind, b.level = heading, 5
	}
	f.blocks = append(f.blocks, b)
}

func allCaps(s string) bool { return strings.ToUpper(s) == s && strings.ToLower(s) != s }

// bodyHeight is the height of the line in the middle when they stand in order of
// height, each as often as it has characters.
func bodyHeight(lines []line) float64 {
	sorted := slices.Clone(lines)
	slices.SortStableFunc(sorted, func(a, b line) int {
		switch {
		case a.height() < b.height():
			return -1
		case a.height() > b.height():
			return 1
		}
		return 0
	})
	total := 0
	for _, l := range sorted {
		total += runes(l.text)
	}
	for _, l := range sorted {
		if total -= 2 * runes(l.text); total <= 0 {
			return max(l.height(), 0.1)
		}
	}
	return 1
}

// leading is the usual distance between wrapped lines, in line heights.
func leading(lines []line) float64 {
	var distances []float64
	for i := 1; i < len(lines); i++ {
		a, b := lines[i-1], lines[i]
		distance := (a.top - b.top) / max(b.height(), 0.1)
		if a.page == b.page && distance > 0.5 && distance < 3 && math.Abs(a.left-b.left) < b.height() && a.full(b) {
			distances = append(distances, distance)
		}
	}
	if len(distances) == 0 {
		return 1.2
	}
	slices.Sort(distances)
	return distances[len(distances)/2]
}
