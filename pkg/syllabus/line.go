package syllabus

import (
	"maps"
	"math"
	"regexp"
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
	first                    float64 // width of the first word
	margin                   float64 // right end that lines of this column reach
	bold                     bool    // from its first to its last letter
	bullet                   bool    // a bullet is drawn before it
}

func (l line) height() float64 { return l.top - l.bottom }

// setMargins finds for each line how far right its column reaches: as far as the lines that start near it, on any page,
// but for those in larger type and a few that run out.
func setMargins(lines []line) {
	const bucket = 36
	key := func(l line) int { return int(math.Round(max(-1e6, min(1e6, l.left)) / bucket)) }
	body := bodyHeight(lines)
	rights := map[int][]float64{}
	for _, l := range lines {
		if l.height() <= 1.12*body {
			rights[key(l)] = append(rights[key(l)], l.right)
		}
	}
	margins := map[int]float64{}
	for _, l := range lines {
		k := key(l)
		if _, known := margins[k]; known {
			continue
		}
		margins[k] = math.Inf(1)
		if near := slices.Concat(rights[k-1], rights[k], rights[k+1]); len(near) > 0 {
			slices.Sort(near)
			margins[k] = near[(len(near)-1)*98/100]
		}
	}
	for i := range lines {
		lines[i].margin = margins[key(lines[i])]
	}
}

// flow joins lines to blocks: wrapped lines to one, pieces side by side to rows.
func flow(lines []line, spent *budget) ([]block, error) {
	f := flowing{body: bodyHeight(lines), leading: leading(lines), hyphens: hyphensOf(lines)}
	for i, l := range lines {
		if err := spent.spend(0); err != nil {
			return nil, err
		}
		if i == 0 || !f.append(l) {
			f.finish()
			f.start(l)
		}
	}
	f.finish()
	return f.blocks, nil
}

// flowing is the open block, with measures of the whole document.
type flowing struct {
	body    float64 // height of most of the text
	leading float64 // distance of wrapped lines in line heights
	hyphens hyphens
	blocks  []block
	areas   []area // of blocks

	text       []byte
	area       area // of the block
	cell, last line // cell, as far as it goes, and line that were added last
	cells      int
	lines      int // of the cell
	bold       bool
	marked     bool // the block begins with a bullet or enumerator
	labelled   bool // the block begins with a label
	gapAbove   bool
	height     float64 // of the first line
}

// area is where on its page a block stands.
type area struct {
	page                     int
	left, right, top, bottom float64
}

func (a *area) add(b area) {
	a.left, a.right = min(a.left, b.left), max(a.right, b.right)
	a.top, a.bottom = max(a.top, b.top), min(a.bottom, b.bottom)
}

func (l line) area() area {
	return area{page: l.page, left: l.left, right: l.right, top: l.top, bottom: l.bottom}
}

func (f *flowing) start(l line) {
	f.gapAbove = f.lines == 0 || l.page != f.last.page || f.last.top-l.top > 1.25*f.leading*l.height()
	f.text = append(f.text[:0], l.text...)
	f.cells, f.lines = 1, 1
	f.cell, f.last = l, l
	f.area = l.area()
	f.bold, f.height = l.bold, l.height()
	f.marked = l.marked()
	f.labelled = labelled.MatchString(l.text)
}

// append adds l to the open block, and reports whether it belongs there.
func (f *flowing) append(l line) bool {
	if f.inRow(l) {
		gap := byte('\t')
		if f.cells == 1 && f.lines == 1 && loneMarker(f.last.text) {
			gap = ' '
		} else {
			f.cells++
		}
		f.text = append(append(f.text, gap), l.text...)
		f.lines = 1
		f.cell = l
	} else if f.continues(l) {
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
	} else {
		return false
	}
	if l.page == f.area.page {
		f.area.add(l.area())
	}
	f.last = l
	return true
}

// inRow reports whether l is a further cell of the open row. The first cell may have been taken for blocks of their
// own, line by line: if it is short, they become a cell. What is long, or a list next to a list, is a column of text.
func (f *flowing) inRow(l line) bool {
	const most, short, tall = 4, 60, 8 // blocks, characters, lines
	h := l.height()
	if f.cells == 1 && (f.lines > tall || f.marked && l.marked() && !loneMarker(f.last.text)) {
		return false
	}
	within := func(a area) bool {
		return l.page == a.page && l.left >= a.right+0.3*h && l.top <= a.top+0.5*h && l.top > a.bottom
	}
	if l.left >= f.cell.right+0.3*h && l.page == f.last.page && within(area{
		page: l.page, right: f.cell.right, top: f.area.top, bottom: f.area.bottom,
	}) {
		return true
	}
	cell := f.area
	for i := len(f.blocks) - 1; i >= max(0, len(f.blocks)-most) && f.cells == 1; i-- {
		if f.blocks[i].kind == row || f.areas[i].page != l.page {
			return false
		}
		cell.add(f.areas[i])
		if !within(cell) {
			continue
		}
		var text []byte
		for _, b := range f.blocks[i:] {
			if len(text)+len(b.text)+len(f.text) > short {
				return false
			}
			text = append(append(text, b.text...), clauseEnd(b.text)...)
		}
		f.text = append(text, f.text...)
		f.blocks, f.areas = f.blocks[:i], f.areas[:i]
		f.area = cell
		return true
	}
	return false
}

func (f *flowing) continues(l line) bool {
	h := l.height()
	if l.marked() && !f.dashInside(l) || labelled.MatchString(l.text) && (ended(f.last.text) || f.labelled) ||
		math.Abs(h-f.last.height()) > 0.12*h || l.bold != f.last.bold {
		return false
	}
	if l.page != f.last.page || l.top > f.last.top+h && l.left > f.last.left { // the next page or column
		return l.page <= f.last.page+1 && f.cells == 1 && f.last.full(l) && !ended(f.last.text) && !l.begins()
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

// dashInside reports whether the dash at the start of a line is in a sentence that
// was wrapped before it, and starts no item.
func (f *flowing) dashInside(l line) bool {
	first, _ := utf8.DecodeRuneInString(l.text)
	return !l.bullet && strings.ContainsRune("-–—", first) && (!f.marked || f.cell.bullet || l.left > f.cell.left) &&
		f.last.full(l) && !ended(f.last.text)
}

// marked reports whether a line begins with a bullet or enumerator, or is one.
func (l line) marked() bool { return l.bullet || markerLen(l.text+" ") > 0 }

// begins reports whether a line looks like the start of something.
func (l line) begins() bool {
	first, _ := utf8.DecodeRuneInString(l.text)
	return unicode.IsUpper(first) || unicode.IsDigit(first)
}

// full reports whether the first word of next would not have fitted on the line, so that the break between them need
// not mean anything. Where the words run on, a doubt is decided for that.
func (l line) full(next line) bool {
	first, _ := utf8.DecodeRuneInString(next.text)
	slack := 0.25 * next.height() // the space, and a little
	switch {
	case (unicode.IsLower(first) || first == '(') && !ended(l.text), leadsOn.MatchString(l.text):
		slack = max(1.5*next.height(), ragged*(l.margin-l.left))
	case strings.HasSuffix(l.text, ",") || strings.HasSuffix(l.text, "-"):
		slack = 1.5 * next.height()
	}
	return l.right+next.first+slack > l.margin
}

// leadsOn matches a text that ends in a word that needs another.
var leadsOn = regexp.MustCompile(`\b(?:a|an|and|as|at|by|for|from|in|into|of|on|or|that|the|their|to|with)$`)

// ragged is the share of a line's width that may be empty where words of a sentence run on: some writers break lines
// after a number of letters.
const ragged = 0.4

// ended reports whether a text ends in a sign that ends a clause.
func ended(text string) bool {
	return text != "" && strings.ContainsRune(".;:!?", rune(text[len(text)-1]))
}

func (f *flowing) finish() {
	if f.lines == 0 {
		return
	}
	b := block{text: string(f.text), page: f.area.page}
	short := runes(b.text) <= 90 && f.lines <= 3 && f.cells == 1 && !strings.HasSuffix(b.text, ".") &&
		!strings.HasSuffix(b.text, ",")
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
	f.blocks, f.areas = append(f.blocks, b), append(f.areas, f.area)
}

func allCaps(s string) bool { return strings.ToUpper(s) == s && strings.ToLower(s) != s }

// bodyHeight is the height of the line in the middle when they stand in order of
// height, each as often as it has characters.
func bodyHeight(lines []line) float64 {
	characters := map[float64]int{} // by height
	total := 0
	for _, l := range lines {
		n := runes(l.text)
		characters[l.height()] += n
		total += n
	}
	for _, height := range slices.Sorted(maps.Keys(characters)) {
		if total -= 2 * characters[height]; total <= 0 {
			return max(height, 0.1)
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
