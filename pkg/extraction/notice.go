package extraction

import "strings"

// withoutNotices blanks the sentences of a line that are about what a course runs on rather than
// what it teaches: platforms, readers and stores of apps, required equipment, licences, and lists
// of a college's services. A sentence that says what students learn or make stays.
func withoutNotices(line string) string {
	if !noticed().MatchString(line) {
		return line
	}
	var out strings.Builder
	for len(line) > 0 {
		end := len(line)
		if at := sentenceEnd().FindStringIndex(line); at != nil {
			end = at[1]
		}
		if notice(line[:end]) {
			out.WriteString(strings.Repeat(" ", end))
		} else {
			out.WriteString(line[:end])
		}
		line = line[end:]
	}
	return out.String()
}

func notice(sentence string) bool {
	if teachingVerb().MatchString(sentence) {
		return false
	}
	return licenceNotice().MatchString(sentence) ||
		platform().MatchString(sentence) && provided().MatchString(sentence) ||
		len(service().FindAllString(sentence, leastServices)) == leastServices && offered().MatchString(sentence)
}

// leastServices make a sentence a list of services.
const leastServices = 2

var (
	sentenceEnd = pattern(`[.!?]["')\]]*\s+`)
	// noticed matches every line that one of the patterns below may match.
	noticed = pattern(`(?i)\b(?:need|needed|needs|require|required|requires|requirements?|must have|support|` +
		`supported|supports|` +
		`compatible|works? (?:on|with)|available|access to|download|downloaded|version|versions|later|higher|newer|free|` +
		`licensed under|creative commons|all rights reserved|offers?|provides?|campus)\b`)
	licenceNotice = pattern(`(?i)\b(?:licensed under|creative commons|all rights reserved)\b`)
	platform      = pattern(`(?i)\b(?:google play|(?:app|play) store|acrobat reader|adobe reader|pdf reader|e-?readers?|` +
		`kindle|chrome|chromebooks?|firefox|safari|web ?browsers?|browsers?|webcams?|headsets?|microphones?|zoom|canvas|` +
		`blackboard|moodle|brightspace|windows|mac ?os(?: x)?|macs?|ios|ipados|android|iphones?|ipads?|tablets?|` +
		`smart ?phones?|laptops?|office 365|microsoft 365|microsoft teams|calculators?|internet connection|broadband)\b`)
	provided = pattern(`(?i)\b(?:(?:you|students|learners|participants)(?:'ll| will| may)? (?:also )?need|needed|` +
		`must have|` +
		`require|required|requires|(?:system|technical|technology|hardware|software|computer|minimum) requirements?|` +
		`supports?|supported|compatible|works? (?:on|with)|available (?:on|for|in|from|at|through|free|to)|access to|` +
		`download(?:ed)?|versions?|or (?:later|higher|newer)|for free|free of charge)\b`)
	service = pattern(`(?i)\b(?:tutoring|tutors|counsell?ing|advising|advisement|financial aid|career (?:services|` +
		`cent(?:er|re))|` +
		`library|writing cent(?:er|re)|health services|disability services|accessibility services|veterans'? services|` +
		`food pantry|help ?desk|technical support|child ?care|student services)\b`)
	offered = pattern(`(?i)\b(?:(?:college|university|campus|institution|school|` +
		`district)(?:'s)?\b.{0,40}\b(?:offers?|provides?|has)|` +
		`available (?:to|for|at|on|free)|free (?:of charge|to)|on campus|students (?:can|may) (?:use|get|access|find))\b`)
	teachingVerb = pattern(`(?i)\b(?:learn|learns|learning|develop|develops|design|build|program|programming|` +
		`deploy|publish|` +
		`configure|administer|troubleshoot|compare|analy[sz]e|examines?|explores?|covers?|topics?|introduces?|introduction|` +
		`programs? for|development|administration|testing)\b`)
)
