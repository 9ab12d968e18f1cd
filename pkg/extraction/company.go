package extraction

import (
	"math"
	"slices"
)

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

// kin is how plainly a skill's relatives in the hierarchy are in the document.
type kin struct {
	above    float64 // the plainest broader skill
	beside   float64 // all others below the same broader ones
	together float64 // share of the document's skills that is below the same top
}

// relate compares each skill with its relatives among those of the document.
func (x *extraction) relate(found []*finding) {
	plain, below, direct := map[int32]float64{}, map[int32]float64{}, map[int32]float64{}
	above := make([][]int32, len(found))
	tops := make([]int32, len(found))
	all := 0.0
	for i, f := range found {
		p := min(1, math.Sqrt(x.plainness(f)))
		plain[f.skill] = p
		all += p
		above[i], tops[i] = x.ancestors(f.skill)
		for _, a := range above[i] {
			below[a] += p
		}
		for b := range x.t.Broader(int(f.skill)) {
			direct[int32(b)] += p
		}
	}
	for i, f := range found {
		p := plain[f.skill]
		for _, a := range above[i] {
			f.kin.above = max(f.kin.above, plain[a])
		}
		for b := range x.t.Broader(int(f.skill)) {
			f.kin.beside = max(f.kin.beside, direct[int32(b)]-p)
		}
		if all > p {
			f.kin.together = (below[tops[i]] + plain[tops[i]] - p) / (all - p)
		}
	}
}

// ancestors returns the skills above a skill, each once, and the last of them, or the skill itself if there are none.
func (x *extraction) ancestors(skill int32) (all []int32, top int32) {
	at := []int32{skill}
	for i := 0; i < len(at); i++ {
		for b := range x.t.Broader(int(at[i])) {
			if !slices.Contains(at, int32(b)) {
				at = append(at, int32(b))
			}
		}
	}
	return at[1:], at[len(at)-1]
}
