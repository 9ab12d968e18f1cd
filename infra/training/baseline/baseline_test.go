package baseline

import (
	"slices"
	"strings"
	"testing"

	"skillscurriculum/pkg/skills"
)

func index(t *testing.T) *Index {
	t.Helper()
	var b skills.Builder
	err := b.AddCSV(skills.Info{Name: "t", Version: "1", Licence: "none", Attribution: "tests"}, strings.NewReader(
		"id,name,aliases,description\nb,data models,models,tables\na,fashion,models,clothes\nc,SQL,,query tables\n"))
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := b.Compile()
	if err != nil {
		t.Fatal(err)
	}
	taxonomy, err := skills.Open(compiled)
	if err != nil {
		t.Fatal(err)
	}
	return New(taxonomy)
}

func suffixes(matches []Match) string {
	var ids []string
	for _, m := range matches {
		ids = append(ids, m.ID[len(m.ID)-1:])
	}
	return strings.Join(ids, " ")
}

func TestPhrasesTakeTheLongestLabel(t *testing.T) {
	x := index(t)
	for text, want := range map[string]string{
		"Draw data models.": "b", "Models in SQL": "a c", "sql\ndata": "c", "": "", "Poems": "",
	} {
		got := strings.Fields(suffixes(x.Phrases(text)))
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v, want %q", text, got, want)
		}
	}
}

func TestRankedByCosine(t *testing.T) {
	x := index(t)
	if got := suffixes(x.Ranked("query the tables")); got != "c b" {
		t.Errorf("%q, want c before b", got)
	}
	if got := x.Ranked("clothes"); len(got) != 1 || got[0].Score <= 0 || got[0].Score >= 1 {
		t.Errorf("%v", got)
	}
}
