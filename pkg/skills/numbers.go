package skills

import (
	"encoding/binary"
	"math"
)

// Numbers is a sequence of little-endian 32-bit numbers.
type Numbers []byte

// Len returns how many numbers there are.
func (n Numbers) Len() int { return len(n) / 4 }

// At returns the number at i.
func (n Numbers) At(i int) int { return int(binary.LittleEndian.Uint32(n[4*i:])) }

func (n Numbers) float(i int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(n[4*i:])))
}

// table is Numbers in rows of equal width.
type table struct {
	Numbers
	stride int
}

func (t table) rows() int            { return t.Len() / t.stride }
func (t table) get(row, col int) int { return t.At(row*t.stride + col) }

// list maps an index to a run of values.
type list struct{ starts, values Numbers }

func (l list) At(i int) Numbers {
	return l.values[4*l.starts.At(i) : 4*l.starts.At(i+1)]
}

// ascending reports whether the numbers never decrease and none exceeds limit.
func (n Numbers) ascending(limit int) bool {
	last := 0
	for i := range n.Len() {
		if n.At(i) < last {
			return false
		}
		last = n.At(i)
	}
	return last <= limit
}

// below reports whether all numbers are below limit.
func (n Numbers) below(limit int) bool {
	for i := range n.Len() {
		if n.At(i) >= limit {
			return false
		}
	}
	return true
}

// closed reports whether a table has complete rows including a closing one, and the starts in
// the columns never decrease.
func (t table) closed(starts ...int) bool {
	if t.Len()%t.stride != 0 || t.rows() == 0 {
		return false
	}
	for _, col := range starts {
		for r := 1; r < t.rows(); r++ {
			if t.get(r, col) < t.get(r-1, col) {
				return false
			}
		}
	}
	return true
}

// refers reports whether all rows but the closing one are below limit in the columns.
func (t table) refers(limit int, columns ...int) bool {
	for r := range t.rows() - 1 {
		for _, col := range columns {
			if t.get(r, col) >= limit {
				return false
			}
		}
	}
	return true
}

// maps reports whether a list has a run for each of the keys, with values below limit.
func (l list) maps(keys, limit int) bool {
	return l.starts.Len() == keys+1 && l.starts.ascending(l.values.Len()) && l.values.below(limit)
}
