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
var courseLine = regexp.MustCompile(`^(?:(?:Course(?: (?:Code|No\.?|Number|Title))?|Subject Code|Code|` +
	`COURSE(?: CODE)?|Paper Code)\s*[:|.–-]?\s*)?([A-Z]{2,6}[ \-]?\d{2,4}[A-Z]{0,2})(?:[^\pL\d]|$)`)

// A catalogue is a document in which at least this many courses begin, each with at least this many characters of its
// own; else a syllabus that mentions other courses would be cut.
const (
	catalogueCourses = 3
	courseBody       = 100
)

// partOfCourse is a heading that parts of one syllabus have, by plainName: headings of its level do not begin courses.
var partOfCourse = regexp.MustCompile(`^(?:(?:course|module|student|learning|intended|required|` +
	`weekly) )*(?:description|overview|outcomes|objectives|goals|prerequisites|textbooks?|readings|materials|` +
	`topics|content|outline|schedule(?: of topics)?|calendar|requirements|assignments|assessment|grading|` +
	`evaluation|policies|attendance|office hours)$`)

// choose returns the blocks of the wanted course where the document is a catalogue that holds it, else all blocks. A
// whole name counts more than a part of one, and of equals the longest section.
func choose(blocks []block, course string, spent *budget) ([]block, error) {
	name := plainName(course)
	if name == "" {
		return blocks, nil
	}
	sections, err := byCode(blocks, spent)
	if err != nil {
		return nil, err
	}
	if sections == nil {
		if sections, err = byHeading(blocks, name, spent); err != nil {
			return nil, err
		}
	}
	best, bestMatch := section{blocks: blocks}, 0
	for _, s := range sections {
		if err := spent.spend(0); err != nil {
			return nil, err
		}
		match := s.match(name)
		if match > bestMatch || match == bestMatch && match > 0 && s.size > best.size {
			best, bestMatch = s, match
		}
	}
	return best.blocks, nil
}

// match is 2 for the wanted course's whole name, 1 for its name within more, 0 for another course. The name is in the
// first line or, after a line with the code only, in the second.
func (s section) match(name string) int {
	match := 0
	for _, b := range s.blocks[:min(2, len(s.blocks))] {
		line := plainName(b.text)
		switch {
		case line == name, strings.HasSuffix(line, " "+name) && plainCode(strings.TrimSuffix(line, name)) == s.code:
			return 2
		case contains(line, name):
			match = 1
		}
	}
	return match
}

// contains reports whether the words are in the line, one after the other.
func contains(line, words string) bool {
	return strings.Contains(" "+line+" ", " "+words+" ")
}

// section is the part of a catalogue that one course takes.
type section struct {
	code   string // plain; empty where the catalogue has none
	blocks []block
	size   int
}

// cut makes sections that begin at the given blocks and keeps those that say more than the name of their course.
func cut(blocks []block, starts []int, codes []string) []section {
	var full []section
	for i, start := range starts {
		end := len(blocks)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		s := section{code: codes[i], blocks: blocks[start:end], size: size(blocks[start:end])}
		if s.size-runes(blocks[start].text) >= courseBody {
			full = append(full, s)
		}
	}
	return full
}

// byCode cuts where lines begin with a course code; nil if there are too few.
func byCode(blocks []block, spent *budget) ([]section, error) {
	var starts []int
	var codes []string
	for i, b := range blocks {
		if err := spent.spend(0); err != nil {
			return nil, err
		}
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
		return nil, nil
	}
	return sections, nil
}

// byHeading cuts at the headings of the level of the first one that is the wanted course's whole name, and returns the
// sections of that name; nil if the level has too few sections, or parts of a course. Part of a name is not enough
// where no code shows that a heading names a course: many syllabi have a part "Course outcomes".
func byHeading(blocks []block, name string, spent *budget) ([]section, error) {
	level := 0
	for _, b := range blocks {
		if err := spent.spend(0); err != nil {
			return nil, err
		}
		if b.kind == heading && plainName(b.text) == name {
			level = b.level
			break
		}
	}
	var starts []int
	for i, b := range blocks {
		if b.kind != heading || b.level > level {
			continue
		}
		if b.level == level && partOfCourse.MatchString(plainName(b.text)) {
			return nil, nil
		}
		starts = append(starts, i)
	}
	sections := slices.DeleteFunc(cut(blocks, starts, make([]string, len(starts))), func(s section) bool {
		return s.blocks[0].level < level
	})
	if len(sections) < catalogueCourses {
		return nil, nil
	}
	return slices.DeleteFunc(sections, func(s section) bool { return plainName(s.blocks[0].text) != name }), nil
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
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ")
}
