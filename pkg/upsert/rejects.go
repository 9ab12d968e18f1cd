package upsert

import (
	"encoding/csv"
	"io"
	"iter"
	"slices"
)

// WriteRejects writes the records with errors as CSV, each with its place and the reason. Records of a single table
// keep their columns, so that the file can be corrected and imported: unknown columns are ignored. It reads rejects
// twice.
func WriteRejects(w io.Writer, rejects iter.Seq2[Reject, error]) error {
	var header []string
	first := true
	for r, err := range rejects {
		if err != nil {
			return err
		}
		if first {
			header, first = r.Row.Header, false
		} else if !slices.Equal(r.Row.Header, header) {
			header = nil
			break
		}
	}
	why := "reason"
	if slices.Contains(header, why) {
		why = "rejectedBecause"
	}
	head := []string{"rejected", why, "kind", "externalId", "record"}
	if header != nil {
		head = append([]string{"rejected", why}, header...)
	}
	lines := csv.NewWriter(w)
	if err := lines.Write(head); err != nil {
		return err
	}
	for r, err := range rejects {
		if err != nil {
			return err
		}
		line := []string{r.Place, r.Reason}
		if header == nil {
			line = append(line, r.Kind, r.Name)
		}
		for _, source := range append([][]string{r.Row.Source}, r.Row.More...) {
			if err := lines.Write(append(slices.Clone(line), source...)); err != nil {
				return err
			}
		}
	}
	lines.Flush()
	return lines.Error()
}
