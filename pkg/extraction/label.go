package extraction

import "strings"

// LabelKey returns a form of a label that is equal for two labels in which extraction
// sees the same words: without case, spelling, endings and words that say nothing. It
// is empty for a label of which nothing remains.
func LabelKey(label string) string { return strings.Join(contentStems(label), " ") }
