package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/skills"
	"skillscurriculum/pkg/syllabus"
)

// extracted is a document's line in the output of extract.
type extracted struct {
	Document string             `json:"document"`
	Skills   []catalog.SkillRef `json:"skills"`
	Evidence []catalog.Evidence `json:"evidence"`
	Failure  *catalog.Failure   `json:"failure"`
	Warnings []catalog.Warning  `json:"warnings,omitempty"`
}

// maxLine bounds a line of a -jsonl file.
const maxLine = 16 << 20

func (t *tool) extract(ctx context.Context, a *arguments) error {
	taxonomyFile := a.String("taxonomy", t.getenv("TAXONOMY"), "compiled taxonomy instead of the built-in vocabulary")
	kindText := a.String("kind", "auto", "auto, pdf, docx, html, md or text")
	jsonl := a.String("jsonl", "", "file of lines {\"id\",\"text\"} to read instead of documents; - is the standard input")
	files, err := a.parse(0, -1)
	if err != nil {
		return err
	}
	if (len(files) == 0) == (*jsonl == "") {
		return fmt.Errorf("either documents or -jsonl: %s", a.usage)
	}
	kind, err := syllabus.ParseKind(*kindText)
	if err != nil {
		return err
	}
	for _, name := range files {
		if _, err := os.Stat(name); err != nil {
			return err // before the work begins
		}
	}
	taxonomy, err := openTaxonomy(*taxonomyFile)
	if err != nil {
		return err
	}
	reader := &syllabus.Reader{}
	defer reader.Close()
	buffered := bufio.NewWriter(t.stdout)
	lines := json.NewEncoder(buffered)
	lines.SetEscapeHTML(false)
	extractor := skills.NewExtractor(taxonomy)
	one := func(name string, data []byte, hint syllabus.Hint) error {
		line := extracted{Document: name, Skills: []catalog.SkillRef{}, Evidence: []catalog.Evidence{}}
		document, err := reader.Read(ctx, data, hint)
		switch {
		case errors.As(err, &line.Failure):
		case err != nil:
			return err
		default:
			result := extractor.Extract(document)
			line.Skills, line.Evidence = append(line.Skills, result.Skills...), append(line.Evidence, result.Evidence...)
			line.Warnings = result.Warnings
		}
		return lines.Encode(line)
	}
	if *jsonl != "" {
		err = t.eachLine(ctx, *jsonl, func(id, text string) error {
			return one(id, []byte(text), syllabus.Hint{Kind: syllabus.Text})
		})
	}
	step, end := func(int, int) {}, func() {}
	if len(files) > 1 {
		step, end = progress(t.stderr, "documents")
	}
	defer end()
	for i, name := range files {
		if err = ctx.Err(); err != nil {
			break
		}
		var data []byte
		if data, err = os.ReadFile(name); err != nil {
			break
		}
		if err = one(name, data, syllabus.Hint{Name: name, Kind: kind}); err != nil {
			break
		}
		step(i+1, len(files))
	}
	return errors.Join(err, buffered.Flush())
}

// eachLine reads the lines of a -jsonl file.
func (t *tool) eachLine(ctx context.Context, name string, each func(id, text string) error) error {
	var in io.Reader = os.Stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	step, end := progress(t.stderr, "texts")
	defer end()
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, maxLine)
	for n := 1; scanner.Scan(); n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		var line struct {
			ID   json.RawMessage `json:"id"`
			Text *string         `json:"text"`
		}
		if len(scanner.Bytes()) == 0 {
			continue
		}
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			return fmt.Errorf("%s:%d: no JSON object: %w", name, n, err)
		}
		// An id may be a number.
		id := string(line.ID)
		if json.Unmarshal(line.ID, &id) != nil && len(line.ID) > 0 {
			id = string(line.ID)
		}
		if line.Text == nil || id == "" {
			return fmt.Errorf(`%s:%d: "id" or "text" is missing`, name, n)
		}
		if err := each(id, *line.Text); err != nil {
			return err
		}
		step(n, -1)
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// openTaxonomy opens a compiled taxonomy; the built-in vocabulary where name is empty.
func openTaxonomy(name string) (*skills.Taxonomy, error) {
	if name == "" {
		return skills.Starter(), nil
	}
	compiled, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("taxonomy: %w", err)
	}
	taxonomy, err := skills.Open(compiled)
	if err != nil {
		return nil, fmt.Errorf("taxonomy %s: %w", name, err)
	}
	return taxonomy, nil
}
