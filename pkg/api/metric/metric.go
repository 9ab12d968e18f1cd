// Package metric makes log lines that CloudWatch counts (embedded metric format).
package metric

import (
	"encoding/json"
	"log/slog"
	"strings"
	"sync"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// Set names the fields of a log line that CloudWatch counts.
type Set struct{ directives func() slog.Attr }

// New returns the set that counts fields, each given as name:unit, by each of the
// dimensions alone, which are fields as well.
func New(dimensions []string, fields ...string) Set {
	return Set{sync.OnceValue(func() slog.Attr {
		type metric struct {
			Name string
			Unit string
		}
		var list []metric
		var sets [][]string
		for _, d := range dimensions {
			sets = append(sets, []string{d})
		}
		for _, f := range fields {
			name, unit, _ := strings.Cut(f, ":")
			list = append(list, metric{name, unit})
		}
		directives, err := json.Marshal([]any{map[string]any{
			"Namespace": api.MetricNamespace, "Dimensions": sets, "Metrics": list,
		}})
		if err != nil {
			panic(err) // it holds nothing but strings
		}
		return slog.Any("CloudWatchMetrics", json.RawMessage(directives))
	})}
}

// At is the part of a line that makes CloudWatch count the line.
func (s Set) At(now catalog.Time) slog.Attr {
	return slog.Attr{Key: "_aws", Value: slog.GroupValue(slog.Int64("Timestamp", int64(now)), s.directives())}
}
