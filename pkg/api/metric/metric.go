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

// New returns the set that counts fields, each given as name:unit, by one
// dimension, which is a field as well.
func New(dimension string, fields ...string) Set {
	return Set{sync.OnceValue(func() slog.Attr {
		type metric struct {
			Name string
			Unit string
		}
		var list []metric
		for _, f := range fields {
			name, unit, _ := strings.Cut(f, ":")
			list = append(list, metric{name, unit})
		}
		directives, err := json.Marshal([]any{map[string]any{
			"Namespace": api.MetricNamespace, "Dimensions": [][]string{{dimension}}, "Metrics": list,
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
