package main

import (
	"strings"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// decidesMap decides the mark of a course for an outcome, or removes the decision, usually while the program's outcomes
// or courses change.
func decidesMap(c *client) {
	path := c.pick(catalog.ProgramKind)
	if path == "" {
		return
	}
	program := c.send(request{operation: "getProgram", path: path}).parsed()
	courses, _ := program["courseOrder"].([]any)
	list := c.send(request{operation: "getProgramOutcomes", path: path + "/outcomes"}).parsed()
	outcomes, _ := list["outcomes"].([]any)
	if len(courses) == 0 || len(outcomes) == 0 {
		return
	}
	outcome, _ := one(c, outcomes).(object)
	course, _ := one(c, courses).(string)
	cell := path + "/map/" + text(outcome, "id") + "/" + course
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
