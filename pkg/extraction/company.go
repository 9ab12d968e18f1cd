package extraction

import "math"

// accompany compares each skill's place in the space of occupations and hierarchy with those of the document's plain
// skills.
func (x *extraction) accompany(found []*finding) {
	plain := make([]float64, len(found))
	var company [dims]float64
	for i, f := range found {
		plain[i] = x.plainness(f)
		for d, b := range x.t.Company(int(f.skill)) {
			company[d] += float64(plain[i] * float64(int8(b)))
		}
	}
	for i, f := range found {
		dot, n, m := 0.0, 0.0, 0.0
		for d, b := range x.t.Company(int(f.skill)) {
			own := float64(int8(b))
			others := company[d] - float64(plain[i]*own)
			dot, n, m = dot+float64(own*others), n+float64(own*own), m+float64(others*others)
		}
		if n > 0 && m > 0 {
			f.support = dot / math.Sqrt(float64(n*m))
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
