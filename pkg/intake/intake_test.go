package intake

import (
	"archive/zip"
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
)

func ofCSV(t *testing.T, name, text string, kind catalog.Kind) []Row {
	t.Helper()
	rows, err := Read(strings.NewReader(text), name, Options{Resource: kind})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return rows
}

// rowFacts compares what rows say, apart from where they stand.
var rowFacts = cmp.Options{
	cmpopts.IgnoreFields(Row{}, "File", "Line", "Header", "Source", "Columns"), cmpopts.EquateEmpty(),
}

func readPath(path string) ([]Row, error) {
	f, err := OpenPath(path, Options{})
	if err != nil {
		return nil, err
	}
	return f.All()
}

func told(problems []Problem) string {
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.String())
	}
	return strings.Join(texts, "; ")
}

func check(t *testing.T, got, want []Row) {
	t.Helper()
	if diff := cmp.Diff(want, got, rowFacts); diff != "" {
		t.Error(diff)
	}
}

// The headers of the systems that export catalogs.
func TestHeaders(t *testing.T) {
	course := func(place, name, code, title string) []Row {
		return []Row{{Place: place, Kind: catalog.CourseKind, Name: name, Fields: map[string]any{"name": title, "code": code}}}
	}
	for _, c := range []struct {
		system, name, text string
		want               []Row
	}{
		{"documented", "a.csv", "externalId,code,name\n1,BIO 1,Biology\n", course("a.csv:2", "1", "BIO 1", "Biology")},
		{"Banner", "a.csv", "SCBCRSE_SUBJ_CODE,SCBCRSE_CRSE_NUMB,SCBCRSE_TITLE\nBIO,101,Biology\n", course("a.csv:2", "BIO 101", "BIO 101", "Biology")},
		{"Colleague", "a.csv", "COURSES.ID,CRS.NAME,CRS.SHORT.TITLE\n77,BIO-101,Biology\n", course("a.csv:2", "77", "BIO-101", "Biology")},
		{"Workday", "a.csv", "Course Definition ID,Course Subject,Course Number,Course Title\nCD_1,BIO,101,Biology\n", course("a.csv:2", "CD_1", "BIO 101", "Biology")},
		{"Canvas", "courses.csv", "course_id,short_name,long_name,account_id,term_id,status\n1,BIO101,Biology,A,T,active\n", []Row{
			{Place: "courses.csv:2", Kind: catalog.CourseKind, Name: "1", Fields: map[string]any{"name": "Biology", "code": "BIO101", "lifecycleStatus": "ACTIVE"}},
		}},
		{"Canvas sections", "sections.csv", "section_id,course_id,name,status\ns1,1,Evening,deleted\n", []Row{
			{Place: "sections.csv:2", Kind: catalog.SectionKind, Name: "s1", Parent: "1", Gone: true, Fields: map[string]any{"name": "Evening"}},
		}},
		{"Banner sections", "a.csv", "SSBSECT_CRN,SSBSECT_SUBJ_CODE,SSBSECT_CRSE_NUMB,SSBSECT_CRSE_TITLE,Instructor\n4711,BIO,101,Biology,\n", []Row{
			{Place: "a.csv:2", Kind: catalog.SectionKind, Name: "4711", Parent: "BIO 101", Fields: map[string]any{"name": "Biology", "instructorName": nil}},
		}},
		{"programs", "a.csv", "Program ID,Program Title,CIP Code,Courses\nP,Nursing,51.3801,BIO 1; BIO 2\n", []Row{
			{Place: "a.csv:2", Kind: catalog.ProgramKind, Name: "P", Members: []string{"BIO 1", "BIO 2"}, Fields: map[string]any{"name": "Nursing", "cipCode": "51.3801"}},
		}},
		{"CIP codes of Banner and Excel", "a.csv", "Program ID,Program Title,CIP\nP,A,513801\nQ,B,1.01\nR,C,51\n", []Row{
			{Place: "a.csv:2", Kind: catalog.ProgramKind, Name: "P", Fields: map[string]any{"name": "A", "cipCode": "51.3801"}},
			{Place: "a.csv:3", Kind: catalog.ProgramKind, Name: "Q", Fields: map[string]any{"name": "B", "cipCode": "01.0100"}},
			{Place: "a.csv:4", Kind: catalog.ProgramKind, Name: "R", Fields: map[string]any{"name": "C", "cipCode": "51"}},
		}},
		{"maps of programs", "a.csv", "Program ID,Program Title,mapSettings\nP,Nursing,0.3 0.6\nQ,Law,\n", []Row{
			{Place: "a.csv:2", Kind: catalog.ProgramKind, Name: "P", Fields: map[string]any{"name": "Nursing", "mapSettings": map[string]any{"touch": 0.3, "cover": 0.6}}},
			{Place: "a.csv:3", Kind: catalog.ProgramKind, Name: "Q", Fields: map[string]any{"name": "Law", "mapSettings": nil}},
		}},
		{"credentials", "credentials.csv", "id,name,sections\nC,Badge,\n", []Row{
			{Place: "credentials.csv:2", Kind: catalog.CredentialKind, Name: "C", Members: []string{}, Fields: map[string]any{"name": "Badge"}},
		}},
		{"jobs", "a.csv", "Job ID,Job Title,Employer,Minimum Salary,Locations,Skills\nJ,Welder,Shop,\"$40,000\",here|there,core:welding=3@0.9; core:x=2\n", []Row{
			{Place: "a.csv:2", Kind: catalog.JobKind, Name: "J", Fields: map[string]any{
				"name": "Welder", "employerId": "Shop", "salaryMin": 40000.0,
				"locations": []any{map[string]any{"type": "location", "locationId": "here"}, map[string]any{"type": "location", "locationId": "there"}},
				"skills":    []any{map[string]any{"skillId": "core:welding", "level": 3.0, "confidence": 0.9}, map[string]any{"skillId": "core:x", "level": 2.0}},
			}},
		}},
	} {
		t.Run(c.system, func(t *testing.T) { check(t, ofCSV(t, c.name, c.text, ""), c.want) })
	}
}

// The facts of a course, in the words of other systems.
func TestFacts(t *testing.T) {
	credits := func(low, high float64, unit string) map[string]any {
		return map[string]any{"min": low, "max": high, "unit": unit}
	}
	for _, c := range []struct {
		system, text string
		want         map[string]any
	}{
		{
			"documented", "name,code,credits,creditsUnit,level,lifecycleStatus,effectiveFrom,effectiveTo,webpage\nB,A,1-4.5,ECTS,GRADUATE,PROPOSED,2026-08-01,2027-07-31,https://example.org/b\n",
			map[string]any{"credits": credits(1, 4.5, "ECTS"), "level": "GRADUATE", "lifecycleStatus": "PROPOSED", "effectiveFrom": "2026-08-01", "effectiveTo": "2027-07-31", "webpage": "https://example.org/b"},
		},
		{
			"Banner", "SCBCRSE_SUBJ_CODE,SCBCRSE_CRSE_NUMB,SCBCRSE_TITLE,SCBCRSE_CREDIT_HR_LOW,SCBCRSE_CREDIT_HR_HIGH,SCBCRSE_CSTA_CODE,SCRLEVL_LEVL_CODE\nX,1,B,3.000,,I,GR\n",
			map[string]any{"code": "X 1", "credits": credits(3, 3, "SEMESTER_HOUR"), "level": "GRADUATE", "lifecycleStatus": "RETIRED"},
		},
		{
			"Colleague", "CRS.NAME,CRS.TITLE,TITLE,CRS.MIN.CRED,CRS.MAX.CRED,CRS.STATUS,CRS.LEVELS,CRS.START.DATE,CRS.END.DATE\nA,,B,1,4,A,300,08/15/2025,\n",
			map[string]any{"credits": credits(1, 4, "SEMESTER_HOUR"), "level": "UPPER_DIVISION", "lifecycleStatus": "ACTIVE", "effectiveFrom": "2025-08-15", "effectiveTo": nil},
		},
		{
			"Workday", "Code,Course Title,Minimum Units,Maximum Units,Unit Type,Academic Level,Course Status,Effective Date\nA,B,2,2,Quarter Hours,Graduate,Approved,1/5/2026\n",
			map[string]any{"credits": credits(2, 2, "QUARTER_HOUR"), "level": "GRADUATE", "lifecycleStatus": "ACTIVE", "effectiveFrom": "2026-01-05"},
		},
		// What the contract lacks is left out, blank is null.
		{"others", "name,code,credits,levl_code,status,effectiveTo\nB,A,,UG,X,\n", map[string]any{"credits": nil, "effectiveTo": nil}},
		{"unknown", "name,code,level,lifecycleStatus\nB,A,UG,X\n", map[string]any{}},
		{"blank", "name,code,level,lifecycleStatus,webpage\nB,A,,,\n", map[string]any{"level": nil, "webpage": nil}},
	} {
		t.Run(c.system, func(t *testing.T) {
			want := map[string]any{"name": "B", "code": "A"}
			maps.Copy(want, c.want)
			rows := ofCSV(t, "courses.csv", c.text, "")
			if diff := cmp.Diff(want, rows[0].Fields); diff != "" || rows[0].Problems != nil {
				t.Errorf("%v%s", rows[0].Problems, diff)
			}
		})
	}
}

func utf16Text(text string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

// The same table in several encodings.
func TestEncodings(t *testing.T) {
	plain := "code,name,description\nA 1,Études,\"two\nlines, \"\"quoted\"\"\"\n\nA 2,Other,x\n"
	want := []Row{
		{Place: "c.csv:2", Kind: catalog.CourseKind, Name: "A 1", Fields: map[string]any{"code": "A 1", "name": "Études", "description": "two\nlines, \"quoted\""}},
		{Place: "c.csv:5", Kind: catalog.CourseKind, Name: "A 2", Fields: map[string]any{"code": "A 2", "name": "Other", "description": "x"}},
	}
	for name, text := range map[string]string{
		"plain": plain, "byte order mark": "\ufeff" + plain, "CRLF": strings.ReplaceAll(plain, "\n", "\r\n"), "CR": strings.ReplaceAll(plain, "\n", "\r"), "UTF-16": utf16Text(plain),
		"Windows-1252": strings.ReplaceAll(plain, "É", "\xc9"),
		"tabs":         strings.NewReplacer("lines, ", "lines, ", ",", "\t").Replace(plain),
	} {
		t.Run(name, func(t *testing.T) {
			if name == "tabs" {
				plainTabs := "code\tname\tdescription\nA 1\tÉtudes\t\"two\nlines, \"\"quoted\"\"\"\n\nA 2\tOther\tx\n"
				text = plainTabs
			}
			check(t, ofCSV(t, "c.csv", text, ""), want)
		})
	}
	semicolons := "code;name\nA 1;Name, with comma\n"
	check(t, ofCSV(t, "c.csv", semicolons, ""), []Row{{Place: "c.csv:2", Kind: catalog.CourseKind, Name: "A 1", Fields: map[string]any{"code": "A 1", "name": "Name, with comma"}}})
}

// Errors within a line are reported with the line. Errors that make the rest of the file doubtful end the reading.
func TestBadCSV(t *testing.T) {
	for _, c := range []struct{ text, fault string }{
		{"code,name\nA,B,C\n", "3 cells"},
		{"externalId,name,employer,salaryMin\n1,B,C,lots\n", `"lots" is not an amount`},
		{"code,name,skills\nA,B,core:x\n", "is not skillId=level"},
		{"code,name,credits\nA,B,three\n", `credits: "three" is not a number of credits`},
		{"code,name,credits,creditsUnit\nA,B,3,points\n", `credits: "points" is not a unit of credits`},
		{"code,name,skills\nA,B,core:x=2@much\n", "is not skillId=level@confidence"},
		{"code,name,effectiveTo\nA,B,someday\n", `effectiveTo: "someday" is not a date`},
	} {
		rows := ofCSV(t, "a.csv", c.text, "")
		if len(rows) != 1 || !strings.Contains(told(rows[0].Problems), c.fault) {
			t.Errorf("%q: %+v", c.text, rows)
		}
	}
	for _, c := range []struct{ name, text, err string }{
		{"a.csv", "", "a.csv is empty"},
		{"a.csv", "code,name\nA,\"B\nC\n", "a.csv:2:"},
		{"a.csv", "code,name\nA,B\"C\"\n", "line 2, column 4"},
		{"a.csv", "code\nA\n", `needs a column "name"`},
		{"courses.csv", "name\nA\n", `needs a column "code"`},
		{"sections.csv", "id,name\n1,A\n", `needs a column "courseExternalId"`},
		{"jobs.csv", "id,name\n1,A\n", `needs a column "employerId"`},
	} {
		if rows, err := Read(strings.NewReader(c.text), c.name, Options{}); err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %v %v", c.text, rows, err)
		}
	}
}

func TestReadJSON(t *testing.T) {
	rows, err := Read(strings.NewReader(`{
		"courses":[{"externalId":" c ","name":"N","code":"C","sections":[{"externalId":"s","name":"S"}]}],
		"programs":[{"externalId":"p","name":"P","courses":["c"]},{"externalId":"q","name":"Q"}],
		"transferPackages":[{"externalId":"t","name":"T","courses":[{"externalId":"x","name":"X"}]}]}`), "f.json", Options{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, rows, []Row{
		{Place: "f.json: courses[0]", Kind: catalog.CourseKind, Name: "c", Fields: map[string]any{"name": "N", "code": "C"}},
		{Place: "f.json: courses[0].sections[0]", Kind: catalog.SectionKind, Name: "s", Parent: "c", Fields: map[string]any{"name": "S"}},
		{Place: "f.json: programs[0]", Kind: catalog.ProgramKind, Name: "p", Members: []string{"c"}, Fields: map[string]any{"name": "P"}},
		{Place: "f.json: programs[1]", Kind: catalog.ProgramKind, Name: "q", Fields: map[string]any{"name": "Q"}},
		{Place: "f.json: transferPackages[0]", Kind: catalog.TransferPackageKind, Name: "t", Fields: map[string]any{"name": "T"}},
		{Place: "f.json: transferPackages[0].courses[0]", Kind: catalog.TransferCourseKind, Name: "x", Parent: "t", Fields: map[string]any{"name": "X"}},
	})
	for text, want := range map[string]string{
		`[]`: "not a catalog", `{"courses":[1]}`: "not a catalog", `{"courses":[]} x`: "after the catalog", `{"cours":[]}`: `"cours" is not a list`,
		`{"courses":[{"externalId":7,"name":"N"}]}`:       "courses[0]: externalId must be a non-blank string",
		`{"courses":[{"externalId":" ","name":"N"}]}`:     "courses[0]: externalId must be a non-blank string",
		`{"courses":[{"externalId":"c","sections":[1]}]}`: "sections[0] is not an object",
		`{"courses":[{"externalId":"c","sections":{}}]}`:  "sections must be a list",
		`{"programs":[{"externalId":"p","courses":[1]}]}`: "courses must be a list",
	} {
		if _, err := Read(strings.NewReader(text), "f.json", Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Without external ids records are identified by their codes or names.
func TestOwnNames(t *testing.T) {
	names := func(rows []Row, err error) (all []string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			all = append(all, row.Name)
		}
		return all
	}
	for _, c := range []struct{ file, text, want string }{
		{"courses.csv", "code,name\nBIO 1,Biology\n", "BIO 1"},
		{"courses.csv", "externalId,code,name\n,BIO 1,Biology\n", ""},
		{"sections.csv", "courseCode,name\nBIO 1,Evening\n", "BIO 1/Evening"},
		{"sections.csv", "subject,number,name\nBIO,1,Evening\n", "BIO 1/Evening"},
		{"programs.csv", "code,name\nNUR,Nursing\n", "NUR"},
		{"programs.csv", "name,cipCode\nNursing,51.3801\n", "Nursing"},
		{"credentials.csv", "name,sections\nBadge,BIO 1\n", "Badge"},
		{"jobs.csv", "name,employerId\nWelder,Shop\n", "Shop/Welder"},
		{"jobs.csv", "name,employerId\nWelder,\n", ""},
	} {
		if got := names(Read(strings.NewReader(c.text), c.file, Options{})); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
	got := names(Read(strings.NewReader(`{"courses":[{"code":"C","name":"N","sections":[{"name":"S"}]},{"name":"no code"}],
		"programs":[{"name":"P"}],"transferPackages":[{"name":"T","uniqueTag":"U","courses":[{"name":"X"}]}]}`), "f.json", Options{}))
	if diff := cmp.Diff([]string{"C", "C/S", "", "P", "U", "X"}, got); diff != "" {
		t.Error(diff)
	}
}

// A OneRoster 1.2 bundle, including files that are not part of a catalog.
var rosterFiles = map[string]string{
	"manifest.csv":         "propertyName,value\nmanifest.version,1.0\noneroster.version,1.2\n",
	"orgs.csv":             "sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId\no1,,,North Campus,school,,\n",
	"academicSessions.csv": "sourcedId,status,dateLastModified,title,type,startDate,endDate,parentSourcedId,schoolYear\nt1,,,Fall 2026,term,2026-08-20,2026-12-18,,2027\nt2,,,Week 1,term,2026-08-20,2026-08-27,t1,2027\n",
	"courses.csv":          "sourcedId,status,dateLastModified,schoolYearSourcedId,title,courseCode,grades,orgSourcedId,subjects,subjectCodes\nc1,,,,Biology,BIO 1,,o1,,\nc2,,,,Chemistry,,,o1,,\n",
	"classes.csv":          "sourcedId,status,dateLastModified,title,grades,courseSourcedId,classCode,classType,location,schoolSourcedId,termSourcedIds,subjects,subjectCodes,periods\nk1,,,Biology A,,c1,A,scheduled,Room 5,o1,\"t1,t2\",,,\nk2,tobedeleted,,Old,,c1,,scheduled,,o9,t1,,,\n",
	"users.csv":            "sourcedId,status,dateLastModified,enabledUser\n",
}

func zipped(t *testing.T, files map[string]string, folder string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "bundle.zip")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(file)
	for name, text := range files {
		f, err := w.Create(folder + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestOneRoster(t *testing.T) {
	fall := map[string]any{"code": "t1", "name": "Fall 2026", "startDate": "2026-08-20", "endDate": "2026-12-18"}
	for _, folder := range []string{"", "export/"} {
		rows, err := readPath(zipped(t, rosterFiles, folder))
		if err != nil {
			t.Fatal(err)
		}
		check(t, rows, []Row{
			{Place: "courses.csv:2", Kind: catalog.CourseKind, Name: "c1", Fields: map[string]any{"name": "Biology", "code": "BIO 1"}},
			{Place: "courses.csv:3", Kind: catalog.CourseKind, Name: "c2", Fields: map[string]any{"name": "Chemistry", "code": "c2"}},
			{Place: "classes.csv:2", Kind: catalog.SectionKind, Name: "k1", Parent: "c1", Fields: map[string]any{"name": "Biology A", "description": "Fall 2026, Week 1, North Campus, Room 5", "campus": "North Campus", "term": fall}},
			{Place: "classes.csv:3", Kind: catalog.SectionKind, Name: "k2", Parent: "c1", Gone: true, Fields: map[string]any{"name": "Old", "description": "Fall 2026", "campus": nil, "term": fall}},
		})
	}
	// Classes may come without the courses, which an earlier bundle had.
	delta := maps.Clone(rosterFiles)
	delete(delta, "courses.csv")
	if rows, err := readPath(zipped(t, delta, "")); err != nil || len(rows) != 2 || rows[0].Kind != catalog.SectionKind || rows[0].Parent != "c1" {
		t.Errorf("%+v, %v", rows, err)
	}
	broken := map[string]string{"courses.csv": rosterFiles["courses.csv"], "classes.csv": "sourcedId,title\nk,K\n"}
	if _, err := readPath(zipped(t, broken, "")); err == nil || !strings.Contains(err.Error(), `classes.csv: a table of sections needs a column "courseExternalId"`) {
		t.Errorf("error %v", err)
	}
}

// A directory or archive of tables named after their kinds.
func TestBundle(t *testing.T) {
	files := map[string]string{"courses.csv": "code,name\nA,B\n", "My-Jobs.csv": "id,name,employer\n1,N,E\n", "readme.txt": "", "more.json": `{"programs":[{"externalId":"p"}]}`}
	name := zipped(t, files, "")
	dir := t.TempDir()
	for file, text := range files {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{name, dir} {
		rows, err := readPath(path)
		if err != nil {
			t.Fatal(err)
		}
		check(t, rows, []Row{
			{Place: "courses.csv:2", Kind: catalog.CourseKind, Name: "A", Fields: map[string]any{"code": "A", "name": "B"}},
			{Place: "more.json: programs[0]", Kind: catalog.ProgramKind, Name: "p", Fields: map[string]any{}},
			{Place: "My-Jobs.csv:2", Kind: catalog.JobKind, Name: "1", Fields: map[string]any{"name": "N", "employerId": "E"}},
		})
	}
	if _, err := readPath(zipped(t, map[string]string{"a/courses.csv": "", "b/courses.csv": ""}, "")); err == nil || !strings.Contains(err.Error(), "two files courses.csv") {
		t.Errorf("error %v", err)
	}
	if _, err := readPath(zipped(t, map[string]string{"a.txt": ""}, "")); err == nil || !strings.Contains(err.Error(), "neither CSV nor JSON") {
		t.Errorf("error %v", err)
	}
	if _, err := readPath(filepath.Join(dir, "absent.csv")); err == nil {
		t.Error("a file that is not there was read")
	}
}

// Reading any table terminates, and each row has its place and fields.
func FuzzReadCSV(f *testing.F) {
	for _, text := range []string{
		"code,name\nA,B\n", "\ufeffid;name;employer\r\n1;\"a\nb\";x\r\n", "sectionid\tcourseid\tname\n1\t2\t3", utf16Text("code,name\n1,2\n"),
		"code,name,skills,salaryMin\nA,B,core:x=1@2;=,;|\n", "a\xff,b\n\xff,\"", "code,name\n\"\"\"\",\n",
	} {
		f.Add([]byte(text), "courses")
		f.Add([]byte(text), "")
	}
	f.Fuzz(func(t *testing.T, text []byte, kind string) {
		rows, err := Read(bytes.NewReader(text), "f.csv", Options{Resource: entry.KindNamed(kind)})
		if err != nil {
			return
		}
		for _, row := range rows {
			if row.Place == "" || row.Fields == nil || row.Kind == "" {
				t.Errorf("row %+v", row)
			}
		}
	})
}

func FuzzReadJSON(f *testing.F) {
	for _, text := range []string{
		`{"courses":[{"externalId":"c","sections":[{"externalId":"s"}]}],"programs":[{"externalId":"p","courses":["c"]}]}`,
		`{"jobs":[{"externalId":1}]}`, `[`, `{"jobs":[{}]}`, "{\"code\":\"C\"}\n{\"resource\":\"section\",\"courseExternalId\":\"C\"}\n",
	} {
		f.Add(text, "f.json")
		f.Add(text, "f.ndjson")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		rows, err := Read(strings.NewReader(text), "f"+filepath.Ext(name), Options{MaxRows: 1000})
		var failure *Failure
		if err != nil && !errors.As(err, &failure) {
			t.Errorf("error without a code: %v", err)
		}
		for _, row := range rows {
			if row.Place == "" || row.Kind == "" || row.Fields == nil || len(row.Source) == 0 {
				t.Errorf("row %+v", row)
			}
		}
	})
}
