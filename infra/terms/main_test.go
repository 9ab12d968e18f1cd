package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"skillscurriculum/infra/terms/validators"
)

// The table of terms is what the program makes of the published encodings.
func TestTableIsThatOfTheEncodings(t *testing.T) {
	var made bytes.Buffer
	if err := write(&made, validators.Encodings(t)...); err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(filepath.Join("..", "..", "pkg", "ctdl", "terms.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(made.Bytes(), table) {
		t.Error("pkg/ctdl/terms.tsv is stale: see the comment of this program")
	}
}
