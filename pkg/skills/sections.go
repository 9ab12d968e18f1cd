package skills

import (
	"strings"
	"sync"
	"unicode"
)

// section is the part of a syllabus that a block belongs to.
type section int

const (
	other section = iota
	title
	outcomes
	topics
	description
	readings
	prerequisites // what a student brings along is not taught here: gives nothing
	policy        // grading, contacts, dates: gives nothing
	sections
)

// String is the word that evidence uses.
func (s section) String() string {
	return [sections]string{"other", "description", "outcomes", "topics", "description", "readings", "prerequisites", "policy"}[s]
}

func (s section) silent() bool { return s == prerequisites || s == policy }

// block is one line of the document.
type block struct {
	start, end int // bytes of its text, marker and numbering left out
	section    section
	heading    bool
	outcome    string // the number of a course outcome ("3" of "CO 3:"), or ""
}

// headings leads from the words of a heading to the section that it opens. The
// longest beginning that is listed decides.
var headings = sync.OnceValue(func() map[string]section {
	m := map[string]section{}
	for s, names := range [sections]string{
		outcomes: `outcomes|course outcomes|course outcome|learning outcomes|learning outcome|student learning outcomes|expected outcomes|intended learning outcomes|objectives|objective|course objectives|course objective|learning objectives|
			aims|aims and objectives|course aims|goals|course goals|learning goals|competencies|course competencies|skills gained|what you will learn|what students will learn|by the end of this course|
			after completing this course|upon completion|upon successful completion|at the end of the course|on completion of the course|after completion of the course|key skills`,
		topics: `syllabus|course syllabus|detailed syllabus|content|contents|course content|course contents|module|modules|course modules|syllabus modules|unit|units|topics|topic|topics covered|course topics|course outline|outline|syllabus outline|
			schedule|course schedule|weekly schedule|week|lecture|lectures|lecture topics|session|chapter|part|section|course plan|course structure|experiments|list of experiments|lab|labs|laboratory|practicals|practical|laboratory experiments|exercises|
			list of exercises|tutorials|problem sets|projects|theory|block|day`,
		description: `description|course description|catalog description|catalogue description|overview|course overview|about|about the course|about this course|summary|course summary|abstract|introduction|preamble|rationale|course introduction|scope`,
		readings: `references|reference|reference books|reference book|reference materials|reference material|reference texts|text books|text book|textbooks|textbook|text|texts|text/reference books|textbooks and references|text books and references|
			reading|readings|reading list|required reading|required readings|recommended reading|recommended readings|recommended texts|recommended books|recommended texts & resources|required texts|required text|required materials|course materials|materials|
			further reading|suggested reading|suggested readings|suggested books|bibliography|resources|web resources|online resources|e-resources|e-books|additional resources|learning resources|websites|web links|books`,
		prerequisites: `prerequisite|prerequisites|pre-requisite|pre-requisites|pre requisite|pre requisites|prerequisite course|prerequisite courses|prerequisite knowledge|prior knowledge|assumed knowledge|corequisite|corequisites|co-requisites|entry requirements|
			required background|recommended background|recommended preparation`,
		policy: `assessment|assessments|assessment & workload|assessment pattern|assessment methods|evaluation|evaluation scheme|evaluation pattern|grading|grades|grading policy|grading scale|grade|marks|mark distribution|marks distribution|marking scheme|examination|
			examinations|end semester examination|end semester examination pattern|continuous internal evaluation|continuous internal evaluation pattern|question paper|question paper pattern|model question paper|sample questions|exam|exams|midterm|final exam|quizzes|
			policy|policies|course policies|attendance|attendance policy|academic integrity|academic honesty|plagiarism policy|late work|late policy|accommodations|disability|disability services|accessibility|diversity|contact|contact information|contacts|
			instructor|instructors|instructor information|office hours|teaching assistant|teaching assistants|faculty|staff|workload|credits|credit hours|class hours|meeting times|course information|course details|co-po mapping|mapping|co po mapping|
			mapping of course outcomes|mapping of course outcomes with program outcomes|program outcomes|programme outcomes|program specific outcomes|university policies|title ix|important dates|logistics|communication policy|homework policy|technology policy|
			teaching methods|teaching method|teaching strategies|methods of instruction|instructional methods|methods of evaluation|course delivery|safety policy|
			course type|category|l-t-p|teaching hours|course code|semester|university|branch|contributor|version|year|level|language|duration|delivery|tuition|fees|course level assessment questions`,
	} {
		for name := range strings.SplitSeq(names, "|") {
			if name = strings.TrimSpace(name); name != "" {
				m[name] = section(s)
			}
		}
	}
	return m
})

var (
	marker     = pattern(`^\s*(?:[-*•▪◦●○·–—>|#]+|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]|\d+(?:\.\d+)+\.?)\s+`)
	emphasis   = pattern(`^[*_]+`)
	outcomeTag = pattern(`(?i)^\s*[*_]*\s*(?:c\.?l?o|lo|clo|outcome)\s*[-.]?\s*(\d{1,2})[*_]*\s*[:.)|–—-]?\s*[*_]*\s*`)
	numbered   = pattern(`(?i)^(module|unit|chapter|week|lecture|part|session|block|experiment|lab|topic|day|section)\s*[-–:]?\s*(\d{1,3}|[ivx]{1,5}|[a-e])\b`)
	frontKey   = pattern(`^([a-z_]+):\s*(.*)$`)
	bookish    = pattern(`(?i)\b(?:press|publish\w*|publication\w*|mcgraw|wiley|pearson|springer|elsevier|prentice|phi learning|oxford university|cambridge university|isbn|\d(?:st|nd|rd|th) ed\w*|\d/e|edn|(?:19|20)\d\d)\b`)
	contact    = pattern(`(?i)[\w.]+@[\w.]+\.\w+|\boffice hours?\b|\btel(?:ephone)?\s*[.:]|\bphone\s*:|\broom\s+\d|\b\d+\s*(?:marks|points|%)|\bhttps?://\S+\s*$`)
)

// blocks cuts a document into its lines and says of each to which section it belongs.
func blocks(text string) []block {
	var out []block
	current, front, started := other, false, false
	for start := 0; start <= len(text); {
		end := strings.IndexByte(text[start:], '\n')
		if end < 0 {
			end = len(text)
		} else {
			end += start
		}
		line := text[start:end]
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "":
		case !started && trimmed == "---":
			front, started = true, true
		case front && trimmed == "---":
			front = false
		case front:
			if m := frontKey().FindStringSubmatchIndex(line); m != nil && (line[m[2]:m[3]] == "course_title" || line[m[2]:m[3]] == "title") {
				out = append(out, block{start: start + m[4], end: end, section: title, heading: true})
			}
		default:
			b := readBlock(line, &current, !started)
			started = true
			b.start, b.end = b.start+start, b.end+start
			if b.start < b.end {
				out = append(out, b)
			}
		}
		start = end + 1
	}
	if len(out) < leastTitled {
		for i := range out {
			if out[i].section == title {
				out[i].section, out[i].heading = other, false
			}
		}
	}
	return out
}

// leastTitled is how many blocks a text has at least whose first one is its title.
const leastTitled = 3

// readBlock judges one line; current is the section that the last heading opened.
func readBlock(line string, current *section, first bool) block {
	hash := strings.HasPrefix(strings.TrimSpace(line), "#")
	b := block{end: len(strings.TrimRightFunc(line, unicode.IsSpace))}
	for range 3 {
		rest := line[b.start:b.end]
		if m := marker().FindStringIndex(rest); m != nil {
			b.start += m[1]
		} else if m := emphasis().FindStringIndex(rest); m != nil {
			b.start += m[1]
		} else {
			break
		}
	}
	if m := outcomeTag().FindStringSubmatchIndex(line[b.start:b.end]); m != nil {
		b.outcome = line[b.start+m[2] : b.start+m[3]]
		b.start += m[1]
	}
	content := line[b.start:b.end]
	b.section = *current
	if b.outcome != "" {
		if !b.section.silent() {
			b.section = outcomes
		}
		return b
	}

	head, rest, colon := strings.Cut(content, ":")
	s, known := headingSection(head)
	numberedHead := numbered().MatchString(content)
	switch {
	case known && (!colon || strings.Trim(rest, " *_") == "") && (wordCount(head) <= 8):
		*current, b.section, b.heading = s, s, true
	case numberedHead && wordCount(head) <= 14 && !(*current).silent() && *current != readings,
		numberedHead && hash:
		*current, b.section, b.heading = topics, topics, true
	case known && colon && wordCount(head) <= 4:
		b.section = s // the line alone: "Prerequisites: calculus"
	case first && wordCount(content) <= 16:
		b.section, b.heading = title, true
	case hash:
		b.heading = true
		if *current == title || (*current).silent() && !known {
			*current = other
		}
		b.section = *current
	}
	if !b.section.silent() && !b.heading {
		switch {
		case contact().MatchString(content) && wordCount(content) < 25:
			b.section = policy
		case b.section != outcomes && b.section != readings && bookish().MatchString(content) && strings.Count(content, ",") >= 2 && len(bookish().FindAllString(content, 3)) >= 2:
			b.section = readings
		}
	}
	return b
}

// headingSection looks a heading up: as it stands, without its number and
// bracket, or by its beginning.
func headingSection(head string) (section, bool) {
	h := strings.ToLower(strings.Trim(head, " *_#:.-–—"))
	if i := strings.IndexByte(h, '('); i > 0 {
		h = strings.TrimSpace(h[:i])
	}
	h = strings.TrimLeft(h, "0123456789. ")
	if s, ok := headings()[h]; ok && h != "text" && h != "part" {
		return s, true
	}
	fields := strings.Fields(h)
	for n := min(len(fields)-1, 5); n >= 2; n-- {
		if s, ok := headings()[strings.Join(fields[:n], " ")]; ok && len(fields)-n <= 4 {
			return s, true
		}
	}
	if len(fields) == 2 || len(fields) == 3 {
		if s, ok := headings()[fields[len(fields)-1]]; ok && (s == outcomes || s == readings || s == prerequisites || s == policy && len(fields) == 2) && fields[len(fields)-1] != "text" {
			return s, true
		}
	}
	return other, false
}

func wordCount(s string) int { return len(strings.Fields(s)) }
