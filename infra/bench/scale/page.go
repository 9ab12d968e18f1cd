package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// render writes the tables into the places of a page that are named after them.
func render(page string) (string, error) {
	for name, table := range tables() {
		begin, end := "<!-- "+name+" -->\n", "<!-- end -->"
		before, rest, ok := strings.Cut(page, begin)
		_, after, ended := strings.Cut(rest, end)
		if !ok || !ended {
			return "", fmt.Errorf("the page has no place for the table %q", name)
		}
		page = before + begin + table + end + after
	}
	return page, nil
}

// tables are the figures of the page, by the names of their places.
func tables() map[string]string {
	return map[string]string{
		"demand": demandTable(), "limits": limitsTable(), "contention": contentionTable(),
		"windows": windowsTable(), "rows": rowsTable(), "directory": directoryTable(), "backlog": backlogTable(),
	}
}

func table(head string, rows ...string) string {
	columns := strings.Count(head, "|") + 1
	return "| " + head + " |\n|" + strings.Repeat("---|", columns) + "\n| " + strings.Join(rows, " |\n| ") + " |\n"
}

// number writes 12345.6 as 12,346.
func number(f float64) string {
	if f < 10 && f != float64(int(f)) {
		return fmt.Sprintf("%.1f", f)
	}
	digits := fmt.Sprintf("%.0f", f)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func demandTable() string {
	var rows []string
	for _, factor := range []int{1, 10, 100, 1000} {
		d := DemandOf(factor)
		rows = append(rows, fmt.Sprintf("%dx | %s | %s | %s | %s | %s | %s", factor, number(float64(d.Keys)), number(d.Calls), number(d.Write), number(d.Read),
			number(d.Concurrency), number(d.Extractors)))
	}
	return table("traffic | customers | calls/s | write units/s | read units/s | API functions at a time | extractors at a time", rows...)
}

func limitsTable() string {
	limits := DemandOf(1).Limits()
	names := slices.SortedFunc(maps.Keys(limits), func(a, b string) int {
		return cmp.Or(cmp.Compare(math.Round(limits[a]), math.Round(limits[b])), cmp.Compare(a, b))
	})
	var rows []string
	for _, name := range names {
		rows = append(rows, fmt.Sprintf("%s | %sx", name, number(limits[name])))
	}
	return table("quota | full at", rows...)
}

func contentionTable() string {
	var rows []string
	for _, c := range []struct {
		lanes     int
		perSecond float64
	}{{1, 1}, {1, 10}, {1, 25}, {1, 50}, {1, 75}, {1, 100}, {4, 100}, {16, 500}} {
		r := Contend(c.lanes, c.perSecond)
		rows = append(rows, fmt.Sprintf("%d | %s | %.1f | %.1f | %.0f ms | %.0f ms | %.1f %%", c.lanes, number(c.perSecond), r.Saved, r.Attempts, r.Median, r.Most, r.GivenUp*100))
	}
	return table("lanes | offered/s | saved/s | attempts each | median | 99 % | given up", rows...)
}

func windowsTable() string {
	var rows []string
	for _, customers := range []int{200, 2000, 20_000} {
		aligned, mean := Peak(customers, 50, false)
		staggered, _ := Peak(customers, 50, true)
		rows = append(rows, fmt.Sprintf("%s | %s | %s | %s", number(float64(customers)), number(float64(mean)), number(float64(aligned)), number(float64(staggered))))
	}
	return table("customers | mean calls/s | peak, aligned windows | peak, staggered", rows...)
}

func backlogTable() string {
	var rows []string
	for _, n := range []int{1000, 10_000, 100_000} {
		often, seldom := Drain(n, EachMinute), Drain(n, TwiceAsLong)
		rows = append(rows, fmt.Sprintf("%s | %s min | %s | %.1f min | %s | %.1f min", number(float64(n)),
			number(float64(seldom.Minutes)), number(float64(often.Messages)), often.Next, number(float64(seldom.Messages)), seldom.Next))
	}
	return table("extractions at once | done after | messages, each minute | the next waits | messages, twice as long | the next waits", rows...)
}

func rowsTable() string {
	return table("row or partition | units of one call | calls/s at most",
		fmt.Sprintf("a customer's counter (up to 16 operations in a window) | 1 write | %s", number(PartitionWrite)),
		fmt.Sprintf("a customer's counter (more operations: above 1 KB) | 2 write | %s", number(PartitionWrite/2)),
		fmt.Sprintf("an organization's list, pages of 100 | %d read | %s", ListUnits, number(PartitionRead/ListUnits)),
		fmt.Sprintf("an organization's records of one kind, one GET each | 0.5 read | %s", number(PartitionRead/0.5)),
		fmt.Sprintf("a list's directory, read by each page | 1 read | %s", number(PartitionRead)),
		fmt.Sprintf("an organization's change feed, written by each change | 2 write | %s", number(PartitionWrite/2)),
	)
}

func directoryTable() string {
	var rows []string
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		for _, deleted := range []float64{0, 0.1} {
			bytes := DirectoryBytes(n, deleted)
			kilobytes := (bytes+120-1)/1024 + 1
			rows = append(rows, fmt.Sprintf("%s | %.0f %% | %s | %d | %d", number(float64(n)), deleted*100, number(float64(bytes)), 2*kilobytes, 5+2*kilobytes))
		}
	}
	perNumber := float64(DirectoryBytes(1_000_000, 0.1)) / 1_000_000
	rows = append(rows, fmt.Sprintf("%s million | 10 %% | %s (the largest row) | %d | ", number(ItemBytes/perNumber/1e6), number(ItemBytes), 2*ItemBytes/1024))
	return table("numbers given | deleted at random | bytes | write units of the directory | of creating a job", rows...)
}
