package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/catalog"
)

// externalRow is the record that an organization's own system means by an id. It
// stays when the record is deleted, and is taken over by the next record.
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

// Known finds the records that an import names, by external id: the record as it
// is now, nil where it was deleted, and its id. Names without a record are left
// out. The courses of programs and the sections of credentials are only ids.
func (s *Store) Known(ctx context.Context, org catalog.OrgID, kind catalog.Kind, names []string) (map[string]catalog.ExternalID, error) {
	keys := make([]key, len(names))
	for i, name := range names {
		keys[i] = externalKey(org, kind, name)
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
