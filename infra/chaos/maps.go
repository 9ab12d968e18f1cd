package main

import (
	"strings"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// decideMap decides the mark of a course for an outcome, or removes the decision, usually while the program's outcomes
// or courses change.
func decideMap(c *client, path string) {
	courses := texts(c.send(request{operation: "getProgram", path: path}).parsed(), "courseOrder")
	outcome := c.outcome(catalog.ProgramKind, path)
	if len(courses) == 0 || outcome == "" {
		return
	}
	cell := path + "/map/" + outcome + "/" + one(c, courses)
	mark := one(c, []catalog.Mark{catalog.Introduced, catalog.Mastered, catalog.NoMark})
	decide := request{operation: "decideMapCell", path: cell, body: object{"mark": mark}}
	c.during(decide, func() {
		switch c.random.IntN(4) {
		case 0:
			c.change(request{operation: "deleteMapDecision", path: cell})
		case 1:
			programCourses.add(c)
		default:
			replacesOutcomes(catalog.ProgramKind)(c)
		}
	})
	c.send(request{operation: "getProgramMap", path: path + "/map"})
}

// maps: each decision on the map of a live program is about an outcome that the program has.
func (a *audit) maps() {
	for pk, rows := range a.rows {
		if !api.MapRows.Holds(pk) {
			continue
		}
		program := pk[strings.LastIndexByte(pk, '#')+1:]
		if a.live[program] == nil {
			continue
		}
		for sk := range rows {
			outcome, _, _ := strings.Cut(sk, "#")
			if list := a.outcomesOf(program); list == nil || list.Find(outcome) == nil {
				a.breach("a decision on the map of %s is about %s, which its outcomes lack", program, outcome)
			}
		}
	}
}
