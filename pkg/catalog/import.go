package catalog

import "slices"

// Import is the import of a file of records. Its columns and problems are stored apart; see ImportDetails.
type Import struct {
	Meta
	Status           ImportStatus            `json:"status" enum:"PENDING,PROCESSING,COMPLETED,FAILED,CANCELLED" doc:"State of the import"`
	Failure          *ImportFailure          `json:"failure" doc:"Why the file as a whole was not imported; null unless FAILED"`
	DocumentID       string                  `json:"documentId" doc:"Document with the file"`
	FileName         string                  `json:"fileName" doc:"Name of the file; empty if the import was created before names were stored"`
	Mode             ImportMode              `json:"mode" enum:"CHECK,APPLY" doc:"Whether the records are saved"`
	Layout           string                  `json:"layout" enum:"AUTO,GENERIC,BANNER,CANVAS,ONEROSTER,TES" doc:"Layout of the file: as requested until the file is read, then as found"`
	Resource         *string                 `json:"resource" doc:"Kind of the records: as requested until the file is read, then as found; null if a file has several"`
	Sheet            *string                 `json:"sheet" doc:"Sheet of a workbook; null for the first"`
	OwnerID          *string                 `json:"ownerId" doc:"Course or program of outcomes whose rows name none; null for none"`
	RetireMissing    bool                    `json:"retireMissing" doc:"Whether courses that the file lacks are retired, and sections cancelled"`
	Counts           ImportCounts            `json:"counts" doc:"Numbers of rows, so far, by what became of them"`
	CountsByResource map[string]ImportCounts `json:"countsByResource,omitempty" doc:"The same for each resource, if the file has several"`
	StartedAt        *Time                   `json:"startedAt" doc:"When the import started; null while it waits"`
	FinishedAt       *Time                   `json:"finishedAt" doc:"When the import ended"`

	// Hidden from clients: the token of the run that works on the import, the runs since the last progress, where the
	// next run continues, and whether there is a file of rejected rows.
	Run      string         `json:"-" store:"run"`
	Runs     int            `json:"-" store:"runs"`
	Position ImportPosition `json:"-" store:"position"`
	Rejects  bool           `json:"-" store:"rejects"`
}

// ImportFailure is the reason why a file as a whole was not imported.
type ImportFailure struct {
	Code    ImportFailureCode `json:"code" enum:"unsupported_type,malformed,encrypted,too_large,empty,unknown_layout,missing_columns,too_many_missing,timeout,internal" doc:"Kind of the failure; stable"`
	Message string            `json:"message" doc:"Explanation for people; the wording may change"`
}

// ImportFailureCode is a FailureCode of an import.
type ImportFailureCode = string

// ImportStatus is the state of an import.
type ImportStatus string

// The states of an import. A cancelled one was stopped by a client.
const (
	ImportPending    ImportStatus = "PENDING"
	ImportProcessing ImportStatus = "PROCESSING"
	ImportCompleted  ImportStatus = "COMPLETED"
	ImportFailed     ImportStatus = "FAILED"
	ImportCancelled  ImportStatus = "CANCELLED"
)

// ImportMode tells whether an import saves anything.
type ImportMode = string

// The modes.
const (
	CheckOnly ImportMode = "CHECK"
	ApplyRows ImportMode = "APPLY"
)

// ImportPosition is where an import continues: after the first Rows rows of a kind. All rows of the kinds before it
// are done. The zero value is the beginning.
type ImportPosition struct {
	Kind Kind `json:"kind"`
	Rows int  `json:"rows"`
}

// ImportCounts are numbers of rows by what became of them.
type ImportCounts struct {
	Read      int `json:"read" doc:"Rows that were read"`
	Created   int `json:"created" doc:"Records that were created"`
	Updated   int `json:"updated" doc:"Records that were changed"`
	Unchanged int `json:"unchanged" doc:"Rows that equal their record, are superseded by another row, or are deleted in the other system"`
	Failed    int `json:"failed" doc:"Rows that changed nothing because of an error"`
	Retired   int `json:"retired" doc:"Records that were retired or cancelled because the file lacks them"`
}

// Plus returns the sum of two counts.
func (c ImportCounts) Plus(more ImportCounts) ImportCounts {
	return ImportCounts{
		c.Read + more.Read, c.Created + more.Created, c.Updated + more.Updated, c.Unchanged + more.Unchanged,
		c.Failed + more.Failed, c.Retired + more.Retired,
	}
}

// ImportDetails are the parts of an import that do not change with every row.
type ImportDetails struct {
	Layout    string             `json:"layout"` // as requested
	Resource  string             `json:"resource"`
	Overrides map[string]*string `json:"overrides"`
	Columns   []ImportColumn     `json:"columns"`
	Problems  []ImportProblem    `json:"problems"`
}

// ImportColumn is a column of an imported file.
type ImportColumn struct {
	File       string  `json:"file,omitempty" doc:"File with the column, if there are several"`
	Header     string  `json:"header" doc:"Header of the column"`
	Field      *string `json:"field" doc:"Field that the column became; null if it is ignored"`
	Suggestion string  `json:"suggestion,omitempty" doc:"Field whose header differs by one edit from that of an ignored column"`
	Example    string  `json:"example" doc:"First value of the column"`
	Count      int     `json:"count,omitempty" doc:"How often a property of JSON-LD occurs"`
}

// ImportProblem is a value that a record could not get.
type ImportProblem struct {
	File    string `json:"file,omitempty" doc:"File with the row, if there are several"`
	Line    int    `json:"line" doc:"Line of the file, from 1; the row of a workbook"`
	Column  string `json:"column" doc:"Header of the column; empty if the problem concerns the whole row"`
	Code    string `json:"code" doc:"Kind of the problem; stable"`
	Message string `json:"message" doc:"Explanation for people; the wording may change"`
	Value   string `json:"value" doc:"The value, of at most 200 characters"`
}

func (p ImportProblem) String() string {
	if p.Column == "" {
		return p.Message
	}
	return p.Column + ": " + p.Message
}

// ImportRejects is the file of the rows that an import rejected.
type ImportRejects struct {
	URL       string `json:"url" format:"uri" doc:"Signed address of a CSV file with the rejected rows and the reasons"`
	ExpiresAt Time   `json:"expiresAt" doc:"When the address expires, 15 minutes after it was signed"`
}

// Bounds of what an import shows.
const (
	MaxImportProblems = 100
	// MaxImportRows and MaxImportColumns limit a file and the overrides of its columns.
	MaxImportRows    = 200_000
	MaxImportColumns = 1000
)

// Codes of failures of imports, in addition to those of syllabi.
const (
	UnknownLayout  FailureCode = "unknown_layout"
	MissingColumns FailureCode = "missing_columns"
	TooManyMissing FailureCode = "too_many_missing" // see ImportInput.RetireMissing
)

// ImportInput is the input for an import, which is immutable.
type ImportInput struct {
	DocumentID    Optional[string]             `json:"documentId" minLength:"1" maxLength:"64" doc:"Document whose file was uploaded: CSV, XLSX, NDJSON, JSON-LD, or a ZIP of OneRoster"`
	Resource      Optional[*string]            `json:"resource,omitzero" enum:"course,section,program,credential,job,transferPackage,articulation,outcome" doc:"Kind of the records; null to find out"`
	Layout        Optional[string]             `json:"layout,omitzero" enum:"AUTO,GENERIC,BANNER,CANVAS,ONEROSTER,TES" doc:"System whose headers the file has; AUTO by default. TES needs resource articulation"`
	Mode          Optional[ImportMode]         `json:"mode,omitzero" enum:"CHECK,APPLY" doc:"CHECK saves no records, and reports what APPLY, the default, would do"`
	Columns       Optional[map[string]*string] `json:"columns,omitzero" doc:"Fields of columns by their headers, instead of those found; null ignores a column"`
	Sheet         Optional[*string]            `json:"sheet,omitzero" minLength:"1" maxLength:"255" doc:"Sheet of a workbook; null for the first"`
	OwnerID       Optional[*string]            `json:"ownerId,omitzero" maxLength:"64" doc:"Course or program of outcomes whose rows name none, which Canvas's do not"`
	RetireMissing Optional[bool]               `json:"retireMissing,omitzero" doc:"Retires courses, and cancels sections, that have an externalId and that the file lacks"`
}

// Apply sets the fields of a new import. The caller checks the overrides of columns.
func (in ImportInput) Apply(i *Import, l Lookups) []FieldError {
	check := l.checker()
	i.Status, i.DocumentID = ImportPending, in.DocumentID.Or("")
	i.Layout, i.Mode, i.Resource, i.Sheet = in.Layout.Or("AUTO"), in.Mode.Or(ApplyRows), in.Resource.Value,
		text(in.Sheet, nil)
	i.RetireMissing, i.OwnerID = in.RetireMissing.Or(false), in.OwnerID.Value
	resource := ValueOr(i.Resource, "")
	if document := l.Documents[i.DocumentID]; document != nil {
		i.FileName = document.FileName
	} else {
		check.fault("documentId", "there is no such document, or its file is not uploaded", i.DocumentID)
	}
	if i.Layout == "TES" && resource != ArticulationKind.Resource() {
		check.fault("resource", "must be articulation for layout TES", i.Resource)
	}
	retirable := []string{"", CourseKind.Resource(), SectionKind.Resource()}
	if i.RetireMissing && !slices.Contains(retirable, resource) {
		check.fault("retireMissing", "only courses and sections can be retired", true)
	}
	outcomes := resource == "" || resource == "outcome"
	switch owner := in.OwnerID.Value; {
	case owner == nil && resource == "outcome" && i.Layout == "CANVAS":
		check.fault("ownerId", "is required: a file of Canvas does not say whose outcomes it has", nil)
	case owner != nil && (!outcomes || l.Courses[*owner] == nil && l.Programs[*owner] == nil):
		check.fault("ownerId", "must be the id of a course or program whose outcomes the file has", *owner)
	}
	if len(in.Columns.Value) > MaxImportColumns {
		check.fault("columns", "must have at most 1000 columns", len(in.Columns.Value))
	}
	return *check.wrong
}

// Ended reports whether the import is over.
func (i *Import) Ended() bool { return i.Status != ImportPending && i.Status != ImportProcessing }

// StartRun assigns the import to a run. Earlier runs can no longer save anything.
func (c *Change) StartRun(i *Import, run string, now Time) {
	before := *i
	i.Status, i.Run, i.Runs = ImportProcessing, run, i.Runs+1
	if i.StartedAt == nil {
		i.StartedAt = new(now)
	}
	c.Replace(&before, i, now)
	c.withoutFeed(i).Restarted = true
}

// Advance saves the progress of an import in the transaction of its records. It adds nothing to the change feed.
func (c *Change) Advance(before, after *Import, now Time) {
	c.Replace(before, after, now)
	c.withoutFeed(after)
}

// withoutFeed returns the replacement of an import and excludes it from the change feed.
func (c *Change) withoutFeed(i *Import) *Replacement {
	r := effect(c, func(r *Replacement) bool { return r.Record == Record(i) },
		func() *Replacement { panic("not replaced") })
	r.Quiet = true
	return r
}

// EndImport ends an import.
func (c *Change) EndImport(i *Import, status ImportStatus, failure *ImportFailure, now Time) {
	before := *i
	i.Status, i.Failure, i.FinishedAt = status, failure, new(now)
	c.Replace(&before, i, now)
	switch status {
	case ImportCompleted:
		c.SetEvent(ImportCompletedEvent, i)
	case ImportFailed:
		c.SetEvent(ImportFailedEvent, i)
	}
}

// SetImportDetails replaces the details of an import; nil removes them.
func (c *Change) SetImportDetails(i *Import, d *ImportDetails) {
	c.With(&ImportDescription{about[*Import]{i}, d})
}

// RejectRows stores the reasons for which rows were rejected, by their place among the rows of their kind in the file.
func (c *Change) RejectRows(i *Import, at ImportPosition, reasons map[int]string) {
	c.With(&ImportRejection{about[*Import]{i}, at, reasons})
}
