package alignment_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/alignment/page"
	"skillscurriculum/pkg/catalog"
)

// The benchmarks run at the sizes that the service promises, on data from a fixed seed:
// courses and jobs draw three of four skills from one of 25 fields, its first ones far
// more often than its last, and the others from a general stock.
const (
	fields         = 25
	skillsPerField = 60
)

type world struct{ *rand.Rand }

func newWorld() world { return world{rand.New(rand.NewPCG(2026, 11))} }

func (w world) skills(field, n int) (list []catalog.SkillRef) {
	seen := map[string]bool{}
	for len(list) < n {
		id := skillID(field, int(skillsPerField*math.Pow(w.Float64(), 1.5)))
		if w.IntN(4) == 0 {
			id = skillID(fields, w.IntN(100))
		}
		if !seen[id] {
			seen[id] = true
			list = append(list, catalog.SkillRef{
				SkillID: id, SkillName: "the craft of " + id[len(id)-6:], Level: 2 + w.IntN(3),
				Confidence: float64(3000+w.IntN(7001)) / 10000,
			})
		}
	}
	return list
}

// skillID is as long as an ESCO id, which decides how large responses are.
func skillID(field, number int) string {
	return fmt.Sprintf("esco:%08x-%04x-%04x-%04x-000000%06d", field*7919+number*104729, number*31%65536, field*17,
		number*13%65536, field*1000+number)
}

func (w world) sections(n, courses int) []catalog.SectionProfile {
	list := make([]catalog.SectionProfile, n)
	for i := range list {
		course := i % courses
		list[i] = catalog.SectionProfile{
			SectionID: fmt.Sprintf("sec_%05d", i), CourseProfile: catalog.CourseProfile{CourseID: fmt.Sprintf("crs_%05d", course), CourseName: fmt.Sprintf("Course %d", course)},
			SectionName:   fmt.Sprintf("Section %d", i),
			SectionSkills: w.skills(course%fields, 15),
		}
	}
	return list
}

func (w world) jobs(n, requirements int) []alignment.JobProfile {
	list := make([]alignment.JobProfile, n)
	for i := range list {
		list[i] = alignment.JobProfile{
			JobID: fmt.Sprintf("15-%04d", i), JobName: fmt.Sprintf("Job %d", i),
			SkillRequirements: w.skills(w.IntN(fields), requirements),
		}
	}
	return list
}

// family relates eight skills of a field: one broader and its narrower ones.
func family(id string) []string {
	var field, number int
	_, _ = fmt.Sscanf(id[len(id)-6:], "%03d%03d", &field, &number)
	if field == fields {
		return nil
	}
	var related []string
	for k := number / 8 * 8; k < number/8*8+8; k++ {
		if k != number {
			related = append(related, skillID(field, k))
		}
	}
	return related
}

// One transfer course against 10,000 sections: at most 50 ms.
func BenchmarkMatch(b *testing.B) {
	w := newWorld()
	sections, transfer := w.sections(10_000, 4_000), w.skills(3, 15)
	index := alignment.NewIndex(sections)
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			alignment.NewIndex(sections)
		}
	})
	b.Run("match", func(b *testing.B) {
		for b.Loop() {
			index.Match(transfer, catalog.DefaultMatchingConfig, family, 5)
		}
	})
	b.Run("brute force", func(b *testing.B) {
		related := map[string][]string{}
		for _, t := range transfer {
			related[t.SkillID] = family(t.SkillID)
		}
		for b.Loop() {
			for _, section := range sections {
				sum := 0.0
				for _, s := range section.SectionSkills {
					best := 0.0
					for _, t := range transfer {
						reach := min(1, float64(t.Level)/float64(s.Level))
						if t.SkillID == s.SkillID {
							best = max(best, reach)
						} else if slices.Contains(related[t.SkillID], s.SkillID) {
							best = max(best, 0.7*reach)
						}
					}
					sum += s.Confidence * best
				}
				_ = sum
			}
		}
	})
}

// A report of 100 courses and 50 jobs: at most 5 s and 6 MB.
func BenchmarkReport(b *testing.B) {
	w := newWorld()
	r := alignment.Report{Jobs: w.jobs(50, 10)}
	for _, s := range w.sections(100, 100) {
		profile := catalog.CourseProfile{
			CourseID: s.CourseID, CourseName: s.CourseName, CourseCode: s.CourseID[4:], CourseDefaultSectionID: s.SectionID,
			CourseDisplayName: s.CourseName,
		}
		r.Courses = append(r.Courses, alignment.ReportCourse{
			Profile: profile, Sections: []catalog.SectionProfile{{CourseProfile: profile, SectionID: s.SectionID,
				SectionName: s.SectionName, SectionSkills: s.SectionSkills}},
		})
		r.Record.Settings.Courses = append(r.Record.Settings.Courses, s.CourseID)
	}
	for _, j := range r.Jobs {
		r.Record.Settings.Jobs = append(r.Record.Settings.Jobs, catalog.ReportJob{ID: j.JobID, Lib: "soc"})
	}
	for _, f := range []struct {
		name, view string
		write      func(io.Writer) error
	}{
		{"alignment", alignment.AlignmentView, func(w io.Writer) error { return json.NewEncoder(w).Encode(r.Result()) }},
		{"coverage", alignment.CoverageView, func(w io.Writer) error { return json.NewEncoder(w).Encode(r.Result()) }},
		{"gap", alignment.GapView, func(w io.Writer) error { return json.NewEncoder(w).Encode(r.Result()) }},
		{"CSV", alignment.AlignmentView, r.WriteCSV},
		{"page", alignment.AlignmentView, func(w io.Writer) error {
			_, err := page.Pages{}.Report(w, masthead, r, func(view string) string { return "?view=" + view })
			return err
		}},
	} {
		b.Run(f.name, func(b *testing.B) {
			r.Record.Settings.View = f.view
			var size counted
			for b.Loop() {
				size = 0
				if err := f.write(&size); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(size)/1e6, "MB")
		})
	}
}

// counted counts what is written.
type counted int

func (c *counted) Write(p []byte) (int, error) {
	*c += counted(len(p))
	return len(p), nil
}

// The credential builder: at most 2 s.
func BenchmarkBuild(b *testing.B) {
	for _, size := range []struct{ sections, courses, jobs int }{{100, 40, 5}, {500, 200, 20}, {10_000, 4_000, 20}} {
		w := newWorld()
		request := alignment.CredentialRequest{
			Candidates: w.sections(size.sections, size.courses), Jobs: w.jobs(size.jobs, 15), MinSections: 1, MaxSections: 20,
			Weights: alignment.DefaultWeights,
		}
		b.Run(fmt.Sprintf("%d sections x %d jobs", size.sections, size.jobs), func(b *testing.B) {
			var proposal alignment.Proposal
			for b.Loop() {
				var err error
				if proposal, err = alignment.Build(request); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(100*(proposal.Objective-proposal.LowerBound)/proposal.Objective, "%gap")
		})
	}
}
