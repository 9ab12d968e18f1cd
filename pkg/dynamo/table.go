package dynamo

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
)

// CreateTable creates the table unless it exists, for local use and tests. In AWS the
// deployment creates it with the same keys. The table has no stream: where one is
// enabled, DynamoDB Local writes far more slowly.
func (s *Store) CreateTable(ctx context.Context) error {
	attribute := func(name string, t types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: t}
	}
	keys := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{
			{AttributeName: &hash, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange},
		}
	}
	_, err := s.Client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: &s.Table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			attribute(api.PartitionKey, types.ScalarAttributeTypeS), attribute(api.SortKey, types.ScalarAttributeTypeS),
			attribute(api.PendingIndexPartitionKey, types.ScalarAttributeTypeS),
			attribute(api.PendingIndexSortKey, types.ScalarAttributeTypeN),
		},
		KeySchema: keys(api.PartitionKey, api.SortKey),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String(api.PendingIndex), KeySchema: keys(api.PendingIndexPartitionKey, api.PendingIndexSortKey),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}},
	})
	var exists *types.ResourceInUseException
	if err != nil && !errors.As(err, &exists) {
		return unavailable(err)
	}
	return dynamodb.NewTableExistsWaiter(s.Client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 50*time.Millisecond, time.Second
	}).Wait(ctx, &dynamodb.DescribeTableInput{TableName: &s.Table}, time.Minute)
}

// EnableStream enables the table's stream, for local use, as the deployment does.
func (s *Store) EnableStream(ctx context.Context) error {
	table, err := s.Client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &s.Table})
	if err == nil && table.Table.StreamSpecification == nil {
		_, err = s.Client.UpdateTable(ctx, &dynamodb.UpdateTableInput{
			TableName: &s.Table,
			StreamSpecification: &types.StreamSpecification{
				StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly,
			},
		})
	}
	if err != nil {
		return unavailable(err)
	}
	return nil
}
