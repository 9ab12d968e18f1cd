package dynamo_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/service"
)

// A section gets another syllabus, or none, while the old one is being read: what
// the old one gives must not be kept.
func TestRunForAnotherSyllabusLosesItsClaim(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]catalog.Extraction{"another": {ProcessingStatus: catalog.Pending}, "none": {}} {
		t.Run(name, func(t *testing.T) {
			store, _ := newStore(t)
			section := newSection(t, store)
			job := catalog.ExtractionJob{OrganizationID: org, Kind: catalog.SectionKind, ID: section}
			task, err := store.Claim(t.Context(), job, "run_1", store.Now()+60_000)
			if err != nil {
				t.Fatal(err)
			}
			commit(t, store, func(change *catalog.Change) error {
				section, err := service.Get[*catalog.Section](t.Context(), store, org, section, true)
				if err != nil {
					return err
				}
				before := *section
				section.Extraction = next
				change.Replace(&before, section, store.Now())
				return nil
			})
			if err := store.Finish(t.Context(), task, &catalog.ExtractionResult{Skills: []catalog.SkillRef{{SkillID: "old", Level: 1}}}); !errors.Is(err, catalog.ErrFinished) {
				t.Errorf("the old run ends with %v", err)
			}
			after, err := service.Get[*catalog.Section](t.Context(), store, org, section, true)
			if err != nil || after.ProcessingStatus != next.ProcessingStatus || len(after.Skills) > 0 {
				t.Errorf("section %+v, %v", after, err)
			}
		})
	}
}

// newSection saves a course with a section that waits for its extraction.
func newSection(t *testing.T, store *dynamo.Store) (id string) {
	t.Helper()
	commit(t, store, func(change *catalog.Change) error {
		dir, err := store.Directory(t.Context(), org, catalog.CourseKind)
		if err != nil {
			return err
		}
		course := &catalog.Course{Name: "Course", Code: "C 1"}
		change.AddCourse(course, &catalog.Section{}, ids, dir, store.Now)
		section := &catalog.Section{Name: "Section", SyllabusHref: new("https://example.org/s.pdf")}
		err = change.AddSection(section, course, ids, store.Now)
		id = section.ID
		return err
	})
	return id
}

// The answer to a transaction is lost, and the SDK's own next attempt is told that
// it is in progress: nobody may take it for one that was refused.
func TestTransactionInProgressIsNotStale(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	doubtful := through(store, func(c call) (any, error) {
		out, err := c.next()
		if c.operation == "TransactWriteItems" {
			return nil, &types.TransactionInProgressException{}
		}
		return out, err
	})
	_, err := newJob(t.Context(), doubtful, "once")
	var known *catalog.Error
	if !errors.As(err, &known) || known.Code != catalog.Unavailable {
		t.Errorf("error %v", err)
	}
	if jobs, total, err := service.List[*catalog.Job](t.Context(), store, org, 0, 10); err != nil || total != 1 || len(jobs) != 1 {
		t.Errorf("%d jobs of %d, %v", len(jobs), total, err)
	}
}

// What DynamoDB calls wrong is our fault, and is not to be tried again.
func TestInvalidRequestsAreNotUnavailable(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	for name, wrong := range map[string]error{
		"request":     &smithy.GenericAPIError{Code: "ValidationException", Message: "number overflow"},
		"transaction": &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{{Code: aws.String("ValidationError")}}},
	} {
		broken := through(store, func(c call) (any, error) {
			if c.operation == "TransactWriteItems" {
				return nil, wrong
			}
			return c.next()
		})
		_, err := newJob(t.Context(), broken, "once")
		var known *catalog.Error
		if err == nil || errors.As(err, &known) || errors.Is(err, catalog.ErrStale) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
