// Package drill rehearses the restore of a backup (docs/aws.md) locally: the demo is loaded, its table exported and
// deleted, the export restored to a new table, and every row compared. The export has a line {"Item": ...} for each row,
// like DynamoDB's own exports.
package drill

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/infra/local/demo"
	"skillscurriculum/infra/local/dynamodb/dynamotest"
	"skillscurriculum/infra/skillsctl/keyring"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/service"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

// TestDrill runs the drill (make restore-drill prints its steps), and then with damaged exports, which it must notice.
func TestDrill(t *testing.T) {
	demo := newDemo(t)
	lines, err := export(t.Context(), demo)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("exported %d rows", bytes.Count(lines, []byte("\n")))
	if _, err := demo.Client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: &demo.Table}); err != nil {
		t.Fatal(err)
	}
	if _, err := export(t.Context(), demo); err == nil {
		t.Fatal("the table still exists after its deletion")
	}
	t.Log("deleted the table")

	restored := dynamotest.NewStore(t)
	if err := restore(t.Context(), restored, lines); err != nil {
		t.Fatal(err)
	}
	if different, err := differences(t.Context(), lines, restored); err != nil || len(different) > 0 {
		t.Fatalf("%d rows are missing or different in the restored table: %.500q, %v", len(different), different, err)
	}
	organizations, err := restored.Organizations(t.Context())
	if err != nil || len(organizations) == 0 {
		t.Fatalf("%d organizations: %v", len(organizations), err)
	}
	for _, o := range organizations {
		courses, err := service.All[*catalog.Course](t.Context(), restored, o.ID, "")
		if err != nil || len(courses) == 0 {
			t.Fatalf("%s: %d courses: %v", o.Name, len(courses), err)
		}
		t.Logf("%s: %d courses", o.Name, len(courses))
	}
	t.Log("the restored table equals the exported one")

	name := []byte(`"name":{"S":"`)
	for damage, damaged := range map[string][]byte{
		"row lost":    lines[bytes.IndexByte(lines, '\n')+1:],
		"row changed": bytes.Replace(lines, name, append(name, 'x'), 1),
	} {
		target := dynamotest.NewStore(t)
		if err := restore(t.Context(), target, damaged); err != nil {
			t.Fatalf("%s: %v", damage, err)
		}
		if different, err := differences(t.Context(), lines, target); err != nil || len(different) == 0 {
			t.Errorf("%s: %d differences, %v", damage, len(different), err)
		}
	}
	if err := restore(t.Context(), dynamotest.NewStore(t), lines[:len(lines)-10]); err == nil {
		t.Error("an export that is cut off was restored")
	}
}

// newDemo returns a table with the demo, whose skills are not extracted.
func newDemo(t *testing.T) *dynamo.Store {
	store := dynamotest.NewStore(t)
	now := func() catalog.Time { return catalog.TimeOf(time.Now()) }
	_, err := demo.Loader{
		Store: store, Queue: discard{}, Market: &dynamo.Market{Store: store}, Keys: filepath.Join(t.TempDir(), "keys.json"),
		Keyring: &keyring.Keyring{Store: store, Now: now, IDs: catalog.IDs{Random: rand.Reader}},
	}.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// discard is a queue that discards its messages.
type discard struct{}

func (discard) Send(context.Context, []catalog.ExtractionJob) error { return nil }

// export returns the lines of every row of a table.
func export(ctx context.Context, s *dynamo.Store) ([]byte, error) {
	var lines bytes.Buffer
	pages := dynamodb.NewScanPaginator(s.Client, &dynamodb.ScanInput{TableName: &s.Table, ConsistentRead: new(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			row, err := attributevalue.MarshalMapJSON(item)
			if err != nil {
				return nil, err
			}
			var sorted map[string]any // MarshalMapJSON writes the attributes in any order
			if err := json.Unmarshal(row, &sorted); err != nil {
				return nil, err
			}
			row, _ = json.Marshal(sorted)
			fmt.Fprintf(&lines, "{\"Item\":%s}\n", row)
		}
	}
	return lines.Bytes(), nil
}

// restore writes every row of an export to a table.
func restore(ctx context.Context, s *dynamo.Store, export []byte) error {
	const maxBatch = 25 // rows in one call of DynamoDB
	for lines := range slices.Chunk(slices.Collect(strings.Lines(string(export))), maxBatch) {
		var puts []types.WriteRequest
		for _, line := range lines {
			row := strings.TrimSuffix(strings.TrimPrefix(line, `{"Item":`), "}\n")
			item, err := attributevalue.UnmarshalMapJSON([]byte(row))
			if err != nil {
				return fmt.Errorf("row %.100q: %w", row, err)
			}
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		}
		for len(puts) > 0 {
			in := map[string][]types.WriteRequest{s.Table: puts}
			out, err := s.Client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: in})
			if err != nil {
				return err
			}
			puts = out.UnprocessedItems[s.Table]
		}
	}
	return nil
}

// differences returns the rows that only one of an export and a table has.
func differences(ctx context.Context, before []byte, s *dynamo.Store) ([]string, error) {
	after, err := export(ctx, s)
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	for line := range strings.Lines(string(before)) {
		count[line]++
	}
	for line := range strings.Lines(string(after)) {
		count[line]--
	}
	maps.DeleteFunc(count, func(_ string, n int) bool { return n == 0 })
	return slices.Sorted(maps.Keys(count)), nil
}
