package validators_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skillscurriculum/infra/terms/validators"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/ctdl"
)

// organizations is the number of random organizations that are validated.
const organizations = 1000

// The validators find nothing in what random organizations publish, each entity on its own and all of them as a graph.
func TestRandomOrganizationsAreValid(t *testing.T) {
	random := rapid.Custom(documents)
	var all [][]byte
	for seed := range organizations {
		all = append(all, random.Example(seed)...)
	}
	validators.Documents(t, all...)
}

// The validators find what is wrong.
func TestFaultsAreFound(t *testing.T) {
	faulty := [][2]string{
		{"DOMAIN_VIOLATION", `"@type":"ceterms:MicroCredential","ceterms:codedNotation":"CS 101"`},
		{"RANGE_VIOLATION", `"@type":"ceterms:Course","ceterms:creditValue":[{"@type":"ceterms:Course"}]`},
		{"CTID_NOT_UUIDV4", `"@type":"ceterms:Course","ceterms:ctid":"ce-00000000-0000-1000-8000-000000000000"`},
		{"PyLD drops ceterms:colour", `"@type":"ceterms:Course","ceterms:colour":null`},
		{"PyLD does not expand lives", `"@type":"ceterms:Course","ceterms:lifeCycleStatusType":"lives:Active"`},
	}
	var documents [][]byte
	for _, f := range faulty {
		documents = append(documents, []byte(
			`{"@context":"https://credreg.net/ctdl/schema/context/json","@id":"https://a.example/1",`+f[1]+`}`))
	}
	found := strings.Split(validators.Find(t, documents...), "\n")
	for number, f := range faulty {
		if !slices.ContainsFunc(found, func(line string) bool {
			return strings.HasPrefix(line, fmt.Sprint(number, " ")) && strings.Contains(line, f[0])
		}) {
			t.Errorf("%s was not found, but %q", f[0], found)
		}
	}
}

var texts = rapid.StringN(1, 80, 300)

func optional(t *rapid.T, what *rapid.Generator[string]) *string {
	if rapid.Bool().Draw(t, "given") {
		text := what.Draw(t, "text")
		return &text
	}
	return nil
}

func pick(t *rapid.T, values ...string) string { return rapid.SampledFrom(values).Draw(t, "value") }

var dates = rapid.StringMatching(`20[0-3]\d-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])`)

func pages(t *rapid.T) *string {
	return optional(t, rapid.StringMatching(`https://[a-z]{1,9}\.example/[a-z]{0,9}`))
}

func amounts(t *rapid.T) *catalog.Credits {
	if !rapid.Bool().Draw(t, "credits") {
		return nil
	}
	least := rapid.IntRange(0, 40).Draw(t, "least")
	most := rapid.IntRange(least, 80).Draw(t, "most")
	return &catalog.Credits{
		Min: float64(least) / 4, Max: float64(most) / 4,
		Unit: pick(t, "SEMESTER_HOUR", "QUARTER_HOUR", "ECTS", "CLOCK_HOUR", "CEU"),
	}
}

// some draws a sublist.
func some(t *rapid.T, all []string) []string {
	var drawn []string
	for _, one := range all {
		if rapid.Bool().Draw(t, "named") {
			drawn = append(drawn, one)
		}
	}
	return drawn
}

// documents draws the documents of one organization.
func documents(t *rapid.T) [][]byte {
	n := 0
	ids := func(prefix string, most int) (ids []string) {
		for range rapid.IntRange(1, most).Draw(t, prefix) {
			n++
			ids = append(ids, catalog.DerivedCTID(fmt.Sprint(prefix, n)))
		}
		return ids
	}
	o := ctdl.Organization{
		CTID: ids("org", 1)[0], Name: texts.Draw(t, "name"), Description: texts.Draw(t, "description"), Webpage: "https://college.example",
		AgentType: pick(t, "TwoYear", "orgType:FourYear", "Government"), Language: pick(t, "en-US", "es", "zh-Hans"),
		Base: "https://api.example/v1/public/example/ctdl/",
	}
	courses, programs, credentials, values := ids("course", 4), ids("program", 2), ids("credential", 2), ids("value", 2)
	var entities []ctdl.Entity
	taught := map[string][]string{} // outcomes of a course or program
	for _, owner := range append(append([]string{}, courses...), programs...) {
		if !rapid.Bool().Draw(t, "outcomes") {
			continue
		}
		f := ctdl.Framework{Code: "C", Name: texts.Draw(t, "name")}
		for i, ctid := range ids("outcome", 3) {
			c := ctdl.Competency{CTID: ctid, Outcome: catalog.Outcome{ID: ctid, Statement: texts.Draw(t, "statement"), Code: optional(t, texts)}}
			if i > 0 && rapid.Bool().Draw(t, "child") {
				c.ParentID = &f.Competencies[i-1].ID
			}
			if rapid.Bool().Draw(t, "aligned") {
				c.Alignments = []catalog.OutcomeAlignment{{Type: pick(t, "EXACT", "BROAD"), URI: pick(t, "urn:outcome:1", "https://other.example/1")}}
			}
			f.Competencies, taught[owner] = append(f.Competencies, c), append(taught[owner], ctid)
		}
		framework, competencies := ctdl.FrameworkEntity(o, f, catalog.DerivedCTID("framework"+owner))
		entities = append(append(entities, framework), competencies...)
	}
	// Every course is part of the programs that it is in, and only of those.
	parts, within := map[string][]string{}, map[string][]string{}
	for _, program := range programs {
		parts[program] = some(t, courses)
		for _, course := range parts[program] {
			within[course] = append(within[course], program)
		}
	}
	for _, ctid := range courses {
		c := ctdl.Course{Course: &catalog.Course{
			Name: texts.Draw(t, "name"), Code: texts.Draw(t, "code"), Description: optional(t, texts), Credits: amounts(t), Webpage: pages(t),
			Level:           optional(t, rapid.SampledFrom([]string{"LOWER_DIVISION", "UPPER_DIVISION", "GRADUATE", "NON_CREDIT"})),
			LifecycleStatus: pick(t, "PROPOSED", "ACTIVE", "RETIRED"), EffectiveFrom: optional(t, dates), EffectiveTo: optional(t, dates),
		}, Programs: within[ctid], Taught: ctdl.Taught{Outcomes: taught[ctid]}}
		c.ExternalID = optional(t, texts)
		if rapid.Bool().Draw(t, "skills") {
			c.Taught.Skills = ctdl.Skills([]catalog.SkillRef{
				{SkillID: "esco:8aeb-1", SkillName: texts.Draw(t, "skill"), Confidence: .75}, {SkillID: "2.A.1", SkillName: "Reading", Confidence: 1},
			}, "ESCO")
		}
		entities = append(entities, ctdl.CourseEntity(o, c, ctid))
	}
	for _, ctid := range programs {
		p := ctdl.Program{Program: &catalog.Program{
			Name: texts.Draw(t, "name"), Code: optional(t, texts), Description: optional(t, texts), Webpage: pages(t),
			LifecycleStatus: pick(t, "PROPOSED", "ACTIVE", "RETIRED"),
		}, Courses: parts[ctid], Credentials: some(t, credentials), Taught: ctdl.Taught{Outcomes: taught[ctid]}}
		if rapid.Bool().Draw(t, "cip") {
			p.CIP, p.SOC = []ctdl.Code{{Code: "11.0701", Name: "Computer Science"}}, []ctdl.Code{{Code: "15-1252"}, {Code: "15-1251"}}
		}
		entities = append(entities, ctdl.ProgramEntity(o, p, ctid))
	}
	for _, ctid := range credentials {
		entities = append(entities, ctdl.CredentialEntity(o, ctdl.Credential{Credential: &catalog.Credential{
			Name: texts.Draw(t, "name"), Description: optional(t, texts), Webpage: pages(t),
			CredentialType: pick(t, "MicroCredential", "AssociateDegree", "CertificateOfCompletion", "WorkBasedLearningCertificate"),
			Status:         pick(t, "ACTIVE", "SUSPENDED", "DEPRECATED", "TEACH_OUT"),
		}, Courses: some(t, courses)}, ctid))
	}
	for _, ctid := range values {
		a := &catalog.Articulation{
			SendingInstitution: catalog.Institution{Name: texts.Draw(t, "institution"), Code: optional(t, texts)},
			Sending: []catalog.Alternative{{Courses: []catalog.SendingCourse{
				{Code: texts.Draw(t, "code"), Title: optional(t, texts)}, {Code: texts.Draw(t, "code")},
			}}},
			PublicNote: optional(t, texts), EffectiveFrom: dates.Draw(t, "from"), EffectiveTo: optional(t, dates),
		}
		public := map[string]string{}
		for _, course := range some(t, courses) {
			public[course] = course
			a.Receiving = append(a.Receiving, catalog.Grant{CourseID: &course, Credits: amounts(t)})
			a.Granted = append(a.Granted, catalog.CourseStamp{CourseID: course, Code: strings.ToUpper(course[:7])})
		}
		value := ctdl.TransferValue{Articulation: a, Courses: public, Supersedes: pick(t, "", values[0])}
		entities = append(entities, ctdl.TransferValueEntity(o, value, ctid))
	}
	main := ctdl.OrganizationEntity(o)
	all := [][]byte{ctdl.Graph(main, entities...), main.JSON()}
	for _, e := range entities {
		all = append(all, e.JSON())
	}
	return all
}
