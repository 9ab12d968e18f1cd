package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

type organizationsExport struct {
	Organization catalog.OrgID `required:"" placeholder:"ORG" help:"Organization to export."`
	Out          string        `required:"" placeholder:"DIR" help:"New directory for the files."`
}

// Run writes one file of JSON lines for each kind of record, and the files of documents.
func (c *organizationsExport) Run(ctx context.Context, t *tool, s *service) error {
	if s.files == nil {
		return fmt.Errorf("no bucket for files: set %s", api.EnvBucket)
	}
	organization, err := s.organization(ctx, c.Organization)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Clean(c.Out)), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(c.Out, 0o700); err != nil {
		return err // an earlier export would be mixed with this one
	}
	x := exporter{service: s, org: c.Organization, dir: c.Out, Files: map[string]int{}}
	if err := x.all(ctx, organization); err != nil {
		return err
	}
	return t.show(x.Files, func(w io.Writer) {
		for _, name := range slices.Sorted(maps.Keys(x.Files)) {
			fmt.Fprintf(w, "%s\t%d\n", name, x.Files[name])
		}
	})
}

// exporter writes the files of an export and counts their lines.
type exporter struct {
	*service
	org   catalog.OrgID
	dir   string
	Files map[string]int
}

// lines writes a file, one JSON value a line, for as long as fill adds values.
func (x exporter) lines(name string, fill func(add func(any) error) error) error {
	name += ".ndjson"
	f, err := os.OpenFile(filepath.Join(x.dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(f)
	encoder.SetEscapeHTML(false)
	err = fill(func(v any) error {
		x.Files[name]++
		return encoder.Encode(v)
	})
	return errors.Join(err, f.Close())
}

func (x exporter) all(ctx context.Context, organization *catalog.Organization) error {
	for _, kind := range catalog.Kinds() {
		err := x.lines(kind.Resource(), func(add func(any) error) error {
			return x.store.EachRecord(ctx, x.org, kind, "", func(r catalog.Record) error { return add(r) })
		})
		if err != nil {
			return err
		}
	}
	customers, keys, err := x.callers(ctx, x.org)
	if err != nil {
		return err
	}
	hooks, err := x.store.Webhooks(ctx, x.org)
	if err != nil {
		return err
	}
	shown := make([]key, len(keys)) // without their hashes
	for i, k := range keys {
		shown[i] = shownKey(k, "")
	}
	for name, fill := range map[string]func(add func(any) error) error{
		"evidence": func(add func(any) error) error {
			return x.store.EachOutcome(ctx, x.org, func(id string, o *catalog.ExtractionResult) error {
				return add(struct {
					ID string `json:"recordId"`
					*catalog.ExtractionResult
				}{id, o})
			})
		},
		"text": func(add func(any) error) error { // from which skills were extracted
			return x.store.EachText(ctx, x.org, func(id string, text []byte) error {
				return add(map[string]string{"recordId": id, "text": string(text)})
			})
		},
		"articulationMove": func(add func(any) error) error { return x.moves(ctx, add) },
		"organization":     func(add func(any) error) error { return add(organization) },
		"customer":         each(customers),
		"key":              each(shown),
		"webhook":          each(hooks.List), // without their secrets
	} {
		if err := x.lines(name, fill); err != nil {
			return err
		}
	}
	return x.documents(ctx)
}

// moves writes the history of articulations.
func (x exporter) moves(ctx context.Context, add func(any) error) error {
	return x.store.EachRecord(ctx, x.org, catalog.ArticulationKind, "", func(r catalog.Record) error {
		moves, err := x.store.Moves(ctx, x.org, r.Base().ID)
		if err == nil && len(moves) > 0 {
			err = add(map[string]any{"articulationId": r.Base().ID, "moves": moves})
		}
		return err
	})
}

// each returns a function that adds all values.
func each[T any](all []T) func(add func(any) error) error {
	return func(add func(any) error) error {
		for _, v := range all {
			if err := add(v); err != nil {
				return err
			}
		}
		return nil
	}
}

// documents writes the files of documents under their ids; one that was never uploaded has none.
func (x exporter) documents(ctx context.Context) error {
	dir := filepath.Join(x.dir, "documents")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return x.store.EachRecord(ctx, x.org, catalog.DocumentKind, "", func(r catalog.Record) error {
		file, err := x.files.Read(ctx, x.org, r.Base().ID)
		if catalog.HasCode(err, catalog.NotFound) {
			return nil
		}
		if err == nil {
			x.Files["documents"]++
			err = os.WriteFile(filepath.Join(dir, r.Base().ID), file, 0o600)
		}
		return err
	})
}

// callers reads the customers of an organization, and their keys.
func (s *service) callers(ctx context.Context, org catalog.OrgID) (
	customers []*catalog.Customer, keys []*catalog.Key, err error,
) {
	all, err := s.store.Customers(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range all {
		if c.OrganizationID != org {
			continue
		}
		of, err := s.store.Keys(ctx, c.ID)
		if err != nil {
			return nil, nil, err
		}
		customers, keys = append(customers, c), append(keys, of...)
	}
	return customers, keys, nil
}

type organizationsErase struct {
	Organization catalog.OrgID `required:"" placeholder:"ORG" help:"Organization to erase."`
	Confirm      string        `required:"" placeholder:"NAME" help:"Its name, as customers list shows it: what is erased cannot be brought back."`
}

// forgotten is the time after which no function still admits a revoked key, or runs a request that it admitted.
const forgotten = 2 * time.Minute

// Run revokes the keys of an organization, waits until no request of theirs runs, and deletes its files and rows.
func (c *organizationsErase) Run(ctx context.Context, t *tool, s keyed) error {
	if s.files == nil {
		return fmt.Errorf("no bucket for files: set %s", api.EnvBucket)
	}
	found, err := s.store.Organization(ctx, c.Organization)
	if err != nil {
		return err
	}
	if found == nil {
		return fmt.Errorf("there is no organization %s; it may be erased already", c.Organization)
	}
	if strings.TrimSpace(c.Confirm) != found.Name {
		return fmt.Errorf("the organization is called %q, not %q: nothing is erased", found.Name, c.Confirm)
	}
	customers, keys, err := s.callers(ctx, c.Organization)
	if err != nil {
		return err
	}
	var last catalog.Time
	for _, key := range keys {
		revoked, err := s.keys.Revoke(ctx, key.CustomerID, key.ID)
		if err != nil {
			return err
		}
		last = max(last, *revoked.RevokedAt)
	}
	for _, customer := range customers { // no new keys
		customer.DisabledAt = cmp.Or(customer.DisabledAt, new(now()))
		if err := s.store.SaveCustomer(ctx, customer); err != nil {
			return err
		}
	}
	until, err := s.quiet(ctx, c.Organization, last)
	if err != nil {
		return err
	}
	if left := time.Until(until); left > 0 {
		fmt.Fprintf(t.stderr, "Its keys are revoked. Waiting until %s, when nothing of its last calls can arrive any more.\n",
			until.Format(time.TimeOnly))
		if err := t.pause(ctx, left); err != nil {
			return err
		}
	}
	if err := s.files.RemoveAll(ctx, c.Organization); err != nil {
		return err
	}
	step, end := progress(t.stderr, "erase")
	rows := 0
	err = s.store.Erase(ctx, c.Organization, func(n int) {
		rows = n
		step(n, -1)
	})
	end()
	if err != nil {
		return err
	}
	left := remains{
		Rows: rows, AWS: s.inAWS(), Recovery: now().Std().AddDate(0, 0, 35), Monthly: now().Std().AddDate(0, 0, 365),
	}
	return t.show(left, left.print)
}

// quiet returns when nothing that the keys of an organization have started can change anything: requests, and uploads
// of documents, whose signatures outlive the keys.
func (s *service) quiet(ctx context.Context, org catalog.OrgID, revoked catalog.Time) (time.Time, error) {
	until := revoked.Std().Add(forgotten)
	err := s.store.EachRecord(ctx, org, catalog.DocumentKind, "", func(r catalog.Record) error {
		made := r.Base().CreatedAt
		if now()-made > catalog.DocumentTTL {
			return nil // uploaded, or never
		}
		_, uploaded, err := s.files.Uploaded(ctx, org, r.Base().ID)
		if signed := max(made, revoked).Std().Add(catalog.UploadTTL * time.Millisecond); !uploaded && signed.After(until) {
			until = signed
		}
		return err
	})
	return until, err
}

// remains is what is left of an erased organization.
type remains struct {
	Rows     int       `json:"deletedRows"`
	AWS      bool      `json:"-"`
	Recovery time.Time `json:"recoverableUntil"` // by point-in-time recovery
	Monthly  time.Time `json:"backupsUntil"`     // the last monthly backup
}

func (r remains) print(w io.Writer) {
	fmt.Fprintf(w, "The organization is erased: %d rows, its files and its keys.\n", r.Rows)
	if !r.AWS {
		fmt.Fprintln(w, "Nothing is left. Copies of the data directory, if you made any, are yours to delete.")
		return
	}
	fmt.Fprintf(w, `Left are, until they expire by themselves:
- the table's point-in-time recovery: until %s;
- backups, if the stage makes them (backup): daily ones until %s, monthly ones until %s;
- logs, which have ids of records and no content: 7 days, 90 in production.
Whoever restores one of them must erase the organization again.
`, r.Recovery.Format(time.DateOnly), r.Recovery.Format(time.DateOnly), r.Monthly.Format(time.DateOnly))
}
