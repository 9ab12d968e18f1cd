package skills

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// EachWord calls yield with the byte range of every word of text. A word is a run of letters
// and digits, with three additions that keep names of technologies whole: a trailing ++ or #
// (C++, C#), a leading dot (.NET) and an inner dot before js or net (node.js, ASP.NET).
func EachWord(text string, yield func(start, end int)) {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		dotnet := r == '.' && opensDotNet(text, i)
		if !dotnet && !WordRune(r) {
			i += size
			continue
		}
		start := i
		i += size
		if dotnet && text[i] == ' ' {
			i++
		}
		for i < len(text) {
			r, size = utf8.DecodeRuneInString(text[i:])
			switch {
			case WordRune(r):
				i += size
				continue
			case r == '.' && suffixWord(text[i+1:], "js") || r == '.' && suffixWord(text[i+1:], "net"):
				i += size
				continue
			case r == '+' && strings.HasPrefix(text[i:], "++") && i-start <= 2:
				i += 2
			case r == '#' && i-start <= 2:
				i++
			}
			break
		}
		yield(start, i)
	}
}

// WordRune reports whether a character may be part of a word.
func WordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// suffixWord reports whether rest begins with a whole word, in any case.
func suffixWord(rest, word string) bool {
	if len(rest) < len(word) || !strings.EqualFold(rest[:len(word)], word) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(rest[len(word):])
	return len(rest) == len(word) || !WordRune(next)
}

// opensDotNet reports whether the dot begins .NET, or . NET as in some texts.
func opensDotNet(text string, dot int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:dot])
	if dot == 0 || before == ' ' {
		return suffixWord(text[dot+1:], "net") || strings.HasPrefix(text[dot+1:], " NET") && suffixWord(text[dot+2:], "net")
	}
	return !WordRune(before) && suffixWord(text[dot+1:], "net")
}
