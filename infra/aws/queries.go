package main

import (
	"maps"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"skillscurriculum/pkg/api"
)

// query is a saved query that a runbook uses.
type query struct {
	name string
	of   func(function string) bool // selects the logs; nil means the gateway's access log
	text string
}

func answering(function string) bool { return slices.Contains(api.Groups(), api.Group(function)) }

func only(names ...string) func(string) bool {
	return func(function string) bool { return slices.Contains(names, function) }
}

// queries are saved in CloudWatch Logs Insights as <stack>/<name>.
var queries = []query{
	{"failures by operation and cause", answering, `filter level = "ERROR" | stats count(*) as calls, latest(requestId) as one by Operation, status, cause | sort calls desc`},
	{"failures by organization", answering, `filter Errors = 1 | stats count(*) as calls by organization, Operation | sort calls desc`},
	{"slow calls by operation", answering, `filter ispresent(Operation) | stats count(*) as calls, pct(Latency, 50) as p50, pct(Latency, 99) as p99, max(Latency) as slowest, latest(requestId) as one by Operation | sort p99 desc`},
	{"one request", func(string) bool { return true }, `filter requestId = "PUT THE REQUEST ID HERE" or @requestId = "PUT THE REQUEST ID HERE" | fields @timestamp, @log, @message | sort @timestamp`},
	{"failures before the functions", nil, `filter status like /^5/ | stats count(*) as calls, latest(requestId) as one by route, status, error, integrationStatus | sort calls desc`},
	{"who is refused", answering, `filter Refused = 1 | stats count(*) as calls by organization, customer, Operation | sort calls desc`},
	{"who asks for most", answering, `filter ispresent(Units) | stats sum(Units) as units, count(*) as calls by organization, customer | sort units desc`},
	{"starts and memory", func(string) bool { return true }, `filter @type = "REPORT" | stats count(*) as runs, count(@initDuration) as starts, max(@initDuration) as slowestStart, pct(@duration, 99) as p99, max(@maxMemoryUsed / 1000000) as megabytes by @log | sort runs desc`},
	{"extractions by end", only(api.Extractor), `filter Extractions = 1 | stats count(*) as extractions, pct(Latency, 50) as p50, pct(Latency, 99) as p99, latest(record) as one by end, FailureCode | sort extractions desc`},
	{"extractions by organization", only(api.Extractor), `filter Extractions = 1 | stats count(*) as extractions, pct(Wait, 50) as waited, max(Wait) as longest, sum(ExtractionFailures) as failed by organization | sort extractions desc`},
	{"crashes of the extractor", only(api.Extractor), `filter level = "ERROR" or @message like /Task timed out|signal: killed|Runtime exited|panic/ | fields @timestamp, record, cause, @message | sort @timestamp desc | limit 100`},
	{"deliveries by outcome", only(api.Deliverer), `filter Deliveries = 1 | stats count(*) as attempts, pct(Latency, 99) as p99, latest(message) as one by organization, webhook, Outcome, status | sort attempts desc`},
	{"failures of the deliverer", only(api.Deliverer), `filter level in ["WARN", "ERROR"] or @message like /Task timed out|signal: killed|Runtime exited|panic/ | fields @timestamp, organization, messageId, cause, @message | sort @timestamp desc | limit 200`},
	{"dead letters and sweeps", only(api.Sweeper), `filter ispresent(level) | fields @timestamp, level, msg, organization, record, cause | sort @timestamp desc | limit 200`},
}

// newQueries saves the queries of the runbooks in Logs Insights.
func newQueries(stack awscdk.Stack, s stage, logs logs, access awslogs.LogGroup) {
	for _, q := range queries {
		groups := []any{}
		if q.of == nil {
			groups = append(groups, access.LogGroupName())
		} else {
			for _, name := range slices.Sorted(maps.Keys(logs)) {
				if q.of(name) {
					groups = append(groups, logs[name].LogGroupName())
				}
			}
		}
		awslogs.NewCfnQueryDefinition(stack, jsii.String("query "+q.name), &awslogs.CfnQueryDefinitionProps{
			Name: jsii.String(s.stackName() + "/" + q.name), QueryString: jsii.String(q.text), LogGroupNames: &groups,
		})
	}
}
