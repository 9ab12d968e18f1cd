// Command outcomes measures how well the outcomes that a syllabus states are found: precision and recall against the
// statements that two labelers marked, on open documents, with which the rules were written, and on sealed ones, which
// nobody looked at for that; beside the labelers' agreement.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"skillscurriculum/infra/training/gold"
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/extraction/wordvectors"
	"skillscurriculum/pkg/syllabus"
)

func main() {
	data := flag.String("data", "../shared/data", "folder of the development data")
	flag.Parse()
	docs, err := measured(context.Background(), *data)
	if err != nil {
		fmt.Fprintln(os.Stderr, "outcomes:", err)
		os.Exit(1)
	}
	printFigures(docs)
}

// document is a labelled document with what is found in it, all in the form in which statements are compared.
type document struct {
	name   string
	sealed bool
	passes [2][]string
	found  []string
}

// measured reads the labelled documents and finds their outcomes.
func measured(ctx context.Context, data string) ([]document, error) {
	labelled, err := gold.Statements(data)
	if err != nil {
		return nil, err
	}
	var reader syllabus.Reader
	e := extraction.NewExtractor(extraction.Starter(), wordvectors.Table())
	var docs []document
	for _, l := range labelled {
		text, err := reader.Read(ctx, l.Raw, syllabus.Hint{Kind: syllabus.Markdown})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
		result, err := e.Extract(ctx, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
		d := document{name: l.Name, sealed: l.Sealed}
		for i, pass := range l.Passes {
			d.passes[i] = compared(pass)
		}
		for _, o := range result.Outcomes {
			d.found = append(d.found, o.Statement)
		}
		d.found = compared(d.found)
		docs = append(docs, d)
	}
	return docs, nil
}

var (
	address = regexp.MustCompile(`\]\([^)]*\)`)
	word    = regexp.MustCompile(`[\p{L}\p{N}]+`)
	opening = regexp.MustCompile(`^(?:(?:the )?(?:students?|learners?|participants?|you|they) (?:will|should|shall|can) )?` +
		`(?:be able to )?`)
)

// compared returns statements as words in lower case, without marks and without the words that lead in.
func compared(statements []string) []string {
	out := make([]string, len(statements))
	for i, s := range statements {
		words := word.FindAllString(strings.ToLower(address.ReplaceAllString(s, "]")), -1)
		out[i] = opening.ReplaceAllString(strings.Join(words, " "), "")
	}
	return out
}

// alike is the share of the longer statement that the shorter one has to have to be the same.
const alike = 0.8

// same reports whether two statements are equal, or one is nearly all of the other.
func same(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return strings.Contains(b, a) && float64(len(a)) >= alike*float64(len(b))
}

// matched pairs the statements of two lists, each at most once, equal ones first, and returns those of the first list
// that have a partner and those that have none.
func matched(a, b []string) (with, without []string) {
	taken, partner := make([]bool, len(b)), make([]bool, len(a))
	for _, is := range []func(a, b string) bool{func(a, b string) bool { return a == b }, same} {
		for i := range a {
			for j := range b {
				if !partner[i] && !taken[j] && is(a[i], b[j]) {
					partner[i], taken[j] = true, true
				}
			}
		}
	}
	for i, s := range a {
		if partner[i] {
			with = append(with, s)
		} else {
			without = append(without, s)
		}
	}
	return with, without
}

// figures are counts over documents.
type figures struct{ given, right, wanted, found int }

func (f figures) precision() float64 { return float64(f.right) / float64(max(1, f.given)) }
func (f figures) recall() float64    { return float64(f.found) / float64(max(1, f.wanted)) }

// judge counts how many of the statements given are right and how many of those wanted are given.
func (f *figures) judge(given, right, wanted []string) {
	good, _ := matched(given, right)
	held, _ := matched(wanted, given)
	f.given, f.right = f.given+len(given), f.right+len(good)
	f.wanted, f.found = f.wanted+len(wanted), f.found+len(held)
}

// either returns the statements of both passes once, and both those that both have.
func (d document) either() []string {
	_, more := matched(d.passes[1], d.passes[0])
	return slices.Concat(d.passes[0], more)
}

func (d document) both() []string {
	held, _ := matched(d.passes[0], d.passes[1])
	return held
}

// measure is a row of the table.
type measure struct {
	name  string
	judge func(d document, f *figures)
}

var measures = []measure{
	{"the second labeler against the first", func(d document, f *figures) {
		f.judge(d.passes[1], d.passes[0], d.passes[0])
	}},
	{"found, against the first labeler", func(d document, f *figures) { f.judge(d.found, d.passes[0], d.passes[0]) }},
	{"found, against the second labeler", func(d document, f *figures) { f.judge(d.found, d.passes[1], d.passes[1]) }},
	{agreed, func(d document, f *figures) { f.judge(d.found, d.either(), d.both()) }},
}

const agreed = "found, given by either, wanted by both"

// counted returns the figures of one measure on the open or the sealed documents.
func counted(docs []document, sealed bool, judge func(document, *figures)) (f figures) {
	for _, d := range docs {
		if d.sealed == sealed {
			judge(d, &f)
		}
	}
	return f
}

func printFigures(docs []document) {
	w := tabwriter.NewWriter(os.Stdout, 2, 0, 2, ' ', 0)
	fmt.Fprintln(w, "outcomes found in syllabi\topen: precision\trecall\tsealed: "+
		"precision\trecall\twanted, open and sealed")
	for _, m := range measures {
		open := counted(docs, false, m.judge)
		sealed := counted(docs, true, m.judge)
		fmt.Fprintf(w, "%s\t%.3f\t%.3f\t%.3f\t%.3f\t%d, %d\n", m.name, open.precision(), open.recall(), sealed.precision(),
			sealed.recall(), open.wanted, sealed.wanted)
	}
	w.Flush()
}
