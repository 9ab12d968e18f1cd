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

// grant lists a function's permissions besides logs and traces. Transactions need no
// permissions of their own, only those of their items.
type grant struct {
	reads    []string // DynamoDB actions on rows that the function may read or write (api.RowsOf)
	writes   []string // DynamoDB actions on rows that it may write
	index    []string // DynamoDB actions on the pending index
	sends    bool     // sends extraction jobs
	counts   bool     // reads the number of queued jobs
	notifies bool     // sends webhook messages
	imports  bool     // sends imports
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
			why: "claims a job, looks up earlier outcomes of the same document, stores the outcome and its change feed " +
				"entry, queues retries; reads uploaded files; never deletes",
		}
	case api.Importer:
		return grant{
			reads:    []string{"BatchGetItem", "ConditionCheckItem", "GetItem", "Query"},
			writes:   []string{"DeleteItem", "PutItem", "UpdateItem"},
			sends:    true,
			imports:  true,
			consumes: func(q queues) *string { return q.imports.QueueArn() },
			why: "reads uploaded files, creates and changes records in transactions, moves rows of codes and external " +
				"ids, queues extractions and the rest of an import, stores files of rejected rows",
		}
	case api.Deliverer:
		return grant{
			reads:    []string{"GetItem", "Query"},
			writes:   []string{"PutItem", "UpdateItem"},
			index:    []string{"Query"},
			notifies: true,
			streams:  true,
			consumes: func(q queues) *string { return q.messages.QueueArn() },
			why: "reads change feeds and webhooks, stores messages and attempts to deliver them, finds due messages in " +
				"the index, queues later attempts, disables webhooks; reads no records and never deletes",
		}
	case api.Sweeper:
		return grant{
			reads:    []string{"BatchGetItem", "GetItem", "Query"},
			writes:   []string{"DeleteItem", "PutItem", "UpdateItem"},
			index:    []string{"Query"},
			sends:    true,
			imports:  true,
			counts:   true,
			consumes: func(q queues) *string { return q.dead.QueueArn() },
			why: "finds pending extractions in the index, queues them again (sooner when nothing is queued), marks " +
				"those of dead letters FAILED with a change-feed entry; completes interrupted deletions, removes documents " +
				"whose file never arrived and files of deleted documents; creates nothing",
		}
	}
	return groupGrant(api.Group(name))
}

// groupGrant derives the grant from the group's operations. All groups may read and update
// the caller's counter; only groups with such operations may create or delete.
func groupGrant(group api.Group) grant {
	g := grant{
		reads:    []string{"BatchGetItem", "GetItem", "Query"},
		writes:   []string{"UpdateItem"},
		sends:    api.Queues(group),
		notifies: api.Notifies(group),
		imports:  group == api.Imports,
		why:      "reads records; UpdateItem counts the caller's units",
	}
	// A batch moves rows of codes, external ids and reservations, as PATCH does in groups that can delete.
	writes, deletes := false, group == api.Imports
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
		g.why += "; removes rows when records are deleted or leave a list"
	}
	if g.sends {
		g.why += "; queues extractions"
	}
	if g.notifies {
		g.why += "; queues messages for webhooks"
	}
	if g.imports {
		g.why += "; queues imports, signs reads of rejected rows and removes their files"
	}
	switch files := api.FilesOf(string(group)); {
	case files.Signs:
		g.why += "; signs uploads of files and removes files"
	case files.Lists:
		g.why += "; checks whether a file was uploaded"
	}
	return g
}

// newRole creates the role of a function. All permissions are in its inline policy: CDK may
// not add any.
func newRole(
	stack awscdk.Stack, name string, key awskms.IKey, t table, q queues, b awss3.Bucket, log awslogs.LogGroup,
) awsiam.IRole {
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
	add := func(granted bool, service string, resource *string, actions ...string) {
		if granted {
			statements = append(statements, allow(service, actions, resource, nil))
		}
	}
	add(g.index != nil, "dynamodb", jsii.String(*t.arn+"/index/"+api.PendingIndex), g.index...)
	add(g.sends, "sqs", q.jobs.QueueArn(), "SendMessage")
	add(g.counts, "sqs", q.jobs.QueueArn(), "GetQueueAttributes")
	add(g.notifies, "sqs", q.messages.QueueArn(), "SendMessage")
	add(g.imports, "sqs", q.imports.QueueArn(), "SendMessage")
	add(g.streams && t.stream != nil, "dynamodb", t.stream, "DescribeStream", "GetRecords", "GetShardIterator",
		"ListStreams")
	if g.consumes != nil {
		add(true, "sqs", g.consumes(q), "DeleteMessage", "GetQueueAttributes", "ReceiveMessage")
	}
	files := api.FilesOf(name)
	add(files.Lists, "s3", b.BucketArn(), "ListBucket")
	for _, of := range []struct {
		pattern             string
		puts, gets, deletes bool
	}{
		{"*", files.Signs, files.Reads, files.Removes},
		{api.RejectsPattern, files.WritesRejects, files.ReadsRejects, files.RemovesRejects},
	} {
		var actions []string
		for action, granted := range map[string]bool{"PutObject": of.puts, "GetObject": of.gets, "DeleteObject": of.deletes} {
			if granted {
				actions = append(actions, action)
			}
		}
		add(actions != nil, "s3", b.ArnForObjects(&of.pattern), actions...)
	}
	if key != nil {
		statements = append(statements, allow("kms", keyUse, key.KeyArn(),
			map[string]any{"StringEquals": map[string]any{"kms:ViaService": []any{
				awscdk.Fn_Sub(jsii.String("dynamodb.${AWS::Region}.amazonaws.com"), nil),
				awscdk.Fn_Sub(jsii.String("sqs.${AWS::Region}.amazonaws.com"), nil),
				awscdk.Fn_Sub(jsii.String("s3.${AWS::Region}.amazonaws.com"), nil),
			}}}))
	}
	role := awsiam.NewRole(stack, jsii.String(name+"-role"), &awsiam.RoleProps{
		Description: jsii.String(name + ": " + g.why),
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		InlinePolicies: &map[string]awsiam.PolicyDocument{
			"grants": awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &statements}),
		},
	})
	accept(role, "AwsSolutions-IAM5", "Resource::*", "The actions for X-Ray support no resource but *.")
	wildcard := "Resource::<" + *stack.GetLogicalId(b.Node().DefaultChild().(awscdk.CfnElement)) + ".Arn>/*"
	for _, resource := range []string{wildcard, wildcard + "/imp_*"} {
		accept(role, "AwsSolutions-IAM5", resource, "Files of all organizations: a function serves all of them.")
	}
	return role.WithoutPolicyUpdates(nil)
}

// within restricts an action to some partitions. The Null condition denies calls without a
// partition, which ForAllValues alone would allow.
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
