package extraction

import (
	"slices"
	"strings"
	"testing"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/skills"
)

// starterSkills returns all skills of the starter vocabulary.
func starterSkills() []skills.Skill {
	all, _ := skills.Starter().Search("", skills.Starter().Info().Skills, 0)
	return all
}

// TestStarterLabelsAreDistinct compares labels by stems, as the matcher does.
func TestStarterLabelsAreDistinct(t *testing.T) {
	owner := map[string]string{}
	for _, s := range starterSkills() {
		for _, label := range append([]string{s.Name}, s.Aliases...) {
			k := LabelKey(label)
			if k == "" {
				t.Errorf("%s: the label %q has no stems", s.ID, label)
			}
			if other, taken := owner[k]; taken && other != s.ID {
				t.Errorf("%s and %s have the same stems: %q", other, s.ID, label)
			}
			owner[k] = s.ID
		}
	}
}

// everydayWords stand in syllabi of every field. None may be the whole of a label,
// nor have the stem of one: "act" would find acting, "determine" determinants.
const everydayWords = `ability absence academic access accommodation act action activity add address age agree answer
	apply appoint area art assess assign assist attend attention audience
	available base basis behavior benefit book bring build calendar call campus canvas care case center change chapter
	character choice choose class code collect college come commit complete concept
	conduct connect consider construct contact content contribute coordinate course cover create credit critic current
	cycle date day deadline decide define degree demonstrate department depend
	describe determine develop differ differentiate direct discover discuss draft draw due effect email emphasis
	encourage engage event exam exercise expect explain explore express extension extra
	face factor factors fail feel field figure final find fit focus follow foot form foundation free full gain goal good
	grade group guide hand help high home homework honor hour idea identify image impact
	include increase individual influence inform instructor integrate interest introduce issue item journal keep key lab
	late learn lecture lesson letter level light list local look loop main
	make manner material matter mean meet midterm mind module need new note number objective observe offer office online
	open opportunity option order orient outcome outside overview page
	paper parent part participate pass people perform period person place plan point policy post practice prepare present
	problem professor program progress project protect prove provide public
	purchase purpose question quiz random range reach read reading reason receive recognize record refer reflect relate
	report represent request require research resource respond response
	responsible rest result review role romantic room rubric rule sample schedule score section select semester sense
	separate serve set share show sign site size skill solution source speak
	special specific start statement step stop strong structure student study style subject submit success sugar support
	survey syllabus synthesize take talk task teach team term test text textbook theme
	think time title tool topic total track train transform turn type understand unit urban use value view visit vocal
	voice volume week weather web work workshop world write year`

func TestStarterLabelsAreNoEverydayWords(t *testing.T) {
	everyday := map[string]string{}
	for w := range strings.FieldsSeq(everydayWords) {
		everyday[fold(w)] = w
	}
	letters := []string{"C", "R"} // languages, which the matcher takes only as capitals
	for _, s := range starterSkills() {
		for _, label := range append([]string{s.Name}, s.Aliases...) {
			stems := contentStems(label)
			if len(stems) != 1 {
				continue
			}
			if word, common := everyday[stems[0]]; common {
				t.Errorf("%s: the label %q is found wherever %q stands", s.ID, label, word)
			}
			if len(stems[0]) == 1 && !slices.Contains(letters, label) {
				t.Errorf("%s: the label %q is a letter", s.ID, label)
			}
		}
	}
}

// TestStarterFindsWhatCoursesName tries one sentence of each of many fields.
func TestStarterFindsWhatCoursesName(t *testing.T) {
	e := NewExtractor(Starter(), opened(t))
	for _, c := range []struct{ course, outcome, skill string }{
		{"Maternal-Child Nursing", "Interpret electronic fetal monitoring during labor.", "core:fetal-monitoring"},
		{"Dental Assisting", "Mix and pour dental materials.", "core:dental-materials"},
		{"Culinary Techniques", "Demonstrate knife skills and mise en place.", "core:knife-skills"},
		{"Financial Accounting", "Prepare journal entries and a trial balance.", "core:trial-balance"},
		{"English Composition", "Revise and edit essays with a clear thesis statement.", "core:thesis-development"},
		{"Child Development", "Record anecdotal records of young children.", "core:anecdotal-records"},
		{"Criminal Law", "Explain mens rea and actus reus.", "core:actus-reus-and-mens-rea"},
		{"Gas Metal Arc Welding", "Make fillet and groove welds on steel plate.", "core:weld-positions-and-joints"},
		{"Introduction to Old Testament", "Interpret passages of the Pentateuch.", "core:hebrew-bible"},
		{"Supply Chain Management", "Compute safety stock.", "core:safety-stock"},
		{"Introduction to Sociology", "Compare functionalism, conflict theory and symbolic interactionism.",
			"core:symbolic-interactionism"},
		{"Fashion Design", "Drape a bodice using flat pattern drafting.", "core:flat-pattern-drafting"},
		{"Military Science", "Apply small unit tactics in the field.", "core:small-unit-tactics"},
		{"Women's Studies", "Discuss intersectionality theory.", "core:intersectionality-theory"},
	} {
		r := extracted(t, e, course(c.course, "", "Course Outcomes", c.outcome))
		if !slices.ContainsFunc(r.Skills, func(s catalog.SkillRef) bool { return s.SkillID == c.skill }) {
			t.Errorf("%q does not lead to %s: %v", c.outcome, c.skill, r.Skills)
		}
	}
}

// TestStarterReadsOutcomesOfPrograms tries what programs of all fields promise, as they put it.
func TestStarterReadsOutcomesOfPrograms(t *testing.T) {
	e := NewExtractor(Starter(), opened(t))
	for statement, skill := range map[string]string{
		"Communicate effectively in a variety of professional contexts.":                   "core:communication-skills",
		"Communicate effectively orally and in writing.":                                   "core:communication-skills",
		"Work effectively in teams.":                                                       "core:teamwork",
		"Function effectively as a member or leader of a team.":                            "core:teamwork",
		"Lead a team toward shared goals.":                                                 "core:leadership",
		"Manage time and set priorities.":                                                  "core:time-management",
		"Think critically and solve problems.":                                             "core:problem-solving",
		"Conduct research using appropriate methods.":                                      "core:conducting-research",
		"Interpret blueprints and technical drawings.":                                     "core:blueprint-reading",
		"Recognize ethical and professional responsibilities and make informed judgments.": "core:professional-ethics",
		"Practice within legal and ethical standards of the nursing profession.":           "core:nursing-ethics-and-law",
	} {
		r, err := e.Statement(t.Context(), statement)
		if err != nil || !slices.ContainsFunc(r.Skills, func(s catalog.SkillRef) bool { return s.SkillID == skill }) {
			t.Errorf("%q does not lead to %s: %v, %v", statement, skill, r.Skills, err)
		}
	}
}

// TestStarterReadsSentences tries what people type to see what extraction does.
func TestStarterReadsSentences(t *testing.T) {
	e := NewExtractor(Starter(), opened(t))
	for _, c := range []struct{ text, skill string }{
		{"Bake breads, pastries and cakes in a commercial kitchen.", "core:cakes-and-pastries"},
		{"Sing in a choir and read music at sight.", "core:sight-singing"},
		{"Drive a tractor-trailer and inspect it before each trip.", "core:truck-driving"},
		{"Students use GIS to map flood risk.", "core:geographic-information-systems"},
		{"Students will think critically and work in teams.", "core:critical-thinking"},
		{"Splice fiber optic cables and test them with an OTDR.", "core:fiber-optic-splicing"},
	} {
		r := extracted(t, e, document(c.text))
		if !slices.ContainsFunc(r.Skills, func(s catalog.SkillRef) bool { return s.SkillID == c.skill }) {
			t.Errorf("%q does not lead to %s: %v", c.text, c.skill, r.Skills)
		}
	}
	r := extracted(t, e, document("Students learn to weld in all positions."))
	if slices.ContainsFunc(r.Skills, func(s catalog.SkillRef) bool { return strings.Contains(s.SkillID, "learning") }) {
		t.Errorf("to learn to weld is not to study how students learn: %v", r.Skills)
	}
}

// TestLabelsOfOneMeaningfulWordStandLiterally tries labels of which only one word carries meaning.
func TestLabelsOfOneMeaningfulWordStandLiterally(t *testing.T) {
	for _, c := range []struct {
		text, skill string
		want        bool
	}{
		{"Debate determinism and free will.", "free will and determinism", true},
		{"Students are free to choose a topic.", "free will and determinism", false},
		{"Prepare for the A+ certification.", "technical support", true},
		{"Prepare for certification.", "technical support", false},
		{"Count rows with GROUP BY.", "joins and aggregation in SQL", true},
		{"Work in a group.", "joins and aggregation in SQL", false},
		{"Read about the Holocaust.", "Holocaust", true},
		{"Causes of the Reformation", "Protestant Reformation", true},
		{"Causes of Reformation", "Protestant Reformation", true},
		{"Causes of reform", "Protestant Reformation", false},
	} {
		if got := slices.Contains(considered(t, Starter(), course("Course", "", "Topics", c.text)), c.skill); got != c.want {
			t.Errorf("%q leads to %s: %t, expected %t", c.text, c.skill, got, c.want)
		}
	}
}

func TestHeadingsOfPartsNameNoSkill(t *testing.T) {
	for heading, want := range map[string]bool{"Learning Objectives": false, "Writing Learning Objectives": true} {
		got := considered(t, Starter(), course("Course", "", heading, "Bake bread"))
		if slices.Contains(got, "learning objectives") != want {
			t.Errorf("the heading %q leads to %v", heading, got)
		}
	}
}
