package syllabus

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"skillscurriculum/pkg/catalog"
)

type blockKind int

const (
	paragraph blockKind = iota
	heading
	item
	row
)

// block is a line of the document to be. In text, a tab stands between the cells
// of a row or the parts of a line that a wide gap separates.
type block struct {
	kind  blockKind
	level int // of a heading, from 1
	text  string
	page  int // from 1; 0 if the format has no pages
}

// cellGap is what a tab becomes in the document's text: visible, so that no phrase is read across two cells.
const cellGap = " | "

// assemble returns the document made of blocks. A paragraph that runs over two pages belongs to the first.
func assemble(blocks []block, spent *budget) (catalog.SyllabusText, error) {
	var text strings.Builder
	var pages []int
	for _, b := range blocks {
		if err := spent.spend(0); err != nil {
			return catalog.SyllabusText{}, err
		}
		s := clean(b.text)
		if b.kind != row {
			s = unmarked(s)
		}
		if !hasWord(s) {
			continue
		}
		if text.Len() > 0 {
			text.WriteByte('\n')
			if b.kind == heading {
				text.WriteByte('\n')
			}
		}
		for len(pages) < b.page {
			pages = append(pages, text.Len())
		}
		text.WriteString(s)
	}
	if len(pages) > 0 {
		pages[0] = 0
	}
	if text.Len() > maxText {
		return catalog.SyllabusText{}, errText()
	}
	return catalog.SyllabusText{Text: text.String(), Pages: pages}, nil
}

// ligatures are letters that fonts draw as one and PDFs keep as one.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ",
	"st", "ﬆ", "st")

// clean returns one line in NFC without controls, invisible characters and
// doubled or outer spaces; tabs become the cell gap.
func clean(s string) string {
	s = ligatures.Replace(strings.ToValidUTF8(s, ""))
	var out strings.Builder
	out.Grow(len(s))
	space, gap := false, false
	for _, r := range s {
		switch {
		case r == '\t':
			gap = true
		case unicode.IsSpace(r):
			space = true
		case unicode.Is(unicode.C, r) || r == utf8.RuneError:
		default:
			if out.Len() > 0 {
				if gap {
					out.WriteString(cellGap)
				} else if space {
					out.WriteByte(' ')
				}
			}
			space, gap = false, false
			out.WriteRune(r)
		}
	}
	// Last, since what has gone may have stood between a letter and its accent.
	return norm.NFC.String(out.String())
}

// bullets are the signs that start a list item in documents without list markup.
const bullets = "•‣⁃∙◦●○▪▫■□◆◇▶►▸➢➤➔→✓✔❖·–—-*+"

// unmarked strips the bullet or enumerator from the start of a line. Formats
// with list markup never hold it as text, so the others must not either.
func unmarked(s string) string {
	for range 2 {
		n := markerLen(s)
		if n == 0 {
			break
		}
		s = strings.TrimPrefix(strings.TrimLeft(s[n:], " "), "| ")
	}
	return s
}

// sectionNumber is a numbering of several levels before a capital letter; with one
// level only, or before anything else, it may be a quantity.
var sectionNumber = regexp.MustCompile(`^\d{1,2}(?:\.\d{1,2}){1,3}\.?[ \t][A-Z]`)

// labelled is a line that begins with a label like CO 1:, Module 2 or Week III.
var labelled = regexp.MustCompile(`^\pL{1,12}[ .\-]{0,2}(?:\d{1,2}|[IVX]{1,5})(?: ?[:.)–-]|[ \t]|$)`)

// markerLen is the length of the bullet or enumerator that starts s; 0 for none.
func markerLen(s string) int {
	first, n := utf8.DecodeRuneInString(s)
	if strings.ContainsRune(bullets, first) {
		next, _ := utf8.DecodeRuneInString(s[n:])
		if next == ' ' || next == '\t' || first > unicode.MaxASCII && unicode.IsLetter(next) {
			return n
		}
		return 0
	}
	if unicode.Is(unicode.Co, first) || strings.HasPrefix(s, "o ") {
		return n
	}
	if n := len(sectionNumber.FindString(s)); n > 0 {
		return n - 2 // a space and a capital letter follow
	}
	rest := strings.TrimPrefix(s, "(")
	end := strings.IndexAny(rest[:min(len(rest), 5)], ".)")
	if end < 1 || end > 4 || end+1 >= len(rest) || rest[end+1] != ' ' && rest[end+1] != '\t' {
		return 0
	}
	number := strings.Trim(rest[:end], "0123456789") == "" && end <= 2
	letter := end == 1 && rest[0] >= 'a' && rest[0] <= 'z'
	roman := strings.Trim(rest[:end], "ivx") == "" || strings.Trim(rest[:end], "IVX") == ""
	if number || letter || roman {
		return len(s) - len(rest) + end + 1
	}
	return 0
}

// loneMarker reports whether a text is a bullet or enumerator and nothing else.
func loneMarker(s string) bool { return s != "" && markerLen(s+" ") == len(s) }

func hasWord(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}
