package dynamo_test

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"sync"
	"testing"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"skillscurriculum/infra/local/dynamodb/dynamotest"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/service"
)

func TestMain(m *testing.M) {
	// Properties of a store take a table's time; -rapid.checks asks for more.
	if err := flag.Set("rapid.checks", "25"); err != nil {
		panic(err)
	}
	dynamotest.Main(m)
}

const org = catalog.OrgID("org_test")

var ids = catalog.IDs{Random: rand.Reader}

// clock is a clock that tests move.
type clock struct {
	mu  sync.Mutex
	now catalog.Time
}

func (c *clock) Now() catalog.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Add(ms catalog.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += ms
}

// newStore returns a store on a table of its own.
func newStore(t *testing.T) (*dynamo.Store, *clock) {
	t.Helper()
	at := &clock{now: 1_795_000_000_000}
	store := dynamotest.NewStore(t)
	store.Now = at.Now
	return store, at
}

// call is one call of the SDK, before its retries.
type call struct {
	operation string
	input     any
	next      func() (any, error)
}

// through returns a store on the same table whose calls pass a hook.
func through(store *dynamo.Store, hook func(call) (any, error)) *dynamo.Store {
	step := middleware.InitializeMiddlewareFunc("hook", func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		var metadata middleware.Metadata
		result, err := hook(call{awsmiddleware.GetOperationName(ctx), in.Parameters, func() (any, error) {
			out, m, err := next.HandleInitialize(ctx, in)
			metadata = m
			return out.Result, err
		}})
		return middleware.InitializeOutput{Result: result}, metadata, err
	})
	client := sdk.New(store.Client.Options(), func(o *sdk.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error { return stack.Initialize.Add(step, middleware.After) })
	})
	return &dynamo.Store{Client: client, Table: store.Table, Now: store.Now}
}

// commit decides a change and saves it, anew as long as others were faster.
func commit(t *testing.T, store *dynamo.Store, decide func(*catalog.Change) error) {
	t.Helper()
	if err := tryCommit(t.Context(), store, decide); err != nil {
		t.Fatal(err)
	}
}

func tryCommit(ctx context.Context, store *dynamo.Store, decide func(*catalog.Change) error) error {
	for {
		var change catalog.Change
		if err := decide(&change); err != nil {
			return err
		}
		if err := store.Commit(ctx, org, &change); err != catalog.ErrStale {
			return err
		}
	}
}

// newJob saves a job, the simplest of listed records.
func newJob(ctx context.Context, store *dynamo.Store, name string) (id string, err error) {
	err = tryCommit(ctx, store, func(change *catalog.Change) error {
		dir, err := store.Directory(ctx, org, catalog.JobKind)
		if err != nil {
			return err
		}
		job := &catalog.Job{Meta: catalog.NewMeta(ids.Sequenced(catalog.JobKind, dir.Take()), org, store.Now()), Name: name}
		id = job.ID
		change.Create(job, dir)
		return nil
	})
	return id, err
}

func deleteJob(ctx context.Context, store *dynamo.Store, id string) error {
	return tryCommit(ctx, store, func(change *catalog.Change) error {
		job, err := service.Get[*catalog.Job](ctx, store, org, id, true)
		if err != nil {
			return err
		}
		dir, err := store.Directory(ctx, org, catalog.JobKind)
		if err != nil {
			return err
		}
		change.Delete(job, store.Now(), dir)
		return nil
	})
}

// newCourse saves a course with its default section.
func newCourse(ctx context.Context, store *dynamo.Store, name string) (course *catalog.Course, err error) {
	err = tryCommit(ctx, store, func(change *catalog.Change) error {
		dir, err := store.Directory(ctx, org, catalog.CourseKind)
		if err != nil {
			return err
		}
		course = &catalog.Course{Name: name, Code: "C 1"}
		change.AddCourse(course, &catalog.Section{}, ids, dir, store.Now)
		return nil
	})
	return course, err
}

func isCode(err error, code catalog.Code) bool {
	var known *catalog.Error
	return errors.As(err, &known) && known.Code == code
}
