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
	"strings"

	"skillscurriculum/infra/local/stack"
	"skillscurriculum/infra/skillsctl/keyring"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/egress/address"
	"skillscurriculum/pkg/intake"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/skills"
	"skillscurriculum/pkg/upsert"
)

//go:embed catalogs
var catalogs embed.FS

// tenant is a demo organization with its only customer.
type tenant struct {
	organization catalog.OrgID
	customer     catalog.CustomerID
	name         string
	file         string
	facts        catalog.OrganizationFacts
}

// The tenants' ids never change.
var tenants = []tenant{
	{"org_demo0alderbay", "cus_demo0alderbay", "Alder Bay University", "alder-bay-university.json",
		catalog.OrganizationFacts{
			Description: "A public university on a bay, made up for this demo", Webpage: "https://alder-bay.example",
			AgentType: "FourYear", Handle: "alder-bay", Publication: true,
		}},
	{"org_demo0quarryfalls", "cus_demo0quarryfalls", "Quarry Falls Technical College",
		"quarry-falls-technical-college.json", catalog.OrganizationFacts{}}, // shows what is missing without facts
}

// External ids of the example records. The course is in neither the program nor the
// credential, so that it can be added to them.
const (
	exampleCourse     = "DS 220"
	exampleCredential = "CERT-FULLSTACK"
	exampleProgram    = "BS-CS"
	exampleJob        = "J-1002"
	examplePackage    = "TP-CEDAR"
)

// Files are the files of documents.
type Files interface {
	service.Uploads
	Put(ctx context.Context, d *catalog.Document, now catalog.Time, file []byte) error
}

// Loader loads the demo into a table.
type Loader struct {
	Store   *dynamo.Store
	Queue   service.Queue
	Market  labor.Source
	Keyring *keyring.Keyring
	Files   Files  // receives the example's file; nil leaves it to be uploaded
	Syllabi string // URL of the served documents; "" if they are not served
	// Keys is the file that stores the customers' API keys, so that they stay the same at
	// each start. The table has only their hashes.
	Keys string
}

// Load loads the demo into the table. Records from earlier loads are kept as users have
// changed or deleted them. Load does not call the service and so costs no units.
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
	loader := upsert.Loader{
		ArticulationFields: intake.ArticulationFields,
		Store:              l.Store, Queue: &held, Market: l.Market, Now: l.Store.Now, IDs: l.Keyring.IDs,
		SkillName: skills.Starter().Name,
		CheckHref: func(href string) error { return address.Check(href, []string{hostOf(l.Syllabi)}) },
	}
	// References to records that users have deleted are omitted.
	if _, err := loader.Load(ctx, t.organization, rows, upsert.Options{OnlyNew: true, KeepGoing: true}); err != nil {
		return stack.Customer{}, err
	}
	if err := errors.Join(l.articulations(ctx, t, loader), l.outcomes(ctx, t, &held),
		held.send(ctx, l.Queue)); err != nil {
		return stack.Customer{}, err
	}
	customer := stack.Customer{CustomerID: string(t.customer), OrganizationID: string(t.organization), Name: t.name}
	if customer.APIKey, err = l.key(ctx, t, catalog.WriteScope, kept); err != nil {
		return stack.Customer{}, err
	}
	customer.ReadOnlyAPIKey, err = l.key(ctx, t, catalog.ReadScope, kept)
	return customer, err
}

// register creates the organization and the customer unless they exist.
func (l Loader) register(ctx context.Context, t tenant) error {
	organization, err := l.Store.Organization(ctx, t.organization)
	if err == nil && organization == nil {
		organization = &catalog.Organization{
			ID: t.organization, Name: t.name, CreatedAt: l.Store.Now(), OrganizationFacts: t.facts,
		}
		err = l.Store.ReplaceOrganization(ctx, &catalog.Organization{}, organization)
	}
	if err != nil {
		return err
	}
	customer, err := l.Store.Customer(ctx, t.customer)
	if err == nil && customer == nil {
		err = l.Store.SaveCustomer(ctx, &catalog.Customer{
			ID: t.customer, OrganizationID: t.organization, Name: t.name, CreatedAt: l.Store.Now(),
		})
	}
	return err
}

// rows reads a catalog and replaces the names of syllabi by URLs.
func (l Loader) rows(file string) ([]intake.Row, error) {
	text, err := fs.ReadFile(catalogs, "catalogs/"+file)
	if err != nil {
		return nil, err
	}
	rows, err := intake.Read(bytes.NewReader(text), file, intake.Options{})
	for _, row := range rows {
		document, ok := row.Fields["syllabusHref"].(string)
		switch {
		case ok && l.Syllabi == "":
			delete(row.Fields, "syllabusHref") // extraction uses name and description
		case ok:
			row.Fields["syllabusHref"] = l.Syllabi + document
		}
	}
	return rows, err
}

// key returns the stored key of the customer if it is still valid. Otherwise it creates a
// key and revokes all others of the same scope.
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

// kept reads the stored keys.
func (l Loader) kept() (map[string]string, error) {
	kept := map[string]string{}
	text, err := os.ReadFile(l.Keys)
	if errors.Is(err, fs.ErrNotExist) {
		return kept, nil
	}
	if err == nil && json.Unmarshal(text, &kept) != nil {
		kept = map[string]string{} // they will be created again
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

// examples returns the ids of the example records, or of the first of their kind if users have deleted them.
func (l Loader) examples(ctx context.Context, org catalog.OrgID) (e stack.Examples, err error) {
	for _, x := range []struct {
		kind catalog.Kind
		name string
		id   *string
	}{
		{catalog.CourseKind, exampleCourse, &e.CourseID}, {catalog.CredentialKind, exampleCredential, &e.CredentialID},
		{catalog.ProgramKind, exampleProgram, &e.ProgramID}, {catalog.JobKind, exampleJob, &e.JobID},
		{catalog.TransferPackageKind, examplePackage, &e.PackageID},
	} {
		record, err := l.example(ctx, org, x.kind, x.name)
		if err != nil {
			return e, err
		}
		if record == nil {
			continue
		}
		*x.id = record.Base().ID
		if course, ok := record.(*catalog.Course); ok {
			e.SectionID = course.DefaultSectionID
		}
	}
	return e, nil
}

// example finds a record by external id, or the first of its kind; nil for none.
func (l Loader) example(
	ctx context.Context, org catalog.OrgID, kind catalog.Kind, name string,
) (catalog.Record, error) {
	found, err := l.Store.Known(ctx, org, kind, []string{name})
	if err != nil || found[name].Record != nil {
		return found[name].Record, err
	}
	records, _, err := l.Store.Page(ctx, org, kind, 0, 1)
	if len(records) == 0 {
		return nil, err
	}
	return records[0], err
}

// known finds existing records of a type by external id.
func known[R catalog.Record](ctx context.Context, l Loader, org catalog.OrgID, names []string) (map[string]R, error) {
	var none R
	found, err := l.Store.Known(ctx, org, catalog.KindOf(none), names)
	records := map[string]R{}
	for name, x := range found {
		if record, ok := x.Record.(R); ok {
			records[name] = record
		}
	}
	return records, err
}

// hostOf returns the host:port of an http URL.
func hostOf(address string) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(address, "http://"), "/")
	return host
}
