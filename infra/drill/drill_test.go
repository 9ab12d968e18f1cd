package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
)

func TestDrill(t *testing.T) {
	if err := drill(t.Context(), t.TempDir(), func(string) error { return nil }, t.Output()); err != nil {
		t.Fatal(err)
	}
}

// The drill must fail if the restored file is incomplete or modified.
func TestDrillDetectsDamage(t *testing.T) {
	for name, spoil := range map[string]func(lines [][]byte) [][]byte{
		"row lost": func(lines [][]byte) [][]byte { return lines[1:] },
		"row changed": func(lines [][]byte) [][]byte {
			for i, line := range lines {
				changed := bytes.Replace(line, []byte(`"name":{"S":"`), []byte(`"name":{"S":"x`), 1)
				if !bytes.Equal(changed, line) {
					lines[i] = changed
					return lines
				}
			}
			return lines
		},
		"file cut off": func(lines [][]byte) [][]byte { return append(lines[:len(lines)-1], lines[len(lines)-1][:10]) },
	} {
		t.Run(name, func(t *testing.T) {
			err := drill(t.Context(), t.TempDir(), func(file string) error {
				export, err := os.ReadFile(file)
				if err != nil {
					return err
				}
				lines := bytes.Split(bytes.TrimSpace(export), []byte("\n"))
				return os.WriteFile(file, bytes.Join(spoil(lines), []byte("\n")), 0o600)
			}, io.Discard)
			if err == nil || !strings.Contains(err.Error(), "missing or different") && !strings.Contains(err.Error(), "call") {
				t.Errorf("the drill returned %v", err)
			}
		})
	}
}
