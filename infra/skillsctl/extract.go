package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/skills"
	"skillscurriculum/pkg/skills/wordvectors"
	"skillscurriculum/pkg/syllabus"
)

// maxLine bounds a line of a -jsonl file, in bytes.
const maxLine = 16 << 20

// standardInput stands for the standard input in place of a file's name.
const standardInput = "-"

type extract struct {
	Taxonomy string   `placeholder:"FILE" help:"Compiled taxonomy (environment: TAXONOMY) instead of the built-in vocabulary."`
	Kind     string   `default:"auto" help:"auto, pdf, docx, html, md or text."`
	JSONL    string   `name:"jsonl" placeholder:"FILE" help:"File of lines {\"id\",\"text\"} to read instead of documents. - is the standard input."`
	Docs     []string `arg:"" optional:"" name:"doc" help:"Documents, or folders of documents. - is the standard input."`

	kind syllabus.Kind
}

// Validate implements kong's check of flags and arguments.
func (c *extract) Validate() (err error) {
	if (len(c.Docs) == 0) == (c.JSONL == "") {
		return errors.New("either documents or --jsonl")
	}
	c.kind, err = syllabus.ParseKind(c.Kind)
	return err
}

// extracted is a document's line in the output of extract.
type extracted struct {
	Document string             `json:"document"`
	Skills   []catalog.SkillRef `json:"skills"`
	Evidence []catalog.Evidence `json:"evidence"`
	Failure  *catalog.Failure   `json:"failure"`
	Warnings []catalog.Warning  `json:"warnings,omitempty"`
}

// extraction is one run of extract.
type extraction struct {
	*tool
	reader    syllabus.Reader
	extractor *skills.Extractor
	lines     *json.Encoder
	good, bad int // documents and lines that could be read, and that could not
}

// Run writes one line a document, also for one that cannot be read.
func (c *extract) Run(ctx context.Context, t *tool) error {
	name := c.Taxonomy
	if name == "" {
		name = t.getenv("TAXONOMY")
	}
	taxonomy, err := openTaxonomy(name)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(t.stdout)
	e := &extraction{tool: t, extractor: skills.NewExtractor(taxonomy, wordvectors.Table()), lines: json.NewEncoder(buffered)}
	e.lines.SetEscapeHTML(false)
	defer e.reader.Close()
	if c.JSONL != "" {
		err = e.texts(ctx, c.JSONL)
	} else {
		err = e.documents(ctx, c.Docs, c.kind)
	}
	if err = errors.Join(err, buffered.Flush()); err != nil || e.bad == 0 {
		return err
	}
	if e.good == 0 {
		return errors.New("nothing could be read")
	}
	return fmt.Errorf("%d of %d could not be read: %w", e.bad, e.bad+e.good, errPartly)
}

// documents extracts files and the files in folders.
func (e *extraction) documents(ctx context.Context, names []string, kind syllabus.Kind) error {
	files := e.files(names)
	step, end := func(int, int) {}, func() {}
	if len(files) > 1 {
		step, end = progress(e.stderr, "documents")
	}
	defer end()
	for i, name := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := e.read(name)
		if err != nil {
			err = e.unreadable(name, err)
		} else {
			err = e.document(ctx, name, data, syllabus.Hint{Name: name, Kind: kind})
		}
		if err != nil {
			return err
		}
		step(i+1, len(files))
	}
	return nil
}

// files lists what names name, in their order: of a folder all files below it,
// except hidden ones.
func (e *extraction) files(names []string) []string {
	var files []string
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			files = append(files, name)
			continue
		}
		err := filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
			switch hidden := path != name && strings.HasPrefix(entry.Name(), "."); {
			case err != nil:
				e.complain(path, err)
			case hidden && entry.IsDir():
				return fs.SkipDir
			case !hidden && !entry.IsDir():
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			e.complain(name, err)
		}
	}
	return files
}

func (e *extraction) read(name string) ([]byte, error) {
	if name == standardInput {
		return io.ReadAll(e.stdin)
	}
	return os.ReadFile(name)
}

// complain names what cannot be read.
func (e *extraction) complain(name string, err error) {
	e.bad++
	fmt.Fprintf(e.stderr, "skillsctl: %s: %v\n", name, reason(err))
}

// reason is an error without the file's name.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// unreadable writes the line of a document that cannot be read.
func (e *extraction) unreadable(name string, cause error) error {
	e.complain(name, cause)
	failure := &catalog.Failure{Code: catalog.Unreachable, Message: reason(cause).Error()}
	if errors.Is(cause, fs.ErrNotExist) {
		failure.Code = catalog.DocumentNotFound
	}
	return e.lines.Encode(extracted{Document: name, Skills: []catalog.SkillRef{}, Evidence: []catalog.Evidence{}, Failure: failure})
}

// document writes a document's line.
func (e *extraction) document(ctx context.Context, name string, data []byte, hint syllabus.Hint) error {
	line := extracted{Document: name, Skills: []catalog.SkillRef{}, Evidence: []catalog.Evidence{}}
	document, err := e.reader.Read(ctx, data, hint)
	switch {
	case errors.As(err, &line.Failure):
	case err != nil:
		return err
	default:
		result, err := e.extractor.Extract(ctx, document)
		if err != nil {
			return err
		}
		line.Skills, line.Evidence = append(line.Skills, result.Skills...), append(line.Evidence, result.Evidence...)
		line.Warnings = result.Warnings
	}
	e.good++
	return e.lines.Encode(line)
}

// texts extracts the lines of a -jsonl file. One that is no text is named and left out.
func (e *extraction) texts(ctx context.Context, name string) error {
	in, size := e.stdin, -1
	if name != standardInput {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return err
		}
		in, size = file, int(info.Size())
	}
	step, end := progress(e.stderr, "bytes of texts")
	defer end()
	reader := bufio.NewReader(in)
	read := 0
	for n := 1; ctx.Err() == nil; n++ {
		line, length, err := nextLine(reader)
		if err == io.EOF {
			return nil
		}
		if err != nil && !errors.Is(err, errLongLine) {
			return fmt.Errorf("%s: %w", name, err)
		}
		read += length
		if len(line) > 0 || err != nil {
			var id, text string
			if err == nil {
				id, text, err = parseLine(line)
			}
			if err != nil {
				e.complain(fmt.Sprintf("%s:%d", name, n), err)
			} else if err := e.document(ctx, id, []byte(text), syllabus.Hint{Kind: syllabus.Text}); err != nil {
				return err
			}
		}
		step(read, size)
	}
	return ctx.Err()
}

var errLongLine = fmt.Errorf("the line is longer than %d MB", maxLine>>20)

// nextLine reads a line without its end, and how long it was with it. Of one that
// is too long nothing is kept.
func nextLine(reader *bufio.Reader) (line []byte, length int, err error) {
	for {
		part, err := reader.ReadSlice('\n')
		length += len(part)
		if length <= maxLine {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
		case err != nil && (err != io.EOF || length == 0):
			return nil, length, err
		case length > maxLine:
			return nil, length, errLongLine
		default:
			return []byte(strings.TrimSpace(string(line))), length, nil
		}
	}
}

// parseLine returns the id, which may be a number, and the text of a line.
func parseLine(text []byte) (id, content string, err error) {
	var line struct {
		ID   json.RawMessage `json:"id"`
		Text *string         `json:"text"`
	}
	if err := json.Unmarshal(text, &line); err != nil {
		return "", "", fmt.Errorf("no JSON object: %w", err)
	}
	if json.Unmarshal(line.ID, &id) != nil {
		id = string(line.ID)
	}
	if line.Text == nil || id == "" {
		return "", "", errors.New(`"id" or "text" is missing`)
	}
	return id, *line.Text, nil
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
