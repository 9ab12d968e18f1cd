package catalog_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"skillscurriculum/pkg/catalog"
)

// The directory against a plain list of the live numbers: every page of it is a
// span whose rows, cut as the span says, are the records at those offsets.
func TestDirectoryAgainstAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &catalog.Directory{Kind: catalog.CourseKind}
		var live []int
		next := 0
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "n") {
					if seq := d.Take(); seq != next {
						t.Fatalf("took %d, want %d", seq, next)
					}
					live = append(live, next)
					next++
				}
			},
			"drop": func(t *rapid.T) {
				if len(live) == 0 {
					t.Skip("nothing to drop")
				}
				i := rapid.IntRange(0, len(live)-1).Draw(t, "i")
				n := rapid.IntRange(1, min(20, len(live)-i)).Draw(t, "n")
				for _, seq := range live[i : i+n] {
					d.Drop(seq)
				}
				live = slices.Delete(live, i, i+n)
			},
			"store": func(t *rapid.T) {
				packed := d.Pack()
				again := &catalog.Directory{Kind: d.Kind, Next: d.Next, Live: d.Live, Version: d.Version}
				if err := again.Unpack(packed); err != nil {
					t.Fatal(err)
				}
				d = again
			},
			"": func(t *rapid.T) {
				if d.Live != len(live) || d.Next != next {
					t.Fatalf("%d live of %d, want %d of %d", d.Live, d.Next, len(live), next)
				}
				offset, limit := rapid.IntRange(0, len(live)+5).Draw(t, "offset"), rapid.IntRange(1, 100).Draw(t, "limit")
				span := d.Page(offset, limit)
				rows := slices.DeleteFunc(slices.Clone(live), func(seq int) bool { return seq < span.From || seq >= span.To })
				if len(rows) != span.Live {
					t.Fatalf("%+v holds %d rows", span, len(rows))
				}
				want := live[min(offset, len(live)):min(offset+limit, len(live))]
				rows = rows[min(span.Skip, len(rows)):]
				if got := rows[:min(limit, len(rows))]; !slices.Equal(got, want) {
					t.Fatalf("page %d+%d is %v, want %v", offset, limit, got, want)
				}
				if span.Live-len(want) > 30 {
					t.Fatalf("%+v reads %d rows for %d", span, span.Live, len(want))
				}
			},
		})
	})
}

func TestDirectoryIsShort(t *testing.T) {
	d := &catalog.Directory{Kind: catalog.CourseKind}
	for range 100_000 {
		d.Take()
	}
	if n := len(d.Pack()); n > 100 {
		t.Errorf("a hundred thousand records take %d bytes", n)
	}
	for seq := 0; seq < 100_000; seq += 7 {
		d.Drop(seq)
	}
	if n := len(d.Pack()); n > 7000 {
		t.Errorf("with a seventh deleted they take %d bytes", n)
	}
}

func TestDirectoryRefusesWhatItDidNotPack(t *testing.T) {
	d := &catalog.Directory{Kind: catalog.CourseKind}
	if err := d.Unpack([]byte("no deflate")); err == nil {
		t.Error("unpacked")
	}
}
