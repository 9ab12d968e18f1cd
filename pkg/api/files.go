package api

// Files are the permissions of a function on the files of documents in object storage.
type Files struct{ Signs, Lists, Reads, Removes bool }

// FilesOf returns the permissions of a function.
func FilesOf(function string) Files {
	switch function {
	case string(Documents):
		return Files{Signs: true, Lists: true, Removes: true}
	case string(Courses), string(Transfers), string(Extractions):
		return Files{Lists: true}
	case Extractor:
		return Files{Lists: true, Reads: true}
	case Sweeper:
		return Files{Lists: true, Removes: true}
	}
	return Files{}
}
