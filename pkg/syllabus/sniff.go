package syllabus

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"skillscurriculum/pkg/catalog"
)

// sniff returns the kind by the bytes; the declared type and the name only decide between kinds of text.
func sniff(data []byte, hint Hint) (Kind, error) {
	unsupported := fail(catalog.UnsupportedType, "The document is not PDF, DOCX, HTML, Markdown or plain text.")
	head := data[:min(len(data), 1024)]
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return "", fail(catalog.EmptyDocument, "The document is empty.")
	case bytes.Contains(head, []byte("%PDF-")):
		return PDF, nil
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		if saysDOCX(data, hint) {
			return DOCX, nil
		}
		return "", unsupported
	case bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")):
		// Office keeps an encrypted document in a stream of this name, in UTF-16.
		if bytes.Contains(data, []byte("E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00")) {
			return "", fail(catalog.Encrypted, "The document is protected by a password.")
		}
		return "", unsupported
	case bytes.HasPrefix(data, []byte(`{\rtf`)):
		return "", unsupported
	}
	declared, _, _ := mime.ParseMediaType(hint.ContentType)
	if isBinary(head) {
		return "", unsupported
	}
	text := decodeText(head, hint.ContentType)
	lower := strings.ToLower(text)
	ext := strings.ToLower(path.Ext(hint.Name))
	switch {
	case htmlStart.MatchString(lower):
		return HTML, nil
	case strings.HasPrefix(strings.TrimSpace(lower), "<?xml"), strings.HasPrefix(strings.TrimSpace(lower), "%!ps"):
		return "", unsupported
	case (strings.Contains(declared, "html") || htmlEnding.MatchString(ext)) && strings.Contains(lower, "<"):
		return HTML, nil
	case declared == "application/json" && json.Valid(data):
		return "", unsupported
	case declared == "text/markdown", ext == ".md", ext == ".markdown":
		return Markdown, nil
	}
	return Text, nil
}

// saysDOCX reports whether an archive claims to be a DOCX, whatever its content: by a document
// part or by its content types, or by name or media type if it is too damaged to be opened.
func saysDOCX(data []byte, hint Hint) bool {
	if bytes.Contains(data, []byte("word/document")) {
		return true
	}
	if manyEntries(data) {
		return false
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		declared, _, _ := mime.ParseMediaType(hint.ContentType)
		return strings.HasSuffix(declared, "wordprocessingml.document") || strings.EqualFold(path.Ext(hint.Name), ".docx")
	}
	types, err := archive.Open("[Content_Types].xml")
	if err != nil {
		return false
	}
	defer types.Close()
	text, _ := io.ReadAll(io.LimitReader(types, maxContentTypes)) // as far as it can be read
	return bytes.Contains(text, []byte("wordprocessingml.document"))
}

// maxContentTypes is how many bytes of an archive's list of content types are read.
const maxContentTypes = 64 << 10

var htmlStart = regexp.MustCompile(`^\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?s:.*?)-->\s*)*<(?:!doctype\s+html|html|` +
	`head|body|title|meta|style|div|span|font|center|table|h[1-6]|p|pre|hr|blockquote|ul|ol|dl|` +
	`main|article|section|header|nav|aside)[\s/>]`)

var htmlEnding = regexp.MustCompile(`^\.x?html?$`)

// markdownSigns match lines that are rare in text that is not Markdown.
var (
	markdownFrontMatter = regexp.MustCompile(`^---\s*\n(?s:.*?)\n---\s*\n`)
	markdownHeading     = regexp.MustCompile(`(?m)^#{1,6} \S`)
	markdownStrong      = regexp.MustCompile(`\*\*[^*\s][^*\n]*\*\*`)
)

// looksLikeMarkdown reports whether a text would show its markup if it were read as plain text.
func looksLikeMarkdown(text string) bool {
	headings := len(markdownHeading.FindAllStringIndex(text, 3))
	return headings >= 2 || headings == 1 && (markdownFrontMatter.MatchString(text) || markdownStrong.MatchString(text)) ||
		len(markdownStrong.FindAllStringIndex(text, 3)) == 3
}

// isBinary reports whether bytes are not text in any encoding. Text may have a stray control
// character, but no zero byte.
func isBinary(head []byte) bool {
	if unicodeWide(head) != nil {
		return false
	}
	controls := 0
	for _, b := range head {
		if b == 0 {
			return true
		}
		if b < ' ' && (b < '\t' || b > '\r') {
			controls++
		}
	}
	return controls*50 > len(head)
}

// textEncoding returns the encoding of a byte order mark; nil without one.
func textEncoding(data []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return unicode.UTF8BOM
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	}
	return nil
}

// unicodeWide recognizes UTF-16 without a mark by the zero bytes of its Latin letters; nil for anything else.
func unicodeWide(data []byte) encoding.Encoding {
	if enc := textEncoding(data); enc != nil {
		return enc
	}
	head := data[:min(len(data), 1024)&^1]
	var zeros [2]int
	for i, b := range head {
		if b == 0 {
			zeros[i&1]++
		}
	}
	pairs := len(head) / 2
	switch {
	case pairs >= 2 && zeros[0] == 0 && zeros[1] > pairs*2/3:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case pairs >= 2 && zeros[1] == 0 && zeros[0] > pairs*2/3:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	return nil
}

// decodeText converts text to UTF-8: by byte order mark, by validity, by the zero bytes of
// UTF-16, by the declared charset, or else as Windows-1252, which includes Latin-1.
func decodeText(data []byte, contentType string) string {
	enc := unicodeWide(data)
	if enc == nil && utf8.Valid(data[:len(data)-tornRune(data)]) {
		return string(data)
	}
	if enc == nil {
		if _, params, err := mime.ParseMediaType(contentType); err == nil {
			if declared, name := charset.Lookup(params["charset"]); declared != nil && name != "utf-8" {
				enc = declared
			}
		}
	}
	if enc == nil {
		enc = charmap.Windows1252
	}
	return decode(enc, data)
}

// decodeHTML converts a page to UTF-8 by the rules of the HTML standard.
func decodeHTML(data []byte, contentType string) string {
	if enc := unicodeWide(data); enc != nil {
		return decode(enc, data)
	}
	enc, _, certain := charset.DetermineEncoding(data, contentType)
	if !certain && utf8.Valid(data) {
		return string(data)
	}
	return decode(enc, data)
}

func decode(enc encoding.Encoding, data []byte) string {
	out, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		return strings.ToValidUTF8(string(data), "")
	}
	return string(out)
}

// tornRune returns the length of a character that the end of data cuts off.
func tornRune(data []byte) int {
	for n := 1; n <= min(3, len(data)); n++ {
		if b := data[len(data)-n]; utf8.RuneStart(b) {
			if !utf8.FullRune(data[len(data)-n:]) {
				return n
			}
			break
		}
	}
	return 0
}
