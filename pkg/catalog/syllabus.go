package catalog

// SyllabusText is the text of a syllabus, as readers return it and the extractor takes it: valid UTF-8 in NFC, lines
// that end in \n, one block (heading, paragraph, list item, table row) per line, without markup characters and
// trailing spaces, at most one empty line between blocks.
type SyllabusText struct {
	Text string
	// Pages has the byte offset in Text of each page; nil for formats without pages.
	Pages []int
	// SHA256 is the digest of the document's bytes in lower-case hex.
	SHA256 string
}

// Evidence shows why a skill was found. Quote is the document's text from Start to End, in Unicode code points. Page
// counts from 1 and is 1 for formats without pages.
type Evidence struct {
	SkillID string `json:"skillId"`
	Quote   string `json:"quote" doc:"Words of the text in which the skill was found"`
	Page    int    `json:"page" doc:"Page of the document with the words, from 1; 1 for formats without pages"`
	Start   int    `json:"start" doc:"Start of the words in the extracted text, in Unicode code points from 0"`
	End     int    `json:"end" doc:"End of the words in the extracted text, in Unicode code points, exclusive"`
	Label   string `json:"label" doc:"The taxonomy's label that matched"`
	Verb    string `json:"verb" doc:"The verb that decided the level, empty for none"`
	Section string `json:"section" doc:"The part of the syllabus: outcomes, topics, description, readings, other"`
}

// Provenance describes how an extraction was made.
type Provenance struct {
	Engine          string `json:"engine" doc:"Extractor, with its version"`
	Taxonomy        string `json:"taxonomy" doc:"Name of the taxonomy"`
	TaxonomyVersion string `json:"taxonomyVersion" doc:"Version of the taxonomy"`
	Source          Source `json:"source,omitempty" doc:"What was read: a syllabus, or a name and description; absent for extractions from before it was kept"`
	DocumentSHA256  string `json:"documentSha256,omitempty" doc:"SHA-256 of the bytes that were read, in lower-case hexadecimal digits; absent if none were, as for outcomes"`
	FinishedAt      Time   `json:"finishedAt" doc:"When the extraction finished"`
}

// FailureCode is the reason why an extraction failed.
type FailureCode string

// The failure codes. Unreachable, Timeout and Internal are transient: the job is retried before they are final.
const (
	Unreachable      FailureCode = "unreachable"
	DocumentNotFound FailureCode = "not_found"
	ForbiddenAddress FailureCode = "forbidden_address"
	LoginRequired    FailureCode = "login_required"
	UnsupportedType  FailureCode = "unsupported_type"
	TooLarge         FailureCode = "too_large"
	Encrypted        FailureCode = "encrypted"
	ScannedNoText    FailureCode = "scanned_no_text"
	Malformed        FailureCode = "malformed"
	EmptyDocument    FailureCode = "empty"
	TimedOut         FailureCode = "timeout"
	InternalFailure  FailureCode = "internal"
)

// FailureCodes lists all failure codes.
func FailureCodes() []FailureCode {
	return []FailureCode{
		Unreachable, DocumentNotFound, ForbiddenAddress, LoginRequired, UnsupportedType, TooLarge, Encrypted,
		ScannedNoText, Malformed, EmptyDocument, TimedOut, InternalFailure,
	}
}

// Transient reports whether a later attempt at the same document may succeed.
func (c FailureCode) Transient() bool {
	return c == Unreachable || c == TimedOut || c == InternalFailure
}

// Failure is an extraction's failure as clients see it. Message never contains anything from the fetched server.
type Failure struct {
	Code    FailureCode `json:"code" doc:"Kind of the failure; stable"`
	Message string      `json:"message" doc:"Explanation for people; the wording may change"`
}

// Error implements error, for readers and fetchers.
func (f *Failure) Error() string { return string(f.Code) + ": " + f.Message }
