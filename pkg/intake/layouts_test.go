package intake

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/catalog"
)

// The header rows of systems, as their public documents name the columns, with the field that each column becomes. The
// files are of our own making, with invented courses; only the names of columns are taken from the documents.
func TestDocumentedLayouts(t *testing.T) {
	for _, c := range []struct {
		system, document string
		file             string // in testdata/layouts
		kind             catalog.Kind
		layout           Layout
		columns          string // header=field, or header of an ignored column
		want             Row    // the first
	}{
		{
			system: "Banner, catalog", document: "Banner ERD, model Catalog: SCBCRSE, SCBDESC", file: "banner-catalog", kind: catalog.CourseKind, layout: Banner,
			columns: "SCBCRSE_SUBJ_CODE=subject,SCBCRSE_CRSE_NUMB=number,SCBCRSE_TITLE=name,SCBDESC_TEXT_NARRATIVE=description,SCBCRSE_CREDIT_HR_LOW=creditsMin,SCBCRSE_CREDIT_HR_IND,SCBCRSE_CREDIT_HR_HIGH=creditsMax,SCBCRSE_CSTA_CODE=lifecycleStatus,SCBCRSE_EFF_TERM=effectiveTerm,SCBCRSE_COLL_CODE",
			want: Row{Name: "WELD 290", Effective: "202310", Fields: object{
				"code": "WELD 290", "name": "Practicum", "description": "Work in a shop.", "lifecycleStatus": "ACTIVE", "credits": object{"min": 1.0, "max": 6.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "Banner, schedule", document: "Banner ERD, model Catalog: SSBSECT", file: "banner-schedule", kind: catalog.SectionKind, layout: Banner,
			columns: "SSBSECT_TERM_CODE=term,SSBSECT_CRN=externalId,SSBSECT_PTRM_CODE,SSBSECT_SUBJ_CODE=subject,SSBSECT_CRSE_NUMB=number,SSBSECT_SEQ_NUMB,SSBSECT_SSTS_CODE=status,SSBSECT_CAMP_CODE=campus,SSBSECT_CRSE_TITLE=name,SSBSECT_INSM_CODE=modality",
			want: Row{Name: "202610/10234", Parent: "WELD 110", Untitled: true, Fields: object{
				"term": object{"code": "202610"}, "status": "CANCELLED", "campus": "M", "modality": "ONLINE",
			}},
		},
		{
			system: "PeopleSoft, catalog", document: "PeopleSoft Campus Solutions records CRSE_CATALOG, CRSE_OFFER", file: "peoplesoft-catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "CRSE_ID=externalId,EFFDT=effectiveFrom,EFF_STATUS=lifecycleStatus,DESCR,COURSE_TITLE_LONG=name,DESCRLONG=description,UNITS_MINIMUM=creditsMin,UNITS_MAXIMUM=creditsMax,SUBJECT=subject,CATALOG_NBR=number,ACAD_CAREER=level",
			want: Row{Name: "004567", Effective: "2024-08-01", Fields: object{
				"code": "BIOL 101", "name": "Biology", "description": "Cells.", "lifecycleStatus": "ACTIVE", "level": "GRADUATE", "effectiveFrom": "2024-08-01",
				"credits": object{"min": 4.0, "max": 4.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "PeopleSoft, classes", document: "PeopleSoft Campus Solutions record CLASS_TBL", file: "peoplesoft-schedule", kind: catalog.SectionKind, layout: Generic,
			columns: "CLASS_NBR=externalId,STRM=term,CRSE_ID=courseExternalId,SUBJECT=subject,CATALOG_NBR=number,CLASS_SECTION,DESCR=name,CLASS_STAT=status,CAMPUS=campus,INSTRUCTION_MODE=modality",
			want: Row{Name: "3423", Parent: "004567", Fields: object{
				"name": "Biology", "term": object{"code": "2265"}, "status": "PLANNED", "campus": "MAIN", "modality": "IN_PERSON",
			}},
		},
		{
			system: "Colleague, courses", document: "Colleague Student, file COURSES", file: "colleague-catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "COURSES.ID=externalId,CRS.NAME=code,CRS.SUBJECT=subject,CRS.NO=number,CRS.TITLE=name,CRS.SHORT.TITLE,CRS.DESC=description,CRS.MIN.CRED=creditsMin,CRS.MAX.CRED=creditsMax,CRS.STATUS=lifecycleStatus,CRS.START.DATE=effectiveFrom,CRS.END.DATE=effectiveTo",
			want: Row{Name: "77", Effective: "2024-08-15", Fields: object{
				"code": "BIO-101", "name": "Biology", "description": "Cells.", "lifecycleStatus": "ACTIVE", "effectiveFrom": "2024-08-15", "effectiveTo": nil,
				"credits": object{"min": 3.0, "max": 3.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "Colleague, sections", document: "Colleague Student, file COURSE.SECTIONS", file: "colleague-schedule", kind: catalog.SectionKind, layout: Generic,
			columns: "COURSE.SECTIONS.ID=externalId,SEC.COURSE=courseExternalId,SEC.TERM=term,SEC.SHORT.TITLE=name,SEC.STATUS=status,SEC.LOCATION=campus,SEC.INSTR.METHODS=modality,SEC.FACULTY=instructorId",
			want: Row{Name: "9", Parent: "77", Fields: object{
				"name": "Biology", "term": object{"code": "2026FA"}, "status": "CANCELLED", "campus": "MC", "modality": "HYBRID", "instructorId": "4711",
			}},
		},
		{
			system: "Workday Student", document: "Workday Student Records web service, Student Course", file: "workday-catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "Course Definition ID=externalId,Course Subject=subject,Course Number=number,Course Title=name,Description=description,Minimum Units=creditsMin,Maximum Units=creditsMax,Unit Type=creditsUnit,Academic Level=level,Course Status=lifecycleStatus,Effective Date=effectiveFrom",
			want: Row{Name: "CD_1", Effective: "2026-01-05", Fields: object{
				"code": "BIO 101", "name": "Biology", "description": "Cells.", "level": "GRADUATE", "lifecycleStatus": "ACTIVE", "effectiveFrom": "2026-01-05",
				"credits": object{"min": 2.0, "max": 2.0, "unit": "QUARTER_HOUR"},
			}},
		},
		{
			system: "Canvas, courses.csv", document: "Instructure, SIS CSV Format", file: "canvas-courses", kind: catalog.CourseKind, layout: Canvas,
			columns: "course_id=externalId,integration_id,short_name=code,long_name=name,account_id,term_id,status=lifecycleStatus,start_date=effectiveFrom,end_date=effectiveTo,course_format,blueprint_course_id",
			want: Row{Name: "3", Effective: "2026-08-20", Fields: object{
				"code": "BIO101", "name": "Biology", "lifecycleStatus": "ACTIVE", "effectiveFrom": "2026-08-20", "effectiveTo": nil,
			}},
		},
		{
			system: "Canvas, sections.csv", document: "Instructure, SIS CSV Format", file: "canvas-sections", kind: catalog.SectionKind, layout: Generic,
			columns: "section_id=externalId,course_id=courseExternalId,integration_id,name=name,status=status,start_date,end_date",
			want:    Row{Name: "s1", Parent: "3", Fields: object{"name": "Evening", "status": "ACTIVE"}},
		},
		{
			system: "OneRoster, courses.csv", document: "1EdTech, OneRoster 1.2 CSV Binding", file: "oneroster-courses", kind: catalog.CourseKind, layout: OneRoster,
			columns: "sourcedId=externalId,status=lifecycleStatus,dateLastModified,schoolYearSourcedId,title=name,courseCode=code,grades,orgSourcedId,subjects,subjectCodes",
			want:    Row{Name: "c1", Fields: object{"name": "Biology", "code": "BIO 1"}},
		},
		{
			system: "Slate", document: "Technolutions, Courses, Transfer Credit, and Ongoing Classes: Course Catalog Import", file: "slate-catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "key,number=code,name=name,active=lifecycleStatus,department,realm,start_semester=effectiveFrom,end_semester=effectiveTo,external_id=externalId,grade_level,level=level,type",
			want: Row{Name: "77", Effective: "2020-01-01", Fields: object{
				"code": "BIO 101", "name": "Biology", "lifecycleStatus": "RETIRED", "level": "LOWER_DIVISION", "effectiveFrom": "2020-01-01", "effectiveTo": nil,
			}},
		},
		{
			system: "TES, course data set", document: "CollegeSource, Submit a Course Data Set to CollegeSource", file: "tes-catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "Edition,Department,DepartmentAbbr,CourseCode=code,CourseLabel=name,CourseDescription=description,Units=credits,LectureHours,LabHours,OtherHours,Prerequisite,Corequisite,Recommended,Offered,GradeBasis",
			want: Row{Name: "Bus 100B", Fields: object{
				"code": "Bus 100B", "name": "Exploration", "description": "More of it.", "credits": object{"min": 3.0, "max": 3.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "Transferology Lab", document: "CollegeSource, Course Catalog Import and Export Record Format", file: "transferology-catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "Course Department=subject,Course Number=number,Course FYT=effectiveTerm,Course LYT,Course Title=name,Hours Low=creditsMin,Hours High=creditsMax,Department Name,Pseudo Course Flag,Delivery Types,Memo FYT,Memo LYT,Memo Description,Memo Text",
			want: Row{Name: "BIO 101", Effective: "202008", Fields: object{
				"code": "BIO 101", "name": "Biology", "credits": object{"min": 3.0, "max": 4.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "Blackboard Learn", document: "Blackboard, Course and Organization Data Feed Elements", file: "blackboard-catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "COURSE_ID=code,EXTERNAL_COURSE_KEY=externalId,COURSE_NAME=name,ALLOW_GUESTS,DESCRIPTION=description,END_DATE=effectiveTo,START_DATE=effectiveFrom",
			want: Row{Name: "b1", Effective: "2026-08-20", Fields: object{
				"code": "bio101", "name": "Biology", "description": "Cells.", "effectiveFrom": "2026-08-20", "effectiveTo": "2026-12-20",
			}},
		},
		{
			system: "SmartCatalog", document: "Watermark, Course Fields on the Catalog Course item", file: "smartcatalog-catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "Subject Code=subject,Subject Name,Course Name=name,Course Number=number,Course Description=description,Offered,Distribution,Instructor=instructorName,Notes",
			want: Row{Name: "BIO 201", Fields: object{
				"code": "BIO 201", "name": "Cell Biology", "description": "Cells.", "instructorName": "N. N.",
			}},
		},
		{
			system: "Anthology, course evaluations", document: "Anthology, Course Import", file: "anthology-catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "CourseNumber=code,CourseSection,CourseName=name,Department,Period,FacultyUserName",
			want:    Row{Name: "BIO 101", Fields: object{"code": "BIO 101", "name": "Biology"}},
		},
		{
			system: "Campus Labs, core data", document: "Campus Labs, Core Data Courses", file: "campuslabs-catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "CourseIdentifier=externalId,Subject=subject,Number=number,Title=name,Credits=credits,OrgUnitIdentifier,Type,Description=description,CIPCode",
			want: Row{Name: "ENG101", Fields: object{
				"code": "ENG 101", "name": "Composition", "description": "Essays.", "credits": object{"min": 3.0, "max": 3.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "CIMS", document: "Purdue Global, Importing to the Course List", file: "cims-catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "Course Number=code,Course Name=name,Course Description=description,Number of Units,Credit Hours=credits,Prerequisites,Degree Type,Course Type,Course Status=lifecycleStatus",
			want: Row{Name: "CM 107", Fields: object{
				"code": "CM 107", "name": "Composition", "description": "Essays.", "lifecycleStatus": "ACTIVE", "credits": object{"min": 5.0, "max": 5.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "Mazévo", document: "Mazévo, Course Import File Specifications", file: "mazevo-catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "Department,CourseNumber=code,Section,Title=name,Instructor=instructorName,Days,BuildingCode,RoomCode,StartTime,EndTime,StartDate=effectiveFrom,EndDate=effectiveTo,Enrollment",
			want: Row{Name: "101", Effective: "2020-09-01", Fields: object{
				"code": "101", "name": "Accounting", "instructorName": "N. N.", "effectiveFrom": "2020-09-01", "effectiveTo": "2020-12-15",
			}},
		},
		{
			system: "Moodle", document: "Moodle, Upload courses", file: "moodle-catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "shortname=code,fullname=name,category,idnumber=externalId,summary=description,format",
			want:    Row{Name: "77", Fields: object{"code": "bio", "name": "Biology", "description": "Cells."}},
		},
		{
			system: "Populi", document: "Populi, The course catalog", file: "populi-catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "Abbreviation=code,Name=name,Description=description,Credits=credits,Hours",
			want: Row{Name: "LIT211", Fields: object{
				"code": "LIT211", "name": "Western Literature", "description": "Books.", "credits": object{"min": 3.0, "max": 3.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "AccuCampus", document: "AccuCampus, Importing Courses", file: "accucampus-catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "Code=code,Name=name,Details,Group,Department,Schedule", want: Row{Name: "BIO", Fields: object{"code": "BIO", "name": "Biology"}},
		},
		{
			system: "Acalog", document: "no public header row; the elements prefix, code and name of the Acalog API's courses, and the fields that public readers of it name", file: "acalog-catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "Prefix=subject,Code=code,Name=name,Description=description,Credit Hours=credits,Department,Cross Listed",
			want: Row{Name: "CSCI 1200", Fields: object{
				"code": "CSCI 1200", "name": "Data Structures", "description": "Lists, trees and hashing.", "credits": object{"min": 4.0, "max": 4.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "Curriculog", document: "no public header row; the labels of proposals that the University of Tennessee's public reader of Curriculog's report API lists", file: "curriculog-catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "Proposal Name,Proposal Status,Prefix=subject,Course Number/Code (max 4 characters: 3 numerals + optional 1 letter)=number,Course Title (max 100 characters)=name,Transcript Name (max 30 characters),Credit Hours (max 8 characters)=credits,Department (Acalog Hierarchy),URL",
			want: Row{Name: "BIO 101", Fields: object{
				"code": "BIO 101", "name": "Biology", "credits": object{"min": 4.0, "max": 4.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "CourseLeaf, schedule", document: "exports of CourseLeaf's section scheduler (CLSS) as public scheduling programs for the University of Nebraska at Omaha read and write them; no public header row of its course inventory (CIM)", file: "clss-schedule", kind: catalog.SectionKind, layout: Generic,
			columns: ",CLSS ID=externalId,SIS ID,Term=termName,Term Code=term,Department Code,Subject Code=subject,Catalog Number=number,Course,Section #,Course Title=name,Instructor=instructorName,Status=status,Campus=campus,Inst. Method=modality,Credit Hrs",
			want: Row{Name: "771", Parent: "CSCI 1200", Fields: object{
				"name": "Data Structures", "term": object{"code": "1268", "name": "Fall 2026"}, "status": "ACTIVE", "campus": "Main", "modality": "IN_PERSON", "instructorName": "Doe, J. (1)",
			}},
		},
		{
			system: "Coursedog, import", document: "a public guide to Coursedog's CSV imports: courses", file: "coursedog-catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "code=code,subject=subject,courseNumber=number,title=name,credits=credits,description=description,department,effectiveDate=effectiveFrom,endDate=effectiveTo",
			want: Row{Name: "CS101", Effective: "2023-09-01", Fields: object{
				"code": "CS101", "name": "Programming", "description": "Programs.", "effectiveFrom": "2023-09-01", "effectiveTo": "2028-08-31",
				"credits": object{"min": 3.0, "max": 3.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "Coursedog, records", document: "no public header row; properties of the courses of Coursedog's API in public programs that read them", file: "coursedog-records", kind: catalog.CourseKind, layout: Generic,
			columns: "id,courseGroupId=externalId,code=code,subjectCode=subject,courseNumber=number,name=name,description=description,learningOutcomes,credits.creditHours.min=creditsMin,credits.creditHours.max=creditsMax,courseTypicallyOffered,effectiveStartDate=effectiveFrom,status=lifecycleStatus",
			want: Row{Name: "0042", Effective: "2023-09-01", Fields: object{
				"code": "ART7", "name": "Clay", "description": "Pots.", "effectiveFrom": "2023-09-01", "lifecycleStatus": "ACTIVE",
				"credits": object{"min": 3.0, "max": 3.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "Coursedog, form", document: "University of Utah, Coursedog: Creating a Course (the form's fields)", file: "coursedog-form", kind: catalog.CourseKind, layout: Generic,
			columns: "Effective Term=effectiveTerm,Subject Code=subject,Catalog Number=number,Course Level=level,Short Course Title,Long Course Title=name,Course Description=description,Cross-Listed Course(s),Semester Credit Hours=credits",
			want: Row{Name: "BIOL 1010", Effective: "1268", Fields: object{
				"code": "BIOL 1010", "name": "Introduction to Biology", "description": "Cells.", "level": "GRADUATE", "credits": object{"min": 3.0, "max": 3.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "Jenzabar, catalog", document: "no public header row; fields of Jenzabar One's catalog in a public integration", file: "jenzabar-catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "catalog_appid=externalId,crs_cde=code,formatted_crs_cde,crs_title=name,catalog_text=description",
			want:    Row{Name: "901", Fields: object{"code": "GPE  104", "name": "College Reading", "description": "Texts."}},
		},
		{
			system: "Jenzabar, courses offered", document: "header row of Grove City College's courses offered, in public student projects that read it", file: "jenzabar-offered", kind: catalog.CourseKind, layout: Generic,
			columns: "yr_cde,trm_cde,crs_comp1=subject,crs_comp2=number,crs_comp3,crs_title=name,credit_hrs=credits,crs_capacity,crs_enrollment,monday_cde,begin_tim,end_tim,last_name,first_name,preferred_name,comment_txt",
			want: Row{Name: "ACCT 201", Fields: object{
				"code": "ACCT 201", "name": "PRINCIPLES OF ACCOUNTING", "credits": object{"min": 3.0, "max": 3.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "Jenzabar CX, schedule", document: "Ad Astra, Jenzabar CX Table and Data Detail: Academic Sections", file: "astra-schedule", kind: catalog.SectionKind, layout: Generic,
			columns: "SisKey=externalId,Term=term,YearCode,CourseNumber=number,SectionNumber,Subject=subject,Course,Campus=campus,Title=name,MaxEnrollment,Enrollment,StatusCode=status",
			want: Row{Name: "BIO10101FA2026", Parent: "BIO101", Fields: object{
				"name": "Biology", "term": object{"code": "FA2026"}, "status": "CANCELLED", "campus": "MAIN",
			}},
		},
		{
			system: "handmade", document: "none: the words that people use", file: "handmade-catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "Course #=code,Long Title=name,Title,Credit Hours=credits,Level=level",
			want: Row{Name: "BIO 101", Fields: object{
				"code": "BIO 101", "name": "Biology", "level": "UPPER_DIVISION", "credits": object{"min": 3.0, "max": 4.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "handmade, two columns of code", file: "handmade-pair", kind: catalog.CourseKind, layout: Generic,
			columns: "Subj=subject,Crse=number,Title=name", want: Row{Name: "BIO 101", Fields: object{"code": "BIO 101", "name": "Biology"}},
		},
		{
			system: "handmade, Course No.", file: "handmade-number", kind: catalog.CourseKind, layout: Generic,
			columns: "Course No.=code,Course=name", want: Row{Name: "BIO 101", Fields: object{"code": "BIO 101", "name": "Biology"}},
		},
	} {
		t.Run(c.system, func(t *testing.T) {
			var want []Column
			for column := range strings.SplitSeq(c.columns, ",") {
				text, field, _ := strings.Cut(column, "=")
				want = append(want, Column{Header: text, Field: field})
			}
			text, err := os.ReadFile("testdata/layouts/" + c.file + ".csv")
			if err != nil {
				t.Fatal(err)
			}
			name := "export.csv"
			if _, base, _ := strings.Cut(c.file, "-"); base == "courses" || base == "sections" { // a name that the system gives
				name = base + ".csv"
			}
			f, err := Open(bytes.NewReader(text), name, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if f.Resource != c.kind || f.Layout != c.layout || f.Count < 2 {
				t.Errorf("%s, layout %s, %d rows", f.Resource, f.Layout, f.Count)
			}
			for i := range f.Columns {
				f.Columns[i].Example, f.Columns[i].File = "", ""
			}
			if diff := cmp.Diff(want, f.Columns); diff != "" {
				t.Error(diff)
			}
			rows, err := f.All()
			if err != nil {
				t.Fatal(err)
			}
			c.want.Kind, c.want.Place = c.kind, fmt.Sprintf("%s:%d", name, rows[0].Line)
			check(t, rows[:1], []Row{c.want})
			for _, row := range rows {
				if row.Problems != nil {
					t.Errorf("%s: %v", row.Place, row.Problems)
				}
			}
		})
	}
}

// Files as reports and spreadsheets write them: the same two courses.
func TestFilesAsWritten(t *testing.T) {
	const (
		head = "Subj,Crse,Long Title,Description,Credits\n"
		one  = "BIO,101,Biology,\"Cells,\ntissues.\",3.00 - 4.00\n"
		two  = "BIO,102,Études,,VAR 1-3\n"
		all  = head + one + two
	)
	semicolons := "Subj;Crse;Long Title;Description;Credits\nBIO;101;Biology;\"Cells,\ntissues.\";3.00 - 4.00\nBIO;102;Études;;VAR 1-3\n"
	tabs := strings.ReplaceAll(semicolons, ";", "\t")
	titles := "Course Inventory, Office of the Registrar, as of May 5, 2026\nPage 1\n\n"
	for _, c := range []struct {
		name, text string
		extra      []string // headers without a field
	}{
		{"plain", all, nil},
		{"titles", titles + all, nil},
		{"titles before semicolons", titles + semicolons, nil},
		{"titles before tabs", titles + tabs, nil},
		{"titles, CRLF and a byte order mark", "\ufeff" + strings.ReplaceAll(titles+semicolons, "\n", "\r\n"), nil},
		{"Unicode text of Excel", utf16Text(titles + tabs), nil},
		{"UTF-16 without a mark", utf16Text(semicolons)[2:], nil},
		{"Windows-1252", strings.ReplaceAll(titles+semicolons, "É", "\xc9"), nil},
		{"empty columns", "Subj,Crse,Long Title,Description,Credits,,\nBIO,101,Biology,\"Cells,\ntissues.\",3.00 - 4.00,,\nBIO,102,Études,,VAR 1-3,,\n", []string{"", ""}},
		{"cells beyond the header", head + one + strings.ReplaceAll(two, "\n", ",,,\n"), nil},
		{"a header twice", "Subj,Crse,Long Title,Description,Credits,CREDITS\nBIO,101,Biology,\"Cells,\ntissues.\",3.00 - 4.00,9\nBIO,102,Études,,VAR 1-3,9\n", []string{"CREDITS"}},
		{"the header on each page", titles + head + one + "\n" + head + two, nil},
		{"headings of groups", ",Subj,Crse,Long Title,Description,Credits\nBiology,,,,,\n,BIO,101,Biology,\"Cells,\ntissues.\",3.00 - 4.00\nBotany,,,,,\n,BIO,102,Études,,VAR 1-3\n", []string{""}},
		{"breaks in headers", "\"Course\nSubject\",\"Course\nNumber\",\"Long\nTitle\",Description,Credits\n" + one + two, nil},
		{"hints in headers", "Subject (required),Number (max 6 characters),Title *,Description (optional),Credits\n" + one + two, nil},
		{"codes in the column of numbers", head + strings.ReplaceAll(one+two, "BIO,", "BIO,BIO "), nil},
		{"a prefix and a code", "Prefix,Code,Name,Description,Credit Hours\n" + one + two, nil},
		{"one column", "Course Code,Title,Description,Cr.\nBIO 101,Biology,\"Cells,\ntissues.\",3.00 - 4.00\nBIO 102,Études,,VAR 1-3\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Open(strings.NewReader(c.text), "export.csv", Options{})
			if err != nil {
				t.Fatal(err)
			}
			var extra []string
			for _, column := range f.Columns {
				if column.Field == "" {
					extra = append(extra, column.Header)
				}
			}
			if diff := cmp.Diff(c.extra, extra); diff != "" {
				t.Errorf("columns without a field: %s", diff)
			}
			rows, err := f.All()
			if err != nil {
				t.Fatal(err)
			}
			for i := range rows {
				rows[i].Place = ""
			}
			credits := func(low, high float64) object { return object{"min": low, "max": high, "unit": "SEMESTER_HOUR"} }
			check(t, rows, []Row{
				{Kind: catalog.CourseKind, Name: "BIO 101", Fields: object{"code": "BIO 101", "name": "Biology", "description": "Cells,\ntissues.", "credits": credits(3, 4)}},
				{Kind: catalog.CourseKind, Name: "BIO 102", Fields: object{"code": "BIO 102", "name": "Études", "description": nil, "credits": credits(1, 3)}},
			})
		})
	}
}

// A column that only sections have tells them from courses, whatever the name of the file and the other columns.
func TestKindByColumn(t *testing.T) {
	text := "externalId,courseExternalId,name,startDate,endDate\nS1,C1,Evening,2026-01-12,2026-05-08\n"
	f, err := Open(strings.NewReader(text), "courses.csv", Options{})
	if err != nil || f.Resource != catalog.SectionKind {
		t.Errorf("%+v, %v", f, err)
	}
}

// Credits as other systems write them.
func TestCreditsAsWritten(t *testing.T) {
	for text, want := range map[string]any{
		"3": []float64{3, 3}, "3.000": []float64{3, 3}, ".5": []float64{.5, .5}, "3.00 - 4.00": []float64{3, 4}, "1 TO 4": []float64{1, 4}, "1 to 4 credits": []float64{1, 4},
		"1 OR 3": []float64{1, 3}, "VAR 1-3": []float64{1, 3}, "Variable: 1-3": []float64{1, 3}, "1-3 VAR": []float64{1, 3}, "1–3 var.": []float64{1, 3}, "3 cr.": []float64{3, 3},
		"3 Credit(s)": []float64{3, 3}, "3 hrs": []float64{3, 3}, "4-Jan": []float64{1, 4}, "15-Mar": []float64{3, 15}, "3-0": []float64{3, 3}, "0": []float64{0, 0},
		"VAR": "ignored", "Arranged": "ignored", "N/A": "ignored", "three": "problem", "3;4": "problem", "1-2-3": "problem", "3 points": "problem", "-3": "problem",
	} {
		rows := ofCSV(t, "courses.csv", "code,name,credits\nA,B,\""+text+"\"\n", "")
		var got any = "problem"
		credits, ok := rows[0].Fields["credits"].(object)
		switch {
		case ok:
			got = []float64{credits["min"].(float64), credits["max"].(float64)}
		case rows[0].Ignored != nil && rows[0].Problems == nil:
			got = "ignored"
		case rows[0].Problems == nil:
			got = "lost"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// Codes come from one column, or from a subject and a number that may repeat it.
func TestCodesAsWritten(t *testing.T) {
	for text, want := range map[string]string{
		"subject,number,name\nBIO,101,N": "BIO 101", "subject,number,name\nBIO,BIO 101,N": "BIO 101", "subject,number,name\nBIO,bio101,N": "bio101", "subject,number,name\n10,101,N": "10 101",
		"subject,number,name\n15,15-213,N": "15-213", "subject,number,name\nART,ARTS 7,N": "ART ARTS 7", "subject,number,name\nBIO,,N": "", "code,subject,number,name\nX1,BIO,101,N": "X1",
		"prefix,code,name\nBIO,101,N": "BIO 101", "prefix,code,name\nBIO,BIO 101,N": "BIO 101", "subject,code,name\nBiology,40112,N": "40112",
	} {
		if rows := ofCSV(t, "courses.csv", text+"\n", ""); rows[0].Fields["code"] != want {
			t.Errorf("%q: %v, want %s", text, rows[0].Fields["code"], want)
		}
	}
}
