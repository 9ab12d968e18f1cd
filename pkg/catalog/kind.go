package catalog

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Kind names a type of record.
type Kind string

// The kinds of records.
const (
	CourseKind             Kind = "Course"
	SectionKind            Kind = "Section"
	JobKind                Kind = "Job"
	CredentialKind         Kind = "Credential"
	ProgramKind            Kind = "Program"
	TransferPackageKind    Kind = "TransferPackage"
	TransferCourseKind     Kind = "TransferCourse"
	ReportKind             Kind = "Report"
	SyllabusExtractionKind Kind = "SyllabusExtraction"
	DocumentKind           Kind = "Document"
	ArticulationKind       Kind = "Articulation"
	ImportKind             Kind = "Import"
	OutcomeListKind        Kind = "OutcomeList"
)

// kindRow describes a kind. Records with an extraction embed Extraction (see ExtractionOf), which needs no column.
type kindRow struct {
	kind   Kind
	prefix string // of ids
	// Path at which a record is read, with parameters for its parent's id, if any, and its own; "" for a part of another
	// record
	path   string
	listed bool // the organization's records form a list with a Directory
	parent Kind // of the record that owns it, which its parentID names; "" for none
	nested bool // a record is found by its parent's id together with its own
	record func() Record
}

// kinds is the table of kinds: it has whatever depends on the kind alone.
var kinds = []kindRow{
	{CourseKind, "crs_", "/courses/{courseId}", true, "", false, empty[Course]},
	{SectionKind, "sec_", "/courses/{courseId}/sections/{sectionId}", false, CourseKind, false, empty[Section]},
	{JobKind, "job_", "/jobs/{jobId}", true, "", false, empty[Job]},
	{CredentialKind, "crd_", "/credentials/{credentialId}", true, "", false, empty[Credential]},
	{ProgramKind, "prg_", "/programs/{programId}", true, "", false, empty[Program]},
	{TransferPackageKind, "tpk_", "/transfer-packages/{packageId}", true, "", false, empty[TransferPackage]},
	{TransferCourseKind, "tcr_", "/transfer-packages/{packageId}/courses/{transferCourseId}", false, TransferPackageKind,
		true, empty[TransferCourse]},
	{ReportKind, "rpt_", "/reports/{reportId}", true, "", false, empty[Report]},
	{SyllabusExtractionKind, "ext_", "/syllabus-extractions/{extractionId}", false, "", false, empty[SyllabusExtraction]},
	{DocumentKind, "doc_", "/documents/{documentId}", false, "", false, empty[Document]},
	{ArticulationKind, "art_", "/articulations/{articulationId}", true, "", false, empty[Articulation]},
	{ImportKind, "imp_", "/imports/{importId}", true, "", false, empty[Import]},
	{OutcomeListKind, "ocl_", "", false, "", false, empty[OutcomeList]},
}

func empty[T any, R interface {
	*T
	Record
}]() Record {
	return R(new(T))
}

// row returns the kind's row of the table; an empty one for an unknown kind.
func (k Kind) row() kindRow {
	if i := slices.IndexFunc(kinds, func(r kindRow) bool { return r.kind == k }); i >= 0 {
		return kinds[i]
	}
	return kindRow{}
}

// Resources lists the kinds of the change feed: all but those of parts of other records, whose changes are changes of
// those records.
func Resources() []Kind {
	return slices.DeleteFunc(Kinds(), func(k Kind) bool { return k.Path() == "" })
}

// Kinds lists all kinds.
func Kinds() []Kind {
	all := make([]Kind, len(kinds))
	for i, row := range kinds {
		all[i] = row.kind
	}
	return all
}

// New returns an empty record of the kind; nil for an unknown kind.
func (k Kind) New() Record {
	if row := k.row(); row.record != nil {
		return row.record()
	}
	return nil
}

// Listed reports whether the organization's records of this kind form a list with a Directory; their ids contain a
// sequence number.
func (k Kind) Listed() bool { return k.row().listed }

// Parent returns the kind of the record that owns one of this kind; "" for none.
func (k Kind) Parent() Kind { return k.row().parent }

// Nested reports whether finding a record of this kind takes its parent's id besides its own.
func (k Kind) Nested() bool { return k.row().nested }

// Resource returns the kind's name in messages and file names, such as transferPackage.
func (k Kind) Resource() string { return strings.ToLower(string(k[:1])) + string(k[1:]) }

// Path returns the path of the contract for reading a record of this kind, with parameters for its parent's id, if it
// has one, and its own.
func (k Kind) Path() string { return k.row().path }

// Href returns the path for reading a record.
func (k Kind) Href(parentID, id string) string {
	path := k.Path()
	for _, value := range []string{parentID, id}[2-strings.Count(path, "{"):] {
		before, rest, _ := strings.Cut(path, "{")
		_, after, _ := strings.Cut(rest, "}")
		path = before + value + after
	}
	return path
}

var kindsByType = sync.OnceValue(func() map[reflect.Type]Kind {
	types := map[reflect.Type]Kind{}
	for _, row := range kinds {
		types[reflect.TypeOf(row.record())] = row.kind
	}
	return types
})

// KindOf returns the kind of a record.
func KindOf(r Record) Kind {
	kind, ok := kindsByType()[reflect.TypeOf(r)]
	if !ok {
		panic("not a record of the catalog")
	}
	return kind
}

// ParentOf returns the id of the record that owns r; "" for none.
func ParentOf(r Record) string {
	if child, ok := r.(interface{ parentID() string }); ok {
		return child.parentID()
	}
	return ""
}

func (s *Section) parentID() string        { return s.CourseID }
func (c *TransferCourse) parentID() string { return c.PackageID }

// HrefOf returns the path for reading a record.
func HrefOf(r Record) string { return KindOf(r).Href(ParentOf(r), r.Base().ID) }

// ExtractionOf returns the state of the record's extraction; nil for kinds without extraction.
func ExtractionOf(r Record) *Extraction {
	if extracted, ok := r.(interface{ extraction() *Extraction }); ok {
		return extracted.extraction()
	}
	return nil
}

func (e *Extraction) extraction() *Extraction { return e }

// TitleFields are the stored fields that TitleOf needs.
var TitleFields = []string{"id", "name", "code", "uniqueTag"}

// TitleOf returns the code and name by which a listed record is searched; a package's tag is its code.
func TitleOf(r Record) (code, name string) {
	switch r := r.(type) {
	case *Course:
		return r.Code, r.Name
	case *Program:
		return ValueOr(r.Code, ""), r.Name
	case *Credential:
		return ValueOr(r.Code, ""), r.Name
	case *Job:
		return "", r.Name
	case *TransferPackage:
		return ValueOr(r.UniqueTag, ""), r.Name
	}
	panic("catalog: records of kind " + string(KindOf(r)) + " cannot be searched")
}
