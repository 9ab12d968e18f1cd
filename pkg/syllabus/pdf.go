package syllabus

import (
	"cmp"
	"context"
	"errors"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"skillscurriculum/pkg/catalog"
)

// engine runs PDFium in a WebAssembly sandbox without files, network or clock of the host. Each document has an
// instance of its own, so that nothing of one reaches the next.
type engine struct {
	once sync.Once
	turn chan struct{} // holds one token: PDFs are read one at a time
	pool pdfium.Pool
}

// take waits for the engine; release lets the next one have it.
func (e *engine) take(ctx context.Context) error {
	e.once.Do(func() { e.turn = make(chan struct{}, 1) })
	select {
	case e.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *engine) release() { <-e.turn }

// start compiles PDFium unless it runs.
func (e *engine) start(limits bounds) error {
	if e.pool != nil {
		return nil
	}
	pool, err := webassembly.Init(webassembly.Config{
		MinIdle: 1, MaxIdle: 1, MaxTotal: 2,
		Stdout: io.Discard, Stderr: io.Discard,
		FSConfig: wazero.NewFSConfig(),
		RuntimeConfig: wazero.NewRuntimeConfig().
			WithCloseOnContextDone(true).
			WithMemoryLimitPages(uint32(limits.memory >> 16)),
	})
	if err != nil {
		return err
	}
	e.pool = pool
	return nil
}

func (e *engine) close() error {
	if err := e.take(context.Background()); err != nil {
		return err
	}
	defer e.release()
	if e.pool == nil {
		return nil
	}
	pool := e.pool
	e.pool = nil
	return pool.Close()
}

// read returns the blocks of a PDF. PDFium runs in a goroutine of its own, so that it
// can be halted when the time is up.
func (e *engine) read(data []byte, spent *budget) ([]block, error) {
	ctx, limits := spent.ctx, spent.limits
	if err := e.take(ctx); err != nil {
		return nil, err
	}
	defer e.release()
	if err := e.start(limits); err != nil {
		return nil, fail(catalog.InternalFailure, "The PDF reader does not start.")
	}
	instance, err := e.pool.GetInstanceWithContext(ctx)
	if err != nil {
		return nil, err
	}
	type result struct {
		blocks []block
		err    error
	}
	done := make(chan result, 1)
	go func() {
		blocks, err := readPDF(instance, data, spent)
		done <- result{blocks, err}
	}()
	select {
	case r := <-done:
		if r.err != nil && int64(module(instance).Memory().Size()) > limits.memory/2 {
			// PDFium traps when its memory cannot grow, as on any failure.
			r.err = tooLarge("The document takes too much memory to read.")
		}
		_ = instance.Close()
		return r.blocks, r.err
	case <-ctx.Done():
		_ = module(instance).Close(context.Background())
		<-done
		_ = instance.Close()
		return nil, ctx.Err()
	}
}

// module is the WebAssembly module of an instance. Closing it ends its code wherever
// it is, while the instance's own Close waits for the running call and its Kill
// trips over the pool that it has just let go; so it is taken out by its field.
func module(instance pdfium.Pdfium) api.Module {
	return reflect.ValueOf(instance.GetImplementation()).Elem().FieldByName("Module").Interface().(api.Module)
}

func readPDF(in pdfium.Pdfium, data []byte, spent *budget) ([]block, error) {
	opened, err := in.OpenDocument(&requests.OpenDocument{File: &data})
	switch {
	case errors.Is(err, pdfiumerrors.ErrPassword), errors.Is(err, pdfiumerrors.ErrSecurity):
		return nil, fail(catalog.Encrypted, "The document is protected by a password.")
	case err != nil:
		return nil, malformed(PDF)
	}
	count, err := in.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: opened.Document})
	if err != nil || count.PageCount < 1 {
		return nil, malformed(PDF)
	}
	if count.PageCount > maxPages {
		return nil, tooLarge("The document has more than %d pages.", maxPages)
	}
	p := pdfReader{in: in, spent: spent}
	broken := 0
	for i := range count.PageCount {
		err := p.page(opened.Document, i)
		var failure *catalog.Failure
		switch {
		case err == nil:
		case errors.Is(err, pdfiumerrors.ErrPage):
			broken++
		case errors.As(err, &failure), spent.ctx.Err() != nil:
			return nil, err
		default: // PDFium trapped; what it would say now is not to be trusted
			return nil, malformed(PDF)
		}
	}
	if broken == count.PageCount {
		return nil, malformed(PDF)
	}
	lines := p.lines
	if p.pictures > 0 || !samePages(lines) {
		lines = withoutRunningHeads(lines, count.PageCount)
	}
	setMargins(lines)
	if !readable(lines) && p.objects > 0 {
		return nil, fail(catalog.ScannedNoText, "The document holds pictures of text but no text.")
	}
	return flow(lines, spent)
}

// readable reports whether lines hold words: a scan may carry a stamp or a page
// number, and a font without a character map yields signs that are not letters.
func readable(lines []line) bool {
	letters, all := 0, 0
	for _, l := range lines {
		for _, r := range l.text {
			if r == ' ' {
				continue
			}
			all++
			if unicode.IsLetter(r) {
				letters++
			}
		}
	}
	return letters >= 20 && letters*3 > all
}

// pdfReader gathers the lines of a PDF page by page.
type pdfReader struct {
	in       pdfium.Pdfium
	spent    *budget
	lines    []line
	objects  int // shown on all pages: text, pictures, drawings
	pictures int // among those that were looked at; what is within a form may be one
}

func (p *pdfReader) page(doc references.FPDF_DOCUMENT, index int) error {
	loaded, err := p.in.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: doc, Index: index})
	if err != nil {
		return err
	}
	defer func() { _, _ = p.in.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page}) }()
	page := requests.Page{ByReference: &loaded.Page}
	bullets, err := p.drawings(page)
	if err != nil {
		return err
	}
	text, err := p.in.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if err != nil {
		return err
	}
	defer func() { _, _ = p.in.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage}) }()
	t := pdfText{in: p.in, page: text.TextPage, spent: p.spent, number: index + 1}
	err = t.read()
	for i := range t.lines {
		if err := p.spent.spend(0); err != nil {
			return err
		}
		t.lines[i].bullet = hasBullet(t.lines[i], bullets)
	}
	p.lines = append(p.lines, t.lines...)
	return err
}

// drawings counts what the page shows and the pictures among it, and returns the drawings that are as small
// as a bullet, from the lowest up: browsers draw bullets instead of writing them.
func (p *pdfReader) drawings(page requests.Page) ([]area, error) {
	const (
		smallest, largest = 1, 8 // points
		mostObjects       = 5000 // looked at
		mostBullets       = 200  // more are a drawing of dots
	)
	objects, err := p.in.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page})
	if err != nil {
		return nil, err
	}
	p.objects += objects.Count
	var bullets []area
	for i := 0; i < min(objects.Count, mostObjects) && len(bullets) < mostBullets; i++ {
		object, err := p.in.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: page, Index: i})
		if err != nil {
			return nil, err
		}
		kind, err := p.in.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: object.PageObject})
		if err != nil {
			continue
		}
		switch kind.Type {
		case enums.FPDF_PAGEOBJ_IMAGE, enums.FPDF_PAGEOBJ_FORM:
			p.pictures++
			continue
		case enums.FPDF_PAGEOBJ_PATH:
		default:
			continue
		}
		at, err := p.in.FPDFPageObj_GetBounds(&requests.FPDFPageObj_GetBounds{PageObject: object.PageObject})
		if err != nil {
			continue
		}
		width, height := at.Right-at.Left, at.Top-at.Bottom
		if min(width, height) >= smallest && max(width, height) <= largest && width < 2*height && height < 2*width {
			bullets = append(bullets, area{
				left: float64(at.Left), right: float64(at.Right), top: float64(at.Top), bottom: float64(at.Bottom),
			})
		}
		if err := p.spent.spend(0); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(bullets, func(a, b area) int { return cmp.Compare(a.bottom, b.bottom) })
	return bullets, nil
}

// hasBullet reports whether one of the bullets, from the lowest up, stands before l.
func hasBullet(l line, bullets []area) bool {
	i, _ := slices.BinarySearchFunc(bullets, l.bottom, func(b area, bottom float64) int {
		return cmp.Compare(b.bottom, bottom)
	})
	for ; i < len(bullets) && bullets[i].top <= l.top; i++ {
		if gap := l.left - bullets[i].right; gap >= 0 && gap < 2*l.height() {
			return true
		}
	}
	return false
}

// pdfText cuts the characters of a page into words, and lines of words into pieces where a wide gap stands.
type pdfText struct {
	in     pdfium.Pdfium
	page   references.FPDF_TEXTPAGE
	spent  *budget
	number int
	lines  []line

	at          int // the character being read
	word        strings.Builder
	first, last int // characters of the word
	words       []pdfWord
}

type pdfWord struct {
	line        // its text and place
	first, last int
}

// divided is what PDFium writes for a hyphen that ends a line.
const divided = 0x02

func (t *pdfText) read() error {
	count, err := t.in.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: t.page})
	if err != nil {
		return err
	}
	var high rune
	for t.at = 0; t.at < count.Count; t.at++ {
		got, err := t.in.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: t.page, Index: t.at})
		if err != nil {
			return err
		}
		if err := t.spent.spend(1); err != nil {
			return err
		}
		r := rune(got.Unicode)
		if utf16.IsSurrogate(r) {
			if high == 0 {
				high = r
				continue
			}
			r = utf16.DecodeRune(high, r)
		}
		high = 0
		switch {
		case r == divided:
			t.add('-')
			err = t.endLine()
		case r == '\r' || r == '\n':
			err = t.endLine()
		case unicode.IsSpace(r):
			err = t.endWord()
		case r != 0:
			t.add(r)
		}
		if err != nil {
			return err
		}
	}
	return t.endLine()
}

func (t *pdfText) add(r rune) {
	if t.word.Len() == 0 {
		t.first = t.at
	}
	t.word.WriteRune(r)
	t.last = t.at
}

func (t *pdfText) box(index int) (line, error) {
	got, err := t.in.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: t.page, Index: index})
	if err != nil {
		return line{}, err
	}
	return line{
		left: float64(got.Rect.Left), right: float64(got.Rect.Right), top: float64(got.Rect.Top),
		bottom: float64(got.Rect.Bottom),
	}, nil
}

func (t *pdfText) endWord() error {
	if t.word.Len() == 0 {
		return nil
	}
	from, err := t.box(t.first)
	if err != nil {
		return err
	}
	to, err := t.box(t.last)
	if err != nil {
		return err
	}
	text, err := t.parted(t.word.String())
	if err != nil {
		return err
	}
	t.word.Reset()
	from.text, from.right = text, to.right
	t.words = append(t.words, pdfWord{from, t.first, t.last})
	return nil
}

// parted puts back the spaces that PDFium misses before a capital letter that kerning pulls near, as in CIVIL AND. What
// counts is how much wider a gap is than the word's usual one, so that letter-spaced words stay whole.
func (t *pdfText) parted(word string) (string, error) {
	letters := []rune(word)
	inner := func(i int) bool { return unicode.IsUpper(letters[i]) && unicode.IsLetter(letters[i-1]) }
	doubt := false
	for i := 1; i < len(letters); i++ {
		doubt = doubt || inner(i)
	}
	const longest = 60 // more is not a word; also, characters and letters no longer go one to one
	if !doubt || len(letters) > longest || len(letters) != t.last-t.first+1 {
		return word, nil
	}
	gaps := make([]float64, len(letters)) // before each letter
	var height float64
	var before line
	for i := range letters {
		box, err := t.box(t.first + i)
		if err != nil {
			return "", err
		}
		gaps[i], height, before = box.left-before.right, box.height(), box
	}
	sorted := slices.Sorted(slices.Values(gaps[1:]))
	usual := sorted[len(sorted)/2]
	var out strings.Builder
	for i, r := range letters {
		if i > 0 && inner(i) && gaps[i]-usual > 0.08*height {
			out.WriteByte(' ')
		}
		out.WriteRune(r)
	}
	return out.String(), nil
}

// endLine makes lines of the words since the last end. A gap parts them that is wide and much wider than the gaps
// between most words of the line, which are wide themselves in justified text.
func (t *pdfText) endLine() error {
	if err := t.endWord(); err != nil {
		return err
	}
	words := t.words
	t.words = t.words[:0]
	if len(words) == 0 {
		return nil
	}
	height := words[0].height()
	usual := 0.25 * height
	if len(words) > 3 {
		gaps := make([]float64, 0, len(words))
		for i := 1; i < len(words); i++ {
			gaps = append(gaps, words[i].left-words[i-1].right)
		}
		slices.Sort(gaps)
		usual = max(usual, gaps[(len(gaps)-1)/4])
	}
	start := 0
	for i := 1; i <= len(words); i++ {
		if i < len(words) {
			gap := words[i].left - words[i-1].right
			if gap < 0.65*height || gap < 2*usual {
				if gap > -2*height { // further back is another line
					continue
				}
			}
		}
		t.lines = append(t.lines, t.joined(words[start:i]))
		start = i
	}
	return nil
}

func (t *pdfText) joined(words []pdfWord) line {
	l := words[0].line
	l.first = l.right - l.left
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
		l.right = max(l.right, w.right)
	}
	l.text, l.page = strings.Join(texts, " "), t.number
	if l.height() <= 0 {
		l.top = l.bottom + 1
	}
	l.bold = t.isBold(words[0].first) && t.isBold(words[len(words)-1].last)
	return l
}

// isBold reads the weight off the font's flags or its name, where most writers of PDFs put it.
func (t *pdfText) isBold(index int) bool {
	const forceBold = 1 << 18
	font, err := t.in.FPDFText_GetFontInfo(&requests.FPDFText_GetFontInfo{TextPage: t.page, Index: index})
	if err != nil {
		return false
	}
	name := strings.ToLower(font.FontName)
	return font.Flags&forceBold != 0 || strings.Contains(name, "bold") || strings.Contains(name, "black") ||
		strings.Contains(name, "heavy")
}

var (
	pageNumber = regexp.MustCompile(`(?i)^\W*(?:page|p\.|pg\.?)?\s*(\d{1,4})(?:\s*(?:of|/)\s*\d{1,4})?\W*$`)
	digits     = regexp.MustCompile(`\d+`)
)

// samePages reports whether several pages have text, and all the same but for numbers: that is content, not a running
// head. (On pages that show pictures it may be a stamp.)
func samePages(lines []line) bool {
	pages := map[int]*strings.Builder{}
	for _, l := range lines {
		if pages[l.page] == nil {
			pages[l.page] = new(strings.Builder)
		}
		pages[l.page].WriteString(digits.ReplaceAllString(l.text, "#") + "\n")
	}
	different := map[string]bool{}
	for _, text := range pages {
		different[text.String()] = true
	}
	return len(pages) > 1 && len(different) == 1
}

// withoutRunningHeads drops page numbers, and lines that stand at the same height
// near an edge of at least half of the pages.
func withoutRunningHeads(lines []line, pages int) []line {
	const edge = 4 // lines from the top or bottom of a page
	type place struct {
		text   string
		height int
	}
	near := func(l line) []place {
		key := digits.ReplaceAllString(strings.ToLower(l.text), "#")
		y := int(l.bottom / 4)
		return []place{{key, y - 1}, {key, y}, {key, y + 1}}
	}
	candidates := map[int]bool{}
	seen := map[place]map[int]bool{} // pages by line
	numbers := map[int]int{}         // page number less page by line
	count := map[int]int{}           // of pages by that difference
	for start := 0; start < len(lines); {
		end := start
		for end < len(lines) && lines[end].page == lines[start].page {
			end++
		}
		order := make([]int, end-start)
		for i := range order {
			order[i] = start + i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lines[b].top, lines[a].top) })
		for n, i := range order {
			l := lines[i]
			if m := pageNumber.FindStringSubmatch(l.text); m != nil && (n == 0 || n == len(order)-1) {
				number, _ := strconv.Atoi(m[1])
				numbers[i] = number - l.page
				count[number-l.page]++
			}
			if n < edge || n >= len(order)-edge {
				candidates[i] = true
				for _, p := range near(l) {
					if seen[p] == nil {
						seen[p] = map[int]bool{}
					}
					seen[p][l.page] = true
				}
			}
		}
		start = end
	}
	body := bodyHeight(lines)
	var kept []line
	for i, l := range lines {
		difference, numbered := numbers[i]
		repeated := len(seen[near(l)[1]])
		switch {
		case numbered && (count[difference] >= 2 && 2*count[difference] >= pages || pages == 1 && difference == 0):
		case candidates[i] && !numbered && repeated >= 2 && 2*repeated >= pages &&
			(l.height() <= 1.1*body || !digits.MatchString(l.text)):
			// Headings that differ in their number only are larger than the text.
		default:
			kept = append(kept, l)
		}
	}
	return kept
}
