package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
)

// Client talks to a local DynamoDB, which takes any credentials.
func Client(endpoint string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String(endpoint),
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

// CreateTable makes the service's table as the deployment does, unless it is there.
func CreateTable(ctx context.Context, client *dynamodb.Client, name string) error {
	attribute := func(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: kind}
	}
	key := func(partition, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{
			{AttributeName: aws.String(partition), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String(sort), KeyType: types.KeyTypeRange},
		}
	}
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   aws.String(name),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			attribute(api.PartitionKey, types.ScalarAttributeTypeS),
			attribute(api.SortKey, types.ScalarAttributeTypeS),
			attribute(api.OpenIndexPartitionKey, types.ScalarAttributeTypeS),
			attribute(api.OpenIndexSortKey, types.ScalarAttributeTypeN),
		},
		KeySchema: key(api.PartitionKey, api.SortKey),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String(api.OpenIndex),
			KeySchema:  key(api.OpenIndexPartitionKey, api.OpenIndexSortKey),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}},
	})
	var exists *types.ResourceInUseException
	if errors.As(err, &exists) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create table %s: %w", name, err)
	}
	err = dynamodb.NewTableExistsWaiter(client).Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(name)}, time.Minute)
	if err != nil {
		return fmt.Errorf("create table %s: %w", name, err)
	}
	_, err = client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               aws.String(name),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(api.TTL), Enabled: aws.Bool(true)},
	})
	if err != nil {
		return fmt.Errorf("expiry of table %s: %w", name, err)
	}
	return nil
}
