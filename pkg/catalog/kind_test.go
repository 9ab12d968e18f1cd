package catalog

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestEveryKindHasAllColumns: a kind that was added by halves fails here.
func TestEveryKindHasAllColumns(t *testing.T) {
	prefixes := map[string]Kind{}
	for _, row := range kinds {
		k := row.kind
		if k == "" || len(row.prefix) != 4 || !strings.HasSuffix(row.prefix, "_") || row.path != "" && row.path[0] != '/' || row.record == nil {
			t.Errorf("%q lacks a column: %+v", k, row)
			continue
		}
		if other, twice := prefixes[row.prefix]; twice {
			t.Errorf("%s and %s have the same prefix %s", k, other, row.prefix)
		}
		prefixes[row.prefix] = k
		r := k.New()
		if name := reflect.TypeOf(r).Elem().Name(); name != string(k) || KindOf(r) != k {
			t.Errorf("%s makes a %s", k, name)
		}
		if reflect.ValueOf(r.Base()).IsNil() {
			t.Errorf("%s makes a nil record", k)
		}
		_, owned := r.(interface{ parentID() string })
		parameters := 1
		if owned {
			parameters = 2
		}
		if owned != (row.parent != "") {
			t.Errorf("%s: the parent %q does not fit its type, whose parentID method: %v", k, row.parent, owned)
		}
		if row.parent != "" && row.parent.New() == nil {
			t.Errorf("%s: the parent %q is not a kind", k, row.parent)
		}
		if row.nested && (row.parent == "" || row.listed) {
			t.Errorf("%s is nested without a parent, or listed by itself as well", k)
		}
		if row.path != "" && (strings.Count(row.path, "{") != parameters || !strings.HasSuffix(row.path, "}")) {
			t.Errorf("%s: %s does not take the ids of %d records", k, row.path, parameters)
		}
		if parent := row.parent.row().path; parent != "" && !strings.HasPrefix(row.path, parent+"/") {
			t.Errorf("%s: %s does not begin with its parent's %s", k, row.path, parent)
		}
	}
}

// TestEveryRecordIsOfAKind: whatever embeds Meta is a record.
func TestEveryRecordIsOfAKind(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	records := 0
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, field := range s.Fields.List {
					if name, ok := field.Type.(*ast.Ident); ok && len(field.Names) == 0 && name.Name == "Meta" {
						records++
						if Kind(spec.Name.Name).New() == nil {
							t.Errorf("%s is a record without a row in the table of kinds", spec.Name.Name)
						}
					}
				}
			}
			return true
		})
	}
	if records != len(kinds) {
		t.Errorf("%d records, %d kinds", records, len(kinds))
	}
}

func TestHrefNamesTheParentAndTheRecord(t *testing.T) {
	for want, got := range map[string]string{
		"/jobs/j":                        JobKind.Href("", "j"),
		"/courses/c/sections/s":          HrefOf(&Section{Meta: Meta{ID: "s"}, CourseID: "c"}),
		"/transfer-packages/p/courses/t": HrefOf(&TransferCourse{Meta: Meta{ID: "t"}, PackageID: "p"}),
		"/syllabus-extractions/e":        SyllabusExtractionKind.Href("", "e"),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestExtractionsAreThoseOfTheRecord(t *testing.T) {
	var with []Kind
	for _, k := range Kinds() {
		if state := ExtractionOf(k.New()); state != nil {
			with = append(with, k)
		}
	}
	if want := []Kind{SectionKind, TransferCourseKind, SyllabusExtractionKind, OutcomeListKind}; !reflect.DeepEqual(with, want) {
		t.Errorf("%v have an extraction, want %v", with, want)
	}
	s := &Section{}
	ExtractionOf(s).ProcessingStatus = Pending
	if s.ProcessingStatus != Pending {
		t.Error("not the section's own")
	}
}
