package api

import "slices"

// Tag is a group of operations in the OpenAPI document.
type Tag struct {
	Name, Description string
	Groups            []Group
}

var tags = []Tag{
	{"Catalog", "Courses and their sections, with the skills they teach.", []Group{Courses}},
	{"Credentials and programs", "Stackable credentials, made of sections, and programs, made of courses.",
		[]Group{Credentials, Programs}},
	{"Jobs and labor market", "Jobs of the organization with the skills they require, and " +
		"official figures for occupations.", []Group{Jobs, Labor}},
	{"Transfer", "Courses that students bring from other institutions, and their equivalent sections.",
		[]Group{Transfers}},
	{"Articulations", "Decisions on what courses of other institutions count as, and look-ups.", []Group{Articulations}},
	{"Extraction", "Skills extracted from syllabi, and their taxonomy.", []Group{Extractions}},
	{"Documents", "Uploads of syllabi that have no public address.", []Group{Documents}},
	{"Batches and imports", "Many records at a time, by externalId.", []Group{Imports}},
	{"Reports", "Comparisons of courses with jobs and skills, generated when they are read.", []Group{Reports}},
	{"Webhooks", "URLs that are notified of changes, and the deliveries of messages.", []Group{Webhooks}},
	{"Credential Registry", "The catalog as linked data in CTDL, what it lacks for the Credential " +
		"Registry, and what is public.", []Group{Registry}},
	{"Usage and changes", "The caller's key and usage, the organization's change feed, and this document.",
		[]Group{Customers, Docs}},
}

// Tags lists the tags in reading order.
func Tags() []Tag { return slices.Clone(tags) }

// Tag returns the group's tag. It panics if there is none.
func (g Group) Tag() Tag {
	i := slices.IndexFunc(tags, func(t Tag) bool { return slices.Contains(t.Groups, g) })
	if i < 0 {
		panic("no tag for group " + string(g))
	}
	return tags[i]
}
