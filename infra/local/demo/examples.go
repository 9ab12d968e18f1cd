package demo

import (
	"context"
	"maps"
	"slices"
	"strings"

	"skillscurriculum/infra/local/stack"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/skills"
)

// named maps parameters to the demo records whose ids replace their examples, by external
// id. The course is not in a program or credential, so that it can be deleted. The program
// and credential contain the records that are removed from them. The transfer course to
// retry has a syllabus that does not exist.
var named = map[string]string{
	"getCourse.courseId":                   "BUS 320",
	"getSection.sectionId":                 "BUS 320-EVENING",
	"getCredential.credentialId":           exampleCredential,
	"removeCredentialSection.sectionId":    "CS 330-ONLINE",
	"getProgram.programId":                 exampleProgram,
	"removeProgramCourse.courseId":         "CS 350",
	"getJob.jobId":                         exampleJob,
	"getTransferPackage.packageId":         examplePackage,
	"deleteTransferPackage.packageId":      "TP-NORTHMERE",
	"getTransferCourse.transferCourseId":   examplePackage + "/ACC 201",
	"retryTransferCourse.transferCourseId": examplePackage + "/ENG 110",
	"getArticulation.articulationId":       "AB-01",
	"getArticulationPage.articulationId":   "AB-01",
	"updateArticulation.articulationId":    "AB-12",
	"deleteArticulation.articulationId":    "AB-13",
}

// promises maps parameters to the parameters whose records' first outcomes are their examples.
var promises = map[string]string{
	"reviewCourseOutcomeSkill.outcomeId":  "getCourse.courseId",
	"decideMapCell.outcomeId":             "getProgram.programId",
	"reviewProgramOutcomeSkill.outcomeId": "getProgram.programId",
}

// kindOf returns the kind of record that a parameter identifies.
func kindOf(parameter string) catalog.Kind {
	_, name, _ := strings.Cut(parameter, ".")
	kinds := catalog.Kinds()
	return kinds[slices.IndexFunc(kinds, func(k catalog.Kind) bool { return strings.HasSuffix(k.Path(), "{"+name+"}") })]
}

// asked holds filter values that match demo records.
var asked = map[string]string{
	"listSections.externalId":         "CS 101-EVENING",
	"listArticulations.institution":   "cedar-hollow-community-college",
	"listArticulations.sendingCode":   "acc 201",
	"lookupArticulations.institution": "Cedar Hollow Community College",
	"lookupArticulations.codes":       "ACC-201,ENG 1",
}

// linkTTL is the lifetime of the example links in ms, the longest permitted.
const linkTTL = 7 * 24 * 60 * 60 * 1000

// Parameters returns parameter examples for the OpenAPI document (see printing.WithExamples)
// that work for the first customer of a loaded demo. It creates records that the demo's files
// do not contain, unless they exist, and omits records that users have deleted.
func (l Loader) Parameters(ctx context.Context, demo stack.Demo) (map[string]string, error) {
	customer := demo.Customers[0]
	org := catalog.OrgID(customer.OrganizationID)
	values := map[string]string{"getCustomerUsage.customerId": customer.CustomerID}
	maps.Copy(values, asked)
	for parameter, name := range named {
		found, err := l.Store.Known(ctx, org, kindOf(parameter), []string{name})
		if err != nil {
			return nil, err
		}
		if record := found[name].Record; record != nil {
			values[parameter] = record.Base().ID
		}
	}
	values["getPublicIndex.handle"] = tenants[0].facts.Handle
	values["getPublicEntity.ctid"] = catalog.DerivedCTID(customer.OrganizationID)
	var err error
	for parameter, owner := range promises {
		lists, err := l.actor(org).OutcomeLists(ctx, values[owner])
		if err != nil {
			return nil, err
		}
		if list := lists[values[owner]]; list != nil && len(list.Outcomes) > 0 {
			values[parameter] = list.Outcomes[0].ID
		}
	}
	if values["getReport.reportId"], err = l.report(ctx, org, demo.Examples); err != nil {
		return nil, err
	}
	if err := l.unlisted(ctx, org, values); err != nil {
		return nil, err
	}
	if values["getImport.importId"], err = l.imported(ctx, org, values["getDocument.documentId"]); err != nil {
		return nil, err
	}
	return values, l.links(ctx, org, customer.APIKey, values)
}

// report returns the id of the organization's first report, and creates one if there is
// none.
func (l Loader) report(ctx context.Context, org catalog.OrgID, e stack.Examples) (string, error) {
	reports, _, err := service.List[*catalog.Report](ctx, l.Store, org, 0, 1)
	if err != nil {
		return "", err
	}
	if len(reports) > 0 {
		return reports[0].ID, nil
	}
	report, change := &catalog.Report{}, catalog.Change{}
	in := catalog.ReportInput{Name: set("Data analysis and the jobs around"), Settings: catalog.ReportSettingsInput{
		Courses: []string{e.CourseID}, Jobs: []catalog.ReportJob{{ID: e.JobID, Lib: "custom"}},
	}}
	if err := service.Create(ctx, l.actor(org), in, report, &change); err != nil {
		return "", err
	}
	return report.ID, l.Store.Commit(ctx, org, &change)
}

// imported returns the id of the organization's first import, and creates one of a document if there is none. The
// sweeper starts it.
func (l Loader) imported(ctx context.Context, org catalog.OrgID, documentID string) (string, error) {
	imports, _, err := service.List[*catalog.Import](ctx, l.Store, org, 0, 1)
	if err != nil {
		return "", err
	}
	if len(imports) > 0 {
		return imports[0].ID, nil
	}
	dir, err := l.Store.Directory(ctx, org, catalog.ImportKind)
	if err != nil {
		return "", err
	}
	i, change := &catalog.Import{}, catalog.Change{}
	in := catalog.ImportInput{DocumentID: set(documentID), Mode: set(catalog.CheckOnly)}
	documents := map[string]*catalog.Document{documentID: {FileName: exampleName}}
	if wrong := in.Apply(i, catalog.Lookups{Documents: documents}); wrong != nil {
		return "", catalog.Invalid(wrong...)
	}
	change.Add(i, l.Keyring.IDs, dir, l.Store.Now)
	change.SetImportDetails(i, &catalog.ImportDetails{Layout: i.Layout})
	return i.ID, l.Store.Commit(ctx, org, &change)
}

// unlisted adds the records that cannot be listed, a document and an extraction. Their ids are stored with the keys.
func (l Loader) unlisted(ctx context.Context, org catalog.OrgID, values map[string]string) error {
	kept, err := l.kept()
	if err != nil {
		return err
	}
	const document, extraction = "example document", "example extraction"
	var change catalog.Change
	now := l.Store.Now()
	d, err := service.Get[*catalog.Document](ctx, l.Store, org, kept[document], true)
	there := false
	if err == nil && l.Files != nil {
		_, there, err = l.Files.Uploaded(ctx, org, d.ID)
	}
	if catalog.HasCode(err, catalog.NotFound) || err == nil && !there && d.UploadTime(now) == 0 {
		var created *catalog.Change
		if d, created, err = service.CreateDocument(l.actor(org), catalog.DocumentInput{
			FileName: set(exampleName), SizeBytes: set(len(exampleFile)), SHA256: set(catalog.HashSecret(exampleFile)),
		}); err == nil {
			change = *created
		}
	}
	if err == nil && !there && l.Files != nil {
		err = l.Files.Put(ctx, d, now, []byte(exampleFile))
	}
	if err != nil {
		return err
	}
	e, err := service.Get[*catalog.SyllabusExtraction](ctx, l.Store, org, kept[extraction], false)
	if catalog.HasCode(err, catalog.NotFound) {
		e, err = l.actor(org).CreateExtraction(catalog.SyllabusExtractionInput{Text: set(new(exampleText))}, &change)
	}
	if err != nil {
		return err
	}
	values["getDocument.documentId"], values["getSyllabusExtraction.extractionId"] = d.ID, e.ID
	kept[document], kept[extraction] = d.ID, e.ID
	if change.Empty() {
		return nil
	}
	if err := l.Store.Commit(ctx, org, &change); err != nil {
		return err
	}
	if err := l.keep(kept); err != nil {
		return err
	}
	held := heldQueue{change.Jobs()}
	return held.send(ctx, l.Queue)
}

// exampleText is the text of the extraction, and exampleFile the file of the document and of the
// import, named exampleName.
const (
	exampleText = "Students will write Python programs that clean, summarize and plot data."
	exampleName = "courses.csv"
	exampleFile = "externalId,code,name,description,Notes\nDS 110,DS 110,Working with Data,\"" + exampleText + "\",\n"
)

// links creates links to shared pages. They are new at each start because the table has
// only hashes of their tokens.
func (l Loader) links(ctx context.Context, org catalog.OrgID, apiKey string, values map[string]string) error {
	var change catalog.Change
	for record, parameter := range map[string]string{
		"getReport.reportId": "getSharedReport.token", "getArticulationPage.articulationId": "getSharedArticulation.token",
		"getProgram.programId": "getSharedProgramMap.token",
	} {
		token := l.Keyring.IDs.New("lnk_")
		change.With(&catalog.Link{
			Hash: catalog.HashSecret(token), OrganizationID: org, Kind: kindOf(record), RecordID: values[record],
			KeyHash: catalog.HashSecret(apiKey), ValidUntil: l.Store.Now() + linkTTL,
		})
		values[parameter] = token
	}
	return l.Store.Commit(ctx, org, &change)
}

// actor returns the demo as the actor of use cases.
func (l Loader) actor(org catalog.OrgID) service.Actor {
	return service.Actor{
		Org: org, KeyID: demoKey, Now: l.Store.Now(), Clock: l.Store.Now, IDs: l.Keyring.IDs,
		Lookups: catalog.Lookups{At: "body"}, Store: l.Store, Taxonomy: skills.Starter,
	}
}

func set[T any](value T) catalog.Optional[T] { return catalog.Optional[T]{Set: true, Value: value} }
