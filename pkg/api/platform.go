package api

// The table, as the store writes it and the deployment creates it: one table, a
// string partition and sort key, rows that expire, and one sparse index that
// holds only what is not finished: extractions, deletions that broke off, messages that
// wait for their next attempt.
const (
	PartitionKey = "pk"
	SortKey      = "sk"
	TTL          = "expiresAt"

	PendingIndex             = "open"
	PendingIndexPartitionKey = "openShard" // present only until it is finished
	PendingIndexSortKey      = "openSince" // number, Unix ms at which the sweeper may look at it
)

// The functions that no HTTP request reaches.
const (
	Extractor = "extractor" // SQS: runs a syllabus extraction
	Sweeper   = "sweeper"   // schedule: resends and completes what got stuck; dead letters: sets FAILED
	Deliverer = "deliverer" // the table's stream, SQS and schedule: makes messages of changes and delivers them to webhooks
)

// Functions lists all functions, the groups first.
func Functions() []string {
	var names []string
	for _, g := range Groups() {
		names = append(names, string(g))
	}
	return append(names, Extractor, Sweeper, Deliverer)
}

// MetricNamespace is the CloudWatch namespace of what the functions count in their
// log lines.
const MetricNamespace = "SkillsCurriculum"

// The environment that functions are given.
const (
	EnvTable          = "TABLE_NAME"
	EnvQueueURL       = "QUEUE_URL"
	EnvDynamoEndpoint = "DYNAMODB_ENDPOINT"
	EnvSQSEndpoint    = "SQS_ENDPOINT"
	EnvBucket         = "BUCKET_NAME" // of the files of documents
	EnvS3Endpoint     = "S3_ENDPOINT"
	EnvRateUnits      = "RATE_LIMIT_UNITS"
	EnvRateWindow     = "RATE_LIMIT_WINDOW_SECONDS"
	EnvAllowedHosts   = "SYLLABUS_ALLOWED_HOSTS"
	EnvTaxonomy       = "TAXONOMY"
	EnvRetryDelay     = "EXTRACTION_RETRY_SECONDS" // before a transient failure is tried again, doubled each time
	EnvMessages       = "WEBHOOK_QUEUE_URL"
	EnvWebhookKey     = "WEBHOOK_KEY"                // encrypts the secrets of webhooks; see package webhook
	EnvWebhookHosts   = "WEBHOOK_ALLOWED_HOSTS"      // host:port list that may be http or private
	EnvWebhookRetry   = "WEBHOOK_RETRY_SECONDS"      // comma list: how long each attempt waits after the one before
	EnvExamples       = "CONTRACT_EXAMPLES"          // JSON object: other examples of parameters; see package printing
	EnvCountTimeout   = "QUOTA_TIMEOUT_MILLISECONDS" // for one count of units; 100 when absent
)
