package intake

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// credits returns what a line says of credits: a range in one cell (3, 1-4), or its
// ends in two. The end that is not there is as the other one, the unit without a
// word semester hours.
func (t *table) credits() (any, error) {
	low, high := t.get(creditsMin), t.get(creditsMax)
	if whole := t.get(credits); whole != "" {
		low, high, _ = strings.Cut(whole, "-")
	}
	if low, high = strings.TrimSpace(low), strings.TrimSpace(high); low == "" {
		low = high
	}
	if high == "" {
		high = low
	}
	if low == "" {
		return nil, nil
	}
	fact := map[string]any{"unit": "SEMESTER_HOUR"}
	for field, text := range map[string]string{"min": low, "max": high} {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no number of credits", text)
		}
		fact[field] = n
	}
	if word := t.get(creditsUnit); word != "" {
		unit, known := units[plain(word)]
		if !known {
			return nil, fmt.Errorf("%q is no unit of credits: SEMESTER_HOUR, QUARTER_HOUR, ECTS, CLOCK_HOUR or CEU", word)
		}
		fact["unit"] = unit
	}
	return fact, nil
}

// The words of other systems for the contract's, as plain leaves them. They have more
// words than the contract; one that stands for none of its words stands for "".
var (
	units = map[string]string{
		"semesterhour": "SEMESTER_HOUR", "semesterhours": "SEMESTER_HOUR", "semester": "SEMESTER_HOUR", "credit": "SEMESTER_HOUR",
		"credits": "SEMESTER_HOUR", "credithour": "SEMESTER_HOUR", "credithours": "SEMESTER_HOUR", "sh": "SEMESTER_HOUR",
		"quarterhour": "QUARTER_HOUR", "quarterhours": "QUARTER_HOUR", "quarter": "QUARTER_HOUR", "qh": "QUARTER_HOUR",
		"ects": "ECTS", "ectscredits": "ECTS",
		"clockhour": "CLOCK_HOUR", "clockhours": "CLOCK_HOUR", "contacthour": "CLOCK_HOUR", "contacthours": "CLOCK_HOUR",
		"ceu": "CEU", "ceus": "CEU", "continuingeducationunit": "CEU", "continuingeducationunits": "CEU",
	}
	levels = map[string]string{
		"lowerdivision": "LOWER_DIVISION", "lower": "LOWER_DIVISION", "ld": "LOWER_DIVISION", "100": "LOWER_DIVISION", "200": "LOWER_DIVISION",
		"upperdivision": "UPPER_DIVISION", "upper": "UPPER_DIVISION", "ud": "UPPER_DIVISION", "300": "UPPER_DIVISION", "400": "UPPER_DIVISION",
		"graduate": "GRADUATE", "grad": "GRADUATE", "gr": "GRADUATE", "500": "GRADUATE", "600": "GRADUATE",
		"noncredit": "NON_CREDIT", "nc": "NON_CREDIT", "ce": "NON_CREDIT", "continuingeducation": "NON_CREDIT",
	}
	lifecycles = map[string]string{
		"proposed": "PROPOSED", "pending": "PROPOSED", "planned": "PROPOSED", "draft": "PROPOSED", "p": "PROPOSED",
		"active": "ACTIVE", "approved": "ACTIVE", "a": "ACTIVE",
		"retired": "RETIRED", "inactive": "RETIRED", "terminated": "RETIRED", "obsolete": "RETIRED", "closed": "RETIRED", "i": "RETIRED",
	}
)

// dates are the forms in which other systems write a calendar date.
var dates = []string{time.DateOnly, "01/02/2006", "1/2/2006", "01/02/06", "02-Jan-2006", "02-Jan-06", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "1/2/2006 3:04:05 PM"}

// date writes a date as the contract does; what is none stays as it is.
func date(cell string) string {
	for _, form := range dates {
		if day, err := time.Parse(form, cell); err == nil {
			return day.Format(time.DateOnly)
		}
	}
	return cell
}

// word returns the contract's word for a cell. One that the contract does not have is
// left to it to refuse in a column of its own name, and nil in one of other systems.
func (t *table) word(kind column, words map[string]string, own string, cell string) any {
	if word := words[plain(cell)]; word != "" {
		return word
	}
	if cell == "" || plain(t.header[t.columns[kind]]) != own {
		return nil
	}
	return cell
}
