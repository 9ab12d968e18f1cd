package intake

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	textunicode "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
)

// Bounds of what is held in memory at once.
const (
	maxRecord  = 1 << 20 // bytes of a line of a table, or of the text of a cell
	maxObject  = 4 << 20 // bytes of an object in JSON
	maxColumns = 1000
	sniffed    = 64 << 10 // bytes from which a format is recognised
)

// window is a reader that refuses to read more than max bytes beyond what has been used.
type window struct {
	r    io.Reader
	what string // a line
	n    int64  // bytes read since the last use
	max  int64
}

func (w *window) Read(p []byte) (int, error) {
	if w.n >= w.max {
		return 0, fail(catalog.TooLarge, "%s is larger than %d MiB", w.what, w.max>>20)
	}
	n, err := w.r.Read(p[:min(len(p), 4096)])
	w.n += int64(n)
	return n, err
}

// used records that everything read so far has been used.
func (w *window) used() { w.n = 0 }

// text is a stored text that can be read several times.
type text struct {
	name string
	open func() (io.ReadCloser, error)
}

// decoded opens the text as UTF-8 without a byte order mark. Without a mark it is UTF-8, UTF-16 if every second byte at
// its beginning is mostly zero, or else Windows-1252.
func (t text) decoded() (io.ReadCloser, error) {
	stored, err := t.open()
	if err != nil {
		return nil, err
	}
	defer stored.Close()
	head := make([]byte, sniffed)
	n, err := io.ReadFull(stored, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, t.broken(err)
	}
	head = head[:n]
	decoder, err := t.encoding(head, stored)
	if err != nil {
		return nil, err
	}
	again, err := t.open()
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{transform.NewReader(again, decoder), again}, nil
}

// encoding returns the decoder of a text with this beginning and rest.
func (t text) encoding(head []byte, rest io.Reader) (transform.Transformer, error) {
	for _, mark := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(head, []byte(mark)) {
			return textunicode.BOMOverride(transform.Nop), nil
		}
	}
	var zeros [2]int
	for i, b := range head {
		if b == 0 {
			zeros[i%2]++
		}
	}
	half := len(head) / 4
	switch {
	case zeros[1] > half && zeros[0] <= half/8:
		return textunicode.UTF16(textunicode.LittleEndian, textunicode.IgnoreBOM).NewDecoder(), nil
	case zeros[0] > half && zeros[1] <= half/8:
		return textunicode.UTF16(textunicode.BigEndian, textunicode.IgnoreBOM).NewDecoder(), nil
	case zeros[0]+zeros[1] > 0 || bytes.HasPrefix(head, []byte("%PDF")):
		return nil, fail(catalog.UnsupportedType, "%s is neither a table nor JSON: it must be CSV, XLSX, NDJSON or a ZIP "+
			"of them", t.name)
	}
	for rest := bufio.NewReader(io.MultiReader(bytes.NewReader(head), rest)); ; {
		r, size, err := rest.ReadRune()
		switch {
		case err == io.EOF:
			return transform.Nop, nil
		case err != nil:
			return nil, t.broken(err)
		case r == utf8.RuneError && size == 1:
			return charmap.Windows1252.NewDecoder(), nil
		}
	}
}

// broken returns a failure to read the stored text, such as a damaged archive.
func (t text) broken(err error) error {
	var failure *Failure
	if errors.As(err, &failure) {
		return err
	}
	return fail(catalog.Malformed, "%s: %s", t.name, reason(err))
}

// reason returns why something cannot be read, in words that need no knowledge of the libraries that read it.
func reason(err error) string {
	var kind *json.UnmarshalTypeError
	var notJSON *json.SyntaxError
	var notXML *xml.SyntaxError
	var notNumber *strconv.NumError
	var packed flate.CorruptInputError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends too early"
	case errors.As(err, &kind) && kind.Type.Kind() == reflect.Map:
		return "an object in {} must stand here, not a value of type " + kind.Value
	case errors.As(err, &kind):
		return "the " + kind.Value + " is too large"
	case errors.As(err, &notJSON):
		return "a character is missing here, or does not belong here"
	case errors.As(err, &notXML):
		return fmt.Sprintf("its XML is broken at line %d", notXML.Line)
	case errors.As(err, &notNumber):
		return fmt.Sprintf("%q is not a whole number", shown(notNumber.Num))
	case errors.Is(err, csv.ErrQuote), errors.Is(err, csv.ErrBareQuote):
		return `a quote (") is missing, or stands in a cell that does not begin with one`
	case errors.Is(err, zip.ErrAlgorithm):
		return "it is compressed by an unusual method; pack it again as an ordinary ZIP file"
	case errors.Is(err, zip.ErrFormat), errors.Is(err, zip.ErrChecksum), errors.As(err, &packed):
		return "the ZIP file is damaged or incomplete"
	}
	return err.Error()
}

// lines are the lines of a table. next returns io.EOF after the last one.
type lines interface {
	next() (line int, cells []string, err error)
	io.Closer
}

// csvLines are the lines of a CSV file.
type csvLines struct {
	text
	io.Closer
	window *window
	reader *csv.Reader
	above  int // lines before those of the reader
}

// separated opens the text as a table whose cells are separated by comma, semicolon, tab or bar; see delimiter.
func (t text) separated() (lines, error) {
	decoded, err := t.decoded()
	if err != nil {
		return nil, err
	}
	c := &csvLines{text: t, Closer: decoded}
	c.window = &window{r: decoded, what: fmt.Sprintf("a line of %s", t.name), max: maxRecord}
	buffered := bufio.NewReaderSize(c.window, 16<<10)
	head, err := buffered.Peek(16 << 10)
	if err != nil && err != io.EOF {
		return nil, errors.Join(t.broken(err), decoded.Close())
	}
	if !bytes.Contains(head, []byte("\n")) && bytes.Contains(bytes.TrimSuffix(head, []byte("\r")), []byte("\r")) {
		// Excel ends lines so in "CSV (Macintosh)".
		head = bytes.ReplaceAll(head, []byte("\r"), []byte("\n"))
		feeds := runes.Map(func(r rune) rune {
			if r == '\r' {
				return '\n'
			}
			return r
		})
		buffered = bufio.NewReaderSize(transform.NewReader(buffered, feeds), 16<<10)
	}
	comma := delimiter(head)
	if first, _, _ := bytes.Cut(head, []byte("\n")); bytes.HasPrefix(first, []byte("sep=")) && len(first) > 4 {
		comma, _ = utf8.DecodeRune(first[4:]) // written for Excel
		_, _ = buffered.Discard(len(first) + 1)
		c.above = 1
	}
	c.reader = csv.NewReader(buffered)
	c.reader.Comma, c.reader.FieldsPerRecord = comma, -1
	// Tables with bars or tabs are rarely quoted properly.
	c.reader.LazyQuotes = comma == '|' || comma == '\t'
	return c, nil
}

func (c *csvLines) next() (int, []string, error) {
	cells, err := c.reader.Read()
	c.window.used()
	var broken *csv.ParseError
	switch {
	case err == io.EOF:
		return 0, nil, err
	case errors.As(err, &broken):
		return 0, nil, fail(catalog.Malformed, "%s:%d: the record that starts here is broken at line %d, column %d: %s",
			c.name, broken.StartLine+c.above, broken.Line+c.above, broken.Column, reason(broken.Err))
	case err != nil:
		return 0, nil, c.broken(err)
	}
	line, _ := c.reader.FieldPos(0)
	return line + c.above, cells, nil
}

// delimiter returns the separator that parts the most known headers in one of the first lines; if no separator parts
// two, the most frequent one in the first line.
func delimiter(text []byte) rune {
	best, most := ',', 0
	lines := strings.SplitN(string(text), "\n", headerLines+1)
	for _, line := range lines[:min(len(lines), headerLines)] {
		for _, r := range delimiters {
			known := 0
			for cell := range strings.SplitSeq(line, string(r)) {
				if knownHeaders()[entry.Plain(cell)] {
					known++
				}
			}
			if known > most {
				best, most = r, known
			}
		}
	}
	if most > 1 {
		return best
	}
	best, most = ',', 0
	quoted := false
	counts := map[rune]int{}
	for _, r := range lines[0] {
		if r == '"' {
			quoted = !quoted
		} else if !quoted {
			counts[r]++
		}
	}
	for _, r := range delimiters {
		if counts[r] > most {
			best, most = r, counts[r]
		}
	}
	return best
}

var delimiters = []rune{',', ';', '\t', '|'}

// knownHeaders are the headers of all resources.
var knownHeaders = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{}
	for _, h := range entry.Headers() {
		known[h.Plain] = true
	}
	return known
})
