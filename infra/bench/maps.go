package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
)

// The bounds of a curriculum map, and what it may cost.
const (
	mapOutcomes, mapCourses, ownOutcomes = 100, 200, 6

	maxMapTime  = 50 * time.Millisecond // of processor time
	maxMapBytes = 5_000_000
)

// curriculumMap measures a curriculum map of the largest size.
func curriculumMap() (*table, error) {
	t := newTable(fmt.Sprintf("Curriculum map: %d outcomes, %d courses with %d outcomes and 25 skills each", mapOutcomes,
		mapCourses, ownOutcomes),
		"figure", "measured", "target", "")
	random := rand.New(rand.NewPCG(2026, 11))
	taught := func(n int) (list []catalog.SkillRef) {
		for _, i := range random.Perm(400)[:n] {
			list = append(list, catalog.SkillRef{
				SkillID: fmt.Sprintf("esco:00000000-0000-4000-8000-%012d", i), SkillName: fmt.Sprint("the craft of trade ", i),
				Level: 1 + random.IntN(5), Confidence: float64(3000+random.IntN(7001)) / 10000,
			})
		}
		return list
	}
	outcomes := func(n int) *catalog.OutcomeList {
		list := &catalog.OutcomeList{}
		for range n {
			list.Outcomes = append(list.Outcomes, catalog.Outcome{
				ID: ids.New("out_"), Statement: filler(120), Level: 3, Skills: taught(6),
			})
		}
		return list
	}
	c := alignment.Curriculum{
		Program: &catalog.Program{}, Basis: alignment.BothBasis, Outcomes: outcomes(mapOutcomes),
		Related: func(string) []string { return nil },
	}
	for range mapCourses {
		profile := catalog.CourseProfile{CourseID: ids.New("crs_"), CourseDefaultSectionID: ids.New("sec_")}
		c.Courses = append(c.Courses, alignment.CurriculumCourse{Outcomes: outcomes(ownOutcomes),
			ReportCourse: alignment.ReportCourse{
				Profile: profile, Sections: []catalog.SectionProfile{{CourseProfile: profile,
					SectionID: profile.CourseDefaultSectionID, SectionSkills: taught(25)}},
			}})
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	best := time.Hour
	for range rounds {
		runtime.GC()
		start := processorTime()
		c.Map()
		best = min(best, processorTime()-start)
	}
	body, err := json.Marshal(c.Map())
	if err != nil {
		return nil, err
	}
	t.row(best > maxMapTime, "", "processor time", best.Round(time.Millisecond/10), "<= "+maxMapTime.String())
	t.row(len(body) > maxMapBytes, "", "bytes of JSON", grouped(len(body)), "<= "+grouped(maxMapBytes))
	return t, nil
}
