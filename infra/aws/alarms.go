package main

import (
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

// alarm is one thing that must not stay unseen. Its threshold is reached when
// the expression is at least that in due of the last periods of a minute.
type alarm struct {
	name        string
	means       string
	expression  string // empty for the sum of the metrics
	metrics     map[string]awscloudwatch.IMetric
	threshold   float64
	due, within float64
	silenceBad  bool // no data is an alarm too
}

// newAlarms makes the alarms that are not of an objective: what is about to break
// one, or needs a person whatever it breaks.
func newAlarms(stack awscdk.Stack, s stage, topic awssns.ITopic, m measured) []interfacesawscloudwatch.IAlarmRef {
	notify := awscloudwatchactions.NewSnsAction(topic)
	var made []interfacesawscloudwatch.IAlarmRef
	for _, a := range alarms(m) {
		if a.expression == "" {
			a.expression = sum(a.metrics)
		}
		missing := awscloudwatch.TreatMissingData_NOT_BREACHING
		if a.silenceBad {
			missing = awscloudwatch.TreatMissingData_BREACHING
		}
		made = append(made, awscloudwatch.NewAlarm(stack, jsii.String("alarm "+a.name), &awscloudwatch.AlarmProps{
			AlarmName:        jsii.String(s.stackName() + " " + a.name),
			AlarmDescription: jsii.String(runbook(a.means, a.name)),
			Metric: awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
				Expression: &a.expression, UsingMetrics: &a.metrics, Label: &a.name, Period: seconds(60),
			}),
			ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
			Threshold:          &a.threshold,
			DatapointsToAlarm:  &a.due,
			EvaluationPeriods:  &a.within,
			TreatMissingData:   missing,
		}))
		alarm := made[len(made)-1].(awscloudwatch.Alarm)
		alarm.AddAlarmAction(notify)
		alarm.AddOkAction(notify)
	}
	return made
}

// runbook ends a description with the section of docs/aws.md that says what to do.
func runbook(means, alarm string) string {
	return means + " Runbook: docs/aws.md, " + alarm + "."
}

// alarmMetrics is how many metrics one alarm takes, by CloudWatch's rule.
const alarmMetrics = 10

func alarms(m measured) []alarm {
	var throttles []alarm
	for some := range slices.Chunk(api.Groups(), alarmMetrics) {
		metrics := map[string]awscloudwatch.IMetric{}
		for _, g := range some {
			metrics[string(g)] = m.function(string(g), "Throttles", "Sum")
		}
		throttles = append(throttles, alarm{
			name:      []string{"function throttles", "more function throttles"}[len(throttles)],
			means:     "Lambda refuses to start functions: the account's concurrency, or what is reserved for a function, is used up.",
			metrics:   metrics,
			threshold: 1, due: 2, within: 5,
		})
	}
	return append(throttles, []alarm{
		{
			name:  "dead letters",
			means: "Extraction jobs were given up after all tries; their records become FAILED.",
			// The sweeper empties the queue within seconds, so what it took counts too.
			metrics: map[string]awscloudwatch.IMetric{
				"waiting": m.queue(m.queues.dead, "ApproximateNumberOfMessagesVisible", "Maximum"),
				"taken":   m.queue(m.queues.dead, "NumberOfMessagesReceived", "Sum"),
			},
			threshold: 1, due: 1, within: 1,
		},
		{
			name:  "worker throttles",
			means: "Lambda refuses to start the extractor, the sweeper or the deliverer; jobs and messages wait.",
			metrics: map[string]awscloudwatch.IMetric{
				"extractor": m.function(api.Extractor, "Throttles", "Sum"), "sweeper": m.function(api.Sweeper, "Throttles", "Sum"),
				"deliverer": m.function(api.Deliverer, "Throttles", "Sum"),
			},
			threshold: 1, due: 5, within: 15,
		},
		{
			name:  "table throttles",
			means: "DynamoDB refuses reads or writes, most likely of one busy partition.",
			metrics: map[string]awscloudwatch.IMetric{
				"reads": m.onTable("ReadThrottleEvents"), "writes": m.onTable("WriteThrottleEvents"),
			},
			threshold: 10, due: 2, within: 5,
		},
		{
			name:       "quiet customers wait",
			means:      "Jobs of customers who send few wait behind others, which fair queueing is to prevent: there are too few extractors for those who are quiet.",
			expression: "waiting",
			metrics:    map[string]awscloudwatch.IMetric{"waiting": m.queue(m.queues.jobs, "ApproximateNumberOfMessagesVisibleInQuietGroups", "Maximum")},
			threshold:  extractorsAtOnce, due: 10, within: 15,
		},
		{
			name:       "oldest job",
			means:      "An extraction job has waited for six hours: more work arrives than the extractors do, or one customer's backlog is that long.",
			expression: "age",
			metrics:    map[string]awscloudwatch.IMetric{"age": m.queue(m.queues.jobs, "ApproximateAgeOfOldestMessage", "Maximum")},
			threshold:  6 * 3600, due: 3, within: 5,
		},
		{
			name:       "sweeper silent",
			means:      "The sweeper has not finished a run for five minutes, so nothing resends stuck extractions.",
			expression: "IF(runs - crashed >= 1, 0, 1)",
			metrics:    map[string]awscloudwatch.IMetric{"runs": m.function(api.Sweeper, "Invocations", "Sum"), "crashed": m.function(api.Sweeper, "Errors", "Sum")},
			threshold:  1, due: 5, within: 5,
			silenceBad: true,
		},
		{
			name:       "dead messages",
			means:      "The deliverer broke off at messages for webhooks after all tries, for reasons of ours: a receiver that fails is none.",
			expression: "waiting",
			metrics:    map[string]awscloudwatch.IMetric{"waiting": m.queue(m.queues.deadMessages, "ApproximateNumberOfMessagesVisible", "Maximum")},
			threshold:  1, due: 1, within: 1,
		},
		{
			name:       "quiet receivers wait",
			means:      "Messages of webhooks that get few wait behind others, which fair queueing is to prevent: too many receivers are slow or down at a time.",
			expression: "waiting",
			metrics:    map[string]awscloudwatch.IMetric{"waiting": m.queue(m.queues.messages, "ApproximateNumberOfMessagesVisibleInQuietGroups", "Maximum")},
			threshold:  deliverersAtOnce, due: 10, within: 15,
		},
		{
			name:       "deliverer silent",
			means:      "The deliverer has not finished a run for five minutes, so nothing is delivered to webhooks.",
			expression: "IF(runs - crashed >= 1, 0, 1)",
			metrics:    map[string]awscloudwatch.IMetric{"runs": m.function(api.Deliverer, "Invocations", "Sum"), "crashed": m.function(api.Deliverer, "Errors", "Sum")},
			threshold:  1, due: 5, within: 5,
			silenceBad: true,
		},
	}...)
}

type dimensions map[string]*string

func metric(namespace, name, statistic string, of dimensions) awscloudwatch.IMetric {
	d := map[string]*string(of)
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: &namespace, MetricName: &name, Statistic: &statistic, DimensionsMap: &d, Period: seconds(60),
	})
}

// over returns metrics with another period.
func over(metrics map[string]awscloudwatch.IMetric, period awscdk.Duration) map[string]awscloudwatch.IMetric {
	made := map[string]awscloudwatch.IMetric{}
	for id, m := range metrics {
		made[id] = m.(awscloudwatch.Metric).With(&awscloudwatch.MetricOptions{Period: period})
	}
	return made
}

// gateway returns a metric of all calls, as their clients see them.
func (m measured) gateway(name, statistic string) awscloudwatch.IMetric {
	return metric("AWS/ApiGateway", name, statistic, dimensions{"ApiName": m.rest.RestApiName(), "Stage": m.rest.DeploymentStage().StageName()})
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

// counted returns a metric that the functions write into their logs, of operations
// or extractions of a kind.
func counted(name, statistic, kind string) awscloudwatch.IMetric {
	return metric(api.MetricNamespace, name, statistic, dimensions{"Kind": &kind})
}

func failures(code catalog.FailureCode) awscloudwatch.IMetric {
	return metric(api.MetricNamespace, "ExtractionFailures", "Sum", dimensions{"FailureCode": jsii.String(string(code))})
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

// newTopic makes the topic, to which only this account's alarms may publish.
// Without a key of the account it has none: alarms carry names and figures, no
// customer's data.
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
