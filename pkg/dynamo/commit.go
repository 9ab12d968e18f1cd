package dynamo

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/catalog"
)

// Commit saves a change in one transaction, with its entries in the change feed. It returns catalog.ErrStale if the
// state that the change was based on has changed: a record was updated, a list gained or lost a record, or the
// idempotency key was used. It refuses rows of other organizations.
//
// A change that is too large for one transaction is saved in several, by the phases of its rows: first rows that are
// harmless by themselves; then holds on courses and documents, under a reservation; then the records, if the
// reservation still exists; then the deletions of records whose owner was deleted. A hold without its record is
// harmless (see catalog.Holding), and deleting a held record in spite of it revokes the reservation. Once the records
// are saved the change is committed; CompleteDeletions finishes the rest if the commit is interrupted after that.
func (s *Store) Commit(ctx context.Context, org catalog.OrgID, c *catalog.Change) error {
	all, err := s.rowsOf(org, c)
	if err != nil {
		return err
	}
	if weightOf(writesOf(all)).fits() {
		return s.together(ctx, org, all)
	}
	var first []step
	var rest []rows
	for _, r := range all {
		if r.phase == ahead {
			first = append(first, step{do: r.writes})
		} else {
			rest = append(rest, r)
		}
	}
	if weightOf(writesOf(rest)).fits() {
		if _, err := s.takeSteps(ctx, org, first); err != nil {
			return err
		}
		return s.together(ctx, org, rest)
	}
	return s.divided(ctx, org, first, rest)
}

// Share returns the fraction of a transaction's limits that a change uses. Above 1, Commit takes several transactions.
func (s *Store) Share(org catalog.OrgID, c *catalog.Change) (float64, error) {
	all, err := s.rowsOf(org, c)
	return weightOf(writesOf(all)).share(), err
}

// rowsOf returns the rows of all effects of a change.
func (s *Store) rowsOf(org catalog.OrgID, c *catalog.Change) ([]rows, error) {
	if err := c.CheckOwner(org); err != nil {
		return nil, err
	}
	var all []rows
	for _, e := range c.Effects() {
		r, err := s.effectRows(org, e)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return append(all, rows{writes: s.fences(org, c, writesOf(all))}), nil
}

// ClaimNames saves the claims of changes in parallel transactions; Commit saves the rest. If that never happens, they
// lead to records that do not exist. Whoever takes such a name over moves the version of the records' list, without
// which the rest can no longer be saved: see fences.
func (s *Store) ClaimNames(ctx context.Context, org catalog.OrgID, changes ...*catalog.Change) error {
	var all []rows
	for _, c := range changes {
		if err := c.CheckOwner(org); err != nil {
			return err
		}
		for _, e := range c.Claims() {
			r, err := s.effectRows(org, e)
			if err != nil {
				return err
			}
			all = append(all, r)
		}
	}
	var group errgroup.Group
	for some, writes := range pack(all, func(r rows) []write { return r.writes }) {
		group.Go(func() error {
			err := s.transact(ctx, org, writes)
			if err == nil {
				remember(some)
			}
			return err
		})
	}
	return group.Wait()
}

func writesOf(all []rows) (writes []write) {
	for _, r := range all {
		writes = append(writes, r.writes...)
	}
	return writes
}

// together saves all rows in one transaction.
func (s *Store) together(ctx context.Context, org catalog.OrgID, all []rows) error {
	if err := s.transact(ctx, org, writesOf(all)); err != nil {
		return err
	}
	remember(all)
	return nil
}

func remember(all []rows) {
	for _, r := range all {
		if r.saved != nil {
			r.saved()
		}
	}
}

// divided saves the rows of a change in several transactions, after the first steps.
func (s *Store) divided(ctx context.Context, org catalog.OrgID, first []step, all []rows) error {
	var records []write
	var holders []string
	var owned []*catalog.Deletion
	for _, r := range all {
		switch {
		case r.phase == claimed:
			holders = append(holders, r.reserve...)
		case r.deletion != nil && r.deletion.Owner != "":
			owned = append(owned, r.deletion)
		default:
			records = append(records, r.writes...)
		}
	}
	for _, reservation := range reservations(holders) {
		first = append(first, step{do: []write{s.reserve(org, reservation)}})
		records = append(records, s.endReservation(org, reservation))
	}
	var settle [][]write
	for _, r := range all {
		if len(r.claim.do) > 0 {
			first = append(first, r.claim)
		}
		if len(r.settle) > 0 {
			settle = append(settle, r.settle)
		}
	}
	if !weightOf(records).fits() {
		return tooLarge()
	}
	for _, d := range owned {
		s.owes(records, d)
	}
	undo, err := s.takeSteps(ctx, org, first)
	if err != nil {
		return err
	}
	if len(records) > 0 { // else it completes a deletion
		err = s.transact(ctx, org, records)
	}
	if err != nil {
		s.undo(ctx, org, undo, err)
		return err
	}
	remember(all)
	// The rest are claims to settle and records whose owner is deleted.
	if err := s.saveAllApart(ctx, org, settle); err != nil {
		return err
	}
	return s.removeOwned(ctx, org, owned)
}

// step is a group of writes and those that undo it; undo is nil if nothing has to be undone.
type step struct{ do, undo []write }

// takeSteps saves the steps, as many at a time as fit, and returns the writes that undo them.
// If a step is stale, the earlier ones are undone.
func (s *Store) takeSteps(ctx context.Context, org catalog.OrgID, steps []step) (undo [][]write, err error) {
	for some, writes := range pack(steps, func(st step) []write { return st.do }) {
		if err := s.transact(ctx, org, writes); err != nil {
			s.undo(ctx, org, undo, err)
			return nil, err
		}
		for _, st := range some {
			if st.undo != nil {
				undo = append(undo, st.undo)
			}
		}
	}
	return undo, nil
}

// undo undoes the steps of a change that was refused as stale. A step that cannot be undone
// leaves a hold without its record.
func (s *Store) undo(ctx context.Context, org catalog.OrgID, steps [][]write, refused error) {
	if errors.Is(refused, catalog.ErrStale) {
		_ = s.saveAllApart(ctx, org, steps)
	}
}

func (s *Store) saveAllApart(ctx context.Context, org catalog.OrgID, parts [][]write) error {
	for chunk := range pack(parts, func(part []write) []write { return part }) {
		if err := s.saveApart(ctx, org, chunk); err != nil {
			return err
		}
	}
	return nil
}

// saveApart saves independent parts: together if possible, otherwise in halves. A part that
// stays stale by itself is for a row that was deleted meanwhile, and is dropped.
func (s *Store) saveApart(ctx context.Context, org catalog.OrgID, parts [][]write) error {
	for range 3 { // conflicts and full pages of the feed are transient
		if err := s.transact(ctx, org, slices.Concat(parts...)); !errors.Is(err, catalog.ErrStale) {
			return err
		}
	}
	if len(parts) == 1 {
		return nil
	}
	half := len(parts) / 2
	return errors.Join(s.saveApart(ctx, org, parts[:half]), s.saveApart(ctx, org, parts[half:]))
}

// transact saves the writes and their entries in the feed, all or nothing.
func (s *Store) transact(ctx context.Context, org catalog.OrgID, writes []write) error {
	if !weightOf(writes).fits() {
		return tooLarge()
	}
	var actions []types.TransactWriteItem
	var entries []string
	var page feedPage
	for _, w := range writes {
		actions = append(actions, w.action)
		if w.entry != "" {
			entries = append(entries, w.entry)
		}
	}
	if len(entries) > 0 {
		journal, last, err := s.journal(ctx, org, entries)
		if err != nil {
			return err
		}
		page = last
		actions = append(actions, journal)
	}
	_, err := s.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: actions})
	if err == nil {
		if len(entries) > 0 {
			// A concurrent commit has already cached a page that is at least as full.
			s.pages.CompareAndSwap(org, page, page.with(len(entries)))
		}
		return nil
	}
	// The cached page of the feed may be stale.
	s.pages.Delete(org)
	var canceled *types.TransactionCanceledException
	if errors.As(err, &canceled) {
		for _, reason := range canceled.CancellationReasons {
			switch aws.ToString(reason.Code) {
			case "", "None", "ConditionalCheckFailed", "TransactionConflict":
			case "ValidationError":
				return err
			default:
				return unavailable(err)
			}
		}
		return catalog.ErrStale
	}
	// This includes TransactionInProgressException: the SDK has sent this transaction before,
	// and deciding again would apply it twice.
	return unavailable(err)
}
