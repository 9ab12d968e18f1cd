package skills

import (
	"math"
	"math/rand/v2"
	"strings"
)

// The vectors place stems and skills in one space, so that a text can be
// compared with skills whose words it does not use: latent semantic analysis of
// the taxonomy's own labels, descriptions and fields.

// powerRounds of the subspace iteration suffice for directions that matter.
const powerRounds = 4

// sparse is a matrix by rows.
type sparse struct {
	start []int
	col   []int32
	val   []float64
	cols  int
}

// vectors gives dims signed bytes a stem, then dims a skill.
func (b *Builder) vectors(ids []string, stemOf map[string]int, weights []float32) []byte {
	m := b.matrix(ids, stemOf, weights)
	rows := len(m.start) - 1
	basis := make([]float64, rows*dims)
	random := rand.New(rand.NewPCG(2, 7))
	for i := range basis {
		basis[i] = random.NormFloat64()
	}
	columns := make([]float64, m.cols*dims)
	for range powerRounds {
		orthonormalize(basis, dims)
		m.transposed(basis, columns)
		orthonormalize(columns, dims)
		m.times(columns, basis)
	}
	out := make([]byte, 0, (len(weights)+rows)*dims)
	for i := range weights {
		out = quantized(out, columns[i*dims:(i+1)*dims])
	}
	for i := range rows {
		out = quantized(out, basis[i*dims:(i+1)*dims])
	}
	return out
}

// matrix has a row of unit length for every skill; its columns are stems, then fields.
func (b *Builder) matrix(ids []string, stemOf map[string]int, weights []float32) sparse {
	m := sparse{start: []int{0}}
	fields := map[string]int{}
	for _, id := range ids {
		e := b.skills[id]
		counts := map[int32]float64{}
		var seen []int32
		add := func(col int, w float64) {
			if counts[int32(col)] == 0 {
				seen = append(seen, int32(col))
			}
			counts[int32(col)] += w
		}
		text := func(s string, times float64) {
			for _, stem := range contentStems(s) {
				if i, ok := stemOf[stem]; ok {
					add(i, times*float64(weights[i]))
				}
			}
		}
		text(e.Name, 3)
		text(strings.Join(e.Aliases, " ; "), 0.5)
		text(e.Description, 1)
		if e.Field != "" {
			if _, ok := fields[e.Field]; !ok {
				fields[e.Field] = len(weights) + len(fields)
			}
			add(fields[e.Field], 1)
		}
		norm := 0.0
		for _, c := range seen {
			v := float64(math.Log1p(counts[c]))
			counts[c] = v
			norm += v * v
		}
		for _, c := range seen {
			m.col = append(m.col, c)
			m.val = append(m.val, counts[c]/math.Sqrt(norm))
		}
		m.start = append(m.start, len(m.col))
	}
	m.cols = len(weights) + len(fields)
	return m
}

// times sets out = m x in, for dense matrices with dims columns.
func (m sparse) times(in, out []float64) {
	clear(out)
	for r := range len(m.start) - 1 {
		to := out[r*dims : (r+1)*dims]
		for k := m.start[r]; k < m.start[r+1]; k++ {
			from, v := in[int(m.col[k])*dims:], m.val[k]
			for d := range to {
				to[d] += v * from[d]
			}
		}
	}
}

// transposed sets out = m' x in.
func (m sparse) transposed(in, out []float64) {
	clear(out)
	for r := range len(m.start) - 1 {
		from := in[r*dims : (r+1)*dims]
		for k := m.start[r]; k < m.start[r+1]; k++ {
			to, v := out[int(m.col[k])*dims:], m.val[k]
			for d := range from {
				to[d] += v * from[d]
			}
		}
	}
}

// orthonormalize makes the columns of a row-major matrix orthonormal
// (Gram-Schmidt); a column that depends on earlier ones becomes zero.
func orthonormalize(m []float64, width int) {
	rows := len(m) / width
	for c := range width {
		for p := range c {
			dot := 0.0
			for r := range rows {
				dot += m[r*width+c] * m[r*width+p]
			}
			for r := range rows {
				m[r*width+c] -= dot * m[r*width+p]
			}
		}
		norm := 0.0
		for r := range rows {
			norm += m[r*width+c] * m[r*width+c]
		}
		scale := 0.0
		if norm > 1e-18 {
			scale = 1 / math.Sqrt(norm)
		}
		for r := range rows {
			m[r*width+c] *= scale
		}
	}
}

// quantized appends a vector scaled to unit length in steps of 1/127.
func quantized(out []byte, v []float64) []byte {
	norm := 0.0
	for _, x := range v {
		norm += x * x
	}
	scale := 0.0
	if norm > 1e-18 {
		scale = 127 / math.Sqrt(norm)
	}
	for _, x := range v {
		out = append(out, byte(int8(math.Round(x*scale))))
	}
	return out
}
