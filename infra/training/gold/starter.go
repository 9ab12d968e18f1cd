package gold

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"skillscurriculum/pkg/syllabus"
)

// StarterSet are courses of which two readers judged candidates.
const StarterSet = "starter"

// Reading is a course as one reader read it: what it teaches most, written down before any list was seen, and which
// candidates of a vocabulary are right.
type Reading struct {
	Item
	Reader int
	Judged map[string]bool // whether a candidate is right, by id; others were not looked at
	Things [][]string      // for each important thing, the ids of the skills that say it
}

//go:embed starter/*.csv
var read embed.FS

// Readings reads the courses of which skills were judged whose ids begin with a prefix, once for each reader.
func Readings(ctx context.Context, data, prefix string) ([]Reading, error) {
	courses, err := documents(read, "starter/documents.csv", data)
	if err != nil {
		return nil, err
	}
	var all []Reading
	var reader syllabus.Reader
	for i, of := range []string{"", "2"} {
		judged, err := rows(read, "starter/judged"+of+".csv")
		if err != nil {
			return nil, err
		}
		things, err := rows(read, "starter/things"+of+".csv")
		if err != nil {
			return nil, err
		}
		for _, d := range courses {
			r := Reading{
				Item:   Item{Set: StarterSet, Name: d.name, Group: d.name, Sealed: d.sealed, OK: map[string]int{}},
				Reader: i + 1, Judged: map[string]bool{},
			}
			for _, row := range judged {
				if row["doc"] != d.name || !strings.HasPrefix(row["skill"], prefix) {
					continue
				}
				r.Judged[row["skill"]] = row["right"] == "1"
				if r.Judged[row["skill"]] {
					r.OK[row["skill"]] = 0
				}
			}
			if len(r.Judged) == 0 {
				continue
			}
			for _, row := range things {
				if row["doc"] == d.name {
					r.Things = append(r.Things, strings.Split(row["skills"], "|"))
				}
			}
			if r.Doc, err = reader.Read(ctx, d.raw, syllabus.Hint{Kind: syllabus.Markdown}); err != nil {
				return nil, err
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// Agreement counts how often two readers judge alike.
type Agreement struct{ both, first, second, n int }

// Add counts a candidate that both readers judged.
func (a *Agreement) Add(first, second bool) {
	a.n++
	if first {
		a.first++
	}
	if second {
		a.second++
	}
	if first && second {
		a.both++
	}
}

// String returns the share judged alike and Cohen's kappa, its excess over chance.
func (a *Agreement) String() string {
	n := float64(max(1, a.n))
	first, second := float64(a.first)/n, float64(a.second)/n
	alike := 1 + 2*float64(a.both)/n - first - second
	chance := first*second + (1-first)*(1-second)
	return fmt.Sprintf("%.0f of %d judged alike (%.3f), kappa %.3f", alike*n, a.n, alike, (alike-chance)/(1-chance))
}
