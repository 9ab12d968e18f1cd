package printing

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// WithExamples returns the contract's document with other examples, as those of a
// service on which they work: values has, by operation and parameter
// ("getCourse.courseId"), what takes the place of the parameter's example there, and
// wherever else the document has the same word.
func WithExamples(document []byte, values map[string]string) ([]byte, error) {
	var contract struct {
		Paths map[string]map[string]struct {
			OperationID string
			Parameters  []struct {
				Name    string
				Example any
			}
		}
	}
	if err := json.Unmarshal(document, &contract); err != nil {
		return nil, err
	}
	found := 0
	instead := map[string]string{}
	for _, operations := range contract.Paths {
		for _, op := range operations {
			for _, p := range op.Parameters {
				value, ok := values[op.OperationID+"."+p.Name]
				if !ok {
					continue
				}
				found++
				example, _ := p.Example.(string)
				if before, ok := instead[example]; example == "" || ok && before != value {
					return nil, fmt.Errorf("%s.%s: its example %q cannot become %q", op.OperationID, p.Name, example, value)
				}
				instead[example] = value
			}
		}
	}
	if found < len(values) {
		return nil, fmt.Errorf("of %d parameters the contract has only %d", len(values), found)
	}
	if found == 0 {
		return document, nil
	}
	var words []string
	for example := range instead {
		words = append(words, regexp.QuoteMeta(example))
	}
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) }) // the longest that is there
	text := regexp.MustCompile(`\b(?:`+strings.Join(words, "|")+`)\b`).ReplaceAllStringFunc(string(document), func(word string) string {
		quoted, _ := json.Marshal(instead[word]) // strings can be written
		return string(quoted[1 : len(quoted)-1])
	})
	return []byte(text), nil
}
