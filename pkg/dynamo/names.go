package dynamo

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// externalRow is the record that another system means by an id. The row of a live
// record is its own. It stays when the record is deleted, and is taken over by the
// next record; one that gives up its id frees the row.
type externalRow struct {
	ID     string `json:"id"`
	Parent string `json:"parent,omitempty"`
}

// saveExternal names a record, unless somebody else has named another meanwhile.
func (s *Store) saveExternal(org catalog.OrgID, x catalog.ExternalID) write {
	row := externalKey(org, catalog.KindOf(x.Record), x.Name).attributes()
	row["id"] = text(x.Record.Base().ID)
	if parent := catalog.ParentOf(x.Record); parent != "" {
		row["parent"] = text(parent)
	}
	var e expression
	if x.Was == "" {
		e.conditions = []string{"attribute_not_exists(pk)"}
	} else {
		e.conditions = []string{e.name("id") + " = " + e.value(text(x.Was))}
	}
	return write{action: types.TransactWriteItem{Put: &types.Put{
		TableName: &s.Table, Item: row, ConditionExpression: e.condition(),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	}}}
}

// freeExternal frees the name of a record.
func (s *Store) freeExternal(org catalog.OrgID, x catalog.ExternalID) write {
	e := expression{}
	e.conditions = []string{"attribute_not_exists(pk) OR " + e.name("id") + " = " + e.value(text(x.Record.Base().ID))}
	return write{action: types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.Table, Key: externalKey(org, catalog.KindOf(x.Record), x.Name).attributes(), ConditionExpression: e.condition(),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	}}}
}

// saveCode moves a course to the rows of its code.
func (s *Store) saveCode(org catalog.OrgID, coded catalog.Coded) (writes []write) {
	seq, _ := catalog.Sequence(catalog.CourseKind, coded.Course.ID)
	if coded.Was != "" && coded.Was != coded.Is {
		writes = append(writes, write{action: types.TransactWriteItem{Delete: &types.Delete{
			TableName: &s.Table, Key: codeKey(org, coded.Was, seq).attributes(),
		}}})
	}
	if coded.Is != "" {
		writes = append(writes, write{action: types.TransactWriteItem{Put: &types.Put{
			TableName: &s.Table, Item: codeKey(org, coded.Is, seq).attributes(),
		}}})
	}
	return writes
}

// CoursesByCode reads a page of the courses with exactly that code, in creation order,
// and how many there are.
func (s *Store) CoursesByCode(ctx context.Context, org catalog.OrgID, code string, offset, limit int) ([]*catalog.Course, int, error) {
	for attempt := range pageAttempts {
		numbers := []string{}
		in := partitionQuery(partition(org, api.CodeRows), true)
		in.KeyConditionExpression = aws.String("pk = :pk AND begins_with(sk, :code)")
		in.ExpressionAttributeValues[":code"] = text(codePrefix(code))
		err := s.query(ctx, in, func(row item) (bool, error) {
			numbers = append(numbers, strings.TrimPrefix(keyOfRow(row).sk, codePrefix(code)))
			return true, nil
		})
		if err != nil {
			return nil, 0, err
		}
		asked := numbers[min(offset, len(numbers)):]
		asked = asked[:min(limit, len(asked))]
		keys := make([]key, len(asked))
		for i, number := range asked {
			keys[i] = key{partition(org, api.RecordRows(catalog.CourseKind)), number}
		}
		courses, err := records[catalog.Course](ctx, s, keys, attempt > 0)
		if err != nil {
			return nil, 0, err
		}
		courses = slices.DeleteFunc(courses, func(c *catalog.Course) bool { return c.Code != code })
		if len(courses) == len(asked) {
			return courses, len(numbers), nil
		}
		// One was changed or deleted meanwhile, or a read lags behind.
	}
	return nil, 0, catalog.Errorf(catalog.Unavailable, "The list changes too fast at the moment.")
}

// Known finds records by external id: the record as it
// is now, nil where it was deleted, and its id. Names without a record are left
// out. The courses of programs and the sections of credentials are only ids.
func (s *Store) Known(ctx context.Context, org catalog.OrgID, kind catalog.Kind, names []string) (map[string]catalog.ExternalID, error) {
	var keys []key
	for _, name := range names {
		keys = append(keys, externalKey(org, kind, name))
	}
	rows, err := s.rows(ctx, keys, true)
	if err != nil {
		return nil, err
	}
	known := make(map[string]catalog.ExternalID, len(rows))
	at := map[key]string{}
	for _, row := range rows {
		var stored struct {
			Name string `json:"sk"`
			externalRow
		}
		if err := decode(row, &stored); err != nil {
			return nil, err
		}
		known[stored.Name] = catalog.ExternalID{Name: stored.Name, Was: stored.ID}
		if k, ok := recordKey(org, kind, stored.Parent, stored.ID); ok {
			at[k] = stored.Name
		}
	}
	keys = keys[:0]
	for k := range at {
		keys = append(keys, k)
	}
	if rows, err = s.rows(ctx, keys, true); err != nil {
		return nil, err
	}
	for _, row := range rows {
		var k struct {
			PK string `json:"pk"`
			SK string `json:"sk"`
		}
		if err := decode(row, &k); err != nil {
			return nil, err
		}
		r, err := decodeKind(kind, row)
		if err != nil {
			return nil, err
		}
		x := known[at[key{k.PK, k.SK}]]
		if r.Base().ID == x.Was {
			x.Record = r
			known[x.Name] = x
		}
	}
	return known, nil
}
