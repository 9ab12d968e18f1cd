package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// owes marks the tombstone of a deletion's owner, which is among the writes of the change,
// as one that still owns live records.
func (s *Store) owes(writes []write, owned *catalog.Deletion) {
	org, kind := owned.Record.Base().OrganizationID, catalog.KindOf(owned.Record).Parent()
	owner, _ := recordKey(org, kind, "", owned.Owner)
	for _, w := range writes {
		if put := w.action.Put; put != nil && keyOfRow(put.Item) == owner.deleted() {
			put.Item[api.PendingIndexPartitionKey] = text(deletions)
			put.Item[api.PendingIndexSortKey] = number(int64(s.Now()))
		}
	}
}

// removeOwned deletes the records that a deleted record owned, in their current version: only extractions still change
// them. Those whose transaction became stale follow after all others, half as many at a time: repeated at once, a
// deletion would follow the extractor from record to record, while it does not extract what was deleted ahead of it.
func (s *Store) removeOwned(ctx context.Context, org catalog.OrgID, owned []*catalog.Deletion) error {
	var wrong error
	writesOf := func(d *catalog.Deletion) []write {
		pair, err := s.remove(d)
		wrong = cmp.Or(wrong, err)
		return pair
	}
	for most := transactionWrites / 2; len(owned) > 0; most = max(1, most/2) {
		var stale []*catalog.Deletion
		for part := range slices.Chunk(owned, most) {
			for some, writes := range pack(part, writesOf) {
				if wrong != nil {
					return wrong
				}
				err := s.transact(ctx, org, writes)
				if errors.Is(err, catalog.ErrStale) {
					stale = append(stale, some...)
				} else if err != nil {
					return err
				}
			}
		}
		var err error
		if owned, err = s.stillOwned(ctx, stale); err != nil {
			return err
		}
	}
	return nil
}

// stillOwned reloads the records of deletions, all of one kind, and drops those that no longer exist.
func (s *Store) stillOwned(ctx context.Context, owned []*catalog.Deletion) ([]*catalog.Deletion, error) {
	if len(owned) == 0 {
		return nil, nil
	}
	keys := make([]key, len(owned))
	for i, d := range owned {
		keys[i] = keyOf(d.Record)
	}
	live, err := records[catalog.Record](ctx, s, catalog.KindOf(owned[0].Record), keys, true)
	var change catalog.Change
	for _, r := range live {
		change.Delete(r, s.Now(), nil)
	}
	return catalog.EffectsOf[*catalog.Deletion](&change), err
}

// CompleteDeletions completes deletions that took more than one transaction and were interrupted, once they are older
// than SweepGrace. Until then the sections of such a course and the transfer courses of such a package can still be
// read by id. removeFile removes the file of a deleted document, whose uploads have all expired, or of the rows that a
// deleted import rejected. Each deletion that could not be completed is a *catalog.Unfinished in the error.
func (s *Store) CompleteDeletions(
	ctx context.Context, removeFile func(ctx context.Context, org catalog.OrgID, id string) error,
) error {
	return s.sweep(ctx, deletions, func(at catalog.ExtractionJob, owner key) error {
		row, err := s.row(ctx, owner, true)
		if err != nil {
			return err
		}
		deleted, err := decodeRecord(at.Kind, row)
		if err != nil {
			return err
		}
		var left catalog.Change
		switch deleted.(type) {
		case *catalog.Document, *catalog.Import:
			err = removeFile(ctx, at.OrganizationID, deleted.Base().ID)
		default:
			left, err = s.owned(ctx, deleted)
		}
		if err != nil {
			return err
		}
		if left.Empty() {
			return s.finished(ctx, owner)
		}
		deletions := catalog.EffectsOf[*catalog.Deletion](&left)
		if err := s.removeOwned(ctx, at.OrganizationID, deletions); err != nil {
			return err
		}
		var released [][]write
		for _, h := range catalog.EffectsOf[*catalog.DocumentHolding](&left) {
			released = append(released, s.documentHolding(h).settle)
		}
		return s.saveAllApart(ctx, at.OrganizationID, released)
	})
}

// sweep calls finish for each row that has been open in a shard for longer than SweepGrace. A
// row that cannot be finished moves to the end of the shard, and the sweep continues.
func (s *Store) sweep(ctx context.Context, shard string, finish func(at catalog.ExtractionJob, k key) error) error {
	var unfinished []error
	err := s.open(ctx, shard, s.Now()-SweepGrace, func(row item) error {
		k := keyOfRow(row)
		at, ok := jobOf(row)
		err := fmt.Errorf("key %s", k.pk)
		if ok {
			err = finish(at, k)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		unfinished = append(unfinished, at.Unfinished(err))
		return s.postpone(ctx, k)
	})
	return errors.Join(append(unfinished, err)...)
}

// postpone moves a row to the end of its shard of the pending index, if it is still there.
func (s *Store) postpone(ctx context.Context, k key) error {
	var later expression
	later.conditions = []string{"attribute_exists(" + later.name(api.PendingIndexSortKey) + ")"}
	later.set(api.PendingIndexSortKey, number(int64(s.Now())))
	_, err := s.updateIf(ctx, k, &later)
	return err
}

// finished removes a row from the pending index.
func (s *Store) finished(ctx context.Context, k key) error {
	e := exists()
	e.remove(api.PendingIndexPartitionKey, api.PendingIndexSortKey)
	_, err := s.updateIf(ctx, k, e)
	return err
}

// ExpireDocuments deletes documents that no record holds and whose file was not uploaded
// within catalog.DocumentTTL. Errors are as for CompleteDeletions.
func (s *Store) ExpireDocuments(
	ctx context.Context,
	uploaded func(ctx context.Context, org catalog.OrgID, documentID string) (at catalog.Time, there bool, err error),
) error {
	return s.sweep(ctx, uploads, func(at catalog.ExtractionJob, k key) error {
		org := at.OrganizationID
		r, err := s.Record(ctx, org, catalog.DocumentKind, "", at.ID, true)
		if err != nil {
			if catalog.HasCode(err, catalog.NotFound) {
				return nil
			}
			return err
		}
		document := r.(*catalog.Document)
		_, came, err := uploaded(ctx, org, document.ID)
		if err != nil {
			return err
		}
		if came || len(document.HeldBy) > 0 {
			return s.finished(ctx, k)
		}
		var change catalog.Change
		change.Delete(document, s.Now(), nil)
		if err := s.Commit(ctx, org, &change); !errors.Is(err, catalog.ErrStale) {
			return err
		}
		return nil // it is held now, or deleted
	})
}

// Completion implements service.Store.
func (s *Store) Completion(
	ctx context.Context, org catalog.OrgID, kind catalog.Kind, id string,
) (*catalog.Change, error) {
	k, ok := recordKey(org, kind, "", id)
	if !ok {
		return nil, catalog.Absent()
	}
	row, err := s.row(ctx, k.deleted(), true)
	if err != nil {
		return nil, err
	}
	if row[api.PendingIndexPartitionKey] == nil {
		return nil, catalog.Absent()
	}
	owner, err := decodeRecord(kind, row)
	if err != nil {
		return nil, err
	}
	left, err := s.owned(ctx, owner)
	if err != nil {
		return nil, err
	}
	deletions := catalog.EffectsOf[*catalog.Deletion](&left)
	if len(deletions) == 0 || deletions[0].Owner != id {
		return nil, catalog.Absent()
	}
	return &left, nil
}

// owned returns a change that deletes the live records that a deleted record owned.
func (s *Store) owned(ctx context.Context, owner catalog.Record) (change catalog.Change, err error) {
	org := owner.Base().OrganizationID
	var records map[string]catalog.Record
	switch owner := owner.(type) {
	case *catalog.Course:
		ids := make([]string, len(owner.Sections))
		for i, ref := range owner.Sections {
			ids[i] = ref.ID
		}
		records, err = s.RecordsByID(ctx, org, catalog.SectionKind, ids, true)
	case *catalog.TransferPackage:
		err = s.EachRecord(ctx, org, catalog.TransferCourseKind, owner.ID, func(r catalog.Record) error {
			change.Delete(r, s.Now(), nil)
			return nil
		})
	}
	for _, r := range records {
		change.Delete(r, s.Now(), nil)
	}
	for _, d := range catalog.EffectsOf[*catalog.Deletion](&change) {
		d.Owner = owner.Base().ID
	}
	return change, err
}
