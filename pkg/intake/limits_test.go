package intake

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"skillscurriculum/infra/heap"
	"skillscurriculum/pkg/catalog"
)

// part of a workbook.
type packed struct {
	name string
	text io.Reader
}

// repeated returns before, n times the unit and after.
func repeated(before, unit string, n int, after string) io.Reader {
	const chunk = 1 << 12
	many := strings.Repeat(unit, chunk)
	var parts []io.Reader
	parts = append(parts, strings.NewReader(before))
	for ; n >= chunk; n -= chunk {
		parts = append(parts, strings.NewReader(many))
	}
	parts = append(parts, strings.NewReader(strings.Repeat(unit, n)), strings.NewReader(after))
	return io.MultiReader(parts...)
}

func archiveOf(t testing.TB, entries ...packed) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestSpeed) })
	for _, e := range entries {
		f, err := w.Create(e.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(f, e.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const (
	sheetHead = `<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>` +
		`<row r="1"><c r="A1" t="inlineStr"><is><t>code</t></is></c><c r="B1" t="inlineStr"><is><t>name</t></is></c></row>`
	sheetTail = `</sheetData></worksheet>`
)

// workbook returns a workbook of one sheet; other parts replace or join its own.
func workbook(t testing.TB, sheet io.Reader, others ...packed) []byte {
	t.Helper()
	const relationships = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	entries := []packed{
		{"[Content_Types].xml", strings.NewReader(`<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/>` +
			`<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>`)},
		{"_rels/.rels", strings.NewReader(`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="` + relationships + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`)},
		{"xl/workbook.xml", strings.NewReader(`<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="` + relationships + `"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>`)},
		{"xl/_rels/workbook.xml.rels", strings.NewReader(`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="` + relationships + `/worksheet" Target="worksheets/sheet1.xml"/>` +
			`<Relationship Id="r2" Type="` + relationships + `/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="r3" Type="` + relationships + `/styles" Target="styles.xml"/></Relationships>`)},
		{"xl/worksheets/sheet1.xml", sheet},
	}
	return archiveOf(t, append(entries, others...)...)
}

// Poisoned files fail with a code, in bounded memory, and leave no temporary files.
func TestPoison(t *testing.T) {
	const maxMemory = 96 << 20
	t.Setenv("TMPDIR", t.TempDir()) // other packages' tests leave files elsewhere
	const cell, cellEnd = sheetHead + `<row r="2"><c r="A2" t="inlineStr"><is><t>`, `</t></is></c></row>` + sheetTail
	var rows strings.Builder
	for i := 2; i <= 200_002; i++ {
		fmt.Fprintf(&rows, `<row r="%d"><c r="A%d"><v>%d</v></c><c r="B%d"><v>1</v></c></row>`, i, i, i, i)
	}
	formulas := excelize.NewFile()
	formula := strings.Repeat("SUM(A1:XFD1048576)+", 400) + "1"
	for i := 1; i <= 500; i++ {
		if err := errors.Join(formulas.SetCellValue("Sheet1", "A1", "code"), formulas.SetCellValue("Sheet1", "B1", "name"), formulas.SetCellValue("Sheet1", fmt.Sprintf("A%d", i+1), i), formulas.SetCellFormula("Sheet1", fmt.Sprintf("B%d", i+1), formula)); err != nil {
			t.Fatal(err)
		}
	}
	var formulaBomb, locked bytes.Buffer
	if err := formulas.Write(&formulaBomb); err != nil {
		t.Fatal(err)
	}
	if err := formulas.Write(&locked, excelize.Options{Password: "secret"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, file string
		content    func() []byte
		code       catalog.FailureCode
	}{
		{"a zip bomb of a table", "courses.zip", func() []byte {
			return archiveOf(t, packed{"courses.csv", repeated("code,name\n", "A,B\n", 150<<20, "")})
		}, catalog.TooLarge},
		{"a zip bomb of a sheet", "a.xlsx", func() []byte { return workbook(t, repeated(sheetHead, " ", 500<<20, sheetTail)) }, catalog.TooLarge},
		{"a zip bomb of a part that is not needed", "a.xlsx", func() []byte {
			return workbook(t, strings.NewReader(sheetHead+sheetTail), packed{"xl/media/image1.png", repeated("", "\x00", 700<<20, "")})
		}, catalog.EmptyDocument},
		{"a table of a billion columns", "a.csv", func() []byte { return bytes.Repeat([]byte(","), 25<<20) }, catalog.TooLarge},
		{"a table of 1,001 columns", "a.csv", func() []byte { return []byte("code,name" + strings.Repeat(",x", 999) + "\nA,B\n") }, catalog.TooLarge},
		{"a sheet of a billion columns", "a.xlsx", func() []byte {
			return workbook(t, repeated(sheetHead+`<row r="2">`, "<c/>", 100<<20/4, "</row>"+sheetTail))
		}, catalog.TooLarge},
		{"a sheet with one far cell in each row", "a.xlsx", func() []byte {
			return workbook(t, strings.NewReader(sheetHead+`<row r="2"><c r="XFD2"><v>1</v></c></row>`+sheetTail))
		}, catalog.TooLarge},
		{"a sheet with a far row", "a.xlsx", func() []byte {
			return workbook(t, strings.NewReader(sheetHead+`<row r="2000000000"><c><v>1</v></c></row>`+sheetTail))
		}, catalog.TooLarge},
		{"a sheet whose rows have one number", "a.xlsx", func() []byte {
			return workbook(t, repeated(sheetHead, `<row r="2"><c><v>1</v></c></row>`, 1<<20, sheetTail))
		}, catalog.Malformed},
		{"formulas", "a.xlsx", formulaBomb.Bytes, ""},
		{"200,001 lines", "a.csv", func() []byte { return append([]byte("code,name\n"), bytes.Repeat([]byte("A,B\n"), 200_001)...) }, catalog.TooLarge},
		{"200,001 rows", "a.xlsx", func() []byte { return workbook(t, strings.NewReader(sheetHead+rows.String()+sheetTail)) }, catalog.TooLarge},
		{"200,001 objects", "a.ndjson", func() []byte { return bytes.Repeat([]byte(`{"externalId":"C","name":"N","code":"C"}`+"\n"), 200_001) }, catalog.TooLarge},
		{"a cell of 25 MB", "a.csv", func() []byte { return append([]byte("code,name\nA,\""), bytes.Repeat([]byte("x\n"), 12<<20)...) }, catalog.TooLarge},
		{"a cell of 1 GB in an archive", "a.zip", func() []byte {
			return archiveOf(t, packed{"courses.csv", repeated("code,name\nA,\"", "x\n", 512<<20, "\"")})
		}, catalog.TooLarge},
		{"a cell of 1 GB in a sheet", "a.xlsx", func() []byte { return workbook(t, repeated(cell, "x", 1<<30, cellEnd)) }, catalog.TooLarge},
		{"a cell of 100 MB in a sheet", "a.xlsx", func() []byte { return workbook(t, repeated(cell, "x", 100<<20, cellEnd)) }, catalog.TooLarge},
		{"a comment of 100 MB in a sheet", "a.xlsx", func() []byte { return workbook(t, repeated(sheetHead+"<!--", "<row>", 20<<20, "-->"+sheetTail)) }, catalog.TooLarge},
		{"many texts", "a.xlsx", func() []byte {
			return workbook(t, strings.NewReader(sheetHead+sheetTail), packed{"xl/sharedStrings.xml", repeated(`<sst>`, "<si/>", 60<<20, "</sst>")})
		}, catalog.TooLarge},
		{"many styles", "a.xlsx", func() []byte {
			return workbook(t, strings.NewReader(sheetHead+sheetTail), packed{"xl/styles.xml", repeated(`<styleSheet><cellXfs>`, "<xf/>", 10<<20, "</cellXfs></styleSheet>")})
		}, catalog.TooLarge},
		{"many small styles", "a.xlsx", func() []byte {
			return workbook(t, strings.NewReader(sheetHead+sheetTail), packed{"xl/styles.xml", repeated(`<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs>`, "<xf/>", 800<<10, "</cellXfs></styleSheet>")})
		}, catalog.TooLarge},
		{"styles within the limit", "a.xlsx", func() []byte {
			return workbook(t, strings.NewReader(sheetHead+sheetTail), packed{"xl/styles.xml", repeated(`<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs>`, "<xf/>", 190_000, "</cellXfs></styleSheet>")})
		}, catalog.EmptyDocument},
		{"elements in each other", "a.xlsx", func() []byte { return workbook(t, repeated(sheetHead, "<a>", 30<<20, sheetTail)) }, catalog.TooLarge},
		{"an external entity", "a.xlsx", func() []byte {
			return workbook(t, strings.NewReader(`<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>`+strings.Replace(sheetHead, `<?xml version="1.0" encoding="UTF-8"?>`, "", 1)+
				`<row r="2"><c r="A2" t="inlineStr"><is><t>&e;</t></is></c></row>`+sheetTail))
		}, catalog.Malformed},
		{"entities that multiply", "a.xlsx", func() []byte {
			return workbook(t, strings.NewReader(sheetHead+sheetTail), packed{"xl/sharedStrings.xml", strings.NewReader(`<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><sst><si><t>&b;</t></si></sst>`)})
		}, catalog.Malformed},
		{"a broken sheet", "a.xlsx", func() []byte {
			return workbook(t, strings.NewReader(sheetHead+`<row r="2"><c r="A2"><v>1</v></c></row><row r="3"></c>`))
		}, catalog.Malformed},
		{"a locked workbook", "a.xlsx", locked.Bytes, catalog.Encrypted},
		{"an old workbook", "a.xls", func() []byte { return append([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), make([]byte, 4096)...) }, catalog.UnsupportedType},
		{"a PDF", "a.csv", func() []byte { return []byte("%PDF-1.7\n") }, catalog.UnsupportedType},
		{"an image", "a.csv", func() []byte { return []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR") }, catalog.UnsupportedType},
		{"a document", "a.xlsx", func() []byte {
			return archiveOf(t, packed{"[Content_Types].xml", strings.NewReader("<x/>")}, packed{"word/document.xml", strings.NewReader("<x/>")})
		}, catalog.UnsupportedType},
		{"half an archive", "a.xlsx", func() []byte { return workbook(t, strings.NewReader(sheetHead+sheetTail))[:300] }, catalog.Malformed},
		{"nothing", "a.csv", func() []byte { return nil }, catalog.EmptyDocument},
		{"a header only", "a.csv", func() []byte { return []byte("code,name\n") }, catalog.EmptyDocument},
		{"blank lines only", "a.csv", func() []byte { return []byte("\n\n,,,\n") }, catalog.EmptyDocument},
		{"unknown columns", "a.csv", func() []byte { return []byte("x,y\n1,2\n") }, catalog.UnknownLayout},
		{"a column too few", "a.csv", func() []byte { return []byte("code,y\n1,2\n") }, catalog.MissingColumns},
		{"a quote too few", "a.csv", func() []byte { return []byte("code,name\n1,\"2\n") }, catalog.Malformed},
		{"an object of 8 MB", "a.ndjson", func() []byte { return []byte(`{"name":"` + strings.Repeat("x", 8<<20) + `"}`) }, catalog.TooLarge},
		{"values in each other", "a.ndjson", func() []byte { return bytes.Repeat([]byte(`{"a":`), 200_000) }, catalog.Malformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			content := c.content()
			before := temporary(t)
			var err error
			peak := heap.Peak(func() {
				var f *File
				if f, err = Open(bytes.NewReader(content), c.file, Options{MaxRows: 200_000}); err == nil {
					for _, err = range f.Rows() {
						if err != nil {
							break
						}
					}
					err = errors.Join(err, f.Close())
				}
			})
			var failure *Failure
			if !errors.As(err, &failure) {
				failure = &Failure{}
			}
			if failure.Code != c.code || err != nil && failure.Code == "" {
				t.Errorf("error %v, code %q", err, failure.Code)
			}
			if peak > maxMemory {
				t.Errorf("%d MiB", peak>>20)
			}
			if after := temporary(t); after > before {
				t.Errorf("%d temporary files remain", after-before)
			}
			t.Logf("%s of %d KB: %d MiB: %v", c.name, len(content)>>10, peak>>20, err)
		})
	}
}

// temporary returns the number of the library's temporary files.
func temporary(t *testing.T) (n int) {
	t.Helper()
	files, err := os.ReadDir(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), "excelize-") {
			n++
		}
	}
	return n
}

// Columns that every kind of record has do not tell of what a table is: it may be of people. A resource, the table's name
// or another column does.
func TestTablesOfPeopleAreNotUnderstood(t *testing.T) {
	const people = "name,email\nJane Roe,y\n"
	for _, c := range []struct {
		name, text string
		o          Options
		want       catalog.Kind // "" for none
	}{
		{"teachers.csv", people, Options{}, ""},
		{"users.csv", "id,name,email,status\n1,Jane Roe,y,active\n", Options{}, ""},
		{"people.csv", "Title,email\nJane Roe,y\n", Options{}, ""},
		{"users.csv", "Person\nJane Roe\n", Options{Columns: map[string]string{"Person": "name"}}, ""},
		{"teachers.csv", people, Options{Resource: catalog.ProgramKind}, catalog.ProgramKind},
		{"programs.csv", people, Options{}, catalog.ProgramKind},
		{"a.csv", "Program Name\nNursing\n", Options{}, catalog.ProgramKind},
		{"a.csv", "externalId,code,name\n1,BIO 1,Biology\n", Options{}, catalog.CourseKind},
	} {
		file, err := Open(strings.NewReader(c.text), c.name, c.o)
		var failure *Failure
		switch {
		case c.want == "" && (!errors.As(err, &failure) || failure.Code != catalog.UnknownLayout || len(failure.Columns) == 0):
			t.Errorf("%s: %v", c.text, err)
		case c.want != "" && (err != nil || file.Resource != c.want):
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// What a registrar reads of a file that cannot be read has no words of the libraries that tried.
func TestFailuresAreInPlainWords(t *testing.T) {
	book := func(sheet string) string {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for name, text := range map[string]string{"xl/workbook.xml": "<workbook/>", "xl/worksheets/sheet1.xml": sheet} {
			part, err := w.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := part.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	whole := book("<worksheet/>")
	for _, c := range []struct{ name, text, want string }{
		{"f.jsonld", `[1,2,null]`, "f.jsonld: not a catalog in JSON: byte 2: an object in {} must stand here, not a value of type number"},
		{"f.jsonld", `[{"a":1`, "it ends too early"},
		{"f.json", `{"courses":["x"]}`, "must stand here, not a value of type string"},
		{"f.json", `{"courses":[{"a":1e999}]}`, "the number 1e999 is too large"},
		{"f.json", `{"courses":[{a:1}]}`, "a character is missing here, or does not belong here"},
		{"f.json", `nothing`, "a character is missing here, or does not belong here"},
		{"f.ndjson", `[1]`, "f.ndjson:1: not an object in JSON"},
		{"f.csv", "code,name\nA,\"B\n", `a quote (") is missing`},
		{"f.csv", "code,name\nA,B \"C\"\n", `a quote (") is missing`},
		{"f.xlsx", whole[:len(whole)-9], "f.xlsx: the ZIP file is damaged or incomplete"},
		{"f.xlsx", strings.Replace(whole, "<worksheet", "<worksheat", 1), ""},
		{"f.xlsx", book("<worksheet><row"), "its XML is broken at line 1"},
		{"f.xlsx", book(`<worksheet><row r="x"/></worksheet>`), `"x" is not a whole number`},
	} {
		_, err := Read(strings.NewReader(c.text), c.name, Options{})
		var failure *Failure
		if !errors.As(err, &failure) || !strings.Contains(failure.Detail, c.want) ||
			regexp.MustCompile(`(^|[^.\w])(json|xml|csv|zip|flate|strconv|interface|Go|EOF|syntax error)\b`).MatchString(failure.Detail) {
			t.Errorf("%s %.40q: %v", c.name, c.text, err)
		}
	}
}
