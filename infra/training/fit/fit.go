// Package fit fits the extractor's confidence to labelled texts and evaluates it on texts that
// the evaluated model did not see. It never writes. Invariant: the same texts give the same
// model.
package fit

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"skillscurriculum/infra/training/gold"
	"skillscurriculum/pkg/extraction"
)

// How the models are fitted: the penalty on the weights of features brought to one
// scale, the penalty on the record of a skill and the least that is kept of it, the
// folds of cross-validation (documents: one field at a time) and how often texts are
// dealt into them again, the precision that the cut must reach, a little above what is
// asked for, the F1 that the cut for passages may cost, the wrong skills a course that
// may have a confidence of .80 or above, the candidates that a step of the calibration
// rests on at least, those that the curve beside it stands for, and what a labelled
// text of each set counts.
const (
	documentRidge     = 10
	passageRidge      = 5
	documentRecord    = 2
	passageRecord     = 1
	leastRecord       = 0.1
	passageFolds      = 10
	passageDeals      = 3
	documentPrecision = 0.69
	shortPrecision    = 0.70
	passageLoss       = 0.01
	mostBold          = 0.2
	documentStep      = 80
	passageStep       = 15
	starterRidge      = 120
	starterFolds      = 9
	starterDeals      = 5
	starterStep       = 60
	starterPrecision  = 0.79
	unjudgedWeight    = 0.5
	listed            = 0.15 // confidence of candidates that readers were shown
	curveCandidates   = 60
	mustWeight        = 2 // what is insisted on counts so much more than what is arguable

	CourseWeight    = 1    // courses that two labelers read
	OlderWeight     = 0.5  // those that the lexicon was written with, seen without it: only help to fit
	ExcerptWeight   = 0.1  // pieces of courses: only help to fit
	SentenceWeight  = 1    // of SkillSpan
	SyntheticWeight = 0.05 // of SkillSkape: only helps to fit
)

// Row is a candidate with its label.
type Row struct {
	Item     *gold.Item
	Features []float64 // nil for the one row of a text without candidates
	ID       string
	Right    bool // must or ok
	Must     bool
	Bounds   extraction.Bounds
	Weight   float64 // what it counts in fitting; below 1 it only helps to fit
	Score    float64 // from a model that did not see its text
}

// Found returns the labelled row of a skill found in a text.
func Found(item *gold.Item, id string) Row {
	_, must := item.Must[id]
	return Row{Item: item, ID: id, Features: []float64{}, Right: item.Wanted(id), Must: must}
}

// Taken returns the rows above a model's cut, with their confidence as score, and a row
// without features for each text.
func Taken(rows []Row, m *extraction.Model, cut float64) []Row {
	var out []Row
	seen := map[*gold.Item]bool{}
	for _, r := range rows {
		if !seen[r.Item] {
			seen[r.Item] = true
			out = append(out, Row{Item: r.Item})
		}
		if c := m.Confidence(r.Score, r.Bounds); r.Features != nil && c >= cut {
			r.Score = c
			out = append(out, r)
		}
	}
	return out
}

// Rows returns rows for the candidates of labelled texts.
func Rows(e *extraction.Extractor, items []gold.Item, weight float64) []Row {
	var rows []Row
	for i := range items {
		item := &items[i]
		n := len(rows)
		for _, c := range e.Candidates(item.Doc) {
			r := Found(item, c.SkillID)
			r.Features, r.Bounds, r.Weight = c.Features, c.Bounds, weight
			rows = append(rows, r)
		}
		if len(rows) == n {
			rows = append(rows, Row{Item: item, Weight: weight})
		}
	}
	return rows
}

// Model fits a model to the rows, calibrates it and sets the cross-validated scores
// of the rows that are judged: in as many folds as given, dealt so many times, of
// which the mean of the log-odds counts; or one group at a time for folds 0. The penalty
// draws the weights to those of from.
func Model(rows []Row, from extraction.Model, ridge, recorded float64, folds, deals, step int) extraction.Model {
	odds := make([]float64, len(rows))
	for deal := range deals {
		foldOf, n := folder(rows, folds, deal)
		for f := range n {
			var train []Row
			for _, r := range rows {
				if foldOf(r) != f {
					train = append(train, r)
				}
			}
			m := learned(train, from, ridge, recorded)
			for i, r := range rows {
				if foldOf(r) == f && r.Features != nil {
					odds[i] += logOdds(m.Score(r.ID, r.Features)) / float64(deals)
				}
			}
		}
	}
	for i := range rows {
		if rows[i].Features != nil {
			rows[i].Score = chance(odds[i])
		}
	}
	m := learned(rows, from, ridge, recorded)
	m.Steps = calibrated(Judged(rows), step)
	return m
}

func logOdds(p float64) float64 {
	p = min(max(p, 1e-6), 1-1e-6)
	return math.Log(p / (1 - p))
}

func chance(odds float64) float64 { return 1 / (1 + math.Exp(-odds)) }

// excerptWords is the length of the short texts that help to fit the model for courses.
const excerptWords = 60

// Extractors of one taxonomy: with the lexicon, and without for texts that it was
// written with.
type Extractors struct{ Taught, Untaught *extraction.Extractor }

// DocumentRows returns the rows that the model for documents is fitted to. No sealed
// course is among them.
func (e Extractors) DocumentRows(set *gold.Data) []Row {
	return slices.Concat(Rows(e.Taught, set.Courses, CourseWeight),
		Rows(e.Untaught, slices.Concat(set.Syllabi, set.Own), OlderWeight),
		Rows(e.Taught, gold.Excerpts(set.Courses, excerptWords), ExcerptWeight))
}

// PassageRows returns the rows that the model for passages is fitted to.
func (e Extractors) PassageRows(set *gold.Data) []Row {
	return slices.Concat(Rows(e.Untaught, slices.Concat(set.Tech, set.House), SentenceWeight),
		Rows(e.Taught, set.Synthetic, SyntheticWeight))
}

// Documents fits the model for documents and chooses its cut: the one with the
// highest recall at the precision that is asked for, all fields unseen; the cut for
// short texts likewise on excerpts.
func Documents(rows []Row) extraction.Model {
	m := Model(rows, extraction.Model{}, documentRidge, documentRecord, 0, 1, documentStep)
	courses, excerpts := Of(rows, gold.CourseSet), Of(rows, gold.ExcerptSet)
	plain := plainly(slices.Concat(courses, excerpts), &m)
	m.Plain = 1 // what is plainly named is given at any cut
	m.Cut = cutAt(courses, &m, documentPrecision)
	m.ShortCut = cutAt(excerpts, &m, shortPrecision)
	m.Plain = max(plain, m.Cut, m.ShortCut)
	m.Bold = boldFrom(courses, &m)
	return m
}

// cutAt returns the lowest cut at which the cross-validated rows reach a precision.
func cutAt(rows []Row, m *extraction.Model, precision float64) float64 {
	cut := 1.0
	thresholds, all := Curve(rows, func(r Row) float64 { return m.Confidence(r.Score, r.Bounds) })
	for i, f := range all {
		if f.Precision >= precision {
			cut = math.Floor(thresholds[i]*1e4) / 1e4
		}
	}
	return cut
}

// Passages fits the model for passages and chooses its cut: the highest at which F1
// of the sentences that are not synthetic, all unseen, is next to its best. Where
// more skills gain nothing, fewer and surer ones are given.
func Passages(rows []Row) extraction.Model {
	m := Model(rows, extraction.Model{}, passageRidge, passageRecord, passageFolds, passageDeals, passageStep)
	m.Plain = plainly(Judged(rows), &m)
	thresholds, all := Curve(Judged(rows), func(r Row) float64 { return m.Confidence(r.Score, r.Bounds) })
	best := slices.MaxFunc(all, func(a, b Figures) int { return cmp.Compare(a.F1, b.F1) }).F1
	m.Cut = thresholds[slices.IndexFunc(all, func(f Figures) bool { return f.F1 >= best-passageLoss })]
	m.Plain = max(m.Plain, m.Cut)
	return m
}

// Readings returns rows for the candidates of courses that readers judged, once for each reader, so that a model fitted
// to them strikes the mean of the readers, with the scores of the model from which candidates were chosen. One below
// its listed confidence that nobody judged counts as wrong, in part; others that a reader did not judge do not count.
func Readings(e *extraction.Extractor, readings []gold.Reading, from extraction.Model) []Row {
	type candidate struct{ course, skill string }
	judges := map[candidate]int{}
	for _, r := range readings {
		for id := range r.Judged {
			judges[candidate{r.Name, id}]++
		}
	}
	var rows []Row
	for i := range readings {
		for _, r := range Rows(e, []gold.Item{readings[i].Item}, 1) {
			_, judged := readings[i].Judged[r.ID]
			if r.Features != nil {
				r.Score = from.Score(r.ID, r.Features)
			}
			switch {
			case judged:
			case judges[candidate{r.Item.Name, r.ID}] > 0 || from.Confidence(r.Score, r.Bounds) >= listed:
				r.Weight = 0
			default:
				r.Weight = unjudgedWeight
			}
			r.Item = &readings[i].Item
			rows = append(rows, r)
		}
	}
	return rows
}

// Starter fits the model for documents and the built-in vocabulary, from that for other vocabularies, and chooses the
// lowest cut that reaches the precision asked for.
func Starter(rows []Row, from extraction.Model) extraction.Model {
	m := Model(rows, from, starterRidge, math.Inf(1), starterFolds, starterDeals, starterStep)
	plain := plainly(Judged(rows), &m)
	m.Plain = 1
	m.Cut = cutAt(Judged(rows), &m, starterPrecision)
	m.Plain = max(plain, m.Cut)
	return m
}

// plainly returns the frequency with which plainly named skills were right whose confidence
// would otherwise be lower than that.
func plainly(rows []Row, m *extraction.Model) float64 {
	frequency := 1.0
	for {
		var right, n float64
		for _, r := range rows {
			if r.Bounds.Plain && m.Confidence(r.Score, extraction.Bounds{}) < frequency {
				n++
				if r.Right {
					right++
				}
			}
		}
		if n == 0 && frequency == 1 {
			return 0
		}
		if n == 0 || round(right/n) >= frequency {
			return frequency
		}
		frequency = round(right / n)
	}
}

// boldFrom returns the lowest confidence, at least .80, from which cross-validated courses
// have at most mostBold wrong skills each.
func boldFrom(rows []Row, m *extraction.Model) float64 {
	texts := float64(len(Texts(rows)))
	for hundredths := 100 * extraction.BoldConfidence; hundredths < 100; hundredths++ {
		bold, wrong := hundredths/100, 0.0
		for _, r := range rows {
			if r.Features != nil && !r.Right && m.Confidence(r.Score, r.Bounds) >= bold {
				wrong++
			}
		}
		if wrong <= mostBold*texts {
			return bold
		}
	}
	return 1
}

// Of returns the rows of one set.
func Of(rows []Row, set string) []Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Item.Set != set })
}

// Judged leaves out the rows that only help to fit.
func Judged(rows []Row) []Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Weight < 1 })
}

// unjudged is the fold of rows that only help to fit and share no group with any that
// are judged.
const unjudged = -1

// folder deals texts into folds, each deal another, and returns how many there are.
func folder(rows []Row, folds, deal int) (foldOf func(Row) int, n int) {
	if folds > 0 {
		return func(r Row) int {
			h := fnv.New32a()
			fmt.Fprint(h, deal, r.Item.Group)
			return int(h.Sum32() % uint32(folds))
		}, folds
	}
	groups := map[string]int{}
	for _, r := range rows {
		if _, ok := groups[r.Item.Group]; !ok && r.Weight >= 1 {
			groups[r.Item.Group] = len(groups)
		}
	}
	return func(r Row) int {
		if f, ok := groups[r.Item.Group]; ok {
			return f
		}
		return unjudged
	}, len(groups)
}

// learned fits the weights of features, then the record of single skills.
func learned(rows []Row, from extraction.Model, ridge, recorded float64) extraction.Model {
	m := logistic(rows, from, ridge)
	m.Record = record(rows, &m, recorded)
	return m
}

// record returns what to add to the log-odds of single skills that were right more or
// less often than the model says: one step of Newton's method from zero, under a
// penalty that draws skills with few candidates back to it.
func record(rows []Row, m *extraction.Model, penalty float64) map[string]float64 {
	type sum struct{ gradient, curvature float64 }
	sums := map[string]sum{}
	for _, r := range rows {
		if r.Features == nil {
			continue
		}
		s, p, y := sums[r.ID], m.Score(r.ID, r.Features), 0.0
		if r.Right {
			y = 1
		}
		s.gradient += r.Weight * (y - p)
		s.curvature += r.Weight * p * (1 - p)
		sums[r.ID] = s
	}
	out := map[string]float64{}
	for id, s := range sums {
		if v := math.Round(100*s.gradient/(s.curvature+penalty)) / 100; math.Abs(v) >= leastRecord {
			out[id] = v
		}
	}
	return out
}

// logistic minimizes the weighted log loss plus a ridge penalty by Newton's method. The
// penalty applies to what is added to the weights of from, of features scaled to equal variance.
func logistic(rows []Row, from extraction.Model, ridge float64) extraction.Model {
	n := len(extraction.FeatureNames()) + 1
	penalty := spreads(rows, n)
	for i := range penalty {
		penalty[i] *= ridge
	}
	penalty[0] = 1e-3
	start, x := make([]float64, n), make([]float64, n)
	start[0] = from.Bias
	copy(start[1:], from.Weights)
	beta := slices.Clone(start)
	for range 30 {
		hessian, step := make([][]float64, n), make([]float64, n)
		for i := range n {
			hessian[i] = make([]float64, n)
			hessian[i][i] = penalty[i]
			step[i] = -penalty[i] * (beta[i] - start[i])
		}
		for _, r := range rows {
			if r.Features == nil {
				continue
			}
			x[0] = 1
			copy(x[1:], r.Features)
			z, y, w := 0.0, 0.0, r.Weight
			for i, v := range x {
				z += v * beta[i]
			}
			if r.Right {
				y = 1
			}
			if r.Must {
				w *= mustWeight
			}
			p := chance(z)
			g, h := w*(y-p), w*p*(1-p)
			for i, v := range x {
				if v == 0 {
					continue
				}
				step[i] += g * v
				hv := h * v
				row := hessian[i]
				for j, u := range x[:i+1] {
					row[j] += hv * u
				}
			}
		}
		cholesky(hessian, step)
		size := 0.0
		for i := range beta {
			beta[i] += step[i]
			size += step[i] * step[i]
		}
		if size < 1e-9 {
			break
		}
	}
	m := extraction.Model{Bias: round(beta[0])}
	for _, b := range beta[1:] {
		m.Weights = append(m.Weights, round(b))
	}
	return m
}

// spreads returns the variance of each feature, the bias first.
func spreads(rows []Row, n int) []float64 {
	sum, squares, total := make([]float64, n), make([]float64, n), 0.0
	for _, r := range rows {
		if r.Features == nil {
			continue
		}
		total += r.Weight
		for i, v := range r.Features {
			sum[i+1] += r.Weight * v
			squares[i+1] += r.Weight * v * v
		}
	}
	for i := range sum {
		mean := sum[i] / max(total, 1)
		sum[i] = max(squares[i]/max(total, 1)-mean*mean, 1e-4)
	}
	return sum
}

// cholesky replaces b by the solution of a x = b; a is positive definite, its
// lower half is read and overwritten.
func cholesky(a [][]float64, b []float64) {
	for i := range a {
		for j := range i + 1 {
			sum := a[i][j]
			for k := range j {
				sum -= a[i][k] * a[j][k]
			}
			if i == j {
				a[i][i] = math.Sqrt(sum)
			} else {
				a[i][j] = sum / a[j][j]
			}
		}
	}
	for i := range b {
		for k := range i {
			b[i] -= a[i][k] * b[k]
		}
		b[i] /= a[i][i]
	}
	for i := len(b) - 1; i >= 0; i-- {
		for k := i + 1; k < len(b); k++ {
			b[i] -= a[k][i] * b[k]
		}
		b[i] /= a[i][i]
	}
}

func round(v float64) float64 { return math.Round(v*1e5) / 1e5 }

// calibrated returns the steps that bring cross-validated scores to frequencies:
// isotonic steps, each drawn to a logistic curve over all of the scores as if the
// curve were so many further candidates (curveCandidates). Two parameters follow no
// run of luck, and wide steps what the curve cannot.
func calibrated(rows []Row, smallestStep int) [][2]float64 {
	sorted := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Features == nil })
	slices.SortStableFunc(sorted, func(a, b Row) int { return cmp.Compare(a.Score, b.Score) })
	bias, slope := curve(sorted)
	var steps [][2]float64
	last := 0.0
	for _, p := range isotonic(sorted, smallestStep) {
		for _, score := range []float64{p.least, p.most} {
			last = max(last, (p.right+curveCandidates*chance(bias+slope*logOdds(score)))/(p.n+curveCandidates))
			if n := len(steps); n == 0 || round(score) > steps[n-1][0] {
				steps = append(steps, [2]float64{round(score), round(last)})
			}
		}
	}
	return steps
}

// curve fits the log-odds of being right to those of the score by Newton's method.
func curve(rows []Row) (bias, slope float64) {
	for range 30 {
		var g, gx, h, hx, hxx float64
		for _, r := range rows {
			x, y := logOdds(r.Score), 0.0
			if r.Right {
				y = 1
			}
			p := chance(bias + slope*x)
			d, w := r.Weight*(y-p), r.Weight*p*(1-p)
			g, gx = g+d, gx+d*x
			h, hx, hxx = h+w, hx+w*x, hxx+w*x*x
		}
		det := h*hxx - hx*hx
		bias += (hxx*g - hx*gx) / det
		slope += (h*gx - hx*g) / det
	}
	return bias, slope
}

// pool is a run of candidates, ordered by score, of which the same share is right.
type pool struct{ least, most, right, n float64 }

// isotonic pools adjacent violators among rows ordered by score, each pool of at
// least so many candidates.
func isotonic(sorted []Row, smallestStep int) []pool {
	var pools []pool
	for from := 0; from < len(sorted); {
		to := from + smallestStep
		if to+smallestStep > len(sorted) {
			to = len(sorted)
		}
		p := pool{least: sorted[from].Score, most: sorted[to-1].Score}
		for _, r := range sorted[from:to] {
			p.n += r.Weight
			if r.Right {
				p.right += r.Weight
			}
		}
		from = to
		pools = append(pools, p)
		for len(pools) > 1 {
			a, b := pools[len(pools)-2], pools[len(pools)-1]
			if a.right/a.n < b.right/b.n {
				break
			}
			pools = append(pools[:len(pools)-2], pool{a.least, b.most, a.right + b.right, a.n + b.n})
		}
	}
	return pools
}

// Figures is how a choice of candidates does: precision against all that is right,
// recall against what is insisted on.
type Figures struct {
	Precision, Recall, F1 float64
	Given                 float64 // skills a text
}

// count adds up what is given and what is wanted.
type count struct{ texts, wanted, given, right, must float64 }

func (c *count) text(item *gold.Item) {
	c.texts++
	c.wanted += float64(len(item.Must))
}

func (c *count) skill(r Row) {
	if r.Features == nil {
		return
	}
	c.given++
	if r.Right {
		c.right++
	}
	if r.Must {
		c.must++
	}
}

func (c *count) figures() Figures {
	f := Figures{Given: c.given / c.texts}
	if c.given > 0 {
		f.Precision = c.right / c.given
	}
	if c.wanted > 0 {
		f.Recall = c.must / c.wanted
	}
	if f.Precision+f.Recall > 0 {
		f.F1 = 2 * f.Precision * f.Recall / (f.Precision + f.Recall)
	}
	return f
}

// Judge compares the rows, all of which are given, with the labels of their texts.
func Judge(rows []Row) Figures {
	var c count
	for _, item := range Texts(rows) {
		c.text(item)
	}
	for _, r := range rows {
		c.skill(r)
	}
	return c.figures()
}

// Curve returns the figures at every threshold of a score, highest threshold first.
func Curve(rows []Row, score func(Row) float64) (thresholds []float64, all []Figures) {
	var c count
	for _, item := range Texts(rows) {
		c.text(item)
	}
	sorted := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Features == nil })
	slices.SortStableFunc(sorted, func(a, b Row) int { return cmp.Compare(score(b), score(a)) })
	for i, r := range sorted {
		c.skill(r)
		if i+1 == len(sorted) || score(sorted[i+1]) != score(r) {
			thresholds = append(thresholds, score(r))
			all = append(all, c.figures())
		}
	}
	return thresholds, all
}

// Reliability is how far confidence is from the frequency of being right, on average
// over ten bins, and what confidences that were exactly right would show by the luck of
// so few skills.
type Reliability struct{ Expected, Chance float64 }

// ReliabilityOf judges rows whose score is a confidence.
func ReliabilityOf(rows []Row) Reliability {
	var bins [10]struct{ n, confidence, right float64 }
	var r Reliability
	total := 0.0
	for _, row := range rows {
		if row.Features == nil {
			continue
		}
		total++
		b := &bins[min(9, int(row.Score*10))]
		b.n++
		b.confidence += row.Score
		if row.Right {
			b.right++
		}
	}
	for _, b := range bins {
		r.Expected += math.Abs(b.confidence-b.right) / max(1, total)
		// The mean distance of a binomial count from its mean.
		r.Chance += math.Sqrt(2/math.Pi*b.confidence*(1-b.confidence/max(1, b.n))) / max(1, total)
	}
	return r
}

// Texts returns the texts that rows come from.
func Texts(rows []Row) []*gold.Item {
	var texts []*gold.Item
	seen := map[*gold.Item]bool{}
	for _, r := range rows {
		if !seen[r.Item] {
			seen[r.Item] = true
			texts = append(texts, r.Item)
		}
	}
	return texts
}

// draws of texts that an interval rests on.
const draws = 1000

// Interval is the range, as " [low, high]", in which F1 of the rows falls in 95 of
// 100 draws of as many texts with replacement; empty for fewer than two texts.
func Interval(rows []Row) string {
	texts, of := Texts(rows), map[*gold.Item][]Row{}
	if len(texts) < 2 {
		return ""
	}
	for _, r := range rows {
		of[r.Item] = append(of[r.Item], r)
	}
	random := rand.New(rand.NewPCG(11, 3))
	var all []float64
	for range draws {
		var c count
		for range texts {
			item := texts[random.IntN(len(texts))]
			c.text(item)
			for _, r := range of[item] {
				c.skill(r)
			}
		}
		all = append(all, c.figures().F1)
	}
	slices.Sort(all)
	return fmt.Sprintf(" [%.3f, %.3f]", all[draws/40], all[draws-1-draws/40])
}
