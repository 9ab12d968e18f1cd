// Package syllabus turns an address or bytes into the text of a syllabus: a
// guarded fetch, and readers for PDF, DOCX, HTML, Markdown and plain text.
//
// It returns a [catalog.SyllabusText] whose text depends as little as possible on the format: one block (heading,
// paragraph, list item, table row) per line, list markers and enumerators removed, the cells of a row on one line
// separated by " | ", an empty line before each heading, lines of a paragraph joined, hyphenation undone, running heads
// and page numbers dropped.
//
// It never follows an address into a private network, never executes what it reads, never
// includes text of a server or document in an error, and never reads beyond its limits.
// Invariant: every error of Fetch and Read is a *catalog.Failure.
//
//	condition                                                     failure code
//	-----------------------------------------------------------   -----------------
//	DNS failure, connection refused or reset, broken TLS, body    unreachable
//	cut short, 408, 425, 429, 5xx, more than 3 redirects, a
//	redirect that leads nowhere
//	404, 410, any other 4xx                                       not_found
//	401, 403, 407, or a page that is little but a password form   login_required
//	private or special address, numeric host in unusual spelling, forbidden_address
//	redirect to one, to another scheme or with credentials
//	connect or respond slower than the limits, caller gave up     timeout
//	over 25 MB on the wire (declared or sent), over 50 MB          too_large
//	decoded, expansion beyond the ratio, over 300 pages, text or
//	parse time beyond the limits
//	image, archive, program, old Office, spreadsheet, slides,     unsupported_type
//	RTF, JSON, other XML, unknown content encoding
//	password needed (PDF, Office)                                 encrypted
//	PDF that shows something but holds no letters                 scanned_no_text
//	structure broken so that its reader gives up                  malformed
//	nothing readable                                              empty
//	PDFium does not start                                         internal
package syllabus

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"skillscurriculum/pkg/catalog"
)

// The limits of one document, because documents are untrusted (docs/contract.md). Ratio and text are well above those of
// any real syllabus.
const (
	maxWire      = 25 << 20 // bytes of a response's body as sent
	maxRatio     = 200      // decoded bytes per compressed byte, beyond the first MiB
	maxPages     = 300      // of a PDF
	maxText      = 4 << 20  // bytes of the extracted text
	maxRedirects = 3
)

// bounds are the other limits, which tests lower. A zero field has its default.
type bounds struct {
	decoded int64         // bytes of a document after decompression
	memory  int64         // bytes of PDFium; takes effect when it starts
	connect time.Duration // for the connection, and again for the TLS handshake
	total   time.Duration // for a whole fetch, redirects and body included
	parse   time.Duration // for reading one document
}

func (l bounds) withDefaults() bounds {
	return bounds{
		decoded: cmp.Or(l.decoded, 50<<20), memory: cmp.Or(l.memory, 192<<20),
		connect: cmp.Or(l.connect, 10*time.Second), total: cmp.Or(l.total, 30*time.Second),
		parse: cmp.Or(l.parse, 20*time.Second),
	}
}

// expands reports whether compressed bytes decode to more than in any real document.
func (l bounds) expands(decoded, compressed int64) bool {
	return decoded > l.decoded || decoded > 1<<20 && decoded/maxRatio > compressed
}

// Kind is a format that [Reader.Read] reads.
type Kind string

// The kinds, as in `skillsctl extract -kind`. The empty Kind is Auto.
const (
	Auto     Kind = "auto"
	PDF      Kind = "pdf"
	DOCX     Kind = "docx"
	HTML     Kind = "html"
	Markdown Kind = "md"
	Text     Kind = "text"
)

// ParseKind parses a kind as written by users.
func ParseKind(s string) (Kind, error) {
	switch k := Kind(strings.ToLower(s)); k {
	case "":
		return Auto, nil
	case Auto, PDF, DOCX, HTML, Markdown, Text:
		return k, nil
	}
	return "", fmt.Errorf("kind must be auto, pdf, docx, html, md or text, not %q", s)
}

// Hint is information about a document besides its bytes.
type Hint struct {
	ContentType string // as declared by the server; only breaks ties
	Name        string // file name or address; only its extension counts
	Kind        Kind   // if not Auto, the document is read as this, whatever its bytes
	// Course names the course to pick from a document with a catalogue of many. If the
	// document has no such course, all of it is returned.
	Course string
}

// Reader reads documents. The zero Reader is ready to use and starts PDFium for the first PDF (about a second);
// [NewReader] starts it at once. It is safe for concurrent use; one PDF is read at a time. Close it after use.
type Reader struct {
	limits bounds
	pdfium engine
}

// NewReader returns a Reader with PDFium running.
func NewReader() (*Reader, error) {
	r := &Reader{}
	if err := r.pdfium.start(r.limits.withDefaults()); err != nil {
		return nil, fmt.Errorf("start pdfium: %w", err)
	}
	return r, nil
}

// Close stops PDFium; if the Reader is used again, it restarts PDFium.
func (r *Reader) Close() error { return r.pdfium.close() }

// Read returns the text of a document, or a *catalog.Failure.
func (r *Reader) Read(ctx context.Context, data []byte, hint Hint) (catalog.SyllabusText, error) {
	limits := r.limits.withDefaults()
	if int64(len(data)) > limits.decoded {
		return catalog.SyllabusText{}, tooLarge("The document is larger than %d MB.", limits.decoded>>20)
	}
	parse, cancel := context.WithTimeout(ctx, limits.parse)
	defer cancel()
	doc, err := r.read(data, hint, &budget{ctx: parse, limits: limits})
	if err != nil {
		return catalog.SyllabusText{}, asFailure(ctx, err)
	}
	sum := sha256.Sum256(data)
	doc.SHA256 = hex.EncodeToString(sum[:])
	return doc, nil
}

func (r *Reader) read(data []byte, hint Hint, spent *budget) (doc catalog.SyllabusText, err error) {
	blocks, err := r.blocks(data, hint, spent)
	if err != nil {
		return doc, err
	}
	if blocks, err = choose(blocks, hint.Course, spent); err != nil {
		return doc, err
	}
	if doc, err = assemble(blocks, spent); err != nil {
		return doc, err
	}
	if doc.Text == "" {
		return doc, fail(catalog.EmptyDocument, "The document has no readable text.")
	}
	return doc, nil
}

func (r *Reader) blocks(data []byte, hint Hint, spent *budget) ([]block, error) {
	kind := hint.Kind
	if kind == "" || kind == Auto {
		var err error
		if kind, err = sniff(data, hint); err != nil {
			return nil, err
		}
	}
	switch kind {
	case PDF:
		return r.pdfium.read(data, spent)
	case DOCX:
		return readDOCX(data, spent)
	case HTML:
		return readHTML(decodeHTML(data, hint.ContentType), spent)
	}
	text := decodeText(data, hint.ContentType)
	if len(text) > maxText {
		return nil, errText()
	}
	if kind == Markdown || looksLikeMarkdown(text) {
		return readMarkdown(text, spent)
	}
	return readText(text, spent)
}

func fail(code catalog.FailureCode, format string, args ...any) *catalog.Failure {
	return &catalog.Failure{Code: code, Message: fmt.Sprintf(format, args...)}
}

func tooLarge(format string, args ...any) *catalog.Failure {
	return fail(catalog.TooLarge, format, args...)
}

func errText() *catalog.Failure {
	return tooLarge("The document has more than %d KB of text.", maxText>>10)
}

func malformed(kind Kind) *catalog.Failure {
	return fail(catalog.Malformed, "The document is damaged: it cannot be read as %s.", kind)
}

// asFailure returns failures unchanged, the end of the caller's context as TimedOut, the
// document's own time limit as TooLarge, and hides all other errors.
func asFailure(ctx context.Context, err error) *catalog.Failure {
	var failure *catalog.Failure
	switch {
	case errors.As(err, &failure):
		return failure
	case ctx.Err() != nil:
		return fail(catalog.TimedOut, "The document could not be read in the remaining time.")
	case errors.Is(err, context.DeadlineExceeded):
		return tooLarge("The document takes too long to read.")
	}
	return fail(catalog.InternalFailure, "The document could not be read.")
}

// budget is the remaining allowance for one document: text is counted as it is collected, and
// every loop over it spends, so that a reader stops early.
type budget struct {
	ctx    context.Context
	limits bounds
	bytes  int
	calls  int
}

func (b *budget) spend(n int) error {
	b.bytes += n
	if b.bytes > maxText {
		return errText()
	}
	if b.calls++; b.calls%256 == 0 {
		return b.ctx.Err()
	}
	return nil
}

// reading is a reader of the document's bytes that ends when its time is up.
type reading struct {
	from  io.Reader
	spent *budget
}

func (r reading) Read(p []byte) (int, error) {
	if err := r.spent.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

// runes returns the length of s in characters.
func runes(s string) int { return utf8.RuneCountInString(s) }
