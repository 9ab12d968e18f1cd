package intake

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

var creditsForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\d*\.?\d+)(?:\s*-\s*(\d*\.?\d+))?(?:\s+(\S.*))?$`)
})

// parseCredits reads credits that are written as 3, 3-4 or 3-4 ECTS. The default unit is the semester hour.
func parseCredits(cell string) (map[string]any, error) {
	match := creditsForm().FindStringSubmatch(cell)
	if match == nil {
		return nil, fmt.Errorf("%q is not a number of credits", cell)
	}
	low, errLow := strconv.ParseFloat(match[1], 64)
	high, errHigh := strconv.ParseFloat(cmp.Or(match[2], match[1]), 64)
	if errLow != nil || errHigh != nil {
		return nil, fmt.Errorf("%q is not a number of credits", cell)
	}
	unit := units[plain(cmp.Or(match[3], "semester"))]
	if unit == "" {
		return nil, fmt.Errorf("%q is not a unit of credits: "+
			"SEMESTER_HOUR, QUARTER_HOUR, ECTS, CLOCK_HOUR or CEU", match[3])
	}
	return map[string]any{"min": low, "max": high, "unit": unit}, nil
}

// credits returns the credits of a line: a number or range in one cell, or its two ends in two cells.
func (t *table) credits() (any, error) {
	cell, low, high := t.get(credits), t.get(creditsMin), t.get(creditsMax)
	if cell == "" {
		if cell = cmp.Or(low, high); low != "" && high != "" {
			cell = low + "-" + high
		}
		if cell == "" {
			return nil, nil
		}
	}
	return parseCredits(strings.TrimSpace(cell + " " + t.get(creditsUnit)))
}

// Words of other systems, as plain leaves them, and their equivalents in the contract.
var (
	units = map[string]string{
		"semesterhour": "SEMESTER_HOUR", "semesterhours": "SEMESTER_HOUR",
		"semester": "SEMESTER_HOUR", "credit": "SEMESTER_HOUR",
		"credits": "SEMESTER_HOUR", "credithour": "SEMESTER_HOUR",
		"credithours": "SEMESTER_HOUR", "sh": "SEMESTER_HOUR",
		"quarterhour": "QUARTER_HOUR", "quarterhours": "QUARTER_HOUR", "quarter": "QUARTER_HOUR", "qh": "QUARTER_HOUR",
		"ects": "ECTS", "ectscredits": "ECTS",
		"clockhour": "CLOCK_HOUR", "clockhours": "CLOCK_HOUR",
		"contacthour": "CLOCK_HOUR", "contacthours": "CLOCK_HOUR",
		"ceu": "CEU", "ceus": "CEU", "continuingeducationunit": "CEU", "continuingeducationunits": "CEU",
	}
	levels = map[string]string{
		"lowerdivision": "LOWER_DIVISION", "lower": "LOWER_DIVISION", "ld": "LOWER_DIVISION",
		"100": "LOWER_DIVISION", "200": "LOWER_DIVISION",
		"upperdivision": "UPPER_DIVISION", "upper": "UPPER_DIVISION", "ud": "UPPER_DIVISION",
		"300": "UPPER_DIVISION", "400": "UPPER_DIVISION",
		"graduate": "GRADUATE", "grad": "GRADUATE", "gr": "GRADUATE", "500": "GRADUATE", "600": "GRADUATE",
		"noncredit": "NON_CREDIT", "nc": "NON_CREDIT", "ce": "NON_CREDIT", "continuingeducation": "NON_CREDIT",
	}
	lifecycles = map[string]string{
		"proposed": "PROPOSED", "pending": "PROPOSED", "planned": "PROPOSED", "draft": "PROPOSED", "p": "PROPOSED",
		"active": "ACTIVE", "approved": "ACTIVE", "a": "ACTIVE",
		"retired": "RETIRED", "inactive": "RETIRED", "terminated": "RETIRED",
		"obsolete": "RETIRED", "closed": "RETIRED", "i": "RETIRED",
	}
)

// dates are the layouts in which other systems write calendar dates.
var dates = []string{
	time.DateOnly, "1/2/2006", "01/02/06", "02-Jan-2006", "02-Jan-06",
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "1/2/2006 3:04:05 PM",
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

// word returns the contract's word for a cell. A word that the contract lacks is passed on, to be refused, if the
// column has the contract's name, and is ignored in a column of another system.
func (t *table) word(kind column, words map[string]string, own string, cell string) any {
	if word := words[plain(cell)]; word != "" {
		return word
	}
	if cell == "" || plain(t.header[t.columns[kind]]) != own {
		return nil
	}
	return cell
}
