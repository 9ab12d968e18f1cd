// Command terms writes the table of CTDL's names for pkg/ctdl: go run ./infra/terms ENCODING... >pkg/ctdl/terms.tsv.
// An encoding is a file as published at https://credreg.net/ctdl/schema/encoding/json and for CTDL-ASN. Only names and
// how they relate are taken over.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	if err := write(os.Stdout, os.Args[1:]...); err != nil {
		log.Fatal(err)
	}
}

// entry is a class, property, scheme or concept of an encoding.
type entry struct {
	ID        string            `json:"@id"`
	Type      string            `json:"@type"`
	Label     map[string]string `json:"rdfs:label"`
	PrefLabel map[string]string `json:"skos:prefLabel"`
	Parents   list              `json:"rdfs:subClassOf"`
	Domain    list              `json:"schema:domainIncludes"`
	Range     list              `json:"schema:rangeIncludes"`
	Scheme    list              `json:"skos:inScheme"`
}

// list is one string or several.
type list []string

// UnmarshalJSON decodes a string or an array of strings.
func (l *list) UnmarshalJSON(text []byte) error {
	if text[0] != '"' {
		return json.Unmarshal(text, (*[]string)(l))
	}
	*l = []string{""}
	return json.Unmarshal(text, &(*l)[0])
}

// write writes the terms of encodings, one per line, sorted; a term of several encodings is merged.
func write(w io.Writer, files ...string) error {
	entries := map[string]*entry{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var encoding struct {
			Graph []entry `json:"@graph"`
		}
		if err := json.Unmarshal(text, &encoding); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for _, e := range encoding.Graph {
			known := entries[e.ID]
			if known == nil {
				entries[e.ID] = &e
				continue
			}
			known.Parents, known.Scheme = append(known.Parents, e.Parents...), append(known.Scheme, e.Scheme...)
			known.Domain, known.Range = append(known.Domain, e.Domain...), append(known.Range, e.Range...)
		}
	}
	within := func(class, ancestor string) bool { return inherits(entries, class, ancestor) }
	var lines []string
	for _, e := range entries {
		switch e.Type {
		case "rdfs:Class":
			lines = append(lines, line("class", e.ID, names(e.Parents, nil)))
		case "rdf:Property":
			lines = append(lines, line("property", e.ID, names(e.Domain, within), names(e.Range, within)))
		case "skos:ConceptScheme":
			lines = append(lines, line("scheme", e.ID, e.Label["en-US"]))
		case "skos:Concept":
			lines = append(lines, line("concept", e.ID, names(e.Scheme, nil), e.PrefLabel["en-US"]))
		}
	}
	slices.Sort(lines)
	_, err := io.WriteString(w, strings.Join(lines, ""))
	return err
}

func line(cells ...string) string { return strings.Join(cells, "\t") + "\n" }

// names lists distinct classes without those that another one of the list includes.
func names(all []string, within func(class, ancestor string) bool) string {
	distinct := map[string]bool{}
	for _, name := range all {
		distinct[name] = true
	}
	covered := func(class string) bool {
		for other := range distinct {
			if other != class && within != nil && within(class, other) {
				return true
			}
		}
		return false
	}
	kept := slices.DeleteFunc(slices.Sorted(maps.Keys(distinct)), covered)
	return strings.Join(kept, " ")
}

func inherits(entries map[string]*entry, class, ancestor string) bool {
	e := entries[class]
	return class == ancestor ||
		e != nil && slices.ContainsFunc(e.Parents, func(p string) bool { return inherits(entries, p, ancestor) })
}
