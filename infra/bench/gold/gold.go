// Package gold reads the labelled development data and the taxonomy that its
// labels come from. It never writes, and never reads anything but the folder it
// is given. Invariant: what it gives is ordered as in the files.
package gold

import (
	"archive/zip"
	"context"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/skills"
	"skillscurriculum/pkg/syllabus"
)

// Item is a labelled text. Must and OK hold skill ids; for sentences OK is empty.
type Item struct {
	Set   string
	Name  string
	Doc   catalog.SyllabusText
	Must  map[string]int // id -> level, 0 where the set has no levels
	OK    map[string]int
	Group string // items of one group never stand on both sides of a split
}

// The sets.
const (
	SyllabiSet   = "syllabi"
	OwnSet       = "own"
	TechSet      = "tech"
	HouseSet     = "house"
	SyntheticSet = "skillskape"
	ExcerptSet   = "excerpts"
)

// Data is all of the development data.
type Data struct {
	Compiled               []byte
	Taxonomy               *skills.Taxonomy
	Syllabi, Own           []Item
	Tech, House, Synthetic []Item
	Outcomes               []Outcome
}

// Load reads the development data from its folder.
func Load(ctx context.Context, folder string) (*Data, error) {
	var d Data
	var err error
	if d.Compiled, d.Taxonomy, err = Taxonomy(folder); err != nil {
		return nil, err
	}
	read := func(raw []byte) (catalog.SyllabusText, error) {
		var r syllabus.Reader
		return r.Read(ctx, raw, syllabus.Hint{Kind: syllabus.Markdown})
	}
	if d.Syllabi, err = Syllabi(folder, read); err != nil {
		return nil, err
	}
	if d.Own, err = Second(folder, d.Taxonomy, read); err != nil {
		return nil, err
	}
	if d.Tech, err = Sentences(folder, TechSet, d.Taxonomy); err != nil {
		return nil, err
	}
	if d.House, err = Sentences(folder, HouseSet, d.Taxonomy); err != nil {
		return nil, err
	}
	if d.Synthetic, err = SkillSkape(folder, "dev", d.Taxonomy); err != nil {
		return nil, err
	}
	if d.Outcomes, err = Outcomes(folder); err != nil {
		return nil, err
	}
	return &d, nil
}

// Wanted says whether a skill is right, insisted on or arguable.
func (i *Item) Wanted(id string) bool {
	_, must := i.Must[id]
	_, ok := i.OK[id]
	return must || ok
}

// Outcome is a course outcome with the level that its university printed, 1..5.
type Outcome struct {
	Course, Text string
	Level        int
}

// Taxonomy compiles ESCO with the SOC-ISCO crosswalk from the folder of data.
func Taxonomy(data string) (compiled []byte, t *skills.Taxonomy, err error) {
	var b skills.Builder
	var sources []fs.FS
	for _, name := range []string{"esco-1.1.1-classification-en.zip", "esco-1.1.1-relations.zip"} {
		z, err := zip.OpenReader(filepath.Join(data, "esco", name))
		if err != nil {
			return nil, nil, err
		}
		defer z.Close()
		sources = append(sources, z)
	}
	if err := b.AddESCO("1.1.1", sources...); err != nil {
		return nil, nil, err
	}
	if compiled, err = b.Compile(); err != nil {
		return nil, nil, err
	}
	t, err = skills.Open(compiled)
	return compiled, t, err
}

// byName leads from the names of a taxonomy's skills to their ids.
func byName(t *skills.Taxonomy) map[string]string {
	all, _ := t.Search("", t.Info().Skills, 0)
	ids := make(map[string]string, len(all))
	for _, s := range all {
		ids[strings.ToLower(s.Name)] = s.ID
	}
	return ids
}

func rows(path string) ([]map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var out []map[string]string
	for _, row := range all[1:] {
		m := map[string]string{}
		for i, h := range all[0] {
			m[h] = row[i]
		}
		out = append(out, m)
	}
	return out, nil
}

// Sentences reads TechWolf's annotation of SkillSpan: set is tech or house.
// Labels that the taxonomy does not have are left out, as in the benchmark.
func Sentences(data, set string, t *skills.Taxonomy) ([]Item, error) {
	ids := byName(t)
	all, err := rows(filepath.Join(data, "benchmarks", set+"_validation_annotations.csv"))
	if err != nil {
		return nil, err
	}
	var items []Item
	at := map[string]int{}
	for _, r := range all {
		text := strings.TrimSpace(r["sentence"])
		i, ok := at[text]
		if !ok {
			i = len(items)
			at[text] = i
			items = append(items, Item{Set: set, Name: fmt.Sprintf("%s-%d", set, i+1), Doc: catalog.SyllabusText{Text: text}, Must: map[string]int{}, Group: text})
		}
		if id, ok := ids[strings.ToLower(r["label"])]; ok {
			items[i].Must[id] = 0
		}
	}
	return items, nil
}

// SkillSkape reads the synthetic sentences: set is train or dev.
func SkillSkape(data, set string, t *skills.Taxonomy) ([]Item, error) {
	ids := byName(t)
	all, err := rows(filepath.Join(data, "benchmarks", "skillskape_"+set+".csv"))
	if err != nil {
		return nil, err
	}
	var items []Item
	for i, r := range all {
		item := Item{Set: SyntheticSet, Name: fmt.Sprintf("skillskape-%d", i), Doc: catalog.SyllabusText{Text: strings.TrimSpace(r["sentence"])}, Must: map[string]int{}}
		for _, name := range pythonList(r["skills"]) {
			if id, ok := ids[strings.ToLower(name)]; ok {
				item.Must[id] = 0
				item.Group = max(item.Group, id)
			}
		}
		items = append(items, item)
	}
	return items, nil
}

// pythonList reads ['a', "b's"].
func pythonList(s string) []string {
	var out []string
	for len(s) > 0 {
		i := strings.IndexAny(s, `'"`)
		if i < 0 {
			break
		}
		quote := s[i]
		s = s[i+1:]
		end := strings.IndexByte(s, quote)
		if end < 0 {
			break
		}
		out = append(out, s[:end])
		s = s[end+1:]
	}
	return out
}

// Syllabi reads the labelled syllabi; read turns Markdown into a document.
func Syllabi(data string, read func([]byte) (catalog.SyllabusText, error)) ([]Item, error) {
	paths, err := filepath.Glob(filepath.Join(data, "syllabi", "dev", "*.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	var items []Item
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		type skill struct {
			URI   string
			Level int
		}
		var labels struct {
			Doc      string
			Must, OK []skill
		}
		if err := json.Unmarshal(raw, &labels); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		source, err := os.ReadFile(filepath.Join(filepath.Dir(path), labels.Doc))
		if err != nil {
			return nil, err
		}
		doc, err := read(source)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", labels.Doc, err)
		}
		item := Item{Set: SyllabiSet, Name: labels.Doc, Doc: doc, Must: map[string]int{}, OK: map[string]int{}, Group: labels.Doc}
		for to, from := range map[*map[string]int][]skill{&item.Must: labels.Must, &item.OK: labels.OK} {
			for _, s := range from {
				(*to)["esco:"+filepath.Base(s.URI)] = s.Level
			}
		}
		items = append(items, item)
	}
	return items, nil
}

//go:embed second.txt
var second string

// Second reads the syllabi that this project labelled itself; its head tells how.
func Second(data string, t *skills.Taxonomy, read func([]byte) (catalog.SyllabusText, error)) ([]Item, error) {
	z, err := zip.OpenReader(filepath.Join(data, "syllabi", "unlabelled.zip"))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	ids := byName(t)
	var items []Item
	for line := range strings.Lines(second) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind == "doc" {
			f, err := z.Open(rest)
			if err != nil {
				return nil, err
			}
			raw, err := io.ReadAll(f)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", rest, err)
			}
			doc, err := read(raw)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", rest, err)
			}
			items = append(items, Item{Set: OwnSet, Name: rest, Doc: doc, Must: map[string]int{}, OK: map[string]int{}, Group: rest})
			continue
		}
		to, ok := map[string]map[string]int{}, kind == "must" || kind == "ok"
		if !ok {
			continue
		}
		if n := len(items); n > 0 {
			to["must"], to["ok"] = items[n-1].Must, items[n-1].OK
		}
		for name := range strings.SplitSeq(rest, "|") {
			id, known := ids[strings.ToLower(strings.TrimSpace(name))]
			if !known {
				return nil, fmt.Errorf("second.txt: the taxonomy has no skill %q", strings.TrimSpace(name))
			}
			to[kind][id] = 0
		}
	}
	return items, nil
}

// Excerpts cuts labelled courses into short texts, each the course's title and some
// of its lines, such as a catalogue would print. What is right for the course is
// right for its excerpt, but nothing is insisted on.
func Excerpts(items []Item, words int) []Item {
	var out []Item
	for _, item := range items {
		lines := strings.Split(strings.TrimSpace(item.Doc.Text), "\n")
		name, text, n := lines[0], lines[0]+"\n\n", 0
		for _, line := range lines[1:] {
			text += line + "\n"
			if n += len(strings.Fields(line)); n >= words {
				right := map[string]int{}
				for id := range item.Must {
					right[id] = 0
				}
				for id := range item.OK {
					right[id] = 0
				}
				out = append(out, Item{Set: ExcerptSet, Name: item.Name, Doc: catalog.SyllabusText{Text: text}, OK: right, Group: item.Group})
				text, n = name+"\n\n", 0
			}
		}
	}
	return out
}

// Outcomes reads the course outcomes with printed levels; Bloom's sixth level,
// create, is our fifth.
func Outcomes(data string) ([]Outcome, error) {
	all, err := rows(filepath.Join(data, "benchmarks", "bloom_levels_dev.csv"))
	if err != nil {
		return nil, err
	}
	var out []Outcome
	for _, r := range all {
		level := int(r["bloom_1_6"][0] - '0')
		out = append(out, Outcome{Course: r["file"], Text: r["outcome"], Level: min(5, level)})
	}
	return out, nil
}
