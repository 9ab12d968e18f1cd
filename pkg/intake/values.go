package intake

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
)

// read converts a cell to a JSON value; a blank one is null, an empty list or, for a required text, itself. What the
// field cannot have is a problem of the row.
func (t *table) read(row *Row, field, cell string) any {
	if t.kind == catalog.CredentialKind && field == "status" {
		field = "credentialStatus"
	}
	if known, ok := words[field]; ok {
		word := known[entry.Plain(cell)]
		if word == "" && field == "status" && t.found == Banner && cell != "" {
			word = "PLANNED"
		}
		if word != "" {
			return word
		}
		if cell != "" {
			takes := slices.Compact(slices.Sorted(maps.Values(known)))
			row.Ignored = append(row.Ignored, t.problem(field, fmt.Sprintf("%q is none of %s", shown(cell),
				strings.Join(takes, ", "))))
		}
		return nil
	}
	value, err := valueOf(field, cell)
	if err != nil {
		row.Problems = append(row.Problems, t.problem(field, err.Error()))
	}
	return value
}

// required are texts that most kinds of records need. A blank cell stays one, which the contract refuses, or takes for
// null where the kind does not need it.
var required = []string{"name", "code", "employerId", "transferFromInstitution"}

func valueOf(field, cell string) (any, error) {
	switch field {
	case "credentialIds":
		ids := []any{}
		for _, id := range values(cell) {
			ids = append(ids, id)
		}
		return ids, nil
	case "skills":
		return skillsOf(cell)
	case "locations":
		locations := []any{}
		for _, id := range values(cell) {
			locations = append(locations, map[string]any{"type": "location", "locationId": id})
		}
		return locations, nil
	}
	if cell == "" && !slices.Contains(required, field) {
		return nil, nil
	}
	switch field {
	case "effectiveFrom", "effectiveTo":
		if day := date(cell); day != cell || isDate(day) {
			return day, nil
		}
		return nil, fmt.Errorf("%q is not a date such as 2026-08-15, 08/15/2026 or 15-AUG-2026", shown(cell))
	case "cipCode":
		if m := cip().FindStringSubmatch(cell); m != nil {
			return ("0" + m[1])[len(m[1])-1:] + "." + (m[2] + m[3] + "000")[:4], nil
		}
	case "mapSettings":
		parts := strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune(" ;-–/", r) })
		if len(parts) == 2 {
			touch, err := number(parts[0])
			cover, also := number(parts[1])
			if err == nil && also == nil {
				return map[string]any{"touch": touch, "cover": cover}, nil
			}
		}
		return nil, fmt.Errorf("%q is not two thresholds, such as 0.3 0.6", shown(cell))
	case "salaryMin", "salaryMax":
		amount, err := number(strings.NewReplacer("$", "", ",", "", " ", "").Replace(cell))
		if err != nil {
			return nil, fmt.Errorf("%q is not an amount", shown(cell))
		}
		return amount, nil
	}
	return cell, nil
}

// cip matches a CIP code, also without its dot (Banner) or the zeros at its ends (Excel).
var cip = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d{1,2})(?:\.(\d{1,4})|(\d{4}))$`) })

// number reads a number that JSON can have.
func number(cell string) (float64, error) {
	n, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
	if err == nil && (math.IsNaN(n) || math.IsInf(n, 0)) {
		err = strconv.ErrRange
	}
	return n, err
}

// words has, for fields with a list of values, the words of institutions for them, as plain leaves them.
var words = map[string]map[string]string{
	"level": wordsOf(
		"LOWER_DIVISION", "lower division|lower|ld|lower level|100|200|100 level|200 level|freshman|sophomore",
		"UPPER_DIVISION", "upper division|upper|ud|upper level|300|400|300 level|400 level|junior|senior",
		"GRADUATE", "graduate|grad|gr|g|graduate level|postgraduate|500|600|500 level|600 level|masters|doctoral|grd",
		"NON_CREDIT", "non credit|nc|ce|continuing education|noncr"),
	"lifecycleStatus": wordsOf(
		"PROPOSED", "proposed|pending|planned|draft|p|in review|in progress",
		"ACTIVE", "active|approved|a|available|published|current|y|yes|1|true",
		"RETIRED", "retired|inactive|terminated|obsolete|closed|i|archived|discontinued|deactivated|n|no|0|false"),
	"status": wordsOf(
		"ACTIVE", "active|a|open|scheduled|s|stop further enrollment|full|closed",
		"CANCELLED", "cancelled|canceled|c|x|cancelled section|canceled section|cancelled class",
		"PLANNED", "planned|p|pending|tentative|t|tentative section|proposed|draft"),
	"credentialStatus": wordsOf(
		"ACTIVE", "active|a|awarded|current", "SUSPENDED", "suspended", "DEPRECATED", "deprecated|retired|inactive",
		"TEACH_OUT", "teach out"),
	"modality": wordsOf(
		"IN_PERSON", "in person|p|person|face to face|f2f|traditional|tr|trad|classroom|lecture|lec|"+
			"on campus|onsite|ground|ip",
		"ONLINE", "online|ol|onl|web|www|internet|distance|distance education|remote|virtual|synchronous online|"+
			"asynchronous online|web based|fully online|o|ow|100 online|online synchronous|online asynchronous",
		"HYBRID", "hybrid|hy|hyb|hb|blended|mixed|web hybrid|wh|hyflex|partially online"),
}

// wordsOf takes values of the contract, each followed by the words for it.
func wordsOf(pairs ...string) map[string]string {
	of := map[string]string{}
	for pair := range slices.Chunk(pairs, 2) {
		of[entry.Plain(pair[0])] = pair[0]
		for word := range strings.SplitSeq(pair[1], "|") {
			of[entry.Plain(word)] = pair[0]
		}
	}
	return of
}

// isDeleted reports whether the other system has deleted the record.
func isDeleted(field, cell string) bool {
	return (field == "status" || field == "lifecycleStatus") &&
		(entry.Plain(cell) == "deleted" || entry.Plain(cell) == "tobedeleted")
}

var creditsForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:var[a-z]*[.:,]?\s+)?(\d*\.?\d+)(?:\s*(?:-|–|to|or|/)\s*(\d*\.?\d+))?` +
		`(?:\s+var[a-z]*\.?)?(?:\s+(\S.*))?$`)
})

// parseCredits reads credits that are written as 3, 3-4, 3 to 4, VAR 3-4 or 3-4 ECTS. The default unit is the semester
// hour.
func parseCredits(cell string) (map[string]any, error) {
	match := creditsForm().FindStringSubmatch(cell)
	if match == nil {
		return nil, fmt.Errorf("%q is not a number of credits, such as 3 or 1-4", shown(cell))
	}
	low, errLow := strconv.ParseFloat(match[1], 64)
	high, errHigh := strconv.ParseFloat(cmp.Or(match[2], match[1]), 64)
	if errLow != nil || errHigh != nil {
		return nil, fmt.Errorf("%q is not a number of credits, such as 3 or 1-4", shown(cell))
	}
	if high == 0 {
		high = low // systems write an absent end so
	}
	unit := units[entry.Plain(cmp.Or(match[3], "semester"))]
	if unit == "" {
		return nil, fmt.Errorf("%q is not a unit of credits: "+
			"SEMESTER_HOUR, QUARTER_HOUR, ECTS, CLOCK_HOUR or CEU", shown(match[3]))
	}
	return map[string]any{"min": low, "max": high, "unit": unit}, nil
}

var units = wordsOf(
	"SEMESTER_HOUR", "semester hours|semester|credit|credits|credit hour|credit hours|credit hrs|sh|"+
		"semester credit hours|semester credits|sem hrs|units|unit|hour|hours|hr|hrs|cr|crs",
	"QUARTER_HOUR", "quarter hours|quarter|qh|quarter credits|quarter credit hours|qtr hrs",
	"ECTS", "ects credits",
	"CLOCK_HOUR", "clock hours|contact hour|contact hours",
	"CEU", "ceus|continuing education unit|continuing education units")

// uncounted are the words for credits that are not fixed. A course with one is imported without credits.
var uncounted = []string{"var", "variable", "varies", "arr", "arranged", "tba", "tbd", "na"}

// credits returns the credits of a line: a number or range in one cell, or its two ends in two cells.
func (t *table) credits(row *Row) any {
	field, cell := "credits", t.get("credits")
	if low, high := t.get("creditsMin"), t.get("creditsMax"); cell == "" {
		if field = "creditsMin"; low == "" {
			field = "creditsMax"
		}
		if cell = cmp.Or(low, high); low != "" && high != "" {
			cell = low + "-" + high
		}
	}
	if cell == "" {
		return nil
	}
	if slices.Contains(uncounted, entry.Plain(cell)) {
		row.Ignored = append(row.Ignored, t.problem(field, fmt.Sprintf("%q is not a number of credits", shown(cell))))
		return nil
	}
	if day, err := time.Parse("2-Jan", cell); err == nil {
		cell = day.Format("1-2") // Excel takes 1-4 for a day and shows 4-Jan
	}
	value, err := parseCredits(strings.TrimSpace(cell + " " + t.get("creditsUnit")))
	if err != nil {
		row.Problems = append(row.Problems, t.problem(field, err.Error()))
		return nil
	}
	return value
}

// dates are the layouts in which other systems write calendar dates.
var dates = []string{
	time.DateOnly, "1/2/2006", "01/02/06", "1-2-2006", "02-Jan-2006", "02-Jan-06", "2-Jan-2006", "2-Jan-06", "Jan 2, 2006",
	"January 2, 2006", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04",
	"1/2/2006 3:04:05 PM", "1/2/2006 15:04", "20060102",
}

// date converts a date to the contract's layout, and returns any other cell unchanged.
func date(cell string) string {
	for _, layout := range dates {
		if day, err := time.Parse(layout, cell); err == nil {
			return day.Format(time.DateOnly)
		}
	}
	return cell
}

func isDate(cell string) bool {
	_, err := time.Parse(time.DateOnly, cell)
	return err == nil
}

// values splits a cell into its values.
func values(cell string) []string {
	list := []string{}
	for value := range strings.FieldsFuncSeq(cell, func(r rune) bool { return strings.ContainsRune(";|\n", r) }) {
		if value = strings.TrimSpace(value); value != "" {
			list = append(list, value)
		}
	}
	return list
}

// skillsOf reads skills written as skillId=level or skillId=level@confidence.
func skillsOf(cell string) (any, error) {
	skills := []any{}
	for _, value := range values(cell) {
		id, rest, ok := strings.Cut(value, "=")
		levelText, confidenceText, sure := strings.Cut(rest, "@")
		level, err := number(levelText)
		if !ok || err != nil {
			return nil, fmt.Errorf("%q is not skillId=level", shown(value))
		}
		skill := map[string]any{"skillId": strings.TrimSpace(id), "level": level}
		if sure {
			confidence, err := number(confidenceText)
			if err != nil {
				return nil, fmt.Errorf("%q is not skillId=level@confidence", shown(value))
			}
			skill["confidence"] = confidence
		}
		skills = append(skills, skill)
	}
	return skills, nil
}
