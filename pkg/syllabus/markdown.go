package syllabus

import (
	"cmp"
	"context"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Up to these sizes a text is parsed as Markdown. The parser cannot be stopped, and
// its work grows with the square of what is nested or stands in one block, so that
// anything beyond is read as plain text.
const (
	markdownBytes   = 512 << 10
	markdownBlock   = 32 << 10 // without an empty line
	markdownNesting = 20       // quotes and lists opened on one line
)

func tooMuchMarkdown(source string) bool {
	block := 0
	for l := range strings.Lines(source) {
		if block += len(l); strings.TrimSpace(l) == "" {
			block = 0
		}
		marks := l[:len(l)-len(strings.TrimLeft(l, ">-*+ \t"))]
		if block > markdownBlock || strings.Count(marks, ">")+strings.Count(marks, "- ")+strings.Count(marks, "* ")+strings.Count(marks, "+ ") > markdownNesting {
			return true
		}
	}
	return len(source) > markdownBytes
}

// readMarkdown gives the text of CommonMark with tables, strikethrough and
// footnotes. Front matter is data about the file and is dropped, but for the
// course's code and title where no main heading tells them.
func readMarkdown(ctx context.Context, source string, limits Limits) ([]block, error) {
	body, title := frontMatter(strings.ReplaceAll(source, "\r\n", "\n"))
	if tooMuchMarkdown(body) {
		return readText(ctx, body, limits)
	}
	r := markdownReader{budget: budget{ctx: ctx, limits: limits}, source: []byte(body)}
	parser := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Footnote)).Parser()
	if err := r.children(parser.Parse(text.NewReader(r.source)), paragraph); err != nil {
		return nil, err
	}
	for _, b := range r.blocks {
		if b.kind == heading && b.level == 1 {
			return r.blocks, nil
		}
	}
	return append([]block{{kind: heading, level: 1, text: title}}, r.blocks...), nil
}

var frontMatterField = regexp.MustCompile(`(?m)^(course_code|code|course_title|title|name):[ \t]*["']?(.*?)["']?[ \t]*$`)

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
	budget
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
	if err := r.spend(0); err != nil {
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
		return r.embed(readText(r.ctx, string(n.Lines().Value(r.source)), r.limits))
	case *ast.HTMLBlock:
		raw := string(n.Lines().Value(r.source))
		if n.HasClosure() {
			raw += string(n.ClosureLine.Value(r.source))
		}
		return r.embed(readHTML(r.ctx, raw, r.limits))
	case *east.TableHeader, *east.TableRow:
		var cells [][]block
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			cell := markdownReader{budget: r.budget, source: r.source}
			if err := cell.lines(c, block{}); err != nil {
				return err
			}
			cells = append(cells, cell.blocks)
		}
		r.blocks = append(r.blocks, tableRow(cells)...)
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
		return ast.WalkContinue, r.spend(1)
	})
	end()
	return err
}
