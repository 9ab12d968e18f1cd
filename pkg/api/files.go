package api

// Files is what a function may do with the files of documents, which lie in object
// storage, each under its organization.
type Files struct{ Signs, Lists, Reads, Removes bool }

// FilesOf returns what a function may do with files. Only one signs uploads, and only
// one reads what was uploaded; the others see that it is there.
func FilesOf(function string) Files {
	switch function {
	case string(Documents):
		return Files{Signs: true, Lists: true, Removes: true}
	case string(Courses), string(Transfers), string(Extractions), string(Imports):
		return Files{Lists: true}
	case Extractor:
		return Files{Lists: true, Reads: true}
	case Sweeper:
		return Files{Lists: true, Removes: true}
	}
	return Files{}
}
