// Package events contains a Lambda event for every operation and every trigger, with the
// response of the built function. `sam local invoke FUNCTION -e events/FILE` uses the same
// files.
//
// The test replays them through the real bootstrap programs and the Lambda Runtime API, on a
// table with the records that the events name. With -update it rewrites events and responses.
package events

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	lambda "github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"skillscurriculum/infra/local/dynamodb"
	"skillscurriculum/infra/local/grants"
	"skillscurriculum/infra/local/objects"
	"skillscurriculum/infra/local/queue"
	"skillscurriculum/infra/local/runtime"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/files"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/boot/group/notifying"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/rest"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/webhook"
)

var update = flag.Bool("update", false, "write the events and their responses anew")

const (
	organization = "org_events"
	customer     = "cus_events"
	apiKey       = "skckey000000000000000000000000000event"
	seedTime     = catalog.Time(1_795_248_000_000)
)

// request is an event of API Gateway in short form.
type request struct {
	operation string
	params    map[string]string
	query     map[string]string
	body      string
}

// requests lists an event for each operation in the order of their replay. Each changes a
// record of its own, so that only the list determines the order.
func requests(id map[string]string) []request {
	course, section, pack, transfer := id["course"], id["section"], id["package"], id["transfer"]
	of := func(pairs ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	return []request{
		{"getOpenAPI", nil, nil, ""},
		{"getServiceInfo", nil, nil, ""},
		{"getDocs", nil, nil, ""},
		{"getConsole", nil, nil, ""},
		{"getDocsAsset", of("asset", "page.js"), nil, ""},
		{"listCourses", nil, of("limit", "2", "offset", "1"), ""},
		{"getCourse", of("courseId", course), nil, ""},
		{"listSections", nil, of("externalId", "10234"), ""},
		{"getCourseOutcomes", of("courseId", course), of("include", "evidence,reviews"), ""},
		{"listOutcomes", nil, of("skillId", "core:algorithms", "level", "3"), ""},
		{"getSection", of("courseId", course, "sectionId", section), of("include", "evidence"), ""},
		{"listJobs", nil, nil, ""},
		{"getJob", of("jobId", id["job"]), nil, ""},
		{"listCredentials", nil, nil, ""},
		{"getCredential", of("credentialId", id["credential"]), nil, ""},
		{"buildCredential", nil, nil, `{"jobIdentifiers":[{"id":"` + id["job"] + `","lib":"custom"}]}`},
		{"listPrograms", nil, nil, ""},
		{"getProgram", of("programId", id["program"]), nil, ""},
		{"getProgramOutcomes", of("programId", id["program"]), nil, ""},
		{"listTransferPackages", nil, nil, ""},
		{"getTransferPackage", of("packageId", pack), nil, ""},
		{"listTransferCourses", of("packageId", pack), nil, ""},
		{"getTransferCourse", of("packageId", pack, "transferCourseId", transfer), of("include", "evidence,reviews"), ""},
		{"matchTransferCourse", of("packageId", pack, "transferCourseId", transfer), nil, ""},
		{"matchTransferPackage", of("packageId", pack), of("fullEquivalentThreshold", "0.5", "partialEquivalentThreshold", "0.25"), ""},
		{"listReports", nil, nil, ""},
		{"getReport", of("reportId", id["report"]), nil, ""},
		{"getReportTable", of("reportId", id["report"]), nil, ""},
		{"getReportPage", of("reportId", id["report"]), of("view", "coverage"), ""},
		{"getSharedReport", of("reportId", id["report"]), of("token", id["link"]), ""},
		{"getProgramMap", of("programId", id["program"]), of("jobs", "soc:15-1252"), ""},
		{"getProgramMapTable", of("programId", id["program"]), of("layout", "long"), ""},
		{"getProgramMapPage", of("programId", id["program"]), nil, ""},
		{"getSharedProgramMap", of("programId", id["program"]), of("token", id["mapLink"]), ""},
		{"getLaborMarket", nil, of("cipCodes", "11.0701", "regionType", "state", "region", "53"), ""},
		{"listRegions", nil, of("regionType", "national"), ""},
		{"getSyllabusExtraction", of("extractionId", id["extraction"]), nil, ""},
		{"listSkills", nil, of("query", "linear alg", "limit", "2"), ""},
		{"getSkill", of("skillId", "core:python"), nil, ""},
		{"listSkillSections", of("skillId", "core:python"), nil, ""},
		{"listChanges", nil, of("limit", "3"), ""},
		{"getDocument", of("documentId", id["document"]), nil, ""},
		{"listImports", nil, nil, ""},
		{"getImport", of("importId", id["import"]), nil, ""},

		{"listArticulations", nil, of("institution", "lake-college", "sendingCode", "cs 101", "asOf", "2026-11-21"), ""},
		{"getArticulation", of("articulationId", id["articulation"]), nil, ""},
		{"getArticulationPage", of("articulationId", id["compared"]), nil, ""},
		{"getSharedArticulation", of("articulationId", id["compared"]), of("token", id["articulationLink"]), ""},
		{"lookupArticulations", nil, of("institution", "Lake College", "codes", "CS-101,ENG 1", "asOf", "2026-11-21", "include", "trace"), ""},
		{"listArticulationIssues", nil, nil, ""},
		{"listArticulationMoves", of("articulationId", id["articulation"]), nil, ""},

		{"getCourseCTDL", of("courseId", course), nil, ""},
		{"getProgramCTDL", of("programId", id["program"]), of("graph", "true"), ""},
		{"getCredentialCTDL", of("credentialId", id["credential"]), nil, ""},
		{"getArticulationCTDL", of("articulationId", id["articulation"]), nil, ""},
		{"listReadiness", nil, of("resource", "course", "limit", "2"), ""},
		{"getPublicIndex", of("handle", "example-college"), nil, ""},
		{"allowPublicIndex", of("handle", "example-college"), nil, ""},
		{"getPublicEntity", of("handle", "example-college", "ctid", catalog.DerivedCTID(course)), nil, ""},
		{"allowPublicEntity", of("handle", "example-college", "ctid", catalog.DerivedCTID(course)), nil, ""},

		{"createCourse", nil, nil, `{"name":"Operating Systems","code":"CS 310","description":"Processes, memory, files."}`},
		{"updateCourse", of("courseId", course), nil, `{"description":"Lists, trees, graphs."}`},
		{"createSection", of("courseId", course), nil, `{"name":"Evening","instructorName":"A. Teacher","skills":[{"skillId":"core:python","level":3}]}`},
		{"updateSection", of("courseId", course, "sectionId", section), nil, `{"description":"Mondays"}`},
		{"reviewSectionSkill", of("courseId", course, "sectionId", section, "skillId", "core:algorithms"), nil, `{"verdict":"REJECTED","note":"A topic, not an outcome."}`},
		{"deleteSectionReview", of("courseId", course, "sectionId", section, "skillId", "core:algorithms"), nil, ""},
		{"adoptOutcomes", of("courseId", course), nil, `{"sectionId":"` + section + `"}`},
		{"reviewCourseOutcomeSkill", of("courseId", course, "outcomeId", id["outcome"], "skillId", "core:algorithms"), nil, `{"verdict":"ACCEPTED","level":4}`},
		{"deleteCourseOutcomeReview", of("courseId", course, "outcomeId", id["outcome"], "skillId", "core:algorithms"), nil, ""},
		{"replaceCourseOutcomes", of("courseId", course), nil, `{"outcomes":[{"code":"CLO 1","statement":"Choose algorithms for a problem"},{"code":"CLO 2","statement":"Write tests in Python","level":3,` +
			`"skills":[{"skillId":"core:python","level":3}],"alignments":[{"type":"BROAD","uri":"urn:example:cs2023:se"}]}]}`},
		{"decideMapCell", of("programId", id["program"], "outcomeId", id["programOutcome"], "courseId", id["otherCourse"]), nil, `{"mark":"REINFORCED","assessed":true,"note":"In the project."}`},
		{"deleteMapDecision", of("programId", id["program"], "outcomeId", id["programOutcome"], "courseId", id["otherCourse"]), nil, ""},
		{"createProgramMapLink", of("programId", id["program"]), nil, `{"expiresInSeconds":3600}`},
		{"reviewProgramOutcomeSkill", of("programId", id["program"], "outcomeId", id["programOutcome"], "skillId", "core:sql"), nil, `{"verdict":"REJECTED"}`},
		{"deleteProgramOutcomeReview", of("programId", id["program"], "outcomeId", id["programOutcome"], "skillId", "core:sql"), nil, ""},
		{"replaceProgramOutcomes", of("programId", id["program"]), nil, `{"outcomes":[{"code":"PLO 1","statement":"Store and find data"},{"code":"PLO 2","statement":"Work in teams","level":3,"skills":[]}]}`},
		{"createJob", nil, nil, `{"name":"Analyst","employerId":"emp_1","salaryMin":50000,"salaryMax":70000,"onetSocCode":"15-2051.00"}`},
		{"updateJob", of("jobId", id["job"]), nil, `{"salaryMin":80000}`},
		{"createCredential", nil, nil, `{"name":"Basics","courseSectionIds":["` + id["otherSection"] + `"]}`},
		{"updateCredential", of("credentialId", id["credential"]), nil, `{"code":"BAS"}`},
		{"addCredentialSection", of("credentialId", id["credential"]), nil, `{"sectionId":"` + id["otherSection"] + `"}`},
		{"createProgram", nil, nil, `{"name":"Nursing","cipCode":"51.3801"}`},
		{"updateProgram", of("programId", id["program"]), nil, `{"name":"Computer Science, BS"}`},
		{"addProgramCourse", of("programId", id["program"]), nil, `{"courseId":"` + id["otherCourse"] + `"}`},
		{"createTransferPackage", nil, nil, `{"name":"Spring","transferFromInstitution":"Hill College"}`},
		{"updateTransferPackage", of("packageId", pack), nil, `{"matchingConfig":{"fullEquivalentThreshold":0.9}}`},
		{"createTransferCourses", of("packageId", pack), nil, `{"courses":[{"name":"Statistics","description":"Students apply regression analysis."}]}`},
		{"retryTransferCourse", of("packageId", pack, "transferCourseId", id["failedTransfer"]), nil, ""},
		{"reviewTransferCourseSkill", of("packageId", pack, "transferCourseId", transfer, "skillId", "core:sql"), nil, `{"verdict":"ACCEPTED","level":2}`},
		{"deleteTransferCourseReview", of("packageId", pack, "transferCourseId", transfer, "skillId", "core:sql"), nil, ""},
		{"createArticulation", nil, nil, `{"sendingInstitution":{"name":"Hill College"},"sending":[{"courses":[{"code":"MATH 12"},{"code":"MATH 13"}]},{"courses":[{"code":"STAT 20"}]}],` +
			`"receiving":[{"courseId":"` + course + `"}],"decision":"EQUIVALENT","effectiveFrom":"2027-01-01"}`},
		{"updateArticulation", of("articulationId", id["reviewed"]), nil, `{"publicNote":"Bring the syllabus."}`},
		{"moveArticulation", of("articulationId", id["reviewed"]), nil, `{"status":"IN_REVIEW","note":"For the committee in May."}`},
		{"createArticulationLink", of("articulationId", id["articulation"]), nil, `{"expiresInSeconds":3600}`},
		{"createReport", nil, nil, `{"name":"Fit","settings":{"courses":["` + course + `"],"jobs":[{"id":"` + id["job"] + `","lib":"custom"}]}}`},
		{"createReportLink", of("reportId", id["report"]), nil, `{"expiresInSeconds":3600}`},
		{"createDocument", nil, nil, `{"fileName":"statistics.pdf","sizeBytes":48213,"sha256":"` + strings.Repeat("5d", 32) + `"}`},
		{"createImport", nil, nil, `{"documentId":"` + id["document"] + `","resource":"course","layout":"GENERIC","mode":"CHECK","columns":{"Notes":null}}`},
		{"createSyllabusExtraction", nil, nil, `{"text":"Students will write Python programs."}`},

		{"removeCredentialSection", of("credentialId", id["credential"], "sectionId", id["otherSection"]), nil, ""},
		{"removeProgramCourse", of("programId", id["program"], "courseId", id["otherCourse"]), nil, ""},
		{"deleteTransferCourse", of("packageId", pack, "transferCourseId", id["failedTransfer"]), nil, ""},
		{"deleteTransferPackage", of("packageId", id["otherPackage"]), nil, ""},
		{"deleteArticulation", of("articulationId", id["draft"]), nil, ""},
		{"deleteImport", of("importId", id["import"]), nil, ""},
		{"deleteDocument", of("documentId", id["document"]), nil, ""},
		{"deleteReport", of("reportId", id["report"]), nil, ""},
		{"deleteCredential", of("credentialId", id["credential"]), nil, ""},
		{"deleteProgram", of("programId", id["program"]), nil, ""},
		{"deleteJob", of("jobId", id["job"]), nil, ""},
		{"deleteSection", of("courseId", course, "sectionId", section), nil, ""},
		{"deleteCourse", of("courseId", course), nil, ""},

		{"listWebhooks", nil, nil, ""},
		{"getWebhook", of("webhookId", id["webhook"]), nil, ""},
		{"listWebhookDeliveries", of("webhookId", id["webhook"]), nil, ""},
		{"createWebhook", nil, nil, `{"url":"https://example.org/hooks","types":["transferCourse.*","extraction.completed"]}`},
		{"updateWebhook", of("webhookId", id["webhook"]), nil, `{"description":"The registrar's"}`},
		{"rotateWebhookSecret", of("webhookId", id["webhook"]), nil, ""},
		{"testWebhook", of("webhookId", id["webhook"]), nil, ""},
		{"resendWebhookMessage", of("webhookId", id["webhook"], "messageId", id["message"]), nil, ""},
		{"deleteWebhook", of("webhookId", id["otherWebhook"]), nil, ""},

		{"upsertRecords", nil, nil, `{"resource":"section","items":[{"externalId":"10235","courseExternalId":"unknown","name":"Night"},{"externalId":"10236","name":"Noon"}]}`},
		{"getMe", nil, nil, ""},
		{"listOccupations", nil, of("query", "software dev", "limit", "2"), ""},
		{"listCIPCodes", nil, of("query", "computer sci", "limit", "2"), ""},
		{"getCustomerUsage", of("customerId", customer), nil, ""},
	}
}

// refusal is a request whose response is a problem.
type refusal struct {
	code   catalog.Code
	header map[string]string // beyond what every request has
	request
}

// refusals lists an event for each problem code that a single request can cause. They follow
// the others and change nothing.
func refusals(id map[string]string) []refusal {
	pack := map[string]string{"packageId": id["package"]}
	return []refusal{
		{catalog.MalformedJSON, nil, request{"createCourse", nil, nil, `{"name":"Operating Systems","name":"OS"}`}},
		{catalog.InvalidParameter, nil, request{"listCourses", nil, map[string]string{"limit": "500"}, ""}},
		{catalog.Unauthorized, map[string]string{api.HeaderKey: "unknown"}, request{"listCourses", nil, nil, ""}},
		{catalog.Forbidden, nil, request{"getCustomerUsage", map[string]string{"customerId": "cus_another"}, nil, ""}},
		{catalog.NotFound, nil, request{"getCourse", map[string]string{"courseId": "crs_unknown"}, nil, ""}},
		{catalog.Conflict, nil, request{"retryTransferCourse", map[string]string{"packageId": id["package"], "transferCourseId": id["transfer"]}, nil, ""}},
		{catalog.PreconditionFailed, map[string]string{"If-Match": `"5e1c9a"`}, request{"updateTransferPackage", pack, nil, `{"name":"Fall 2026"}`}},
		{catalog.UnsupportedMediaType, map[string]string{"Content-Type": "text/plain"}, request{"createCourse", nil, nil, "Operating Systems"}},
		{catalog.ValidationFailed, nil, request{"createCourse", nil, nil, `{"name":"","code":"CS 310","credits":{"min":3,"max":2,"unit":"ECTS"}}`}},
	}
}

// trigger is an event that is not an HTTP request.
type trigger struct {
	file, function string
	event          any
}

func triggers(id map[string]string) []trigger {
	message := func(n int, transfer string) lambda.SQSEvent {
		job := catalog.ExtractionJob{OrganizationID: organization, Kind: catalog.TransferCourseKind, ID: transfer, PackageID: id["package"]}
		body, _ := json.Marshal(job)
		return lambda.SQSEvent{Records: []lambda.SQSMessage{{
			MessageId: fmt.Sprintf("00000000-0000-0000-0000-%012d", n), ReceiptHandle: "handle", Body: string(body),
			EventSource: "aws:sqs", EventSourceARN: "arn:aws:sqs:us-east-1:000000000000:extractions", AWSRegion: "us-east-1",
			Attributes: map[string]string{"ApproximateReceiveCount": "1"},
		}}}
	}
	schedule := map[string]any{
		"version": "0", "id": "00000000-0000-0000-0000-000000000000", "detail-type": "Scheduled Event", "source": "aws.events",
		"account": "000000000000", "time": "2026-11-21T08:00:00Z", "region": "us-east-1", "resources": []string{}, "detail": map[string]any{},
	}
	delivery := lambda.SQSEvent{Records: []lambda.SQSMessage{{
		MessageId: "00000000-0000-0000-0000-000000000004", ReceiptHandle: "handle", Body: id["delivery"],
		EventSource: "aws:sqs", EventSourceARN: "arn:aws:sqs:us-east-1:000000000000:webhook-messages", AWSRegion: "us-east-1",
		Attributes: map[string]string{"ApproximateReceiveCount": "1"},
	}}}
	change := lambda.DynamoDBEvent{Records: []lambda.DynamoDBEventRecord{{
		AWSRegion: "us-east-1", EventID: "00000000-0000-0000-0000-000000000005", EventName: "MODIFY", EventSource: "aws:dynamodb",
		Change: lambda.DynamoDBStreamRecord{
			Keys: map[string]lambda.DynamoDBAttributeValue{
				api.PartitionKey: lambda.NewStringAttribute(api.JournalRows.Key(organization)), api.SortKey: lambda.NewStringAttribute("0000000000"),
			},
			SequenceNumber: "1", StreamViewType: "KEYS_ONLY",
		},
	}}}
	return []trigger{
		{"deliverer.stream", api.Deliverer, change},
		{"deliverer.queue", api.Deliverer, delivery},
		{"deliverer.schedule", api.Deliverer, schedule},
		{"extractor.queue", api.Extractor, message(1, id["pendingTransfer"])},
		{"extractor.queue-again", api.Extractor, message(2, id["pendingTransfer"])},
		{"sweeper.schedule", api.Sweeper, schedule},
		{"sweeper.dead-letter", api.Sweeper, message(3, id["deadTransfer"])},
	}
}

// TestReplay sends each event to the function that would get it in AWS, and compares the
// response with the golden file.
func TestReplay(t *testing.T) {
	ctx := t.Context()
	config, store := table(t)
	known := seed(t, config, store)
	functions := start(t, config)

	covered := map[string]bool{}
	for _, r := range requests(known) {
		op := api.Of(r.operation)
		covered[op.ID] = true
		t.Run(op.ID, func(t *testing.T) {
			replay(t, functions, known, op.ID, r, nil, op.Status)
		})
	}
	for _, r := range refusals(known) {
		t.Run("problem "+string(r.code), func(t *testing.T) {
			replay(t, functions, known, "problem."+string(r.code), r.request, r.header, api.Status(r.code))
		})
	}
	for _, op := range api.Operations() {
		if !covered[op.ID] {
			t.Errorf("operation %s has no event", op.ID)
		}
	}
	for _, trigger := range triggers(known) {
		t.Run(trigger.file, func(t *testing.T) {
			event, err := json.MarshalIndent(trigger.event, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			response, err := functions.Invoke(ctx, trigger.function, load(t, trigger.file+".json", event))
			if err != nil {
				t.Fatal(err)
			}
			golden(t, trigger.file+".golden.json", response)
		})
	}
	states(t, store, known)
}

// replay sends a request and compares the response with the golden file.
func replay(t *testing.T, functions *runtime.Runtime, known map[string]string, file string, r request, header map[string]string, status int) {
	op := api.Of(r.operation)
	body, err := functions.Invoke(t.Context(), string(op.Group), load(t, file+".json", r.event(op, header)))
	if err != nil {
		t.Fatal(err)
	}
	var response lambda.APIGatewayProxyResponse
	if err := json.Unmarshal(body, &response); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != status {
		t.Errorf("status %d, want %d: %s", response.StatusCode, status, response.Body)
	}
	golden(t, file+".golden.json", plain(t, known, response))
}

// states checks what the triggers did to the records that they name.
func states(t *testing.T, store *dynamo.Store, id map[string]string) {
	for name, want := range map[string]catalog.ProcessingStatus{"pendingTransfer": catalog.Completed, "deadTransfer": catalog.Failed} {
		course, err := service.GetIn[*catalog.TransferCourse](t.Context(), store, organization, id["package"], id[name], true)
		if err != nil {
			t.Fatal(err)
		}
		if course.ProcessingStatus != want {
			t.Errorf("%s is %s, want %s", name, course.ProcessingStatus, want)
		}
	}
}

// table returns an empty table of DynamoDB Local, and a queue.
func table(t *testing.T) (boot.Config, *dynamo.Store) {
	endpoint, stop, err := dynamodb.Server{}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	queues, stopQueue, err := queue.Server{}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stopQueue)
	storage, stopStorage, err := objects.Server{}.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stopStorage)
	env := dynamodb.Environment(endpoint, "events")
	env[api.EnvBucket], env[api.EnvS3Endpoint] = objects.Bucket, storage
	env[api.EnvQueueURL], env[api.EnvSQSEndpoint], env[api.EnvCountTimeout] = queues.URL, queues.Endpoint, "5000"
	env[api.EnvMessages], env[api.EnvImports] = queues.Messages.URL, queues.Imports.URL
	env[api.EnvWebhookKey] = strings.Repeat("key of the events", 2)
	config, err := boot.Read(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	store := config.Store()
	if err := store.CreateTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	return config, store
}

// steady returns the same bytes in every run, so that seeded records always have the
// same ids.
type steady struct{ n uint64 }

func (s *steady) Read(b []byte) (int, error) {
	for i := 0; i < len(b); i += sha256.Size {
		s.n++
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, s.n))
		copy(b[i:], sum[:])
	}
	return len(b), nil
}

type noQueue struct{}

func (noQueue) Send(context.Context, []catalog.ExtractionJob) error { return nil }
func (noQueue) SendImports(context.Context, catalog.OrgID) error    { return nil }

// seed creates the records that the events name, through the service itself, and returns their
// ids by name.
func seed(t *testing.T, config boot.Config, store *dynamo.Store) map[string]string {
	ctx := t.Context()
	save := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	save(store.SaveOrganization(ctx, &catalog.Organization{ID: organization, Name: "Example College", CreatedAt: seedTime}))
	college, err := store.Organization(ctx, organization)
	save(err)
	facts := *college
	facts.OrganizationFacts = catalog.OrganizationFacts{
		Description: "A public college of two years", Webpage: "https://college.example", AgentType: "TwoYear", Handle: "example-college", Publication: true,
	}
	save(store.ReplaceOrganization(ctx, college, &facts))
	save(store.SaveCustomer(ctx, &catalog.Customer{ID: customer, OrganizationID: organization, Name: "Events", CreatedAt: seedTime}))
	save(store.SaveKey(ctx, &catalog.Key{
		ID: "key_events", CustomerID: customer, OrganizationID: organization, Scope: catalog.WriteScope, Hash: catalog.HashSecret(apiKey), CreatedAt: seedTime,
	}))
	frozen := func() catalog.Time { return seedTime }
	store.Now = frozen
	server := group.New(config, store, nil)
	server.Now, server.IDs, server.Queue = frozen, catalog.IDs{Random: &steady{}}, noQueue{}
	server.Imports, server.Files = noQueue{}, files.New(config)
	notifying.Webhooks(config, server)
	server.Callers = &rest.Callers{Keys: store, Now: frozen}
	send := func(method, path, body string) map[string]any {
		r := httptest.NewRequestWithContext(ctx, method, api.BasePath+path, strings.NewReader(body))
		r.Header.Set(api.HeaderKey, apiKey)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		if w.Code >= 300 {
			t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		var v any
		save(json.Unmarshal(w.Body.Bytes(), &v))
		if list, ok := v.([]any); ok {
			v = map[string]any{"list": list}
		}
		return v.(map[string]any)
	}
	post := func(path, body string) map[string]any { return send(http.MethodPost, path, body) }
	id := map[string]string{}
	text := func(v any) string { return v.(string) }
	promise := func(path, body string) string {
		return text(send(http.MethodPut, path+"/outcomes", `{"outcomes":[`+body+`]}`)["outcomes"].([]any)[0].(map[string]any)["id"])
	}
	course := post("/courses", `{"name":"Data Structures","code":"CS 201","description":"Lists, trees and graphs"}`)
	id["course"] = text(course["id"])
	id["section"] = text(post("/courses/"+id["course"]+"/sections", `{"name":"Morning","externalId":"10234","skills":[{"skillId":"core:python","level":3,"confidence":0.9},{"skillId":"core:algorithms","level":4}]}`)["id"])
	other := post("/courses", `{"name":"Statistics","code":"MATH 210"}`)
	id["otherCourse"], id["otherSection"] = text(other["id"]), text(other["defaultSectionId"])
	post("/courses", `{"name":"Ethics","code":"PHIL 101"}`)
	id["job"] = text(post("/jobs", `{"name":"Developer","employerId":"emp_1","skills":[{"skillId":"core:python","level":4},{"skillId":"core:sql","level":2}]}`)["id"])
	id["credential"] = text(post("/credentials", `{"name":"Programmer","description":"Programming for beginners","webpage":"https://college.example/programmer","courseSectionIds":["`+id["section"]+`"]}`)["id"])
	id["program"] = text(post("/programs", `{"name":"Computer Science","description":"Theory and practice of computing","webpage":"https://college.example/cs","cipCode":"11.0701","courseOrder":["`+id["otherCourse"]+`"]}`)["id"])
	id["outcome"] = promise("/courses/"+id["course"], `{"code":"CLO 1","statement":"Choose algorithms for a problem","level":4,"skills":[{"skillId":"core:algorithms","level":4}]}`)
	id["programOutcome"] = promise("/programs/"+id["program"], `{"code":"PLO 1","statement":"Store and find data","level":3,"skills":[{"skillId":"core:sql","level":3}]}`)
	// Records that the events delete must not be held by others.
	id["report"] = text(post("/reports", `{"name":"Gaps","settings":{"courses":["`+id["course"]+`"],"jobs":[{"id":"15-1252","lib":"soc"}],"view":"gap"}}`)["report"].(map[string]any)["id"])
	// Links outlive every run of the test.
	link := func(digit string, kind catalog.Kind, record string) string {
		token := "lnk_" + strings.Repeat(digit, 24)
		var change catalog.Change
		change.With(&catalog.Link{
			Hash: catalog.HashSecret(token), OrganizationID: organization, Kind: kind, RecordID: record,
			KeyHash: catalog.HashSecret(apiKey), ValidUntil: seedTime + 100*365*24*3_600_000,
		})
		save(store.Commit(ctx, organization, &change))
		return token
	}
	id["mapLink"] = link("2", catalog.ProgramKind, id["program"])
	id["link"] = link("0", catalog.ReportKind, id["report"])
	id["package"] = text(post("/transfer-packages", `{"name":"Fall","transferFromInstitution":"Lake College"}`)["id"])
	id["otherPackage"] = text(post("/transfer-packages", `{"name":"Old","transferFromInstitution":"Lake College"}`)["id"])
	id["extraction"] = text(post("/syllabus-extractions", `{"text":"Students will write Python programs."}`)["extractionId"])
	courses := post("/transfer-packages/"+id["package"]+"/courses", `{"courses":[{"name":"Programming"},{"name":"Lost"},{"name":"Python","description":"Students will write Python programs."},{"name":"Dead"}]}`)["list"].([]any)
	for i, name := range []string{"transfer", "failedTransfer", "pendingTransfer", "deadTransfer"} {
		id[name] = text(courses[i].(map[string]any)["id"])
	}
	syllabus := []byte("Students will write Python programs.")
	id["document"] = text(post("/documents", fmt.Sprintf(`{"fileName":"syllabus.txt","sizeBytes":%d,"sha256":"%x"}`, len(syllabus), sha256.Sum256(syllabus)))["id"])
	document, err := service.Get[*catalog.Document](ctx, store, organization, id["document"], true)
	save(err)
	save(files.New(config).Put(ctx, document, boot.Now(), syllabus))
	hooks := &catalog.Webhooks{OrganizationID: organization}
	for _, name := range []string{"webhook", "otherWebhook"} {
		hook := &catalog.Webhook{
			ID: server.IDs.Webhook(), OrganizationID: organization, CreatedAt: seedTime, UpdatedAt: seedTime, URL: "https://127.0.0.1:9/skills",
			Types: []string{"transferCourse.changed"}, Enabled: true,
		}
		hook.NewSecrets(server.Webhooks.Seal(webhook.Owner(organization, hook.ID), []byte(webhook.NewSecret())), seedTime)
		id[name] = hook.ID
		save(hooks.Add(hook))
	}
	message := server.IDs.NewTestMessage(hooks.List[0], catalog.Cursor{}, seedTime)
	var hooked catalog.Change
	hooked.With(hooks)
	hooked.With(&message)
	store.Now = boot.Now // a message expires after a week
	save(store.Commit(ctx, organization, &hooked))
	store.Now = frozen
	delivery, err := json.Marshal(message)
	save(err)
	id["message"], id["delivery"] = message.ID, string(delivery)
	finish := func(name string, outcome *catalog.ExtractionResult) {
		job := catalog.ExtractionJob{OrganizationID: organization, Kind: catalog.TransferCourseKind, ID: id[name], PackageID: id["package"]}
		task, err := store.Claim(ctx, job, "run", seedTime+1000)
		save(err)
		save(store.Finish(ctx, task, outcome))
	}
	finish("transfer", &catalog.ExtractionResult{
		Skills:     []catalog.SkillRef{{SkillID: "core:python", SkillName: "Python", Level: 3, Confidence: 0.9}},
		Evidence:   []catalog.Evidence{{SkillID: "core:python", Quote: "Python", Page: 1, Start: 0, End: 6, Label: "Python", Section: "topics"}},
		Warnings:   []catalog.Warning{},
		Provenance: catalog.Provenance{Engine: "seed", Taxonomy: "seed", TaxonomyVersion: "1", DocumentSHA256: strings.Repeat("0", 64)},
		Text:       "Python",
	})
	articulation := func(body string) string { return text(post("/articulations", body)["id"]) }
	from := `{"sendingInstitution":{"name":"Lake College","codeType":"CEEB","code":"0042"},"effectiveFrom":"2026-08-01",`
	id["articulation"] = articulation(from + `"sending":[{"courses":[{"code":"CS 101","transferCourseId":"` + id["transfer"] + `"}]}],` +
		`"receiving":[{"courseId":"` + id["otherCourse"] + `","credits":{"min":3,"max":3,"unit":"SEMESTER_HOUR"}}],"published":true,"decision":"PARTIAL","effectiveTo":"2027-01-31","reviewAfter":"2026-10-01","privateNote":"Seen by the dean."}`)
	for _, move := range []string{`{"status":"IN_REVIEW"}`, `{"status":"APPROVED","decidedBy":{"name":"Registrar"}}`} {
		post("/articulations/"+id["articulation"]+"/status", move)
	}
	id["reviewed"] = articulation(from + `"sending":[{"courses":[{"code":"CS 110"}]}],"receiving":[{"label":"CS elective"}],"decision":"ELECTIVE"}`)
	id["compared"] = articulation(from + `"sending":[{"courses":[{"code":"CS 130","title":"Programming","transferCourseId":"` + id["transfer"] + `"}]}],` +
		`"receiving":[{"courseId":"` + id["course"] + `"}],"decision":"PARTIAL"}`)
	id["articulationLink"] = link("1", catalog.ArticulationKind, id["compared"])
	id["draft"] = articulation(from + `"sending":[{"courses":[{"code":"CS 120"}]}],"receiving":[],"decision":"NO_CREDIT","reason":"No laboratory."}`)
	id["import"] = text(post("/imports", `{"documentId":"`+id["document"]+`","resource":"section"}`)["id"])
	finish("failedTransfer", &catalog.ExtractionResult{Failure: &catalog.Failure{Code: catalog.DocumentNotFound, Message: "The server has no document at the address."}})
	return id
}

// start builds every function and runs it as Lambda does.
func start(t *testing.T, config boot.Config) *runtime.Runtime {
	dir := t.TempDir()
	names := api.Functions()
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "lambda.norpc", "-o", dir+"/", "../functions/...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	// The real page is infra/reference's.
	for name, text := range map[string]string{"index.html": "<!doctype html>\n<title>Reference</title>\n", "console.html": "<!doctype html>\n<title>Console</title>\n", "assets/page.js": "\"use strict\";\n"} {
		path := filepath.Join(dir, "site", filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	var functions []runtime.Function
	for _, name := range names {
		endpoint := guarded(t, name, config.DynamoDBEndpoint)
		functions = append(functions, runtime.Function{
			Name: name, Bootstrap: filepath.Join(dir, name), Timeout: 30 * time.Second, Processes: 1,
			Env: map[string]string{
				"AWS_REGION": config.Region, api.EnvBucket: config.Bucket, api.EnvS3Endpoint: config.S3Endpoint,
				api.EnvTable: config.Table, api.EnvDynamoEndpoint: endpoint, api.EnvQueueURL: config.QueueURL, api.EnvSQSEndpoint: config.SQSEndpoint,
				// One window, so that the remaining units do not depend on the hour.
				api.EnvMessages: config.MessagesURL, api.EnvImports: config.ImportsURL, api.EnvWebhookKey: config.WebhookKey,
				api.EnvRateWindow: "86400", api.EnvCountTimeout: "5000",
			},
		})
	}
	r, err := runtime.Start(t.Context(), functions, filepath.Join(dir, "logs"), log.New(io.Discard, "", 0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r
}

// guarded returns the URL of a proxy to DynamoDB that fails the test for calls that the role of
// the function would not allow in AWS.
func guarded(t *testing.T, function, endpoint string) string {
	upstream, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(upstream)
	guard := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the function is gone
		}
		if err := grants.Check(api.RowsOf(function), r.Header.Get("X-Amz-Target"), body); err != nil {
			t.Errorf("%s: %v (pkg/api, RowsOf)", function, err)
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(guard.Close)
	return guard.URL
}

// event writes the request as API Gateway sends it.
func (r request) event(op api.Operation, more map[string]string) []byte {
	path := op.Path
	for name, value := range r.params {
		path = strings.ReplaceAll(path, "{"+name+"}", value)
	}
	headers := map[string]string{"Accept": "application/json", api.HeaderKey: apiKey}
	if op.Access == api.Public {
		delete(headers, api.HeaderKey)
	}
	if r.body != "" {
		headers["Content-Type"] = "application/json"
	}
	maps.Copy(headers, more)
	multi := func(in map[string]string) map[string][]string {
		out := map[string][]string{}
		for name, value := range in {
			out[name] = []string{value}
		}
		return out
	}
	packed, _ := json.MarshalIndent(lambda.APIGatewayProxyRequest{
		Resource: op.Path, Path: path, HTTPMethod: op.Method, Headers: headers, MultiValueHeaders: multi(headers),
		QueryStringParameters: r.query, MultiValueQueryStringParameters: multi(r.query), PathParameters: r.params, Body: r.body,
		RequestContext: lambda.APIGatewayProxyRequestContext{
			RequestID: "req-" + op.ID, DomainName: "api.example.org", Stage: "v1", ResourcePath: op.Path, Path: api.BasePath + path, HTTPMethod: op.Method, Protocol: "HTTP/1.1", APIID: "local",
			Identity: lambda.APIGatewayRequestIdentity{SourceIP: "127.0.0.1"},
		},
	}, "", "  ")
	return packed
}

// load returns the committed event, which must equal the one generated from the records and
// the lists above.
func load(t *testing.T, file string, made []byte) []byte {
	made = append(made, '\n')
	if *update {
		if err := os.WriteFile(file, made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(committed) != string(made) {
		t.Errorf("%s is stale: run go test ./events -update", file)
	}
	return committed
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	var v any
	if err := json.Unmarshal(got, &v); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	indented, _ := json.MarshalIndent(v, "", "  ")
	indented = append(indented, '\n')
	if *update {
		if err := os.WriteFile(file, indented, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		t.Fatalf("%s is missing: run go test ./events -update", file)
	}
	if diff := cmp.Diff(string(want), string(indented)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

var (
	anyID     = regexp.MustCompile(`\b(crs|sec|prg|crd|job|tpk|tcr|rpt|ext|doc|lnk|art|out|imp|wh|msg)_[0-9a-z]{24,32}\b`)
	anyCTID   = regexp.MustCompile(`\bce-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	anySecret = regexp.MustCompile(`whsec_[A-Za-z0-9+/=]{44}`)
	inPage    = regexp.MustCompile(`&#39;sha256-(?:[A-Za-z0-9/=]|&#43;)+&#39;`)
	anyHash   = regexp.MustCompile(`'sha256-[A-Za-z0-9+/=]{44}'`)
	anyHost   = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	anyTime   = regexp.MustCompile(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)
)

// Placeholders for later times and signed addresses. They have the same form, because the
// golden files are the examples of the contract.
const (
	someTime   = "2026-11-21T08:00:01.000Z"
	dayForm    = "2 January 2006"
	someUpload = "https://uploads.example/statistics.pdf?X-Amz-Signature=5e1c9a"
)

// someSecret is the placeholder for a webhook's secret.
const someSecret = "whsec_U29tZSBzZWNyZXQgb2YgdGhpcnR5LXR3byBieXRlcyE="

// anyUpload matches a signed request in a response.
var anyUpload = regexp.MustCompile(`"url":"http[^"]*X-Amz-Signature=[0-9a-f]{64}[^"]*"`)

// plain returns a response without the parts that differ between runs: new ids, times, and
// values derived from them.
func plain(t *testing.T, known map[string]string, r lambda.APIGatewayProxyResponse) []byte {
	seeded := map[string]bool{}
	for _, id := range known {
		seeded[id], seeded[catalog.DerivedCTID(id)] = true, true
	}
	body := r.Body
	if r.IsBase64Encoded {
		decoded, err := base64.StdEncoding.DecodeString(body)
		if err != nil {
			t.Fatal(err)
		}
		body = string(decoded)
	}
	changed := false
	fresh := map[string]string{} // new ids, by their order in the response
	hide := func(text string) string {
		text = anyID.ReplaceAllStringFunc(text, func(id string) string {
			if seeded[id] {
				return id
			}
			changed = true
			if fresh[id] == "" {
				prefix, _, _ := strings.Cut(id, "_")
				fresh[id] = fmt.Sprintf("%s_new%021d", prefix, len(fresh)+1)
			}
			return fresh[id]
		})
		text = anyCTID.ReplaceAllStringFunc(text, func(ctid string) string {
			if seeded[ctid] {
				return ctid
			}
			changed = true
			if fresh[ctid] == "" {
				fresh[ctid] = fmt.Sprintf("ce-00000000-0000-4000-8000-%012d", len(fresh)+1)
			}
			return fresh[ctid]
		})
		return anyTime.ReplaceAllStringFunc(text, func(at string) string {
			if at == seedTime.String() {
				return at
			}
			changed = true
			return someTime
		})
	}
	body = anyUpload.ReplaceAllStringFunc(hide(body), func(string) string {
		changed = true
		return `"url":"` + someUpload + `"`
	})
	body = anySecret.ReplaceAllString(body, someSecret)
	// Pages name the day on which they are made, also in a style sheet whose digest their policy has.
	if day := time.Now().UTC().Format(dayForm); strings.Contains(body, day) {
		changed, body = true, strings.ReplaceAll(body, day, seedTime.Std().Format(dayForm))
		body = inPage.ReplaceAllString(body, "&#39;sha256-SOME&#39;")
	}
	// The OpenAPI document has golden files of its own.
	long := len(body) > 100_000
	header := map[string][]string{}
	for name, values := range r.MultiValueHeaders {
		header[name] = values
		switch {
		case name == api.HeaderReset && values[0] != "0":
			header[name] = []string{"LATER"}
		case name == "ETag" && (changed || long):
			header[name] = []string{"SOME"}
		case name == "X-Record-ETag": // of a record with the time of its review
			header[name] = []string{"SOME"}
		case name == "Location":
			header[name] = []string{hide(values[0])}
		case name == "Content-Security-Policy" && changed:
			header[name] = []string{anyHash.ReplaceAllString(values[0], "'sha256-SOME'")}
		case name == "Content-Security-Policy":
			header[name] = []string{anyHost.ReplaceAllString(values[0], "https://uploads.example")}
		}
	}
	out := map[string]any{"statusCode": r.StatusCode, "multiValueHeaders": header}
	var parsed any
	if long {
		out["body"] = "LONG"
	} else if json.Unmarshal([]byte(body), &parsed) == nil {
		out["body"] = parsed
	} else if body != "" {
		out["body"] = body
	}
	packed, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}
