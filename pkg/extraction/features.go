package extraction

import "math"

// sight is a skill as it appears in a document, the input of features.
type sight struct {
	x    *extraction
	f    *finding
	best *mention
}

// feature is one piece of evidence for or against a skill, a number between about 0 and 1
// (likeness may be slightly negative).
type feature struct {
	name, meaning string
	value         func(s *sight) float64
}

func is(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// when returns a value if a condition holds, otherwise 0.
func when(b bool, value float64) float64 {
	if b {
		return value
	}
	return 0
}

// few grows with a sum, up to 1 for 4 or more.
func few(sum float64) float64 { return math.Log1p(min(sum, 4)) / math.Log1p(4) }

// features determine confidence, in the order of Candidate.Features.
var features = []feature{
	{"exact name", "the skill's name stands there, words side by side",
		func(s *sight) float64 { return is(s.f.exact[preferred]) }},
	{"exact alias", "an alias or hidden label does",
		func(s *sight) float64 { return is(s.f.exact[alternative] || s.f.exact[hidden]) }},
	{"exact synonym", "another word for the skill does (lexicon)",
		func(s *sight) float64 { return is(s.f.exact[synonym]) }},
	{"exact topic", "a subject that leads to the skill does (lexicon)",
		func(s *sight) float64 { return is(s.f.exact[topic]) }},
	{"exact counterpart", "a label of a built-in skill that says it does (lexicon)",
		func(s *sight) float64 { return is(s.f.exact[counterpart]) }},
	{"exact part", "a label of a built-in skill that is part of it does (lexicon)",
		func(s *sight) float64 { return is(s.f.exact[part]) }},
	{"counterparts", "how many labels of built-in skills say it",
		func(s *sight) float64 { return when(!s.x.passage, math.Log1p(float64(s.x.spoken[s.f.skill]))/4) }},
	{"exact bare name", "the name without its bracket does", func(s *sight) float64 { return is(s.f.exact[bare]) }},
	{"exact object", "the name without its verb does", func(s *sight) float64 { return is(s.f.exact[object]) }},
	{"plainly named", "a name or alias that is no other skill's, with its endings, in a part that says what is taught",
		func(s *sight) float64 { return is(s.f.plain) }},
	{"coverage", "share of the label's weight that stands there", func(s *sight) float64 { return s.best.coverage }},
	{"coverage squared", "the same, squared", func(s *sight) float64 { return s.best.coverage * s.best.coverage }},
	{"weight", "how rare the words that matched are", func(s *sight) float64 { return min(s.best.weight, 3) / 3 }},
	{"one word", "only one word matched", func(s *sight) float64 { return is(s.best.matched == 1) }},
	{"three words", "at least three matched", func(s *sight) float64 { return is(s.best.matched >= 3) }},
	{"share", "strength beside the strongest candidate that uses one of the words",
		func(s *sight) float64 { return s.f.share }},
	{"beaten", "every mention is inside a stronger, longer one", func(s *sight) float64 { return is(s.f.beaten) }},
	{"sole winner", "strongest of its words", func(s *sight) float64 { return is(s.f.share == 1 && !s.f.beaten) }},
	{"as written", "the words have the endings of the label's", func(s *sight) float64 { return s.f.asWritten }},
	{"same meaning", "likeness of the words that matched and the label's",
		func(s *sight) float64 { return s.f.sameMeaning }},
	{"knowledge", "kind of skill", func(s *sight) float64 { return is(s.kind() == "knowledge") }},
	{"language", "kind of skill", func(s *sight) float64 { return is(s.kind() == "language") }},
	{"transversal", "kind of skill", func(s *sight) float64 { return is(s.kind() == "transversal") }},
	{"popularity", "how many occupations ask for it", func(s *sight) float64 { return s.x.popularity(int(s.f.skill)) }},
	{"in title", "stands in the title", func(s *sight) float64 { return is(s.f.in[title]) }},
	{"in outcomes", "stands in an outcome", func(s *sight) float64 { return is(s.f.in[outcomes]) }},
	{"in topics", "stands among the topics", func(s *sight) float64 { return is(s.f.in[topics]) }},
	{"in description", "stands in the description", func(s *sight) float64 { return is(s.f.in[description]) }},
	{"only in readings", "stands nowhere else", func(s *sight) float64 {
		return is(s.f.in[readings] && !s.f.in[title] && !s.f.in[outcomes] && !s.f.in[topics] &&
			!s.f.in[description] && !s.f.in[other])
	}},
	{"heading", "stands in a heading", func(s *sight) float64 { return is(s.f.heading) }},
	{"repetition", "in how many clauses",
		func(s *sight) float64 { return min(math.Log1p(float64(s.f.clauses-1)), 3) / 3 }},
	{"clause filled", "share of the clause's words that it uses", func(s *sight) float64 { return s.f.filled }},
	{"capitals", "written with the capitals of its label where others would not be",
		func(s *sight) float64 { return is(s.f.capitals) }},
	{"alias not name", "no label of the name stands there, only other words",
		func(s *sight) float64 { return is(!s.f.exact[preferred] && !s.f.exact[bare]) }},
	{"one word exact", "a label of a single word",
		func(s *sight) float64 { return is(s.best.exact && s.best.matched == 1) }},
	{"one topic only", "nothing but one subject leads to it", func(s *sight) float64 { return is(s.f.oneTopic()) }},
	{"named in outcomes", "the name or another word for it stands in an outcome",
		func(s *sight) float64 { return is(s.f.namedInOutcomes) }},
	{"named alone", "or makes up a whole clause, such as a heading or the subject before a colon",
		func(s *sight) float64 { return is(s.f.namedAlone) }},
	{"likeness", "of the nearest piece of the document and the skill's labels",
		func(s *sight) float64 { return s.f.like.labels }},
	{"likeness, description", "of the nearest piece and the skill's description",
		func(s *sight) float64 { return s.f.like.description }},
	{"likeness, second", "of the nearest piece elsewhere", func(s *sight) float64 { return s.f.like.second }},
	{"likeness, own clause", "of the clause in which its words stand", func(s *sight) float64 { return s.f.like.own }},
	{"likeness, document", "of the whole document", func(s *sight) float64 { return s.f.like.document }},
	{"likeness, title", "of title and headings", func(s *sight) float64 { return s.f.like.title }},
	{"background", "likeness to what any course says", func(s *sight) float64 { return s.f.like.background }},
	{"running", "likeness to the running of any course", func(s *sight) float64 { return s.f.like.running }},
	{"running, title", "the same where the title is not about teaching",
		func(s *sight) float64 { return s.f.like.running * (1 - s.x.meanings.running) }},
	{"document, description", "likeness of the whole document and the skill's description",
		func(s *sight) float64 { return s.f.like.described }},
	{"likeness rank", "share of the candidates that are no nearer to any piece",
		func(s *sight) float64 { return s.f.likeRank }},
	{"document rank", "place among the candidates by likeness to the document",
		func(s *sight) float64 { return s.f.documentRank }},
	{"like, inexact", "likeness of the document where no whole label stands there",
		func(s *sight) float64 { return when(!s.best.exact, s.f.like.document) }},
	{"like, one word", "likeness of the document where only one word matched",
		func(s *sight) float64 { return when(s.best.matched == 1, s.f.like.document) }},
	{"like, topic", "likeness of the document where only one subject leads to it",
		func(s *sight) float64 { return when(s.f.oneTopic(), s.f.like.document) }},
	{"support", "company of the candidates that stand out: occupations, fields, hierarchy",
		func(s *sight) float64 { return s.f.support }},
	{"support, inexact", "the same where no whole label stands there",
		func(s *sight) float64 { return when(!s.best.exact, s.f.support) }},
	{"long document", "words of the document", func(s *sight) float64 { return min(1, float64(s.x.count)/4000) }},
	{"broader", "how plainly a broader skill stands there", func(s *sight) float64 { return s.f.kin.above }},
	{"siblings", "how plainly other skills below the same broader one do",
		func(s *sight) float64 { return few(s.f.kin.beside) }},
	{"same top", "share of the document's skills that are below the same top of the hierarchy",
		func(s *sight) float64 { return s.f.kin.together }},
}

func (s *sight) kind() string { return s.x.t.Kind(int(s.f.skill)) }

// oneTopic reports whether nothing but one subject of the list leads to the skill.
func (f *finding) oneTopic() bool {
	return f.labels == 1 && (f.exact[topic] || f.exact[part]) && !f.exact[synonym] && !f.exact[counterpart] &&
		!f.exact[preferred] && !f.exact[alternative] && !f.exact[hidden] && !f.exact[bare] && !f.exact[object]
}

// FeatureNames returns the names of the features, in the order of Candidate.Features.
func FeatureNames() []string {
	names := make([]string, len(features))
	for i, f := range features {
		names[i] = f.name
	}
	return names
}

// featurePrecision is the precision to which features are rounded, so that results are the
// same on every machine.
const featurePrecision = 1e5

// values returns the features of one skill.
func (x *extraction) values(f *finding) []float64 {
	best := &x.mentions[f.best]
	s := &sight{x, f, best}
	v := make([]float64, len(features))
	for i, feature := range features {
		v[i] = math.Round(feature.value(s)*featurePrecision) / featurePrecision
	}
	return v
}

// unknownPopularity is the popularity of skills in a vocabulary without occupations, the
// average of ESCO.
const unknownPopularity = 0.35

// popularity grows with the number of occupations that ask for a skill.
func (e *Extractor) popularity(skill int) float64 {
	if !e.counted {
		return unknownPopularity
	}
	return math.Log1p(float64(e.t.Uses(skill))) / 8
}
