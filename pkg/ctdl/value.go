package ctdl

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// value is a kind of value: how it is written as JSON-LD, nil for none, and how it is read into the field of an input.
// read returns nil for a value that no field has, and false for one that the field cannot have; without read, the service
// derives the field.
type value struct {
	write func(o Organization, v any) any
	read  func(e node, v any) (any, bool)
}

// words is a text in the organization's language.
var words = value{write: func(o Organization, v any) any {
	if text(v) == "" {
		return nil
	}
	return object{o.Language: text(v)}
}, read: func(_ node, v any) (any, bool) {
	return wordsOf(v), wordsOf(v) != nil
}}

// plain is a code, date or address.
var plain = value{write: func(_ Organization, v any) any {
	if text(v) == "" {
		return nil
	}
	return text(v)
}, read: func(_ node, v any) (any, bool) {
	text, ok := first(v).(string)
	return text, ok
}}

// nonCredit is true for the level of courses without credit, and left out for others.
var nonCredit = value{write: func(_ Organization, v any) any {
	if text(v) != "NON_CREDIT" {
		return nil
	}
	return true
}, read: func(_ node, v any) (any, bool) {
	if v == true {
		return "NON_CREDIT", true
	}
	return nil, v == false
}}

// languages is a list of one language.
var languages = value{write: func(_ Organization, v any) any { return list(v.(string)) }}

// reference is the address of the entity with a CTID.
var reference = value{write: func(o Organization, v any) any {
	if text(v) == "" {
		return nil
	}
	return o.Address(text(v))
}}

// references are the addresses of the entities with a list of CTIDs.
var references = value{write: func(o Organization, v any) any {
	return each(v.([]string), func(ctid string) any {
		if ctid == "" {
			return nil
		}
		return o.Address(ctid)
	})
}, read: func(_ node, v any) (any, bool) { return referencesOf(v) }}

// exact are addresses of statements elsewhere that an outcome equals.
var exact = value{write: func(_ Organization, v any) any {
	return each(v.([]string), func(page string) any { return page })
}, read: func(_ node, v any) (any, bool) {
	aligned := []any{}
	for _, item := range items(v) {
		uri, ok := item.(string)
		if !ok {
			return nil, false
		}
		aligned = append(aligned, map[string]any{"type": "EXACT", "uri": uri})
	}
	return aligned, true
}}

// condition is a requirement to complete the courses with a list of CTIDs.
var condition = value{write: func(o Organization, v any) any {
	targets := references.write(o, v)
	if targets == nil {
		return nil
	}
	return list(object{
		"@type": "ceterms:ConditionProfile", "ceterms:name": object{"en-US": "Courses"},
		"ceterms:description":               object{"en-US": "Completion of all of these courses."},
		"ceterms:targetLearningOpportunity": targets,
	})
}, read: func(_ node, v any) (any, bool) {
	var all []string
	for _, profile := range items(v) {
		o, _ := profile.(map[string]any)
		targets, ok := referencesOf(o["ceterms:targetLearningOpportunity"])
		if !ok || len(targets) == 0 {
			return nil, false
		}
		all = append(all, targets...)
	}
	return all, true
}}

// nodes are objects that describe what has no address of its own.
var nodes = value{write: func(_ Organization, v any) any { return each(v.([]object), func(o object) any { return o }) }}

// list returns a list of those items that are not nil; nil if there are none.
func list(items ...any) any {
	items = slices.DeleteFunc(items, func(v any) bool { return v == nil || v == "" })
	if len(items) == 0 {
		return nil
	}
	return items
}

func each[T any](all []T, one func(T) any) any {
	items := make([]any, len(all))
	for i, v := range all {
		items[i] = one(v)
	}
	return list(items...)
}

// externalIDName is the name of our external ids.
const externalIDName = "External ID"

// identifiers is a list with one identifier of the named type.
func identifiers(name string) value {
	return value{write: func(_ Organization, v any) any {
		if text(v) == "" {
			return nil
		}
		return list(object{
			"@type": "ceterms:IdentifierValue", "ceterms:identifierTypeName": object{"en-US": name},
			"ceterms:identifierValueCode": text(v),
		})
	}, read: func(_ node, v any) (any, bool) {
		all := items(v)
		for _, item := range all {
			o, _ := item.(map[string]any)
			code, ok := o["ceterms:identifierValueCode"].(string)
			if ok && (len(all) == 1 || text(wordsOf(o["ceterms:identifierTypeName"])) == name) {
				return code, true
			}
		}
		return nil, false
	}}
}

// scheme is a kind of value with a fixed vocabulary: the concepts of fields' values.
type scheme struct {
	name     string            // class of CTDL, such as ceterms:LifeCycleStatus
	concepts map[string]string // by value
}

var (
	lifecycles = scheme{"ceterms:LifeCycleStatus", map[string]string{
		"PROPOSED": "lifeCycle:Developing", "ACTIVE": "lifeCycle:Active", "RETIRED": "lifeCycle:Ceased",
	}}
	credentialStatuses = scheme{"ceterms:CredentialStatus", map[string]string{
		"ACTIVE": "credentialStat:Active", "SUSPENDED": "credentialStat:Suspended",
		"DEPRECATED": "credentialStat:Deprecated", "TEACH_OUT": "credentialStat:TeachOut",
	}}
	audienceLevels = scheme{"ceterms:AudienceLevel", map[string]string{
		"LOWER_DIVISION": "audLevel:LowerDivisionLevel", "UPPER_DIVISION": "audLevel:UpperDivisionLevel",
		"GRADUATE": "audLevel:GraduateLevel",
	}}
	// creditUnits has no concept for ECTS.
	creditUnits = scheme{"ceterms:CreditUnit", map[string]string{
		"SEMESTER_HOUR": "creditUnit:SemesterHour", "QUARTER_HOUR": "creditUnit:QuarterHour",
		"CLOCK_HOUR": "creditUnit:ClockHour", "CEU": "creditUnit:ContinuingEducationUnit",
	}}
)

// concept is an alignment with the concept of the scheme.
func concept(s scheme) value {
	return value{write: func(_ Organization, v any) any {
		return alignment(s.name, s.concepts[text(v)])
	}, read: func(_ node, v any) (any, bool) {
		for _, item := range items(v) {
			for value, id := range s.concepts {
				if targetOf(item) == id {
					return value, true
				}
			}
		}
		return nil, false
	}}
}

// concepts is a list with one such alignment.
func concepts(s scheme) value {
	one := concept(s)
	return value{write: func(o Organization, v any) any { return list(one.write(o, v)) }, read: one.read}
}

// agentTypes is a list with the type of an organization.
var agentTypes = value{write: func(_ Organization, v any) any {
	if text(v) == "" {
		return nil
	}
	return list(alignment("ceterms:OrganizationType", "orgType:"+strings.TrimPrefix(text(v), "orgType:")))
}}

// alignment returns a concept as a CredentialAlignmentObject; nil for an unknown one.
func alignment(scheme, id string) any {
	known, ok := Terms()[id]
	if !ok {
		return nil
	}
	_, name, _ := strings.Cut(scheme, ":")
	return object{
		"@type": "ceterms:CredentialAlignmentObject", "ceterms:targetNode": id,
		"ceterms:targetNodeName": object{"en-US": known.Label},
		"ceterms:framework":      "https://credreg.net/ctdl/terms/" + name,
		"ceterms:frameworkName":  object{"en-US": Terms()[scheme].Label},
	}
}

// ects is the unit of credits that has no concept.
const ects = "ECTS"

// credits are lists of amounts of credits, of type *catalog.Credits or []*catalog.Credits.
var credits = value{write: func(_ Organization, v any) any {
	if one, ok := v.(*catalog.Credits); ok {
		v = []*catalog.Credits{one}
	}
	return each(v.([]*catalog.Credits), func(c *catalog.Credits) any {
		if c == nil {
			return nil
		}
		amount := object{"@type": "ceterms:ValueProfile"}
		if unit := creditUnits.concepts[c.Unit]; unit != "" {
			amount["ceterms:creditUnitType"] = list(unit)
		}
		if c.Min == c.Max {
			amount["schema:value"] = c.Min
		} else {
			amount["schema:minValue"], amount["schema:maxValue"] = c.Min, c.Max
		}
		return amount
	})
}, read: func(e node, v any) (any, bool) {
	for _, item := range items(v) {
		o, _ := item.(map[string]any)
		unit, _ := concept(creditUnits).read(e, o["ceterms:creditUnitType"])
		if unit == nil && text(wordsOf(e["ceterms:creditUnitTypeDescription"])) == ects {
			unit = ects
		}
		least, one := amountOf(o, "schema:minValue", "schema:value")
		most, other := amountOf(o, "schema:maxValue", "schema:value")
		if unit != nil && one && other {
			return map[string]any{"min": least, "max": most, "unit": unit}, true
		}
	}
	return nil, false
}}

// unnamedUnit describes the unit of credits that have no concept.
var unnamedUnit = value{write: func(_ Organization, v any) any {
	if c, _ := v.(*catalog.Credits); c != nil && c.Unit == ects {
		return object{"en-US": ects}
	}
	return nil
}, read: func(_ node, v any) (any, bool) { return nil, text(wordsOf(v)) == ects }}

// Skill is a skill that a course teaches.
type Skill struct {
	Name       string
	Address    string // in the taxonomy; "" if it has none
	Framework  string // name of the taxonomy
	Confidence float64
}

// escoSkills is the address of ESCO's skills, before the last part of an address; escoID starts their ids here.
const escoSkills, escoID = "http://data.europa.eu/esco/skill/", "esco:"

// Skills returns skills of a taxonomy, by confidence, then name.
func Skills(refs []catalog.SkillRef, taxonomy string) []Skill {
	refs = slices.SortedFunc(slices.Values(refs), func(a, b catalog.SkillRef) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.SkillName, b.SkillName),
			cmp.Compare(a.SkillID, b.SkillID))
	})
	skills := make([]Skill, len(refs))
	for i, ref := range refs {
		skills[i] = Skill{Name: ref.SkillName, Framework: taxonomy, Confidence: ref.Confidence}
		if id, ok := strings.CutPrefix(ref.SkillID, escoID); ok {
			skills[i].Address = escoSkills + id
		}
	}
	return skills
}

// Taught is what a course or program teaches: its outcomes, or else skills.
type Taught struct {
	Outcomes []string // CTIDs
	Skills   []Skill
}

var taught = value{write: func(o Organization, v any) any {
	t := v.(Taught)
	if len(t.Outcomes) > 0 {
		return references.write(o, t.Outcomes)
	}
	return each(t.Skills, func(s Skill) any {
		skill := object{
			"@type": "ceterms:CredentialAlignmentObject", "ceterms:targetNodeName": object{"en": s.Name},
			"ceterms:weight": s.Confidence,
		}
		if s.Framework != "" {
			skill["ceterms:frameworkName"] = object{"en": s.Framework}
		}
		if s.Address != "" {
			skill["ceterms:targetNode"] = s.Address
		}
		return skill
	})
}, read: func(_ node, v any) (any, bool) {
	var t Teaching
	for _, item := range items(v) {
		o, embedded := item.(map[string]any)
		if ref := referenceOf(item); ref != "" && (!embedded || o["@type"] != "ceterms:CredentialAlignmentObject") {
			t.Outcomes = append(t.Outcomes, ref)
			continue
		}
		skill := map[string]any{"level": 2}
		if id, ok := strings.CutPrefix(targetOf(item), escoSkills); ok {
			skill["skillId"] = escoID + id
		}
		if name := wordsOf(o["ceterms:targetNodeName"]); name != nil {
			skill["skillName"] = name
		}
		if weight, ok := o["ceterms:weight"].(float64); ok && weight >= 0 && weight <= 1 {
			skill["confidence"] = math.Round(weight*10_000) / 10_000
		}
		if len(skill) == 1 {
			return nil, false
		}
		t.Skills = append(t.Skills, skill)
	}
	return t, true
}}

// Code is a code of a classification, with its name if that is known.
type Code struct{ Code, Name string }

// classification is a published list of codes.
type classification struct{ name, address, page string }

var (
	cip = classification{
		"Classification of Instructional Programs 2020", "https://nces.ed.gov/ipeds/cipcode/",
		"https://nces.ed.gov/ipeds/cipcode/cipdetail.aspx?y=56&cip=",
	}
	soc = classification{
		"Standard Occupational Classification 2018", "https://www.bls.gov/soc/2018/", "",
	}
)

// codes are alignments with codes of a classification, of type []Code.
func codes(c classification) value {
	return value{write: func(_ Organization, v any) any {
		return each(v.([]Code), func(code Code) any {
			aligned := object{
				"@type": "ceterms:CredentialAlignmentObject", "ceterms:codedNotation": code.Code,
				"ceterms:framework": c.address, "ceterms:frameworkName": object{"en-US": c.name},
				"ceterms:targetNodeName": object{"en-US": code.Code},
			}
			if code.Name != "" {
				aligned["ceterms:targetNodeName"] = object{"en-US": code.Name}
			}
			if c.page != "" {
				aligned["ceterms:targetNode"] = c.page + code.Code
			}
			return aligned
		})
	}, read: func(_ node, v any) (any, bool) {
		o, _ := first(v).(map[string]any)
		code, ok := o["ceterms:codedNotation"].(string)
		return code, ok
	}}
}
