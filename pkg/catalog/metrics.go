package catalog

import (
	"log/slog"
	"strings"
)

// Metrics is the part of a log line that makes CloudWatch count the line's own
// fields, each given as name:unit, by one dimension.
func Metrics(now Time, dimension string, metrics ...string) slog.Attr {
	type metric struct {
		Name string
		Unit string
	}
	var list []metric
	for _, m := range metrics {
		name, unit, _ := strings.Cut(m, ":")
		list = append(list, metric{name, unit})
	}
	return slog.Any("_aws", map[string]any{
		"Timestamp": int64(now),
		"CloudWatchMetrics": []any{map[string]any{
			"Namespace": "SkillsCurriculum", "Dimensions": [][]string{{dimension}}, "Metrics": list,
		}},
	})
}
