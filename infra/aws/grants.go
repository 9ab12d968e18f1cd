package main

import (
	"net/http"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"

	"skillscurriculum/pkg/api"
)

// grant is what a function may do beyond writing its own log and traces.
// Transactions need no right of their own: their items' rights count.
type grant struct {
	reads    []string // DynamoDB actions on rows that the function may read
	writes   []string // and on those that it may write (api.RowsOf)
	index    []string // DynamoDB actions on the pending index
	sends    bool     // may queue extraction jobs
	counts   bool     // may ask how many are queued
	notifies bool     // may queue messages for webhooks
	streams  bool     // reads the table's stream
	consumes func(queues) *string
	why      string
}

func grantOf(name string) grant {
	switch name {
	case api.Extractor:
		return grant{
			reads:    []string{"GetItem", "Query"},
			writes:   []string{"PutItem", "UpdateItem"},
			sends:    true,
			consumes: func(q queues) *string { return q.jobs.QueueArn() },
			why:      "claims a job, looks for the same document done before, stores the outcome and its change-feed entry, queues a later try; reads uploaded files; never deletes",
		}
	case api.Deliverer:
		return grant{
			reads:    []string{"GetItem", "Query"},
			writes:   []string{"PutItem", "UpdateItem"},
			index:    []string{"Query"},
			notifies: true,
			streams:  true,
			consumes: func(q queues) *string { return q.messages.QueueArn() },
			why:      "reads change feeds and webhooks, stores messages and the attempts at delivering them, finds those that are due in the index, queues later attempts, disables webhooks; reads no record and never deletes",
		}
	case api.Sweeper:
		return grant{
			reads:    []string{"BatchGetItem", "GetItem", "Query"},
			writes:   []string{"DeleteItem", "PutItem", "UpdateItem"},
			index:    []string{"Query"},
			sends:    true,
			counts:   true,
			consumes: func(q queues) *string { return q.dead.QueueArn() },
			why:      "finds pending extractions in the index, queues them again (sooner when nothing is queued), marks those of dead letters FAILED with a change-feed entry; moves out what deletions that broke off have left, documents whose file never came and files of deleted documents; creates nothing",
		}
	}
	return groupGrant(api.Group(name))
}

// groupGrant follows from the group's operations: reading, and the update of the
// caller's counter, are everybody's; creating and deleting only of groups whose
// operations do that.
func groupGrant(group api.Group) grant {
	g := grant{
		reads:    []string{"BatchGetItem", "GetItem", "Query"},
		writes:   []string{"UpdateItem"},
		sends:    api.Queues(group),
		notifies: api.Notifies(group),
		why:      "reads records; UpdateItem counts the caller's units",
	}
	writes, deletes := false, false
	for _, o := range api.In(group) {
		writes = writes || o.Access == api.Write
		deletes = deletes || o.Method == http.MethodDelete
	}
	if writes {
		g.reads = append(g.reads, "ConditionCheckItem")
		g.writes = append(g.writes, "PutItem")
		g.why += "; creates and changes records in transactions"
	}
	if deletes {
		g.writes = append(g.writes, "DeleteItem")
		g.why += "; takes rows out when records are deleted or leave a list"
	}
	if g.sends {
		g.why += "; queues extractions"
	}
	if g.notifies {
		g.why += "; queues messages for webhooks"
	}
	switch files := api.FilesOf(string(group)); {
	case files.Signs:
		g.why += "; signs uploads of files and removes files"
	case files.Lists:
		g.why += "; sees whether a file was uploaded"
	}
	return g
}

// newRole makes the role of one function. Everything it may do stands in its
// inline policy: CDK is kept from adding to it.
func newRole(stack awscdk.Stack, s stage, name string, key awskms.IKey, t table, q queues, b awss3.Bucket, log awslogs.LogGroup) awsiam.IRole {
	g, rows := grantOf(name), api.RowsOf(name)
	allow := func(service string, actions []string, resource *string, conditions map[string]any) awsiam.PolicyStatement {
		var full []*string
		for _, action := range slices.Sorted(slices.Values(actions)) {
			full = append(full, jsii.String(service+":"+action))
		}
		props := &awsiam.PolicyStatementProps{Actions: &full, Resources: &[]*string{resource}}
		if conditions != nil {
			props.Conditions = &conditions
		}
		return awsiam.NewPolicyStatement(props)
	}
	statements := []awsiam.PolicyStatement{
		allow("dynamodb", g.reads, t.arn, within(slices.Concat(rows.Reads, rows.Writes))),
		allow("dynamodb", g.writes, t.arn, within(rows.Writes)),
		allow("logs", []string{"CreateLogStream", "PutLogEvents"}, log.LogGroupArn(), nil),
		allow("xray", []string{"PutTelemetryRecords", "PutTraceSegments"}, jsii.String("*"), nil),
	}
	if g.index != nil {
		statements = append(statements, allow("dynamodb", g.index, jsii.String(*t.arn+"/index/"+api.PendingIndex), nil))
	}
	if g.sends {
		statements = append(statements, allow("sqs", []string{"SendMessage"}, q.jobs.QueueArn(), nil))
	}
	if g.counts {
		statements = append(statements, allow("sqs", []string{"GetQueueAttributes"}, q.jobs.QueueArn(), nil))
	}
	if g.notifies {
		statements = append(statements, allow("sqs", []string{"SendMessage"}, q.messages.QueueArn(), nil))
	}
	if g.streams && t.stream != nil {
		statements = append(statements, allow("dynamodb", []string{"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"}, t.stream, nil))
	}
	if g.consumes != nil {
		statements = append(statements, allow("sqs", []string{"DeleteMessage", "GetQueueAttributes", "ReceiveMessage"}, g.consumes(q), nil))
	}
	files := api.FilesOf(name)
	if files.Lists {
		statements = append(statements, allow("s3", []string{"ListBucket"}, b.BucketArn(), nil))
	}
	var objects []string
	for _, may := range []struct {
		does   bool
		action string
	}{{files.Signs, "PutObject"}, {files.Reads, "GetObject"}, {files.Removes, "DeleteObject"}} {
		if may.does {
			objects = append(objects, may.action)
		}
	}
	if objects != nil {
		statements = append(statements, allow("s3", objects, b.ArnForObjects(jsii.String("*")), nil))
	}
	if key != nil {
		statements = append(statements, allow("kms", keyUse, key.KeyArn(), map[string]any{"StringEquals": map[string]any{"kms:ViaService": []any{
			awscdk.Fn_Sub(jsii.String("dynamodb.${AWS::Region}.amazonaws.com"), nil), awscdk.Fn_Sub(jsii.String("sqs.${AWS::Region}.amazonaws.com"), nil),
			awscdk.Fn_Sub(jsii.String("s3.${AWS::Region}.amazonaws.com"), nil),
		}}}))
	}
	if s.vpc && name == api.Extractor {
		statements = append(statements, allow("ec2", []string{
			"AssignPrivateIpAddresses", "CreateNetworkInterface", "DeleteNetworkInterface", "DescribeNetworkInterfaces", "DescribeSubnets", "UnassignPrivateIpAddresses",
		}, jsii.String("*"), nil))
	}
	role := awsiam.NewRole(stack, jsii.String(name+"-role"), &awsiam.RoleProps{
		Description: jsii.String(name + ": " + g.why),
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		InlinePolicies: &map[string]awsiam.PolicyDocument{
			"grants": awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &statements}),
		},
	})
	accept(role, "AwsSolutions-IAM5", "Resource::*", "X-Ray and the network interfaces of a function know no resources to name: their actions take only *.")
	accept(role, "AwsSolutions-IAM5", "Resource::<"+*stack.GetLogicalId(b.Node().DefaultChild().(awscdk.CfnElement))+".Arn>/*", "Files of all organizations: a function serves all of them.")
	return role.WithoutPolicyUpdates(nil)
}

// within holds an action to rows of some partitions. A call that names none is not
// allowed: ForAllValues alone would let it pass.
func within(rows []api.Partition) map[string]any {
	var patterns []any
	for _, p := range rows {
		patterns = append(patterns, string(p))
	}
	return map[string]any{
		"ForAllValues:StringLike": map[string]any{"dynamodb:LeadingKeys": patterns},
		"Null":                    map[string]any{"dynamodb:LeadingKeys": "false"},
	}
}
