package ctdl

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// Course is a course with what its description refers to.
type Course struct {
	*catalog.Course
	Programs []string // CTIDs of the programs that it is part of
	Taught   Taught
}

var courses = []mapping[Course]{
	{"name", "ceterms:name", words, Required, func(c Course) any { return c.Name }},
	{"description", "ceterms:description", words, Required, func(c Course) any { return c.Description }},
	{"code", "ceterms:codedNotation", plain, Recommended, func(c Course) any { return c.Code }},
	{"webpage", "ceterms:subjectWebpage", plain, Recommended, func(c Course) any { return c.Webpage }},
	{"lifecycleStatus", "ceterms:lifeCycleStatusType", concept(lifecycles), Required,
		func(c Course) any { return c.LifecycleStatus }},
	{"credits", "ceterms:creditValue", credits, Recommended, func(c Course) any { return c.Credits }},
	{"credits", "ceterms:creditUnitTypeDescription", unnamedUnit, "", func(c Course) any { return c.Credits }},
	{"level", "ceterms:audienceLevelType", concepts(audienceLevels), "", func(c Course) any { return c.Level }},
	{"level", "ceterms:isNonCredit", nonCredit, "", func(c Course) any { return c.Level }},
	{"effectiveFrom", "ceterms:dateEffective", plain, "", func(c Course) any { return c.EffectiveFrom }},
	{"effectiveTo", "ceterms:expirationDate", plain, "", func(c Course) any { return c.EffectiveTo }},
	{"externalId", "ceterms:identifier", identifiers(externalIDName), "", func(c Course) any { return c.ExternalID }},
	{"programs", "ceterms:isPartOf", derived(references), "", func(c Course) any { return c.Programs }},
	{"skills", "ceterms:teaches", taught, Recommended, func(c Course) any { return c.Taught }},
}

// CourseEntity describes a course.
func CourseEntity(o Organization, c Course, ctid string) Entity {
	return owned(o, "ceterms:Course", ctid, c, courses)
}

// owned describes a record that the organization owns and offers, in its language.
func owned[T any](o Organization, class, ctid string, record T, table []mapping[T]) Entity {
	for _, m := range []mapping[T]{
		{"organization", "ceterms:ownedBy", references, Required, func(T) any { return []string{o.CTID} }},
		{"organization", "ceterms:offeredBy", references, "", func(T) any { return []string{o.CTID} }},
		{"organization", "ceterms:inLanguage", languages, Required, func(T) any { return o.Language }},
	} {
		table = append(table[:len(table):len(table)], m)
	}
	return describe(o, class, ctid, record, table)
}

// Program is a program with what its description refers to.
type Program struct {
	*catalog.Program
	Courses     []string // CTIDs, in the order of the curriculum
	Credentials []string // CTIDs
	Taught      Taught
	CIP         []Code // of its CIP code
	SOC         []Code // of its occupations
}

var programs = []mapping[Program]{
	{"name", "ceterms:name", words, Required, func(p Program) any { return p.Name }},
	{"description", "ceterms:description", words, Required, func(p Program) any { return p.Description }},
	{"webpage", "ceterms:subjectWebpage", plain, Required, func(p Program) any { return p.Webpage }},
	{"lifecycleStatus", "ceterms:lifeCycleStatusType", concept(lifecycles), Required,
		func(p Program) any { return p.LifecycleStatus }},
	{"code", "ceterms:codedNotation", plain, "", func(p Program) any { return p.Code }},
	{"externalId", "ceterms:identifier", identifiers(externalIDName), "", func(p Program) any { return p.ExternalID }},
	{"courseOrder", "ceterms:hasPart", references, Recommended, func(p Program) any { return p.Courses }},
	{"credentialIds", "ceterms:isPreparationFor", references, Recommended, func(p Program) any { return p.Credentials }},
	{"cipCode", "ceterms:instructionalProgramType", codes(cip), Recommended, func(p Program) any { return p.CIP }},
	{"derivedSocs", "ceterms:occupationType", derived(codes(soc)), "", func(p Program) any { return p.SOC }},
	{"outcomes", "ceterms:teaches", taught, Recommended, func(p Program) any { return p.Taught }},
}

// ProgramEntity describes a program.
func ProgramEntity(o Organization, p Program, ctid string) Entity {
	return owned(o, "ceterms:LearningProgram", ctid, p, programs)
}

// Credential is a credential with what its description refers to.
type Credential struct {
	*catalog.Credential
	Courses []string // CTIDs of the courses of its sections, in their order
}

var credentials = []mapping[Credential]{
	{"name", "ceterms:name", words, Required, func(c Credential) any { return c.Name }},
	{"description", "ceterms:description", words, Required, func(c Credential) any { return c.Description }},
	{"webpage", "ceterms:subjectWebpage", plain, Required, func(c Credential) any { return c.Webpage }},
	{"status", "ceterms:credentialStatusType", concept(credentialStatuses), Required,
		func(c Credential) any { return c.Status }},
	{"externalId", "ceterms:identifier", identifiers(externalIDName), "", func(c Credential) any { return c.ExternalID }},
	{"sections", "ceterms:requires", condition, Recommended, func(c Credential) any { return c.Courses }},
}

// CredentialEntity describes a credential.
func CredentialEntity(o Organization, c Credential, ctid string) Entity {
	e := owned(o, "ceterms:"+c.CredentialType, ctid, c, credentials)
	if !publishable(e.Class) {
		e.Missing = append(e.Missing, Missing{"@type", Required, "credentialType"})
	}
	return e
}

// publishable reports whether the Registry takes credentials of the class.
func publishable(class string) bool {
	return class != "ceterms:Credential" && class != "ceterms:Degree" && Within(class, "ceterms:Credential")
}

var organizations = []mapping[Organization]{
	{"name", "ceterms:name", words, Required, func(o Organization) any { return o.Name }},
	{"description", "ceterms:description", words, Required, func(o Organization) any { return o.Description }},
	{"webpage", "ceterms:subjectWebpage", plain, Required, func(o Organization) any { return o.Webpage }},
	{"agentType", "ceterms:agentType", agentTypes, Required, func(o Organization) any { return o.AgentType }},
}

// OrganizationEntity describes the organization.
func OrganizationEntity(o Organization) Entity {
	return describe(o, "ceterms:CredentialOrganization", o.CTID, o, organizations)
}

// Framework is the list of outcomes of a course or program.
type Framework struct {
	Code, Name   string // of the course or program; Code may be empty
	Competencies []Competency
}

// Competency is an outcome with its CTID.
type Competency struct {
	catalog.Outcome
	CTID string
}

var frameworks = []mapping[Framework]{
	{"name", "ceasn:name", words, Required, func(f Framework) any {
		return strings.Join(strings.Fields("Outcomes of "+f.Code+" "+f.Name), " ")
	}},
	{"name", "ceasn:description", words, Required, func(f Framework) any {
		return "What students of " + f.Name + " learn"
	}},
	{"outcomes", "ceasn:hasTopChild", references, Recommended, func(f Framework) any {
		var top []string
		for _, c := range f.Competencies {
			if c.ParentID == nil {
				top = append(top, c.CTID)
			}
		}
		return top
	}},
}

// competency is an outcome in its framework.
type competency struct {
	Competency
	framework, parent string // CTIDs
	place             int    // in the list, from 1
}

var competencies = []mapping[competency]{
	{"statement", "ceasn:competencyText", words, Required, func(c competency) any { return c.Statement }},
	{"outcomes", "ceasn:isPartOf", derived(reference), Required, func(c competency) any { return c.framework }},
	{"code", "ceasn:codedNotation", plain, "", func(c competency) any { return c.Code }},
	{"outcomes", "ceasn:listID", derived(plain), "", func(c competency) any { return strconv.Itoa(c.place) }},
	{"parentId", "ceasn:isChildOf", derived(references), "", func(c competency) any { return []string{c.parent} }},
	{"alignments", "ceasn:exactAlignment", exact, "", func(c competency) any {
		var exact []string
		for _, a := range c.Alignments {
			if a.Type == "EXACT" {
				exact = append(exact, a.URI)
			}
		}
		return exact
	}},
}

// FrameworkEntity describes a list of outcomes, and each outcome. What the outcomes lack, the framework lacks too.
func FrameworkEntity(o Organization, f Framework, ctid string) (Entity, []Entity) {
	table := append(frameworks[:len(frameworks):len(frameworks)],
		mapping[Framework]{"organization", "ceasn:publisher", references, Required,
			func(Framework) any { return []string{o.CTID} }},
		mapping[Framework]{"organization", "ceasn:inLanguage", languages, Required,
			func(Framework) any { return o.Language }})
	framework := describe(o, "ceasn:CompetencyFramework", ctid, f, table)
	framework.Context = ASNContext
	known := map[string]string{}
	var all []Entity
	for i, c := range f.Competencies {
		known[c.ID] = c.CTID
		e := describe(o, "ceasn:Competency", c.CTID, competency{c, ctid, known[text(c.ParentID)], i + 1}, competencies)
		framework.Missing = append(framework.Missing, e.Missing...)
		all = append(all, e)
	}
	return framework, all
}

// TransferValue is one alternative of an approved articulation.
type TransferValue struct {
	*catalog.Articulation
	Alternative int               // index in Sending
	Courses     map[string]string // CTIDs of granted courses that are public, by id
	Supersedes  string            // CTID of the first alternative of the superseded articulation; "" for none
}

var transferValues = []mapping[transferValue]{
	{"sending", "ceterms:name", words, Required, func(t transferValue) any {
		return t.SendingInstitution.Name + ": " + t.sent() + " as " + t.granted()
	}},
	{"publicNote", "ceterms:description", words, Required, func(t transferValue) any {
		if note := text(t.PublicNote); len([]rune(note)) >= minDescription {
			return note
		}
		return t.sent() + " of " + t.SendingInstitution.Name + " counts as " + t.granted() + " at " + t.organization.Name +
			"."
	}},
	{"organization", "ceterms:ownedBy", references, Required,
		func(t transferValue) any { return []string{t.organization.CTID} }},
	{"id", "ceterms:subjectWebpage", reference, Required, func(t transferValue) any { return t.ctid }},
	{"receiving", "ceterms:transferValue", credits, Required, func(t transferValue) any { return t.credits() }},
	{"sending", "ceterms:transferValueFrom", nodes, Recommended, func(t transferValue) any { return t.from() }},
	{"receiving", "ceterms:transferValueFor", references, Recommended, func(t transferValue) any {
		var public []string
		for _, id := range t.GrantedCourses() {
			public = append(public, t.Courses[id])
		}
		return public
	}},
	{"effectiveFrom", "ceterms:startDate", plain, "", func(t transferValue) any { return t.EffectiveFrom }},
	{"effectiveTo", "ceterms:endDate", plain, "", func(t transferValue) any { return t.EffectiveTo }},
	{"supersedes", "ceterms:supersedes", reference, "", func(t transferValue) any { return t.Supersedes }},
}

// TransferValueEntity describes one alternative of an articulation.
func TransferValueEntity(o Organization, t TransferValue, ctid string) Entity {
	return describe(o, "ceterms:TransferValueProfile", ctid, transferValue{t, o, ctid}, transferValues)
}

// transferValue is an alternative with what its description is made from besides.
type transferValue struct {
	TransferValue
	organization Organization
	ctid         string
}

func (t transferValue) courses() []catalog.SendingCourse { return t.Sending[t.Alternative].Courses }

// sent returns the codes of the alternative's courses.
func (t transferValue) sent() string {
	var codes []string
	for _, c := range t.courses() {
		codes = append(codes, c.Code)
	}
	return strings.Join(codes, " + ")
}

// granted returns the codes or labels of what is granted.
func (t transferValue) granted() string {
	codes := map[string]string{}
	for _, stamp := range t.Granted {
		codes[stamp.CourseID] = stamp.Code
	}
	var names []string
	for _, grant := range t.Receiving {
		names = append(names, cmp.Or(text(grant.Label), codes[text(grant.CourseID)]))
	}
	if len(names) == 0 {
		return "no credit"
	}
	return strings.Join(names, " + ")
}

// credits returns the sums of the granted credits, one for each unit.
func (t transferValue) credits() (sums []*catalog.Credits) {
	for _, grant := range t.Receiving {
		if grant.Credits == nil {
			continue
		}
		i := slices.IndexFunc(sums, func(sum *catalog.Credits) bool { return sum.Unit == grant.Credits.Unit })
		if i < 0 {
			i, sums = len(sums), append(sums, &catalog.Credits{Unit: grant.Credits.Unit})
		}
		sums[i].Min += grant.Credits.Min
		sums[i].Max += grant.Credits.Max
	}
	return sums
}

// from returns blank nodes for the alternative's courses. The first one contains the node of their institution.
func (t transferValue) from() (courses []object) {
	institution := object{
		"@id": "_:" + t.ctid + "-institution", "@type": "ceterms:CredentialOrganization",
		"ceterms:name": words.write(t.organization, t.SendingInstitution.Name),
	}
	if code := text(t.SendingInstitution.Code); code != "" {
		institution["ceterms:identifier"] = identifiers(text(t.SendingInstitution.CodeType)).write(t.organization, code)
	}
	var owner any = institution
	for i, c := range t.courses() {
		courses = append(courses, object{
			"@id": "_:" + t.ctid + "-course-" + strconv.Itoa(i+1), "@type": "ceterms:Course",
			"ceterms:name":          words.write(t.organization, cmp.Or(text(c.Title), c.Code)),
			"ceterms:codedNotation": c.Code, "ceterms:ownedBy": list(owner),
		})
		owner = institution["@id"]
	}
	return courses
}
