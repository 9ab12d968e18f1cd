package dynamo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/service"
)

// longestCourse saves a course whose texts and sections are as long as they may be.
func longestCourse(t *testing.T, store *dynamo.Store) *catalog.Course {
	t.Helper()
	course, err := newCourse(t.Context(), store, "x")
	if err != nil {
		t.Fatal(err)
	}
	long := func(n int) *string { return new(strings.Repeat("𝄞", n)) }
	for full := false; !full; {
		commit(t, store, func(change *catalog.Change) (err error) {
			if course, err = service.Get[*catalog.Course](t.Context(), store, org, course.ID, true); err != nil {
				return err
			}
			before := *course
			course.Name, course.Code, course.Description, course.Webpage = *long(255), *long(50), long(10_000), long(2000)
			for range 5 {
				section := &catalog.Section{Name: *long(255), Description: long(10_000)}
				if full = change.AddSection(section, course, ids, store.Now) != nil; full {
					break
				}
			}
			change.Replace(&before, course, store.Now())
			return nil
		})
	}
	return course
}

// holdBy records holders of a course as if they had come one by one.
func holdBy(t *testing.T, store *dynamo.Store, course *catalog.Course, holders []string) *catalog.Course {
	t.Helper()
	seq, _ := catalog.Sequence(catalog.CourseKind, course.ID)
	_, err := store.Client.UpdateItem(t.Context(), &sdk.UpdateItemInput{
		TableName: &store.Table, UpdateExpression: aws.String("SET heldBy = :holders"),
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: "o#" + string(org) + "#Course"},
			"sk": &types.AttributeValueMemberS{Value: fmt.Sprintf("%010d", seq)},
		},
		ExpressionAttributeValues: map[string]types.AttributeValue{":holders": &types.AttributeValueMemberSS{Value: holders}},
	})
	if err != nil {
		t.Fatal(err)
	}
	held, err := service.Get[*catalog.Course](t.Context(), store, org, course.ID, true)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// The last holder that the rule lets in fits the row of the longest course, and the
// next is refused by the rule.
func TestLongestCourseTakesAllItsHolders(t *testing.T) {
	t.Parallel()
	store, at := newStore(t)
	holders := make([]string, catalog.MaxHolders-1)
	for i := range holders {
		holders[i] = ids.Sequenced(catalog.CredentialKind, i) + "/" + ids.Sequenced(catalog.SectionKind, i)
	}
	course := longestCourse(t, store)
	hold := func(course *catalog.Course) error {
		program := &catalog.Program{Meta: catalog.NewMeta(ids.Sequenced(catalog.ProgramKind, 1), org, at.Now()), CourseOrder: []string{course.ID}}
		var change catalog.Change
		if err := change.Hold(program, nil, map[string]*catalog.Course{course.ID: course}); err != nil {
			return err
		}
		return store.Commit(t.Context(), org, &change)
	}
	if err := hold(holdBy(t, store, course, holders)); err != nil {
		t.Fatal(err)
	}
	course, err := service.Get[*catalog.Course](t.Context(), store, org, course.ID, true)
	if err != nil || len(course.HeldBy) != catalog.MaxHolders {
		t.Fatalf("%d holders, %v", len(course.HeldBy), err)
	}
	if err := hold(course); !isCode(err, catalog.Conflict) {
		t.Errorf("one more: %v", err)
	}
}
