package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/schema"
)

// refusedBodies are bodies of 1 MiB that no operation takes, each the worst of its sort.
func refusedBodies() map[string]string {
	fill := func(before, one, after string) string {
		return before + strings.TrimSuffix(strings.Repeat(one, (maxBody-len(before)-len(after))/len(one)), ",") + after
	}
	names := func(each int) string { // in objects of so many
		var b strings.Builder
		b.WriteString(`{"skills":[`)
		for i := 0; b.Len() < maxBody-32; i++ {
			end := ","
			if i%each == each-1 {
				end = "},{"
			}
			if i == 0 {
				b.WriteString("{")
			}
			fmt.Fprintf(&b, `"%x":0%s`, i, end)
		}
		return b.String() + `"z":0}]}`
	}
	return map[string]string{
		"no object":                fill("[", "{},", "]"),
		"nested lists":             strings.Repeat("[", maxBody/2) + strings.Repeat("]", maxBody/2),
		"nested objects":           strings.Repeat(`{"a":`, maxBody/6) + "1" + strings.Repeat("}", maxBody/6),
		"nested below a name":      `{"name":` + strings.Repeat("[", 9000) + fill("", "1e999,", ""),
		"a name twice":             fill("{", `"a":1,`, "}"),
		"unknown names":            names(maxBody),
		"unknown names in objects": names(100),
		"few names in objects":     names(5),
		"a long name":              fill(`{"`, "k", `":1e999}`),
		"long names":               `{"` + strings.Repeat("k", maxBody/2) + `":[` + strings.Repeat("1e999,", maxBody/12-10) + "1]}",
		"numbers without room":     fill(`{"x":[`, "1e999,", "]}"),
		"one long number":          fill(`{"x":`, "9", "}"),
		"long exponents":           fill(`{"x":[`, "1e-99999999999999999999,", "]}"),
		"no strings":               fill(`{"courseSectionIds":[`, "1,", "]}"),
		"equal strings":            fill(`{"courseSectionIds":[`, `"a",`, "]}"),
		"too many strings":         fill(`{"courseSectionIds":[`, `"aaaaaaaaaaaaaaaaaaaaaaaaa",`, "]}"),
		"unknown types":            fill(`{"url":"https://a.example","types":[`, `"aaaaaaaaaaaaaaa",`, "]}"),
		"no objects":               fill(`{"name":"A","code":"B","skills":[`, "null,", "]}"),
		"empty objects":            fill(`{"name":"A","code":"B","skills":[`, `{},`, "]}"),
		"faulty objects":           fill(`{"name":"A","code":"B","skills":[`, `{"skillId":1,"level":"x","confidence":"aaa","b":1},`, "]}"),
		"faulty objects in lists":  fill(`{"sending":[{"courses":[`, `{"code":1,"credits":[],"aaaaaaaaaaaaaaa":0},`, "]}]}"),
		"long text":                fill(`{"name":"`, "a", `"}`),
		"escaped text":             fill(`{"name":"`, `\u0061`, `"}`),
		"half a character":         fill(`{"name":"`, `\ud800`, `"}`),
		"wide text":                fill(`{"name":"`, "é", `"}`),
		"text that is not a date":  fill(`{"effectiveFrom":"`, "2", `"}`),
	}
}

// refuse has every operation judge a body, and returns the longest list of what is wrong.
func refuse(s *Server, body string) (wrong []catalog.FieldError) {
	tree, err := parseJSON([]byte(body))
	var known *catalog.Error
	if errors.As(err, &known) {
		return known.Fields
	}
	for _, e := range s.endpoints {
		if e.schema != nil {
			if found := schema.Validate(e.schema(), tree); len(found) > len(wrong) {
				wrong = found
			}
		}
	}
	return wrong
}

// TestRefusedBodies counts what it takes to refuse a body of 1 MiB, because time is what
// it costs on another machine: its values are not all read, and its faults not all told.
func TestRefusedBodies(t *testing.T) {
	s := New(&Server{})
	for name, body := range refusedBodies() {
		var wrong []catalog.FieldError
		allocations := testing.AllocsPerRun(1, func() { wrong = refuse(s, body) })
		text, err := json.Marshal(wrong)
		if err != nil {
			t.Fatal(err)
		}
		if len(body) < maxBody*9/10 && name != "nested below a name" || allocations > 3*maxValues || len(wrong) > 2*schema.MaxErrors || len(text) > 200*schema.MaxErrors {
			t.Errorf("%s, %d bytes: %.0f allocations, %d faults in %d bytes", name, len(body), allocations, len(wrong), len(text))
		}
	}
}

// TestFaultsOfLongLists: what is told of a list with many faults is its first ones, in
// order, and the same each time.
func TestFaultsOfLongLists(t *testing.T) {
	s := New(&Server{})
	form := s.endpoints["createSection"].schema()
	item := `{"skillId":1,"level":3,"confidence":0.5,"z":1,"y":1},`
	tree, err := parseJSON([]byte(`{"name":"A","b":1,"a":1,"skills":[` + strings.Repeat(item, 600) + `null]}`))
	if err != nil {
		t.Fatal(err)
	}
	wrong := schema.Validate(form, tree)
	if len(wrong) <= schema.MaxErrors {
		t.Fatalf("%d faults", len(wrong))
	}
	var places []string
	for _, w := range wrong {
		places = append(places, w.Location)
	}
	want := []string{"body.skills", "body.skills[0].skillId", "body.skills[0].y", "body.skills[0].z", "body.skills[1].skillId"}
	if !slices.Equal(places[:len(want)], want) {
		t.Errorf("the first faults are at %v", places[:len(want)])
	}
	for range 5 {
		again := schema.Validate(form, tree)
		if !slices.Equal(again[:schema.MaxErrors], wrong[:schema.MaxErrors]) {
			t.Error("other faults are told the second time")
		}
	}
}

func TestBounds(t *testing.T) {
	for body, want := range map[string]catalog.Code{
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth):     "",
		strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1): catalog.MalformedJSON,
		"[" + strings.Repeat("0,", maxValues-2) + "0]":                    "",
		"[" + strings.Repeat("0,", maxValues-1) + "0]":                    catalog.PayloadTooLarge,
	} {
		_, err := parseJSON([]byte(body))
		var known *catalog.Error
		if errors.As(err, &known); want == "" && err != nil || want != "" && (known == nil || known.Code != want) {
			t.Errorf("%.20s…: %v", body, err)
		}
	}
}

// BenchmarkRefusedBody prints the CPU time for each body beside that of a decoder that
// takes anything. At most 50 ms are promised.
func BenchmarkRefusedBody(b *testing.B) {
	s := New(&Server{})
	measure := func(b *testing.B, work func()) {
		before := processorTime(b)
		for b.Loop() {
			work()
		}
		b.ReportMetric(float64((processorTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
	}
	for name, body := range refusedBodies() {
		b.Run(name, func(b *testing.B) {
			form := s.endpoints["createSection"].schema()
			measure(b, func() {
				if tree, err := parseJSON([]byte(body)); err == nil {
					schema.Validate(form, tree)
				}
			})
		})
		b.Run(name+", encoding json", func(b *testing.B) {
			measure(b, func() {
				var v any
				_ = json.Unmarshal([]byte(body), &v)
			})
		})
	}
}

// processorTime returns how long the process has had a processor.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
