package dynamo

import (
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// The limits of a transaction. DynamoDB's are 100 actions, one of which is for the change
// feed, and 4 MB; the margin covers the inaccuracy of the size estimate.
const (
	transactionWrites = 99
	transactionBytes  = 7 << 19 // 3.5 MB
)

// rowLimit is the maximum size of a row, with a margin below DynamoDB's 400 KB.
const rowLimit = 396 << 10

// write is one action of a transaction with its entry in the change feed.
type write struct {
	action types.TransactWriteItem
	entry  string // "" for none
	row    int    // bytes of the row that the action changes or deletes, 0 if unknown
}

// key returns the key of the row that the action is about.
func (w write) key() key {
	switch a := w.action; {
	case a.Put != nil:
		return keyOfRow(a.Put.Item)
	case a.Update != nil:
		return keyOfRow(a.Update.Key)
	case a.Delete != nil:
		return keyOfRow(a.Delete.Key)
	default:
		return keyOfRow(a.ConditionCheck.Key)
	}
}

// holderBytes is the maximum size of a holder's name in a row.
const holderBytes = 60

// bytesOf returns the size of a record's row.
func (s *Store) bytesOf(r catalog.Record) int {
	row, err := s.encodeRecord(r)
	if err != nil {
		return rowLimit
	}
	return sizeOfRow(row)
}

// weight is the part of a transaction's limits that writes use.
type weight struct{ writes, bytes int }

func weightOf(writes []write) (sum weight) {
	for _, w := range writes {
		sum.writes++
		sum.bytes += w.bytes()
	}
	return sum
}

func (w weight) plus(other weight) weight {
	return weight{w.writes + other.writes, w.bytes + other.bytes}
}

func (w weight) fits() bool { return w.writes <= transactionWrites && w.bytes <= transactionBytes }

// share is the used fraction of a transaction's limits; above 1 it does not fit.
func (w weight) share() float64 {
	return max(float64(w.writes)/transactionWrites, float64(w.bytes)/transactionBytes)
}

// pack divides groups of writes among as few transactions as their order allows, and yields
// the groups of each transaction with their writes. Groups are not split; one that is too large
// gets a transaction of its own, which transact refuses.
func pack[G any](groups []G, writesOf func(G) []write) iter.Seq2[[]G, []write] {
	return func(yield func([]G, []write) bool) {
		from, filled := 0, weight{}
		var writes []write
		for i, group := range groups {
			more := writesOf(group)
			if i > from && !filled.plus(weightOf(more)).fits() {
				if !yield(groups[from:i], writes) {
					return
				}
				from, filled, writes = i, weight{}, nil
			}
			filled, writes = filled.plus(weightOf(more)), append(writes, more...)
		}
		if from < len(groups) {
			yield(groups[from:], writes)
		}
	}
}

// tooLarge is the error for a change with an atomic part that does not fit into a transaction.
func tooLarge() error {
	return catalog.Errorf(catalog.Conflict, "The change is too large to be saved at once: ask for less at a time.")
}

// bytes estimates the size that counts towards a transaction's limit: the action itself and the row that it applies to.
func (w write) bytes() int {
	n := w.row + len(w.entry)
	var names map[string]string
	if put := w.action.Put; put != nil {
		names = put.ExpressionAttributeNames
		n += sizeOfRow(put.Item) + len(aws.ToString(put.ConditionExpression)) + sizeOfRow(put.ExpressionAttributeValues)
	}
	if update := w.action.Update; update != nil {
		names = update.ExpressionAttributeNames
		n += len(aws.ToString(update.ConditionExpression)) + len(aws.ToString(update.UpdateExpression))
		n += sizeOfRow(update.Key) + sizeOfRow(update.ExpressionAttributeValues)
	}
	if gone := w.action.Delete; gone != nil {
		names = gone.ExpressionAttributeNames
		n += sizeOfRow(gone.Key) + len(aws.ToString(gone.ConditionExpression)) + sizeOfRow(gone.ExpressionAttributeValues)
	}
	for placeholder, name := range names {
		n += len(placeholder) + len(name)
	}
	return n
}

// sizeOfRow is the size of a row as DynamoDB counts it, rounded up: names and values with the
// overhead of lists and maps, and the entry in the pending index.
func sizeOfRow(row item) int {
	n := 0
	for name, value := range row {
		n += len(name) + SizeOf(value)
	}
	if _, open := row[api.PendingIndexPartitionKey]; open {
		n += 200
	}
	return n
}

// SizeOf returns the size of an attribute in bytes as DynamoDB counts it, rounded up.
func SizeOf(value types.AttributeValue) int {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return len(v.Value)/2 + 2
	case *types.AttributeValueMemberSS:
		n := 3
		for _, s := range v.Value {
			n += len(s) + 1
		}
		return n
	case *types.AttributeValueMemberL:
		n := 3
		for _, e := range v.Value {
			n += 1 + SizeOf(e)
		}
		return n
	case *types.AttributeValueMemberM:
		n := 3
		for name, e := range v.Value {
			n += 1 + len(name) + SizeOf(e)
		}
		return n
	}
	return 1 // BOOL, NULL
}
