package dynamo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/catalog"
)

// expression collects the parts of an update; every name and value is a placeholder, so that
// attributes may have any name.
type expression struct {
	sets, removes, adds, deletes, conditions []string

	names  map[string]string
	values item
}

// exists returns an expression that requires the row to exist.
func exists() *expression { return &expression{conditions: []string{"attribute_exists(pk)"}} }

// absent returns an expression that requires the row not to exist.
func absent() *expression { return &expression{conditions: []string{"attribute_not_exists(pk)"}} }

func (e *expression) name(attribute string) string {
	for placeholder, name := range e.names {
		if name == attribute {
			return placeholder
		}
	}
	if e.names == nil {
		e.names = map[string]string{}
	}
	placeholder := fmt.Sprintf("#n%d", len(e.names))
	e.names[placeholder] = attribute
	return placeholder
}

func (e *expression) value(v types.AttributeValue) string {
	if e.values == nil {
		e.values = item{}
	}
	placeholder := fmt.Sprintf(":v%d", len(e.values))
	e.values[placeholder] = v
	return placeholder
}

func (e *expression) set(attribute string, v types.AttributeValue) {
	e.sets = append(e.sets, e.name(attribute)+" = "+e.value(v))
}

// add adds to a number; an absent attribute counts as 0.
func (e *expression) add(attribute, n string) {
	e.include(attribute, &types.AttributeValueMemberN{Value: n})
}

// include adds members to a set attribute; exclude removes them.
func (e *expression) include(attribute string, set types.AttributeValue) {
	e.adds = append(e.adds, e.name(attribute)+" "+e.value(set))
}

func (e *expression) exclude(attribute string, set types.AttributeValue) {
	e.deletes = append(e.deletes, e.name(attribute)+" "+e.value(set))
}

// setOnce sets an attribute unless the row already has it.
func (e *expression) setOnce(attribute string, v types.AttributeValue) {
	name := e.name(attribute)
	e.sets = append(e.sets, name+" = if_not_exists("+name+", "+e.value(v)+")")
}

func (e *expression) remove(attributes ...string) {
	for _, a := range attributes {
		e.removes = append(e.removes, e.name(a))
	}
}

// unchanged requires the record to be as it was loaded.
func (e *expression) unchanged(updatedAt catalog.Time) {
	e.is("updatedAt", text(updatedAt.String()))
}

// is requires an attribute to have the value, or to be absent if v is nil.
func (e *expression) is(attribute string, v types.AttributeValue) {
	if v == nil {
		e.conditions = append(e.conditions, "attribute_not_exists("+e.name(attribute)+")")
	} else {
		e.conditions = append(e.conditions, e.name(attribute)+" = "+e.value(v))
	}
}

// isNot requires an attribute not to have the value; the row may be absent.
func (e *expression) isNot(attribute string, v types.AttributeValue) {
	name := e.name(attribute)
	e.conditions = append(e.conditions, "(attribute_not_exists("+name+") OR "+name+" <> "+e.value(v)+")")
}

// below requires a number to be absent or less than n.
func (e *expression) below(attribute string, n int64) {
	name := e.name(attribute)
	e.conditions = append(e.conditions, "(attribute_not_exists("+name+") OR "+name+" < "+e.value(number(n))+")")
}

// counted requires a counter to be as it was loaded; 0 means that it is absent.
func (e *expression) counted(attribute string, n int) {
	if n == 0 {
		e.is(attribute, nil)
	} else {
		e.is(attribute, number(n))
	}
}

func (e *expression) condition() *string {
	if len(e.conditions) == 0 {
		return nil
	}
	return aws.String(strings.Join(e.conditions, " AND "))
}

func (e *expression) update() *string {
	var parts []string
	for _, clause := range []struct {
		verb    string
		actions []string
	}{{"SET ", e.sets}, {"REMOVE ", e.removes}, {"ADD ", e.adds}, {"DELETE ", e.deletes}} {
		if len(clause.actions) > 0 {
			parts = append(parts, clause.verb+strings.Join(clause.actions, ", "))
		}
	}
	return aws.String(strings.Join(parts, " "))
}

// put returns the write that saves a row under the expression's conditions; nil for none.
func (s *Store) put(k key, row item, e *expression) write {
	maps.Copy(row, k.attributes())
	put := &types.Put{TableName: &s.Table, Item: row}
	if e != nil {
		put.ConditionExpression = e.condition()
		put.ExpressionAttributeNames, put.ExpressionAttributeValues = e.names, e.values
	}
	return write{action: types.TransactWriteItem{Put: put}}
}

// putNew saves a row unless its key is in use.
func (s *Store) putNew(k key, row item) write {
	return s.put(k, row, absent())
}

// delete deletes a row under the expression's conditions.
func (s *Store) delete(k key, e *expression) write {
	return write{action: types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.Table, Key: k.attributes(), ConditionExpression: e.condition(),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	}}}
}

func (s *Store) update(k key, e *expression) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &s.Table, Key: k.attributes(), UpdateExpression: e.update(), ConditionExpression: e.condition(),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	}}
}

// updateIf updates a row and reports whether its conditions held.
func (s *Store) updateIf(ctx context.Context, k key, e *expression) (bool, error) {
	row, err := s.updated(ctx, k, e)
	return row != nil, err
}

// updated updates a row and returns it as it is afterwards; nil if a condition did not hold.
func (s *Store) updated(ctx context.Context, k key, e *expression) (item, error) {
	out, err := s.Client.UpdateItem(ctx, s.updateInput(k, e))
	if conditionFailed(err) {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return out.Attributes, nil
}

func (s *Store) updateInput(k key, e *expression) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName: &s.Table, Key: k.attributes(), UpdateExpression: e.update(), ConditionExpression: e.condition(),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values, ReturnValues: types.ReturnValueAllNew,
	}
}

// putItem saves a row by itself under the expression's conditions and reports whether they held.
func (s *Store) putItem(ctx context.Context, k key, row item, e *expression) (bool, error) {
	put := s.put(k, row, e).action.Put
	_, err := s.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: put.TableName, Item: put.Item, ConditionExpression: put.ConditionExpression,
		ExpressionAttributeNames: put.ExpressionAttributeNames, ExpressionAttributeValues: put.ExpressionAttributeValues,
	})
	if conditionFailed(err) {
		return false, nil
	}
	return err == nil, unavailable(err)
}

func conditionFailed(err error) bool {
	failed := new(types.ConditionalCheckFailedException)
	return errors.As(err, &failed)
}
