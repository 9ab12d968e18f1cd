package catalog

// Link gives access to the page of one record without an API key to anyone with its token. It ends when it expires,
// with the record, and with the key that created it. Only the hash of the token is stored.
type Link struct {
	Hash           string `json:"hash"`
	OrganizationID OrgID  `json:"organizationId"`
	Kind           Kind   `json:"kind"`
	RecordID       string `json:"recordId"`
	KeyHash        string `json:"keyHash"` // of the key that made it
	ValidUntil     Time   `json:"validUntil"`
}

// Shows reports whether the link gives access to the page of a record at an instant. key is
// the one that created it, nil if it no longer exists.
func (l *Link) Shows(kind Kind, id string, key *Key, now Time) bool {
	return l.Kind == kind && l.RecordID == id && now < l.ValidUntil && key != nil && key.Live(now)
}

// LinkInput is the input for a link.
type LinkInput struct {
	ExpiresInSeconds int `json:"expiresInSeconds" minimum:"60" maximum:"604800" doc:"Seconds until the link expires: a minute to a week"`
}

// LinkedPage is the response to creating a link, and the only one with its token.
type LinkedPage struct {
	URL       string `json:"url" format:"uri-reference" doc:"URL of the page, which works without an API key"`
	ExpiresAt Time   `json:"expiresAt" doc:"When the link expires, unless its record is deleted or the API key that created it ends earlier"`
}
