package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"

	"skillscurriculum/pkg/catalog"
)

// importRows is the number of rows of a table of a file, of which the first is refused.
const importRows = 8

// layouts lists the layouts of files. The verbs of a row are the marker of the file, the number of the row and a title
// that the first row lacks.
var layouts = []struct {
	ending, header, row string
	pack                func(csv string) []byte
}{
	{"csv", "externalId,Course Code,Long Title,Notes", "import %s %d,C %[2]d,%[3]s,", unpacked},
	{"banner.csv", "SCBCRSE_SUBJ_CODE,SCBCRSE_CRSE_NUMB,SCBCRSE_TITLE", "import %s,%d,%s", unpacked},
	{schedules,
		"SSBSECT_TERM_CODE,SSBSECT_CRN,SSBSECT_SUBJ_CODE,SSBSECT_CRSE_NUMB,SSBSECT_CRSE_TITLE,SSBSECT_SSTS_CODE",
		"202610,import %s %d,%[1]s,%[3]s,,C", unpacked},
	{"ndjson", "", `{"resource":"course","externalId":"import %s %d","code":"C %[2]d","name":"%[3]s"}`, unpacked},
	{"xlsx", "externalId,Course #,Name", "import %s %d,C %[2]d,%[3]s", workbook},
	{"zip", "sourcedId,courseCode,title", "import %s %d,C %[2]d,%[3]s", bundle},
}

const (
	// title is a single word, which is not extracted.
	title = "Imported"
	// schedules is the ending of files of sections.
	schedules = "sections.csv"
	// retiring is the ending of files that lack courses of earlier ones, which their imports retire.
	retiring = "retiring.csv"
)

func unpacked(csv string) []byte { return []byte(csv) }

func workbook(csv string) []byte {
	book, out := excelize.NewFile(), &bytes.Buffer{}
	for i, line := range strings.Split(csv, "\n") {
		cells := strings.Split(line, ",")
		_ = book.SetSheetRow("Sheet1", fmt.Sprint("A", i+1), &cells)
	}
	_ = book.Write(out) // a buffer accepts everything
	return out.Bytes()
}

// bundle returns a bundle of OneRoster with a class of each course.
func bundle(csv string) []byte {
	classes := "sourcedId,title,courseSourcedId"
	for _, line := range strings.Split(csv, "\n")[1:] {
		id, _, _ := strings.Cut(line, ",")
		classes += fmt.Sprintf("\n%sc,%s,%[1]s", id, title)
	}
	out := &bytes.Buffer{}
	archive := zip.NewWriter(out)
	for name, table := range map[string]string{"courses.csv": csv, "classes.csv": classes} {
		if w, err := archive.Create(name); err == nil {
			_, _ = w.Write([]byte(table))
		}
	}
	_ = archive.Close()
	return out.Bytes()
}

// importFile imports a new file in one of the layouts.
func importFile(c *client) {
	l, marker := one(c, layouts), c.marker()
	if l.ending == schedules { // they need a course, which no other act changes
		_, made := c.change(request{operation: "createCourse", path: "/courses", key: marker, body: object{
			"name": title, "code": marker, "externalId": marker + " " + title,
		}})
		if made != acknowledged {
			return
		}
	}
	lines := []string{l.header, fmt.Sprintf(l.row, marker, 0, "")}
	for n := 1; n < importRows; n++ {
		lines = append(lines, fmt.Sprintf(l.row, marker, n, title))
	}
	importContent(c, marker+"."+l.ending, l.pack(strings.TrimSpace(strings.Join(lines, "\n"))), object{})
}

// retireCourses imports a file with most of the organization's imported courses, which retires the others unless many
// more have come meanwhile.
func retireCourses(c *client) {
	var lines []string
	for more := true; more; {
		_, p := c.list("listCourses", "&query="+title, 100, len(lines))
		for _, course := range p.Data {
			lines = append(lines, course.ExternalID+","+course.Code+","+title)
		}
		more = p.Pagination.HasMore
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if kept := len(lines) - c.random.IntN(4); kept > 0 {
		c.random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		file := "externalId,code,name\n" + strings.Join(lines[:kept], "\n")
		importContent(c, c.marker()+"."+retiring, []byte(file), object{"resource": "course", "retireMissing": true})
	}
}

// importContent uploads a file and imports it, often twice, sometimes as a check, and sometimes cancels an import.
func importContent(c *client, name string, content []byte, asked object) {
	made, _ := c.change(request{operation: "createDocument", path: "/documents", key: c.marker(), body: object{
		"fileName": name, "sizeBytes": len(content), "sha256": checksum(content),
	}})
	d := documentOf(made)
	if d == nil || c.put(d, content).status != http.StatusOK {
		return
	}
	for range 1 + c.random.IntN(2) {
		body := maps.Clone(asked)
		body["documentId"] = d.ID
		if c.chance(4) {
			body["mode"] = catalog.CheckOnly
		}
		i, _ := c.change(request{operation: "createImport", path: "/imports", key: c.marker(), body: body})
		if id := text(i.parsed(), "id"); id != "" && c.chance(3) {
			c.change(request{operation: "deleteImport", path: "/imports/" + id})
		}
	}
}

// imports: each has ended, none has failed but those that would retire too many courses, and those of a file have
// created its records, and retired courses, once and counted them.
func (a *audit) imports() {
	retired := map[catalog.OrgID]int{}
	count := func(row object) {
		if text(row, "lifecycleStatus") == string(catalog.RetiredCourse) {
			retired[catalog.OrgID(text(row, "organizationId"))]++
		}
	}
	for _, r := range a.kinds[catalog.CourseKind] {
		count(r.row)
	}
	for _, row := range a.deleted {
		count(row)
	}
	created, seen := map[string]int{}, map[string]bool{} // by marker; by marker and number
	for _, r := range a.live {
		_, row, imported := strings.Cut(text(r.row, "externalId"), "import ")
		if !imported {
			continue
		}
		if seen[row] {
			a.breach("two records are import %s", row)
		}
		if name := text(r.row, "name"); name != title {
			a.breach("import %s is named %q", row, name)
		}
		seen[row] = true
		created[row[:strings.LastIndex(row, " ")]]++
	}
	var rows []object
	for _, r := range a.kinds[catalog.ImportKind] {
		rows = append(rows, r.row)
	}
	for id, row := range a.deleted {
		if strings.HasPrefix(id, "imp_") {
			rows = append(rows, row)
		}
	}
	for _, row := range rows {
		i := &catalog.Import{}
		packed, _ := json.Marshal(row)
		_ = json.Unmarshal(packed, i)
		file := text(a.deleted[i.DocumentID], "fileName")
		if d := a.live[i.DocumentID]; d != nil {
			file = text(d.row, "fileName")
		}
		marker, ending, _ := strings.Cut(file, ".")
		want := catalog.ImportCounts{Read: importRows, Failed: 1, Unchanged: i.Counts.Unchanged}
		if ending == "zip" { // two tables
			want.Read, want.Failed = 2*importRows, 2
		}
		want.Created = want.Read - want.Failed - want.Unchanged
		if i.Mode == catalog.ApplyRows {
			retired[i.OrganizationID] -= i.Counts.Retired
		}
		switch {
		case ending == retiring:
			tooMany := i.Failure != nil && i.Failure.Code == catalog.ImportFailureCode(catalog.TooManyMissing)
			if tooMany && i.Counts != (catalog.ImportCounts{}) || i.Status == catalog.ImportFailed && !tooMany ||
				i.Counts.Unchanged != i.Counts.Read {
				a.breach("%s of %s is %s: %+v, %+v", i.ID, file, i.Status, i.Failure, i.Counts)
			}
		case i.Status == catalog.ImportCompleted && i.Counts != want:
			a.breach("%s of %s counts %+v", i.ID, file, i.Counts)
		case i.Status != catalog.ImportCompleted && i.Status != catalog.ImportCancelled:
			a.breach("%s of %s is %s: %+v", i.ID, file, i.Status, i.Failure)
		case i.Status == catalog.ImportCompleted && i.DeletedAt == nil && a.files[string(i.OrganizationID)+"/"+i.ID] == "":
			a.breach("%s of %s lacks its rejected row", i.ID, file)
		}
		if i.Mode == catalog.ApplyRows {
			created[marker] -= i.Counts.Created
		}
	}
	for org, n := range retired {
		if n != 0 {
			a.breach("%s has %d retired courses more than its imports count", org, n)
		}
	}
	for marker, n := range created {
		if n != 0 {
			a.breach("the imports of %s have created %d records more than they count", marker, n)
		}
	}
}
