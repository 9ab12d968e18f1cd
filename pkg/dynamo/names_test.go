package dynamo_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/service"
)

// partition selects all rows of a partition.
func partition(table, pk string) *sdk.QueryInput {
	return &sdk.QueryInput{
		TableName: &table, KeyConditionExpression: aws.String("pk = :pk"), ConsistentRead: aws.Bool(true),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: pk}},
	}
}

// An external id leads to its record of every kind, also of one that has a parent.
func TestKnown(t *testing.T) {
	store, _ := newStore(t)
	ctx := t.Context()
	var course *catalog.Course
	var section *catalog.Section
	var transfer *catalog.TransferCourse
	commit(t, store, func(change *catalog.Change) error {
		dir, err := store.Directory(ctx, org, catalog.CourseKind)
		if err != nil {
			return err
		}
		packages, err := store.Directory(ctx, org, catalog.TransferPackageKind)
		if err != nil {
			return err
		}
		course, section = &catalog.Course{Name: "Course", Code: "C 1"}, &catalog.Section{Name: "Section"}
		change.AddCourse(course, &catalog.Section{}, ids, dir, store.Now)
		if err := change.AddSection(section, course, ids, store.Now); err != nil {
			return err
		}
		pack := &catalog.TransferPackage{Meta: catalog.NewMeta(ids.Sequenced(catalog.TransferPackageKind, packages.Take()), org, store.Now())}
		transfer = &catalog.TransferCourse{Meta: catalog.NewMeta(ids.Ordered(catalog.TransferCourseKind, store.Now(), 0, 0), org, store.Now()), PackageID: pack.ID}
		change.Create(pack, packages)
		change.Create(transfer, nil)
		for _, r := range []catalog.Record{course, section, pack, transfer} {
			change.AssignExternalID(r, "X 1")
		}
		return nil
	})
	for kind, want := range map[catalog.Kind]string{catalog.CourseKind: course.ID, catalog.SectionKind: section.ID, catalog.TransferCourseKind: transfer.ID} {
		known, err := store.Known(ctx, org, kind, []string{"X 1", "X 2", "X 1"})
		if err != nil {
			t.Fatal(err)
		}
		if len(known) != 1 || known["X 1"].Was != want || known["X 1"].Record == nil || known["X 1"].Record.Base().ID != want {
			t.Errorf("%s: %+v, want %s", kind, known, want)
		}
		if other, err := store.Known(ctx, "org_other", kind, []string{"X 1"}); err != nil || len(other) != 0 {
			t.Errorf("%s: another organization knows %v %v", kind, other, err)
		}
	}
	known, sections, err := store.KnownCourses(ctx, org, []string{"X 1", "X 2"})
	if err != nil || len(known) != 1 || known["X 1"].Was != course.ID {
		t.Errorf("%+v %v", known, err)
	}
	if len(sections) != 1 || sections[course.DefaultSectionID] == nil {
		t.Errorf("default sections: %v, want %s", sections, course.DefaultSectionID)
	}
}

// The external id of a deleted record is known without its record, and the next
// record takes it over.
func TestKnownDeleted(t *testing.T) {
	store, _ := newStore(t)
	ctx := t.Context()
	create := func(was string) (*catalog.Job, error) {
		dir, err := store.Directory(ctx, org, catalog.JobKind)
		if err != nil {
			return nil, err
		}
		job := &catalog.Job{Meta: catalog.NewMeta(ids.Sequenced(catalog.JobKind, dir.Take()), org, store.Now())}
		var change catalog.Change
		change.Create(job, dir)
		change.AssignExternalID(job, "J")
		if err := change.Resolve(map[string]catalog.ExternalID{"J": {Name: "J", Was: was}}, nil, ""); err != nil {
			return nil, err
		}
		return job, store.Commit(ctx, org, &change)
	}
	first, err := create("")
	if err != nil {
		t.Fatal(err)
	}
	// Somebody who has not seen the first cannot make a second of the same name.
	if _, err := create(""); !errors.Is(err, catalog.ErrStale) {
		t.Errorf("the same name twice: %v", err)
	}
	if _, total, err := service.List[*catalog.Job](ctx, store, org, 0, 1); err != nil || total != 1 {
		t.Errorf("%d jobs %v", total, err)
	}
	// What another process remembers of the name does not matter.
	other := &dynamo.Store{Client: store.Client, Table: store.Table, Now: store.Now}
	for range 2 {
		known, err := other.Known(ctx, org, catalog.JobKind, []string{"J"})
		if err != nil || known["J"].Record == nil || known["J"].Record.Base().ID != first.ID {
			t.Errorf("known %+v %v", known, err)
		}
	}
	if err := deleteJob(ctx, store, first.ID); err != nil {
		t.Fatal(err)
	}
	for _, store := range []*dynamo.Store{store, other} {
		known, err := store.Known(ctx, org, catalog.JobKind, []string{"J"})
		if err != nil || known["J"].Was != first.ID || known["J"].Record != nil {
			t.Errorf("known %+v %v", known, err)
		}
	}
	second, err := create(first.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, store := range []*dynamo.Store{store, other} {
		known, err := store.Known(ctx, org, catalog.JobKind, []string{"J"})
		if err != nil || known["J"].Record == nil || known["J"].Record.Base().ID != second.ID {
			t.Errorf("known %+v %v", known, err)
		}
	}
}
