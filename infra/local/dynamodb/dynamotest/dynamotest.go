// Package dynamotest runs a package's tests on DynamoDB Local, one server for the
// test binary and one table for each test.
package dynamotest

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"testing"
	"time"

	"skillscurriculum/infra/local/dynamodb"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
)

var endpoint string

// Main is the whole of a package's TestMain.
func Main(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	started, stop, err := dynamodb.Start(context.Background(), "")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stop()
	endpoint = started
	return m.Run()
}

// Endpoint returns the server's URL.
func Endpoint() string { return endpoint }

// Environment returns the variables with which boot.Read finds a table that
// nobody else uses and that is not made yet.
func Environment() map[string]string {
	return dynamodb.Environment(endpoint, catalog.IDs{Random: rand.Reader}.New("test_"))
}

// NewStore returns a store on a new, empty table.
func NewStore(t testing.TB) *dynamo.Store {
	t.Helper()
	store := &dynamo.Store{
		Client: dynamodb.Client(endpoint), Table: catalog.IDs{Random: rand.Reader}.New("test_"),
		Now: func() catalog.Time { return catalog.TimeOf(time.Now()) },
	}
	if err := store.CreateTable(context.Background()); err != nil {
		t.Fatal(err)
	}
	return store
}
