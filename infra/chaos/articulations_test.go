package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// approvedTable returns a table with an approved articulation of each institution and set, their moves, and the course
// that they grant.
func approvedTable() table {
	const created = "2026-01-01T00:00:00.000Z"
	course := map[string]any{
		"pk": "o#org_1#Course", "sk": "0000000000", "id": "crs_1", "createdAt": created, "organizationId": "org_1",
	}
	rows := table{course}
	for i, sender := range []string{senders[0], senders[3]} {
		for j, set := range sets {
			id := fmt.Sprintf("art_%d%d", i, j)
			var courses []any
			for code := range strings.SplitSeq(set[1], ",") {
				courses = append(courses, map[string]any{"code": code})
			}
			rows = append(rows, map[string]any{
				"pk": "o#org_1#Articulation", "sk": "000000000" + fmt.Sprint(i*len(sets)+j), "id": id,
				"createdAt": created, "organizationId": "org_1", "status": "APPROVED",
				"sendingInstitution": map[string]any{"name": sender}, "sending": []any{map[string]any{"courses": courses}},
				"receiving": []any{map[string]any{"courseId": "crs_1"}}, "effectiveFrom": "2025-01-01",
			})
			for at, move := range [][2]string{{"DRAFT", "IN_REVIEW"}, {"IN_REVIEW", "APPROVED"}} {
				rows = append(rows, moveRow(fmt.Sprintf("%s#%013d", id, at), move[0], move[1]))
			}
		}
	}
	return rows
}

func moveRow(sk, from, to string) object {
	return object{"pk": "o#org_1#history", "sk": sk, "from": from, "to": to}
}

// The audit of articulations accepts valid tables and finds each broken invariant.
func TestArticulationsAudited(t *testing.T) {
	isMove := func(to string) func(map[string]any) bool { return func(r map[string]any) bool { return r["to"] == to } }
	for name, c := range map[string]struct {
		spoil func(table) table
		sound bool
	}{
		"valid": {func(rows table) table { return rows }, true},
		"one ends before the other begins": {func(rows table) table {
			again := maps.Clone(rows[1])
			again["id"], again["effectiveFrom"], again["status"] = "art_x", "2026-01-01", "APPROVED"
			rows[1]["effectiveTo"] = "2025-12-31"
			for _, move := range [][3]string{{"1", "DRAFT", "IN_REVIEW"}, {"2", "IN_REVIEW", "APPROVED"}} {
				rows = append(rows, moveRow("art_x#"+move[0], move[1], move[2]))
			}
			return append(rows, again)
		}, true},
		"an overlap": {func(rows table) table {
			again := maps.Clone(rows[1])
			again["id"], again["sendingInstitution"] = "art_00x", map[string]any{"name": senders[2]}
			return append(rows, again)
		}, false},
		"a missing course":          {func(rows table) table { return rows[1:] }, false},
		"a missing move":            {func(rows table) table { return slices.DeleteFunc(rows, isMove("IN_REVIEW")) }, false},
		"an approval without a row": {func(rows table) table { return slices.DeleteFunc(rows, isMove("APPROVED")) }, false},
	} {
		a := newAudit(c.spoil(approvedTable()), nil)
		a.articulations()
		if sound := len(a.breaches) == 0; sound != c.sound {
			t.Errorf("%s: %v", name, a.breaches)
		}
	}
}
