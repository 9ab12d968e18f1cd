package api

// The table has a string partition key and sort key, a TTL, and a sparse index of unfinished work: extractions,
// interrupted deletions, and messages with an attempt due.
const (
	PartitionKey = "pk"
	SortKey      = "sk"
	TTL          = "expiresAt"

	PendingIndex             = "open"
	PendingIndexPartitionKey = "openShard" // absent once finished
	PendingIndexSortKey      = "openSince" // number, Unix ms from which the sweeper may process it
)

// The functions without HTTP requests.
const (
	Extractor = "extractor" // SQS: runs a syllabus extraction
	Importer  = "importer"  // SQS: runs the imports of an organization, one at a time
	Sweeper   = "sweeper"   // schedule: resends and completes stuck work; dead letters: sets FAILED
	// the table's stream, SQS and schedule: turns changes into messages and delivers them to webhooks
	Deliverer = "deliverer"
)

// Functions lists all functions, the groups first.
func Functions() []string {
	var names []string
	for _, g := range Groups() {
		names = append(names, string(g))
	}
	return append(names, Extractor, Importer, Sweeper, Deliverer)
}

// MetricNamespace is the CloudWatch namespace of the metrics in log lines.
const MetricNamespace = "SkillsCurriculum"

// Environment variables of functions.
const (
	EnvTable          = "TABLE_NAME"
	EnvQueueURL       = "QUEUE_URL"
	EnvDynamoEndpoint = "DYNAMODB_ENDPOINT"
	EnvSQSEndpoint    = "SQS_ENDPOINT"
	EnvBucket         = "BUCKET_NAME" // bucket of documents' files
	EnvS3Endpoint     = "S3_ENDPOINT"
	EnvRateUnits      = "RATE_LIMIT_UNITS"
	EnvRateWindow     = "RATE_LIMIT_WINDOW_SECONDS"
	EnvAllowedHosts   = "SYLLABUS_ALLOWED_HOSTS"
	EnvTaxonomy       = "TAXONOMY"
	EnvRetryDelay     = "EXTRACTION_RETRY_SECONDS" // delay before retrying a transient failure; doubled each time
	EnvMessages       = "WEBHOOK_QUEUE_URL"
	EnvImports        = "IMPORT_QUEUE_URL"
	EnvWebhookKey     = "WEBHOOK_KEY"                // encrypts the secrets of webhooks; see package webhook
	EnvWebhookHosts   = "WEBHOOK_ALLOWED_HOSTS"      // comma-separated host:port that may be http or private
	EnvWebhookRetry   = "WEBHOOK_RETRY_SECONDS"      // comma-separated delays between attempts
	EnvExamples       = "CONTRACT_EXAMPLES"          // JSON object: examples of parameters; see package printing
	EnvCountTimeout   = "QUOTA_TIMEOUT_MILLISECONDS" // for one count of units; 100 when absent
)
