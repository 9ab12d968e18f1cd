package api

import (
	"net/http"

	"skillscurriculum/pkg/catalog"
)

// The costs in units (interface.md section 4).
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

func get(id string, g Group, path, summary string, cost Cost, errors ...catalog.Code) Operation {
	return Operation{ID: id, Method: http.MethodGet, Path: path, Group: g, Summary: summary, Cost: cost, Status: http.StatusOK, Errors: errors}
}

func list(id string, g Group, path, summary string) Operation {
	return get(id, g, path, summary, read, catalog.InvalidParameter)
}

func post(id string, g Group, path, summary string, cost Cost, status int) Operation {
	return Operation{ID: id, Method: http.MethodPost, Path: path, Group: g, Summary: summary, Cost: cost, Status: status, Access: Write, Idem: true}
}

func patch(id string, g Group, path, summary string, cost Cost) Operation {
	return Operation{ID: id, Method: http.MethodPatch, Path: path, Group: g, Summary: summary, Cost: cost, Status: http.StatusOK, Access: Write}
}

func remove(id string, g Group, path, summary string) Operation {
	return Operation{ID: id, Method: http.MethodDelete, Path: path, Group: g, Summary: summary, Cost: write, Status: http.StatusNoContent, Access: Write}
}

// added marks what seed.md does not have.
func added(o Operation) Operation {
	o.Added = true
	return o
}

// storesNothing makes a POST open to read keys.
func storesNothing(o Operation, errors ...catalog.Code) Operation {
	o.Access, o.Errors = Read, errors
	return o
}

const (
	created  = http.StatusCreated
	changed  = http.StatusOK
	accepted = http.StatusAccepted
)

var operations = []Operation{
	list("listCourses", Courses, "/courses", "List the courses of the organization"),
	added(post("createCourse", Courses, "/courses", "Create a course with its default section", write, created)),
	get("getCourse", Courses, "/courses/{courseId}", "Read a course", read),
	added(patch("updateCourse", Courses, "/courses/{courseId}", "Change a course", write)),
	added(remove("deleteCourse", Courses, "/courses/{courseId}", "Delete a course with its sections")),
	added(post("createSection", Courses, "/courses/{courseId}/sections", "Create a section; a syllabusHref queues extraction of its skills", withCourse, created)),
	get("getSection", Courses, "/courses/{courseId}/sections/{sectionId}", "Read a section", read, catalog.InvalidParameter),
	added(patch("updateSection", Courses, "/courses/{courseId}/sections/{sectionId}", "Change a section; a changed syllabusHref queues extraction of its skills", withCourse)),
	added(remove("deleteSection", Courses, "/courses/{courseId}/sections/{sectionId}", "Delete a section")),

	list("listJobs", Jobs, "/jobs", "List the jobs of the organization"),
	added(post("createJob", Jobs, "/jobs", "Create a job", write, created)),
	added(get("getJob", Jobs, "/jobs/{jobId}", "Read a job", read)),
	added(patch("updateJob", Jobs, "/jobs/{jobId}", "Change a job", write)),
	added(remove("deleteJob", Jobs, "/jobs/{jobId}", "Delete a job")),

	added(list("listCredentials", Credentials, "/credentials", "List the stackable credentials of the organization")),
	added(post("createCredential", Credentials, "/credentials", "Create a stackable credential", write, created)),
	get("getCredential", Credentials, "/credentials/{credentialId}", "Read a stackable credential", read),
	patch("updateCredential", Credentials, "/credentials/{credentialId}", "Change a stackable credential; courseSectionIds replaces its sections", write),
	added(remove("deleteCredential", Credentials, "/credentials/{credentialId}", "Delete a stackable credential")),
	post("addCredentialSection", Credentials, "/credentials/{credentialId}/sections", "Add a section to a stackable credential", write, changed),
	added(remove("removeCredentialSection", Credentials, "/credentials/{credentialId}/sections/{sectionId}", "Take a section out of a stackable credential")),
	added(storesNothing(post("buildCredential", Credentials, "/credential-builder", "Propose sections for a credential that serves jobs", build, changed))),

	added(list("listPrograms", Programs, "/programs", "List the programs of the organization")),
	added(post("createProgram", Programs, "/programs", "Create a program", write, created)),
	added(get("getProgram", Programs, "/programs/{programId}", "Read a program", read)),
	added(patch("updateProgram", Programs, "/programs/{programId}", "Change a program; courseOrder must be a permutation", write)),
	added(remove("deleteProgram", Programs, "/programs/{programId}", "Delete a program")),
	post("addProgramCourse", Programs, "/programs/{programId}/courses", "Add a course to the end of a program", write, changed),
	added(remove("removeProgramCourse", Programs, "/programs/{programId}/courses/{courseId}", "Take a course out of a program")),

	list("listTransferPackages", Transfers, "/transfer-packages", "List the transfer packages of the organization"),
	added(post("createTransferPackage", Transfers, "/transfer-packages", "Create a transfer package, with courses if given", withCourse, created)),
	added(get("getTransferPackage", Transfers, "/transfer-packages/{packageId}", "Read a transfer package", read)),
	added(patch("updateTransferPackage", Transfers, "/transfer-packages/{packageId}", "Change a transfer package", write)),
	added(remove("deleteTransferPackage", Transfers, "/transfer-packages/{packageId}", "Delete a transfer package with its courses")),
	get("listTransferCourses", Transfers, "/transfer-packages/{packageId}/courses", "List the courses of a transfer package", read),
	post("createTransferCourses", Transfers, "/transfer-packages/{packageId}/courses", "Create transfer courses, whose skills are extracted from their syllabi", perCourse, created),
	added(get("getTransferCourse", Transfers, "/transfer-packages/{packageId}/courses/{transferCourseId}", "Read a transfer course", read, catalog.InvalidParameter)),
	added(remove("deleteTransferCourse", Transfers, "/transfer-packages/{packageId}/courses/{transferCourseId}", "Delete a transfer course")),
	added(post("retryTransferCourse", Transfers, "/transfer-packages/{packageId}/courses/{transferCourseId}/retry", "Start the extraction of a FAILED transfer course again", extract, accepted)),
	added(storesNothing(post("matchTransferCourse", Transfers, "/transfer-packages/{packageId}/courses/{transferCourseId}/equivalencies", "Score a transfer course against the sections of the catalog", score, changed), catalog.Conflict)),
	added(storesNothing(post("matchTransferPackage", Transfers, "/transfer-packages/{packageId}/equivalencies", "Score all courses of a transfer package, with other thresholds if given", score, changed))),

	added(list("listReports", Reports, "/reports", "List the reports of the organization")),
	post("createReport", Reports, "/reports", "Create and generate a report", regenerate, created),
	added(get("getReport", Reports, "/reports/{reportId}", "Generate a stored report anew", regenerate, catalog.InvalidParameter)),
	added(remove("deleteReport", Reports, "/reports/{reportId}", "Delete a report")),

	added(get("getLaborMarket", Labor, "/labor-market", "Labor market figures of the occupations that programs of study lead to", read, catalog.InvalidParameter)),
	added(get("listRegions", Labor, "/labor-market/regions", "List the regions that labor market figures exist for", read, catalog.InvalidParameter)),

	added(post("createSyllabusExtraction", Extractions, "/syllabus-extractions", "Extract skills from a text or a syllabus", extract, accepted)),
	added(get("getSyllabusExtraction", Extractions, "/syllabus-extractions/{extractionId}", "Read an extraction", read, catalog.InvalidParameter)),
	added(list("listSkills", Extractions, "/skills", "Search the loaded taxonomy")),
	added(get("getSkill", Extractions, "/skills/{skillId}", "Read a skill of the loaded taxonomy", read)),

	get("getCustomerUsage", Customers, "/customers/{customerId}/usage", "Usage and rate-limit status of the calling customer", free, catalog.Forbidden),
	added(get("listChanges", Customers, "/changes", "Every change of the organization's records, in order", read, catalog.InvalidParameter)),
	added(openAPI(get("getOpenAPI", Customers, "/openapi.json", "This document", free))),
}

func openAPI(o Operation) Operation {
	o.Access = Public
	return o
}
