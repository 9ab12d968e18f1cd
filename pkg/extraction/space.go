package extraction

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"skillscurriculum/pkg/skills"
)

// The space places skills by the company they keep, so that those which one
// occupation asks for, or which stand near each other in the hierarchy, point the
// same way: the leading directions of the matrix of skills and the occupations,
// fields, parents and neighbours that they belong to.

// powerRounds of the subspace iteration suffice for directions that matter.
const powerRounds = 4

// What a column counts in a skill's row.
const (
	fieldShare   = 1
	broaderShare = 1.5
	relatedShare = 1
)

const dims = skills.CompanyWidth

// sparse is a matrix by rows.
type sparse struct {
	start []int
	col   []int32
	val   []float64
	cols  int
}

// space returns dims signed bytes for each skill.
func space(c skills.Contents) []byte {
	m := company(c)
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
	out := make([]byte, 0, rows*dims)
	for i := range rows {
		out = quantized(out, basis[i*dims:(i+1)*dims])
	}
	return out
}

// company has a row of unit length for every skill. Its columns are occupations,
// fields, and skills as parents and neighbours; those of many skills count less.
func company(c skills.Contents) sparse {
	index := make(map[string]int, len(c.Skills))
	rows := make([]map[int32]float64, len(c.Skills))
	for i, s := range c.Skills {
		index[s.ID] = i
		rows[i] = map[int32]float64{}
	}
	columns := len(rows) // the first are skills
	share := func(row, col int, w float64) {
		rows[row][int32(col)] = max(rows[row][int32(col)], w)
	}
	for i, s := range c.Skills {
		for _, up := range s.Broader {
			if p, ok := index[up]; ok {
				share(i, p, broaderShare)
				share(p, p, broaderShare)
			}
		}
		for _, near := range s.Related {
			if p, ok := index[near]; ok {
				share(i, p, relatedShare)
				share(p, p, relatedShare)
				share(p, i, relatedShare)
				share(i, i, relatedShare)
			}
		}
	}
	fields := map[string]int{}
	for i, s := range c.Skills {
		if s.Field != "" {
			if _, ok := fields[s.Field]; !ok {
				fields[s.Field] = columns
				columns++
			}
			share(i, fields[s.Field], fieldShare)
		}
	}
	for _, group := range c.Groups {
		for _, member := range group {
			if i, ok := index[member.ID]; ok {
				share(i, columns, member.Share)
			}
		}
		columns++
	}
	often := make([]float64, columns)
	for _, row := range rows {
		for c := range row {
			often[c]++
		}
	}
	m := sparse{start: []int{0}, cols: columns}
	for _, row := range rows {
		norm := 0.0
		cols := slices.Sorted(maps.Keys(row))
		for _, c := range cols {
			row[c] *= math.Log(1 + float64(len(rows))/often[c])
			norm += row[c] * row[c]
		}
		for _, c := range cols {
			m.col = append(m.col, c)
			m.val = append(m.val, row[c]/math.Sqrt(norm))
		}
		m.start = append(m.start, len(m.col))
	}
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
