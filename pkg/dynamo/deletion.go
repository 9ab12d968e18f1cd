package dynamo

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// owes marks the row in which a deleted record is kept as one that still owns
// live records; deletion are the writes that delete it.
func (s *Store) owes(deletion []write) {
	for _, w := range deletion {
		if w.action.Put != nil {
			w.action.Put.Item[api.PendingIndexPartitionKey] = text(deletions)
			w.action.Put.Item[api.PendingIndexSortKey] = number(int64(s.Now()))
		}
	}
}

// removeOwned takes out what a deleted record owned, whatever has become of it
// meanwhile: only the end of its extraction still changes it.
func (s *Store) removeOwned(ctx context.Context, org catalog.OrgID, owned []catalog.Deletion) error {
	for chunk := range slices.Chunk(owned, transactionLimit/2) {
		var parts [][]write
		for _, d := range chunk {
			pair, err := s.remove(d, expression{conditions: []string{"attribute_exists(pk)"}})
			if err != nil {
				return err
			}
			parts = append(parts, pair)
		}
		if err := s.saveApart(ctx, org, parts); err != nil {
			return err
		}
	}
	return nil
}

// CompleteDeletions looks at deletions of more than a transaction, once they are
// older than SweepGrace: it takes out what one that broke off has left, and is done
// with one that has left nothing. Until then the sections of such a course and the
// transfer courses of such a package may still be read by their ids.
func (s *Store) CompleteDeletions(ctx context.Context) error {
	return s.open(ctx, deletions, s.Now()-SweepGrace, func(row item) error {
		owner := keyOfRow(row)
		parts := strings.Split(strings.TrimSuffix(owner.pk, "!"), "#")
		org := catalog.OrgID(parts[1])
		row, err := s.row(ctx, owner, true)
		if err != nil {
			return err
		}
		owned, err := s.owned(ctx, org, catalog.Kind(parts[2]), row)
		if err != nil {
			return err
		}
		if len(owned) > 0 {
			return s.removeOwned(ctx, org, owned)
		}
		_, err = s.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.Table, Key: owner.attributes(), UpdateExpression: aws.String("REMOVE openShard, openSince"),
		})
		return unavailable(err)
	})
}

// owned returns the deletions of the live records that a deleted one owned.
func (s *Store) owned(ctx context.Context, org catalog.OrgID, kind catalog.Kind, row item) ([]catalog.Deletion, error) {
	var change catalog.Change
	switch kind {
	case catalog.CourseKind:
		course, err := decodeRecord[catalog.Course](row)
		if err != nil {
			return nil, err
		}
		ids := make([]string, len(course.Sections))
		for i, ref := range course.Sections {
			ids[i] = ref.ID
		}
		sections, err := s.SectionsByID(ctx, org, ids, true)
		if err != nil {
			return nil, err
		}
		for _, section := range sections {
			change.Delete(section, s.Now(), nil)
		}
	case catalog.TransferPackageKind:
		pack, err := decodeRecord[catalog.TransferPackage](row)
		if err != nil {
			return nil, err
		}
		courses, err := s.TransferCourses(ctx, org, pack.ID)
		if err != nil {
			return nil, err
		}
		for _, course := range courses {
			change.Delete(course, s.Now(), nil)
		}
	}
	return change.Deleted, nil
}
