package intake

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"skillscurriculum/infra/heap"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
)

// sheets returns a workbook with the given rows in each sheet.
func sheets(t testing.TB, of map[string][][]any, order ...string) []byte {
	t.Helper()
	f := excelize.NewFile()
	for i, name := range order {
		var err error
		if i == 0 {
			err = f.SetSheetName("Sheet1", name)
		} else {
			_, err = f.NewSheet(name)
		}
		if err != nil {
			t.Fatal(err)
		}
		for j, row := range of[name] {
			if err := f.SetSheetRow(name, fmt.Sprintf("A%d", j+1), &row); err != nil {
				t.Fatal(err)
			}
		}
	}
	var out bytes.Buffer
	if err := errors.Join(f.Write(&out), f.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Cells are read as people see them, lines are rows, and the header may stand below titles.
func TestWorkbook(t *testing.T) {
	day := time.Date(2026, 8, 15, 0, 0, 0, 0, time.UTC)
	content := sheets(t, map[string][][]any{
		"Catalog": {
			{"Course catalog", 2}, {}, {"ID", "Subject", "Catalog Number", "Long Title", "Units", "Effective Date", "Note"},
			{123456789012, "BIO", 101, "Biology", 3.5, day, true}, {}, {"b", "BIO", "101L", "Lab"},
		},
		"Sections": {{"CRN", "Course", "Title"}, {1, "BIO 101", "Evening"}},
	}, "Catalog", "Sections")
	rows, err := Read(bytes.NewReader(content), "book.xlsx", Options{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, rows, []Row{
		{Place: "book.xlsx:4", Kind: catalog.CourseKind, Name: "123456789012", Effective: "2026-08-15", Fields: object{
			"code": "BIO 101", "name": "Biology", "credits": object{"min": 3.5, "max": 3.5, "unit": "SEMESTER_HOUR"}, "effectiveFrom": "2026-08-15",
		}},
		{Place: "book.xlsx:6", Kind: catalog.CourseKind, Name: "b", Fields: object{"code": "BIO 101L", "name": "Lab", "credits": nil, "effectiveFrom": nil}},
	})
	if rows[0].Line != 4 || rows[0].Column("credits") != "Units" {
		t.Errorf("line %d, column %q", rows[0].Line, rows[0].Column("credits"))
	}
	rows, err = Read(bytes.NewReader(content), "book.xlsx", Options{Sheet: "Sections"})
	if err != nil {
		t.Fatal(err)
	}
	check(t, rows, []Row{{Place: "book.xlsx:2", Kind: catalog.SectionKind, Name: "1", Parent: "BIO 101", Fields: object{"name": "Evening"}}})
	var failure *Failure
	if _, err = Read(bytes.NewReader(content), "book.xlsx", Options{Sheet: "Other"}); !errors.As(err, &failure) || failure.Code != catalog.UnknownLayout || !strings.Contains(err.Error(), "Catalog, Sections") {
		t.Errorf("error %v", err)
	}
	content = sheets(t, map[string][][]any{"Read me": {{"How to fill this in"}}, "Courses": {{"Code", "Title"}, {"BIO 101", "Biology"}}}, "Read me", "Courses")
	if _, err = Read(bytes.NewReader(content), "book.xlsx", Options{}); err == nil || !strings.Contains(err.Error(), `the sheet "Read me" was read, others are Courses`) {
		t.Errorf("error %v", err)
	}
}

// A hundred thousand courses are read in little memory, from any kind of file, and the same each time.
func TestMemoryOfReading(t *testing.T) {
	const n, maxMemory = 100_000, 64 << 20
	var table, objects strings.Builder
	table.WriteString("externalId,code,name,description\n")
	book := excelize.NewFile()
	stream, err := book.NewStreamWriter("Sheet1")
	if err != nil {
		t.Fatal(err)
	}
	for i := range n + 1 {
		row := []any{fmt.Sprint("id", i), fmt.Sprint("BIO ", i), fmt.Sprint("Biology ", i), strings.Repeat("cells ", 15)}
		if i == 0 {
			row = []any{"externalId", "code", "name", "description"}
		} else {
			fmt.Fprintf(&table, "%s,%s,%s,%s\n", row...)
			fmt.Fprintf(&objects, `{"externalId":%q,"code":%q,"name":%q,"description":%q}`+"\n", row...)
		}
		if err := stream.SetRow(fmt.Sprintf("A%d", i+1), row); err != nil {
			t.Fatal(err)
		}
	}
	var workbook bytes.Buffer
	if err := errors.Join(stream.Flush(), book.Write(&workbook), book.Close()); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"courses.csv": []byte(table.String()), "courses.ndjson": []byte(objects.String()), "courses.xlsx": workbook.Bytes(),
		"courses.zip": archiveOf(t, packed{"courses.csv", strings.NewReader(table.String())}),
	} {
		t.Run(name, func(t *testing.T) {
			read := 0
			peak := heap.Peak(func() {
				f, err := Open(bytes.NewReader(content), name, Options{MaxRows: 200_000})
				if err != nil {
					t.Error(err)
					return
				}
				for row, err := range f.Rows() {
					if err != nil || row.Name == "" || row.Fields["name"] == "" {
						t.Errorf("%v %+v", err, row)
						return
					}
					read++
				}
				if err := f.Close(); err != nil || f.Count != n {
					t.Errorf("%d rows, %v", f.Count, err)
				}
			})
			if read != n || peak > maxMemory {
				t.Errorf("%d rows in %d MiB", read, peak>>20)
			}
			t.Logf("%d KB: %d MiB", len(content)>>10, peak>>20)
		})
	}
}

// Reading any workbook ends, and its lines have their numbers.
func FuzzWorkbook(f *testing.F) {
	f.Add(sheets(f, map[string][][]any{"S": {{"code", "name"}, {"A", "B"}}}, "S"))
	f.Add(workbook(f, strings.NewReader(sheetHead+`<row r="2"><c r="A2"><v>1</v></c><c r="B2" t="s"><v>0</v></c></row>`+sheetTail), packed{"xl/sharedStrings.xml", strings.NewReader(`<sst><si><t>x</t></si></sst>`)}))
	f.Fuzz(func(t *testing.T, content []byte) {
		rows, err := Read(bytes.NewReader(content), "f.xlsx", Options{MaxRows: 1000})
		last := 0
		for _, row := range rows {
			if row.Kind == "" || row.Line < last && strings.HasPrefix(row.Place, "f.xlsx:") {
				t.Errorf("row %+v after line %d", row, last)
			}
			last = row.Line
		}
		var failure *Failure
		if err != nil && !errors.As(err, &failure) {
			t.Errorf("error without a code: %v", err)
		}
	})
}

// The header alone decides what a table is; people decide otherwise by naming columns.
func TestColumns(t *testing.T) {
	const text = "Course #,Crse Titel,Level,Notes,Descripton\nBIO 1,Biology,UG,x,\nBIO 2,Botany,lower division,y,Plants.\n"
	open := func(columns map[string]string) *File {
		t.Helper()
		f, err := Open(strings.NewReader(text), "list.csv", Options{Columns: columns})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := open(map[string]string{"crse titel": "name"})
	if diff := cmp.Diff([]Column{
		{File: "list.csv", Header: "Course #", Field: "code", Example: "BIO 1"}, {File: "list.csv", Header: "Crse Titel", Field: "name", Example: "Biology"},
		{File: "list.csv", Header: "Level", Field: "level", Example: "UG"}, {File: "list.csv", Header: "Notes", Example: "x"},
		{File: "list.csv", Header: "Descripton", Suggestion: "description", Example: "Plants."},
	}, f.Columns); diff != "" {
		t.Error(diff)
	}
	rows, err := f.All()
	if err != nil {
		t.Fatal(err)
	}
	// A value that the column cannot have does not lose the row.
	check(t, rows, []Row{
		{Place: "list.csv:2", Kind: catalog.CourseKind, Name: "BIO 1", Fields: object{"code": "BIO 1", "name": "Biology"}, Ignored: []Problem{
			{Line: 2, Column: "Level", Code: entry.InvalidValue, Message: `"UG" is none of GRADUATE, LOWER_DIVISION, NON_CREDIT, UPPER_DIVISION`, Value: "UG"},
		}},
		{Place: "list.csv:3", Kind: catalog.CourseKind, Name: "BIO 2", Fields: object{"code": "BIO 2", "name": "Botany", "level": "LOWER_DIVISION"}},
	})
	if f := open(map[string]string{"Crse Titel": "name", "LEVEL": "", "descripton": "description"}); f.Columns[2].Field != "" || f.Columns[4].Field != "description" {
		t.Errorf("columns %+v", f.Columns)
	}
	for _, c := range []struct {
		o    Options
		code catalog.FailureCode
	}{
		{Options{}, catalog.MissingColumns}, {Options{Columns: map[string]string{"Crse Titel": "name", "Nothing": "level"}}, catalog.MissingColumns},
		{Options{Layout: Banner}, catalog.UnknownLayout}, {Options{Layout: TES}, catalog.UnknownLayout}, {Options{Layout: OneRoster}, catalog.UnknownLayout},
	} {
		var failure *Failure
		if _, err := Open(strings.NewReader(text), "list.csv", c.o); !errors.As(err, &failure) || failure.Code != c.code {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}

func TestOneEdit(t *testing.T) {
	for _, pair := range []string{"title titel", "title tite", "title titlee", "title xitle", "credits credit"} {
		a, b, _ := strings.Cut(pair, " ")
		if !oneEdit(a, b) || !oneEdit(b, a) || oneEdit(a, a) || oneEdit(a, b+"xx") {
			t.Error(pair)
		}
	}
}

// Banner's status of sections: A is active, C and X are cancelled, others planned.
func TestBannerStatus(t *testing.T) {
	const text = "SSBSECT_CRN,SSBSECT_SUBJ_CODE,SSBSECT_CRSE_NUMB,SSBSECT_CRSE_TITLE,SSBSECT_SSTS_CODE,Ours\n1,A,1,N,A,CANCELLED\n2,A,1,N,C,ACTIVE\n3,A,1,N,X,ACTIVE\n4,A,1,N,R,ACTIVE\n5,A,1,N,,ACTIVE\n"
	for _, c := range []struct {
		columns map[string]string
		want    []any
	}{
		{nil, []any{"ACTIVE", "CANCELLED", "CANCELLED", "PLANNED", nil}},
		{map[string]string{"Ours": "status"}, []any{"CANCELLED", "ACTIVE", "ACTIVE", "ACTIVE", "ACTIVE"}},
		{map[string]string{"SSBSECT_SSTS_CODE": ""}, []any{nil, nil, nil, nil, nil}},
	} {
		rows, err := Read(strings.NewReader(text), "a.csv", Options{Columns: c.columns})
		if err != nil {
			t.Fatal(err)
		}
		var got []any
		for _, row := range rows {
			got = append(got, row.Fields["status"])
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// The table that an upload of documents writes names records by their files.
func TestUploadedDocuments(t *testing.T) {
	const text = "fileName,documentId\nsyllabi/BIO-101.v2.pdf,doc_1\nx,doc_2\n"
	want := func(kind catalog.Kind) []Row {
		return []Row{
			{Place: "a.csv:2", Kind: kind, Name: "BIO-101.v2", Existing: true, Fields: object{"documentId": "doc_1"}},
			{Place: "a.csv:3", Kind: kind, Name: "x", Existing: true, Fields: object{"documentId": "doc_2"}},
		}
	}
	check(t, ofCSV(t, "a.csv", text, ""), want(catalog.CourseKind))
	check(t, ofCSV(t, "a.csv", text, catalog.SectionKind), want(catalog.SectionKind))
	check(t, ofCSV(t, "courses.csv", "code,name,documentId,syllabusHref\nA,B,doc_1,\n", ""), []Row{
		{Place: "courses.csv:2", Kind: catalog.CourseKind, Name: "A", Fields: object{"code": "A", "name": "B", "documentId": "doc_1", "syllabusHref": nil}},
	})
}

func TestNDJSON(t *testing.T) {
	const text = `{"externalId":"c","code":"C","name":"N"}

{"resource":"section","externalId":"s","courseExternalId":"c","name":"S"}
{"resource":"programs","externalId":"p","name":"P","courseExternalIds":["c"]}
{"externalId":"j","name":"J","employerId":"E"}`
	f, err := Open(strings.NewReader(text), "a.ndjson", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Resource != "" || f.Count != 4 {
		t.Errorf("%q, %d", f.Resource, f.Count)
	}
	rows, err := f.All()
	if err != nil {
		t.Fatal(err)
	}
	check(t, rows, []Row{
		{Place: "a.ndjson:1", Kind: catalog.CourseKind, Name: "c", Fields: object{"code": "C", "name": "N"}},
		{Place: "a.ndjson:3", Kind: catalog.SectionKind, Name: "s", Parent: "c", Fields: object{"name": "S"}},
		{Place: "a.ndjson:4", Kind: catalog.ProgramKind, Name: "p", Members: []string{"c"}, Fields: object{"name": "P"}},
		{Place: "a.ndjson:5", Kind: catalog.JobKind, Name: "j", Fields: object{"name": "J", "employerId": "E"}},
	})
	// A line of an unknown resource fails by itself.
	f, err = Open(strings.NewReader("{\"resource\":\"person\"}\n{\"code\":\"C\",\"name\":\"N\"}\n{\"name\":\"X\"}"), "a.ndjson", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if rows, err = f.All(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []Row{{Kind: catalog.JobKind, Line: 1}, {Kind: catalog.CourseKind}, {Kind: catalog.CourseKind, Line: 3}} {
		row := rows[i]
		failing := len(row.Problems) == 1 && row.Problems[0].Line == want.Line && row.Problems[0].Column == "resource"
		if row.Kind != want.Kind || failing != (want.Line > 0) {
			t.Errorf("line %d: %+v", i+1, row)
		}
	}
	for _, text := range []string{"{}", `{"code":"C"} x`, "{\"code\":\"C\"}\n[]", "{\"code\":\"C\"}\nnull", `{"code":"C","externalId":1}`, `{"resource":"person"}`} {
		var failure *Failure
		if _, err := Read(strings.NewReader(text), "a.ndjson", Options{}); !errors.As(err, &failure) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
