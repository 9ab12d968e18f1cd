package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// alarm fires when the expression reaches the threshold in due of the last within periods.
type alarm struct {
	name        string
	means       string
	expression  string // empty for the sum of the metrics
	metrics     map[string]awscloudwatch.IMetric
	threshold   float64
	due, within float64
	minutes     float64 // of a period; 0 for one
	silenceBad  bool    // missing data is breaching
}

// create creates the alarm in the stage.
func (a alarm) create(stack awscdk.Stack, s stage, id string) awscloudwatch.Alarm {
	missing := awscloudwatch.TreatMissingData_NOT_BREACHING
	if a.silenceBad {
		missing = awscloudwatch.TreatMissingData_BREACHING
	}
	return awscloudwatch.NewAlarm(stack, &id, &awscloudwatch.AlarmProps{
		AlarmName: jsii.String(s.stackName() + " " + a.name), AlarmDescription: &a.means,
		Metric: awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
			Expression: jsii.String(cmp.Or(a.expression, sum(a.metrics))), UsingMetrics: &a.metrics, Label: &a.name,
			Period: seconds(60 * cmp.Or(a.minutes, 1)),
		}),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		Threshold:          &a.threshold, DatapointsToAlarm: &a.due, EvaluationPeriods: &a.within,
		TreatMissingData: missing,
	})
}

// newAlarms creates the alarms that do not belong to an objective: those for early signs of
// missing one, and those that always need an operator.
func newAlarms(stack awscdk.Stack, s stage, topic awssns.ITopic, m measured) []interfacesawscloudwatch.IAlarmRef {
	var made []interfacesawscloudwatch.IAlarmRef
	for _, a := range alarms(m) {
		a.means = runbook(a.means, a.name)
		alarm := a.create(stack, s, "alarm "+a.name)
		notify(alarm, topic)
		made = append(made, alarm)
	}
	return made
}

// notify makes an alarm publish its beginning and its end.
func notify(alarm awscloudwatch.AlarmBase, topic awssns.ITopic) {
	action := awscloudwatchactions.NewSnsAction(topic)
	alarm.AddAlarmAction(action)
	alarm.AddOkAction(action)
}

// runbook appends a reference to the alarm's runbook in docs/aws.md.
func runbook(means, alarm string) string {
	return means + " Runbook: docs/aws.md, " + alarm + "."
}

// alarmMetrics is CloudWatch's maximum of metrics per alarm.
const alarmMetrics = 10

func alarms(m measured) []alarm {
	var throttles []alarm
	for some := range slices.Chunk(api.Groups(), alarmMetrics) {
		metrics := map[string]awscloudwatch.IMetric{}
		for _, g := range some {
			metrics[string(g)] = m.function(string(g), "Throttles", "Sum")
		}
		throttles = append(throttles, alarm{
			name: []string{"function throttles", "more function throttles"}[len(throttles)],
			means: "Lambda cannot start functions: the concurrency of the account, or that reserved for a function, is " +
				"used up.",
			metrics:   metrics,
			threshold: 1, due: 2, within: 5,
		})
	}
	silent := func(function, means string) alarm {
		return alarm{
			name: function + " silent", means: means, expression: "IF(runs - crashed >= 1, 0, 1)",
			metrics: map[string]awscloudwatch.IMetric{
				"runs": m.function(function, "Invocations", "Sum"), "crashed": m.function(function, "Errors", "Sum"),
			},
			threshold: 1, due: 5, within: 5, silenceBad: true,
		}
	}
	const visible, quiet = "ApproximateNumberOfMessagesVisible", "ApproximateNumberOfMessagesVisibleInQuietGroups"
	waiting := func(name, means string, q awssqs.Queue, metric string, threshold, due, within float64) alarm {
		return alarm{
			name: name, means: means, expression: "waiting", threshold: threshold, due: due, within: within,
			metrics: map[string]awscloudwatch.IMetric{"waiting": m.queue(q, metric, "Maximum")},
		}
	}
	return append(throttles, []alarm{
		{
			name:  "dead letters",
			means: "Extraction jobs failed in all attempts; their records become FAILED.",
			// The sweeper empties the queue within seconds, so received messages count too.
			metrics: map[string]awscloudwatch.IMetric{
				"waiting": m.queue(m.queues.dead, visible, "Maximum"),
				"taken":   m.queue(m.queues.dead, "NumberOfMessagesReceived", "Sum"),
			},
			threshold: 1, due: 1, within: 1,
		},
		{
			name: "worker throttles",
			means: "Lambda cannot start the extractor, the importer, the sweeper or the deliverer; jobs, imports and " +
				"messages wait.",
			metrics: map[string]awscloudwatch.IMetric{
				"extractor": m.function(api.Extractor, "Throttles", "Sum"), "sweeper": m.function(api.Sweeper, "Throttles", "Sum"),
				"deliverer": m.function(api.Deliverer, "Throttles", "Sum"),
				"importer":  m.function(api.Importer, "Throttles", "Sum"),
			},
			threshold: 1, due: 5, within: 15,
		},
		{
			name:  "table throttles",
			means: "DynamoDB rejects reads or writes, most likely of one busy partition.",
			metrics: map[string]awscloudwatch.IMetric{
				"reads": m.onTable("ReadThrottleEvents"), "writes": m.onTable("WriteThrottleEvents"),
			},
			threshold: 10, due: 2, within: 5,
		},
		waiting("quiet customers wait", "Jobs of customers who send few wait behind others, which fair queueing should "+
			"prevent: there are too few extractors for quiet customers.", m.queues.jobs, quiet, extractorsAtOnce, 10, 15),
		{
			name: "oldest job",
			means: "An extraction job has waited for six hours: more work arrives than the extractors can do, or one " +
				"customer has a backlog that long.",
			expression: "age",
			metrics: map[string]awscloudwatch.IMetric{
				"age": m.queue(m.queues.jobs, "ApproximateAgeOfOldestMessage", "Maximum"),
			},
			threshold: 6 * 3600, due: 3, within: 5,
		},
		silent(api.Sweeper, "The sweeper has not finished a run for five minutes, so nothing resends stuck extractions."),
		{
			name: "unfinished records",
			means: "The sweeper fails at the same records again and again: deletions that it cannot complete, or " +
				"extractions that it cannot resend. It goes on with all others.",
			metrics:   map[string]awscloudwatch.IMetric{"unfinished": counted("Unfinished", "Sum", api.Sweeper)},
			threshold: 1, due: 3, within: 15,
		},
		waiting("dead messages", "The deliverer failed at webhook messages in all attempts, because of the service: "+
			"failing receivers do not count.", m.queues.deadMessages, visible, 1, 1, 1),
		waiting("dead imports", "The importer failed at an organization's imports in all attempts; the sweeper sends them "+
			"again.",
			m.queues.deadImports, visible, 1, 1, 1),
		waiting("quiet receivers wait", "Messages of webhooks that get few wait behind others, which fair queueing should "+
			"prevent: too many receivers are slow or down at the same time.", m.queues.messages, quiet, deliverersAtOnce, 10,
			15),
		silent(api.Deliverer, "The deliverer has not finished a run for five minutes, so nothing is delivered to webhooks."),
	}...)
}

type dimensions map[string]*string

func metric(namespace, name, statistic string, of dimensions) awscloudwatch.IMetric {
	d := map[string]*string(of)
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: &namespace, MetricName: &name, Statistic: &statistic, DimensionsMap: &d, Period: seconds(60),
	})
}

// over returns the metrics with another period.
func over(metrics map[string]awscloudwatch.IMetric, period awscdk.Duration) map[string]awscloudwatch.IMetric {
	made := map[string]awscloudwatch.IMetric{}
	for id, m := range metrics {
		made[id] = m.(awscloudwatch.Metric).With(&awscloudwatch.MetricOptions{Period: period})
	}
	return made
}

// gateway returns a metric of all calls as seen by clients.
func (m measured) gateway(name, statistic string) awscloudwatch.IMetric {
	return metric("AWS/ApiGateway", name, statistic, dimensions{
		"ApiName": m.rest.RestApiName(), "Stage": m.rest.DeploymentStage().StageName(),
	})
}

func (m measured) function(name, metricName, statistic string) awscloudwatch.IMetric {
	return metric("AWS/Lambda", metricName, statistic, dimensions{"FunctionName": m.functions[name].FunctionName()})
}

func (m measured) queue(q awssqs.Queue, name, statistic string) awscloudwatch.IMetric {
	return metric("AWS/SQS", name, statistic, dimensions{"QueueName": q.QueueName()})
}

func (m measured) onTable(name string) awscloudwatch.IMetric {
	return metric("AWS/DynamoDB", name, "Sum", dimensions{"TableName": m.table.name})
}

// counted returns a metric that the functions log for a kind of operation or extraction.
func counted(name, statistic, kind string) awscloudwatch.IMetric {
	return metric(api.MetricNamespace, name, statistic, dimensions{"Kind": &kind})
}

func failures(code catalog.FailureCode) awscloudwatch.IMetric {
	return metric(api.MetricNamespace, "ExtractionFailures", "Sum", dimensions{"FailureCode": jsii.String(string(code))})
}

// sum returns an expression that adds metrics and treats missing values as 0.
func sum(metrics map[string]awscloudwatch.IMetric) string {
	var filled []string
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		filled = append(filled, "FILL("+name+", 0)")
	}
	return "SUM([" + strings.Join(filled, ", ") + "])"
}

// newTopic creates the topic, to which only this account's alarms may publish. It is not
// encrypted unless the stage has a key: alarms contain no customer data.
func newTopic(stack awscdk.Stack, s stage, key awskms.IKey) awssns.Topic {
	props := &awssns.TopicProps{
		DisplayName: jsii.String(fmt.Sprintf("Skills Curriculum Service (%s)", s.name)),
		EnforceSSL:  jsii.Bool(true),
	}
	if key != nil {
		props.MasterKey = key
	}
	topic := awssns.NewTopic(stack, jsii.String("Alarms"), props)
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
