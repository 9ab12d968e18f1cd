package api

// Files are the permissions of a function on the files of documents in object storage, and on the files of the rows
// that imports rejected.
type Files struct{ Signs, Lists, Reads, Removes, WritesRejects, ReadsRejects, RemovesRejects bool }

// RejectsPattern matches the keys of files of rejected rows below their organization's prefix.
const RejectsPattern = "*/imp_*"

// FilesOf returns the permissions of a function.
func FilesOf(function string) Files {
	switch function {
	case string(Documents):
		return Files{Signs: true, Lists: true, Removes: true}
	case string(Courses), string(Transfers), string(Extractions):
		return Files{Lists: true}
	case string(Imports):
		return Files{Lists: true, ReadsRejects: true, RemovesRejects: true}
	case Importer:
		return Files{Lists: true, Reads: true, WritesRejects: true}
	case Extractor:
		return Files{Lists: true, Reads: true}
	case Sweeper:
		return Files{Lists: true, Removes: true}
	}
	return Files{}
}
