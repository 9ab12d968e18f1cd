package ctdl

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// termsTable has the names of CTDL; infra/terms makes it.
//
//go:embed terms.tsv
var termsTable string

// Term is a class, property, scheme or concept of CTDL.
type Term struct {
	Type string // class, property, scheme or concept
	Of   []string
	// Of are the parents of a class, the domain of a property and the schemes of a concept. Range is that of a property.
	Range []string
	Label string // of a scheme or concept, in English
}

// Terms returns the published terms by name. An inherited domain or range names the superclass alone.
var Terms = sync.OnceValue(func() map[string]Term {
	terms := map[string]Term{}
	for line := range strings.Lines(termsTable) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		term := Term{Type: cells[0]}
		switch {
		case term.Type == "scheme":
			term.Label = cells[2]
		case term.Type == "concept":
			term.Of, term.Label = strings.Fields(cells[2]), cells[3]
		case term.Type == "property":
			term.Of, term.Range = strings.Fields(cells[2]), strings.Fields(cells[3])
		default:
			term.Of = strings.Fields(cells[2])
		}
		terms[cells[1]] = term
	}
	return terms
})

// Within reports whether a class is another one or inherits from it.
func Within(class, ancestor string) bool {
	if class == ancestor {
		return true
	}
	for _, parent := range Terms()[class].Of {
		if Within(parent, ancestor) {
			return true
		}
	}
	return false
}

// IsAgentType reports whether CTDL has a type of organizations, named without its prefix.
func IsAgentType(name string) bool {
	return slices.Contains(Terms()["orgType:"+name].Of, "ceterms:OrganizationType")
}
