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
	LinkedData = "application/ld+json"
)

// formats maps media types to the values of the query parameter format.
var formats = map[string]string{JSON: "json", CSV: "csv", HTML: "html"}

// The costs in units.
var (
	free       = Cost{}
	read       = Cost{Base: 1}
	write      = Cost{Base: 2}
	regenerate = Cost{Base: 10}
	score      = Cost{Base: 5}
	build      = Cost{Base: 20}
	extract    = Cost{Base: 10}
	byReading  = Cost{Base: 1, PerItem: 1}
	perCourse  = Cost{PerItem: 10}
	withCourse = Cost{Base: 2, PerItem: 10}
	perRecord  = Cost{Base: 2, PerItem: 1}
	byUnread   = Cost{Base: 2, PerItem: 1}
)

// The functions below build the rows of the table. Options set the fields in which an operation differs from the
// defaults of its method.

type option func(*Operation)

func operation(method, id string, g Group, path, summary string, o Operation, options []option) Operation {
	o.Method, o.ID, o.Group, o.Path, o.Summary = method, id, g, path, summary
	for _, option := range options {
		option(&o)
	}
	return o
}

// get reads one record, or another resource with an ETag.
func get(id string, g Group, path, summary string, options ...option) Operation {
	return operation(http.MethodGet, id, g, path, summary, Operation{
		Cost: read, Status: http.StatusOK, Gives: []string{JSON}, ETag: true,
	}, options)
}

// list reads a page of a list.
func list(id string, g Group, path, summary string, options ...option) Operation {
	return operation(http.MethodGet, id, g, path, summary, Operation{
		Cost: read, Status: http.StatusOK, Gives: []string{JSON}, Pages: true,
	}, options)
}

// post creates records (with the option creates), or starts or computes something.
func post(id string, g Group, path, summary string, options ...option) Operation {
	return operation(http.MethodPost, id, g, path, summary, Operation{
		Cost: write, Status: http.StatusOK, Access: Write, Idempotent: true, Accepts: []string{JSON}, Gives: []string{JSON},
	}, options)
}

// patch changes the record that the GET named ifMatch reads.
func patch(id string, g Group, path, summary, ifMatch string, options ...option) Operation {
	return operation(http.MethodPatch, id, g, path, summary, Operation{
		Cost: write, Status: http.StatusOK, Access: Write, Accepts: []string{JSON, MergePatch}, Gives: []string{JSON},
		IfMatch: ifMatch, ETag: true,
	}, options)
}

// put sets a part of the record that the GET named ifMatch reads.
func put(id string, g Group, path, summary, ifMatch string, options ...option) Operation {
	return operation(http.MethodPut, id, g, path, summary, Operation{
		Cost: write, Status: http.StatusOK, Access: Write, Accepts: []string{JSON}, Gives: []string{JSON},
		IfMatch: ifMatch, ETag: true,
	}, options)
}

// remove deletes a record, or removes a member from one.
func remove(id string, g Group, path, summary, ifMatch string, options ...option) Operation {
	return operation(http.MethodDelete, id, g, path, summary, Operation{
		Cost: write, Status: http.StatusNoContent, Access: Write, IfMatch: ifMatch,
	}, options)
}

// added marks an extension of the original contract.
func added(o Operation) Operation {
	o.Added = true
	return o
}

func costs(c Cost) option { return func(o *Operation) { o.Cost = c } }

// counts names the body fields that hold the billable items.
func counts(fields ...string) option { return func(o *Operation) { o.ItemsIn = fields } }

// upTo sets how many items a call may ask for.
func upTo(items int) option { return func(o *Operation) { o.Most = items } }

// costsEach sets the cost of a call that is charged by what it reads.
func costsEach(item string) option {
	return func(o *Operation) { o.Cost, o.Item = byReading, item }
}

// creates marks a POST that creates and returns one record; get is the id of its GET.
func creates(get string) option {
	return func(o *Operation) { o.Status, o.Creates, o.ETag = http.StatusCreated, get, true }
}

// compares marks a POST that changes one record; get is the id of its GET.
func compares(get string) option { return func(o *Operation) { o.IfMatch = get } }

// described sets the description.
func described(text string) option { return func(o *Operation) { o.Description = text } }

func gives(media ...string) option { return func(o *Operation) { o.Gives = media } }

// leads redirects clients that prefer HTML to another GET.
func leads(to string) option { return func(o *Operation) { o.Leads = to } }

func errors(codes ...catalog.Code) option { return func(o *Operation) { o.Errors = codes } }

// Options without a value.
var (
	expensive option = func(o *Operation) { o.Expensive = true }
	public    option = func(o *Operation) { o.Access = Public }
	// storesNothing allows read keys to call a POST.
	storesNothing option = func(o *Operation) { o.Access = Read }
	queues        option = func(o *Operation) { o.Queues = true }
	accepted      option = func(o *Operation) { o.Status = http.StatusAccepted }
	created       option = func(o *Operation) { o.Status = http.StatusCreated }
	bodiless      option = func(o *Operation) { o.Accepts = nil }
	tagged        option = func(o *Operation) { o.ETag = true }
	untagged      option = func(o *Operation) { o.ETag = false }
	// recordTagged marks a response that is not the record alone, with the ETag of the record.
	recordTagged option = func(o *Operation) { o.Record = true }
	paged        option = func(o *Operation) { o.Pages = true }
	// open marks an operation that pages of any origin may call, without a key.
	open option = func(o *Operation) { o.Access, o.Cost, o.Open = Public, free, true }
	// withRejects leaves the signed address out of the ETag.
	withRejects option = func(o *Operation) { o.Passing = "rejects" }
	polled      option = func(o *Operation) { o.Polled = true }
	// begins marks an operation that may start extractions, and charges for each statement that it has read.
	begins option = func(o *Operation) {
		o.Begins, o.Queues, o.Cost, o.Item = true, true, byUnread, "statement that must be read"
	}
	// withUpload leaves the signed request out of the ETag, because every response signs a new one.
	withUpload option = func(o *Operation) { o.Passing = "upload" }
	notifies   option = func(o *Operation) { o.Notifies = true }
	sealed     option = func(o *Operation) { o.Sealed = true }
)

// ofWebhooks marks the operations of webhooks, which need a write key. The secret is shown once, so the ETag omits it.
func ofWebhooks(o Operation) Operation {
	o.Added, o.Access = true, Write
	if o.ETag {
		o.Passing = "secret"
	}
	return o
}

// What several operations say.
const (
	skillReview = "Accepts, corrects, adds or rejects a skill. The review replaces any earlier review of the skill and " +
		"survives later extractions."
	outcomeReview = "Accepts, corrects, adds or rejects a skill, and returns the outcome. The review replaces any " +
		"earlier review of the skill and survives later extractions. If-Match compares with the list."
)

// foundBy describes a list of records that are found by externalId and query.
func foundBy(records, words string) option {
	return described("Returns the organization's " + records + " in creation order. externalId selects one by exact " +
		"value, query by " + words + ", best match first.")
}

// promisesOf describes the outcomes of a course or program.
func promisesOf(owner string) option {
	return described("Returns what the " + owner + " promises, sentence by sentence, with the skills and the level of " +
		"each. include adds the evidence in the statements and the reviews.")
}

// linksTo describes a link to the page of a record.
func linksTo(record string) option {
	return described("Anyone with the link can read the page without an API key. It expires at expiresAt, or when the " +
		record + " is deleted or the API key that created it is revoked.")
}

// sharedPage marks a page that is read through a link.
func sharedPage(o *Operation) {
	o.Access, o.Cost, o.Gives, o.ETag = Public, free, []string{HTML}, false
	o.Description = "Requires the token of a link instead of an API key. Without a valid token, the response is a plain " +
		"page with status 404."
}

// ctdl reads a record in CTDL.
func ctdl(id string, g Group, path, summary, name string) Operation {
	return added(get(id, g, path+"/ctdl", summary,
		described("Returns the "+name+" as linked data in CTDL. Refused (409) if the organization lacks facts that its "+
			"operator sets, or if the "+name+" is not public; errors names what is missing. References lead to public "+
			"addresses and name only what is public."),
		gives(LinkedData), errors(catalog.Conflict, catalog.ValidationFailed)))
}

// allow lets pages of any origin call the GET of a path.
func allow(id, path, summary string) Operation {
	return added(operation(http.MethodOptions, id, Registry, path, summary, Operation{
		Status: http.StatusNoContent,
	}, []option{open, described("Allows a page of any origin to read the address (CORS).")}))
}

var operations = []Operation{
	list("listCourses", Courses, "/courses", "List courses",
		described("Returns the organization's courses in creation order. externalId selects a course by exact value, code "+
			"by value in any spelling, and query by words of code and name, best match first.")),
	added(post("createCourse", Courses, "/courses", "Create a course",
		described("Creates the course and its default section, which has the same name."), creates("getCourse"))),
	added(list("listSections", Courses, "/sections", "Find sections",
		described("Returns the sections that match all parameters, by course, then section, in creation order. At least "+
			"one of externalId, courseId, term and status is required. An unknown course or term gives an empty list."))),
	get("getCourse", Courses, "/courses/{courseId}", "Read a course",
		described("Returns the course with references to its sections.")),
	added(patch("updateCourse", Courses, "/courses/{courseId}", "Change a course", "getCourse",
		described("Changes the fields in the body; null clears a nullable field (JSON merge patch)."))),
	added(remove("deleteCourse", Courses, "/courses/{courseId}", "Delete a course", "getCourse",
		described("Deletes the course and its sections. A course in a program or credential cannot be deleted (409)."))),
	added(post("createSection", Courses, "/courses/{courseId}/sections", "Create a section",
		described("Adds a section to the course. With a syllabusHref or documentId, skill extraction is queued; poll the "+
			"section until processingStatus is COMPLETED or FAILED."),
		costs(withCourse), counts("syllabusHref", "documentId"), queues, creates("getSection"))),
	get("getSection", Courses, "/courses/{courseId}/sections/{sectionId}", "Read a section",
		described("Returns the section with its skills. include adds the evidence for extracted skills and the reviews."),
		recordTagged),
	added(patch("updateSection", Courses, "/courses/{courseId}/sections/{sectionId}", "Change a section", "getSection",
		described("Changes the fields in the body. A new syllabusHref or documentId queues skill extraction; skills "+
			"replaces the list and discards its reviews."),
		costs(withCourse), queues)),
	added(remove("deleteSection", Courses, "/courses/{courseId}/sections/{sectionId}", "Delete a section", "getSection",
		described("The default section, and a section in a credential, cannot be deleted (409)."))),
	added(put("reviewSectionSkill", Courses, "/courses/{courseId}/sections/{sectionId}/skills/{skillId}/review",
		"Review a skill of a section", "getSection",
		described(skillReview))),
	added(remove("deleteSectionReview", Courses, "/courses/{courseId}/sections/{sectionId}/skills/{skillId}/review",
		"Delete a review of a section's skill", "getSection",
		described("Restores the skill as it was extracted or set by hand. Returns 204 even if there is no review."),
		recordTagged)),
	added(get("getCourseOutcomes", Courses, "/courses/{courseId}/outcomes", "Read the outcomes of a course",
		promisesOf("course"), recordTagged)),
	added(put("replaceCourseOutcomes", Courses, "/courses/{courseId}/outcomes",
		"Replace the outcomes of a course", "getCourseOutcomes",
		described("Replaces the list. An outcome keeps its id by id, else by code, else by statement; an unchanged "+
			"statement keeps its skills, level and reviews. New and changed statements are read, unless their skills and "+
			"level are given: the response is then 202; poll the list until processingStatus is COMPLETED or FAILED. A PUT "+
			"meanwhile supersedes the extraction."),
		begins)),
	added(post("adoptOutcomes", Courses, "/courses/{courseId}/outcomes/adopt", "Adopt outcomes that a syllabus states",
		described("Appends the outcomes found in a section's syllabus (include=outcomes of getSection), with what was "+
			"extracted: those whose statements the list lacks, regardless of case and blanks. A code that the list has is "+
			"left out. Refused (409) while the section is PENDING or PROCESSING."),
		compares("getCourseOutcomes"), tagged)),
	added(put("reviewCourseOutcomeSkill", Courses, "/courses/{courseId}/outcomes/{outcomeId}/skills/{skillId}/review",
		"Review a skill of a course's outcome", "getCourseOutcomes",
		described(outcomeReview), untagged, recordTagged)),
	added(remove("deleteCourseOutcomeReview", Courses, "/courses/{courseId}/outcomes/{outcomeId}/skills/{skillId}/review",
		"Delete a review of a skill of a course's outcome", "getCourseOutcomes",
		described("Restores the skill as it was extracted or given. Returns 204 even if there is no review."), recordTagged)),
	ctdl("getCourseCTDL", Courses, "/courses/{courseId}", "Read a course in CTDL", "course"),
	added(list("listOutcomes", Courses, "/outcomes", "Find outcomes with a skill",
		described("Returns the outcomes of courses and programs that name the skill, by the name of the course or program, "+
			"then in the order of its list. Changes take effect within 10 seconds."), errors(catalog.NotFound))),

	list("listJobs", Jobs, "/jobs", "List jobs",
		foundBy("jobs", "words of the name")),
	added(post("createJob", Jobs, "/jobs", "Create a job",
		described("Creates a job with the skills it requires."), creates("getJob"))),
	added(get("getJob", Jobs, "/jobs/{jobId}", "Read a job",
		described("Returns the job with the skills it requires."))),
	added(patch("updateJob", Jobs, "/jobs/{jobId}", "Change a job", "getJob",
		described("Changes the fields in the body; skills and locations replace the whole list."))),
	added(remove("deleteJob", Jobs, "/jobs/{jobId}", "Delete a job", "getJob",
		described("Deletes the job. Reports that refer to it omit it from then on."))),

	added(list("listCredentials", Credentials, "/credentials", "List credentials",
		foundBy("stackable credentials", "words of code and name"))),
	added(post("createCredential", Credentials, "/credentials", "Create a credential",
		described("Creates a stackable credential from sections, at most one per course."), creates("getCredential"))),
	get("getCredential", Credentials, "/credentials/{credentialId}", "Read a credential",
		described("Returns the credential with current profiles of its sections.")),
	patch("updateCredential", Credentials, "/credentials/{credentialId}", "Change a credential", "getCredential",
		described("Changes the fields in the body. courseSectionIds replaces all sections; [] removes them. Two sections "+
			"of one course are refused (422).")),
	added(remove("deleteCredential", Credentials, "/credentials/{credentialId}", "Delete a credential", "getCredential",
		described("Deletes the credential but not its sections and courses, which can be deleted afterwards."))),
	post("addCredentialSection", Credentials, "/credentials/{credentialId}/sections", "Add a section to a credential",
		described("Appends the section. If the credential already contains it, nothing changes; another section of the "+
			"same course is refused (409)."), tagged),
	added(remove("removeCredentialSection", Credentials, "/credentials/{credentialId}/sections/{sectionId}",
		"Remove a section from a credential", "getCredential",
		described("Removes the section from the credential but does not delete it."))),
	ctdl("getCredentialCTDL", Credentials, "/credentials/{credentialId}", "Read a credential in CTDL", "credential"),
	added(post("buildCredential", Credentials, "/credential-builder", "Propose a credential for jobs",
		described("Selects sections, at most one per course, that together best teach the skills the jobs require. Stores "+
			"nothing; the same request returns the same response."), costs(build), expensive, storesNothing)),

	added(list("listPrograms", Programs, "/programs", "List programs",
		foundBy("programs", "words of code and name"))),
	added(post("createProgram", Programs, "/programs", "Create a program",
		described("Creates a program with the courses in courseOrder. derivedSocs are derived from cipCode."),
		creates("getProgram"))),
	added(get("getProgram", Programs, "/programs/{programId}", "Read a program",
		described("Returns the program with current profiles of its courses."))),
	added(patch("updateProgram", Programs, "/programs/{programId}", "Change a program", "getProgram",
		described("Changes the fields in the body. courseOrder reorders the existing courses; use the operations on its "+
			"courses to add or remove one."))),
	added(remove("deleteProgram", Programs, "/programs/{programId}", "Delete a program", "getProgram",
		described("Deletes the program but not its courses, which can be deleted afterwards."))),
	post("addProgramCourse", Programs, "/programs/{programId}/courses", "Add a course to a program",
		described("Appends the course. If the program already contains it, nothing changes."), tagged),
	added(remove("removeProgramCourse", Programs, "/programs/{programId}/courses/{courseId}",
		"Remove a course from a program", "getProgram",
		described("Removes the course from the program but does not delete it."))),
	added(get("getProgramOutcomes", Programs, "/programs/{programId}/outcomes", "Read the outcomes of a program",
		promisesOf("program"), recordTagged)),
	added(put("replaceProgramOutcomes", Programs, "/programs/{programId}/outcomes",
		"Replace the outcomes of a program", "getProgramOutcomes",
		described("Replaces the list, as replaceCourseOutcomes does."), begins)),
	ctdl("getProgramCTDL", Programs, "/programs/{programId}", "Read a program in CTDL", "program"),
	added(put("reviewProgramOutcomeSkill", Programs, "/programs/{programId}/outcomes/{outcomeId}/skills/{skillId}/review",
		"Review a skill of a program's outcome", "getProgramOutcomes",
		described(outcomeReview), untagged, recordTagged)),
	added(remove("deleteProgramOutcomeReview", Programs,
		"/programs/{programId}/outcomes/{outcomeId}/skills/{skillId}/review",
		"Delete a review of a skill of a program's outcome", "getProgramOutcomes",
		described("Restores the skill as it was extracted or given. Returns 204 even if there is no review."), recordTagged)),

	list("listTransferPackages", Transfers, "/transfer-packages", "List transfer packages",
		foundBy("transfer packages", "words of uniqueTag and name")),
	added(post("createTransferPackage", Transfers, "/transfer-packages", "Create a transfer package",
		described("Creates a package and any courses in the body, all or none, and queues the extraction of the courses' "+
			"skills."),
		costs(withCourse), counts("courses"), queues, creates("getTransferPackage"))),
	added(get("getTransferPackage", Transfers, "/transfer-packages/{packageId}", "Read a transfer package",
		described("Returns the package without its courses."))),
	added(patch("updateTransferPackage", Transfers, "/transfer-packages/{packageId}",
		"Change a transfer package", "getTransferPackage",
		described("Changes the fields in the body."))),
	added(remove("deleteTransferPackage", Transfers, "/transfer-packages/{packageId}",
		"Delete a transfer package", "getTransferPackage",
		described("Deletes the package and its courses; pending extractions are discarded."))),
	get("listTransferCourses", Transfers, "/transfer-packages/{packageId}/courses",
		"List the courses of a transfer package",
		described("Returns all courses of the package in creation order, at most 1,000. If they do not fit in one "+
			"response, Link leads to the rest; limit and offset select a range."), paged),
	post("createTransferCourses", Transfers, "/transfer-packages/{packageId}/courses", "Create transfer courses",
		described("Creates 1 to 50 courses, all or none, each PENDING. Their skills are extracted from the syllabus or, "+
			"without one, from the name and description. Poll them until processingStatus is COMPLETED or FAILED."),
		costs(perCourse), counts("courses"), queues, creates("getTransferCourse"), untagged),
	added(get("getTransferCourse", Transfers, "/transfer-packages/{packageId}/courses/{transferCourseId}",
		"Read a transfer course",
		described("Returns the course with its skills. include adds the evidence for extracted skills and the reviews."),
		recordTagged)),
	added(remove("deleteTransferCourse", Transfers, "/transfer-packages/{packageId}/courses/{transferCourseId}",
		"Delete a transfer course", "getTransferCourse",
		described("Deletes the course; a pending extraction is discarded."))),
	added(put("reviewTransferCourseSkill", Transfers,
		"/transfer-packages/{packageId}/courses/{transferCourseId}/skills/{skillId}/review",
		"Review a skill of a transfer course", "getTransferCourse",
		described(skillReview))),
	added(remove("deleteTransferCourseReview", Transfers,
		"/transfer-packages/{packageId}/courses/{transferCourseId}/skills/{skillId}/review",
		"Delete a review of a transfer course's skill", "getTransferCourse",
		described("Restores the skill as it was extracted. Returns 204 even if there is no review."), recordTagged)),
	added(post("retryTransferCourse", Transfers, "/transfer-packages/{packageId}/courses/{transferCourseId}/retry",
		"Retry the extraction of a transfer course",
		described("Sets a FAILED course to PENDING and queues its extraction. Any other status is refused (409)."),
		costs(extract), expensive, bodiless, queues, accepted, tagged)),
	added(post("matchTransferCourse", Transfers, "/transfer-packages/{packageId}/courses/{transferCourseId}/equivalencies",
		"Find equivalents of a transfer course",
		described("Compares a COMPLETED course with every section that has skills and returns the best five matches with a "+
			"score above 0. Stores nothing."), costs(score), expensive, bodiless, storesNothing, errors(catalog.Conflict))),
	added(post("matchTransferPackage", Transfers, "/transfer-packages/{packageId}/equivalencies",
		"Find equivalents of all courses in a package",
		described("Matches each COMPLETED course of the package as matchTransferCourse does; thresholds in the query apply "+
			"to this response only. Stores nothing."),
		costs(score), expensive, bodiless, storesNothing)),

	added(list("listArticulations", Articulations, "/articulations", "List articulations",
		described("Returns the organization's articulations in creation order. Filters are combined with AND. Codes and "+
			"institutions match whole values, without regard to case, blanks, hyphens, dots and leading zeros of numbers."))),
	added(post("createArticulation", Articulations, "/articulations", "Create an articulation",
		described("Creates a DRAFT that states what courses of another institution count as here. Change its status to "+
			"have it reviewed and approved."), creates("getArticulation"))),
	added(get("lookupArticulations", Articulations, "/articulations/lookup", "Look up what courses are worth",
		described("Returns what the approved articulations in force grant for an institution's courses. An alternative "+
			"needs all of its codes, and each code is used once: larger alternatives first, then the later effectiveFrom."),
		costsEach("started 50 approved articulations with an asked code"), untagged)),
	added(list("listArticulationIssues", Articulations, "/articulations/health", "List issues of articulations",
		described("Returns the approved articulations in force that need attention: changes since their approval, reviews "+
			"that are due, and those that end within 90 days."),
		costsEach("started 100 articulations of the page"))),
	added(get("getArticulation", Articulations, "/articulations/{articulationId}", "Read an articulation",
		described("Returns the articulation with the decision, who made it, and the evidence. include=evidence adds the "+
			"current evidence before approval. Accept or format selects JSON or HTML (a page to read, print and sign)."),
		recordTagged, gives(JSON, HTML))),
	added(get("getArticulationPage", Articulations, "/articulations/{articulationId}/page",
		"Read an articulation as a page",
		described("Returns an HTML page to read, print and sign: the courses of both sides, their skills with quotes from "+
			"the syllabi, and the history. Until approval, the comparison uses current data."), gives(HTML))),
	added(post("createArticulationLink", Articulations, "/articulations/{articulationId}/links",
		"Create a link to an articulation's page",
		linksTo("articulation"), created)),
	added(get("getSharedArticulation", Articulations, "/articulations/{articulationId}/shared",
		"Read an articulation's page through a link",
		sharedPage)),
	added(patch("updateArticulation", Articulations, "/articulations/{articulationId}",
		"Change an articulation", "getArticulation",
		described("Changes a DRAFT. Once APPROVED, only effectiveTo, reviewAfter, publicNote, privateNote and published "+
			"can change; another field, or an effectiveTo that overlaps another approved articulation, is refused (409)."))),
	added(remove("deleteArticulation", Articulations, "/articulations/{articulationId}",
		"Delete an articulation", "getArticulation",
		described("Deletes the articulation. One that is IN_REVIEW or APPROVED cannot be deleted (409)."))),
	added(post("moveArticulation", Articulations, "/articulations/{articulationId}/status",
		"Move an articulation to another status",
		described("Moves DRAFT to IN_REVIEW; IN_REVIEW to APPROVED, REJECTED or DRAFT; REJECTED to DRAFT. A rejection "+
			"requires a note. Approval requires decidedBy, freezes the evidence and ends the superseded articulation; a "+
			"conflict with another approved articulation, or a granted course that was deleted, is refused (409)."),
		compares("getArticulation"), tagged)),
	added(get("listArticulationMoves", Articulations, "/articulations/{articulationId}/history",
		"Read the history of an articulation",
		described("Returns every status change, oldest first, with who decided and the API key used."), untagged)),
	ctdl("getArticulationCTDL", Articulations, "/articulations/{articulationId}",
		"Read an alternative of an articulation in CTDL", "alternative"),

	added(list("listReports", Reports, "/reports", "List reports",
		described("Returns the organization's reports in creation order, without their data."))),
	post("createReport", Reports, "/reports", "Create and generate a report",
		described("Stores the settings and returns the generated report."),
		costs(regenerate), expensive, creates("getReport")),
	added(get("getReport", Reports, "/reports/{reportId}", "Generate a stored report",
		described("Generates the report from current courses, jobs and skills. Accept or format selects JSON, CSV (the "+
			"view's table) or HTML (a page to read or print)."), costs(regenerate), expensive, gives(JSON, CSV, HTML))),
	added(get("getReportTable", Reports, "/reports/{reportId}/table", "Generate a stored report as a table",
		described("Generates the view's table from current courses, jobs and skills as CSV for spreadsheets."),
		costs(regenerate), expensive, gives(CSV))),
	added(get("getReportPage", Reports, "/reports/{reportId}/page", "Generate a stored report as a page",
		described("Generates the report from current courses, jobs and skills as an HTML page to read or print."),
		costs(regenerate), expensive, gives(HTML))),
	added(post("createReportLink", Reports, "/reports/{reportId}/links", "Create a link to a report's page",
		linksTo("report"), created)),
	added(get("getSharedReport", Reports, "/reports/{reportId}/shared", "Read a report's page through a link",
		sharedPage)),
	added(remove("deleteReport", Reports, "/reports/{reportId}", "Delete a report", "getReport",
		described("Deletes the report's settings."))),

	added(get("getProgramMap", Reports, "/programs/{programId}/map", "Compute the curriculum map of a program",
		described("Returns a mark for each course and outcome, computed from what the course teaches or decided by a "+
			"person, and what needs attention. jobs adds which course first teaches what they require."),
		costs(regenerate), expensive, recordTagged)),
	added(get("getProgramMapTable", Reports, "/programs/{programId}/map/table", "Compute the curriculum map as a table",
		described("Returns the map as CSV: a row for each course, a column for each outcome, with I, R or M, then A where "+
			"assessed and * where a person decided. layout=long returns a row for each cell, with all fields."),
		costs(regenerate), expensive, gives(CSV))),
	added(get("getProgramMapPage", Reports, "/programs/{programId}/map/page", "Compute the curriculum map as a page",
		described("Returns the map as an HTML page to read, print and attach to a self-study."),
		costs(regenerate), expensive, gives(HTML))),
	added(post("createProgramMapLink", Reports, "/programs/{programId}/map/links",
		"Create a link to the page of a curriculum map",
		linksTo("program"), created)),
	added(get("getSharedProgramMap", Reports, "/programs/{programId}/map/shared",
		"Read the page of a curriculum map through a link",
		sharedPage)),
	added(put("decideMapCell", Reports, "/programs/{programId}/map/{outcomeId}/{courseId}",
		"Decide a mark of a curriculum map", "getProgramMap",
		described("Sets the mark, whatever is computed, and returns the cell. The decision replaces any earlier one and is "+
			"a change of the program; it is stale once the computed mark or the statement changes. If-Match compares with the "+
			"map without parameters."), untagged)),
	added(remove("deleteMapDecision", Reports, "/programs/{programId}/map/{outcomeId}/{courseId}",
		"Delete a decision on a mark", "getProgramMap",
		described("Restores the computed mark. Returns 204 even if there is no decision."))),

	added(get("getLaborMarket", Labor, "/labor-market", "Read labor market figures",
		described("Returns the occupations that programs of study lead to, with employment, wages, growth and openings in "+
			"a region. warnings lists figures that are missing or come from a larger region."))),
	added(list("listOccupations", Labor, "/labor-market/occupations", "Search occupations",
		described("Returns occupations of the loaded data by words of their names or by code, best match first. Without a "+
			"query, returns all by code."))),
	added(list("listCIPCodes", Labor, "/labor-market/cip-codes", "Search programs of study",
		described("Returns CIP codes of the loaded data by words of their titles or by code, best match first, each with "+
			"the occupations it leads to. Without a query, returns all by code."))),
	added(get("listRegions", Labor, "/labor-market/regions", "List regions",
		described("Returns the regions that have labor market figures, of all types unless regionType selects one."))),

	added(post("createSyllabusExtraction", Extractions, "/syllabus-extractions",
		"Extract skills from a text or a syllabus",
		described("Queues the extraction of skills from exactly one of text, syllabusHref and documentId; the catalog does "+
			"not change. Poll the extraction until processingStatus is COMPLETED or FAILED."),
		costs(extract), expensive, queues, creates("getSyllabusExtraction"), accepted, untagged)),
	added(get("getSyllabusExtraction", Extractions, "/syllabus-extractions/{extractionId}", "Read an extraction",
		described("Returns the state of the extraction, and its skills once it is COMPLETED. include adds evidence and "+
			"text."))),
	added(list("listSkills", Extractions, "/skills", "Search skills",
		described("Returns skills of the loaded taxonomy whose names or aliases contain the words of the query, best match "+
			"first. Without a query, returns all skills by name."))),
	added(get("getSkill", Extractions, "/skills/{skillId}", "Read a skill",
		described("Returns a skill of the loaded taxonomy."))),
	added(list("listSkillSections", Extractions, "/skills/{skillId}/sections", "Find sections that teach a skill",
		described("Returns sections that teach the skill, by level, then confidence, both descending. Reviews take effect "+
			"at once, other changes within 10 seconds."))),

	added(post("upsertRecords", Imports, "/batches", "Create or change records by externalId",
		described("Creates each item, or changes the record with its externalId as PATCH does with the fields in the item, "+
			"which needs no other fields then. The response has one result per item; an item that fails does not affect the others."),
		costs(perRecord), counts("items"), upTo(100), queues)),

	added(list("listImports", Imports, "/imports", "List imports",
		described("Returns the organization's imports in creation order, without their columns and problems."))),
	added(post("createImport", Imports, "/imports", "Import a file",
		described("Imports the records of an uploaded document: CSV, XLSX, NDJSON, or a ZIP of OneRoster. Records are "+
			"found by externalId and changed, or else created, as in a batch. An organization's imports run one after the "+
			"other."),
		costs(build), creates("getImport"), accepted, withRejects)),
	added(get("getImport", Imports, "/imports/{importId}", "Read an import",
		described("Returns the import: how the columns were understood, how many rows were read, created and rejected, and "+
			"the first problems. While it runs, Retry-After tells when to read it again."), withRejects, polled)),
	added(remove("deleteImport", Imports, "/imports/{importId}", "Cancel or delete an import", "getImport",
		described("Cancels an import that waits or runs, which keeps what is done; deletes one that has ended, with its "+
			"file of rejected rows."))),

	added(post("createDocument", Documents, "/documents", "Create a document for a syllabus file",
		described("Creates a document and returns a signed request, valid for 15 minutes, that uploads its file to "+
			"storage, which accepts only the declared digest and size."),
		creates("getDocument"), withUpload)),
	added(get("getDocument", Documents, "/documents/{documentId}", "Read a document",
		described("Returns the document: READY once its file is uploaded, until then with a fresh upload request."),
		withUpload)),
	added(remove("deleteDocument", Documents, "/documents/{documentId}", "Delete a document", "getDocument",
		described("Deletes the document and its file. The syllabus of a section or transfer course cannot be deleted "+
			"(409)."))),

	ofWebhooks(list("listWebhooks", Webhooks, "/webhooks", "List webhooks",
		described("Returns the organization's webhooks in creation order, at most 10. All webhook operations require a "+
			"write key."))),
	ofWebhooks(post("createWebhook", Webhooks, "/webhooks", "Create a webhook",
		described("Notifies the URL of changes of the given types from now on, as Standard Webhooks 1.0.0 has it. Only "+
			"this response shows the signing secret. An organization can have 10 webhooks (409)."),
		creates("getWebhook"), sealed)),
	ofWebhooks(get("getWebhook", Webhooks, "/webhooks/{webhookId}", "Read a webhook",
		described("Returns the webhook without its secret; disabledReason tells why the service disabled it."))),
	ofWebhooks(patch("updateWebhook", Webhooks, "/webhooks/{webhookId}", "Change a webhook", "getWebhook",
		described("Changes the fields in the body. Setting enabled to true enables it again for subsequent changes."))),
	ofWebhooks(remove("deleteWebhook", Webhooks, "/webhooks/{webhookId}", "Delete a webhook", "getWebhook",
		described("Deletes the webhook. Pending messages are not sent."))),
	ofWebhooks(post("rotateWebhookSecret", Webhooks, "/webhooks/{webhookId}/rotate", "Rotate a webhook's secret",
		described("Only this response shows the new secret. For 24 hours, messages are also signed with the previous "+
			"secret; older secrets expire at once."),
		bodiless, tagged, sealed)),
	ofWebhooks(post("testWebhook", Webhooks, "/webhooks/{webhookId}/test", "Send a test message",
		described("Sends a message of type webhook.test now, regardless of the webhook's types and even if it is disabled."),
		bodiless, accepted, notifies)),
	ofWebhooks(get("listWebhookDeliveries", Webhooks, "/webhooks/{webhookId}/deliveries", "List deliveries",
		described("Returns the delivery attempts of the last seven days, newest first. For the next page, pass next as "+
			"before."))),
	ofWebhooks(post("resendWebhookMessage", Webhooks, "/webhooks/{webhookId}/deliveries/{messageId}/resend",
		"Resend a message",
		described("Makes one more attempt now, with the same webhook-id. Refused (409) if the webhook is disabled."),
		bodiless, accepted, notifies)),

	added(get("getMe", Customers, "/me", "Read whose key this is",
		described("Returns the customer, organization and limits of the API key of the call, and what the service has "+
			"loaded: the taxonomy, and labor market figures."), costs(free))),
	get("getCustomerUsage", Customers, "/customers/{customerId}/usage", "Read usage and rate-limit status",
		described("Returns the units used in the current and the previous 60 windows, and the usage of each operation. "+
			"Customers can read only their own usage."), costs(free), errors(catalog.Forbidden)),
	added(get("listChanges", Customers, "/changes", "Read the change feed",
		described("Returns every creation, change and deletion of the organization's records, in order. Start without "+
			"since, then pass the last next. The feed does not include the records; read them at href."))),
	added(get("getOpenAPI", Customers, "/openapi.json", "Read this document",
		described("Returns the contract as an OpenAPI 3.1 document."), costs(free), public)),

	added(list("listReadiness", Registry, "/ctdl/readiness", "List what records lack for the Credential Registry",
		described("Returns what can be published, ready or not: courses, programs, credentials, published articulations, "+
			"then the frameworks of outcomes, each in creation order."),
		costs(score), expensive, errors(catalog.Conflict))),
	added(get("getPublicIndex", Registry, "/public/{handle}/ctdl/index.json",
		"List the public addresses of an organization",
		described("Returns the addresses of what an organization publishes, by class, then address. next leads to the next "+
			"page."), open)),
	allow("allowPublicIndex", "/public/{handle}/ctdl/index.json", "Allow pages to list public addresses"),
	added(get("getPublicEntity", Registry, "/public/{handle}/ctdl/{ctid}", "Read a public entity",
		described("Returns an entity that an organization publishes, as linked data in CTDL. Anything else is the same "+
			"404. At most 60 seconds old."), open, gives(LinkedData))),
	allow("allowPublicEntity", "/public/{handle}/ctdl/{ctid}", "Allow pages to read public entities"),

	added(get("getServiceInfo", Docs, "/", "Read service information",
		described("Returns the name, version and links. A client that prefers HTML is redirected to the reference."),
		costs(free), public, untagged, leads("getDocs"))),
	added(get("getDocs", Docs, "/docs", "Read the reference as a page",
		described("Returns the reference and guides. Operations can be tried with a key that stays in the page's memory."),
		costs(free), public, gives(HTML))),
	added(get("getConsole", Docs, "/console", "Open the console",
		described("Returns the page on which people review skills, decide articulations, map programs, make reports and "+
			"import files. It calls this service with a key that stays in the page's memory."),
		costs(free), public, gives(HTML))),
	added(get("getDocsAsset", Docs, "/docs/{asset}", "Read a file of the reference",
		described("Returns a script or stylesheet of the reference or the console; its name contains its digest."),
		costs(free), public, gives(JavaScript, CSS))),
}
