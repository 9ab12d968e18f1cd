package rest_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/catalog"
	usecase "skillscurriculum/pkg/service"
)

// extracted is a draft whose evidence compares two extractions, each of a document of
// its own.
type extracted struct {
	*service
	pack, transfer, course, section, draft string
}

func newExtracted(t *testing.T) *extracted {
	s := &extracted{service: newService(t)}
	s.pack, s.transfer, s.course, s.section = s.one.compared()
	s.extract("first", 4)
	s.draft = s.one.articulation(elective().with("sending", []fields{{"courses": []fields{{"code": "CIS 12", "transferCourseId": s.transfer}}}}, "receiving", []fields{{"courseId": s.course}}))
	return s
}

// extract extracts the section's skills from a document; the transfer course has the
// first of them at level 3.
func (s *extracted) extract(document string, level int) {
	s.t.Helper()
	s.one.must(200, "PATCH", "/courses/"+s.course+"/sections/"+s.section, fmt.Sprintf(`{"syllabusHref":"https://example.edu/%s.html"}`, document))
	outcome := resultOf(found(s.one.known(1)[0], level, 0.9))
	outcome.Provenance.DocumentSHA256 = document
	s.finish(s.queue.sent[len(s.queue.sent)-1], outcome)
}

func (s *extracted) approve() reply {
	s.t.Helper()
	s.one.move(200, s.draft, "IN_REVIEW")
	return s.one.move(200, s.draft, "APPROVED")
}

// TestEvidenceIsOfOneExtraction: a section that is extracted again while an articulation
// is approved is compared as it was, and the evidence says with what it was extracted.
func TestEvidenceIsOfOneExtraction(t *testing.T) {
	t.Parallel()
	s := newExtracted(t)
	w := s.tap()
	s.one.move(200, s.draft, "IN_REVIEW")
	var once sync.Once
	w.through(func(c call) (any, error) {
		out, err := c.next()
		if _, batch := c.input.(*sdk.BatchGetItemInput); batch && c.reads(catalog.SectionKind) {
			once.Do(func() {
				w.through(nil)
				s.extract("second", 3)
			})
		}
		return out, err
	})
	approved := s.one.move(200, s.draft, "APPROVED")
	once.Do(func() { t.Error("no section was read") })
	approved.want("evidence.skillsMatchScore", 0.75)
	approved.want("evidence.extraction.section.documentSha256", "first")
}

// TestEvidenceOfEarlierExtractions: how skills were extracted did not always stand in
// their records.
func TestEvidenceOfEarlierExtractions(t *testing.T) {
	t.Parallel()
	s := newExtracted(t)
	for pk, sk := range map[string]string{"o#org_one#Section": s.section, "o#org_one#TransferCourse#" + s.pack: s.transfer} {
		out, err := s.store.Client.UpdateItem(t.Context(), &sdk.UpdateItemInput{
			TableName: &s.store.Table, Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk}},
			UpdateExpression: aws.String("REMOVE provenance"), ReturnValues: types.ReturnValueUpdatedOld,
		})
		if err != nil || out.Attributes["provenance"] == nil {
			t.Fatalf("%s: %v, %v", pk, out, err)
		}
	}
	approved := s.approve()
	approved.want("evidence.extraction.section.documentSha256", "first")
	approved.want("evidence.extraction.transferCourse.finishedAt", s.clock.Now())
}

// TestArticulationPageReadsOnce: the page of a draft compares what it shows, and reads no
// record twice for that.
func TestArticulationPageReadsOnce(t *testing.T) {
	t.Parallel()
	s := newExtracted(t)
	w := s.tap()
	path := "/articulations/" + s.draft + "?format=html"
	s.one.page(path) // makes the caller known
	var mu sync.Mutex
	rows := map[string]int{}
	w.through(func(c call) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		for _, key := range c.keys() {
			if strings.HasPrefix(key, "o#") {
				rows[key]++
			}
		}
		return c.next()
	})
	s.one.page(path, "<q>it</q>")
	w.through(nil)
	want := map[string]int{}
	course, err := usecase.Get[*catalog.Course](t.Context(), s.store, "org_one", s.course, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"Articulation", "Course", "TransferPackage"} {
		want["o#org_one#"+kind+" 0000000000"] = 1
	}
	want["o#org_one#TransferCourse#"+s.pack+" "+s.transfer] = 1
	want["o#org_one#evidence "+s.section], want["o#org_one#evidence "+s.transfer] = 1, 1
	for _, section := range course.Sections {
		want["o#org_one#Section "+section.ID] = 1
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("how often rows were read: %s", diff)
	}
}

// keys lists the rows that a call reads by their keys.
func (c call) keys() (keys []string) {
	add := func(key map[string]types.AttributeValue) {
		keys = append(keys, key["pk"].(*types.AttributeValueMemberS).Value+" "+key["sk"].(*types.AttributeValueMemberS).Value)
	}
	switch in := c.input.(type) {
	case *sdk.GetItemInput:
		add(in.Key)
	case *sdk.BatchGetItemInput:
		for _, wanted := range in.RequestItems {
			for _, key := range wanted.Keys {
				add(key)
			}
		}
	}
	return keys
}

// TestIncludeText: the text of a section or transfer course is what its evidence counts in.
func TestIncludeText(t *testing.T) {
	t.Parallel()
	s := newExtracted(t)
	s.one.must(200, "PATCH", "/courses/"+s.course+"/sections/"+s.section, `{"syllabusHref":"https://example.edu/third.html"}`)
	outcome := resultOf(found(s.one.known(1)[0], 4, 0.9))
	outcome.Text = "Students weld \u202esteel."
	s.finish(s.queue.sent[len(s.queue.sent)-1], outcome)
	section := "/courses/" + s.course + "/sections/" + s.section
	s.one.must(200, "GET", section+"?include=evidence,text", "").want("text", outcome.Text)
	if strings.Contains(s.one.must(200, "GET", section, "").whole().fields("whole"), "text") {
		t.Error("the text is there without being asked for")
	}
	course := s.one.must(201, "POST", "/courses", `{"name":"Joining steel","code":"W 1","description":"How to weld."}`)
	s.one.must(200, "GET", "/courses/"+course.text("id")+"/sections/"+course.text("defaultSectionId")+"?include=text", "").want("text", "Joining steel\n\nHow to weld.")
	transfer := s.one.must(201, "POST", "/transfer-packages/"+s.pack+"/courses", `{"courses":[{"name":"Welding"}]}`)
	s.one.must(200, "GET", "/transfer-packages/"+s.pack+"/courses/"+transfer.text("0.id")+"?include=text", "").want("text", "Welding")
}

// TestIncludeOutcomes: a section shows the outcomes of its syllabus, of the last extraction, also of the same text again.
func TestIncludeOutcomes(t *testing.T) {
	t.Parallel()
	s := newExtracted(t)
	section := "/courses/" + s.course + "/sections/" + s.section
	s.one.must(200, "GET", section+"?include=outcomes", "").want("foundOutcomes", []any{})
	if strings.Contains(s.one.must(200, "GET", section, "").whole().fields("whole"), "foundOutcomes") {
		t.Error("outcomes are there without being asked for")
	}
	skill := s.one.known(1)[0]
	s.one.must(200, "PATCH", section, `{"syllabusHref":"https://example.edu/outcomes.html"}`)
	outcome := resultOf(found(skill, 4, 0.9))
	outcome.Provenance.Source = catalog.FromSyllabus
	outcome.Outcomes = []catalog.FoundOutcome{{
		Number: 1, Code: new("CO 1"), Statement: "Weld steel", Page: 2, Start: 9, End: 19, Level: 3,
		LevelSource: catalog.VerbLevel, Verb: new("Weld"), SkillIDs: []string{skill},
	}}
	s.finish(s.queue.sent[len(s.queue.sent)-1], outcome)
	want := []any{map[string]any{
		"number": 1.0, "code": "CO 1", "statement": "Weld steel", "page": 2.0, "start": 9.0, "end": 19.0, "level": 3.0,
		"levelSource": "VERB", "verb": "Weld", "skillIds": []any{skill},
	}}
	s.one.must(200, "GET", section+"?include=outcomes,evidence", "").want("foundOutcomes", want)
	s.one.must(200, "PATCH", section, `{"skills":[]}`)
	s.one.must(200, "GET", section+"?include=outcomes", "").want("foundOutcomes", want)
	s.one.must(200, "PATCH", section, `{"syllabusHref":null}`)
	s.one.must(200, "GET", section+"?include=outcomes", "").want("foundOutcomes", []any{})
	s.one.must(400, "GET", "/transfer-packages/"+s.pack+"/courses/"+s.transfer+"?include=outcomes", "")
}
