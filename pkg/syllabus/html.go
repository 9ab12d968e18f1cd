package syllabus

import (
	"errors"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skillscurriculum/pkg/catalog"
)

// loginText is how much text a page may hold, in characters, and still be taken
// for a login form when it asks for a password.
const loginText = 1500

// readHTML returns the main text of a page: what stands in main or article where that is at least half of the text,
// else all but navigation, page head and foot. It goes by tokens, without a tree: hostile nesting costs nothing, and
// nothing of a broken page is lost.
func readHTML(page string, spent *budget) ([]block, error) {
	r := htmlReader{spent: spent}
	z := html.NewTokenizer(reading{strings.NewReader(page), spent})
	for {
		err := spent.spend(0)
		switch z.Next() {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) {
				return nil, z.Err()
			}
			return r.finish()
		case html.TextToken:
			if r.hidden == 0 {
				text := z.Text()
				r.text.Write(text)
				if !r.pre { // its text is counted when it is read as lines
					err = spent.spend(len(text))
				}
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			err = r.open(z.Token())
		case html.EndTagToken:
			name, _ := z.TagName()
			err = r.close(atom.Lookup(name))
		}
		if err != nil {
			return nil, err
		}
	}
}

type htmlReader struct {
	spent   *budget
	text    strings.Builder // of the open block
	kind    blockKind
	level   int
	blocks  []block
	regions []region // of blocks
	tables  tables

	hidden   int // open elements named hiddenBy, whose content is not shown
	hiddenBy atom.Atom
	asides   int
	mains    int
	pre      bool
	password bool
}

// region is where on the page a block stands.
type region struct{ main, aside bool }

// unseen elements hold no text for readers.
var unseen = atoms(
	atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Object, atom.Select,
	atom.Textarea, atom.Button, atom.Title, atom.Canvas, atom.Audio, atom.Video,
)

// inline elements do not end a line; nor do elements that HTML does not know.
var inline = atoms(
	0, atom.A, atom.Abbr, atom.Acronym, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Cite, atom.Code, atom.Data,
	atom.Del, atom.Dfn, atom.Em, atom.Font, atom.I, atom.Img, atom.Input, atom.Ins, atom.Kbd, atom.Label, atom.Mark,
	atom.Q, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strike, atom.Strong, atom.Sub, atom.Sup, atom.Time,
	atom.Tt, atom.U, atom.Var, atom.Wbr,
)

func atoms(all ...atom.Atom) map[atom.Atom]bool {
	set := map[atom.Atom]bool{}
	for _, a := range all {
		set[a] = true
	}
	return set
}

var headings = map[atom.Atom]int{atom.H1: 1, atom.H2: 2, atom.H3: 3, atom.H4: 4, atom.H5: 5, atom.H6: 6}

// isAside reports whether an element surrounds the text: navigation anywhere, heads
// and feet of the page but not those of the main part.
func (r *htmlReader) isAside(tag atom.Atom) bool {
	return tag == atom.Nav || r.mains == 0 && (tag == atom.Header || tag == atom.Footer || tag == atom.Aside)
}

func (r *htmlReader) open(t html.Token) error {
	tag := t.DataAtom
	if r.hidden > 0 {
		if tag == r.hiddenBy && t.Type == html.StartTagToken {
			r.hidden++
		}
		return nil
	}
	if inline[tag] {
		r.password = r.password || tag == atom.Input && slices.ContainsFunc(t.Attr, func(a html.Attribute) bool {
			return a.Key == "type" && strings.EqualFold(a.Val, "password")
		})
		return nil
	}
	if tag == atom.Br && r.kind == heading {
		r.text.WriteByte(' ')
		return nil
	}
	if unseen[tag] {
		if t.Type == html.StartTagToken {
			r.hidden, r.hiddenBy = 1, tag
		}
		return nil
	}
	if err := r.flush(); err != nil {
		return err
	}
	switch {
	case tag == atom.Main || tag == atom.Article:
		r.mains++
	case r.isAside(tag):
		r.asides++
	case tag == atom.Li || tag == atom.Dt || tag == atom.Dd:
		r.kind = item
	case headings[tag] > 0:
		r.kind, r.level = heading, headings[tag]
	case tag == atom.Pre:
		r.pre = true
	case tag == atom.Table:
		r.tables.start()
	case tag == atom.Tr:
		r.joined(r.tables.endRow(r.blocks))
	case tag == atom.Td || tag == atom.Th:
		r.tables.startCell(r.blocks)
	}
	return nil
}

func (r *htmlReader) close(tag atom.Atom) error {
	if r.hidden > 0 {
		if tag == r.hiddenBy {
			r.hidden--
		}
		return nil
	}
	if inline[tag] {
		return nil
	}
	if err := r.flush(); err != nil {
		return err
	}
	switch {
	case tag == atom.Main || tag == atom.Article:
		r.mains = max(0, r.mains-1)
	case r.isAside(tag):
		r.asides = max(0, r.asides-1)
	case tag == atom.Li || tag == atom.Ul || tag == atom.Ol || tag == atom.Dl || tag == atom.Dd || headings[tag] > 0:
		r.kind = paragraph
	case tag == atom.Pre:
		r.pre = false
	case tag == atom.Tr:
		r.joined(r.tables.endRow(r.blocks))
	case tag == atom.Table:
		r.joined(r.tables.end(r.blocks))
	}
	return nil
}

var spaces = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// flush ends the open block.
func (r *htmlReader) flush() error {
	text := r.text.String()
	r.text.Reset()
	if strings.TrimSpace(text) == "" {
		return nil
	}
	blocks := []block{{kind: r.kind, level: r.level, text: spaces.Replace(text)}}
	if r.pre {
		var err error
		if blocks, err = readText(text, r.spent); err != nil {
			return err
		}
	}
	here := region{main: r.mains > 0, aside: r.asides > 0 && (r.kind != heading || r.level > 1)}
	for _, b := range blocks {
		r.blocks = append(r.blocks, b)
		r.regions = append(r.regions, here)
	}
	if r.kind == heading {
		r.kind = paragraph
	}
	return nil
}

// joined takes the blocks after the end of a row.
func (r *htmlReader) joined(blocks []block) {
	r.blocks, r.regions = blocks, r.regions[:len(blocks)]
}

// finish chooses the main part of the page.
func (r *htmlReader) finish() ([]block, error) {
	if err := r.flush(); err != nil {
		return nil, err
	}
	for len(r.tables) > 0 {
		r.joined(r.tables.end(r.blocks))
	}
	inMain := func(g region) bool { return g.main && !g.aside }
	notAside := func(g region) bool { return !g.aside }
	chosen, all := r.where(inMain), r.where(notAside)
	if 2*size(chosen) < size(all) {
		chosen = all
	}
	if size(chosen) == 0 {
		chosen = r.blocks
	}
	if r.password && size(chosen) < loginText {
		return nil, fail(catalog.LoginRequired, "The address leads to a login page.")
	}
	return chosen, nil
}

func (r *htmlReader) where(keep func(region) bool) []block {
	var kept []block
	for i, b := range r.blocks {
		if keep(r.regions[i]) {
			kept = append(kept, b)
		}
	}
	return kept
}

func size(blocks []block) int {
	n := 0
	for _, b := range blocks {
		n += runes(b.text)
	}
	return n
}
