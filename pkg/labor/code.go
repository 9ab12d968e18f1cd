package labor

import (
	"math"
	"strings"
)

// IsCIP reports whether a code has the form of a program of study's: 11.0701.
func IsCIP(code string) bool { return shaped(code, "dd.dddd") }

// IsSOC reports whether a code has the form of an occupation's: 15-1252.
func IsSOC(code string) bool { return shaped(code, "dd-dddd") }

// IsState reports whether a code has the form of a state's FIPS code, padded or not: 06 or 6.
func IsState(code string) bool { return shaped(code, "d") || shaped(code, "dd") }

// IsCBSA reports whether a code has the form of a metropolitan area's: 41860.
func IsCBSA(code string) bool { return shaped(code, "ddddd") }

// shaped compares a code with a pattern in which d stands for a digit.
func shaped(code, pattern string) bool {
	if len(code) != len(pattern) {
		return false
	}
	for i, p := range []byte(pattern) {
		if digit := code[i] >= '0' && code[i] <= '9'; p == 'd' && !digit || p != 'd' && code[i] != p {
			return false
		}
	}
	return true
}

// StateArea returns the area of a state's FIPS code, padded or not.
func StateArea(fips string) Area {
	if len(fips) == 1 {
		fips = "0" + fips
	}
	return Area{State, fips}
}

// StateOfMetro returns the FIPS code of the state named at the end of a metropolitan area's
// title, as in "Yakima, WA"; empty if the title names several.
func StateOfMetro(title string) string {
	at := strings.LastIndex(title, ", ")
	if at < 0 {
		return ""
	}
	return stateFIPS()[title[at+2:]]
}

// Fraction converts percent to a fraction rounded to four decimals.
func Fraction(percent float64) *float64 {
	f := math.Round(percent*100) / 1e4
	return &f
}
