package catalog

import (
	"strings"
	"unicode"
)

// Document is a syllabus file. Clients upload it to object storage, which accepts only the
// bytes with this size and checksum.
type Document struct {
	Meta
	FileName  string `json:"fileName" doc:"Name of the file"`
	SizeBytes int    `json:"sizeBytes" minimum:"1" maximum:"26214400" doc:"Size of the file in bytes, at most 25 MiB"`
	SHA256    string `json:"sha256" pattern:"^[0-9a-f]{64}$" doc:"SHA-256 of the file's bytes, in lower-case hexadecimal digits"`
	// HeldBy has at least the sections and transfer courses that hold the document (see
	// DocumentHolding), perhaps more. It is hidden from clients.
	HeldBy []string `json:"-" store:"heldBy,stringset,omitempty,guard"`
}

// DocumentInput is the input for a document, which is immutable.
type DocumentInput struct {
	FileName  Optional[string] `json:"fileName" minLength:"1" maxLength:"255"`
	SizeBytes Optional[int]    `json:"sizeBytes" minimum:"1" maximum:"26214400"`
	SHA256    Optional[string] `json:"sha256" pattern:"^[0-9A-Fa-f]{64}$" doc:"SHA-256 of the file's bytes, in hexadecimal digits of either case"`
}

// Apply sets the fields of a new document.
func (in DocumentInput) Apply(d *Document, l Lookups) []FieldError {
	d.FileName, d.SizeBytes = in.FileName.Or(d.FileName), in.SizeBytes.Or(d.SizeBytes)
	d.SHA256 = strings.ToLower(in.SHA256.Or(d.SHA256))
	if strings.ContainsFunc(d.FileName, unicode.IsControl) {
		return []FieldError{{l.at("fileName"), "must not contain control characters", d.FileName}}
	}
	return nil
}

// DocumentStatus tells whether the file of a document was uploaded.
type DocumentStatus string

// The states of a document.
const (
	AwaitingUpload DocumentStatus = "AWAITING_UPLOAD"
	Ready          DocumentStatus = "READY"
)

// Upload is the request that uploads a document's file, to be sent exactly as given with the
// file as its body, before it expires.
type Upload struct {
	Method    string            `json:"method" enum:"PUT" doc:"Method of the request"`
	URL       string            `json:"url" format:"uri" doc:"URL of the request; signed for exactly this size and checksum"`
	Headers   map[string]string `json:"headers" doc:"Headers that the request must have, by name"`
	ExpiresAt Time              `json:"expiresAt" doc:"When the request expires, 15 minutes after it was signed"`
}

// MaxDocumentBytes is the maximum size of a file.
const MaxDocumentBytes = 25 << 20

// UploadTTL is the validity of an upload request, and DocumentTTL the time that a document waits for its file, in ms.
const (
	UploadTTL   = 15 * 60 * 1000
	DocumentTTL = 24 * 60 * 60 * 1000
)

// UploadTime returns the validity, in whole seconds, of an upload request made now. It ends
// with the document's wait for its file at the latest; 0 means that the wait is over.
func (d *Document) UploadTime(now Time) int {
	return int(max(0, min(UploadTTL, d.CreatedAt+DocumentTTL-now)) / 1000)
}

// MaxDocumentHolders is the maximum number of records that hold one document.
const MaxDocumentHolders = 1000

// CheckHolders refuses another holder of a document that has as many as it may have.
func (d *Document) CheckHolders() error {
	if len(d.HeldBy) < MaxDocumentHolders {
		return nil
	}
	return Errorf(Conflict, "Document %s is already the syllabus of %d records.", d.ID, MaxDocumentHolders)
}

// HolderOf returns the name of a record as the holder of a document; see HolderRecord.
func HolderOf(r Record) string {
	return strings.Join([]string{string(KindOf(r)), ParentOf(r), r.Base().ID}, "/")
}

// HolderRecord parses the name of a holder into its kind, its parent's id and its own; kind is "" for an invalid name.
func HolderRecord(holder string) (kind Kind, parent, id string) {
	parts := strings.SplitN(holder, "/", 3)
	if len(parts) < 3 {
		return "", "", ""
	}
	return Kind(parts[0]), parts[1], parts[2]
}

// HeldDocument returns the id of the document that is a record's syllabus; "" for none.
func HeldDocument(r Record) string {
	if holder, ok := r.(interface{ heldDocument() *string }); ok {
		return ValueOr(holder.heldDocument(), "")
	}
	return ""
}

func (s *Section) heldDocument() *string        { return s.DocumentID }
func (c *TransferCourse) heldDocument() *string { return c.DocumentID }

// moveDocumentHold moves a record's hold to its present document. before is the previous document, "" for none.
func (c *Change) moveDocumentHold(before string, r Record) {
	now := HeldDocument(r)
	if before == now {
		return
	}
	if before != "" {
		c.holdDocument(r, before, true)
	}
	if now != "" {
		c.holdDocument(r, now, false)
	}
}

// holdDocument makes a record hold or release a document.
func (c *Change) holdDocument(r Record, id string, released bool) {
	org := r.Base().OrganizationID
	hold := effect(c, func(d *DocumentHolding) bool {
		return d.OrganizationID == org && d.DocumentID == id && d.Released == released
	}, func() *DocumentHolding { return &DocumentHolding{org, id, nil, released} })
	hold.Holders = append(hold.Holders, HolderOf(r))
}
