package dynamo

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

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

// removeOwned takes out what a deleted record owned, as it is by then: only its
// extraction still changes it.
func (s *Store) removeOwned(ctx context.Context, org catalog.OrgID, owned []catalog.Deletion) error {
	for chunk := range slices.Chunk(owned, transactionLimit/2) {
		for len(chunk) > 0 {
			var writes []write
			for _, d := range chunk {
				pair, err := s.remove(d, unchanged(d))
				if err != nil {
					return err
				}
				writes = append(writes, pair...)
			}
			err := s.transact(ctx, org, writes)
			if err == nil {
				break
			}
			if !errors.Is(err, catalog.ErrStale) {
				return err
			}
			if chunk, err = s.stillOwned(ctx, chunk); err != nil {
				return err
			}
		}
	}
	return nil
}

// stillOwned returns the deletions of records of one kind as they are now, without
// those that are gone.
func (s *Store) stillOwned(ctx context.Context, owned []catalog.Deletion) ([]catalog.Deletion, error) {
	var keys []key
	for _, d := range owned {
		keys = append(keys, keyOf(d.Record))
	}
	rows, err := s.rows(ctx, keys, true)
	if err != nil {
		return nil, err
	}
	var change catalog.Change
	for _, row := range rows {
		r, err := decodeKind(catalog.KindOf(owned[0].Record), row)
		if err != nil {
			return nil, err
		}
		change.Delete(r, s.Now(), nil)
	}
	return change.Deleted, nil
}

// CompleteDeletions looks at deletions of more than a transaction, once they are
// older than SweepGrace: it takes out what one that broke off has left, and is done
// with one that has left nothing. Until then the sections of such a course and the
// transfer courses of such a package may still be read by their ids. removeFile
// removes the file of a deleted document, for which no upload is valid any more.
func (s *Store) CompleteDeletions(ctx context.Context, removeFile func(ctx context.Context, org catalog.OrgID, documentID string) error) error {
	return s.open(ctx, deletions, s.Now()-SweepGrace, func(row item) error {
		owner := keyOfRow(row)
		parts := strings.Split(strings.TrimSuffix(owner.pk, "!"), "#")
		org, kind := catalog.OrgID(parts[1]), catalog.Kind(parts[2])
		row, err := s.row(ctx, owner, true)
		if err != nil {
			return err
		}
		if kind == catalog.DocumentKind {
			if err := removeFile(ctx, org, owner.sk); err != nil {
				return err
			}
			return s.finished(ctx, owner)
		}
		left, err := s.owned(ctx, org, kind, row)
		if err != nil {
			return err
		}
		if len(left.Deleted) == 0 {
			return s.finished(ctx, owner)
		}
		if err := s.removeOwned(ctx, org, left.Deleted); err != nil {
			return err
		}
		_, released := s.documentHolds(org, left.Documents)
		for _, w := range released {
			if err := s.saveApart(ctx, org, [][]write{{w}}); err != nil {
				return err
			}
		}
		return nil
	})
}

// finished takes a row out of the index of what is not finished.
func (s *Store) finished(ctx context.Context, k key) error {
	_, err := s.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.Table, Key: k.attributes(), UpdateExpression: aws.String("REMOVE openShard, openSince"),
		ConditionExpression: aws.String("attribute_exists(pk)"),
	})
	var gone *types.ConditionalCheckFailedException
	if errors.As(err, &gone) {
		return nil
	}
	return unavailable(err)
}

// ExpireDocuments deletes the documents that have waited for their file for longer
// than catalog.DocumentTTL and that no record holds; uploaded reports whether it came.
func (s *Store) ExpireDocuments(ctx context.Context, uploaded func(ctx context.Context, org catalog.OrgID, documentID string) (bool, error)) error {
	return s.open(ctx, uploads, s.Now()-SweepGrace, func(row item) error {
		at := keyOfRow(row)
		org := catalog.OrgID(strings.Split(at.pk, "#")[1])
		document, err := s.Document(ctx, org, at.sk, true)
		if err != nil {
			return ignoreAbsent(err)
		}
		came, err := uploaded(ctx, org, document.ID)
		if err != nil {
			return err
		}
		if came || len(document.HeldBy) > 0 {
			return s.finished(ctx, at)
		}
		var change catalog.Change
		change.Delete(document, s.Now(), nil)
		if err := s.Commit(ctx, org, &change); !errors.Is(err, catalog.ErrStale) {
			return err
		}
		return nil // it is held now, or deleted
	})
}

func ignoreAbsent(err error) error {
	var known *catalog.Error
	if errors.As(err, &known) && known.Code == catalog.NotFound {
		return nil
	}
	return err
}

// owned returns the deletion of the live records that a deleted one owned.
func (s *Store) owned(ctx context.Context, org catalog.OrgID, kind catalog.Kind, row item) (change catalog.Change, err error) {
	switch kind {
	case catalog.CourseKind:
		course, err := decodeRecord[catalog.Course](row)
		if err != nil {
			return change, err
		}
		ids := make([]string, len(course.Sections))
		for i, ref := range course.Sections {
			ids[i] = ref.ID
		}
		sections, err := s.SectionsByID(ctx, org, ids, true)
		if err != nil {
			return change, err
		}
		for _, section := range sections {
			change.Delete(section, s.Now(), nil)
		}
	case catalog.TransferPackageKind:
		pack, err := decodeRecord[catalog.TransferPackage](row)
		if err != nil {
			return change, err
		}
		courses, err := s.TransferCourses(ctx, org, pack.ID)
		if err != nil {
			return change, err
		}
		for _, course := range courses {
			change.Delete(course, s.Now(), nil)
		}
	}
	return change, nil
}
