// Command alignment measures pkg/alignment at the sizes that the service promises
// and prints each figure next to its baseline or target. The data are made up from
// a fixed seed: courses and jobs draw most of their skills from one of 25 fields
// and some from a general stock, as real catalogs do. It stores nothing and uses
// no network.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"text/tabwriter"
	"time"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/alignment/page"
	"skillscurriculum/pkg/catalog"
)

const (
	fields         = 25
	skillsPerField = 60
	skillsInCommon = 100 // a further field, numbered fields
)

func main() {
	log.SetFlags(0)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "what\tmeasured\tbaseline or target")
	for _, part := range []func(io.Writer) error{equivalencies, reports, builder} {
		if err := part(table); err != nil {
			log.Fatal(err)
		}
	}
	if err := table.Flush(); err != nil {
		log.Fatal(err)
	}
}

// world draws catalogs and jobs.
type world struct{ *rand.Rand }

func newWorld() world { return world{rand.New(rand.NewPCG(2026, 11))} }

// skills draws a list of one field: three of four skills are the field's, its
// first ones far more often than its last.
func (w world) skills(field, n int) []catalog.SkillRef {
	list := make([]catalog.SkillRef, 0, n)
	seen := map[string]bool{}
	for len(list) < n {
		number := int(skillsPerField * math.Pow(w.Float64(), 1.5))
		id := skillID(field, number)
		if w.IntN(4) == 0 {
			id = skillID(fields, w.IntN(skillsInCommon))
		}
		if !seen[id] {
			seen[id] = true
			list = append(list, catalog.SkillRef{
				SkillID: id, SkillName: "the craft of " + id[len(id)-6:],
				Level: 2 + w.IntN(3), Confidence: float64(3000+w.IntN(7001)) / 10000,
			})
		}
	}
	return list
}

// skillID is as long as an ESCO id, which decides how large responses are.
func skillID(field, number int) string {
	return fmt.Sprintf("esco:%08x-%04x-%04x-%04x-000000%06d", field*7919+number*104729, number*31%65536, field*17, number*13%65536, field*1000+number)
}

func (w world) sections(n, courses, fields int) []alignment.Candidate {
	list := make([]alignment.Candidate, n)
	for i := range list {
		course := i % courses
		list[i] = alignment.Candidate{
			SectionID: fmt.Sprintf("sec_%05d", i), CourseID: fmt.Sprintf("crs_%05d", course),
			CourseName: fmt.Sprintf("Course %d", course), SectionName: fmt.Sprintf("Section %d", i),
			Skills: w.skills(course%fields, 15),
		}
	}
	return list
}

func (w world) jobs(n, requirements, fields int) []alignment.JobProfile {
	list := make([]alignment.JobProfile, n)
	for i := range list {
		list[i] = alignment.JobProfile{JobID: fmt.Sprintf("15-%04d", i), JobName: fmt.Sprintf("Job %d", i), SkillRequirements: w.skills(w.IntN(fields), requirements)}
	}
	return list
}

// measure returns the processor time of one call, the mean over the given number.
func measure(calls int, call func()) time.Duration {
	before := processor()
	for range calls {
		call()
	}
	return (processor() - before) / time.Duration(calls)
}

func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func equivalencies(w io.Writer) error {
	world := newWorld()
	sections := world.sections(10_000, 4_000, fields)
	transfer := world.skills(3, 15)
	neighbours := map[string][]string{}
	for field := range fields {
		for n := range skillsPerField {
			// A family of eight: one broader and its narrower ones.
			for k := n / 8 * 8; k < n/8*8+8; k++ {
				if k != n {
					neighbours[skillID(field, n)] = append(neighbours[skillID(field, n)], skillID(field, k))
				}
			}
		}
	}
	related := func(id string) []string { return neighbours[id] }

	var index *alignment.Index
	build := measure(5, func() { index = alignment.NewIndex(sections) })
	var found []alignment.Match
	match := measure(200, func() { found = index.Match(transfer, catalog.DefaultMatchingConfig, related, 5) })
	var reference []scored
	brute := measure(3, func() { reference = compareAll(sections, transfer, related) })
	for i, m := range found {
		if m.CourseSectionID != reference[i].id || math.Abs(m.SkillsMatchScore-reference[i].score) > 0.0001 {
			return fmt.Errorf("match %d is %s with %v, brute force finds %s with %v", i, m.CourseSectionID, m.SkillsMatchScore, reference[i].id, reference[i].score)
		}
	}
	fmt.Fprintf(w, "equivalencies: index of 10,000 sections x 15 skills, CPU\t%v\t\n", round(build))
	fmt.Fprintf(w, "equivalencies: 1 course x 10,000 sections, CPU\t%v\t%v brute force (same result), target 50ms\n", round(match), round(brute))
	fmt.Fprintf(w, "equivalencies: index and one match together, CPU\t%v\ttarget 50ms\n", round(build+match))
	return nil
}

type scored struct {
	id    string
	score float64
}

// compareAll is the baseline: every skill of every section against every skill of the course.
func compareAll(sections []alignment.Candidate, transfer []catalog.SkillRef, related alignment.Related) []scored {
	var all []scored
	for _, c := range sections {
		var sum, total float64
		for _, s := range c.Skills {
			best := 0.0
			for _, t := range transfer {
				reach := min(1, float64(t.Level)/float64(s.Level))
				switch {
				case t.SkillID == s.SkillID:
					best = max(best, reach)
				case slices.Contains(related(t.SkillID), s.SkillID):
					best = max(best, 0.7*reach)
				}
			}
			sum += s.Confidence * best
			total += s.Confidence
		}
		if sum > 0 {
			all = append(all, scored{c.SectionID, math.Round(sum/total*10000) / 10000})
		}
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) })
	return all
}

func reports(w io.Writer) error {
	for _, requirements := range []int{10, 40} {
		world := newWorld()
		r := alignment.Report{Jobs: world.jobs(50, requirements, fields)}
		for _, s := range world.sections(100, 100, fields) {
			profile := catalog.CourseProfile{CourseID: s.CourseID, CourseName: s.CourseName, CourseCode: s.CourseID[4:], CourseDefaultSectionID: s.SectionID, CourseDisplayName: s.CourseName}
			r.Courses = append(r.Courses, alignment.ReportCourse{Profile: profile, Sections: []catalog.SectionProfile{{CourseProfile: profile, SectionID: s.SectionID, SectionName: s.SectionName, SectionSkills: s.Skills}}})
			r.Record.Settings.Courses = append(r.Record.Settings.Courses, s.CourseID)
		}
		for _, j := range r.Jobs {
			r.Record.Settings.Jobs = append(r.Record.Settings.Jobs, catalog.ReportJob{ID: j.JobID, Lib: "soc"})
		}
		for _, view := range []string{alignment.AlignmentView, alignment.CoverageView, alignment.GapView} {
			r.Record.Settings.View = view
			var result alignment.Result
			compute := measure(10, func() { result = r.Result() })
			text, err := json.Marshal(result)
			if err != nil {
				return err
			}
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			if _, err := z.Write(text); err != nil {
				return err
			}
			if err := z.Close(); err != nil {
				return err
			}
			fmt.Fprintf(w, "report: 100 courses x 50 jobs of %d requirements, %s, CPU\t%v\ttarget 5s\n", requirements, view, round(compute))
			fmt.Fprintf(w, "  its JSON\t%.2f MB, %.2f MB gzipped\ttarget 6 MB\n", float64(len(text))/1e6, float64(packed.Len())/1e6)
		}
		r.Record.Settings.View = alignment.AlignmentView
		for _, format := range []struct {
			name  string
			write func(io.Writer) error
		}{{"CSV", r.WriteCSV}, {"page", func(w io.Writer) error {
			_, err := page.Pages{}.Report(w, r, func(view string) string { return "?view=" + view })
			return err
		}}} {
			var b bytes.Buffer
			var err error
			compute := measure(3, func() {
				b.Reset()
				err = format.write(&b)
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "  as %s, CPU\t%v, %.2f MB\ttarget 6 MB\n", format.name, round(compute), float64(b.Len())/1e6)
		}
	}
	return nil
}

func builder(w io.Writer) error {
	for _, size := range []struct{ sections, courses, jobs, fields int }{{100, 40, 5, fields}, {500, 200, 1, fields}, {500, 200, 5, fields}, {500, 200, 20, fields}, {500, 200, 20, 1}, {10_000, 4_000, 20, fields}} {
		world := newWorld()
		request := alignment.CredentialRequest{
			Candidates: world.sections(size.sections, size.courses, size.fields), Jobs: world.jobs(size.jobs, 15, size.fields),
			MinSections: 1, MaxSections: 20, Weights: alignment.DefaultWeights,
		}
		var proposal alignment.Proposal
		var err error
		compute := measure(3, func() { proposal, err = alignment.Build(request) })
		if err != nil {
			return err
		}
		gap := (proposal.Objective - proposal.LowerBound) / proposal.Objective
		fmt.Fprintf(w, "credential builder: %d sections x %d jobs, fields: %d, CPU\t%v\ttarget 2s\n", size.sections, size.jobs, size.fields, round(compute))
		fmt.Fprintf(w, "  %d sections, coverage %.2f, objective %.4f, bound %.4f\tgap %.2f%%, %d nodes\toptimal: %v\n",
			len(proposal.SectionIDs), proposal.Coverage, proposal.Objective, proposal.LowerBound, gap*100, proposal.Nodes, proposal.Optimal)
	}
	return nil
}

func round(d time.Duration) time.Duration {
	if d > 100*time.Millisecond {
		return d.Round(time.Millisecond)
	}
	return d.Round(10 * time.Microsecond)
}
