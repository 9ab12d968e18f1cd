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

// A drill that could not fail would show nothing.
func TestDrillNoticesWhatIsLost(t *testing.T) {
	for name, spoil := range map[string]func(lines [][]byte) [][]byte{
		"row lost": func(lines [][]byte) [][]byte { return lines[1:] },
		"row changed": func(lines [][]byte) [][]byte {
			for i, line := range lines {
				if changed := bytes.Replace(line, []byte(`"name":{"S":"`), []byte(`"name":{"S":"x`), 1); !bytes.Equal(changed, line) {
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
			if err == nil || !strings.Contains(err.Error(), "faults") && !strings.Contains(err.Error(), "row ") {
				t.Errorf("the drill says %v", err)
			}
		})
	}
}
