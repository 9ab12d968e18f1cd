package api

import (
	"net/http"

	"skillscurriculum/pkg/catalog"
)

// The media types of bodies.
const (
	JSON       = "application/json"
	MergePatch = "application/merge-patch+json" // of PATCH, beside JSON
	CSV        = "text/csv"
	HTML       = "text/html"
)

// The costs in units.
var (
	free       = Cost{}
	read       = Cost{Base: 1}
	write      = Cost{Base: 2}
	regenerate = Cost{Base: 10}
	score      = Cost{Base: 5}
	build      = Cost{Base: 20}
	extract    = Cost{Base: 10}
	perCourse  = Cost{PerItem: 10}
	withCourse = Cost{Base: 2, PerItem: 10}
)

// The functions below make the rows of the table: get, list, post, patch, put and remove
// begin one, an option says in what it differs from others of its kind.

type option func(*Operation)

func operation(o Operation, options []option) Operation {
	for _, option := range options {
		option(&o)
	}
	return o
}

// get reads one record or whatever has an ETag.
func get(id string, g Group, path, summary string, options ...option) Operation {
	return operation(Operation{
		ID: id, Method: http.MethodGet, Path: path, Group: g, Summary: summary, Cost: read, Status: http.StatusOK, Gives: []string{JSON}, ETag: true,
	}, options)
}

// list reads a page of a list.
func list(id string, g Group, path, summary string, options ...option) Operation {
	return operation(Operation{
		ID: id, Method: http.MethodGet, Path: path, Group: g, Summary: summary, Cost: read, Status: http.StatusOK, Gives: []string{JSON}, Pages: true,
	}, options)
}

// post starts or computes something; with creates it makes records.
func post(id string, g Group, path, summary string, options ...option) Operation {
	return operation(Operation{
		ID: id, Method: http.MethodPost, Path: path, Group: g, Summary: summary, Cost: write, Status: http.StatusOK, Access: Write,
		Idempotent: true, Accepts: []string{JSON}, Gives: []string{JSON},
	}, options)
}

// patch changes the record that the GET of the same path reads.
func patch(id string, g Group, path, summary, ifMatch string, options ...option) Operation {
	return operation(Operation{
		ID: id, Method: http.MethodPatch, Path: path, Group: g, Summary: summary, Cost: write, Status: http.StatusOK, Access: Write,
		Accepts: []string{JSON, MergePatch}, Gives: []string{JSON}, IfMatch: ifMatch, ETag: true,
	}, options)
}

// put sets a part of the record that the GET named ifMatch reads.
func put(id string, g Group, path, summary, ifMatch string, options ...option) Operation {
	return operation(Operation{
		ID: id, Method: http.MethodPut, Path: path, Group: g, Summary: summary, Cost: write, Status: http.StatusOK, Access: Write,
		Accepts: []string{JSON}, Gives: []string{JSON}, IfMatch: ifMatch, ETag: true,
	}, options)
}

// remove deletes a record, or takes a member out of one.
func remove(id string, g Group, path, summary, ifMatch string, options ...option) Operation {
	return operation(Operation{
		ID: id, Method: http.MethodDelete, Path: path, Group: g, Summary: summary, Cost: write, Status: http.StatusNoContent, Access: Write, IfMatch: ifMatch,
	}, options)
}

// added marks what goes beyond the original contract.
func added(o Operation) Operation {
	o.Added = true
	return o
}

func costs(c Cost) option { return func(o *Operation) { o.Cost = c } }

// counts names the fields of the body that hold the items.
func counts(fields ...string) option { return func(o *Operation) { o.ItemsIn = fields } }

// creates says that a POST makes one record, which the response is and the GET reads.
func creates(get string) option {
	return func(o *Operation) { o.Status, o.Creates, o.ETag = http.StatusCreated, get, true }
}

func gives(media ...string) option { return func(o *Operation) { o.Gives = media } }

func errors(codes ...catalog.Code) option { return func(o *Operation) { o.Errors = codes } }

// What needs no value.
var (
	expensive option = func(o *Operation) { o.Expensive = true }
	public    option = func(o *Operation) { o.Access = Public }
	// storesNothing opens a POST to read keys.
	storesNothing option = func(o *Operation) { o.Access = Read }
	queues        option = func(o *Operation) { o.Queues = true }
	accepted      option = func(o *Operation) { o.Status = http.StatusAccepted }
	bodiless      option = func(o *Operation) { o.Accepts = nil }
	tagged        option = func(o *Operation) { o.ETag = true }
	untagged      option = func(o *Operation) { o.ETag = false }
	paged         option = func(o *Operation) { o.Pages = true }
	// withUpload leaves a signed request out of the ETag: it is signed anew each time.
	withUpload option = func(o *Operation) { o.Passing = "upload" }
	notifies   option = func(o *Operation) { o.Notifies = true }
	sealed     option = func(o *Operation) { o.Sealed = true }
)

// ofWebhooks are the marks of every operation of the webhooks, which are shown to write
// keys only. Their secret is shown once: the ETag leaves it out.
func ofWebhooks(o Operation) Operation {
	o.Added, o.Access = true, Write
	if o.ETag {
		o.Passing = "secret"
	}
	return o
}

var operations = []Operation{
	list("listCourses", Courses, "/courses", "List the courses of the organization"),
	added(post("createCourse", Courses, "/courses", "Create a course with its default section", creates("getCourse"))),
	added(list("listSections", Courses, "/sections", "Find a section by its externalId")),
	get("getCourse", Courses, "/courses/{courseId}", "Read a course"),
	added(patch("updateCourse", Courses, "/courses/{courseId}", "Change a course", "getCourse")),
	added(remove("deleteCourse", Courses, "/courses/{courseId}", "Delete a course with its sections", "getCourse")),
	added(post("createSection", Courses, "/courses/{courseId}/sections", "Create a section; a syllabusHref or documentId queues extraction of its skills",
		costs(withCourse), counts("syllabusHref", "documentId"), queues, creates("getSection"))),
	get("getSection", Courses, "/courses/{courseId}/sections/{sectionId}", "Read a section"),
	added(patch("updateSection", Courses, "/courses/{courseId}/sections/{sectionId}", "Change a section; a changed syllabusHref or documentId queues extraction of its skills", "getSection",
		costs(withCourse), queues)),
	added(remove("deleteSection", Courses, "/courses/{courseId}/sections/{sectionId}", "Delete a section", "getSection")),
	added(put("reviewSectionSkill", Courses, "/courses/{courseId}/sections/{sectionId}/skills/{skillId}/review",
		"Accept, correct, add or reject a skill of a section, whatever its extractions find", "getSection")),
	added(remove("deleteSectionReview", Courses, "/courses/{courseId}/sections/{sectionId}/skills/{skillId}/review",
		"Take a review away, so that what was extracted stands again", "getSection")),

	list("listJobs", Jobs, "/jobs", "List the jobs of the organization"),
	added(post("createJob", Jobs, "/jobs", "Create a job", creates("getJob"))),
	added(get("getJob", Jobs, "/jobs/{jobId}", "Read a job")),
	added(patch("updateJob", Jobs, "/jobs/{jobId}", "Change a job", "getJob")),
	added(remove("deleteJob", Jobs, "/jobs/{jobId}", "Delete a job", "getJob")),

	added(list("listCredentials", Credentials, "/credentials", "List the stackable credentials of the organization")),
	added(post("createCredential", Credentials, "/credentials", "Create a stackable credential", creates("getCredential"))),
	get("getCredential", Credentials, "/credentials/{credentialId}", "Read a stackable credential"),
	patch("updateCredential", Credentials, "/credentials/{credentialId}", "Change a stackable credential; courseSectionIds replaces its sections", "getCredential"),
	added(remove("deleteCredential", Credentials, "/credentials/{credentialId}", "Delete a stackable credential", "getCredential")),
	post("addCredentialSection", Credentials, "/credentials/{credentialId}/sections", "Add a section to a stackable credential", tagged),
	added(remove("removeCredentialSection", Credentials, "/credentials/{credentialId}/sections/{sectionId}", "Take a section out of a stackable credential", "getCredential")),
	added(post("buildCredential", Credentials, "/credential-builder", "Propose sections for a credential that serves jobs", costs(build), expensive, storesNothing)),

	added(list("listPrograms", Programs, "/programs", "List the programs of the organization")),
	added(post("createProgram", Programs, "/programs", "Create a program", creates("getProgram"))),
	added(get("getProgram", Programs, "/programs/{programId}", "Read a program")),
	added(patch("updateProgram", Programs, "/programs/{programId}", "Change a program; courseOrder must be a permutation", "getProgram")),
	added(remove("deleteProgram", Programs, "/programs/{programId}", "Delete a program", "getProgram")),
	post("addProgramCourse", Programs, "/programs/{programId}/courses", "Add a course to the end of a program", tagged),
	added(remove("removeProgramCourse", Programs, "/programs/{programId}/courses/{courseId}", "Take a course out of a program", "getProgram")),

	list("listTransferPackages", Transfers, "/transfer-packages", "List the transfer packages of the organization"),
	added(post("createTransferPackage", Transfers, "/transfer-packages", "Create a transfer package, with courses if given",
		costs(withCourse), counts("courses"), queues, creates("getTransferPackage"))),
	added(get("getTransferPackage", Transfers, "/transfer-packages/{packageId}", "Read a transfer package")),
	added(patch("updateTransferPackage", Transfers, "/transfer-packages/{packageId}", "Change a transfer package", "getTransferPackage")),
	added(remove("deleteTransferPackage", Transfers, "/transfer-packages/{packageId}", "Delete a transfer package with its courses", "getTransferPackage")),
	get("listTransferCourses", Transfers, "/transfer-packages/{packageId}/courses", "List the courses of a transfer package", paged),
	post("createTransferCourses", Transfers, "/transfer-packages/{packageId}/courses", "Create transfer courses, whose skills are extracted from their syllabi",
		costs(perCourse), counts("courses"), queues, creates("getTransferCourse"), untagged),
	added(get("getTransferCourse", Transfers, "/transfer-packages/{packageId}/courses/{transferCourseId}", "Read a transfer course")),
	added(remove("deleteTransferCourse", Transfers, "/transfer-packages/{packageId}/courses/{transferCourseId}", "Delete a transfer course", "getTransferCourse")),
	added(put("reviewTransferCourseSkill", Transfers, "/transfer-packages/{packageId}/courses/{transferCourseId}/skills/{skillId}/review",
		"Accept, correct, add or reject a skill of a transfer course, whatever its extractions find", "getTransferCourse")),
	added(remove("deleteTransferCourseReview", Transfers, "/transfer-packages/{packageId}/courses/{transferCourseId}/skills/{skillId}/review",
		"Take a review away, so that what was extracted stands again", "getTransferCourse")),
	added(post("retryTransferCourse", Transfers, "/transfer-packages/{packageId}/courses/{transferCourseId}/retry", "Start the extraction of a FAILED transfer course again",
		costs(extract), expensive, bodiless, queues, accepted, tagged)),
	added(post("matchTransferCourse", Transfers, "/transfer-packages/{packageId}/courses/{transferCourseId}/equivalencies",
		"Score a transfer course against the sections of the catalog", costs(score), expensive, bodiless, storesNothing, errors(catalog.Conflict))),
	added(post("matchTransferPackage", Transfers, "/transfer-packages/{packageId}/equivalencies", "Score all courses of a transfer package, with other thresholds if given",
		costs(score), expensive, bodiless, storesNothing)),

	added(list("listReports", Reports, "/reports", "List the reports of the organization")),
	post("createReport", Reports, "/reports", "Create and generate a report", costs(regenerate), expensive, creates("getReport")),
	added(get("getReport", Reports, "/reports/{reportId}", "Generate a stored report anew", costs(regenerate), expensive, gives(JSON, CSV, HTML))),
	added(remove("deleteReport", Reports, "/reports/{reportId}", "Delete a report", "getReport")),

	added(get("getLaborMarket", Labor, "/labor-market", "Labor market figures of the occupations that programs of study lead to")),
	added(get("listRegions", Labor, "/labor-market/regions", "List the regions that labor market figures exist for")),

	added(post("createSyllabusExtraction", Extractions, "/syllabus-extractions", "Extract skills from a text or a syllabus",
		costs(extract), expensive, queues, creates("getSyllabusExtraction"), accepted, untagged)),
	added(get("getSyllabusExtraction", Extractions, "/syllabus-extractions/{extractionId}", "Read an extraction")),
	added(list("listSkills", Extractions, "/skills", "Search the loaded taxonomy")),
	added(get("getSkill", Extractions, "/skills/{skillId}", "Read a skill of the loaded taxonomy")),
	added(list("listSkillSections", Extractions, "/skills/{skillId}/sections", "Find the sections that teach a skill, the highest level first")),

	added(post("createDocument", Documents, "/documents", "Announce a file that holds a syllabus; the response says how to upload it",
		creates("getDocument"), withUpload)),
	added(get("getDocument", Documents, "/documents/{documentId}", "Read a document, with an upload that is valid now as long as its file is not there", withUpload)),
	added(remove("deleteDocument", Documents, "/documents/{documentId}", "Delete a document with its file", "getDocument")),

	ofWebhooks(list("listWebhooks", Webhooks, "/webhooks", "List the webhooks of the organization")),
	ofWebhooks(post("createWebhook", Webhooks, "/webhooks", "Create a webhook, which is told of changes from now on; its secret is shown this once",
		creates("getWebhook"), sealed)),
	ofWebhooks(get("getWebhook", Webhooks, "/webhooks/{webhookId}", "Read a webhook")),
	ofWebhooks(patch("updateWebhook", Webhooks, "/webhooks/{webhookId}", "Change, disable or enable a webhook", "getWebhook")),
	ofWebhooks(remove("deleteWebhook", Webhooks, "/webhooks/{webhookId}", "Delete a webhook", "getWebhook")),
	ofWebhooks(post("rotateWebhookSecret", Webhooks, "/webhooks/{webhookId}/rotate", "Give a webhook a new secret; for 24 hours the one before signs as well",
		bodiless, tagged, sealed)),
	ofWebhooks(post("testWebhook", Webhooks, "/webhooks/{webhookId}/test", "Send a webhook.test message now", bodiless, accepted, notifies)),
	ofWebhooks(get("listWebhookDeliveries", Webhooks, "/webhooks/{webhookId}/deliveries", "List the attempts of the last seven days at delivering messages, the newest first")),
	ofWebhooks(post("resendWebhookMessage", Webhooks, "/webhooks/{webhookId}/deliveries/{messageId}/resend", "Send a message once more, now", bodiless, accepted, notifies)),

	get("getCustomerUsage", Customers, "/customers/{customerId}/usage", "Usage and rate-limit status of the calling customer", costs(free), errors(catalog.Forbidden)),
	added(get("listChanges", Customers, "/changes", "Every change of the organization's records, in order")),
	added(get("getOpenAPI", Customers, "/openapi.json", "This document", costs(free), public)),
}
