package main

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"skillscurriculum/infra/local/stack"
	"skillscurriculum/infra/local/stack/stacktest"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/client"
)

// catalogSize is the number of courses of a college, of which one in ten has a section of each status.
const catalogSize = 300

// banner returns a catalog as Banner has it: courses, and sections.
func banner() (courses, sections [][]string) {
	courses = [][]string{{"SCBCRSE_SUBJ_CODE", "SCBCRSE_CRSE_NUMB", "SCBCRSE_EFF_TERM", "SCRSYLN_LONG_COURSE_TITLE", "SCBDESC_TEXT_NARRATIVE", "SCBCRSE_CREDIT_HR_LOW"}}
	sections = [][]string{{"SSBSECT_TERM_CODE", "SSBSECT_CRN", "SSBSECT_SUBJ_CODE", "SSBSECT_CRSE_NUMB", "SSBSECT_CRSE_TITLE", "SSBSECT_SSTS_CODE"}}
	for i := range catalogSize {
		number := fmt.Sprint(100 + i)
		courses = append(courses, []string{
			"CIS", number, "202010", "Data Systems " + number, "Students write SQL queries, design relational databases and analyze data with Python.", "3",
		})
		if i%10 == 0 {
			sections = append(sections, []string{"202610", "1" + number, "CIS", number, "", "A"}, []string{"202610", "2" + number, "CIS", number, "", "C"})
		}
	}
	return courses, sections
}

func csvOf(table [][]string) []byte {
	var out bytes.Buffer
	for _, line := range table {
		out.WriteString(`"` + strings.Join(line, `","`) + "\"\n")
	}
	return out.Bytes()
}

func xlsxOf(t *testing.T, table [][]string) []byte {
	book := excelize.NewFile()
	for i, line := range table {
		if err := book.SetSheetRow("Sheet1", fmt.Sprint("A", i+1), &line); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := book.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// oneRoster returns the same catalog as a bundle of OneRoster, which has no descriptions.
func oneRoster(t *testing.T) []byte {
	courses := [][]string{{"sourcedId", "status", "dateLastModified", "title", "courseCode"}}
	classes := [][]string{{"sourcedId", "status", "dateLastModified", "title", "courseSourcedId", "schoolSourcedId", "termSourcedIds"}}
	for i := range catalogSize {
		id := fmt.Sprint(100 + i)
		courses = append(courses, []string{"c-" + id, "active", "", "Relational Databases and SQL", "CIS " + id})
		if i%10 == 0 {
			classes = append(classes, []string{"k-" + id, "active", "", "Evening", "c-" + id, "s", "t"})
		}
	}
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for name, table := range map[string][][]string{
		"courses.csv": courses, "classes.csv": classes,
		"academicSessions.csv": {{"sourcedId", "title", "type", "startDate", "endDate"}, {"t", "Spring", "term", "2026-01-10", "2026-05-20"}},
	} {
		w, err := archive.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(csvOf(table)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// college is a customer on its first day.
type college struct {
	*testing.T
	*client.Client
}

func ask[T any](c college, operation string, body any, query url.Values, ids ...string) T {
	c.Helper()
	out, err := client.Do[T](c.Context(), c.Client, client.Request{Operation: operation, IDs: ids, Body: body, Query: query})
	if err != nil {
		c.Fatal(err)
	}
	return out
}

// imports uploads a file, checks it and applies it, and returns the counts.
func (c college) imports(name string, content []byte) catalog.ImportCounts {
	c.Helper()
	sum := sha256.Sum256(content)
	document := ask[struct {
		ID     string
		Upload catalog.Upload
	}](c, "createDocument", map[string]any{"fileName": name, "sizeBytes": len(content), "sha256": hex.EncodeToString(sum[:])}, nil)
	request, err := http.NewRequestWithContext(c.Context(), document.Upload.Method, document.Upload.URL, bytes.NewReader(content))
	if err != nil {
		c.Fatal(err)
	}
	for header, value := range document.Upload.Headers {
		request.Header.Set(header, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		c.Fatalf("upload: %s", response.Status)
	}
	var ended []catalog.Import
	for _, mode := range []string{catalog.CheckOnly, catalog.ApplyRows} {
		i := ask[catalog.Import](c, "createImport", map[string]any{"documentId": document.ID, "mode": mode}, nil)
		for !i.Ended() {
			time.Sleep(200 * time.Millisecond)
			i = ask[catalog.Import](c, "getImport", nil, nil, i.ID)
		}
		if i.Status != catalog.ImportCompleted || i.Counts.Failed > 0 {
			c.Fatalf("%s of %s: %+v", mode, name, i)
		}
		ended = append(ended, i)
	}
	if ended[0].Counts != ended[1].Counts {
		c.Errorf("%s: the check counts %+v, the import %+v", name, ended[0].Counts, ended[1].Counts)
	}
	return ended[1].Counts
}

// reports waits until all courses have skills, and compares 60 of them with an occupation.
func (c college) reports() {
	c.Helper()
	var courses []catalog.Course
	list := client.Request{Operation: "listCourses", Query: url.Values{"limit": {"100"}}}
	for course, err := range client.List[catalog.Course](c.Context(), c.Client, list) {
		if err != nil {
			c.Fatal(err)
		}
		courses = append(courses, course)
	}
	if len(courses) != catalogSize {
		c.Fatalf("%d courses", len(courses))
	}
	var ids []string
	for _, course := range courses {
		section, err := client.Wait[catalog.Section](c.Context(), c.Client, client.Request{
			Operation: "getSection", IDs: []string{course.ID, course.DefaultSectionID},
		})
		if err != nil || len(section.Skills) == 0 {
			c.Fatalf("%s: %+v %v", course.Code, section, err)
		}
		ids = append(ids, course.ID)
	}
	report := ask[struct{ Report struct{ ID string } }](c, "createReport", map[string]any{"name": "First day", "settings": map[string]any{
		"view": "gap", "courses": ids[:60], "jobs": []any{map[string]any{"id": "15-1242", "lib": "soc"}},
	}}, nil)
	gap := ask[struct {
		Data     []struct{ Coverage float64 }
		Warnings []any
	}](c, "getReport", nil, nil, report.Report.ID)
	if len(gap.Data) != 1 || gap.Data[0].Coverage <= 0 || len(gap.Warnings) > 0 {
		c.Errorf("report %+v", gap)
	}
}

// TestFirstDay: a registrar's file becomes a catalog with skills and a report, through the API alone.
func TestFirstDay(t *testing.T) {
	courses, sections := banner()
	keys := map[string]*client.Client{"banner": {}, "xlsx": {}, "oneroster": {}}
	_, stop, err := stack.Start(t.Context(), stack.Config{
		Dir: filepath.Join(t.TempDir(), "local"), Functions: stacktest.Functions(t), Env: map[string]string{api.EnvRateUnits: "1000000"},
		Console: log.New(io.Discard, "", 0),
		Demo: func(ctx context.Context, p stack.Places) (stack.Demo, error) {
			for name, c := range keys {
				customer := catalog.Customer{ID: catalog.CustomerID("cus_" + name), OrganizationID: catalog.OrgID("org_" + name), Name: name}
				key, err := stack.Open(p.Env).Admit(ctx, &customer)
				if err != nil {
					return stack.Demo{}, err
				}
				c.BaseURL, c.Key = p.BaseURL, key
			}
			return stack.Demo{}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for name, file := range map[string]struct {
		name    string
		content []byte
		records int
	}{
		"banner": {"scbcrse.csv", csvOf(courses), catalogSize}, "xlsx": {"courses.xlsx", xlsxOf(t, courses), catalogSize},
		"oneroster": {"roster.zip", oneRoster(t), catalogSize + catalogSize/10},
	} {
		t.Run(name, func(t *testing.T) {
			c := college{t, keys[name]}
			start := time.Now()
			if counts := c.imports(file.name, file.content); counts.Created != file.records {
				t.Errorf("%+v", counts)
			}
			imported := time.Since(start)
			c.reports()
			t.Logf("%d courses checked and imported in %.1fs, with skills and a report after %.1fs", catalogSize, imported.Seconds(), time.Since(start).Seconds())
			if name == "oneroster" {
				return
			}
			if name == "xlsx" {
				c.imports("sections.xlsx", xlsxOf(t, sections))
			} else {
				c.imports("ssbsect.csv", csvOf(sections))
			}
			for status, want := range map[string]int{"ACTIVE": catalogSize / 10, "CANCELLED": catalogSize / 10} {
				page := ask[struct{ Pagination struct{ Total int } }](c, "listSections", nil, url.Values{"term": {"202610"}, "status": {status}})
				if page.Pagination.Total != want {
					t.Errorf("%d sections are %s", page.Pagination.Total, status)
				}
			}
			if again := c.imports(file.name, file.content); again.Unchanged != catalogSize {
				t.Errorf("again: %+v", again)
			}
		})
	}
}
