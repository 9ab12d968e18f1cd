package gold

import (
	"context"
	"embed"
	"strings"

	"skillscurriculum/pkg/syllabus"
)

// StarterSet are courses whose candidates of the built-in vocabulary one reader judged.
const StarterSet = "starter"

// Reading is a course that one reader read: what it teaches most, written down before any list was seen, and which
// candidates of the built-in vocabulary are right.
type Reading struct {
	Item
	Judged map[string]bool // whether a candidate is right, by id; others were not looked at
	Things [][]string      // for each important thing, the ids of the skills that say it
}

//go:embed starter/*.csv
var read embed.FS

// Readings reads the judged courses, which are among those of [Statements].
func Readings(ctx context.Context, data string) ([]Reading, error) {
	documents, err := Statements(data)
	if err != nil {
		return nil, err
	}
	judged, err := rows(read, "starter/judged.csv")
	if err != nil {
		return nil, err
	}
	things, err := rows(read, "starter/things.csv")
	if err != nil {
		return nil, err
	}
	var all []Reading
	var reader syllabus.Reader
	for _, d := range documents {
		r := Reading{
			Item:   Item{Set: StarterSet, Name: d.Name, Group: d.Name, Sealed: d.Sealed, OK: map[string]int{}},
			Judged: map[string]bool{},
		}
		for _, row := range judged {
			if row["doc"] != d.Name {
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
			if row["doc"] == d.Name {
				r.Things = append(r.Things, strings.Split(row["skills"], "|"))
			}
		}
		if r.Doc, err = reader.Read(ctx, d.Raw, syllabus.Hint{Kind: syllabus.Markdown}); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
