package syllabus

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// courseLine is a line that begins a course in a catalogue: its code, with or
// without a label before it. Case counts, so that words are not taken for codes.
var courseLine = regexp.MustCompile(`^(?:(?:Course(?: (?:Code|No\.?|Number|Title))?|Subject Code|Code|COURSE(?: CODE)?|Paper Code)\s*[:|.–-]?\s*)?([A-Z]{2,6}[ \-]?\d{2,4}[A-Z]{0,2})(?:[^\pL\d]|$)`)

// A catalogue is a document in which at least this many courses begin, each with
// at least this many characters of its own; else a syllabus that mentions other
// courses would be cut.
const (
	catalogueCourses = 3
	courseBody       = 100
)

// choose gives the blocks of the wanted course where the document is a catalogue
// that holds it, else all blocks. A code counts more than a name, a whole name more
// than a part of one, and of equals the section that says most.
func choose(blocks []block, course, code string) []block {
	w := wanted{name: plainName(course), code: plainCode(code), words: plainName(code)}
	if w.name == "" && w.code == "" {
		return blocks
	}
	sections := byCode(blocks)
	if sections == nil {
		sections = byHeading(blocks, w)
	}
	best, bestMatch := blocks, 0
	for _, s := range sections {
		match := w.match(s)
		if match > bestMatch || match == bestMatch && match > 0 && size(s.blocks) > size(best) {
			best, bestMatch = s.blocks, match
		}
	}
	return best
}

// wanted is the course that is looked for, in plain spelling.
type wanted struct {
	name, code string
	words      string // of the code
}

// match is 3 for the wanted course's code, 2 for its whole name, 1 for its name
// within more, 0 for another course. The name stands in the first line or, behind
// a line with the code only, in the second.
func (w wanted) match(s section) int {
	first := plainName(s.blocks[0].text)
	if w.code != "" && (s.code == w.code || s.code == "" && contains(first, w.words)) {
		return 3
	}
	match := 0
	for _, b := range s.blocks[:min(2, len(s.blocks))] {
		line := plainName(b.text)
		switch {
		case w.name == "":
		case line == w.name, strings.HasSuffix(line, " "+w.name) && plainCode(strings.TrimSuffix(line, w.name)) == s.code:
			return 2
		case contains(line, w.name):
			match = 1
		}
	}
	return match
}

// contains says whether the words stand in the line, one after the other.
func contains(line, words string) bool {
	return words != "" && strings.Contains(" "+line+" ", " "+words+" ")
}

// section is the part of a catalogue that one course takes.
type section struct {
	code   string // plain; empty where the catalogue has none
	blocks []block
}

// cut makes sections that begin at the given blocks and keeps those that say more
// than the name of their course.
func cut(blocks []block, starts []int, codes []string) []section {
	var full []section
	for i, start := range starts {
		end := len(blocks)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		if s := (section{code: codes[i], blocks: blocks[start:end]}); size(s.blocks[1:]) >= courseBody {
			full = append(full, s)
		}
	}
	return full
}

// byCode cuts where lines begin with a course code; nil if there are too few.
func byCode(blocks []block) []section {
	var starts []int
	var codes []string
	for i, b := range blocks {
		m := courseLine.FindStringSubmatch(clean(b.text))
		if m == nil {
			continue
		}
		// A course may repeat its code in a line of its own.
		if code := plainCode(m[1]); len(codes) == 0 || codes[len(codes)-1] != code {
			starts, codes = append(starts, i), append(codes, code)
		}
	}
	sections := cut(blocks, starts, codes)
	distinct := map[string]bool{}
	for _, s := range sections {
		distinct[s.code] = true
	}
	if len(distinct) < catalogueCourses {
		return nil
	}
	return sections
}

// byHeading cuts at the headings of the level of the one that names the wanted
// course; nil if there are too few.
func byHeading(blocks []block, w wanted) []section {
	i := slices.IndexFunc(blocks, func(b block) bool { return b.kind == heading && w.match(section{blocks: []block{b}}) > 0 })
	if i < 0 {
		return nil
	}
	level := blocks[i].level
	var starts []int
	for i, b := range blocks {
		if b.kind == heading && b.level <= level {
			starts = append(starts, i)
		}
	}
	sections := slices.DeleteFunc(cut(blocks, starts, make([]string, len(starts))), func(s section) bool { return s.blocks[0].level < level })
	if len(sections) < catalogueCourses {
		return nil
	}
	return sections
}

// plainCode is a course code without spaces, signs and case.
func plainCode(code string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToUpper(r)
		}
		return -1
	}, norm.NFKC.String(code))
}

// plainName is a course name as its words in lower case, `and` for `&`.
func plainName(name string) string {
	name = strings.ReplaceAll(strings.ToLower(norm.NFKC.String(name)), "&", " and ")
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}
