package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"skillscurriculum/infra/local/demo"
	"skillscurriculum/infra/local/dynamodb"
	"skillscurriculum/infra/skillsctl/keyring"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/labor"
)

// The names of the drill's table and of the one that it is restored into: AWS
// restores into a new table as well.
const (
	drilledTable  = "drill"
	restoredTable = drilledTable + "-restored"
)

// drill loads the demo, exports its table into a file, deletes the table, restores
// the file into a new one, and holds that one to what was exported and to the
// audit. The file has a line {"Item": ...} for each row, as DynamoDB's own export.
// Between export and restore, spoil may do to the file what a drill must notice.
func drill(ctx context.Context, dir string, spoil func(file string) error, out io.Writer) error {
	endpoint, stop, err := dynamodb.Start(ctx, "")
	if err != nil {
		return err
	}
	defer stop()
	begun := time.Now()
	step := func(format string, args ...any) {
		fmt.Fprintf(out, "%6.1fs  %s\n", time.Since(begun).Seconds(), fmt.Sprintf(format, args...))
	}
	now := func() catalog.Time { return catalog.TimeOf(time.Now()) }
	client := dynamodb.Client(endpoint)
	store := &dynamo.Store{Client: client, Table: drilledTable, Now: now}
	if err := store.CreateTable(ctx); err != nil {
		return err
	}
	_, err = demo.Loader{
		Store: store, Queue: lost{}, Market: &dynamo.Market{Store: store, Builtin: labor.Starter()},
		Keyring: &keyring.Keyring{Store: store, Now: now, IDs: catalog.IDs{Random: rand.Reader}}, Keys: filepath.Join(dir, "keys.json"),
	}.Load(ctx)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	before, err := scan(ctx, client, drilledTable)
	if err != nil {
		return err
	}
	step("loaded the demo: %d rows", len(before))

	file := filepath.Join(dir, "export.jsonl")
	rows, err := export(ctx, endpoint, file)
	if err != nil {
		return err
	}
	step("exported %d rows to %s", rows, file)
	if err := spoil(file); err != nil {
		return err
	}
	if _, err := client.DeleteTable(ctx, &awsdynamodb.DeleteTableInput{TableName: aws.String(drilledTable)}); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	if _, err := scan(ctx, client, drilledTable); err == nil {
		return errors.New("the table is still there after its deletion")
	}
	step("deleted the table")

	target := &dynamo.Store{Client: client, Table: restoredTable, Now: now}
	if err := target.CreateTable(ctx); err != nil {
		return err
	}
	if rows, err = restore(ctx, endpoint, file); err != nil {
		return err
	}
	step("restored %d rows into a new table", rows)

	after, err := scan(ctx, client, restoredTable)
	if err != nil {
		return err
	}
	breaches := compare(before, after)
	// Without a queue the demo's extractions stay PENDING, which the audit minds at
	// the end of chaos: only what it did not mind before counts.
	was, a := newAudit(before), newAudit(after)
	was.table()
	a.table()
	for _, b := range a.breaches {
		if !slices.Contains(was.breaches, b) {
			breaches = append(breaches, b)
		}
	}
	organizations, err := target.Organizations(ctx)
	if err != nil {
		return err
	}
	for _, o := range organizations {
		courses, err := target.AllCourses(ctx, o.ID)
		if err != nil {
			return err
		}
		step("%s: %d courses, %d of them in the audit", o.Name, len(courses), len(a.live[o.ID][catalog.CourseKind]))
	}
	for _, b := range breaches {
		step("%s", b)
	}
	if len(breaches) > 0 {
		return fmt.Errorf("the restored table has %d faults", len(breaches))
	}
	step("the restored table is the one that was exported, and holds every invariant that it held")
	return nil
}

// lost is a queue that loses everything: extractions of the demo stay PENDING.
type lost struct{}

func (lost) Send(context.Context, []catalog.ExtractionJob) error { return nil }

// compare names the rows that are not the same in both tables.
func compare(before, after table) (different []string) {
	byKey := map[string]string{}
	for _, row := range before {
		byKey[keyOf(row)] = canonical(row)
	}
	for _, row := range after {
		key := keyOf(row)
		if byKey[key] != canonical(row) {
			different = append(different, key+" is not as it was")
		}
		delete(byKey, key)
	}
	for key := range byKey {
		different = append(different, key+" is missing")
	}
	slices.Sort(different)
	return different
}

func keyOf(row map[string]any) string { return text(row, "pk") + " " + text(row, "sk") }

func canonical(row map[string]any) string {
	encoded, err := json.Marshal(row)
	if err != nil {
		panic(err) // rows come from JSON
	}
	return string(encoded)
}

// export writes every row of the drilled table to the file.
func export(ctx context.Context, endpoint, file string) (rows int, err error) {
	f, err := os.Create(file)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	request := map[string]any{"TableName": drilledTable, "ConsistentRead": true}
	for {
		var page struct {
			Items            []json.RawMessage
			LastEvaluatedKey json.RawMessage
		}
		if err := call(ctx, endpoint, "Scan", request, &page); err != nil {
			return rows, err
		}
		for _, item := range page.Items {
			if _, err := fmt.Fprintf(w, "{\"Item\":%s}\n", item); err != nil {
				return rows, err
			}
			rows++
		}
		if page.LastEvaluatedKey == nil {
			return rows, w.Flush()
		}
		request["ExclusiveStartKey"] = page.LastEvaluatedKey
	}
}

// restore puts every row of the file into the restored table.
func restore(ctx context.Context, endpoint, file string) (rows int, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := json.NewDecoder(f)
	const atOnce = 25 // rows that DynamoDB takes in one call
	for more := true; more; {
		var puts []any
		for len(puts) < atOnce {
			var line struct{ Item json.RawMessage }
			if err := lines.Decode(&line); errors.Is(err, io.EOF) {
				more = false
				break
			} else if err != nil {
				return rows, fmt.Errorf("%s, row %d: %w", file, rows+len(puts)+1, err)
			}
			puts = append(puts, map[string]any{"PutRequest": line})
		}
		for unsaved := puts; len(unsaved) > 0; {
			var out struct{ UnprocessedItems map[string][]any }
			if err := call(ctx, endpoint, "BatchWriteItem", map[string]any{"RequestItems": map[string]any{restoredTable: unsaved}}, &out); err != nil {
				return rows, err
			}
			unsaved = out.UnprocessedItems[restoredTable]
		}
		rows += len(puts)
	}
	return rows, nil
}

// call asks DynamoDB in its own JSON, which is what exports are written in.
func call(ctx context.Context, endpoint, operation string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	// DynamoDB Local looks at the form only.
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("%s: %w", operation, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		reason, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		return fmt.Errorf("%s: status %d: %s", operation, response.StatusCode, reason)
	}
	if err := json.NewDecoder(response.Body).Decode(out); err != nil {
		return fmt.Errorf("%s: %w", operation, err)
	}
	return nil
}
