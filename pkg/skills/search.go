package skills

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// searchTerms returns the words of a text in the form that search compares.
func searchTerms(text string) []string {
	text = strings.ToLower(norm.NFC.String(text))
	var terms []string
	EachWord(text, func(start, end int) { terms = append(terms, text[start:end]) })
	return terms
}

// Search finds the skills whose name or one of whose aliases contains every word of query, the last word also as a
// prefix, and returns one page of them: equal names first, then names that begin with the query, equal aliases, and
// names and aliases that contain its words; among equals, skills required by more occupations first, then by name. An
// empty query lists all skills by name. A limit below 1 returns an empty page; total counts all matches.
func (t *Taxonomy) Search(query string, limit, offset int) (page []Skill, total int) {
	terms := searchTerms(query)
	var found []int
	if len(terms) == 0 {
		if strings.TrimSpace(query) == "" {
			found = make([]int, t.count())
			for i := range found {
				found[i] = t.byName.At(i)
			}
		}
	} else {
		found = t.rank(terms)
	}
	page = []Skill{}
	for i := max(offset, 0); i < len(found) && len(page) < limit; i++ {
		page = append(page, t.skill(found[i]))
	}
	return page, len(found)
}

func (t *Taxonomy) rank(terms []string) []int {
	var found []int
	for i, term := range terms {
		hits := t.holding(term, i == len(terms)-1)
		if i == 0 {
			found = hits
			continue
		}
		found = slices.DeleteFunc(found, func(s int) bool {
			_, ok := slices.BinarySearch(hits, s)
			return !ok
		})
	}
	type ranked struct{ skill, class, uses int }
	query := strings.Join(terms, " ")
	results := make([]ranked, 0, len(found))
	for _, s := range found {
		class := matchClass(query, terms, t.name(s), 0)
		for a := t.skills.get(s, skillAliases); a < t.skills.get(s+1, skillAliases) && class > 2; a++ {
			class = min(class, matchClass(query, terms, t.text(t.aliases.At(a)), 1))
		}
		if class < noMatch {
			results = append(results, ranked{skill: s, class: class, uses: t.skills.get(s, skillPopularity)})
		}
	}
	slices.SortFunc(results, func(a, b ranked) int {
		return cmp.Or(a.class-b.class, b.uses-a.uses, strings.Compare(t.name(a.skill), t.name(b.skill)), a.skill-b.skill)
	})
	found = found[:0]
	for _, r := range results {
		found = append(found, r.skill)
	}
	return found
}

const noMatch = 9

// matchClass ranks how a label matches a query; alias is 0 for the name, 1 for an alias.
func matchClass(query string, terms []string, label string, alias int) int {
	own := searchTerms(label)
	joined := strings.Join(own, " ")
	last := terms[len(terms)-1]
	switch {
	case joined == query:
		return 0 + 2*alias
	case strings.HasPrefix(joined, query):
		return 1 + 3*alias
	}
	for _, term := range terms[:len(terms)-1] {
		if !slices.Contains(own, term) {
			return noMatch
		}
	}
	if slices.Contains(own, last) || slices.ContainsFunc(own, func(w string) bool { return strings.HasPrefix(w, last) }) {
		return 3 + 2*alias
	}
	return noMatch
}

// holding returns the skills with a word in one of their labels, in order.
func (t *Taxonomy) holding(term string, prefix bool) []int {
	word := func(i int) string { return t.text(t.searchWords.At(i)) }
	first, _ := lowest(t.searchWords.Len(), word, term)
	var found []int
	for i := first; i < t.searchWords.Len(); i++ {
		if w := word(i); w != term && !(prefix && strings.HasPrefix(w, term)) {
			break
		}
		hits := t.searchHits.At(i)
		for h := range hits.Len() {
			found = append(found, hits.At(h))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// Named returns the id of the skill with a name, regardless of case.
func (t *Taxonomy) Named(name string) (id string, ok bool) {
	page, _ := t.Search(name, namedLimit, 0)
	for _, skill := range page {
		if strings.EqualFold(skill.Name, name) {
			return skill.ID, true
		}
	}
	return "", false
}

// namedLimit is the number of results among which a skill is looked for by its whole name.
const namedLimit = 100
