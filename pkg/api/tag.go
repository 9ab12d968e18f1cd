package api

import "slices"

// Tag is a subject under which readers of the document find operations.
type Tag struct {
	Name, Description string
	Groups            []Group
}

var tags = []Tag{
	{"Catalog", "Courses and their sections: what is taught, with the skills that it teaches.", []Group{Courses}},
	{"Credentials and programs", "Stackable credentials, which hold sections, and programs, which order courses.", []Group{Credentials, Programs}},
	{"Jobs and labor market", "Jobs of the organization with the skills that they require, and official figures of occupations.", []Group{Jobs, Labor}},
	{"Transfer", "Courses that students bring from other institutions, and the sections that they are equivalent to.", []Group{Transfers}},
	{"Articulations", "What courses of other institutions are worth here, as it was decided, and look-ups of it.", []Group{Articulations}},
	{"Extraction", "Skills from syllabi, and the taxonomy that they are of.", []Group{Extractions}},
	{"Documents", "Uploads of syllabi that have no public address.", []Group{Documents}},
	{"Batches and imports", "Many records at a time, by externalId.", []Group{Imports}},
	{"Reports", "Courses compared with jobs and skills, generated anew at each read.", []Group{Reports}},
	{"Webhooks", "Addresses that are told of changes, and what became of the messages.", []Group{Webhooks}},
	{"Usage and changes", "What a customer has used, every change of the organization's records, and the contract itself.", []Group{Customers, Docs}},
}

// Tags lists the tags in the order in which readers want them.
func Tags() []Tag { return slices.Clone(tags) }

// Tag returns the tag of the group's operations; it panics for a group that has none.
func (g Group) Tag() Tag {
	i := slices.IndexFunc(tags, func(t Tag) bool { return slices.Contains(t.Groups, g) })
	if i < 0 {
		panic("no tag has the group " + string(g))
	}
	return tags[i]
}
