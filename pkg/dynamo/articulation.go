package dynamo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// granted is an attribute that no articulation shows: the courses as they were at
// approval.
const granted = "granted"

// Articulation reads an articulation.
func (s *Store) Articulation(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Articulation, error) {
	return load[catalog.Articulation](ctx, s, org, "", id, strong)
}

// EachArticulation passes every articulation of the organization to visit, in creation
// order.
func (s *Store) EachArticulation(ctx context.Context, org catalog.OrgID, visit func(*catalog.Articulation) error) error {
	return s.query(ctx, partitionQuery(partition(org, api.RecordRows(catalog.ArticulationKind)), true), func(row item) (bool, error) {
		a, err := decodeRecord[catalog.Articulation](row)
		if err == nil {
			err = visit(a)
		}
		return true, err
	})
}

// ArticulationsByID reads those of the articulations that are live.
func (s *Store) ArticulationsByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Articulation, error) {
	return byID[catalog.Articulation](ctx, s, org, ids, strong)
}

// ArticulationsByNumber reads the articulations with the sequence numbers as they are
// now, in creation order.
func (s *Store) ArticulationsByNumber(ctx context.Context, org catalog.OrgID, numbers []int) ([]*catalog.Articulation, error) {
	return s.articulations(ctx, org, numbers, true)
}

// Approved reads what is approved under each of the keys, in their order.
func (s *Store) Approved(ctx context.Context, org catalog.OrgID, under []catalog.ApprovedKey) ([]*catalog.Approved, error) {
	keys, at := make([]key, len(under)), map[key]*catalog.Approved{}
	found := make([]*catalog.Approved, len(under))
	for i, k := range under {
		keys[i], found[i] = approvedKey(org, k), &catalog.Approved{Key: k, Periods: map[int]string{}}
		at[keys[i]] = found[i]
	}
	rows, err := s.rows(ctx, keys, true)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		approved := at[keyOfRow(row)]
		approved.Version = integer(row["version"])
		for name, v := range row {
			if seq, err := strconv.Atoi(name); err == nil {
				period, ok := v.(*types.AttributeValueMemberS)
				if !ok {
					return nil, fmt.Errorf("approved row: attribute %s", name)
				}
				approved.Periods[seq] = period.Value
			}
		}
	}
	return found, nil
}

// saveApproved enters articulations under a key, unless others came in between.
func (s *Store) saveApproved(org catalog.OrgID, a *catalog.Approved) write {
	var e expression
	for _, seq := range slices.Sorted(maps.Keys(a.Entered)) {
		e.set(strconv.Itoa(seq), text(a.Entered[seq]))
	}
	e.counted("version", a.Version)
	e.set("version", number(a.Version+1))
	return write{action: s.update(approvedKey(org, a.Key), &e)}
}

// saveHint leads from a key to an articulation.
func (s *Store) saveHint(org catalog.OrgID, h catalog.Hint) write {
	seq, _ := catalog.Sequence(catalog.ArticulationKind, h.Articulation.ID)
	var e expression
	e.set(strconv.Itoa(seq), text(""))
	return write{action: s.update(approvedKey(org, h.Key), &e)}
}

// grant counts that the course, which must be there, is granted: whoever has looked
// for what grants it before that, to delete it, has to look again.
func (s *Store) grant(course *catalog.Course) write {
	e := expression{conditions: []string{"attribute_exists(pk)"}}
	e.add(taken, "1")
	return write{action: s.update(keyOf(course), &e)}
}

// saveMove puts a move behind those that the articulation has made.
func (s *Store) saveMove(org catalog.OrgID, m catalog.ArticulationMove) (write, error) {
	row, err := encode(m.Move)
	if err != nil {
		return write{}, err
	}
	maps.Copy(row, historyKey(org, m.Articulation).attributes())
	return write{action: types.TransactWriteItem{Put: &types.Put{
		TableName: &s.Table, Item: row, ConditionExpression: aws.String("attribute_not_exists(pk)"),
	}}}, nil
}

// Moves reads the moves of an articulation, the oldest first.
func (s *Store) Moves(ctx context.Context, org catalog.OrgID, id string) ([]catalog.Move, error) {
	moves := []catalog.Move{}
	err := s.query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression: aws.String("pk = :pk AND begins_with(sk, :id)"),
		ExpressionAttributeValues: item{
			":pk": text(partition(org, api.HistoryRows)), ":id": text(id + "#"),
		},
		ConsistentRead: aws.Bool(true),
	}, func(row item) (bool, error) {
		var move catalog.Move
		err := decode(row, &move)
		moves = append(moves, move)
		return true, err
	})
	return moves, err
}

// ProgramsByID reads those of the programs that are live. Their courses are only ids.
func (s *Store) ProgramsByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Program, error) {
	return byID[catalog.Program](ctx, s, org, ids, strong)
}

// TransferCoursesByID reads those of the transfer courses that are live, and their
// packages, by id. An id leads to its package; one of before it did is looked for in
// all packages.
func (s *Store) TransferCoursesByID(ctx context.Context, org catalog.OrgID, ids []string) (map[string]*catalog.TransferCourse, map[string]*catalog.TransferPackage, error) {
	var keys []key
	older := false
	for _, id := range ids {
		if seq, ok := catalog.PackageNumber(id); ok {
			keys = append(keys, numberedKey(org, catalog.TransferPackageKind, seq))
		} else {
			older = older || catalog.TransferCourseKind.Made(id)
		}
	}
	var among []*catalog.TransferPackage
	var err error
	if older {
		among, err = all[catalog.TransferPackage](ctx, s, partition(org, api.RecordRows(catalog.TransferPackageKind)))
	} else {
		among, err = records[catalog.TransferPackage](ctx, s, keys, true)
	}
	if err != nil {
		return nil, nil, err
	}
	packages := map[string]*catalog.TransferPackage{}
	keys = nil
	for _, pack := range among {
		packages[pack.ID] = pack
		number, _ := catalog.Sequence(catalog.TransferPackageKind, pack.ID)
		for _, id := range ids {
			if seq, ok := catalog.PackageNumber(id); ok && seq == number || !ok && catalog.TransferCourseKind.Made(id) {
				keys = append(keys, key{nestedIn(org, catalog.TransferCourseKind, pack.ID), id})
			}
		}
	}
	found, err := records[catalog.TransferCourse](ctx, s, keys, true)
	courses := map[string]*catalog.TransferCourse{}
	for _, course := range found {
		courses[course.ID] = course
	}
	return courses, packages, err
}
