package dynamo

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// EachOutcome visits the outcomes of the last extractions of all records, by the record's id.
func (s *Store) EachOutcome(
	ctx context.Context, org catalog.OrgID, visit func(id string, o *catalog.ExtractionResult) error,
) error {
	return s.eachPacked(ctx, partition(org, api.EvidenceRows), "outcome", func(id string, packed []byte) error {
		var o catalog.ExtractionResult
		if err := json.Unmarshal(packed, &o); err != nil {
			return err
		}
		return visit(id, &o)
	})
}

// EachText visits the extracted texts of all records, by the record's id.
func (s *Store) EachText(ctx context.Context, org catalog.OrgID, visit func(id string, text []byte) error) error {
	return s.eachPacked(ctx, partition(org, api.TextRows), "text", visit)
}

func (s *Store) eachPacked(ctx context.Context, pk, attribute string, visit func(id string, text []byte) error) error {
	return s.query(ctx, partitionQuery(pk, true), func(row item) (bool, error) {
		plain, err := unpacked(row, attribute)
		if err == nil && plain != nil {
			err = visit(keyOfRow(row).sk, plain)
		}
		return err == nil, err
	})
}

// Erase deletes every row of an organization and its customers, whose keys must not work any more. It scans the table,
// so that it finds whatever there is, until a scan finds nothing: a request in flight may add rows behind the first.
// The rows that later steps need go last, the organization's own at the end: a broken off Erase is repeated.
func (s *Store) Erase(ctx context.Context, org catalog.OrgID, deleted func(n int)) error {
	customers, err := s.Customers(ctx)
	if err != nil {
		return err
	}
	all := 0
	count := func(n int) {
		all += n
		deleted(all)
	}
	for found := 1; found > 0; count(found) {
		if found, err = s.eraseScanned(ctx, org, func(n int) { deleted(all + n) }); err != nil {
			return err
		}
	}
	for _, c := range customers {
		if c.OrganizationID != org {
			continue
		}
		for _, pk := range []string{api.UnitRows.Key(string(c.ID)), customerKeyKey(c.ID, "").pk} {
			if err := s.empty(ctx, pk); err != nil {
				return err
			}
		}
		if err := s.deleteRow(ctx, customerKey(c.ID).attributes()); err != nil {
			return err
		}
	}
	return s.deleteRow(ctx, organizationKey(org).attributes())
}

// eraseScanned scans the table once. It deletes the rows of the organization's partitions, and those of others, such as
// links and keys by their hash, that carry its id; it leaves customers and the keys listed under them.
func (s *Store) eraseScanned(ctx context.Context, org catalog.OrgID, progress func(n int)) (deleted int, err error) {
	in := &dynamodb.ScanInput{
		TableName: &s.Table, ConsistentRead: aws.Bool(true), Limit: aws.Int32(queryPage),
		ProjectionExpression: aws.String("pk, sk"),
		FilterExpression: aws.String(
			"begins_with(pk, :org) OR organizationId = :id AND pk <> :customers AND NOT begins_with(pk, :keys)"),
		ExpressionAttributeValues: item{
			":org": text("o#" + string(org) + "#"), ":id": text(string(org)),
			":customers": text(api.CustomerRows.Key()), ":keys": text("c#"),
		},
	}
	for pages := dynamodb.NewScanPaginator(s.Client, in); pages.HasMorePages(); {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return deleted, unavailable(err)
		}
		for _, row := range out.Items {
			if err := s.deleteRow(ctx, row); err != nil {
				return deleted, err
			}
			deleted++
		}
		progress(deleted)
	}
	return deleted, nil
}

func (s *Store) deleteRow(ctx context.Context, k item) error {
	_, err := s.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.Table, Key: k})
	return unavailable(err)
}
