package catalog

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"slices"
)

// block is the number of sequence numbers that share a count: small enough that a page reads
// at most 15 unneeded rows at each end.
const block = 16

// Directory is the order statistics of one list: the next sequence number and, for each block of 16 numbers, the count
// of live records. It maps an offset to a key range without reading the rows before it.
//
// Invariant: Live is the sum of all counts, and a block's count only decreases once all its numbers are taken.
type Directory struct {
	OrganizationID OrgID
	Kind           Kind
	Next           int // number of the next record
	Live           int
	Version        int    // grows with each change; 0 means never saved
	counts         []byte // live records of each block
}

// Take returns the next sequence number to a new record.
func (d *Directory) Take() int {
	seq := d.Next
	if seq%block == 0 {
		d.counts = append(d.counts, 0)
	}
	d.counts[seq/block]++
	d.Next++
	d.Live++
	return seq
}

// Clone returns a copy; nil of nil.
func (d *Directory) Clone() *Directory {
	if d == nil {
		return nil
	}
	clone := *d
	clone.counts = slices.Clone(d.counts)
	return &clone
}

// Drop removes a live number.
func (d *Directory) Drop(seq int) {
	d.counts[seq/block]--
	d.Live--
}

// Span is the range of numbers [From, To). It has exactly Live rows; the first Skip precede the page.
type Span struct{ From, To, Skip, Live int }

// Page returns the span of the records at [offset, offset+limit). It begins and ends at block
// boundaries, so that the number of rows can be compared with Live.
func (d *Directory) Page(offset, limit int) Span {
	if offset >= d.Live || limit <= 0 {
		return Span{}
	}
	first, before := 0, 0
	for before+int(d.counts[first]) <= offset {
		before += int(d.counts[first])
		first++
	}
	skip := offset - before
	last, live := first, 0
	for last < len(d.counts) && live < skip+limit {
		live += int(d.counts[last])
		last++
	}
	return Span{From: first * block, To: min(last*block, d.Next), Skip: skip, Live: live}
}

// Pack compresses the counts: to tens of bytes for a hundred thousand records, as long as few were deleted.
func (d *Directory) Pack() []byte {
	// Writing to a bytes.Buffer does not fail.
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestCompression)
	_, _ = w.Write(d.counts)
	_ = w.Close()
	return packed.Bytes()
}

// Unpack is the inverse of Pack.
func (d *Directory) Unpack(packed []byte) error {
	counts, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		return fmt.Errorf("directory of %s: %w", d.Kind, err)
	}
	d.counts = counts
	return nil
}
