package load

import (
	"iter"

	"skillscurriculum/infra/skillsctl/intake"
	"skillscurriculum/pkg/catalog"
)

// batches cuts rows of one kind into pieces for one transaction each: of at most n rows
// and maxBatchBytes, and of articulations that join few enough lists.
func batches(rows []intake.Row, n int) iter.Seq[[]intake.Row] {
	return func(yield func([]intake.Row) bool) {
		from, size, lists := 0, 0, map[string]bool{}
		for i, row := range rows {
			weight, joins := bytesOf(row.Fields), []string(nil)
			if row.Kind == catalog.ArticulationKind {
				joins = joined(row)
			}
			more := 0
			for _, list := range joins {
				if !lists[list] {
					more++
				}
			}
			if i > from && (i-from == n || size+weight > maxBatchBytes || len(lists)+more+2*(i-from+1) > maxJoined) {
				if !yield(rows[from:i]) {
					return
				}
				from, size = i, 0
				clear(lists)
			}
			size += weight
			for _, list := range joins {
				lists[list] = true
			}
		}
		if from < len(rows) {
			yield(rows[from:])
		}
	}
}

// bytesOf is about how large a value is in the table.
func bytesOf(v any) int {
	switch v := v.(type) {
	case string:
		return len(v) + 3
	case []any:
		n := 3
		for _, e := range v {
			n += bytesOf(e)
		}
		return n
	case map[string]any:
		n := 3
		for k, e := range v {
			n += len(k) + bytesOf(e)
		}
		return n
	}
	return 10
}
