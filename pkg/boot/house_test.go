package boot_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skillscurriculum/pkg/api"
)

const module = "skillscurriculum/"

// room names the room of a package: pkg/labor/official is in pkg/labor.
func room(path string) string {
	path = strings.TrimPrefix(path, module)
	if parts := strings.Split(path, "/"); parts[0] == "pkg" && len(parts) > 2 {
		return parts[0] + "/" + parts[1]
	}
	return path
}

// floor returns the floor of a package; imports point down only, and on the middle
// floors never sideways, except within a room.
func floor(path string) int {
	switch name := room(path); name {
	case "pkg/catalog", "skillscurriculum":
		return 0
	case "pkg/api", "pkg/skills", "pkg/search", "pkg/labor", "pkg/quota", "pkg/egress", "pkg/webhook", "pkg/ctdl", "pkg/outbox":
		return 1
	case "pkg/alignment", "pkg/client", "pkg/extraction", "pkg/intake", "pkg/schema":
		return 2
	case "pkg/service":
		return 3
	case "pkg/upsert":
		return 4
	case "pkg/rest", "pkg/dynamo", "pkg/queue", "pkg/delivery", "pkg/importer", "pkg/storage", "pkg/syllabus":
		return 5
	case "pkg/boot":
		return 6
	default:
		if strings.HasPrefix(name, "functions/") || strings.HasPrefix(name, "infra/") || name == "events" {
			return 7
		}
		return -1
	}
}

type goPackage struct {
	ImportPath, Name, Dir              string
	Imports                            []string
	GoFiles, TestGoFiles, XTestGoFiles []string
}

// house lists the packages of the module.
func house(t *testing.T) []goPackage {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Name,Dir,Imports,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	list.Dir = filepath.Join("..", "..")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p goPackage
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 15 {
		t.Fatalf("the house has only %d rooms", len(all))
	}
	return all
}

func TestImportsPointDown(t *testing.T) {
	for _, p := range house(t) {
		own := floor(p.ImportPath)
		if own < 0 {
			t.Errorf("%s stands on no floor of the house", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			if own == 0 && strings.Contains(strings.Split(imported, "/")[0], ".") {
				t.Errorf("%s imports %s; it has the standard library only", p.ImportPath, imported)
			}
			if !strings.HasPrefix(imported, module) && imported != "skillscurriculum" {
				continue
			}
			if at := floor(imported); at > own || at == own && own < 7 && room(imported) != room(p.ImportPath) {
				t.Errorf("%s imports %s, which does not lie below it", p.ImportPath, imported)
			}
			if strings.HasPrefix(p.ImportPath, module+"functions/") && room(imported) != "pkg/boot" && imported != module+"pkg/api" {
				t.Errorf("%s imports %s; a main boots and starts", p.ImportPath, imported)
			}
			tool := strings.HasPrefix(p.ImportPath, module+"infra/skillsctl") || p.ImportPath == module+"infra/local/demo"
			if tool && imported == module+"pkg/rest" {
				t.Errorf("%s imports %s; what it shares with requests is in pkg/service", p.ImportPath, imported)
			}
			if p.ImportPath == module+"infra/aws" && imported != module+"pkg/api" && imported != module+"pkg/catalog" {
				t.Errorf("%s imports %s; the deployment reads the contract only", p.ImportPath, imported)
			}
		}
	}
}

// Who calls the service by pkg/client takes in nothing but the contract.
func TestClientNeedsOnlyTheContract(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./pkg/client")
	list.Dir = filepath.Join("..", "..")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(string(out))
	slices.Sort(got)
	if want := []string{module + "pkg/api", module + "pkg/catalog", module + "pkg/client"}; !slices.Equal(got, want) {
		t.Errorf("pkg/client needs %v", got)
	}
}

func TestNamesSayWhatAPackageGives(t *testing.T) {
	for _, p := range house(t) {
		if slices.Contains([]string{"util", "utils", "common", "shared", "helper", "helpers", "types", "models", "base", "misc"}, filepath.Base(p.ImportPath)) {
			t.Errorf("%s: a name that says nothing", p.ImportPath)
		}
	}
}

func TestNothingHappensBeforeMain(t *testing.T) {
	for _, p := range house(t) {
		for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
					t.Errorf("%s of %s has a func init", name, p.ImportPath)
				}
			}
		}
	}
}

// TestFunctionsLoadOnlyWhatTheyNeed: what a function links is loaded each time that it
// starts, asked for or not.
func TestFunctionsLoadOnlyWhatTheyNeed(t *testing.T) {
	sends := []string{api.Extractor, api.Importer, api.Sweeper, api.Deliverer}
	for _, group := range api.Groups() {
		if api.Queues(group) || api.Notifies(group) {
			sends = append(sends, string(group))
		}
	}
	files := []string{}
	for _, name := range api.Functions() {
		if api.FilesOf(name) != (api.Files{}) {
			files = append(files, name)
		}
	}
	only := map[string][]string{ // the functions that need it
		module + "pkg/extraction":                  {"extractor"},
		module + "pkg/extraction/wordvectors":      {"extractor"},
		module + "pkg/syllabus":                    {"extractor"},
		module + "pkg/rest/openapi":                {},
		"github.com/aws/aws-sdk-go-v2/service/sqs": sends,
		"github.com/aws/aws-sdk-go-v2/service/s3":  files,
		"github.com/xuri/excelize/v2":              {"importer"},
		"code.dny.dev/ssrf":                        {"extractor", "deliverer"},
		"html/template":                            {"articulations", "reports"},
		"skillscurriculum":                         {"customers"},
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-tags", "lambda.norpc", "-json=ImportPath,Deps", "./functions/...")
	list.Dir = filepath.Join("..", "..")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	loaded := map[string]bool{} // by any but the extractor
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p struct {
			ImportPath string
			Deps       []string
		}
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(p.ImportPath)
		for needed, by := range only {
			if has := slices.Contains(p.Deps, needed); has != slices.Contains(by, name) {
				t.Errorf("%s loads %s: %v", name, needed, has)
			}
		}
		if name != "extractor" {
			for _, dep := range p.Deps {
				loaded[dep] = true
			}
		}
	}
	for _, p := range house(t) {
		if !loaded[p.ImportPath] {
			continue
		}
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				ast.Inspect(d, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok {
						if f, ok := call.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(f.Sel.Name, "Must") {
							t.Errorf("%s of %s calls %s when it is loaded; sync.OnceValue waits until it is asked", name, p.ImportPath, f.Sel.Name)
						}
					}
					switch n.(type) {
					case *ast.FuncDecl, *ast.FuncLit:
						return false
					}
					return true
				})
			}
		}
	}
}
