package main

import (
	"net/http"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"skillscurriculum/pkg/api"
)

// grant is what a function may do beyond writing its own log and traces.
// Transactions need no right of their own: their items' rights count.
type grant struct {
	table    []string // DynamoDB actions on the table
	index    []string // DynamoDB actions on the index of open extractions
	sends    bool     // may queue extraction jobs
	counts   bool     // may ask how many are queued
	consumes func(queues) *string
	why      string
}

func grantOf(name string) grant {
	switch name {
	case api.Extractor:
		return grant{
			table:    []string{"GetItem", "PutItem", "Query", "UpdateItem"},
			sends:    true,
			consumes: func(q queues) *string { return q.jobs.QueueArn() },
			why:      "claims a job, looks for the same document done before, stores the outcome and its change-feed entry, queues a later try; never deletes",
		}
	case api.Sweeper:
		return grant{
			table:    []string{"BatchGetItem", "DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem"},
			index:    []string{"Query"},
			sends:    true,
			counts:   true,
			consumes: func(q queues) *string { return q.dead.QueueArn() },
			why:      "finds open extractions in the index, queues them again (sooner when nothing is queued), marks those of dead letters FAILED with a change-feed entry; moves out what deletions that broke off have left; creates nothing",
		}
	}
	return groupGrant(api.Group(name))
}

// groupGrant follows from the group's operations: reading, and the update of the
// caller's counter, are everybody's; creating and deleting only of groups whose
// operations do that.
func groupGrant(group api.Group) grant {
	g := grant{
		table: []string{"BatchGetItem", "GetItem", "Query", "UpdateItem"},
		sends: api.Queues(group),
		why:   "reads records; UpdateItem counts the caller's units",
	}
	writes, deletes := false, false
	for _, o := range api.In(group) {
		writes = writes || o.Access == api.Write
		deletes = deletes || o.Method == http.MethodDelete
	}
	if writes {
		g.table = append(g.table, "ConditionCheckItem", "PutItem")
		g.why += "; creates and changes records in transactions"
	}
	if deletes {
		g.table = append(g.table, "DeleteItem")
		g.why += "; takes rows out when records are deleted or leave a list"
	}
	if g.sends {
		g.why += "; queues extractions"
	}
	return g
}

// newRole makes the role of one function. Everything it may do stands in its
// inline policy: CDK is kept from adding to it.
func newRole(stack awscdk.Stack, name string, t table, q queues, log awslogs.LogGroup) awsiam.IRole {
	g := grantOf(name)
	allow := func(service string, actions []string, resource *string) awsiam.PolicyStatement {
		var full []*string
		for _, action := range slices.Sorted(slices.Values(actions)) {
			full = append(full, jsii.String(service+":"+action))
		}
		return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Actions: &full, Resources: &[]*string{resource}})
	}
	statements := []awsiam.PolicyStatement{
		allow("dynamodb", g.table, t.arn),
		allow("logs", []string{"CreateLogStream", "PutLogEvents"}, log.LogGroupArn()),
		allow("xray", []string{"PutTelemetryRecords", "PutTraceSegments"}, jsii.String("*")),
	}
	if g.index != nil {
		statements = append(statements, allow("dynamodb", g.index, jsii.String(*t.arn+"/index/"+api.PendingIndex)))
	}
	if g.sends {
		statements = append(statements, allow("sqs", []string{"SendMessage"}, q.jobs.QueueArn()))
	}
	if g.counts {
		statements = append(statements, allow("sqs", []string{"GetQueueAttributes"}, q.jobs.QueueArn()))
	}
	if g.consumes != nil {
		statements = append(statements, allow("sqs", []string{"DeleteMessage", "GetQueueAttributes", "ReceiveMessage"}, g.consumes(q)))
	}
	role := awsiam.NewRole(stack, jsii.String(name+"-role"), &awsiam.RoleProps{
		Description: jsii.String(name + ": " + g.why),
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		InlinePolicies: &map[string]awsiam.PolicyDocument{
			"grants": awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &statements}),
		},
	})
	accept(role, "AwsSolutions-IAM5", "Resource::*", "X-Ray knows no resources to name: both of its actions take only *.")
	return role.WithoutPolicyUpdates(nil)
}
