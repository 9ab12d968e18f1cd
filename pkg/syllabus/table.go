package syllabus

import (
	"strings"
	"unicode/utf8"
)

// tableDepth is how deep tables may nest; deeper ones are read as part of the table around them.
const tableDepth = 50

// Beyond these sizes a table lays out the page instead of holding rows.
const (
	cellBlocks = 12
	rowRunes   = 3000
)

// tables are the open tables of a document, the innermost last. Of each one's open
// row they hold where its cells begin: the index of a block.
type tables [][]int

func (t *tables) start() {
	if len(*t) < tableDepth {
		*t = append(*t, nil)
	}
}

func (t tables) startCell(blocks []block) {
	if n := len(t); n > 0 {
		t[n-1] = append(t[n-1], len(blocks))
	}
}

// endRow ends the open row of the innermost table and returns the blocks with that
// row as one, unless its cells only lay out the page.
func (t tables) endRow(blocks []block) []block {
	n := len(t)
	if n == 0 || len(t[n-1]) == 0 {
		return blocks
	}
	cells := t[n-1]
	t[n-1] = cells[:0]
	if text, ok := rowText(blocks, cells); ok {
		return append(blocks[:cells[0]], block{kind: row, text: text})
	}
	return blocks
}

func (t *tables) end(blocks []block) []block {
	blocks = t.endRow(blocks)
	*t = (*t)[:max(0, len(*t)-1)]
	return blocks
}

// rowText returns the text of the row whose cells begin at the given blocks; false if they do not form a row. It looks
// at no more than the sizes above, so that nested tables cost no more than flat ones.
func rowText(blocks []block, cells []int) (string, bool) {
	if all := len(blocks) - cells[0]; len(cells) == 1 || all < 2 || all > len(cells)*cellBlocks {
		return "", false
	}
	texts := make([]string, len(cells))
	total := 0
	for i, start := range cells {
		end := len(blocks)
		if i+1 < len(cells) {
			end = cells[i+1]
		}
		cell := blocks[start:end]
		if len(cell) > cellBlocks {
			return "", false
		}
		for j, b := range cell {
			if b.kind == row || b.kind == heading && len(cell) > 1 || len(b.text) > utf8.UTFMax*rowRunes {
				return "", false
			}
			if j > 0 {
				texts[i] += clauseEnd(texts[i])
			}
			texts[i] += strings.TrimSpace(b.text)
		}
		if total += runes(texts[i]); total > rowRunes {
			return "", false
		}
	}
	return strings.Join(texts, "\t"), true
}

// clauseEnd is what ends a part of a cell so that the next one starts a clause.
func clauseEnd(text string) string {
	if strings.HasSuffix(text, "-") || strings.HasSuffix(text, "–") {
		return ""
	}
	if text == "" || strings.ContainsRune(".;:,", rune(text[len(text)-1])) {
		return " "
	}
	return "; "
}
