package catalog

import (
	"cmp"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// Organization owns records.
type Organization struct {
	ID        OrgID  `json:"id"`
	Name      string `json:"name"`
	CreatedAt Time   `json:"createdAt"`
	OrganizationFacts
}

// OrganizationFacts are what CTDL states about an organization. Empty ones are not known.
type OrganizationFacts struct {
	Description string `json:"description,omitempty"`
	Webpage     string `json:"webpage,omitempty"`
	AgentType   string `json:"agentType,omitempty"` // a concept of ceterms:OrganizationType without its prefix, such as TwoYear
	CTID        string `json:"ctid,omitempty"`      // "" for a derived one
	Language    string `json:"language,omitempty"`  // BCP 47; "" for DefaultLanguage
	Handle      string `json:"handle,omitempty"`    // names the organization in public addresses
	Publication bool   `json:"publication,omitempty"`
}

// DefaultLanguage is the language of an organization that states none.
const DefaultLanguage = "en-US"

// OrganizationInput is the input for an organization from its operator.
type OrganizationInput struct {
	Name, Description, Webpage, AgentType, CTID, Language, Handle *string // nil for those that stay
	Publication                                                   *bool
}

var (
	handleForm   = form(`^[a-z0-9-]{3,40}$`)
	languageForm = form(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)
	ctidForm     = form(`^ce-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
)

// CanBeHandle reports whether a name is a valid handle.
func CanBeHandle(name string) bool { return handleForm().MatchString(name) }

// form returns a pattern that is compiled when it is first used.
func form(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// MinDescription is the minimum length of a description in the Credential Registry, in characters.
const MinDescription = 15

// Apply sets the facts that the input has. agentType reports whether CTDL has the type of organizations.
func (in OrganizationInput) Apply(o *Organization, agentType func(name string) bool) error {
	var wrong []FieldError
	set := func(field string, given, fact *string, valid func(string) bool, message string) {
		if given == nil {
			return
		}
		if value := strings.TrimSpace(*given); valid(value) {
			*fact = value
		} else {
			wrong = append(wrong, FieldError{field, message, value})
		}
	}
	set("name", in.Name, &o.Name, func(s string) bool { return s != "" && utf8.RuneCountInString(s) <= 255 },
		"must be 1 to 255 characters")
	set("description", in.Description, &o.Description,
		func(s string) bool { return utf8.RuneCountInString(s) >= MinDescription }, "must be at least 15 characters")
	set("webpage", in.Webpage, &o.Webpage, isWebpage, "must be an https address without credentials")
	set("agentType", in.AgentType, &o.AgentType, func(s string) bool { return agentType(withoutPrefix(s)) },
		"must be a type of organizations in CTDL, such as orgType:TwoYear")
	o.AgentType = withoutPrefix(o.AgentType)
	set("language", in.Language, &o.Language, languageForm().MatchString, "must be a language tag such as en-US")
	set("handle", in.Handle, &o.Handle, CanBeHandle, "must be 3 to 40 characters of a to z, 0 to 9 and -")
	set("ctid", in.CTID, &o.CTID, func(s string) bool { return ctidForm().MatchString(s) && cmp.Or(o.CTID, s) == s },
		"must be ce- and a UUID of version 4 in lower case; it can be set once")
	o.Publication = ValueOr(in.Publication, o.Publication)
	if o.Publication && o.Handle == "" {
		wrong = append(wrong, FieldError{Location: "handle", Message: "is required with publication on"})
	}
	if wrong != nil {
		return Invalid(wrong...)
	}
	return nil
}

func withoutPrefix(agentType string) string { return strings.TrimPrefix(agentType, "orgType:") }

// MissingFacts lists the facts without which the organization and its records cannot be described in CTDL.
func (o *Organization) MissingFacts() []string {
	missing := []string{}
	for _, fact := range []struct{ name, value string }{
		{"name", o.Name}, {"description", o.Description}, {"webpage", o.Webpage}, {"agentType", o.AgentType},
		{"handle", o.Handle},
	} {
		if fact.value == "" {
			missing = append(missing, fact.name)
		}
	}
	return missing
}

// RegistryID returns the organization's CTID.
func (o *Organization) RegistryID() string { return cmp.Or(o.CTID, DerivedCTID(string(o.ID))) }

// LanguageTag returns the language of the organization's texts.
func (o *Organization) LanguageTag() string { return cmp.Or(o.Language, DefaultLanguage) }
