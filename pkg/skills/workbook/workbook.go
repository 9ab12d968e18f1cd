// Package workbook reads the workbooks of a taxonomy's source. It is separate from package
// skills so that Lambda functions, which read none, do not link its dependencies.
package workbook

import (
	"bytes"

	"github.com/xuri/excelize/v2"
)

// maxUnpacked limits the unpacked size of a workbook, in bytes.
const maxUnpacked = 256 << 20

// Rows returns the cells of a workbook's first sheet (xlsx), line by line.
func Rows(file []byte) ([][]string, error) {
	book, err := excelize.OpenReader(bytes.NewReader(file), excelize.Options{UnzipSizeLimit: maxUnpacked})
	if err != nil {
		return nil, err
	}
	defer func() { _ = book.Close() }()
	return book.GetRows(book.GetSheetName(0))
}
