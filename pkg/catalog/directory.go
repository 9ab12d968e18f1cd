package catalog

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
)

// block is how many sequence numbers one count of the directory covers: small
// enough that a page reads at most 15 rows too many at each end.
const block = 16

// Directory is the order statistics of one list: which sequence numbers were
// given and, for each block of 16, how many of them are still live. It turns an
// offset into a place in the key range without reading the rows before it.
//
// Invariant: Live is the sum of all blocks' counts, and a block's count only
// falls once its numbers are given.
type Directory struct {
	Kind    Kind
	Next    int // the number that the next record gets
	Live    int
	Version int    // grows with each change; 0 means never saved
	counts  []byte // live records of each block
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

// Drop takes a live number out.
func (d *Directory) Drop(seq int) {
	d.counts[seq/block]--
	d.Live--
}

// Span is a piece of the key range: the numbers from From up to but without To.
// It holds exactly Live rows, of which the first Skip are not wanted.
type Span struct{ From, To, Skip, Live int }

// Page returns the span in which the records at [offset, offset+limit) lie. It
// begins and ends where a block does, so that the rows that come back can be
// counted against Live.
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

// Pack returns the counts in a form that is short as long as few records were
// deleted: tens of bytes for a hundred thousand.
func (d *Directory) Pack() []byte {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err == nil {
		_, err = w.Write(d.counts)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // a bytes.Buffer takes everything
	}
	return packed.Bytes()
}

// Unpack reads what Pack gave.
func (d *Directory) Unpack(packed []byte) error {
	counts, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		return fmt.Errorf("directory of %s: %w", d.Kind, err)
	}
	d.counts = counts
	return nil
}
