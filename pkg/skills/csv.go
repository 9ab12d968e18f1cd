package skills

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// rowReader reads a table with a header line; the order of its columns does not matter.
type rowReader struct {
	columns map[string]int
	row     []string
	next    func() ([]string, error)
}

// column names are compared without case, outer spaces and byte order mark.
func columnName(s string) string {
	return strings.ToLower(strings.TrimSpace(strings.TrimPrefix(s, "\ufeff")))
}

func newRowReader(next func() ([]string, error), required ...string) (*rowReader, error) {
	header, err := next()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the table is empty")
	}
	if err != nil {
		return nil, err
	}
	t := &rowReader{columns: make(map[string]int, len(header)), next: next}
	for i, h := range header {
		if name := columnName(h); t.columns[name] == 0 {
			t.columns[name] = i + 1
		}
	}
	for _, name := range required {
		if t.columns[name] == 0 {
			return nil, fmt.Errorf("the column %q is missing", name)
		}
	}
	return t, nil
}

// read advances to the next row; it returns io.EOF after the last.
func (t *rowReader) read() (err error) {
	t.row, err = t.next()
	return err
}

// get returns a column of the row, "" if the row or the table lacks it.
func (t *rowReader) get(name string) string {
	i := t.columns[name]
	if i == 0 || i > len(t.row) {
		return ""
	}
	return strings.TrimSpace(t.row[i-1])
}

func readCSV(r io.Reader, required ...string) (*rowReader, error) {
	c := csv.NewReader(bufio.NewReader(r))
	c.FieldsPerRecord = -1
	c.LazyQuotes = true
	c.ReuseRecord = true
	return newRowReader(c.Read, required...)
}

// readTabs reads the text format of O*NET: tab-separated columns without quotes.
func readTabs(r io.Reader, required ...string) (*rowReader, error) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	next := func() ([]string, error) {
		if !s.Scan() {
			if err := s.Err(); err != nil {
				return nil, err
			}
			return nil, io.EOF
		}
		return strings.Split(strings.TrimSuffix(s.Text(), "\r"), "\t"), nil
	}
	return newRowReader(next, required...)
}

// eachRow calls row for every row of comma-separated values that have the required columns.
func eachRow(r io.Reader, required []string, row func(*rowReader) error) error {
	t, err := readCSV(r, required...)
	if err != nil {
		return err
	}
	return each(t, func() error { return row(t) })
}

// each calls row for every row of the table.
func each(t *rowReader, row func() error) error {
	for n := 2; ; n++ {
		err := t.read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = row()
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", n, err)
		}
	}
}

// AddCSV reads a custom vocabulary: the columns id and name, and optionally kind, field,
// aliases, description and broader; values of aliases and broader are separated by bars.
// source describes it; its Skills, Labels and Occupations are ignored.
func (b *Builder) AddCSV(source Info, r io.Reader) error {
	own := map[string]bool{}
	err := eachRow(r, []string{"id", "name"}, func(t *rowReader) error {
		id := clean(t.get("id"))
		if id == "" || t.get("name") == "" {
			return errors.New("a skill needs an id and a name")
		}
		if own[id] {
			return fmt.Errorf("duplicate id %q", id)
		}
		own[id] = true
		b.add(Skill{
			ID: id, Name: t.get("name"), Description: t.get("description"), Field: t.get("field"),
			Kind:    strings.ToLower(cmp.Or(t.get("kind"), "skill")),
			Aliases: Bars(t.get("aliases")), Broader: Bars(t.get("broader")),
		})
		return nil
	})
	if err != nil {
		return fmt.Errorf("skills csv: %w", err)
	}
	b.sources = append(b.sources, source)
	return nil
}

// AddRequirements reads the requirements of occupations: the columns soc, name, skillId, level
// 1..5 and confidence 0..1.
func (b *Builder) AddRequirements(r io.Reader) error {
	err := eachRow(r, []string{"soc", "name", "skillid", "level", "confidence"}, func(t *rowReader) error {
		soc := t.get("soc")
		if !isSOC(soc) {
			return fmt.Errorf("%q is not a SOC code", soc)
		}
		level, err := strconv.Atoi(t.get("level"))
		if err != nil || level < 1 || level > 5 {
			return fmt.Errorf("level must be 1 to 5, not %q", t.get("level"))
		}
		confidence, err := strconv.ParseFloat(t.get("confidence"), 64)
		if err != nil || !(confidence >= 0 && confidence <= 1) {
			return fmt.Errorf("confidence must be 0 to 1, not %q", t.get("confidence"))
		}
		b.require(soc, t.get("name"), clean(t.get("skillid")), need{level, confidence})
		return nil
	})
	if err != nil {
		return fmt.Errorf("occupations csv: %w", err)
	}
	return nil
}

// Bars splits a text at bars.
func Bars(s string) []string {
	var parts []string
	for p := range strings.SplitSeq(s, "|") {
		if p = clean(p); p != "" {
			parts = append(parts, p)
		}
	}
	return parts
}

func isSOC(code string) bool { return catalog.ONETSOCPattern().MatchString(code) }
