package demo

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"skillscurriculum/infra/local/stack"
	"skillscurriculum/infra/skillsctl/intake"
	"skillscurriculum/infra/skillsctl/keyring"
	"skillscurriculum/infra/skillsctl/load"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/egress/address"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/rest"
	"skillscurriculum/pkg/skills"
)

//go:embed catalogs
var catalogs embed.FS

// tenant is an organization of the demo with its one customer.
type tenant struct {
	organization catalog.OrgID
	customer     catalog.CustomerID
	name         string
	file         string
}

// The tenants' ids are the same on every machine and at every start.
var tenants = []tenant{
	{"org_demo0alderbay", "cus_demo0alderbay", "Alder Bay University", "alder-bay-university.json"},
	{"org_demo0quarryfalls", "cus_demo0quarryfalls", "Quarry Falls Technical College", "quarry-falls-technical-college.json"},
}

// The external ids of the records that newcomers are pointed to. The course is in
// neither the program nor the credential, so that it can be added to them.
const (
	exampleCourse     = "DS 220"
	exampleCredential = "CERT-FULLSTACK"
	exampleProgram    = "BS-CS"
	exampleJob        = "J-1002"
	examplePackage    = "TP-CEDAR"
)

// Loader loads the demo into a table.
type Loader struct {
	Store   *dynamo.Store
	Queue   rest.Queue
	Market  labor.Source
	Keyring *keyring.Keyring
	Syllabi string // URL of the directory in which the documents are served; "" where they are not
	// Keys is the file that keeps the customers' API keys, which the table has only
	// as digests, so that they stay the same from start to start.
	Keys string
}

// Load brings the demo into the table, or finds it there: what was loaded before
// is not made twice, and stays as people have changed or deleted it since. It calls
// no operation of the service, and so costs no units.
func (l Loader) Load(ctx context.Context) (stack.Demo, error) {
	kept, err := l.kept()
	if err != nil {
		return stack.Demo{}, err
	}
	var demo stack.Demo
	for _, t := range tenants {
		customer, err := l.tenant(ctx, t, kept)
		if err != nil {
			return stack.Demo{}, fmt.Errorf("%s: %w", t.name, err)
		}
		demo.Customers = append(demo.Customers, customer)
	}
	if err := l.keep(kept); err != nil {
		return stack.Demo{}, err
	}
	demo.Examples, err = l.examples(ctx, tenants[0].organization)
	return demo, err
}

func (l Loader) tenant(ctx context.Context, t tenant, kept map[string]string) (stack.Customer, error) {
	if err := l.register(ctx, t); err != nil {
		return stack.Customer{}, err
	}
	rows, err := l.rows(t.file)
	if err != nil {
		return stack.Customer{}, err
	}
	var held heldQueue
	loader := load.Loader{
		Store: l.Store, Queue: &held, Market: l.Market, Now: l.Store.Now, IDs: l.Keyring.IDs, SkillName: skills.Starter().Name,
		CheckHref: func(href string) error { return address.Check(href, []string{hostOf(l.Syllabi)}) },
	}
	// Members of what people have deleted are left out.
	if _, err := loader.Load(ctx, t.organization, rows, load.Options{OnlyNew: true, KeepGoing: true}); err != nil {
		return stack.Customer{}, err
	}
	if err := errors.Join(l.articulations(ctx, t, loader), held.send(ctx, l.Queue)); err != nil {
		return stack.Customer{}, err
	}
	customer := stack.Customer{CustomerID: string(t.customer), OrganizationID: string(t.organization), Name: t.name}
	if customer.APIKey, err = l.key(ctx, t, catalog.WriteScope, kept); err != nil {
		return stack.Customer{}, err
	}
	customer.ReadOnlyAPIKey, err = l.key(ctx, t, catalog.ReadScope, kept)
	return customer, err
}

// register makes the organization and the customer where they are missing.
func (l Loader) register(ctx context.Context, t tenant) error {
	organization, err := l.Store.Organization(ctx, t.organization)
	if err == nil && organization == nil {
		err = l.Store.SaveOrganization(ctx, &catalog.Organization{ID: t.organization, Name: t.name, CreatedAt: l.Store.Now()})
	}
	if err != nil {
		return err
	}
	customer, err := l.Store.Customer(ctx, t.customer)
	if err == nil && customer == nil {
		err = l.Store.SaveCustomer(ctx, &catalog.Customer{ID: t.customer, OrganizationID: t.organization, Name: t.name, CreatedAt: l.Store.Now()})
	}
	return err
}

// rows reads a catalog; its syllabi are names of documents.
func (l Loader) rows(file string) ([]intake.Row, error) {
	text, err := fs.ReadFile(catalogs, "catalogs/"+file)
	if err != nil {
		return nil, err
	}
	rows, err := intake.ReadJSON(bytes.NewReader(text), file)
	for _, row := range rows {
		document, ok := row.Fields["syllabusHref"].(string)
		switch {
		case ok && l.Syllabi == "":
			delete(row.Fields, "syllabusHref") // name and description have to do
		case ok:
			row.Fields["syllabusHref"] = l.Syllabi + document
		}
	}
	return rows, err
}

// key returns the customer's key that was kept, or a new one where the table does
// not know it any more; the new one takes the place of all others of its scope.
func (l Loader) key(ctx context.Context, t tenant, scope catalog.Scope, kept map[string]string) (string, error) {
	name := string(t.customer) + " " + string(scope)
	now := l.Store.Now()
	if secret := kept[name]; secret != "" {
		key, err := l.Store.Key(ctx, catalog.HashSecret(secret))
		if err != nil {
			return "", err
		}
		if key != nil && key.CustomerID == t.customer && key.Scope == scope && key.Live(now) {
			return secret, nil
		}
	}
	keys, err := l.Keyring.List(ctx, t.customer)
	if err != nil {
		return "", err
	}
	for _, key := range keys {
		if key.Scope == scope && key.Live(now) {
			if _, err := l.Keyring.Revoke(ctx, t.customer, key.ID); err != nil {
				return "", err
			}
		}
	}
	issued, err := l.Keyring.Create(ctx, t.customer, scope, 0)
	if err != nil {
		return "", err
	}
	kept[name] = issued.Secret
	return issued.Secret, nil
}

// kept reads the keys of earlier loads.
func (l Loader) kept() (map[string]string, error) {
	kept := map[string]string{}
	text, err := os.ReadFile(l.Keys)
	if errors.Is(err, fs.ErrNotExist) {
		return kept, nil
	}
	if err == nil && json.Unmarshal(text, &kept) != nil {
		kept = map[string]string{} // new ones take their place
	}
	return kept, err
}

func (l Loader) keep(kept map[string]string) error {
	text, err := json.MarshalIndent(kept, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(l.Keys), 0o755); err != nil {
		return err
	}
	return os.WriteFile(l.Keys, append(text, '\n'), 0o600)
}

// examples points to records of the demo; to the first of their kind where people
// have deleted them, and to none where none is left.
func (l Loader) examples(ctx context.Context, org catalog.OrgID) (e stack.Examples, err error) {
	course, err := example(ctx, l, org, catalog.CourseKind, exampleCourse, l.Store.Courses)
	if err != nil {
		return e, err
	}
	if course != nil {
		e.SectionID = course.DefaultSectionID
	}
	e.CourseID = idOf(course)
	credential, err := example(ctx, l, org, catalog.CredentialKind, exampleCredential, l.Store.Credentials)
	if err != nil {
		return e, err
	}
	program, err := example(ctx, l, org, catalog.ProgramKind, exampleProgram, l.Store.Programs)
	if err != nil {
		return e, err
	}
	job, err := example(ctx, l, org, catalog.JobKind, exampleJob, l.Store.Jobs)
	if err != nil {
		return e, err
	}
	pack, err := example(ctx, l, org, catalog.TransferPackageKind, examplePackage, l.Store.TransferPackages)
	e.CredentialID, e.ProgramID, e.JobID, e.PackageID = idOf(credential), idOf(program), idOf(job), idOf(pack)
	return e, err
}

func idOf(r catalog.Record) string {
	if reflect.ValueOf(r).IsNil() {
		return ""
	}
	return r.Base().ID
}

// example finds a record by external id, or the first one of a list.
func example[R catalog.Record](ctx context.Context, l Loader, org catalog.OrgID, kind catalog.Kind, name string,
	list func(ctx context.Context, org catalog.OrgID, offset, limit int) ([]R, int, error)) (R, error) {
	var none R
	known, err := l.Store.Known(ctx, org, kind, []string{name})
	if err != nil {
		return none, err
	}
	if record, ok := known[name].Record.(R); ok {
		return record, nil
	}
	first, _, err := list(ctx, org, 0, 1)
	if err != nil || len(first) == 0 {
		return none, err
	}
	return first[0], nil
}

// hostOf is the host:port of an http address.
func hostOf(address string) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(address, "http://"), "/")
	return host
}
