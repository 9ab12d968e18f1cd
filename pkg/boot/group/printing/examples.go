package printing

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// WithExamples returns the contract's document with other examples, such as ids that exist in a service. values has the
// new examples by operation and parameter ("getCourse.courseId"); each replaces its old example everywhere in the
// document.
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
		return nil, fmt.Errorf("the contract has only %[2]d of %[1]d parameters", len(values), found)
	}
	if found == 0 {
		return document, nil
	}
	var words []string
	for example := range instead {
		words = append(words, regexp.QuoteMeta(example))
	}
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) }) // longest match first
	pattern := regexp.MustCompile(`\b(?:` + strings.Join(words, "|") + `)\b`)
	text := pattern.ReplaceAllStringFunc(string(document), func(word string) string {
		quoted, _ := json.Marshal(instead[word]) // does not fail
		return string(quoted[1 : len(quoted)-1])
	})
	return []byte(text), nil
}
