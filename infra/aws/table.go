package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"

	"skillscurriculum/pkg/api"
)

// table is the table that the functions use.
type table struct {
	name, arn *string
	stream    *string // nil for a restored table
}

// newTable creates the table with a generated name, so that a retained table does not
// conflict with the next stack's. If the stage uses a restored table, newTable returns that
// one, and the stack's own table stays.
func newTable(stack awscdk.Stack, s stage, key awskms.IKey) table {
	attribute := func(name string, kind awsdynamodb.AttributeType) *awsdynamodb.Attribute {
		return &awsdynamodb.Attribute{Name: jsii.String(name), Type: kind}
	}
	props := &awsdynamodb.TableProps{
		PartitionKey:        attribute(api.PartitionKey, awsdynamodb.AttributeType_STRING),
		SortKey:             attribute(api.SortKey, awsdynamodb.AttributeType_STRING),
		BillingMode:         awsdynamodb.BillingMode_PAY_PER_REQUEST,
		TimeToLiveAttribute: jsii.String(api.TTL),
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: jsii.Bool(true),
		},
		Stream:             awsdynamodb.StreamViewType_KEYS_ONLY,
		DeletionProtection: jsii.Bool(s.production()),
		RemovalPolicy:      s.data(),
	}
	if key != nil {
		props.Encryption, props.EncryptionKey = awsdynamodb.TableEncryption_CUSTOMER_MANAGED, key
	}
	own := awsdynamodb.NewTable(stack, jsii.String("Table"), props)
	own.AddGlobalSecondaryIndex(&awsdynamodb.GlobalSecondaryIndexProps{
		IndexName:      jsii.String(api.PendingIndex),
		PartitionKey:   attribute(api.PendingIndexPartitionKey, awsdynamodb.AttributeType_STRING),
		SortKey:        attribute(api.PendingIndexSortKey, awsdynamodb.AttributeType_NUMBER),
		ProjectionType: awsdynamodb.ProjectionType_KEYS_ONLY,
	})
	serving := table{own.TableName(), own.TableArn(), own.TableStreamArn()}
	if s.table != "" {
		serving = table{name: jsii.String(s.table), arn: stack.FormatArn(&awscdk.ArnComponents{
			Service: jsii.String("dynamodb"), Resource: jsii.String("table"), ResourceName: jsii.String(s.table),
		})}
	}
	output(stack, "TableName", "The table that the functions use", serving.name)
	return serving
}
