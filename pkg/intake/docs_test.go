package intake

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"skillscurriculum/pkg/intake/entry"
)

var update = flag.Bool("update", false, "write the tables of docs/import.md")

// between returns the part of a page between two comments, and the page with another one.
func between(t *testing.T, page, begin, end, text string) (was, now string) {
	t.Helper()
	before, rest, ok := strings.Cut(page, begin)
	line, rest, _ := strings.Cut(rest, "\n")
	was, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("the page has no %s", begin)
	}
	return was, before + begin + line + "\n" + text + end + after
}

// The page about imports has the table of headers and the words of lists as they are.
func TestHeadersAreDocumented(t *testing.T) {
	const name = "../../docs/import.md"
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var tables strings.Builder
	for _, kind := range entry.Tabular {
		fmt.Fprintf(&tables, "\n**%s**\n\n| Field | Headers |\n|---|---|\n", entry.Resource(kind))
		for _, field := range entry.Fields(kind) {
			if strings.TrimRight(field, "0123456789") != field && !strings.HasSuffix(field, "1") {
				continue // the first stands for all that are counted
			}
			var texts []string
			for _, h := range entry.HeadersOf()[entry.Resource(kind)] {
				text := h.Text
				if h.System != "" {
					text += " (" + h.System + ")"
				}
				if h.Field == field {
					texts = append(texts, strings.ReplaceAll(text, "*", `\*`))
				}
			}
			fmt.Fprintf(&tables, "| %s | %s |\n", field, strings.Join(texts, ", "))
		}
	}
	tables.WriteString("\nCourses counted by 1 in the last table are counted up to 10.\n\n")
	var values strings.Builder
	values.WriteString("\n| Field | Value | Words |\n|---|---|---|\n")
	for _, field := range []string{"level", "lifecycleStatus", "status", "modality"} {
		of := map[string][]string{}
		for word, value := range words[field] {
			of[value] = append(of[value], word)
		}
		for _, value := range slices.Sorted(maps.Keys(of)) {
			fmt.Fprintf(&values, "| %s | %s | %s |\n", field, value, strings.Join(slices.Sorted(slices.Values(of[value])), ", "))
		}
	}
	values.WriteString("\n")
	was, page := between(t, string(file), "<!-- headers", "<!-- end of headers -->", tables.String())
	wasWords, page := between(t, page, "<!-- words", "<!-- end of words -->", values.String())
	if *update {
		if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if was != tables.String() || wasWords != values.String() {
		t.Error("docs/import.md does not have the table of headers; run go test ./pkg/intake -run TestHeadersAreDocumented -update")
	}
}

// Every header of the table is found, and each stands once for a field and layout.
func TestHeadersTable(t *testing.T) {
	seen := map[[4]string]bool{}
	for _, h := range entry.Headers() {
		key := [4]string{h.Resource, h.Field, string(layoutOfHeader(h)), h.Plain}
		if h.Plain == "" || seen[key] {
			t.Errorf("%+v is empty or stands twice", h)
		}
		seen[key] = true
	}
}
