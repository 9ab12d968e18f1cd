package intake

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/catalog"
)

// The header rows of systems, as their public documents name the columns, with the field that each column becomes. The
// files are our own; only the names of columns are taken from the documents.
func TestDocumentedLayouts(t *testing.T) {
	for _, c := range []struct {
		system, document string
		file             string // if the name of the file matters
		kind             catalog.Kind
		layout           Layout
		columns          string // header=field, or header of an ignored column
		row              string
		want             Row
	}{
		{
			system: "Banner, catalog", document: "Banner ERD, model Catalog: SCBCRSE, SCBDESC", kind: catalog.CourseKind, layout: Banner,
			columns: "SCBCRSE_SUBJ_CODE=subject,SCBCRSE_CRSE_NUMB=number,SCBCRSE_TITLE=name,SCBDESC_TEXT_NARRATIVE=description,SCBCRSE_CREDIT_HR_LOW=creditsMin,SCBCRSE_CREDIT_HR_IND,SCBCRSE_CREDIT_HR_HIGH=creditsMax,SCBCRSE_CSTA_CODE=lifecycleStatus,SCBCRSE_EFF_TERM=effectiveTerm,SCBCRSE_COLL_CODE",
			row:     "WELD,290,Practicum,Work in a shop.,1,TO,6,A,202310,EF",
			want: Row{Name: "WELD 290", Effective: "202310", Fields: object{
				"code": "WELD 290", "name": "Practicum", "description": "Work in a shop.", "lifecycleStatus": "ACTIVE", "credits": object{"min": 1.0, "max": 6.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "Banner, schedule", document: "Banner ERD, model Catalog: SSBSECT", kind: catalog.SectionKind, layout: Banner,
			columns: "SSBSECT_TERM_CODE=term,SSBSECT_CRN=externalId,SSBSECT_PTRM_CODE,SSBSECT_SUBJ_CODE=subject,SSBSECT_CRSE_NUMB=number,SSBSECT_SEQ_NUMB,SSBSECT_SSTS_CODE=status,SSBSECT_CAMP_CODE=campus,SSBSECT_CRSE_TITLE=name,SSBSECT_INSM_CODE=modality",
			row:     "202610,10234,1,WELD,110,001,X,M,,WEB",
			want: Row{Name: "202610/10234", Parent: "WELD 110", Untitled: true, Fields: object{
				"term": object{"code": "202610"}, "status": "CANCELLED", "campus": "M", "modality": "ONLINE",
			}},
		},
		{
			system: "PeopleSoft, catalog", document: "PeopleSoft Campus Solutions records CRSE_CATALOG, CRSE_OFFER", kind: catalog.CourseKind, layout: Generic,
			columns: "CRSE_ID=externalId,EFFDT=effectiveFrom,EFF_STATUS=lifecycleStatus,DESCR,COURSE_TITLE_LONG=name,DESCRLONG=description,UNITS_MINIMUM=creditsMin,UNITS_MAXIMUM=creditsMax,SUBJECT=subject,CATALOG_NBR=number,ACAD_CAREER=level",
			row:     "004567,2024-08-01,A,Biol,Biology,Cells.,4,4,BIOL, 101,GRAD",
			want: Row{Name: "004567", Effective: "2024-08-01", Fields: object{
				"code": "BIOL 101", "name": "Biology", "description": "Cells.", "lifecycleStatus": "ACTIVE", "level": "GRADUATE", "effectiveFrom": "2024-08-01",
				"credits": object{"min": 4.0, "max": 4.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "PeopleSoft, classes", document: "PeopleSoft Campus Solutions record CLASS_TBL", kind: catalog.SectionKind, layout: Generic,
			columns: "CLASS_NBR=externalId,STRM=term,CRSE_ID=courseExternalId,SUBJECT=subject,CATALOG_NBR=number,CLASS_SECTION,DESCR=name,CLASS_STAT=status,CAMPUS=campus,INSTRUCTION_MODE=modality",
			row:     "3423,2265,004567,BIOL,101,01,Biology,T,MAIN,P",
			want: Row{Name: "3423", Parent: "004567", Fields: object{
				"name": "Biology", "term": object{"code": "2265"}, "status": "PLANNED", "campus": "MAIN", "modality": "IN_PERSON",
			}},
		},
		{
			system: "Colleague, courses", document: "Colleague Student, file COURSES", kind: catalog.CourseKind, layout: Generic,
			columns: "COURSES.ID=externalId,CRS.NAME=code,CRS.SUBJECT=subject,CRS.NO=number,CRS.TITLE=name,CRS.SHORT.TITLE,CRS.DESC=description,CRS.MIN.CRED=creditsMin,CRS.MAX.CRED=creditsMax,CRS.STATUS=lifecycleStatus,CRS.START.DATE=effectiveFrom,CRS.END.DATE=effectiveTo",
			row:     "77,BIO-101,BIO,101,Biology,Bio,Cells.,3,,A,15-AUG-2024,",
			want: Row{Name: "77", Effective: "2024-08-15", Fields: object{
				"code": "BIO-101", "name": "Biology", "description": "Cells.", "lifecycleStatus": "ACTIVE", "effectiveFrom": "2024-08-15", "effectiveTo": nil,
				"credits": object{"min": 3.0, "max": 3.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "Colleague, sections", document: "Colleague Student, file COURSE.SECTIONS", kind: catalog.SectionKind, layout: Generic,
			columns: "COURSE.SECTIONS.ID=externalId,SEC.COURSE=courseExternalId,SEC.TERM=term,SEC.SHORT.TITLE=name,SEC.STATUS=status,SEC.LOCATION=campus,SEC.INSTR.METHODS=modality,SEC.FACULTY=instructorId",
			row:     "9,77,2026FA,Biology,C,MC,HYB,4711",
			want: Row{Name: "9", Parent: "77", Fields: object{
				"name": "Biology", "term": object{"code": "2026FA"}, "status": "CANCELLED", "campus": "MC", "modality": "HYBRID", "instructorId": "4711",
			}},
		},
		{
			system: "Workday Student", document: "Workday Student Records web service, Student Course", kind: catalog.CourseKind, layout: Generic,
			columns: "Course Definition ID=externalId,Course Subject=subject,Course Number=number,Course Title=name,Description=description,Minimum Units=creditsMin,Maximum Units=creditsMax,Unit Type=creditsUnit,Academic Level=level,Course Status=lifecycleStatus,Effective Date=effectiveFrom",
			row:     "CD_1,BIO,101,Biology,Cells.,2,2,Quarter Hours,Graduate,Approved,1/5/2026",
			want: Row{Name: "CD_1", Effective: "2026-01-05", Fields: object{
				"code": "BIO 101", "name": "Biology", "description": "Cells.", "level": "GRADUATE", "lifecycleStatus": "ACTIVE", "effectiveFrom": "2026-01-05",
				"credits": object{"min": 2.0, "max": 2.0, "unit": "QUARTER_HOUR"},
			}},
		},
		{
			system: "Canvas, courses.csv", document: "Instructure, SIS CSV Format", file: "courses.csv", kind: catalog.CourseKind, layout: Canvas,
			columns: "course_id=externalId,integration_id,short_name=code,long_name=name,account_id,term_id,status=lifecycleStatus,start_date=effectiveFrom,end_date=effectiveTo,course_format,blueprint_course_id",
			row:     "1,,BIO101,Biology,A,T,deleted,2026-08-20T00:00:00Z,,online,",
			want: Row{Name: "1", Effective: "2026-08-20", Gone: true, Fields: object{
				"code": "BIO101", "name": "Biology", "effectiveFrom": "2026-08-20", "effectiveTo": nil,
			}},
		},
		{
			system: "Canvas, sections.csv", document: "Instructure, SIS CSV Format", file: "sections.csv", kind: catalog.SectionKind, layout: Generic,
			columns: "section_id=externalId,course_id=courseExternalId,integration_id,name=name,status=status,start_date,end_date",
			row:     "s1,1,,Evening,active,,",
			want:    Row{Name: "s1", Parent: "1", Fields: object{"name": "Evening", "status": "ACTIVE"}},
		},
		{
			system: "OneRoster, courses.csv", document: "1EdTech, OneRoster 1.2 CSV Binding", file: "courses.csv", kind: catalog.CourseKind, layout: OneRoster,
			columns: "sourcedId=externalId,status=lifecycleStatus,dateLastModified,schoolYearSourcedId,title=name,courseCode=code,grades,orgSourcedId,subjects,subjectCodes",
			row:     "c1,,,,Biology,BIO 1,,o1,,",
			want:    Row{Name: "c1", Fields: object{"name": "Biology", "code": "BIO 1"}},
		},
		{
			system: "Slate", document: "Technolutions, Courses, Transfer Credit, and Ongoing Classes: Course Catalog Import", kind: catalog.CourseKind, layout: Generic,
			columns: "key,number=code,name=name,active=lifecycleStatus,department,realm,start_semester=effectiveFrom,end_semester=effectiveTo,external_id=externalId,grade_level,level=level,type",
			row:     ",BIO 101,Biology,0,Science,,2020-01-01,,77,,LD,",
			want: Row{Name: "77", Effective: "2020-01-01", Fields: object{
				"code": "BIO 101", "name": "Biology", "lifecycleStatus": "RETIRED", "level": "LOWER_DIVISION", "effectiveFrom": "2020-01-01", "effectiveTo": nil,
			}},
		},
		{
			system: "TES, course data set", document: "CollegeSource, Submit a Course Data Set to CollegeSource", kind: catalog.CourseKind, layout: Generic,
			columns: "Edition,Department,DepartmentAbbr,CourseCode=code,CourseLabel=name,CourseDescription=description,Units=credits,LectureHours,LabHours,OtherHours,Prerequisite,Corequisite,Recommended,Offered,GradeBasis",
			row:     "2014-2015,Business,Bus,Bus 100B,Exploration,More of it.,3,,,,,,,,",
			want: Row{Name: "Bus 100B", Fields: object{
				"code": "Bus 100B", "name": "Exploration", "description": "More of it.", "credits": object{"min": 3.0, "max": 3.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "Transferology Lab", document: "CollegeSource, Course Catalog Import and Export Record Format", kind: catalog.CourseKind, layout: Generic,
			columns: "Course Department=subject,Course Number=number,Course FYT=effectiveTerm,Course LYT,Course Title=name,Hours Low=creditsMin,Hours High=creditsMax,Department Name,Pseudo Course Flag,Delivery Types,Memo FYT,Memo LYT,Memo Description,Memo Text",
			row:     "BIO,101,202008,999999,Biology,3,4,Biology,,C,,,,",
			want: Row{Name: "BIO 101", Effective: "202008", Fields: object{
				"code": "BIO 101", "name": "Biology", "credits": object{"min": 3.0, "max": 4.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "Blackboard Learn", document: "Blackboard, Course and Organization Data Feed Elements", kind: catalog.CourseKind, layout: Generic,
			columns: "COURSE_ID=code,EXTERNAL_COURSE_KEY=externalId,COURSE_NAME=name,ALLOW_GUESTS,DESCRIPTION=description,END_DATE=effectiveTo,START_DATE=effectiveFrom",
			row:     "bio101,b1,Biology,N,Cells.,20261220,20260820",
			want: Row{Name: "b1", Effective: "2026-08-20", Fields: object{
				"code": "bio101", "name": "Biology", "description": "Cells.", "effectiveFrom": "2026-08-20", "effectiveTo": "2026-12-20",
			}},
		},
		{
			system: "SmartCatalog", document: "Watermark, Course Fields on the Catalog Course item", kind: catalog.CourseKind, layout: Generic,
			columns: "Subject Code=subject,Subject Name,Course Name=name,Course Number=number,Course Description=description,Offered,Distribution,Instructor=instructorName,Notes",
			row:     "BIO,Biology,Cell Biology,201,Cells.,Fall,,N. N.,",
			want: Row{Name: "BIO 201", Fields: object{
				"code": "BIO 201", "name": "Cell Biology", "description": "Cells.", "instructorName": "N. N.",
			}},
		},
		{
			system: "Anthology, course evaluations", document: "Anthology, Course Import", kind: catalog.CourseKind, layout: Generic,
			columns: "CourseNumber=code,CourseSection,CourseName=name,Department,Period,FacultyUserName",
			row:     "BIO 101,1,Biology,Science,Fall,nn",
			want:    Row{Name: "BIO 101", Fields: object{"code": "BIO 101", "name": "Biology"}},
		},
		{
			system: "Campus Labs, core data", document: "Campus Labs, Core Data Courses", kind: catalog.CourseKind, layout: Generic,
			columns: "CourseIdentifier=externalId,Subject=subject,Number=number,Title=name,Credits=credits,OrgUnitIdentifier,Type,Description=description,CIPCode",
			row:     "ENG101,ENG,101,Composition,3,EN,,Essays.,23.1301",
			want: Row{Name: "ENG101", Fields: object{
				"code": "ENG 101", "name": "Composition", "description": "Essays.", "credits": object{"min": 3.0, "max": 3.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "CIMS", document: "Purdue Global, Importing to the Course List", kind: catalog.CourseKind, layout: Generic,
			columns: "Course Number=code,Course Name=name,Course Description=description,Number of Units,Credit Hours=credits,Prerequisites,Degree Type,Course Type,Course Status=lifecycleStatus",
			row:     "CM 107,Composition,Essays.,10,5,,,,Active",
			want: Row{Name: "CM 107", Fields: object{
				"code": "CM 107", "name": "Composition", "description": "Essays.", "lifecycleStatus": "ACTIVE", "credits": object{"min": 5.0, "max": 5.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "Mazévo", document: "Mazévo, Course Import File Specifications", kind: catalog.CourseKind, layout: Generic,
			columns: "Department,CourseNumber=code,Section,Title=name,Instructor=instructorName,Days,BuildingCode,RoomCode,StartTime,EndTime,StartDate=effectiveFrom,EndDate=effectiveTo,Enrollment",
			row:     "ACCT,101,1,Accounting,N. N.,  M W F,BUS,215A,0900,1030,09/01/2020,12/15/2020,10",
			want: Row{Name: "101", Effective: "2020-09-01", Fields: object{
				"code": "101", "name": "Accounting", "instructorName": "N. N.", "effectiveFrom": "2020-09-01", "effectiveTo": "2020-12-15",
			}},
		},
		{
			system: "Moodle", document: "Moodle, Upload courses", kind: catalog.CourseKind, layout: Generic,
			columns: "shortname=code,fullname=name,category,idnumber=externalId,summary=description,format",
			row:     "bio,Biology,1,77,Cells.,topics",
			want:    Row{Name: "77", Fields: object{"code": "bio", "name": "Biology", "description": "Cells."}},
		},
		{
			system: "Populi", document: "Populi, The course catalog", kind: catalog.CourseKind, layout: Generic,
			columns: "Abbreviation=code,Name=name,Description=description,Credits=credits,Hours",
			row:     "LIT211,Western Literature,Books.,3,3",
			want: Row{Name: "LIT211", Fields: object{
				"code": "LIT211", "name": "Western Literature", "description": "Books.", "credits": object{"min": 3.0, "max": 3.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "AccuCampus", document: "AccuCampus, Importing Courses", kind: catalog.CourseKind, layout: Generic,
			columns: "Code=code,Name=name,Details,Group,Department,Schedule", row: "BIO,Biology,,,,", want: Row{Name: "BIO", Fields: object{"code": "BIO", "name": "Biology"}},
		},
		{
			system: "handmade", document: "none: the words that people use", kind: catalog.CourseKind, layout: Generic,
			columns: "Course #=code,Long Title=name,Title,Credit Hours=credits,Level=level", row: "BIO 101,Biology,Bio,3-4 credits,upper-division",
			want: Row{Name: "BIO 101", Fields: object{
				"code": "BIO 101", "name": "Biology", "level": "UPPER_DIVISION", "credits": object{"min": 3.0, "max": 4.0, "unit": "SEMESTER_HOUR"},
			}},
		},
		{
			system: "handmade, two columns of code", kind: catalog.CourseKind, layout: Generic,
			columns: "Subj=subject,Crse=number,Title=name", row: "BIO,101,Biology", want: Row{Name: "BIO 101", Fields: object{"code": "BIO 101", "name": "Biology"}},
		},
		{
			system: "handmade, Course No.", kind: catalog.CourseKind, layout: Generic,
			columns: "Course No.=code,Course=name", row: "BIO 101,Biology", want: Row{Name: "BIO 101", Fields: object{"code": "BIO 101", "name": "Biology"}},
		},
	} {
		t.Run(c.system, func(t *testing.T) {
			var header []string
			var want []Column
			for column := range strings.SplitSeq(c.columns, ",") {
				text, field, _ := strings.Cut(column, "=")
				header = append(header, text)
				want = append(want, Column{Header: text, Field: field})
			}
			name := c.file
			if name == "" {
				name = "export.csv"
			}
			f, err := Open(strings.NewReader(strings.Join(header, ",")+"\n"+c.row+"\n"), name, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if f.Resource != c.kind || f.Layout != c.layout || f.Count != 1 {
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
			c.want.Kind, c.want.Place = c.kind, name+":2"
			check(t, rows, []Row{c.want})
		})
	}
}
