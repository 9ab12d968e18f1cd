package syllabus

import (
	"regexp"
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
// that holds it, else all blocks.
func choose(blocks []block, course, code string) []block {
	name, key := plainName(course), plainCode(code)
	if name == "" && key == "" {
		return blocks
	}
	courses := byCode(blocks)
	if len(courses) < catalogueCourses {
		courses = byHeading(blocks, name, key)
	}
	var best []block
	for _, c := range courses {
		if c.is(name, key) && size(c.blocks) > size(best) {
			best = c.blocks
		}
	}
	if best == nil {
		return blocks
	}
	return best
}

// section is the part of a catalogue that one course takes.
type section struct {
	code   string // plain; empty where the catalogue has none
	blocks []block
}

// is says whether the section is the wanted course's: by its code where both have
// one, else by its name in the first line or, behind a line with the code only,
// in the second.
func (s section) is(name, code string) bool {
	if code != "" && s.code != "" {
		return s.code == code
	}
	if name == "" {
		return strings.Contains(" "+plainName(s.blocks[0].text)+" ", " "+plainName(code)+" ")
	}
	for _, b := range s.blocks[:min(2, len(s.blocks))] {
		if strings.Contains(" "+plainName(b.text)+" ", " "+name+" ") {
			return true
		}
	}
	return false
}

// byCode cuts where lines begin with a course code, and keeps the sections that
// say more than the name of their course.
func byCode(blocks []block) []section {
	var all []section
	for i, b := range blocks {
		m := courseLine.FindStringSubmatch(clean(b.text))
		if m == nil || len(all) > 0 && all[len(all)-1].code == plainCode(m[1]) {
			if len(all) > 0 {
				last := &all[len(all)-1]
				last.blocks = blocks[i-len(last.blocks) : i+1]
			}
			continue
		}
		all = append(all, section{code: plainCode(m[1]), blocks: blocks[i : i+1]})
	}
	var full []section
	distinct := map[string]bool{}
	for _, s := range all {
		if size(s.blocks[1:]) >= courseBody {
			full = append(full, s)
			distinct[s.code] = true
		}
	}
	if len(distinct) < catalogueCourses {
		return nil
	}
	return full
}

// byHeading cuts at the headings of the level of the one that names the wanted
// course, where there are enough of them.
func byHeading(blocks []block, name, code string) []section {
	level := 0
	for _, b := range blocks {
		if b.kind == heading && (section{blocks: []block{b}}).is(name, code) {
			level = b.level
			break
		}
	}
	var all []section
	for i, b := range blocks {
		switch {
		case b.kind == heading && b.level == level:
			all = append(all, section{blocks: blocks[i : i+1]})
		case b.kind == heading && b.level < level:
			all = append(all, section{blocks: blocks[i : i+1]})
		case len(all) > 0:
			last := &all[len(all)-1]
			last.blocks = blocks[i-len(last.blocks) : i+1]
		}
	}
	var full []section
	for _, s := range all {
		if s.blocks[0].level == level && size(s.blocks[1:]) >= courseBody {
			full = append(full, s)
		}
	}
	if level == 0 || len(full) < catalogueCourses {
		return nil
	}
	return full
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
