package catalog

import (
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
)

// Metrics says which of a log line's own fields CloudWatch counts (embedded metric
// format).
type Metrics struct{ directives func() slog.Attr }

// NewMetrics counts fields, each given as name:unit, by one dimension, which is a
// field as well.
func NewMetrics(dimension string, fields ...string) Metrics {
	return Metrics{sync.OnceValue(func() slog.Attr {
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
			"Namespace": "SkillsCurriculum", "Dimensions": [][]string{{dimension}}, "Metrics": list,
		}})
		if err != nil {
			panic(err) // it holds nothing but strings
		}
		return slog.Any("CloudWatchMetrics", json.RawMessage(directives))
	})}
}

// At is the part of a line that makes CloudWatch count the line.
func (m Metrics) At(now Time) slog.Attr {
	return slog.Attr{Key: "_aws", Value: slog.GroupValue(slog.Int64("Timestamp", int64(now)), m.directives())}
}
