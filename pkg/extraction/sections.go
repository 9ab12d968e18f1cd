package extraction

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
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
	prerequisites // prior knowledge is not taught here: silent
	policy        // grading, contacts, dates: silent
	sections
)

// String returns the section's name in evidence.
func (s section) String() string {
	return [sections]string{
		"other", "description", "outcomes", "topics", "description", "readings", "prerequisites", "policy",
	}[s]
}

func (s section) silent() bool { return s == prerequisites || s == policy }

// block is one line of the document.
type block struct {
	start, end int // bytes of its text, marker and numbering left out
	section    section
	heading    bool
	outcome    string  // the label of a course outcome ("CO 3" of "CO 3: Explain"), or ""
	business   float64 // share of its words that are about running the course
	words      int
}

// headings maps the words of a heading to the section that it opens. The longest listed
// prefix decides.
var headings = sync.OnceValue(func() map[string]section {
	m := map[string]section{}
	for s, names := range [sections]string{
		outcomes: `outcomes|course outcomes|course outcome|learning outcomes|learning outcome|student learning outcomes|
			expected outcomes|intended learning outcomes|objectives|objective|course objectives|course objective|
			learning objectives|
			aim|aims|aims and objectives|course aims|goals|course goals|learning goals|competencies|course competencies|
			skills gained|what you will learn|what students will learn|by the end of this course|
			after completing this course|upon completion|upon successful completion|at the end of the course|
			on completion of the course|after completion of the course|key skills`,
		topics: `syllabus|course syllabus|detailed syllabus|content|contents|course content|course contents|module|modules|
			course modules|syllabus modules|unit|units|topics|topic|topics covered|course topics|course outline|outline|
			syllabus outline|
			schedule|course schedule|weekly schedule|week|lecture|lectures|lecture topics|session|chapter|part|section|
			course plan|course structure|experiments|list of experiments|lab|labs|laboratory|practicals|practical|
			laboratory experiments|exercises|
			list of exercises|tutorials|problem sets|projects|theory|block|day`,
		description: `description|course description|catalog description|catalogue description|overview|course overview|
			about|about the course|about this course|mission statement|summary|course summary|abstract|introduction|
			preamble|rationale|course introduction|scope`,
		readings: `references|reference|reference books|reference book|reference materials|reference material|
			reference texts|text books|text book|textbooks|textbook|text|texts|text/reference books|textbooks and references|
			text books and references|
			reading|readings|reading list|required reading|required readings|recommended reading|recommended readings|
			recommended texts|recommended books|recommended texts & resources|required texts|required text|required materials|
			course materials|materials|
			further reading|suggested reading|suggested readings|suggested books|bibliography|resources|web resources|
			online resources|e-resources|e-books|additional resources|learning resources|websites|web links|books`,
		prerequisites: `prerequisite|prerequisites|pre-requisite|pre-requisites|pre requisite|pre requisites|
			prerequisite course|prerequisite courses|prerequisite knowledge|prior knowledge|assumed knowledge|corequisite|
			corequisites|co-requisites|entry requirements|
			required background|recommended background|recommended preparation`,
		policy: `assessment|assessments|assessment & workload|assessment pattern|assessment methods|evaluation|
			evaluation scheme|evaluation pattern|grading|grades|grading policy|grading scale|grade|marks|mark distribution|
			marks distribution|marking scheme|examination|
			examinations|end semester examination|end semester examination pattern|continuous internal evaluation|
			continuous internal evaluation pattern|question paper|question paper pattern|model question paper|sample questions|
			exam|exams|midterm|final exam|quizzes|
			policy|policies|course policies|attendance|attendance policy|academic integrity|academic honesty|plagiarism policy|
			late work|late policy|accommodations|disability|disability services|accessibility|diversity|contact|
			contact information|contacts|
			instructor|instructors|instructor information|office hours|teaching assistant|teaching assistants|faculty|staff|
			workload|credits|credit hours|class hours|meeting times|course information|course details|co-po mapping|mapping|
			co po mapping|
			mapping of course outcomes|mapping of course outcomes with program outcomes|program outcomes|programme outcomes|
			program specific outcomes|university policies|title ix|important dates|logistics|communication policy|
			homework policy|technology policy|
			teaching methods|teaching method|teaching strategies|methods of instruction|instructional methods|
			methods of teaching|teaching and learning methods|learning and teaching methods|activities and teaching methods|
			teaching and learning strategies|learning and teaching strategies|teaching and learning activities|
			learning and teaching activities|teaching methodology|teaching approach|pedagogical approach|learning methods|
			instructional strategies|mode of delivery|modes of delivery|course format|
			methods of evaluation|course delivery|safety policy|
			course type|category|l-t-p|teaching hours|course code|semester|university|branch|contributor|version|year|level|
			language|duration|delivery|tuition|fees|course level assessment questions`,
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
	outcomeTag = pattern(`(?i)^\s*[*_]*\s*((?:c\.?l?o|s?lo|outcome)\s*[-.]?\s*\d{1,2}(?:\.\d{1,2})?\b)[*_]*\s*` +
		`[:.)|–—-]?\s*[*_]*\s*`)
	numbered = pattern(`(?i)^(?:(?:learning|study|teaching) )?(module|unit|chapter|week|lecture|part|session|block|` +
		`experiment|lab|topic|day|section)\s*[-–:]?\s*(\d{1,3}|[ivx]{1,5}|[a-e])\b`)
	values   = pattern(`(?i)[a-z] \d+\b`)
	frontKey = pattern(`^([a-z_]+):\s*(.*)$`)
	bookish  = pattern(`(?i)\b(?:press|publish\w*|publication\w*|mcgraw|wiley|pearson|springer|elsevier|prentice|` +
		`phi learning|oxford university|cambridge university|isbn|\d(?:st|nd|rd|th) ed\w*|\d/e|edn|(?:19|20)\d\d)\b`)
	// quotedTitle is a line that is little more than the title of a work.
	quotedTitle = pattern(`^[^"“]{0,20}["“]\p{Lu}[^"“”]{12,}["”][^"“”]{0,40}$`)
	contact     = pattern(`(?i)[\w.]+@[\w.]+\.\w+|\boffice hours?\b|\btel(?:ephone)?\s*[.:]|\bphone\s*:|\broom\s+\d|` +
		`\b\d+\s*(?:marks|points|%)|\bhttps?://\S+\s*$`)
)

// blocks splits a document into lines and assigns each to a section. An empty line precedes
// each heading (package syllabus), and each paragraph in texts from elsewhere.
func blocks(text string) []block {
	var out []block
	current, front, started, empty := other, false, false, false
	flat := !strings.Contains(text, "\n\n")
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
			empty = true
		case !started && trimmed == "---":
			front, started = true, true
		case front && trimmed == "---":
			front = false
		case front:
			if m := frontKey().FindStringSubmatchIndex(line); m != nil &&
				(line[m[2]:m[3]] == "course_title" || line[m[2]:m[3]] == "title") {
				out = append(out, block{start: start + m[4], end: end, section: title, heading: true})
			}
		default:
			b := readBlock(line, &current, !started, empty || flat && headlike(trimmed))
			started, empty = true, false
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

// headlike reports whether a line of a text without empty lines looks like a heading
// that would end one section or begin another.
func headlike(line string) bool {
	if wordCount(line) > flatWords || strings.ContainsAny(line, ".,;?!|") {
		return false
	}
	first, _ := utf8.DecodeRuneInString(line)
	if !unicode.IsUpper(first) {
		return false
	}
	_, told := toldSection(line)
	return told
}

const (
	flatWords    = 8  // of a heading where nothing else shows it
	leastTitled  = 3  // blocks of a text whose first one is its title
	headingWords = 14 // beyond which a line is no heading
	briefHead    = 3  // words of a heading
)

// readBlock classifies one line; current is the section opened by the last heading.
func readBlock(line string, current *section, first, empty bool) block {
	b := block{end: len(strings.TrimRightFunc(line, unicode.IsSpace))}
	hash := strings.HasPrefix(strings.TrimSpace(line), "#")
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
	if m := outcomeTag().FindStringSubmatchIndex(line[b.start:b.end]); m != nil && !quantity(line[b.start:b.end], m) {
		b.outcome = line[b.start+m[2] : b.start+m[3]]
		b.start += m[1]
	}
	content := line[b.start:b.end]
	b.section = *current
	b.words = wordCount(content)
	if b.outcome != "" {
		if !b.section.silent() {
			b.section = outcomes
		}
		return b
	}
	short := b.words <= headingWords && !strings.HasSuffix(content, ".")
	b.open(content, current, first, hash || empty, hash || empty && short)
	if !b.section.silent() && !b.heading {
		b.listen(content)
	}
	return b
}

// quantity reports whether what looks like the label of an outcome is part of its words, such as CO2 emissions.
func quantity(text string, label []int) bool {
	r, _ := utf8.DecodeRuneInString(text[label[1]:])
	return unicode.IsLower(r) && strings.TrimSpace(text[label[3]:label[1]]) == ""
}

// open determines whether a line is a heading and which section it opens. The midterm in a schedule and a line of
// credits, level and semester are silent themselves, but not what follows them.
func (b *block) open(content string, current *section, first, spaced, apart bool) {
	head, rest, colon := strings.Cut(content, ":")
	s, known := headingSection(head, first)
	numberedHead := numbered().MatchString(content)
	switch {
	case known && s == description && *current == topics && !spaced: // an item of a unit, such as Introduction
	case known && s == policy && *current == topics && (!spaced || strings.Contains(content, " | ")):
		b.section = policy
	case known && (!colon || strings.Trim(rest, " *_") == "") && wordCount(head) <= 8:
		*current, b.section, b.heading = s, s, true
	case numberedHead && b.words <= headingWords && !(*current).silent() && *current != readings, numberedHead && apart:
		*current, b.section, b.heading = topics, topics, true
	case known && colon && wordCount(head) <= 4:
		b.section = s // the line alone: "Prerequisites: calculus"
	case first && b.words <= 16:
		b.section, b.heading = title, true
	case apart:
		s, told := toldSection(content)
		if s == policy && len(values().FindAllString(content, 2)) == 2 {
			b.section = policy
			return
		}
		b.heading = true
		if told {
			*current = s
		} else if *current != topics {
			*current = other
		}
		b.section = *current
	}
}

// listen recognizes lines about contacts, books and course administration under headings that
// do not say so.
func (b *block) listen(content string) {
	business, certain := 0, false
	for w := range strings.FieldsSeq(content) {
		w = strings.ToLower(strings.Trim(w, ".,;:!?()[]\"'*_"))
		if errands(w) {
			business++
			certain = certain || !subjects(w)
		}
	}
	b.business = float64(business) / float64(max(1, b.words))
	switch {
	case contact().MatchString(content) && b.words < 25:
		b.section = policy
	case business >= 2 && certain && b.business >= busy && b.section != outcomes:
		b.section = policy
	case b.section != outcomes && quotedTitle().MatchString(content):
		b.section = readings
	case b.section != outcomes && b.section != readings && bookish().MatchString(content) &&
		strings.Count(content, ",") >= 2 && len(bookish().FindAllString(content, 3)) >= 2:
		b.section = readings
	}
}

// busy is the share of administrative words from which a line is about nothing else.
const busy = 0.12

var (
	// errands are words about running a course rather than about its subject.
	errands = set(`attendance attend absence absences absent excused unexcused grade grades graded grading regrade
		points credit credits due deadline deadlines submit submitted submitting submission submissions resubmit late
		email emails e-mail office instructor instructors professor professors prof ta tas lecturer makeup make-up
		quiz quizzes exam exams midterm midterms canvas blackboard moodle piazza slack zoom gradescope brightspace
		discord textbook isbn plagiarism cheating misconduct dishonesty dishonest accommodation accommodations
		disability disabilities campus semester monday tuesday wednesday thursday friday saturday sunday mondays
		tuesdays wednesdays thursdays fridays am pm p.m a.m policy policies registrar tutoring counseling syllabus
		homework homeworks assignment assignments percent rubric enrolled enrollment registration dropped dean
		classroom classmates extension extensions penalty penalties copyright license licensed`)
	// subjects are errands that courses teach as well: a line that has no others is about its subject.
	subjects = set(`canvas copyright counseling credit credits disabilities disability dishonesty email emails
		license licensed office plagiarism policies policy points registration slack tutoring`)
	// Words of a heading that tell its section where the whole heading is not listed.
	policyWords = set(`attendance absence absences grade grades grading graded policy policies late deadline
		deadlines integrity honesty misconduct plagiarism accommodation accommodations disability disabilities
		accessibility contact instructor instructors professor office hours help assistants staff participation due
		makeup weather emergency covid covid-19 masks registration tuition assessed exam exams quiz quizzes midterm
		revisions reattempts license licensing acknowledgements acknowledgments credits contributors sharing ix
		wellness counseling harassment inclusion respect conduct communication etiquette recording recordings
		copyright withdrawal availability logistics meetings homework announcements calendars when where who us
		statement statements rights faq faqs`)
	// subjectsToo are policy words that longer headings of subjects have as well.
	subjectsToo      = set(`communication conduct recording recordings sharing respect when where who us`)
	outcomeWords     = set(`objectives objective outcomes outcome goals competencies aims`)
	descriptionWords = set(`description overview summary`)
	topicWords       = set(`topics modules module units schedule syllabus content contents curriculum lectures
		lessons labs experiments calendar outline agenda weeks sessions`)
	readingWords = set(`readings reading textbook textbooks books bibliography references resources materials`)
	neededWords  = set(`prerequisites prerequisite corequisites`)
)

// toldSection classifies a heading by its words: outcomes first, then course administration,
// then content.
func toldSection(heading string) (section, bool) {
	fields := strings.Fields(strings.ToLower(heading))
	for _, kind := range []struct {
		words func(string) bool
		section
	}{
		{outcomeWords, outcomes}, {neededWords, prerequisites}, {policyWords, policy}, {descriptionWords, description},
		{readingWords, readings}, {topicWords, topics},
	} {
		for _, w := range fields {
			w = strings.Trim(w, ".,;:!?()[]\"'*_&")
			if kind.words(w) && (len(fields) <= briefHead || !subjectsToo(w)) {
				return kind.section, true
			}
		}
	}
	return other, false
}

// structural reports whether a heading says only which part of a syllabus follows: to list learning objectives is not
// to teach how to write them.
func structural(heading string) bool {
	_, listed := headings()[strings.ToLower(strings.Trim(heading, " *_#:.-–—"))]
	return listed
}

// headingSection looks up a heading as written, without its number and bracket, or by a
// prefix or its last word unless it may be the title of the course, such as "Blueprint Reading".
func headingSection(head string, first bool) (section, bool) {
	h := strings.ToLower(strings.Trim(head, " *_#:.-–—"))
	if i := strings.IndexByte(h, '('); i > 0 {
		h = strings.TrimSpace(h[:i])
	}
	h = strings.TrimLeft(h, "0123456789. ")
	if s, ok := headings()[h]; ok && h != "text" && h != "part" {
		return s, true
	}
	if first {
		return other, false
	}
	fields := strings.Fields(h)
	for n := min(len(fields)-1, 5); n >= 2; n-- {
		if s, ok := headings()[strings.Join(fields[:n], " ")]; ok && len(fields)-n <= 4 {
			return s, true
		}
	}
	if len(fields) == 2 || len(fields) == 3 {
		if s, ok := headings()[fields[len(fields)-1]]; ok &&
			(s == outcomes || s == readings || s == prerequisites || s == policy && len(fields) == 2) &&
			fields[len(fields)-1] != "text" {
			return s, true
		}
	}
	return other, false
}

func wordCount(s string) int { return len(strings.Fields(s)) }
