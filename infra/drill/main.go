// Drill rehearses the restore of a backup (docs/aws.md) locally: it loads the demo, exports its table to a file,
// deletes the table, restores the file to a new table and compares every row. The file has a line {"Item": ...} for
// each row, like DynamoDB's own exports.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"skillscurriculum/infra/local/demo"
	"skillscurriculum/infra/local/dynamodb"
	"skillscurriculum/infra/local/stack"
	"skillscurriculum/infra/skillsctl/keyring"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/service"
)

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "drill")
	if err == nil {
		err = drill(ctx, dir, func(string) error { return nil }, os.Stdout)
	}
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		log.Fatal(err)
	}
}

// Tables. AWS also restores to a new one.
const (
	drilled  = "drill"
	restored = "drill-restored"
)

// drill exports, deletes, restores and compares. Tests modify the file with spoil before it is restored.
func drill(ctx context.Context, dir string, spoil func(file string) error, out io.Writer) error {
	begun := time.Now()
	step := func(format string, args ...any) {
		fmt.Fprintf(out, "%6.1fs  %s\n", time.Since(begun).Seconds(), fmt.Sprintf(format, args...))
	}
	endpoint, stop, err := dynamodb.Start(ctx, "")
	if err != nil {
		return err
	}
	defer stop()
	if err := load(ctx, store(endpoint, drilled), filepath.Join(dir, "keys.json")); err != nil {
		return err
	}
	before, err := rows(ctx, endpoint, drilled)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "export.jsonl")
	if err := os.WriteFile(file, bytes.Join(before, []byte("\n")), 0o600); err != nil {
		return err
	}
	step("loaded the demo and exported %d rows to %s", len(before), file)
	if err := spoil(file); err != nil {
		return err
	}
	if err := call(ctx, endpoint, "DeleteTable", map[string]any{"TableName": drilled}, new(any)); err != nil {
		return err
	}
	if _, err := rows(ctx, endpoint, drilled); err == nil {
		return errors.New("the table still exists after its deletion")
	}
	step("deleted the table")
	target := store(endpoint, restored)
	if err := errors.Join(target.CreateTable(ctx), restore(ctx, endpoint, file)); err != nil {
		return err
	}
	after, err := rows(ctx, endpoint, restored)
	if err != nil {
		return err
	}
	step("restored %d rows to a new table", len(after))
	if different := different(before, after); len(different) > 0 {
		return fmt.Errorf("%d rows are missing or different in the restored table: %s …", len(different), different[0])
	}
	organizations, err := target.Organizations(ctx)
	if err != nil {
		return err
	}
	for _, o := range organizations {
		courses, err := service.All[*catalog.Course](ctx, target, o.ID, "")
		if err != nil {
			return err
		}
		step("%s: %d courses", o.Name, len(courses))
	}
	step("the restored table equals the exported one")
	return nil
}

func store(endpoint, table string) *dynamo.Store {
	return stack.Open(stack.Places{DynamoDBEndpoint: endpoint, Table: table}).Store
}

func now() catalog.Time { return catalog.TimeOf(time.Now()) }

// load loads the demo without extracting its skills.
func load(ctx context.Context, store *dynamo.Store, keys string) error {
	if err := store.CreateTable(ctx); err != nil {
		return err
	}
	_, err := demo.Loader{
		Store: store, Queue: discard{}, Market: &dynamo.Market{Store: store},
		Keyring: &keyring.Keyring{Store: store, Now: now, IDs: catalog.IDs{Random: rand.Reader}}, Keys: keys,
	}.Load(ctx)
	return err
}

// discard is a queue that discards its messages.
type discard struct{}

func (discard) Send(context.Context, []catalog.ExtractionJob) error { return nil }

// rows returns the lines of an export.
func rows(ctx context.Context, endpoint, table string) (lines [][]byte, err error) {
	request := map[string]any{"TableName": table, "ConsistentRead": true}
	for {
		var page struct {
			Items            []any
			LastEvaluatedKey any
		}
		if err := call(ctx, endpoint, "Scan", request, &page); err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			line, err := json.Marshal(map[string]any{"Item": item})
			if err != nil {
				return nil, err
			}
			lines = append(lines, line)
		}
		if page.LastEvaluatedKey == nil {
			return lines, nil
		}
		request["ExclusiveStartKey"] = page.LastEvaluatedKey
	}
}

// different returns the lines that only one of the tables has.
func different(before, after [][]byte) (lines []string) {
	count := map[string]int{}
	for _, line := range before {
		count[string(line)]++
	}
	for _, line := range after {
		count[string(line)]--
	}
	maps.DeleteFunc(count, func(_ string, n int) bool { return n == 0 })
	return slices.Sorted(maps.Keys(count))
}

// restore writes every row of the file to the new table.
func restore(ctx context.Context, endpoint, file string) error {
	export, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	const maxBatch = 25 // rows in one call of DynamoDB
	for lines := range slices.Chunk(bytes.Split(bytes.TrimSpace(export), []byte("\n")), maxBatch) {
		var puts []any
		for _, line := range lines {
			puts = append(puts, map[string]any{"PutRequest": json.RawMessage(line)})
		}
		for len(puts) > 0 {
			var out struct{ UnprocessedItems map[string][]any }
			in := map[string]any{"RequestItems": map[string]any{restored: puts}}
			if err := call(ctx, endpoint, "BatchWriteItem", in, &out); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			puts = out.UnprocessedItems[restored]
		}
	}
	return nil
}

// call calls DynamoDB with its native JSON, the format of exports.
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
	// DynamoDB Local does not verify the signature.
	r.Header.Set("Authorization",
		"AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
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
