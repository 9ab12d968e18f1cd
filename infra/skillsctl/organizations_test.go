package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"skillscurriculum/infra/local/objects"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// tenants are the demo's two organizations, with files and with rows of every kind of partition.
type tenants struct {
	*console
	bucket      string // directory of the files
	org, other  string
	customer    string
	name        string
	secret      string
	documentIDs []string
}

func newTenants(t *testing.T) *tenants {
	t.Helper()
	d := &tenants{console: newConsole(t), bucket: t.TempDir()}
	handler, err := objects.Server{Dir: d.bucket}.Handler()
	if err != nil {
		t.Fatal(err)
	}
	storage := httptest.NewServer(handler)
	t.Cleanup(storage.Close)
	d.env[api.EnvBucket], d.env[api.EnvS3Endpoint] = objects.Bucket, storage.URL
	loaded := value[struct {
		Customers []struct{ CustomerID, OrganizationID, Name, APIKey string }
	}](d.console, "demo", "load")
	first := loaded.Customers[0]
	d.org, d.customer, d.name, d.secret = first.OrganizationID, first.CustomerID, first.Name, first.APIKey
	d.other = loaded.Customers[1].OrganizationID
	for _, org := range []string{d.org, d.other} {
		name := d.file("syllabus.txt", "Students of "+org+" write SQL.")
		d.documentIDs = append(d.documentIDs, value[[]uploaded](d.console, "upload", "-organization", org, name)[0].DocumentID)
		for _, rows := range []api.Partition{
			api.EvidenceRows, api.TextRows, api.DocumentRows, api.AnswerRows, api.ReservationRows, api.WebhookRows,
			api.MessageRows, api.AttemptRows, api.FacetRows, api.ApprovedRows, api.HistoryRows, api.ExternalRows, api.CTIDRows,
			api.RecordRows(catalog.CourseKind).Deleted(), api.RecordRows(catalog.TransferCourseKind).Deleted(),
		} {
			values := []string{org, "x"}[:strings.Count(string(rows), "*")]
			d.put(rows.Key(values...), "row", org)
		}
		d.put(api.LinkRows.Key("of-"+org), "link", org)
		d.put(api.HandleRows.Key("of-"+org), "organization", org)
	}
	d.put(api.UnitRows.Key(d.customer), "1", "")
	return d
}

func (d *tenants) put(pk, sk, org string) {
	d.t.Helper()
	row, err := attributevalue.MarshalMap(map[string]string{"pk": pk, "sk": sk, "organizationId": org})
	if err == nil {
		_, err = d.store.Client.PutItem(d.t.Context(), &dynamodb.PutItemInput{TableName: &d.store.Table, Item: row})
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// rows returns the rows of the table that mention a text, as JSON by key.
func (d *tenants) rows(mention string) map[string]string {
	d.t.Helper()
	found := map[string]string{}
	pages := dynamodb.NewScanPaginator(d.store.Client, &dynamodb.ScanInput{TableName: &d.store.Table})
	for pages.HasMorePages() {
		page, err := pages.NextPage(d.t.Context())
		if err != nil {
			d.t.Fatal(err)
		}
		for _, row := range page.Items {
			var plain map[string]any
			if err := attributevalue.UnmarshalMap(row, &plain); err != nil {
				d.t.Fatal(err)
			}
			text, err := json.Marshal(plain)
			if err != nil {
				d.t.Fatal(err)
			}
			if strings.Contains(string(text), mention) {
				found[row["pk"].(*types.AttributeValueMemberS).Value+" "+row["sk"].(*types.AttributeValueMemberS).Value] = string(text)
			}
		}
	}
	return found
}

// The files of the bucket that belong to an organization.
func (d *tenants) stored(org string) (n int) {
	_ = filepath.WalkDir(d.bucket, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			text, _ := os.ReadFile(path)
			if strings.Contains(string(text), org) || strings.Contains(path, org) {
				n++
			}
		}
		return nil
	})
	return n
}

// TestErase breaks an erasure off after every few requests, and repeats it: nothing of the organization is left, and
// nothing of the other is touched.
func TestErase(t *testing.T) {
	d := newTenants(t)
	if len(d.rows(d.org)) < 100 || d.stored(d.org) == 0 {
		t.Fatal("there is little to erase")
	}
	others, files := d.rows(d.other), d.stored(d.other)
	if _, says := d.run(1, "organizations", "erase", "-organization", d.org, "-confirm", "Alder"); !strings.Contains(says, d.name) {
		t.Errorf("confirmed with another name: %s", says)
	}

	table, err := url.Parse(d.env[api.EnvDynamoEndpoint])
	if err != nil {
		t.Fatal(err)
	}
	var left atomic.Int64
	var cut context.CancelFunc
	forward := httputil.NewSingleHostReverseProxy(table)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if left.Add(-1) <= 0 {
			cut()
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	d.env[api.EnvDynamoEndpoint] = proxy.URL
	var waited time.Duration
	broken := 0
	for code := codeInterrupted; code != codeDone; broken++ {
		ctx, cancel := context.WithCancel(t.Context())
		cut = cancel
		left.Store(int64(5 + 7*broken))
		var out, errs bytes.Buffer
		tool := &tool{stdout: &out, stderr: &errs, getenv: func(name string) string { return d.env[name] },
			pause: func(ctx context.Context, wait time.Duration) error {
				waited = max(waited, wait)
				return ctx.Err()
			}}
		code = tool.run(ctx, []string{"organizations", "erase", "-organization", d.org, "-confirm", d.name})
		cancel()
		if code != codeInterrupted && code != codeDone {
			t.Fatalf("run %d: exit code %d: %s", broken+1, code, errs.String())
		}
		if code == codeDone && !strings.Contains(out.String(), "Nothing is left") {
			t.Errorf("the end says %s", out.String())
		}
	}
	if broken < 10 || waited < time.Minute {
		t.Errorf("broken off %d times, waited %s", broken-1, waited)
	}
	for _, mention := range []string{d.org, d.customer, catalog.HashSecret(d.secret)} {
		for key := range d.rows(mention) {
			t.Errorf("left: %s", key)
		}
	}
	if n := d.stored(d.org); n != 0 {
		t.Errorf("%d files are left", n)
	}
	if diff := cmp.Diff(others, d.rows(d.other)); diff != "" || d.stored(d.other) != files {
		t.Errorf("the other organization has changed (-before +after):\n%s", diff)
	}
}

// TestExport writes every record, how skills were found, and files; nothing secret, and nothing of others.
func TestExport(t *testing.T) {
	d := newTenants(t)
	counted := value[map[string]int](d.console, "organizations", "export", "-organization", d.org, "-out", "out/export")
	for _, kind := range []catalog.Kind{
		catalog.CourseKind, catalog.SectionKind, catalog.JobKind, catalog.CredentialKind, catalog.ProgramKind,
		catalog.TransferPackageKind, catalog.TransferCourseKind, catalog.ArticulationKind, catalog.DocumentKind,
	} {
		name := kind.Resource() + ".ndjson"
		text, err := os.ReadFile(filepath.Join("out", "export", name))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		if len(lines) != counted[name] || counted[name] == 0 {
			t.Errorf("%s has %d lines, counted as %d", name, len(lines), counted[name])
		}
		for _, line := range lines {
			var r catalog.Meta
			if err := json.Unmarshal([]byte(line), &r); err != nil || string(r.OrganizationID) != d.org {
				t.Fatalf("%s: %v: %s", name, err, line)
			}
		}
	}
	file, err := os.ReadFile(filepath.Join("out", "export", "documents", d.documentIDs[0]))
	if err != nil || !strings.Contains(string(file), d.org) {
		t.Errorf("document: %q, %v", file, err)
	}
	keys, err := os.ReadFile(filepath.Join("out", "export", "key.ndjson"))
	if err != nil || strings.Contains(string(keys), catalog.HashSecret(d.secret)) || strings.Count(string(keys), "\n") != 2 {
		t.Errorf("keys: %s, %v", keys, err)
	}
	if counted["articulationMove.ndjson"] == 0 || counted["organization.ndjson"] != 1 || counted["customer.ndjson"] != 1 {
		t.Errorf("counted %v", counted)
	}
	if _, says := d.run(1, "organizations", "export", "-organization", d.org, "-out", "out/export"); !strings.Contains(says, "exists") {
		t.Errorf("a second export into the directory: %s", says)
	}
}

// TestCustomerLife renames, disables and enables a customer, and replaces keys.
func TestCustomerLife(t *testing.T) {
	c := newConsole(t)
	made := value[customer](c, "customers", "create", "-name", "College")
	id := string(made.CustomerID)
	c.run(0, "customers", "rename", "-customer", id, "-name", "Bay College")
	c.run(0, "customers", "disable", "-customer", id)
	if list, _ := c.run(0, "customers", "list"); !strings.Contains(list, "Bay College") || !strings.Contains(list, "disabled") {
		t.Error(list)
	}
	c.run(0, "customers", "enable", "-customer", id)
	if list, _ := c.run(0, "customers", "list"); strings.Contains(list, "disabled") {
		t.Error(list)
	}

	first := value[key](c, "keys", "create", "-customer", id, "-valid", "30d")
	if days := time.Duration(*first.ExpiresAt-first.CreatedAt) * time.Millisecond; days != 30*24*time.Hour {
		t.Errorf("30d are %s", days)
	}
	second := value[key](c, "keys", "rotate", "-customer", id, "-grace", "40d")
	_, says := c.run(1, "keys", "rotate", "-customer", id)
	if want := fmt.Sprintf("-replace revokes %s, which ends first, at %s", first.ID, first.ExpiresAt); !strings.Contains(says, want) {
		t.Errorf("%s\nwant %s", says, want)
	}
	third := value[key](c, "keys", "rotate", "-customer", id, "-replace", "-grace", "1d12h")
	states := map[string]string{}
	for _, k := range value[[]key](c, "keys", "list", "-customer", id) {
		states[k.ID] = k.State
	}
	if diff := cmp.Diff(map[string]string{first.ID: "revoked", second.ID: "live", third.ID: "live"}, states); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}
