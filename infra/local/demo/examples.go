package demo

import (
	"context"
	"errors"

	"skillscurriculum/infra/local/stack"
	"skillscurriculum/pkg/catalog"
)

// named are the records of the demo's files that take the place of the examples of
// parameters, by the record's name in those files. No program or credential holds the
// course, so that it can be deleted; the program and the credential hold those that are
// taken out of them; the syllabus of the transfer course to be tried again is not there.
var named = map[string]struct {
	kind catalog.Kind
	name string
}{
	"getCourse.courseId":                   {catalog.CourseKind, "BUS 320"},
	"getSection.sectionId":                 {catalog.SectionKind, "BUS 320-EVENING"},
	"getCredential.credentialId":           {catalog.CredentialKind, exampleCredential},
	"removeCredentialSection.sectionId":    {catalog.SectionKind, "CS 330-ONLINE"},
	"getProgram.programId":                 {catalog.ProgramKind, exampleProgram},
	"removeProgramCourse.courseId":         {catalog.CourseKind, "CS 350"},
	"getJob.jobId":                         {catalog.JobKind, exampleJob},
	"getTransferPackage.packageId":         {catalog.TransferPackageKind, examplePackage},
	"deleteTransferPackage.packageId":      {catalog.TransferPackageKind, "TP-NORTHMERE"},
	"getTransferCourse.transferCourseId":   {catalog.TransferCourseKind, examplePackage + "/ACC 201"},
	"retryTransferCourse.transferCourseId": {catalog.TransferCourseKind, examplePackage + "/ENG 110"},
	"getArticulation.articulationId":       {catalog.ArticulationKind, "AB-01"},
	"getArticulationPage.articulationId":   {catalog.ArticulationKind, "AB-01"},
	"updateArticulation.articulationId":    {catalog.ArticulationKind, "AB-12"},
	"deleteArticulation.articulationId":    {catalog.ArticulationKind, "AB-13"},
}

// asked are what filters ask for, so that they find something.
var asked = map[string]string{
	"listSections.externalId":         "CS 101-EVENING",
	"listArticulations.institution":   "cedar-hollow-community-college",
	"listArticulations.sendingCode":   "acc 201",
	"lookupArticulations.institution": "Cedar Hollow Community College",
	"lookupArticulations.codes":       "ACC-201,ENG 1",
}

// linkTTL is how long the links of examples lead to pages: as long as any.
const linkTTL = 7 * 24 * 60 * 60 * 1000

// Parameters returns what takes the place of the examples of parameters in the contract's
// document (see rest.WithExamples), for the first customer of a loaded demo. What no file
// of the demo has it makes, where it is missing. What people have deleted is left out.
func (l Loader) Parameters(ctx context.Context, demo stack.Demo) (map[string]string, error) {
	customer := demo.Customers[0]
	org := catalog.OrgID(customer.OrganizationID)
	values := map[string]string{"getCustomerUsage.customerId": customer.CustomerID}
	for parameter, words := range asked {
		values[parameter] = words
	}
	for parameter, r := range named {
		known, err := l.Store.Known(ctx, org, r.kind, []string{r.name})
		if err != nil {
			return nil, err
		}
		if record := known[r.name].Record; record != nil {
			values[parameter] = record.Base().ID
		}
	}
	var err error
	if values["getReport.reportId"], err = l.report(ctx, org, demo.Examples); err != nil {
		return nil, err
	}
	if err := l.unlisted(ctx, org, values); err != nil {
		return nil, err
	}
	return values, l.links(ctx, org, customer.APIKey, values)
}

// report returns the id of the organization's first report, which it makes where there
// is none.
func (l Loader) report(ctx context.Context, org catalog.OrgID, e stack.Examples) (string, error) {
	reports, _, err := l.Store.Reports(ctx, org, 0, 1)
	if err != nil {
		return "", err
	}
	if len(reports) > 0 {
		return reports[0].ID, nil
	}
	report := &catalog.Report{}
	in := catalog.ReportInput{Name: set("Data analysis and the jobs around"), Settings: catalog.ReportSettingsInput{
		Courses: []string{e.CourseID}, Jobs: []catalog.ReportJob{{ID: e.JobID, Lib: "custom"}},
	}}
	if err := catalog.Apply(in, report, catalog.Lookups{}); err != nil {
		return "", err
	}
	dir, err := l.Store.Directory(ctx, org, catalog.ReportKind)
	if err != nil {
		return "", err
	}
	var change catalog.Change
	change.Add(report, l.Keyring.IDs, dir, org, l.Store.Now())
	return report.ID, l.Store.Commit(ctx, org, &change)
}

// unlisted adds the records that no list has, whose ids are kept from start to start: a
// document that waits for its file, and an extraction.
func (l Loader) unlisted(ctx context.Context, org catalog.OrgID, values map[string]string) error {
	kept, err := l.kept()
	if err != nil {
		return err
	}
	const document, extraction = "example document", "example extraction"
	var change catalog.Change
	now := l.Store.Now()
	d, err := l.Store.Document(ctx, org, kept[document], true)
	if isAbsent(err) || err == nil && d.UploadTime(now) == 0 {
		d = &catalog.Document{Meta: catalog.NewMeta(l.Keyring.IDs.Of(catalog.DocumentKind), org, now)}
		in := catalog.DocumentInput{FileName: set("syllabus.txt"), SizeBytes: set(len(exampleText)), SHA256: set(catalog.HashSecret(exampleText))}
		err = catalog.Apply(in, d, catalog.Lookups{})
		change.Create(d, nil)
	}
	if err != nil {
		return err
	}
	e, err := l.Store.SyllabusExtraction(ctx, org, kept[extraction])
	if isAbsent(err) {
		e = &catalog.SyllabusExtraction{Meta: catalog.NewMeta(l.Keyring.IDs.Of(catalog.SyllabusExtractionKind), org, now)}
		in := catalog.SyllabusExtractionInput{Text: set(new(exampleText))}
		err = catalog.Apply(in, e, catalog.Lookups{})
		change.Create(e, nil)
		change.Texts = append(change.Texts, catalog.Text{RecordID: e.ID, Text: exampleText})
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
	held := heldQueue{change.Jobs}
	return held.send(ctx, l.Queue)
}

// exampleText is the text of the extraction, and of the file that is to be uploaded.
const exampleText = "Students will write Python programs that clean, summarize and plot data."

// links makes the links to pages, which are new at each start: the table has only the
// digests of their tokens.
func (l Loader) links(ctx context.Context, org catalog.OrgID, apiKey string, values map[string]string) error {
	var change catalog.Change
	for _, page := range []struct {
		kind          catalog.Kind
		record, token string
	}{
		{catalog.ReportKind, values["getReport.reportId"], "getSharedReport.token"},
		{catalog.ArticulationKind, values["getArticulationPage.articulationId"], "getSharedArticulation.token"},
	} {
		token := l.Keyring.IDs.New("lnk_")
		change.Links = append(change.Links, &catalog.Link{
			Hash: catalog.HashSecret(token), OrganizationID: org, Kind: page.kind, RecordID: page.record,
			KeyHash: catalog.HashSecret(apiKey), ValidUntil: l.Store.Now() + linkTTL,
		})
		values[page.token] = token
	}
	return l.Store.Commit(ctx, org, &change)
}

func set[T any](value T) catalog.Optional[T] { return catalog.Optional[T]{Set: true, Value: value} }

func isAbsent(err error) bool {
	var refused *catalog.Error
	return errors.As(err, &refused) && refused.Code == catalog.NotFound
}
