// Package gold reads the labelled development data and the taxonomy that its labels
// come from. It never writes. Documents are read from the folders that it is given,
// never from the repository, which holds only labels of its own (labels), what they
// are labels of (courses.csv) and a second opinion on older syllabi (second.txt).
// Invariant: what it returns is ordered as in the files.
package gold

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/skills"
	"skillscurriculum/pkg/syllabus"
)

// Item is a labelled text. Must and OK hold skill ids; for sentences OK is empty.
type Item struct {
	Set    string
	Name   string
	Doc    catalog.SyllabusText
	Must   map[string]int // id -> level, 0 where the set has no levels
	OK     map[string]int
	Levels map[string][]int // of courses: what each labeler gave
	Group  string           // items of one group never stand on both sides of a split
	Field  string           // of a course, such as nursing
	Area   string           // of a course, such as health: several fields
	Sealed bool             // never used to fit or to design, only to check
}

// The sets.
const (
	CourseSet    = "courses"
	SyllabiSet   = "syllabi"
	OwnSet       = "own"
	TechSet      = "tech"
	HouseSet     = "house"
	SyntheticSet = "skillskape"
	ExcerptSet   = "excerpts"
)

// Data is all of the development data.
type Data struct {
	Compiled []byte
	Taxonomy *skills.Taxonomy
	Untaught *skills.Taxonomy // the same without the lexicon
	Courses  []Item           // read by two labelers; nobody wrote topics for them
	Sealed   []Item           // likewise, kept apart
	Syllabi  []Item           // those that the lexicon was written with
	Own      []Item           // likewise, labelled by this project
	Tech     []Item
	House    []Item
	// Synthetic are sentences that were made up.
	Synthetic []Item
	Outcomes  []Outcome
}

// Folders are where the documents lie: the development data, and courses that this
// project collected, which may be empty.
type Folders struct{ Data, Courses string }

// Load reads the development data.
func Load(ctx context.Context, folders Folders) (*Data, error) {
	var d Data
	var err error
	if d.Compiled, d.Taxonomy, err = taxonomy(folders.Data, false); err != nil {
		return nil, err
	}
	if _, d.Untaught, err = taxonomy(folders.Data, true); err != nil {
		return nil, err
	}
	src := source{Folders: folders, data: os.DirFS(folders.Data), ids: map[string]string{},
		read: func(raw []byte) (catalog.SyllabusText, error) {
			var r syllabus.Reader
			return r.Read(ctx, raw, syllabus.Hint{Kind: syllabus.Markdown})
		}}
	named, _ := d.Taxonomy.Search("", d.Taxonomy.Info().Skills, 0)
	for _, s := range named {
		src.ids[strings.ToLower(s.Name)] = s.ID
	}
	var all []Item
	for _, part := range []struct {
		items *[]Item
		read  func() ([]Item, error)
	}{
		{&all, src.courses}, {&d.Syllabi, src.syllabi}, {&d.Own, src.secondOpinion}, {&d.Synthetic, src.skillSkape},
		{&d.Tech, func() ([]Item, error) { return src.sentences(TechSet) }},
		{&d.House, func() ([]Item, error) { return src.sentences(HouseSet) }},
	} {
		if *part.items, err = part.read(); err != nil {
			return nil, err
		}
	}
	for _, c := range all {
		if c.Sealed {
			d.Sealed = append(d.Sealed, c)
		} else {
			d.Courses = append(d.Courses, c)
		}
	}
	d.Outcomes, err = src.outcomes()
	return &d, err
}

// source reads the development data.
type source struct {
	Folders
	data fs.FS
	ids  map[string]string // ids of the taxonomy's skills by lower-case name
	read func(markdown []byte) (catalog.SyllabusText, error)
}

// Wanted reports whether either labeler gave the skill.
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

// taxonomy compiles ESCO from the folder of data.
func taxonomy(data string, untaught bool) (compiled []byte, t *skills.Taxonomy, err error) {
	b := skills.Builder{Index: extraction.Indexer{Untaught: untaught}.Index}
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

// rows reads a CSV file; each row is a map by column.
func rows(files fs.FS, name string) ([]map[string]string, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
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

// kept has the labels of this project and the list of all courses.
//
//go:embed courses.csv labels
var kept embed.FS

// sealed deals whole fields, by the hash of their names alone. A field keeps its deal
// when courses are added to it. The first deal sealed too few, the second makes up for
// them, and the third keeps to a third: 47 of 132 courses in all. Each was set before
// anything was fitted to or judged on the fields that it deals.
func sealed(field, deal string) bool {
	h := fnv.New32a()
	io.WriteString(h, field)
	switch deal {
	case "1":
		return h.Sum32()%3 == 0
	case "2":
		return h.Sum32() < 0x98000000
	}
	return h.Sum32()%7 < 2
}

// mark is a skill that a labeler gave a course.
type mark struct {
	URI   string
	Kind  string
	Level int
}

func (m mark) id() string { return "esco:" + path.Base(m.URI) }

// levels returns the levels of marks by their skills.
func levels(marks []mark) map[string]int {
	m := map[string]int{}
	for _, mark := range marks {
		m[mark.id()] = mark.Level
	}
	return m
}

const core = "core"

// lost marks a course whose text could only be rebuilt from notes.
const lost = "lost"

// courses reads the courses of courses.csv that two labelers read, wherever their
// documents are at hand: those of the development data with their labels beside
// them, and those of this project, whose labels it keeps.
func (s source) courses() ([]Item, error) {
	list, err := rows(kept, "courses.csv")
	if err != nil {
		return nil, err
	}
	var items []Item
	for _, row := range list {
		folder, passes := filepath.Join(s.Data, "syllabi", "courses"), besideDocument
		if row["sha256"] != "" {
			folder, passes = s.Courses, keptLabels
			if folder == "" || row["rebuilt"] == lost {
				continue
			}
		}
		raw, err := os.ReadFile(filepath.Join(folder, row["doc"]+".md"))
		if err != nil {
			return nil, err
		}
		digest := sha256.Sum256(raw)
		if sum := hex.EncodeToString(digest[:]); row["sha256"] != "" && sum != row["sha256"] && sum != row["rebuilt"] {
			return nil, fmt.Errorf("%s: the digest is neither that of the labelled text nor of the rebuilt one", row["doc"])
		}
		marks, err := passes(folder, row["doc"])
		if err != nil {
			return nil, err
		}
		if len(marks) == 0 {
			continue // not labelled by both
		}
		doc, err := s.read(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", row["doc"], err)
		}
		item := Item{
			Set: CourseSet, Name: row["doc"], Doc: doc, Group: row["field"], Field: row["field"], Area: row["group"],
			Sealed: sealed(row["field"], row["deal"]),
		}
		item.merge(marks)
		items = append(items, item)
	}
	return items, nil
}

// merge takes the marks of two labelers: insisted on is what is core for both, right
// what either gave.
func (i *Item) merge(passes [][]mark) {
	cores, levels := map[string]int{}, map[string]int{}
	i.Levels = map[string][]int{}
	for _, pass := range passes {
		for _, m := range pass {
			id := m.id()
			levels[id] = max(levels[id], m.Level)
			i.Levels[id] = append(i.Levels[id], m.Level)
			if m.Kind == core {
				cores[id]++
			}
		}
	}
	i.Must, i.OK = map[string]int{}, map[string]int{}
	for id, level := range levels {
		if cores[id] == len(passes) {
			i.Must[id] = level
		} else {
			i.OK[id] = level
		}
	}
}

// besideDocument reads the labels of the development data.
func besideDocument(folder, doc string) ([][]mark, error) {
	raw, err := os.ReadFile(filepath.Join(folder, doc+".json"))
	if err != nil {
		return nil, err
	}
	var labels struct {
		Skills []struct {
			URI    string
			Passes map[string]mark
		}
	}
	if err := json.Unmarshal(raw, &labels); err != nil {
		return nil, fmt.Errorf("%s: %w", doc, err)
	}
	passes := make([][]mark, 2)
	for _, s := range labels.Skills {
		for i, pass := range []string{"A", "B"} {
			if m, ok := s.Passes[pass]; ok {
				m.URI = s.URI
				passes[i] = append(passes[i], m)
			}
		}
	}
	return passes, nil
}

// keptLabels reads the labels of this project, or none where a labeler left the
// course out.
func keptLabels(_, doc string) ([][]mark, error) {
	var passes [][]mark
	for _, pass := range []string{"A", "B"} {
		raw, err := kept.ReadFile("labels/" + pass + "/" + doc + ".json")
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		var labels struct{ Skills []mark }
		if err := json.Unmarshal(raw, &labels); err != nil {
			return nil, fmt.Errorf("%s of pass %s: %w", doc, pass, err)
		}
		passes = append(passes, labels.Skills)
	}
	return passes, nil
}

// sentences reads TechWolf's annotation of SkillSpan: set is tech or house.
// Labels that the taxonomy does not have are left out, as in the benchmark.
func (s source) sentences(set string) ([]Item, error) {
	all, err := rows(s.data, "benchmarks/"+set+"_validation_annotations.csv")
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
			items = append(items, Item{
				Set: set, Name: fmt.Sprintf("%s-%d", set, i+1), Doc: catalog.SyllabusText{Text: text},
				Must: map[string]int{}, Group: text,
			})
		}
		if id, ok := s.ids[strings.ToLower(r["label"])]; ok {
			items[i].Must[id] = 0
		}
	}
	return items, nil
}

// skillSkape reads the synthetic sentences.
func (s source) skillSkape() ([]Item, error) {
	all, err := rows(s.data, "benchmarks/skillskape_dev.csv")
	if err != nil {
		return nil, err
	}
	var items []Item
	for i, r := range all {
		item := Item{
			Set: SyntheticSet, Name: fmt.Sprintf("skillskape-%d", i),
			Doc: catalog.SyllabusText{Text: strings.TrimSpace(r["sentence"])}, Must: map[string]int{},
		}
		for _, name := range pythonList(r["skills"]) {
			if id, ok := s.ids[strings.ToLower(name)]; ok {
				item.Must[id] = 0
				item.Group = max(item.Group, id)
			}
		}
		items = append(items, item)
	}
	return items, nil
}

// pythonList parses a list such as ['a', "b's"].
func pythonList(s string) []string {
	var out []string
	for _, m := range quoted.FindAllStringSubmatch(s, -1) {
		out = append(out, m[1]+m[2])
	}
	return out
}

var quoted = regexp.MustCompile(`'([^']*)'|"([^"]*)"`)

// syllabi reads the syllabi that the lexicon was written with.
func (s source) syllabi() ([]Item, error) {
	names, err := fs.Glob(s.data, "syllabi/dev/*.json")
	if err != nil {
		return nil, err
	}
	var items []Item
	for _, name := range names {
		raw, err := fs.ReadFile(s.data, name)
		if err != nil {
			return nil, err
		}
		var labels struct {
			Doc      string
			Must, OK []mark
		}
		if err := json.Unmarshal(raw, &labels); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		source, err := fs.ReadFile(s.data, path.Join(path.Dir(name), labels.Doc))
		if err != nil {
			return nil, err
		}
		doc, err := s.read(source)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", labels.Doc, err)
		}
		items = append(items, Item{
			Set: SyllabiSet, Name: labels.Doc, Doc: doc, Must: levels(labels.Must), OK: levels(labels.OK), Group: labels.Doc,
		})
	}
	return items, nil
}

//go:embed second.txt
var second string

// secondOpinion reads the older syllabi that this project labelled; the head of
// second.txt says how.
func (s source) secondOpinion() ([]Item, error) {
	z, err := zip.OpenReader(filepath.Join(s.Data, "syllabi", "unlabelled.zip"))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	var items []Item
	for line := range strings.Lines(second) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch kind {
		case "doc":
			raw, err := fs.ReadFile(z, rest)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", rest, err)
			}
			doc, err := s.read(raw)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", rest, err)
			}
			items = append(items, Item{
				Set: OwnSet, Name: rest, Doc: doc, Must: map[string]int{}, OK: map[string]int{}, Group: rest,
			})
		case "must", "ok":
			item := &items[len(items)-1]
			to := item.OK
			if kind == "must" {
				to = item.Must
			}
			for name := range strings.SplitSeq(rest, "|") {
				id, known := s.ids[strings.ToLower(strings.TrimSpace(name))]
				if !known {
					return nil, fmt.Errorf("second.txt: the taxonomy has no skill %q", strings.TrimSpace(name))
				}
				to[id] = 0
			}
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
				out = append(out, Item{
					Set: ExcerptSet, Name: item.Name, Doc: catalog.SyllabusText{Text: text}, OK: right, Group: item.Group,
				})
				text, n = name+"\n\n", 0
			}
		}
	}
	return out
}

// outcomes reads the course outcomes with printed levels; Bloom's sixth level,
// create, is our fifth.
func (s source) outcomes() ([]Outcome, error) {
	all, err := rows(s.data, "benchmarks/bloom_levels_dev.csv")
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
