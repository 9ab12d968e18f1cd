package docs

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

const root = "../.."

// tracked returns the files of the repository that match the patterns, by their paths.
func tracked(t *testing.T, patterns ...string) map[string]string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}, patterns...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, path := range strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }) {
		text, err := os.ReadFile(filepath.Join(root, path))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	return texts
}

// pages returns every Markdown file of the repository by its path from the root.
func pages(t *testing.T) map[string]string { return tracked(t, "*.md") }

// No file names a directory of a developer's machine.
func TestNoMachinePaths(t *testing.T) {
	machine := regexp.MustCompile(`(?:^|[^\w./:-])/(?:work|root|home/\w+|tmp/w)/[\w.]`)
	files := tracked(t)
	if len(files) < 500 {
		t.Fatalf("only %d files are looked at", len(files))
	}
	for path, text := range files {
		if found := machine.FindString(text); found != "" {
			t.Errorf("%s names a machine's path: %q", path, found)
		}
	}
	for _, bad := range []string{" /" + "work/x", "(/" + "root/a", " /" + "home/ann/b", " /tmp/" + "w/c"} {
		if !machine.MatchString(bad) {
			t.Errorf("%q is not found", bad)
		}
	}
}

var (
	fenced  = regexp.MustCompile("(?s)```.*?```")
	linked  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	noise   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the fragments of a page's headings.
func anchors(text string) []string {
	var all []string
	for _, h := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		plain := noise.ReplaceAllString(strings.ToLower(h[1]), "")
		all = append(all, strings.ReplaceAll(plain, " ", "-"))
	}
	return all
}

func TestLinksLeadSomewhere(t *testing.T) {
	texts := pages(t)
	for page, text := range texts {
		for _, m := range linked.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			target, fragment, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			path := page
			if target != "" {
				path = filepath.Join(filepath.Dir(page), target)
				if _, err := os.Stat(filepath.Join(root, path)); err != nil {
					t.Errorf("%s links to %s, which does not exist", page, m[1])
					continue
				}
			}
			if fragment != "" && !slices.Contains(anchors(texts[path]), fragment) {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
}

// Comments cite only pages that a reader of the repository can open.
func TestCommentsCitePagesOfTheRepository(t *testing.T) {
	texts := pages(t)
	cited := regexp.MustCompile(`\b[\w/.-]*\w\.md\b`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "build" || d.Name() == "node_modules" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			for _, page := range cited.FindAllString(group.Text(), -1) {
				if _, ok := texts[page]; !ok {
					t.Errorf("%s: a comment cites %s, which is not in the repository", path, page)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestMakeTargetsExist(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile("(?m)(?:`|^    |^)make ([a-z][a-z-]*)")
	for page, text := range pages(t) {
		for _, m := range command.FindAllStringSubmatch(text, -1) {
			if !regexp.MustCompile(`(?m)^` + m[1] + `:`).Match(makefile) {
				t.Errorf("%s names make %s, the Makefile has no such target", page, m[1])
			}
		}
	}
}

// Every skillsctl command on a page exists.
func TestToolCommandsExist(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "skillsctl")
	if out, err := exec.Command("go", "build", "-o", tool, root+"/infra/skillsctl").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	shown := regexp.MustCompile("(?m)(?:`|^    |^|/)skillsctl ([a-z]+(?: [a-z]+)?)")
	seen := map[string]bool{}
	for page, text := range pages(t) {
		for _, m := range shown.FindAllStringSubmatch(text, -1) {
			words := strings.Fields(m[1])
			if words[0] == "help" || seen[m[1]] {
				continue
			}
			seen[m[1]] = true
			_, whole := exec.Command(tool, append(slices.Clone(words), "-h")...).CombinedOutput()
			_, first := exec.Command(tool, words[0], "-h").CombinedOutput()
			if whole != nil && (first != nil || slices.Contains([]string{"keys", "customers", "demo", "import", "taxonomy", "export"}, words[0])) {
				t.Errorf("%s shows skillsctl %s, which does not exist", page, m[1])
			}
		}
	}
	if len(seen) < 10 {
		t.Errorf("found only %d commands in the documents", len(seen))
	}
}

// constants returns the string constants of a type in a package's source.
func constants(t *testing.T, dir, typeName string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if name, ok := spec.Type.(*ast.Ident); ok && name.Name == typeName {
				for _, v := range spec.Values {
					if literal, ok := v.(*ast.BasicLit); ok {
						value, _ := strconv.Unquote(literal.Value)
						values = append(values, value)
					}
				}
			}
			return true
		})
	}
	if len(values) == 0 {
		t.Fatalf("%s has no constants of type %s", dir, typeName)
	}
	return values
}

// Every code has the anchor to which problem types and the reference link.
func TestContractPageNamesEveryCode(t *testing.T) {
	contract := pages(t)["docs/contract.md"]
	names := func(kind, code, before string) {
		anchor := `<a id="/` + kind + "/" + code + `"></a>`
		if !strings.Contains(contract, before+anchor) {
			t.Errorf("docs/contract.md has no %q", before+anchor)
		}
	}
	for _, code := range constants(t, "pkg/catalog", "Code") {
		names("problems", code, "| "+strconv.Itoa(api.Status(catalog.Code(code)))+" | ")
	}
	for _, code := range catalog.FailureCodes() {
		names("failures", string(code), "| ")
	}
	for _, code := range catalog.WarningCodes() {
		names("warnings", string(code), "")
	}
}

func TestReadmeIsShort(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(pages(t)["README.md"]), "\n")
	if len(lines) > 150 {
		t.Errorf("README.md has %d lines", len(lines))
	}
	for i, line := range lines {
		if n := len([]rune(line)); n > 100 {
			t.Errorf("README.md:%d has %d characters", i+1, n)
		}
	}
}
