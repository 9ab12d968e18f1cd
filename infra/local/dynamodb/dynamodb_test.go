package dynamodb

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestDataPersists(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	endpoint, stop, err := Server{Dir: dir}.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	_, err = Client(endpoint).CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   aws.String("records"),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
	stop()

	endpoint, stop, err = Server{Dir: dir}.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	tables, err := Client(endpoint).ListTables(ctx, &dynamodb.ListTablesInput{})
	if err != nil || len(tables.TableNames) != 1 {
		t.Errorf("tables of the second server: %v, %v", tables, err)
	}
}

func TestStop(t *testing.T) {
	endpoint, stop, err := Server{}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := answers(t.Context(), endpoint); err != nil {
		t.Error(err)
	}
	stop()
	stop()
	if answers(t.Context(), endpoint) == nil {
		t.Error("still answers after stop")
	}
}

func TestMissingPrograms(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, _, err := (Server{}).Start(t.Context()); err == nil || !strings.Contains(err.Error(), "needs Java") {
		t.Errorf("without Java and Docker: %v", err)
	}
}

func TestMissingJar(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, _, err := (Server{}).Start(t.Context()); err == nil || !strings.Contains(err.Error(), "go.mod") {
		t.Errorf("outside the module: %v", err)
	}
}
