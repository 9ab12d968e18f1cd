// Package dynamotest runs a package's tests on DynamoDB Local, with one server per
// test binary and one table per test.
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

// Main is the body of a package's TestMain.
func Main(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	started, stop, err := dynamodb.Server{}.Start(context.Background())
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

// Environment returns the environment variables with which boot.Read uses a new table
// name. The table does not exist yet.
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
