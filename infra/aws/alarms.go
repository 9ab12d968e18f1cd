package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// alarm is one thing that must not stay unseen. Its threshold is reached when
// the expression is at least that in due of the last periods of a minute.
type alarm struct {
	name        string
	means       string // and what to do
	expression  string // empty for the sum of the metrics
	metrics     map[string]awscloudwatch.IMetric
	threshold   float64
	due, within float64
	silenceBad  bool // no data is an alarm too
}

// newAlarms sends everything that needs a person to one topic.
func newAlarms(stack awscdk.Stack, s stage, rest awsapigateway.RestApi, functions functions, t table, q queues) []interfacesawscloudwatch.IAlarmRef {
	topic := newTopic(stack, s)
	tell := awscloudwatchactions.NewSnsAction(topic)
	var made []interfacesawscloudwatch.IAlarmRef
	for _, a := range alarms(rest, functions, t, q) {
		if a.expression == "" {
			a.expression = sum(a.metrics)
		}
		missing := awscloudwatch.TreatMissingData_NOT_BREACHING
		if a.silenceBad {
			missing = awscloudwatch.TreatMissingData_BREACHING
		}
		m := awscloudwatch.NewAlarm(stack, jsii.String("alarm "+a.name), &awscloudwatch.AlarmProps{
			AlarmName:        jsii.String(s.stackName() + " " + a.name),
			AlarmDescription: jsii.String(a.means),
			Metric: awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
				Expression: &a.expression, UsingMetrics: &a.metrics, Label: &a.name, Period: seconds(60),
			}),
			ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
			Threshold:          &a.threshold,
			DatapointsToAlarm:  &a.due,
			EvaluationPeriods:  &a.within,
			TreatMissingData:   missing,
		})
		m.AddAlarmAction(tell)
		m.AddOkAction(tell)
		made = append(made, m)
	}
	return made
}

func alarms(rest awsapigateway.RestApi, functions functions, t table, q queues) []alarm {
	gateway := func(name, statistic string) awscloudwatch.IMetric {
		return metric("AWS/ApiGateway", name, statistic, dimensions{"ApiName": rest.RestApiName(), "Stage": rest.DeploymentStage().StageName()})
	}
	function := func(name, metricName string) awscloudwatch.IMetric {
		return metric("AWS/Lambda", metricName, "Sum", dimensions{"FunctionName": functions[name].FunctionName()})
	}
	failures := func(code catalog.FailureCode) awscloudwatch.IMetric {
		return metric(api.MetricNamespace, "ExtractionFailures", "Sum", dimensions{"FailureCode": jsii.String(string(code))})
	}
	throttles := map[string]awscloudwatch.IMetric{}
	for _, g := range api.Groups() {
		throttles[string(g)] = function(string(g), "Throttles")
	}
	return []alarm{
		{
			name:  "dead letters",
			means: "Extraction jobs were given up after all tries; their records become FAILED. Look for the job's requestId in the extractor's log, then retry the records. See the README, redriving dead letters.",
			// The sweeper empties the queue within seconds, so what it took counts too.
			metrics: map[string]awscloudwatch.IMetric{
				"waiting": metric("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum", dimensions{"QueueName": q.dead.QueueName()}),
				"taken":   metric("AWS/SQS", "NumberOfMessagesReceived", "Sum", dimensions{"QueueName": q.dead.QueueName()}),
			},
			threshold: 1, due: 1, within: 1,
		},
		{
			name:       "5xx rate",
			means:      "At least 1 % of requests (of 20 or more a minute; below that, 2 or more) fail on our side. Look for level ERROR in the functions' logs; after an upgrade, roll back.",
			expression: "IF(requests >= 20, 100 * failed / requests, IF(failed >= 2, 100, 0))",
			metrics:    map[string]awscloudwatch.IMetric{"requests": gateway("Count", "SampleCount"), "failed": gateway("5XXError", "Sum")},
			threshold:  1, due: 3, within: 5,
		},
		{
			name:       "p99 latency",
			means:      "One request in a hundred takes 5 s or more. Compare the dashboard's integration latency and table throttles; reports and the credential builder are the slow operations.",
			expression: "latency",
			metrics:    map[string]awscloudwatch.IMetric{"latency": gateway("Latency", "p99")},
			threshold:  5000, due: 5, within: 10,
		},
		{
			name:      "function throttles",
			means:     "Lambda refuses to start functions: the account's concurrency is used up. Raise it (service quotas) or find who uses it.",
			metrics:   throttles,
			threshold: 1, due: 2, within: 5,
		},
		{
			name:  "worker throttles",
			means: "Lambda refuses to start the extractor or the sweeper; jobs wait. Raise the account's concurrency.",
			metrics: map[string]awscloudwatch.IMetric{
				"extractor": function(api.Extractor, "Throttles"), "sweeper": function(api.Sweeper, "Throttles"),
			},
			threshold: 1, due: 5, within: 15,
		},
		{
			name:  "table throttles",
			means: "DynamoDB refuses reads or writes, most likely of one busy partition. See the README, raising a limit.",
			metrics: map[string]awscloudwatch.IMetric{
				"reads":  metric("AWS/DynamoDB", "ReadThrottleEvents", "Sum", dimensions{"TableName": t.name}),
				"writes": metric("AWS/DynamoDB", "WriteThrottleEvents", "Sum", dimensions{"TableName": t.name}),
			},
			threshold: 10, due: 2, within: 5,
		},
		{
			name:       "oldest job",
			means:      "An extraction job has waited for 15 minutes. More work arrives than the extractors do, or they fail: see the dashboard.",
			expression: "age",
			metrics: map[string]awscloudwatch.IMetric{
				"age": metric("AWS/SQS", "ApproximateAgeOfOldestMessage", "Maximum", dimensions{"QueueName": q.jobs.QueueName()}),
			},
			threshold: 15 * 60, due: 3, within: 5,
		},
		{
			name:  "extractor failures",
			means: "Extractions fail for reasons of ours (crash, out of memory, out of time, internal), not of the document. Look for level ERROR in the extractor's log.",
			metrics: map[string]awscloudwatch.IMetric{
				"crashed": function(api.Extractor, "Errors"), "internal": failures(catalog.InternalFailure), "timeout": failures(catalog.TimedOut),
			},
			threshold: 3, due: 2, within: 10,
		},
		{
			name:       "sweeper silent",
			means:      "The sweeper has not finished a run for five minutes, so nothing resends stuck extractions. Look into its log, and at the schedule.",
			expression: "IF(runs - crashed >= 1, 0, 1)",
			metrics:    map[string]awscloudwatch.IMetric{"runs": function(api.Sweeper, "Invocations"), "crashed": function(api.Sweeper, "Errors")},
			threshold:  1, due: 5, within: 5,
			silenceBad: true,
		},
	}
}

type dimensions map[string]*string

func metric(namespace, name, statistic string, of dimensions) awscloudwatch.IMetric {
	d := map[string]*string(of)
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: &namespace, MetricName: &name, Statistic: &statistic, DimensionsMap: &d, Period: seconds(60),
	})
}

// sum adds up metrics. A metric that nothing was counted for has no value, and
// would leave a plain sum without one.
func sum(metrics map[string]awscloudwatch.IMetric) string {
	var filled []string
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		filled = append(filled, "FILL("+name+", 0)")
	}
	return "SUM([" + strings.Join(filled, ", ") + "])"
}

// newTopic makes the topic, to which only this account's alarms may publish. It
// has no key of its own: alarms carry names and figures, no customer's data.
func newTopic(stack awscdk.Stack, s stage) awssns.Topic {
	topic := awssns.NewTopic(stack, jsii.String("Alarms"), &awssns.TopicProps{
		DisplayName: jsii.String(fmt.Sprintf("Skills Curriculum Service (%s)", s.name)),
		EnforceSSL:  jsii.Bool(true),
	})
	topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("cloudwatch.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sns:Publish"),
		Resources:  &[]*string{topic.TopicArn()},
		Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": stack.Account()}},
	}))
	if s.alarmEmail != "" {
		awssns.NewSubscription(stack, jsii.String("AlarmEmail"), &awssns.SubscriptionProps{
			Topic: topic, Protocol: awssns.SubscriptionProtocol_EMAIL, Endpoint: jsii.String(s.alarmEmail),
		})
	}
	output(stack, "AlarmTopicArn", "Alarms are published here", topic.TopicArn())
	return topic
}
