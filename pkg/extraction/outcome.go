package extraction

import (
	"context"

	"skillscurriculum/pkg/catalog"
)

// Statement reads the statement of one outcome as a syllabus whose only block it is, in the part of the outcomes.
// It returns the context's error when the context ends.
func (e *Extractor) Statement(ctx context.Context, statement string) (catalog.StatementResult, error) {
	x := e.begin(statement, []block{{end: len(statement), section: outcomes, words: wordCount(statement)}})
	defer e.end(x)
	found, err := x.extract(ctx, catalog.SyllabusText{Text: statement})
	r := catalog.StatementResult{Skills: found.Skills, Evidence: found.Evidence}
	r.Level, r.LevelSource, r.Verb = promise(statement)
	return r, err
}
