package gold

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// Promising is a document with the statements of learning outcomes that two labelers marked in it.
type Promising struct {
	Name   string
	Raw    []byte // Markdown
	Sealed bool   // never used to write rules, only to check
	Passes [2][]string
}

// marked has the digests of the documents and where the statements stand in them, in bytes.
//
//go:embed statements
var marked embed.FS

// document is a text of the development data with its name.
type document struct {
	name   string
	raw    []byte // Markdown
	sealed bool   // the 32-bit FNV-1a hash of its name is odd
}

// documents reads the texts that a list names.
func documents(files embed.FS, list, data string) ([]document, error) {
	listed, err := rows(files, list)
	if err != nil {
		return nil, err
	}
	var all []document
	for _, row := range listed {
		raw, err := os.ReadFile(filepath.Join(data, "syllabi", row["path"]))
		if err != nil {
			return nil, err
		}
		if digest := sha256.Sum256(raw); hex.EncodeToString(digest[:]) != row["sha256"] {
			return nil, fmt.Errorf("%s: the digest is not that of the labelled text", row["doc"])
		}
		h := fnv.New32a()
		io.WriteString(h, row["doc"])
		all = append(all, document{row["doc"], raw, h.Sum32()%2 == 1})
	}
	return all, nil
}

// Statements reads the documents whose outcomes two labelers marked, with what each marked.
func Statements(data string) ([]Promising, error) {
	listed, err := documents(marked, "statements/documents.csv", data)
	if err != nil {
		return nil, err
	}
	var all []Promising
	at := map[string]int{}
	for i, d := range listed {
		at[d.name] = i
		all = append(all, Promising{Name: d.name, Raw: d.raw, Sealed: d.sealed})
	}
	for pass, name := range []string{"A", "B"} {
		marks, err := rows(marked, "statements/"+name+".csv")
		if err != nil {
			return nil, err
		}
		for _, row := range marks {
			start, _ := strconv.Atoi(row["start"])
			end, _ := strconv.Atoi(row["end"])
			i, ok := at[row["doc"]]
			if !ok || start < 0 || start >= end || end > len(all[i].Raw) {
				return nil, fmt.Errorf("pass %s: %s has no text from %q to %q", name, row["doc"], row["start"], row["end"])
			}
			all[i].Passes[pass] = append(all[i].Passes[pass], string(all[i].Raw[start:end]))
		}
	}
	return all, nil
}
