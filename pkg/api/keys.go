package api

import (
	"path"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// A Partition is the pattern of the partition keys of a kind of row: words separated by #, with * for each value. IAM
// policies grant access by the same patterns (dynamodb:LeadingKeys). Package dynamo documents the rows in keys.go.
type Partition string

// The partitions of an organization, except those of its records.
const (
	EvidenceRows    Partition = "o#*#evidence"
	TextRows        Partition = "o#*#text"
	DocumentRows    Partition = "o#*#document" // of outcomes, by the text that they are of
	DirectoryRows   Partition = "o#*#directory"
	JournalRows     Partition = "o#*#journal"
	AnswerRows      Partition = "o#*#answer"      // of idempotency records
	ReservationRows Partition = "o#*#reservation" // of courses and documents, by changes larger than a transaction
	ExternalRows    Partition = "o#*#external#*"
	CTIDRows        Partition = "o#*#ctid"
	CodeRows        Partition = "o#*#code#Course"
	WebhookRows     Partition = "o#*#webhooks"
	MessageRows     Partition = "o#*#message#*" // of webhooks, by webhook
	AttemptRows     Partition = "o#*#attempt#*" // at delivering them, by webhook
	FacetRows       Partition = "o#*#facet#*"
	ApprovedRows    Partition = "o#*#approved" // articulations, by what they are looked up by
	HistoryRows     Partition = "o#*#history"  // of articulations
	ImportRows      Partition = "o#*#import"   // details of imports and their rejected rows
	MapRows         Partition = "o#*#map#*"    // decisions on the map of a program
)

// The partitions that belong to no organization.
const (
	OrganizationRows Partition = "organizations"
	CustomerRows     Partition = "customers"
	CustomerKeyRows  Partition = "c#*#key"
	KeyRows          Partition = "k#*"
	HandleRows       Partition = "h#*"
	LinkRows         Partition = "l#*"
	UnitRows         Partition = "u#*"
	DataVersionRows  Partition = "r"
	DataRows         Partition = "r#*#*"
)

// RecordRows returns the partition of the live records of a kind. Nested kinds have a partition for each parent.
func RecordRows(kind catalog.Kind) Partition {
	rows := Partition("o#*#" + string(kind))
	if kind.Nested() {
		rows += "#*"
	}
	return rows
}

// Deleted returns the partition of deleted records.
func (p Partition) Deleted() Partition { return p + "!" }

// Key returns the partition key for values, one for each *. It panics if their number differs.
func (p Partition) Key(values ...string) string {
	var key strings.Builder
	rest := string(p)
	for _, value := range values {
		before, after, ok := strings.Cut(rest, "*")
		if !ok {
			panic("the partition " + string(p) + " takes fewer values")
		}
		key.WriteString(before)
		key.WriteString(value)
		rest = after
	}
	if strings.Contains(rest, "*") {
		panic("the partition " + string(p) + " takes more values")
	}
	key.WriteString(rest)
	return key.String()
}

// Organization returns the organization in a key of the partition, which must have no other value. It returns false for
// other keys.
func (p Partition) Organization(key string) (catalog.OrgID, bool) {
	before, after, _ := strings.Cut(string(p), "*")
	rest, begins := strings.CutPrefix(key, before)
	org, ends := strings.CutSuffix(rest, after)
	return catalog.OrgID(org), begins && ends && org != "" && !strings.Contains(org, "#")
}

// Holds reports whether a key matches the partition. As in IAM, * also matches #, so that permission to write courses
// includes their external ids and codes.
func (p Partition) Holds(key string) bool {
	held, err := path.Match(string(p), key)
	return err == nil && held
}

// Rows are the partitions that a function may read and write. Write permission includes read permission.
type Rows struct{ Reads, Writes []Partition }

// MayRead reports whether rows with a partition key may be read.
func (r Rows) MayRead(key string) bool { return r.MayWrite(key) || holds(r.Reads, key) }

// MayWrite reports whether rows with a partition key may be written.
func (r Rows) MayWrite(key string) bool { return holds(r.Writes, key) }

func holds(partitions []Partition, key string) bool {
	return slices.ContainsFunc(partitions, func(p Partition) bool { return p.Holds(key) })
}

// RowsOf returns the rows that a function may access: for every group, those of callers and quotas; for groups that
// write, those of idempotency, the change feed and lists; and its own. Only operators write customers, keys and
// reference data.
func RowsOf(function string) Rows {
	// What records in CTDL are made from, and CTIDs are found in.
	published := []Partition{
		OrganizationRows, RecordRows(catalog.CourseKind), RecordRows(catalog.SectionKind), RecordRows(catalog.ProgramKind),
		RecordRows(catalog.CredentialKind), RecordRows(catalog.ArticulationKind), RecordRows(catalog.OutcomeListKind),
	}
	live, data := RecordRows, []Partition{DataVersionRows, DataRows}
	// all lists the partitions of live and of deleted records.
	all := func(kinds ...catalog.Kind) (of []Partition) {
		for _, kind := range kinds {
			of = append(of, live(kind), live(kind).Deleted())
		}
		return of
	}
	imported := []Partition{
		live(catalog.CourseKind), live(catalog.SectionKind), live(catalog.ProgramKind), live(catalog.CredentialKind),
		live(catalog.JobKind),
	}
	caller := Rows{Reads: []Partition{KeyRows, CustomerRows}, Writes: []Partition{UnitRows}}
	writer := Rows{Reads: caller.Reads, Writes: []Partition{UnitRows, AnswerRows, JournalRows, DirectoryRows}}
	switch function {
	case string(Courses):
		return writer.reading(published...).
			writing(all(catalog.OutcomeListKind)...).writing(EvidenceRows).
			reading(FacetRows). // of articulations, which keep what they grant
			writing(all(catalog.CourseKind, catalog.SectionKind)...).writing(ReservationRows).
			writing(live(catalog.DocumentKind), CTIDRows) // a document keeps what holds it
	case string(Jobs):
		return writer.writing(all(catalog.JobKind)...)
	case string(Credentials):
		// A course keeps what holds it.
		return writer.reading(published...).
			reading(live(catalog.JobKind)).
			writing(all(catalog.CredentialKind)...).writing(live(catalog.CourseKind), ReservationRows, CTIDRows)
	case string(Programs):
		return writer.reading(published...).
			reading(data...).reading(EvidenceRows).
			writing(all(catalog.ProgramKind)...).writing(CTIDRows, live(catalog.CourseKind), ReservationRows).
			writing(all(catalog.OutcomeListKind)...).writing(MapRows)
	case string(Transfers):
		return writer.
			reading(live(catalog.CourseKind), live(catalog.SectionKind), EvidenceRows).
			reading(live(catalog.ArticulationKind), ApprovedRows).
			writing(all(catalog.TransferPackageKind, catalog.TransferCourseKind)...).
			writing(live(catalog.DocumentKind), ReservationRows)
	case string(Articulations):
		// A course counts how often it is granted.
		return writer.reading(published...).
			reading(live(catalog.TransferPackageKind), live(catalog.TransferCourseKind), EvidenceRows).
			writing(all(catalog.ArticulationKind)...).writing(FacetRows, ApprovedRows, HistoryRows).
			writing(live(catalog.CourseKind), LinkRows, CTIDRows)
	case string(Reports):
		return writer.
			reading(live(catalog.CourseKind), live(catalog.SectionKind), live(catalog.JobKind), OrganizationRows).
			reading(data...).reading(live(catalog.OutcomeListKind), EvidenceRows).
			writing(all(catalog.ReportKind)...).writing(LinkRows).
			writing(live(catalog.ProgramKind), MapRows)
	case string(Registry):
		return caller.reading(published...).reading(JournalRows, DirectoryRows, HandleRows)
	case string(Labor):
		return caller.reading(data...)
	case string(Docs):
		return caller
	case string(Extractions):
		return writer.
			reading(EvidenceRows, live(catalog.DocumentKind), live(catalog.CourseKind), live(catalog.SectionKind)).
			writing(live(catalog.SyllabusExtractionKind), TextRows)
	case string(Documents):
		return writer.
			reading(live(catalog.SectionKind), live(catalog.TransferCourseKind)).
			writing(all(catalog.DocumentKind)...).writing(ReservationRows)
	case string(Imports):
		// Courses and documents keep what holds them.
		return writer.reading(published...).
			reading(data...).
			writing(imported...).
			writing(live(catalog.DocumentKind), ReservationRows, CTIDRows).
			writing(all(catalog.ImportKind)...).writing(ImportRows)
	case Importer:
		return Rows{}.
			reading(data...).reading(EvidenceRows).reading(published...).
			writing(JournalRows, DirectoryRows, ReservationRows, live(catalog.ImportKind), ImportRows).
			writing(imported...).
			writing(live(catalog.TransferPackageKind), live(catalog.TransferCourseKind), live(catalog.DocumentKind)).
			writing(live(catalog.OutcomeListKind), MapRows).
			writing(live(catalog.ArticulationKind), FacetRows, ApprovedRows, HistoryRows, CTIDRows)
	case string(Webhooks):
		return caller.reading(JournalRows, AttemptRows).writing(AnswerRows, WebhookRows, MessageRows)
	case string(Customers):
		return caller.reading(JournalRows, OrganizationRows).reading(data...)
	case Deliverer:
		return Rows{}.reading(JournalRows).writing(WebhookRows, MessageRows, AttemptRows)
	case Extractor:
		return Rows{}.reading(live(catalog.DocumentKind)).
			writing(live(catalog.CourseKind)).                                 // which counts the skills of its sections
			writing(live(catalog.OutcomeListKind), live(catalog.ProgramKind)). // whose changes those of its outcomes are
			writing(live(catalog.SectionKind), live(catalog.TransferCourseKind), live(catalog.SyllabusExtractionKind)).
			writing(EvidenceRows, TextRows, DocumentRows, JournalRows)
	case Sweeper:
		// It finishes deletions that broke off, of what courses and packages own, and
		// deletes documents whose file never came.
		return Rows{}.
			writing(live(catalog.ProgramKind), live(catalog.OutcomeListKind), EvidenceRows). // of unreadable outcomes
			writing(all(catalog.CourseKind, catalog.SectionKind, catalog.TransferCourseKind, catalog.DocumentKind)...).
			writing(all(catalog.ImportKind)...).
			writing(live(catalog.TransferPackageKind).Deleted(), live(catalog.SyllabusExtractionKind), JournalRows)
	}
	panic("no function " + function)
}

func (r Rows) reading(partitions ...Partition) Rows {
	return Rows{slices.Concat(r.Reads, partitions), r.Writes}
}

func (r Rows) writing(partitions ...Partition) Rows {
	return Rows{r.Reads, slices.Concat(r.Writes, partitions)}
}
