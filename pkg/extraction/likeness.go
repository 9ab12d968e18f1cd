package extraction

import (
	"cmp"
	"slices"
)

// unit is a piece of the document that is compared with skills: a clause, or what
// stands between two commas of one.
type unit struct {
	clause int32
	vector []int8
}

// meanings holds what the document's pieces mean, as vectors of the word table.
type meanings struct {
	units           []unit
	clauses         []int32 // index of a clause's own unit, -1 where its words are unknown
	document, title []int8
	running         float64 // likeness of the title to the running of a course
}

const (
	// mostUnits bounds the pieces of one document that are compared; ten pages have
	// about a thousand.
	mostUnits = 1500
	// nearUnits of a skill are compared in full, chosen by the first few dimensions,
	// which hold most of the variance.
	nearUnits     = 6
	fewDimensions = 64
)

// mean makes the vectors of the document's pieces.
func (x *extraction) mean() {
	w := x.table
	m := meanings{clauses: make([]int32, len(x.clauses))}
	document, heads := make([]float32, w.width), make([]float32, w.width)
	seen := map[string]int32{}
	for ci, c := range x.clauses {
		m.clauses[ci] = -1
		text := x.doc[c.start:c.end]
		b := x.blocks[c.block]
		if at, ok := seen[text]; ok {
			m.clauses[ci] = at
			continue
		}
		at := x.unit(&m, int32(ci), c.first, c.last)
		seen[text] = at
		m.clauses[ci] = at
		if at < 0 || b.section == readings {
			continue
		}
		for d, v := range m.units[at].vector {
			document[d] += float32(v)
			if b.heading {
				heads[d] += float32(v) * when32(b.section == title, 4, 1)
			}
		}
		for from := c.first; from < c.last; {
			to := from
			for to < c.last && x.tokens[to].comma == x.tokens[from].comma {
				to++
			}
			if to-from < c.last-c.first {
				x.unit(&m, int32(ci), from, to)
			}
			from = to
		}
	}
	m.document, m.title = steps(nil, document), steps(nil, heads)
	m.running = max(0, cosine(dot(m.title, w.running)))
	x.meanings = m
}

// unit adds the piece of the tokens first <= i < last and returns its index, or -1.
func (x *extraction) unit(m *meanings, clause int32, first, last int) int32 {
	if len(m.units) == mostUnits {
		return -1
	}
	sum := make([]float32, x.table.width)
	known := false
	for _, tok := range x.tokens[first:last] {
		if tok.word >= 0 {
			x.table.add(sum, tok.word, 1)
			known = true
		}
	}
	if !known {
		return -1
	}
	m.units = append(m.units, unit{clause, steps(nil, sum)})
	return int32(len(m.units) - 1)
}

// like is how near a skill's meaning is to that of the document and its pieces.
type like struct {
	labels, description float64 // of the nearest piece
	second              float64 // of the nearest piece of another clause
	own                 float64 // of the clause in which the skill stands
	document, title     float64
	described           float64 // of the description and the whole document
	background, running float64
}

// likeness compares a skill with every piece of the document.
func (x *extraction) likeness(skill int32, own int32) like {
	labels, description := x.table.skill(x.t.Skill(int(skill)))
	m := &x.meanings
	l := like{
		background: cosine(dot(labels, x.table.background)), running: cosine(dot(labels, x.table.running)),
		document: cosine(dot(labels, m.document)), title: cosine(dot(labels, m.title)),
		described: cosine(dot(description, m.document)),
	}
	type rough struct {
		unit int32
		dot  int32
	}
	few := min(fewDimensions, len(labels))
	var near [nearUnits]rough
	n := 0
	for i := range m.units {
		d := dot(labels[:few], m.units[i].vector[:few])
		if n == nearUnits && d <= near[n-1].dot {
			continue
		}
		at, _ := slices.BinarySearchFunc(near[:n], d, func(r rough, d int32) int { return cmp.Compare(d, r.dot) })
		if n < nearUnits {
			n++
		}
		copy(near[at+1:n], near[at:n-1])
		near[at] = rough{int32(i), d}
	}
	best, nearest := int32(-1<<30), int32(-1)
	for _, r := range near[:n] {
		u := &m.units[r.unit]
		if d := dot(labels, u.vector); d > best {
			best, nearest = d, r.unit
		}
		l.description = max(l.description, cosine(dot(description, u.vector)))
	}
	if nearest < 0 {
		return l
	}
	l.labels = cosine(best)
	for _, r := range near[:n] {
		if u := &m.units[r.unit]; u.clause != m.units[nearest].clause {
			l.second = max(l.second, cosine(dot(labels, u.vector)))
		}
	}
	if at := m.clauses[own]; at >= 0 {
		l.own = cosine(dot(labels, m.units[at].vector))
	}
	return l
}

func when32(b bool, yes, no float32) float32 {
	if b {
		return yes
	}
	return no
}
