package api

import (
	"net/http"

	"skillscurriculum/pkg/catalog"
)

// The media types of bodies.
const (
	JSON       = "application/json"
	MergePatch = "application/merge-patch+json" // of PATCH, besides JSON
	CSV        = "text/csv"
	HTML       = "text/html"
	JavaScript = "text/javascript"
	CSS        = "text/css"
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

// creates marks a POST that makes one record, which the response is and the GET reads.
func creates(get string) option {
	return func(o *Operation) { o.Status, o.Creates, o.ETag = http.StatusCreated, get, true }
}

// compares says that a POST changes one record, which the GET reads.
func compares(get string) option { return func(o *Operation) { o.IfMatch = get } }

// described says what the summary does not: what happens besides, what the response
// has and what is refused.
func described(text string) option { return func(o *Operation) { o.Description = text } }

func gives(media ...string) option { return func(o *Operation) { o.Gives = media } }

// leads redirects clients that prefer HTML to another GET.
func leads(to string) option { return func(o *Operation) { o.Leads = to } }

func errors(codes ...catalog.Code) option { return func(o *Operation) { o.Errors = codes } }

// What needs no value.
var (
	expensive option = func(o *Operation) { o.Expensive = true }
	public    option = func(o *Operation) { o.Access = Public }
	// storesNothing opens a POST to read keys.
	storesNothing option = func(o *Operation) { o.Access = Read }
	queues        option = func(o *Operation) { o.Queues = true }
	accepted      option = func(o *Operation) { o.Status = http.StatusAccepted }
	created       option = func(o *Operation) { o.Status = http.StatusCreated }
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
	list("listCourses", Courses, "/courses", "List courses",
		described("Courses of the organization in creation order. externalId and code look courses up by exactly these names, at a cost that does not grow with the list.")),
	added(post("createCourse", Courses, "/courses", "Create a course",
		described("Makes the course and its default section, which is named like it."), creates("getCourse"))),
	added(list("listSections", Courses, "/sections", "Find a section by externalId",
		described("The section with exactly this externalId, or an empty list."))),
	get("getCourse", Courses, "/courses/{courseId}", "Read a course",
		described("The course with references to its sections.")),
	added(patch("updateCourse", Courses, "/courses/{courseId}", "Change a course", "getCourse",
		described("Changes the fields that the body has; null empties a nullable one (JSON merge patch)."))),
	added(remove("deleteCourse", Courses, "/courses/{courseId}", "Delete a course", "getCourse",
		described("Deletes the course with its sections. A course that a program or credential holds stays: 409."))),
	added(post("createSection", Courses, "/courses/{courseId}/sections", "Create a section",
		described("Adds a section to the course. A syllabusHref or documentId queues the extraction of its skills; read the section until processingStatus is COMPLETED or FAILED."),
		costs(withCourse), counts("syllabusHref", "documentId"), queues, creates("getSection"))),
	get("getSection", Courses, "/courses/{courseId}/sections/{sectionId}", "Read a section",
		described("The section with its skills. include adds the evidence of extracted skills, and the reviews.")),
	added(patch("updateSection", Courses, "/courses/{courseId}/sections/{sectionId}", "Change a section", "getSection",
		described("Changes the fields that the body has. Another syllabusHref or documentId queues the extraction of its skills; skills replaces the list and ends its reviews."),
		costs(withCourse), queues)),
	added(remove("deleteSection", Courses, "/courses/{courseId}/sections/{sectionId}", "Delete a section", "getSection",
		described("A default section, and one that a credential holds, stay: 409."))),
	added(put("reviewSectionSkill", Courses, "/courses/{courseId}/sections/{sectionId}/skills/{skillId}/review", "Review a skill of a section", "getSection",
		described("Accepts, corrects, adds or rejects a skill. A review outlives whatever extractions find; it replaces the skill's present review as a whole."))),
	added(remove("deleteSectionReview", Courses, "/courses/{courseId}/sections/{sectionId}/skills/{skillId}/review", "Take back a review of a section's skill", "getSection",
		described("What was extracted or set by hand stands again. 204 also where there is no review."))),

	list("listJobs", Jobs, "/jobs", "List jobs",
		described("Jobs of the organization in creation order. externalId looks one up by exactly this name.")),
	added(post("createJob", Jobs, "/jobs", "Create a job",
		described("Makes a job with the skills that it requires."), creates("getJob"))),
	added(get("getJob", Jobs, "/jobs/{jobId}", "Read a job",
		described("The job with the skills that it requires."))),
	added(patch("updateJob", Jobs, "/jobs/{jobId}", "Change a job", "getJob",
		described("Changes the fields that the body has; skills and locations replace their lists."))),
	added(remove("deleteJob", Jobs, "/jobs/{jobId}", "Delete a job", "getJob",
		described("Reports that name the job leave it out from then on."))),

	added(list("listCredentials", Credentials, "/credentials", "List credentials",
		described("Stackable credentials of the organization in creation order. externalId looks one up by exactly this name."))),
	added(post("createCredential", Credentials, "/credentials", "Create a credential",
		described("Makes a stackable credential of sections, at most one of each course."), creates("getCredential"))),
	get("getCredential", Credentials, "/credentials/{credentialId}", "Read a credential",
		described("The credential with profiles of its sections as they are now.")),
	patch("updateCredential", Credentials, "/credentials/{credentialId}", "Change a credential", "getCredential",
		described("Changes the fields that the body has. courseSectionIds replaces the whole set of sections; [] empties it, two sections of one course are 422.")),
	added(remove("deleteCredential", Credentials, "/credentials/{credentialId}", "Delete a credential", "getCredential",
		described("Its sections and courses stay, and can be deleted then."))),
	post("addCredentialSection", Credentials, "/credentials/{credentialId}/sections", "Add a section to a credential",
		described("Puts the section at the end. One that is there already changes nothing; another section of the same course is 409."), tagged),
	added(remove("removeCredentialSection", Credentials, "/credentials/{credentialId}/sections/{sectionId}", "Take a section out of a credential", "getCredential",
		described("The section itself stays."))),
	added(post("buildCredential", Credentials, "/credential-builder", "Propose a credential for jobs",
		described("Chooses sections, at most one of each course, that together teach what the jobs require, by the weights given. Stores nothing; the same request has the same response."), costs(build), expensive, storesNothing)),

	added(list("listPrograms", Programs, "/programs", "List programs",
		described("Programs of the organization in creation order. externalId looks one up by exactly this name."))),
	added(post("createProgram", Programs, "/programs", "Create a program",
		described("Makes a program of courses in the order of courseOrder. derivedSocs follow its cipCode."), creates("getProgram"))),
	added(get("getProgram", Programs, "/programs/{programId}", "Read a program",
		described("The program with profiles of its courses as they are now."))),
	added(patch("updateProgram", Programs, "/programs/{programId}", "Change a program", "getProgram",
		described("Changes the fields that the body has. courseOrder puts the same courses into another order; courses come and go by operations of their own."))),
	added(remove("deleteProgram", Programs, "/programs/{programId}", "Delete a program", "getProgram",
		described("Its courses stay, and can be deleted then."))),
	post("addProgramCourse", Programs, "/programs/{programId}/courses", "Add a course to a program",
		described("Puts the course at the end. One that is there already changes nothing."), tagged),
	added(remove("removeProgramCourse", Programs, "/programs/{programId}/courses/{courseId}", "Take a course out of a program", "getProgram",
		described("The course itself stays."))),

	list("listTransferPackages", Transfers, "/transfer-packages", "List transfer packages",
		described("Transfer packages of the organization in creation order. externalId looks one up by exactly this name.")),
	added(post("createTransferPackage", Transfers, "/transfer-packages", "Create a transfer package",
		described("Makes a package, with courses where the body has some: all are created or none, and their skills are extracted."),
		costs(withCourse), counts("courses"), queues, creates("getTransferPackage"))),
	added(get("getTransferPackage", Transfers, "/transfer-packages/{packageId}", "Read a transfer package",
		described("The package without its courses."))),
	added(patch("updateTransferPackage", Transfers, "/transfer-packages/{packageId}", "Change a transfer package", "getTransferPackage",
		described("Changes the fields that the body has."))),
	added(remove("deleteTransferPackage", Transfers, "/transfer-packages/{packageId}", "Delete a transfer package", "getTransferPackage",
		described("Deletes the package with its courses; extractions that wait do nothing then."))),
	get("listTransferCourses", Transfers, "/transfer-packages/{packageId}/courses", "List the courses of a transfer package",
		described("All courses of the package in creation order, at most 1,000. Where they do not fit one response, Link leads to the rest; limit and offset ask for a part."), paged),
	post("createTransferCourses", Transfers, "/transfer-packages/{packageId}/courses", "Create transfer courses",
		described("Makes 1 to 50 courses, all or none, each PENDING: their skills are extracted from the syllabus, or from name and description without one. Read them until processingStatus is COMPLETED or FAILED."),
		costs(perCourse), counts("courses"), queues, creates("getTransferCourse"), untagged),
	added(get("getTransferCourse", Transfers, "/transfer-packages/{packageId}/courses/{transferCourseId}", "Read a transfer course",
		described("The course with its skills. include adds the evidence of extracted skills, and the reviews."))),
	added(remove("deleteTransferCourse", Transfers, "/transfer-packages/{packageId}/courses/{transferCourseId}", "Delete a transfer course", "getTransferCourse",
		described("An extraction that waits does nothing then."))),
	added(put("reviewTransferCourseSkill", Transfers, "/transfer-packages/{packageId}/courses/{transferCourseId}/skills/{skillId}/review", "Review a skill of a transfer course", "getTransferCourse",
		described("Accepts, corrects, adds or rejects a skill. A review outlives whatever extractions find; it replaces the skill's present review as a whole."))),
	added(remove("deleteTransferCourseReview", Transfers, "/transfer-packages/{packageId}/courses/{transferCourseId}/skills/{skillId}/review", "Take back a review of a transfer course's skill", "getTransferCourse",
		described("What was extracted stands again. 204 also where there is no review."))),
	added(post("retryTransferCourse", Transfers, "/transfer-packages/{packageId}/courses/{transferCourseId}/retry", "Extract a FAILED transfer course again",
		described("Puts the course back to PENDING and queues its extraction. One that is not FAILED: 409."),
		costs(extract), expensive, bodiless, queues, accepted, tagged)),
	added(post("matchTransferCourse", Transfers, "/transfer-packages/{packageId}/courses/{transferCourseId}/equivalencies", "Find equivalents of a transfer course",
		described("Compares a COMPLETED course with every section that has skills and returns the best five above score 0. Stores nothing."), costs(score), expensive, bodiless, storesNothing, errors(catalog.Conflict))),
	added(post("matchTransferPackage", Transfers, "/transfer-packages/{packageId}/equivalencies", "Find equivalents of all courses of a package",
		described("As for one course, for each COMPLETED course of the package; thresholds in the query apply to this response only. Stores nothing."),
		costs(score), expensive, bodiless, storesNothing)),

	added(list("listArticulations", Articulations, "/articulations", "List articulations",
		described("Articulations of the organization in creation order: all, or those that every filter of the query selects. Codes and institutions are compared in any spelling, never in part; a value that nothing has is an empty list."))),
	added(post("createArticulation", Articulations, "/articulations", "Create an articulation",
		described("Makes a DRAFT: what courses of another institution are worth here, to be reviewed and approved by its status."), creates("getArticulation"))),
	added(get("lookupArticulations", Articulations, "/articulations/lookup", "Look up what courses are worth",
		described("What approved articulations in force grant for courses of an institution. All codes of an alternative are needed, each code is used once, larger alternatives first, then the later effectiveFrom. include=trace says why codes are uncovered."), untagged)),
	added(list("listArticulationIssues", Articulations, "/articulations/health", "List issues of articulations",
		described("Approved articulations that have not ended and that somebody should look at, with what changed since their approval, what is to be reviewed and what ends within 90 days."))),
	added(get("getArticulation", Articulations, "/articulations/{articulationId}", "Read an articulation",
		described("The articulation with who decided and on what evidence. Accept, or format, chooses JSON or HTML (a page to read, print and sign)."), gives(JSON, HTML))),
	added(get("getArticulationPage", Articulations, "/articulations/{articulationId}/page", "Read an articulation as a page",
		described("What is sent, what is granted, skills of both sides with quotes from their syllabi, and the history, as an HTML page to read, print and sign. Of one that is not approved the comparison is that of now."), gives(HTML))),
	added(post("createArticulationLink", Articulations, "/articulations/{articulationId}/links", "Make a link to an articulation's page",
		described("The link shows that page without an API key to whoever has it. It ends at expiresAt, or when the articulation is deleted or the key revoked that made it."), created)),
	added(get("getSharedArticulation", Articulations, "/articulations/{articulationId}/shared", "Show the page of an articulation to whoever has a link",
		described("Needs no API key but the token of a link. Without one that still counts it is a plain page with status 404."), costs(free), public, gives(HTML), untagged)),
	added(patch("updateArticulation", Articulations, "/articulations/{articulationId}", "Change an articulation", "getArticulation",
		described("Changes the fields that the body has of a DRAFT. Of an APPROVED one only effectiveTo, reviewAfter, publicNote, privateNote and published change; what else is frozen is 409, as is an effectiveTo that overlaps with another approved one."))),
	added(remove("deleteArticulation", Articulations, "/articulations/{articulationId}", "Delete an articulation", "getArticulation",
		described("One that is IN_REVIEW or APPROVED stays: 409."))),
	added(post("moveArticulation", Articulations, "/articulations/{articulationId}/status", "Move an articulation to another status",
		described("DRAFT goes to IN_REVIEW, that to APPROVED, REJECTED or DRAFT, REJECTED to DRAFT. To approve needs decidedBy, freezes the evidence and ends what is superseded; a conflict with another approved articulation, or a granted course that is gone, is 409."),
		compares("getArticulation"), tagged)),
	added(get("listArticulationMoves", Articulations, "/articulations/{articulationId}/history", "Read the history of an articulation",
		described("Every move from one status to another, the oldest first, with who decided and the key that was used."), untagged)),

	added(list("listReports", Reports, "/reports", "List reports",
		described("Reports of the organization in creation order, without their data."))),
	post("createReport", Reports, "/reports", "Create and generate a report",
		described("Stores the settings and returns the data that they lead to, in one call."), costs(regenerate), expensive, creates("getReport")),
	added(get("getReport", Reports, "/reports/{reportId}", "Generate a stored report anew",
		described("The report's data as courses, jobs and skills are now. Accept, or format, chooses JSON, CSV (the view's table) or HTML (a page to read or print)."), costs(regenerate), expensive, gives(JSON, CSV, HTML))),
	added(get("getReportTable", Reports, "/reports/{reportId}/table", "Generate a stored report anew as a table",
		described("The view's table as CSV for spreadsheets, of courses, jobs and skills as they are now."), costs(regenerate), expensive, gives(CSV))),
	added(get("getReportPage", Reports, "/reports/{reportId}/page", "Generate a stored report anew as a page",
		described("The report as an HTML page to read or print, of courses, jobs and skills as they are now."), costs(regenerate), expensive, gives(HTML))),
	added(post("createReportLink", Reports, "/reports/{reportId}/links", "Make a link to a report's page",
		described("The link shows that page without an API key to whoever has it. It ends at expiresAt, or when the report is deleted or the key revoked that made it."), created)),
	added(get("getSharedReport", Reports, "/reports/{reportId}/shared", "Show the page of a report to whoever has a link",
		described("Needs no API key but the token of a link. Without one that still counts it is a plain page with status 404."), costs(free), public, gives(HTML), untagged)),
	added(remove("deleteReport", Reports, "/reports/{reportId}", "Delete a report", "getReport",
		described("Takes the settings away; nothing else depends on them."))),

	added(get("getLaborMarket", Labor, "/labor-market", "Read labor market figures",
		described("Occupations that programs of study lead to, with employment, wages, growth and openings in a region. What is missing or taken from a wider region is in warnings."))),
	added(get("listRegions", Labor, "/labor-market/regions", "List regions",
		described("Regions that labor market figures exist for, all types when none is asked for."))),

	added(post("createSyllabusExtraction", Extractions, "/syllabus-extractions", "Extract skills from a text or a syllabus",
		described("Queues the extraction of exactly one of text, syllabusHref and documentId; nothing of the catalog is changed. Read the extraction until processingStatus is COMPLETED or FAILED."),
		costs(extract), expensive, queues, creates("getSyllabusExtraction"), accepted, untagged)),
	added(get("getSyllabusExtraction", Extractions, "/syllabus-extractions/{extractionId}", "Read an extraction",
		described("The state of the extraction, and its skills once it is COMPLETED. include adds evidence and text."))),
	added(list("listSkills", Extractions, "/skills", "Search skills",
		described("Skills of the loaded taxonomy whose names or aliases have the words of the query, the best match first; all by name without a query."))),
	added(get("getSkill", Extractions, "/skills/{skillId}", "Read a skill",
		described("A skill of the loaded taxonomy."))),
	added(list("listSkillSections", Extractions, "/skills/{skillId}/sections", "Find sections that teach a skill",
		described("Live sections with the skill, by level, then confidence, both descending. Reviews count at once, other changes within 10 seconds."))),

	added(post("createDocument", Documents, "/documents", "Announce a file that holds a syllabus",
		described("Makes a document and returns the request that uploads its file straight to storage, valid for 15 minutes. Storage refuses other bytes than those announced."),
		creates("getDocument"), withUpload)),
	added(get("getDocument", Documents, "/documents/{documentId}", "Read a document",
		described("READY once its file is there; until then with an upload that is valid now."), withUpload)),
	added(remove("deleteDocument", Documents, "/documents/{documentId}", "Delete a document", "getDocument",
		described("Deletes the document with its file. One that is the syllabus of a section or transfer course stays: 409."))),

	ofWebhooks(list("listWebhooks", Webhooks, "/webhooks", "List webhooks",
		described("Webhooks of the organization in creation order, at most 10. Needs a write key, as everything of webhooks."))),
	ofWebhooks(post("createWebhook", Webhooks, "/webhooks", "Create a webhook",
		described("Has the address told of changes of the given types from now on, by messages as Standard Webhooks 1.0.0 has them. The response alone shows the secret that signs them. An 11th is 409."),
		creates("getWebhook"), sealed)),
	ofWebhooks(get("getWebhook", Webhooks, "/webhooks/{webhookId}", "Read a webhook",
		described("The webhook without its secret; disabledReason says why the service disabled it."))),
	ofWebhooks(patch("updateWebhook", Webhooks, "/webhooks/{webhookId}", "Change a webhook", "getWebhook",
		described("Changes the fields that the body has. enabled true enables it again, from the changes after that on."))),
	ofWebhooks(remove("deleteWebhook", Webhooks, "/webhooks/{webhookId}", "Delete a webhook", "getWebhook",
		described("Messages that wait are not sent any more."))),
	ofWebhooks(post("rotateWebhookSecret", Webhooks, "/webhooks/{webhookId}/rotate", "Give a webhook a new secret",
		described("The response alone shows the new secret. For 24 hours messages are signed with the one before as well; an older one ends at once."),
		bodiless, tagged, sealed)),
	ofWebhooks(post("testWebhook", Webhooks, "/webhooks/{webhookId}/test", "Send a test message",
		described("Sends a message of type webhook.test now, whatever types the webhook has and also while it is disabled."), bodiless, accepted, notifies)),
	ofWebhooks(get("listWebhookDeliveries", Webhooks, "/webhooks/{webhookId}/deliveries", "List deliveries",
		described("Attempts of the last seven days at delivering messages, the newest first. Pass next as before for the page behind."))),
	ofWebhooks(post("resendWebhookMessage", Webhooks, "/webhooks/{webhookId}/deliveries/{messageId}/resend", "Send a message once more",
		described("Makes one more attempt now, with the same webhook-id. A disabled webhook is 409."), bodiless, accepted, notifies)),

	get("getCustomerUsage", Customers, "/customers/{customerId}/usage", "Read usage and rate-limit status",
		described("Units of the current window and of the 60 before, and what each operation took. Only the calling customer's own."), costs(free), errors(catalog.Forbidden)),
	added(get("listChanges", Customers, "/changes", "Read the change feed",
		described("Every creation, change and deletion of the organization's records, in order. Start without since, then pass the last next; the feed has no content, href leads to it."))),
	added(get("getOpenAPI", Customers, "/openapi.json", "Read this document",
		described("The contract as an OpenAPI 3.1 document."), costs(free), public)),

	added(get("getServiceInfo", Docs, "/", "Say what the service is",
		described("Name, version and links. A client that prefers HTML is led to the reference."), costs(free), public, untagged, leads("getDocs"))),
	added(get("getDocs", Docs, "/docs", "Read the reference as a page",
		described("Every operation, to be tried with a key that stays in the page's memory, and guides."), costs(free), public, gives(HTML))),
	added(get("getDocsAsset", Docs, "/docs/{asset}", "Read a file of the reference",
		described("Scripts and styles of the page, under names that hold their digests."), costs(free), public, gives(JavaScript, CSS))),
}
