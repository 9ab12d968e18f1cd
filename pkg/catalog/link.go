package catalog

// Link lets whoever has its token see the page of one record without an API key. It
// ends by itself, with the record, and with the key that made it. Stored is the hash
// of the token, never the token itself.
type Link struct {
	Hash           string `json:"hash"`
	OrganizationID OrgID  `json:"organizationId"`
	Kind           Kind   `json:"kind"`
	RecordID       string `json:"recordId"`
	KeyHash        string `json:"keyHash"` // of the key that made it
	ValidUntil     Time   `json:"validUntil"`
}

// Shows reports whether the link shows the page of a record at an instant. key is the
// one that made it, nil where there is none any more.
func (l *Link) Shows(kind Kind, id string, key *Key, now Time) bool {
	return l.Kind == kind && l.RecordID == id && now < l.ValidUntil && key != nil && key.Live(now)
}

// LinkInput is what a request says of a link.
type LinkInput struct {
	ExpiresInSeconds int `json:"expiresInSeconds" minimum:"60" maximum:"604800" doc:"Seconds after which the link shows nothing any more: a minute to a week"`
}

// LinkedPage is the response to making a link; the only one that holds its token.
type LinkedPage struct {
	URL       string `json:"url" format:"uri-reference" doc:"Address of the page, for anybody who has it: it needs no API key"`
	ExpiresAt Time   `json:"expiresAt" doc:"when the link ends, unless its record or the API key that made it does before"`
}
