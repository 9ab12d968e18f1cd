package catalog

import "strings"

// Document is a file that holds a syllabus: clients upload it to the storage of
// objects, which takes these bytes and no others.
type Document struct {
	Meta
	FileName  string `json:"fileName" doc:"Name of the file"`
	SizeBytes int    `json:"sizeBytes" minimum:"1" maximum:"26214400" doc:"Size of the file in bytes, at most 25 MiB"`
	SHA256    string `json:"sha256" pattern:"^[0-9a-f]{64}$" doc:"SHA-256 of the file's bytes, in lower-case hexadecimal digits"`
	// HeldBy names the sections and transfer courses whose syllabus it is (see
	// DocumentHold); it may name more than that, never less. Only the store shows it.
	HeldBy []string `json:"-"`
}

// DocumentInput is what a request says of a document, which does not change once it
// is there.
type DocumentInput struct {
	FileName  Optional[string] `json:"fileName" minLength:"1" maxLength:"255"`
	SizeBytes Optional[int]    `json:"sizeBytes" minimum:"1" maximum:"26214400"`
	SHA256    Optional[string] `json:"sha256" pattern:"^[0-9A-Fa-f]{64}$" doc:"SHA-256 of the file's bytes, in hexadecimal digits of either case"`
}

// Apply sets the fields of a new document.
func (in DocumentInput) Apply(d *Document, _ Lookups) []FieldError {
	d.FileName, d.SizeBytes = in.FileName.Or(d.FileName), in.SizeBytes.Or(d.SizeBytes)
	d.SHA256 = strings.ToLower(in.SHA256.Or(d.SHA256))
	return nil
}

// DocumentStatus reports whether the file of a document is there.
type DocumentStatus string

// The states of a document.
const (
	AwaitingUpload DocumentStatus = "AWAITING_UPLOAD"
	Ready          DocumentStatus = "READY"
)

// Upload is the one request that uploads a document's file, to be sent as it stands
// here with the file as its body, before it expires.
type Upload struct {
	Method    string            `json:"method" enum:"PUT" doc:"Method of the request"`
	URL       string            `json:"url" format:"uri" doc:"Where the request goes; signed for exactly this size and checksum"`
	Headers   map[string]string `json:"headers" doc:"Headers that the request must have, by name"`
	ExpiresAt Time              `json:"expiresAt" doc:"When the request ends to be valid, 15 minutes after it was signed"`
}

// MaxDocumentBytes is how large a file may be.
const MaxDocumentBytes = 25 << 20

// How long, in ms, an upload may be begun, and how long a document waits for its file.
const (
	UploadTTL   = 15 * 60 * 1000
	DocumentTTL = 24 * 60 * 60 * 1000
)

// UploadTime returns how long, in whole seconds, an upload is valid that is asked for
// now: it does not outlive the document's wait for it. 0 means that the wait is over.
func (d *Document) UploadTime(now Time) int {
	return int(max(0, min(UploadTTL, d.CreatedAt+DocumentTTL-now)) / 1000)
}

// DocumentHold marks a document as the syllabus of a record, so that it cannot be
// deleted under it, or no longer as that.
type DocumentHold struct {
	DocumentID string
	Holder     string // see HolderOf
	Released   bool
}

// MaxDocumentHolders is how many records name one document.
const MaxDocumentHolders = 1000

// HolderOf returns the name by which a document knows a record; see HolderRecord.
func HolderOf(r Record) string {
	return strings.Join([]string{string(KindOf(r)), ParentOf(r), r.Base().ID}, "/")
}

// HolderRecord returns the kind of a holder, its parent's id and its own; no kind for
// what is no holder's name.
func HolderRecord(holder string) (kind Kind, parent, id string) {
	parts := strings.SplitN(holder, "/", 3)
	if len(parts) < 3 {
		return "", "", ""
	}
	return Kind(parts[0]), parts[1], parts[2]
}

// HeldDocument returns the id of the document that a record holds as its syllabus;
// "" for none, and for a record of a kind that holds none.
func HeldDocument(r Record) string {
	if holder, ok := r.(interface{ heldDocument() *string }); ok {
		if id := holder.heldDocument(); id != nil {
			return *id
		}
	}
	return ""
}

func (s *Section) heldDocument() *string        { return s.DocumentID }
func (c *TransferCourse) heldDocument() *string { return c.DocumentID }

// syllabusMoved notes that a record has another document than before, "" for none.
func (c *Change) syllabusMoved(before string, r Record) {
	now := HeldDocument(r)
	if before == now {
		return
	}
	if before != "" {
		c.Documents = append(c.Documents, DocumentHold{before, HolderOf(r), true})
	}
	if now != "" {
		c.Documents = append(c.Documents, DocumentHold{now, HolderOf(r), false})
	}
}
