package syllabus

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Up to these sizes a text is parsed as Markdown. The parser's work grows with the square of what is nested or stands
// in one block, and it fills up the rows of a table with empty cells, so that anything beyond is read as plain text.
const (
	markdownBytes   = 512 << 10
	markdownBlock   = 16 << 10 // without an empty line
	markdownNesting = 20       // quotes and lists opened on one line
	markdownCells   = 10_000   // of a table, if the block were one
)

func tooMuchMarkdown(source string) bool {
	block, lines, columns := 0, 0, 0
	for l := range strings.Lines(source) {
		if strings.Trim(l, " \t\r\n") == "" {
			block, lines, columns = 0, 0, 0
			continue
		}
		block += len(l)
		lines++
		columns = max(columns, 1+strings.Count(l, "|"))
		marks := l[:len(l)-len(strings.TrimLeft(l, ">-*+ \t"))]
		nesting := strings.Count(marks, ">") + strings.Count(marks, "- ") + strings.Count(marks, "* ") +
			strings.Count(marks, "+ ")
		if block > markdownBlock || nesting > markdownNesting || lines*columns > markdownCells {
			return true
		}
	}
	return len(source) > markdownBytes
}

// watch ends the parser when the document's time is up, by a panic with the error.
// It reads for the parser's blocks, and is asked wherever inline markup may begin.
type watch struct {
	text.Reader
	spent *budget
}

func (w watch) PeekLine() ([]byte, text.Segment) {
	w.check()
	return w.Reader.PeekLine()
}

// Trigger implements parser.InlineParser.
func (w watch) Trigger() []byte { return []byte("[*_<`~") }

// Parse implements parser.InlineParser; it takes nothing.
func (w watch) Parse(ast.Node, text.Reader, parser.Context) ast.Node {
	w.check()
	return nil
}

type timeUp struct{ error }

func (w watch) check() {
	if err := w.spent.ctx.Err(); err != nil {
		panic(timeUp{err})
	}
}

// parse returns the tree of a Markdown text.
func parse(source []byte, spent *budget) (root ast.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			up, ok := p.(timeUp)
			if !ok {
				panic(p)
			}
			err = up.error
		}
	}()
	w := watch{text.NewReader(source), spent}
	markdown := goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Footnote),
		goldmark.WithParserOptions(parser.WithInlineParsers(util.Prioritized(w, 0))),
	)
	return markdown.Parser().Parse(w), nil
}

// readMarkdown returns the text of CommonMark with tables, strikethrough and
// footnotes. Front matter is data about the file and is dropped, but for the
// course's code and title where no main heading names them.
func readMarkdown(source string, spent *budget) ([]block, error) {
	body, title := frontMatter(strings.ReplaceAll(source, "\r\n", "\n"))
	if tooMuchMarkdown(body) {
		return readText(body, spent)
	}
	r := markdownReader{spent: spent, source: []byte(body)}
	root, err := parse(r.source, spent)
	if err != nil {
		return nil, err
	}
	if err := r.children(root, paragraph); err != nil {
		return nil, err
	}
	for _, b := range r.blocks {
		if b.kind == heading && b.level == 1 {
			return r.blocks, nil
		}
	}
	return append([]block{{kind: heading, level: 1, text: title}}, r.blocks...), nil
}

var frontMatterField = regexp.MustCompile(`(?m)^(course_code|code|course_title|title|` +
	`name):[ \t]*["']?(.*?)["']?[ \t]*$`)

// frontMatter cuts a block of YAML off the start of a text and makes a title of
// its code and title.
func frontMatter(source string) (body, title string) {
	source = strings.TrimPrefix(source, "\ufeff")
	yaml := markdownFrontMatter.FindString(source)
	if yaml == "" {
		return source, ""
	}
	fields := map[string]string{}
	for _, m := range frontMatterField.FindAllStringSubmatch(yaml, -1) {
		value := m[2]
		if !strings.Contains(value, " ") {
			value = strings.ReplaceAll(value, "-", " ")
		}
		fields[strings.TrimPrefix(m[1], "course_")] = value
	}
	return source[len(yaml):], strings.TrimSpace(fields["code"] + " " + cmp.Or(fields["title"], fields["name"]))
}

type markdownReader struct {
	spent  *budget
	source []byte
	blocks []block
}

// children reads the blocks under a node; kind is what their paragraphs are.
func (r *markdownReader) children(parent ast.Node, kind blockKind) error {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if err := r.block(n, kind); err != nil {
			return err
		}
	}
	return nil
}

func (r *markdownReader) block(n ast.Node, kind blockKind) error {
	if err := r.spent.spend(0); err != nil {
		return err
	}
	switch n := n.(type) {
	case *ast.Heading:
		return r.lines(n, block{kind: heading, level: n.Level})
	case *ast.Paragraph, *ast.TextBlock:
		return r.lines(n, block{kind: kind})
	case *ast.ListItem:
		return r.children(n, item)
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return r.embed(readText(string(n.Lines().Value(r.source)), r.spent))
	case *ast.HTMLBlock:
		raw := string(n.Lines().Value(r.source))
		if n.HasClosure() {
			raw += string(n.ClosureLine.Value(r.source))
		}
		return r.embed(readHTML(raw, r.spent))
	case *east.TableHeader, *east.TableRow:
		table := tables{nil}
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			table.startCell(r.blocks)
			if err := r.lines(c, block{}); err != nil {
				return err
			}
		}
		r.blocks = table.end(r.blocks)
		return nil
	}
	return r.children(n, kind)
}

func (r *markdownReader) embed(blocks []block, err error) error {
	r.blocks = append(r.blocks, blocks...)
	return err
}

// lines adds the inline content of a node as one block, or as one for each line
// where the author broke it.
func (r *markdownReader) lines(n ast.Node, like block) error {
	var text strings.Builder
	end := func() {
		if like.text = text.String(); hasWord(like.text) {
			r.blocks = append(r.blocks, like)
		}
		text.Reset()
	}
	broken := func() {
		if like.kind == heading {
			text.WriteByte(' ')
		} else {
			end()
		}
	}
	err := ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			value := n.Segment.Value(r.source)
			if n.Parent().Kind() != ast.KindCodeSpan {
				value = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value)))
			}
			text.WriteString(spaces.Replace(string(value)))
			switch {
			case n.HardLineBreak():
				broken()
			case n.SoftLineBreak():
				text.WriteByte(' ')
			}
		case *ast.String:
			text.Write(n.Value)
		case *ast.AutoLink:
			text.Write(n.Label(r.source))
		case *ast.RawHTML:
			if strings.HasPrefix(strings.ToLower(string(n.Segments.Value(r.source))), "<br") {
				broken()
			}
		case *ast.Image:
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, r.spent.spend(1)
	})
	end()
	return err
}
