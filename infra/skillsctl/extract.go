package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/extraction/wordvectors"
	"skillscurriculum/pkg/skills"
	"skillscurriculum/pkg/syllabus"
)

// maxLine is the maximum length of a line in a -jsonl file, in bytes.
const maxLine = 16 << 20

// standardInput stands for the standard input in place of a file name.
const standardInput = "-"

type extract struct {
	Taxonomy string   `placeholder:"FILE" help:"Compiled taxonomy (environment: TAXONOMY). The default is the built-in vocabulary."`
	Kind     string   `default:"auto" help:"auto, pdf, docx, html, md or text."`
	JSONL    string   `name:"jsonl" placeholder:"FILE" help:"File of lines {\"id\",\"text\"} to read instead of documents. - is the standard input."`
	Docs     []string `arg:"" optional:"" name:"doc" help:"Documents, or folders of documents. - is the standard input."`

	kind syllabus.Kind
}

// Validate implements kong's check of flags and arguments.
func (c *extract) Validate() (err error) {
	if (len(c.Docs) == 0) == (c.JSONL == "") {
		return errors.New("specify either documents or --jsonl")
	}
	c.kind, err = syllabus.ParseKind(c.Kind)
	return err
}

// extracted is a line of the output.
type extracted struct {
	Document string             `json:"document"`
	Skills   []catalog.SkillRef `json:"skills"`
	Evidence []catalog.Evidence `json:"evidence"`
	Failure  *catalog.Failure   `json:"failure"`
	Warnings []catalog.Warning  `json:"warnings,omitempty"`
}

// extracting is one run of extract.
type extracting struct {
	*tool
	reader    syllabus.Reader
	extractor *extraction.Extractor
	lines     *json.Encoder
	good, bad int // documents or lines that could be read, and that could not
}

// Run writes one line per document, including those that cannot be read.
func (c *extract) Run(ctx context.Context, t *tool) error {
	taxonomy, err := openTaxonomy(cmp.Or(c.Taxonomy, t.getenv("TAXONOMY")))
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(t.stdout)
	e := &extracting{
		tool: t, extractor: extraction.NewExtractor(taxonomy, wordvectors.Table()), lines: json.NewEncoder(buffered),
	}
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
	return fmt.Errorf("%d of %d could not be read: %w", e.bad, e.bad+e.good, errPartly)
}

// documents extracts files and the files in folders.
func (e *extracting) documents(ctx context.Context, names []string, kind syllabus.Kind) error {
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

// files lists the given files, and all files below given folders except hidden ones.
func (e *extracting) files(names []string) []string {
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

func (e *extracting) read(name string) ([]byte, error) {
	if name == standardInput {
		return io.ReadAll(e.stdin)
	}
	return os.ReadFile(name)
}

// complain reports that a file or line cannot be read.
func (e *extracting) complain(name string, err error) {
	e.bad++
	fmt.Fprintf(e.stderr, "skillsctl: %s: %v\n", name, reason(err))
}

// reason returns an error without the name of the file.
func reason(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

// unreadable writes the line of a document that cannot be read.
func (e *extracting) unreadable(name string, cause error) error {
	e.complain(name, cause)
	line := newLine(name)
	line.Failure = &catalog.Failure{Code: catalog.Unreachable, Message: reason(cause).Error()}
	if errors.Is(cause, fs.ErrNotExist) {
		line.Failure.Code = catalog.DocumentNotFound
	}
	return e.lines.Encode(line)
}

func newLine(document string) extracted {
	return extracted{Document: document, Skills: []catalog.SkillRef{}, Evidence: []catalog.Evidence{}}
}

// document writes a document's line.
func (e *extracting) document(ctx context.Context, name string, data []byte, hint syllabus.Hint) error {
	line := newLine(name)
	document, err := e.reader.Read(ctx, data, hint)
	switch {
	case errors.As(err, &line.Failure):
		e.complain(name, errors.New(line.Failure.Message))
		return e.lines.Encode(line)
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

// texts extracts the lines of a -jsonl file. Invalid lines are reported and skipped.
func (e *extracting) texts(ctx context.Context, name string) error {
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

// nextLine reads a line without its end, and returns its length in the file. Lines that are too long are discarded.
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

// parseLine returns the id, which may also be a number, and the text of a line.
func parseLine(text []byte) (id, content string, err error) {
	var line struct {
		ID   json.RawMessage `json:"id"`
		Text *string         `json:"text"`
	}
	if err := json.Unmarshal(text, &line); err != nil {
		return "", "", fmt.Errorf("not a JSON object: %w", err)
	}
	if json.Unmarshal(line.ID, &id) != nil {
		id = string(line.ID)
	}
	if line.Text == nil || id == "" {
		return "", "", errors.New(`"id" or "text" is missing`)
	}
	return id, *line.Text, nil
}

// starterName stands for the built-in vocabulary in place of a file name.
const starterName = "starter"

// openTaxonomy opens a compiled taxonomy. If name is empty or starterName, it opens the built-in vocabulary.
func openTaxonomy(name string) (*skills.Taxonomy, error) {
	if name == starterName {
		name = ""
	}
	return boot.Config{TaxonomyFile: name}.Taxonomy(extraction.Starter)
}
