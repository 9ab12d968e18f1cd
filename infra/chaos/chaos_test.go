package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// The test binary plays every function.
func TestMain(m *testing.M) {
	if name := os.Getenv("AWS_LAMBDA_FUNCTION_NAME"); name != "" {
		function(name)
		return
	}
	os.Exit(m.Run())
}

// itself returns a folder in which this program is every function's bootstrap.
func itself(t *testing.T) (functions string) {
	functions = t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	names := api.Functions()
	for _, name := range names {
		if err := os.Mkdir(filepath.Join(functions, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(self, filepath.Join(functions, name, "bootstrap")); err != nil {
			t.Fatal(err)
		}
	}
	return functions
}

// A customer whose syllabi stall does not hold up another's: few of its own begin
// meanwhile, and not all of them, which would take minutes.
func TestFairness(t *testing.T) {
	const many, atMost = 100, 30
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	_, behind, err := crowded(ctx, t.TempDir(), itself(t), many)
	if err != nil {
		t.Fatal(err)
	}
	if behind.begun > atMost {
		t.Errorf("%d of %d stalling syllabi began before another customer's %d were done", behind.begun, many, few)
	}
}

// A short run without what makes messages wait: the table is as it should be,
// and the audit notices when it is not.
func TestShortRun(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("faults find their processes in /proc")
	}
	functions := itself(t)
	report, err := run(t.Context(), config{
		seed: 4, duration: 6 * time.Second, dir: t.TempDir(), functions: functions, out: t.Output(),
		deck: []kind{slowTable, dropTable, lagTable, doubleQueue}, odds: 0.2, acts: 18,
	})
	if err != nil {
		t.Fatal(err)
	}
	report.print(t.Output())
	if len(report.breaches) > 0 {
		t.Fatal("an invariant is broken")
	}
	if n := report.traffic.statuses["201"]; n < 10 {
		t.Errorf("only %d records were created", n)
	}
	for name, spoil := range spoilers {
		t.Run(name, func(t *testing.T) {
			rows := make(table, len(report.rows))
			for i, r := range report.rows {
				rows[i] = maps.Clone(r)
			}
			rows, ok := spoil(rows)
			if !ok {
				t.Fatal("the run has made nothing to spoil: choose another seed")
			}
			a := newAudit(rows)
			a.files = report.files
			a.table()
			a.documents()
			a.clients(report.traffic)
			a.counted(nil, nil)
			if len(a.breaches) == 0 {
				t.Error("the audit finds nothing")
			}
		})
	}
}

// spoilers each break an invariant of a table.
var spoilers = map[string]func(table) (table, bool){
	"record lost": func(rows table) (table, bool) {
		i := at(rows, "Program", func(map[string]any) bool { return true })
		if i < 0 {
			return rows, false
		}
		return slices.Delete(rows, i, i+1), true
	},
	"record twice": func(rows table) (table, bool) {
		i := at(rows, "Course", func(map[string]any) bool { return true })
		if i < 0 {
			return rows, false
		}
		again := maps.Clone(rows[i])
		again["id"], again["sk"] = "crs_again", "0000009999"
		return append(rows, again), true
	},
	"extraction stuck": spoilRow("TransferCourse", func(r map[string]any) bool { r["processingStatus"] = "PENDING"; return true }),
	"lease kept":       spoilRow("TransferCourse", func(r map[string]any) bool { r["leaseToken"] = "run_1"; return true }),
	"two sections of one course": spoilRow("Credential", func(r map[string]any) bool {
		sections, _ := r["sections"].([]any)
		if len(sections) > 0 {
			r["sections"] = append(slices.Clone(sections), sections[0])
		}
		return len(sections) > 0
	}),
	"package lost": func(rows table) (table, bool) {
		i := at(rows, "TransferPackage", func(map[string]any) bool { return true })
		if i < 0 {
			return rows, false
		}
		return slices.Delete(rows, i, i+1), true
	},
	"course twice": spoilRow("Program", func(r map[string]any) bool {
		order, _ := r["courseOrder"].([]any)
		if len(order) > 0 {
			r["courseOrder"] = append(slices.Clone(order), order[0])
		}
		return len(order) > 0
	}),
	"holder forgotten": spoilRow("Course", func(r map[string]any) bool {
		held := r["heldBy"] != nil
		delete(r, "heldBy")
		return held
	}),
	"document lost": func(rows table) (table, bool) {
		i := at(rows, "Section", func(r map[string]any) bool { return r["documentId"] != nil })
		if i < 0 {
			return rows, false
		}
		id := rows[i]["documentId"]
		return slices.DeleteFunc(rows, func(r map[string]any) bool { return r["id"] == id }), true
	},
	"document of another file": spoilRow("Document", func(r map[string]any) bool {
		announced := r["sha256"] != sumOf(nil)
		r["sha256"] = sumOf(nil)
		return announced
	}),
	"document unheld": spoilRow("Document", func(r map[string]any) bool {
		held := r["heldBy"] != nil
		delete(r, "heldBy")
		return held
	}),
	"review lost":      spoilReview(func(r map[string]any) { delete(r, "reviews") }),
	"review undone":    spoilReview(func(r map[string]any) { r["skills"] = []any{} }),
	"name overwritten": spoilRow("Course", func(r map[string]any) bool { r["name"] = "another"; return true }),
	"directory counts": spoilRow("directory", func(r map[string]any) bool { r["live"] = r["live"].(float64) + 1; return true }),
	"feed lacks a page": func(rows table) (table, bool) {
		i := at(rows, "journal", func(r map[string]any) bool { return text(r, "sk") == "0000000000" })
		return slices.Delete(rows, i, i+1), true
	},
	"feed lacks an entry": spoilRow("journal", func(r map[string]any) bool {
		entries := r["entries"].([]any)
		r["entries"], r["filled"] = entries[1:], r["filled"].(float64)-1
		return true
	}),
	"idempotency record lost": func(rows table) (table, bool) {
		n := len(rows)
		rows = slices.DeleteFunc(rows, func(r map[string]any) bool { return strings.HasSuffix(text(r, "pk"), "#answer") })
		return rows, len(rows) < n
	},
	"units": func(rows table) (table, bool) {
		for _, r := range rows {
			if strings.HasPrefix(text(r, "pk"), "u#") {
				r["used"] = r["used"].(float64) + 1
				return rows, true
			}
		}
		return rows, false
	},
}

// spoilReview spoils a section or transfer course of which a skill is accepted.
func spoilReview(spoil func(map[string]any)) func(table) (table, bool) {
	return func(rows table) (table, bool) {
		for _, r := range rows {
			if r["deletedAt"] == nil && slices.ContainsFunc(reviewsOf(r), func(r review) bool { return r.Verdict == catalog.Accepted }) {
				spoil(r)
				return rows, true
			}
		}
		return rows, false
	}
}

// at finds a row of an organization's partition of that name; -1 for none.
func at(rows table, part string, suits func(map[string]any) bool) int {
	return slices.IndexFunc(rows, func(r map[string]any) bool {
		words := strings.Split(text(r, "pk"), "#")
		return len(words) > 2 && words[2] == part && r["deletedAt"] == nil && suits(r)
	})
}

// spoilRow returns what spoils the first row of a partition that can be spoilt so.
func spoilRow(part string, spoil func(map[string]any) bool) func(table) (table, bool) {
	return func(rows table) (table, bool) { return rows, at(rows, part, spoil) >= 0 }
}

func TestSameSeedSameSchedule(t *testing.T) {
	c := config{seed: 7}
	one, two := schedule(c.random(scheduling), everything, time.Minute), schedule(c.random(scheduling), everything, time.Minute)
	if diff := cmp.Diff(one, two, cmp.AllowUnexported(fault{})); diff != "" {
		t.Error(diff)
	}
	c.seed = 8
	if cmp.Equal(one, schedule(c.random(scheduling), everything, time.Minute), cmp.AllowUnexported(fault{})) {
		t.Error("another seed makes the same schedule")
	}
	long := schedule(c.random(scheduling), everything, 3*time.Minute)
	for _, k := range everything {
		if !slices.ContainsFunc(long, func(f fault) bool { return f.what == k }) {
			t.Errorf("three minutes without %q", k)
		}
	}
}

func TestHistoryAllowsWhatMayHaveBeenLast(t *testing.T) {
	var h history
	wait := func() { time.Sleep(time.Millisecond) }
	h.created("a", "one")
	wait()
	h.created("a", "two")
	late := h.begin("a", "late")
	wait()
	h.created("a", "three")
	if got := h.allowed("a"); !slices.Equal(got, []string{"late", "three"}) {
		t.Errorf("with an attempt under way: %q", got)
	}
	late(unknown)
	if got := h.allowed("a"); !slices.Equal(got, []string{"late", "three"}) {
		t.Errorf("with an attempt of which nobody knows: %q", got)
	}
	h.begin("a", "no")(refused)
	if slices.Contains(h.allowed("a"), "no") {
		t.Error("a refused attempt is allowed")
	}
	h.begin("b", "in")(unknown)
	if got := h.allowed("b"); !slices.Equal(got, []string{"in", ""}) {
		t.Errorf("what may never have been done: %q", got)
	}
	if h.is("b", "in") || h.is("c", "live") || !h.is("c", "") {
		t.Error("is says for certain what is not")
	}
}

// What ends while the table is read is not held against it: the look that counts
// began after another that found nothing open.
func TestAuditWaitsForCalm(t *testing.T) {
	var settled calm
	start := time.Now()
	for i, look := range []struct {
		open         int
		began, ended float64 // seconds
		shows        bool
	}{
		{3, 0, 1, false},
		{0, 1.5, 9, false}, // its last part was read long after its first
		{0, 9.5, 12, false},
		{1, 12.5, 13, false}, // the index of a deletion was late
		{0, 20, 21, false},
		{0, 22.5, 23, true},
	} {
		at := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
		if got := settled.shows(look.open, at(look.began), at(look.ended)); got != look.shows {
			t.Errorf("look %d: %v", i, got)
		}
	}
}

func TestWaits(t *testing.T) {
	line := func(organization string, second, latency, wait int) string {
		return fmt.Sprintf(`09:00:00 [1] {"time":"2026-11-22T09:00:%02dZ","msg":"extraction","organization":%q,"Latency":%d,"Wait":%d}`+"\n", second, organization, latency*1000, wait*1000)
	}
	// b is sent at 2 and begins at 6: of a's, one began before that, two meanwhile.
	log := line("a", 5, 4, 0) + "no extraction\n" + line("a", 6, 3, 3) + line("a", 7, 3, 4) + line("b", 8, 2, 4)
	if diff := cmp.Diff(map[string]int{"a": 0, "b": 2}, waits(strings.NewReader(log))); diff != "" {
		t.Error(diff)
	}
}
