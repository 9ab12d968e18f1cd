package main

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/infra/local/stack/stacktest"
	"skillscurriculum/pkg/catalog"
)

// A short run without faults that delay messages keeps every invariant, and the audit notices when one is broken.
func TestShortRun(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("faults need /proc to find their processes")
	}
	functions := stacktest.Functions(t)
	report, err := run(t.Context(), config{
		seed: 4, duration: 6 * time.Second, dir: t.TempDir(), functions: functions, out: t.Output(),
		deck: append(of(database, slow, responsesLost), of(queued, doubling)...), odds: 0.2, acts: 18, courses: 5,
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
			var rows table
			for _, partition := range report.audit.rows {
				for _, row := range partition {
					rows = append(rows, maps.Clone(row))
				}
			}
			rows, ok := spoil(rows)
			if !ok {
				t.Fatal("the run created nothing to spoil: choose another seed")
			}
			a := newAudit(rows, report.audit.files)
			a.table()
			a.acknowledged(report.traffic)
			if len(a.breaches) == 0 {
				t.Error("the audit found nothing")
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
	"extraction stuck": spoilRow("TransferCourse", func(r map[string]any) bool {
		r["processingStatus"] = "PENDING"
		return true
	}),
	"skills of another description": spoilRow("Section", func(r map[string]any) bool {
		stamp, _ := r["provenance"].(map[string]any)
		described := stamp["source"] == string(catalog.FromDescription) && r["byHand"] != true && r["syllabusHref"] == nil && r["documentId"] == nil
		if described {
			r["provenance"] = map[string]any{"source": stamp["source"], "documentSha256": "another"}
		}
		return described
	}),
	"skills miscounted": spoilRow("Course", func(r map[string]any) bool {
		refs := slices.Clone(r["sections"].([]any))
		ref := maps.Clone(refs[0].(map[string]any))
		ref["skillCount"] = ref["skillCount"].(float64) + 1
		refs[0], r["sections"] = ref, refs
		return true
	}),
	"lease kept": spoilRow("TransferCourse", func(r map[string]any) bool { r["leaseToken"] = "run_1"; return true }),
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
	"course retired twice": spoilRow("Course", func(r map[string]any) bool {
		r["lifecycleStatus"] = "RETIRED"
		return true
	}),
	"import miscounted": spoilRow("Import", func(r map[string]any) bool {
		counts, ok := r["counts"].(map[string]any)
		if ok {
			counts = maps.Clone(counts)
			counts["created"], r["counts"], r["mode"] = counts["created"].(float64)+1, counts, catalog.ApplyRows
		}
		return ok
	}),
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
		announced := r["sha256"] != checksum(nil)
		r["sha256"] = checksum(nil)
		return announced
	}),
	"document unheld": spoilRow("Document", func(r map[string]any) bool {
		held := r["heldBy"] != nil
		delete(r, "heldBy")
		return held
	}),
	"review lost":   spoilReview(func(r map[string]any) { delete(r, "reviews") }),
	"review undone": spoilReview(func(r map[string]any) { r["skills"] = []any{} }),
	"outcomes lost": func(rows table) (table, bool) {
		i := at(rows, "OutcomeList", func(r map[string]any) bool { return len(outcomesIn(r)) > 0 })
		if i < 0 {
			return rows, false
		}
		return slices.Delete(rows, i, i+1), true
	},
	"outcome unread": spoilRow("OutcomeList", func(r map[string]any) bool {
		list := outcomesIn(r)
		if len(list) > 0 {
			list[0].Unread = true
			r["outcomes"], _ = list.MarshalBinary()
		}
		return len(list) > 0
	}),
	"name overwritten": spoilRow("Course", func(r map[string]any) bool { r["name"] = "another"; return true }),
	"directory counts": spoilRow("directory", func(r map[string]any) bool {
		r["live"] = r["live"].(float64) + 1
		return true
	}),
	"feed lacks a page": func(rows table) (table, bool) {
		i := at(rows, "journal", func(r map[string]any) bool { return text(r, "sk") == "0000000000" })
		return slices.Delete(rows, i, i+1), true
	},
	"feed lacks an entry": spoilRow("journal", func(r map[string]any) bool {
		entries := r["entries"].([]any)
		i := slices.IndexFunc(entries, func(e any) bool { return strings.HasPrefix(e.(string), catalog.Created+"|") })
		if i < 0 { // only updates: the audit cannot miss one that another follows
			return false
		}
		r["entries"], r["filled"] = slices.Delete(slices.Clone(entries), i, i+1), r["filled"].(float64)-1
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

// spoilReview spoils a section or transfer course with an accepted skill.
func spoilReview(spoil func(map[string]any)) func(table) (table, bool) {
	isAccepted := func(r catalog.Review) bool { return r.Verdict == catalog.Accepted }
	return func(rows table) (table, bool) {
		for _, r := range rows {
			if r["deletedAt"] == nil && slices.ContainsFunc(reviewsOf(r), isAccepted) {
				spoil(r)
				return rows, true
			}
		}
		return rows, false
	}
}

// outcomesIn decodes the outcomes in the row of a list.
func outcomesIn(row map[string]any) (list catalog.Outcomes) {
	packed, _ := row["outcomes"].([]byte)
	_ = list.UnmarshalBinary(packed)
	return list
}

// at returns the index of a row in a partition with that name, or -1.
func at(rows table, part string, suits func(map[string]any) bool) int {
	return slices.IndexFunc(rows, func(r map[string]any) bool {
		words := strings.Split(text(r, "pk"), "#")
		return len(words) > 2 && words[2] == part && r["deletedAt"] == nil && suits(r)
	})
}

// spoilRow returns a func that spoils the first suitable row of a partition.
func spoilRow(part string, spoil func(map[string]any) bool) func(table) (table, bool) {
	return func(rows table) (table, bool) { return rows, at(rows, part, spoil) >= 0 }
}

func TestSameSeedSameSchedule(t *testing.T) {
	c := config{seed: 7}
	minute := func() []fault { return schedule(c.random(scheduleStream), allFaults, time.Minute) }
	one, unexported := minute(), cmp.AllowUnexported(fault{}, faultKind{})
	if diff := cmp.Diff(one, minute(), unexported); diff != "" {
		t.Error(diff)
	}
	c.seed = 8
	if cmp.Equal(one, minute(), unexported) {
		t.Error("another seed yields the same schedule")
	}
	long := schedule(c.random(scheduleStream), allFaults, 3*time.Minute)
	for _, k := range allFaults {
		if !slices.ContainsFunc(long, func(f fault) bool { return f.faultKind == k }) {
			t.Errorf("three minutes without %q", k)
		}
	}
}

func TestHistoryAllowsPossibleLastValues(t *testing.T) {
	h := history{registers: map[string][]*attempt{}}
	wrote := func(register, value string) { h.wrote(map[string]string{register: value}) }
	begin := func(register, value string) func(outcome) { return h.begin(map[string]string{register: value}) }
	wait := func() { time.Sleep(time.Millisecond) }
	wrote("a", "one")
	wait()
	wrote("a", "two")
	late := begin("a", "late")
	wait()
	wrote("a", "three")
	if got := h.allowed("a"); !slices.Equal(got, []string{"late", "three"}) {
		t.Errorf("with a pending attempt: %q", got)
	}
	late(unknown)
	if got := h.allowed("a"); !slices.Equal(got, []string{"late", "three"}) {
		t.Errorf("with an unknown outcome: %q", got)
	}
	begin("a", "no")(refused)
	if slices.Contains(h.allowed("a"), "no") {
		t.Error("a refused attempt is allowed")
	}
	begin("b", "in")(unknown)
	if got := h.allowed("b"); !slices.Equal(got, []string{"in", ""}) {
		t.Errorf("after only an unknown outcome: %q", got)
	}
	if h.is("b", "in") || h.is("c", "live") || !h.is("c", "") {
		t.Error("is reports a value that is not certain")
	}
}
