package extraction

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"skillscurriculum/pkg/skills"
)

// Words is a table of word vectors: texts of similar meaning have similar sums of vectors. It
// was distilled from a sentence model (see infra/training/vectors); package wordvectors embeds
// the table. It is immutable and safe for concurrent use.
type Words struct {
	width      int
	index      map[string]int32
	scales     []byte // a 32-bit float for each word
	rows       []byte // width signed bytes for each word
	background []int8
	running    []int8 // vector of text about running a course
}

const (
	wordsMagic   = "SKWV"
	wordsVersion = 1
	wordsHeader  = 20
)

// OpenWords opens a table; it retains the bytes, which the caller must not change.
func OpenWords(file []byte) (*Words, error) {
	if len(file) < wordsHeader || string(file[:4]) != wordsMagic || binary.LittleEndian.Uint32(file[4:]) != wordsVersion {
		return nil, errors.New("open word vectors: not a table of word vectors in a supported format")
	}
	count := int(binary.LittleEndian.Uint32(file[8:]))
	width := int(binary.LittleEndian.Uint32(file[12:]))
	letters := int(binary.LittleEndian.Uint32(file[16:]))
	if want := wordsHeader + letters + count*(4+width) + 4*width; width == 0 || want != len(file) {
		return nil, fmt.Errorf("open word vectors: %d bytes, expected %d", len(file), want)
	}
	w := &Words{width: width, index: make(map[string]int32, count)}
	list := string(file[wordsHeader : wordsHeader+letters])
	rest := file[wordsHeader+letters:]
	w.scales, w.rows = rest[:4*count], rest[4*count:4*count+count*width]
	var background []float32
	for raw := rest[4*count+count*width:]; len(raw) > 0; raw = raw[4:] {
		background = append(background, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	}
	w.background = steps(nil, background)
	for word := range strings.SplitSeq(strings.TrimSuffix(list, "\n"), "\n") {
		w.index[word] = int32(len(w.index))
	}
	if len(w.index) != count {
		return nil, fmt.Errorf("open word vectors: %d words, expected %d", len(w.index), count)
	}
	running := make([]float32, w.width)
	w.text(running, runningText, 1)
	w.running = steps(nil, running)
	return w, nil
}

// runningText is typical of most courses, though few teach it.
const runningText = `students attend class and lectures, read the syllabus, submit homework assignments on the
	learning management system, take quizzes and exams; the instructor
	teaches, prepares lessons, assigns homework, assesses and grades students, tutors them in office hours, and keeps
	attendance, course outline and schedule`

// find returns the row of a lower-case word, or of its plain form if only that is in the
// table; otherwise -1.
func (w *Words) find(lower string) int32 {
	if i, ok := w.index[lower]; ok {
		return i
	}
	for _, ending := range []struct{ from, to string }{
		{"'s", ""}, {"ies", "y"}, {"es", ""}, {"s", ""}, {"isation", "ization"}, {"ising", "izing"}, {"ise", "ize"},
		{"ing", ""}, {"ed", ""},
	} {
		if stem, ok := strings.CutSuffix(lower, ending.from); ok && len(stem) > 2 {
			if i, ok := w.index[stem+ending.to]; ok {
				return i
			}
		}
	}
	return -1
}

// alike returns the cosine of two words.
func (w *Words) alike(a, b int32) float64 {
	va, vb := w.rows[int(a)*w.width:(int(a)+1)*w.width], w.rows[int(b)*w.width:(int(b)+1)*w.width]
	var ab, aa, bb int64
	for d := range va {
		p, q := int64(int8(va[d])), int64(int8(vb[d]))
		ab, aa, bb = ab+p*q, aa+p*p, bb+q*q
	}
	return float64(ab) / math.Sqrt(float64(max(1, aa*bb)))
}

// add adds a word's vector to a sum.
func (w *Words) add(sum []float32, row int32, times float32) {
	times *= math.Float32frombits(binary.LittleEndian.Uint32(w.scales[4*row:]))
	for d, b := range w.rows[int(row)*w.width : (int(row)+1)*w.width] {
		sum[d] += float32(times * float32(int8(b)))
	}
}

// text adds the vectors of a text's distinct words to a sum, and reports whether the table has
// any of them.
func (w *Words) text(sum []float32, text string, times float32) bool {
	seen := map[int32]bool{}
	skills.EachWord(text, func(start, end int) {
		if row := w.find(strings.ToLower(text[start:end])); row >= 0 && !seen[row] {
			seen[row] = true
			w.add(sum, row, times)
		}
	})
	return len(seen) > 0
}

const (
	mostLabels      = 12  // stand for all of a skill's
	mostDescription = 400 // bytes of a description are read
	nameShare       = 1.5 // weight of the name against all other labels
)

// skill returns the unit vectors of a skill's labels and of its description, in steps of 1/127; one without known
// words is the other.
func (w *Words) skill(s skills.Skill) (ofLabels, ofDescription []int8) {
	labels, description := make([]float32, w.width), make([]float32, w.width)
	name := make([]float32, w.width)
	w.text(name, strings.NewReplacer("(", " ", ")", " ").Replace(s.Name), 1)
	normalize(name)
	for _, a := range s.Aliases[:min(len(s.Aliases), mostLabels)] {
		one := make([]float32, w.width)
		w.text(one, a, 1)
		normalize(one)
		sumUp(labels, one, 1)
	}
	normalize(labels)
	sumUp(labels, name, nameShare)
	first := s.Description
	if len(first) > mostDescription {
		first = first[:mostDescription]
	}
	if !w.text(description, first, 1) {
		copy(description, labels)
	} else if !slices.ContainsFunc(labels, func(x float32) bool { return x != 0 }) {
		copy(labels, description)
	}
	return steps(nil, labels), steps(nil, description)
}

func sumUp(to, v []float32, times float32) {
	for d, x := range v {
		to[d] += float32(times * x)
	}
}

// dot returns the dot product, in integers so that it is the same on every machine.
func dot(a, b []int8) int32 {
	var s0, s1, s2, s3 int32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += int32(a[i]) * int32(b[i])
		s1 += int32(a[i+1]) * int32(b[i+1])
		s2 += int32(a[i+2]) * int32(b[i+2])
		s3 += int32(a[i+3]) * int32(b[i+3])
	}
	for ; i < len(a); i++ {
		s0 += int32(a[i]) * int32(b[i])
	}
	return s0 + s1 + s2 + s3
}

// normalize scales a vector to unit length; zero stays zero. Products are rounded explicitly,
// so that no machine fuses them with the sum.
func normalize(v []float32) {
	n := 0.0
	for _, x := range v {
		n += float64(float64(x) * float64(x))
	}
	if n < 1e-12 {
		clear(v)
		return
	}
	scale := float32(1 / math.Sqrt(n))
	for d := range v {
		v[d] *= scale
	}
}

// steps scales a vector to unit length, in steps of 1/127.
func steps(out []int8, v []float32) []int8 {
	normalize(v)
	for _, x := range v {
		out = append(out, int8(math.Round(float64(x)*127)))
	}
	return out
}

// cosine converts a dot product of vectors in steps to -1..1.
func cosine(dot int32) float64 { return float64(dot) / (127 * 127) }
