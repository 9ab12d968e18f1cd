package extraction

import "math"

// accompany compares each skill with the company that the document's plain skills
// keep: their fields, their places in the space of occupations and hierarchy, and
// their parents, children and neighbours.
func (x *extraction) accompany(found []*finding) {
	plain := make([]float64, len(found))
	at := make(map[int32]int, len(found))
	fields := map[int]float64{}
	total := 0.0
	var company [dims]float64
	for i, f := range found {
		at[f.skill] = i
		plain[i] = x.plainness(f)
		fields[x.t.Field(int(f.skill))] += plain[i]
		total += plain[i]
		for d, b := range x.t.Company(int(f.skill)) {
			company[d] += float64(plain[i] * float64(int8(b)))
		}
	}
	if total == 0 {
		return
	}
	for i, f := range found {
		f.field = (fields[x.t.Field(int(f.skill))] - plain[i]) / total
		dot, n, m := 0.0, 0.0, 0.0
		for d, b := range x.t.Company(int(f.skill)) {
			own := float64(int8(b))
			others := company[d] - float64(plain[i]*own)
			dot, n, m = dot+float64(own*others), n+float64(own*own), m+float64(others*others)
		}
		if n > 0 && m > 0 {
			f.support = dot / math.Sqrt(float64(n*m))
		}
		near := x.t.Related(int(f.skill))
		for k := range near.Len() {
			if j, ok := at[int32(near.At(k))]; ok {
				f.kin = max(f.kin, plain[j])
			}
		}
	}
}

// plainness is how plainly a skill is in the document before anything else of
// the document is looked at: how strong its best mention is, and how near in meaning
// the clause and the document are.
func (x *extraction) plainness(f *finding) float64 {
	best := &x.mentions[f.best]
	p := min(best.strength, 1.5) * f.share * f.share * max(0, f.like.own) * max(0, f.like.document)
	if f.beaten {
		p /= 4
	}
	return p * p
}
