package load

import (
	"iter"

	"skillscurriculum/infra/skillsctl/intake"
)

// batches cuts rows into pieces of at most n rows and maxBatchBytes.
func batches(rows []intake.Row, n int) iter.Seq[[]intake.Row] {
	return func(yield func([]intake.Row) bool) {
		from, size := 0, 0
		for i, row := range rows {
			weight := bytesOf(row.Fields)
			if i > from && (i-from == n || size+weight > maxBatchBytes) {
				if !yield(rows[from:i]) {
					return
				}
				from, size = i, 0
			}
			size += weight
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
