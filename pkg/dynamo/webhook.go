package dynamo

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// The webhooks of an organization share one row, which enforces their limit. The row also has
// the cursor up to which the change feed was dispatched, since when each webhook has been
// failing, and which ones respond quickly. A message has a row for as long as it can be
// resent, in the pending index while another attempt is due; each attempt has a row too.
//
// A message is never only in the queue: its row is saved before the cursor passes its change.
const (
	listed     = "webhooks"
	version    = "version"
	dispatched = "dispatched"
	failing    = "failing#" // + webhook id: Unix ms of the first failure since the last success
	quick      = "quick#"   // + webhook id: present while its last response was quick
	dueAt      = "dueAt"    // of a message: Unix ms at which its next attempt is due
	lease      = "lease"    // of a message or a first attempt: Unix ms until which an attempt in progress has it
	first      = "first"    // of a message: its first attempt
	turn       = "turn#"    // + 0..5: sort key of a turn
)

// turns limits the concurrent messages to those of an organization's webhooks that are not
// known to respond quickly; webhookTurns limits them for one webhook. Each message is
// assigned one turn to wait for, so that nothing has to be counted.
const (
	turns        = 6
	webhookTurns = 3
)

// The shards of the pending index for webhooks.
const (
	receivers = "webhooks"  // organizations with an enabled webhook
	messages  = "messages#" // + 0..3: messages with an attempt due
)

// resendGrace is the minimum delay, in ms, before an attempt that is due is sent to the queue again, because its
// message may still be there; resendPause is the delay between further resends. In a longer queue messages are
// duplicated once per pause; duplicates are cheap, since the attempt has been made by then.
const (
	resendGrace = 60_000
	resendPause = 5 * 60_000
)

func webhooksKey(org catalog.OrgID) key { return key{partition(org, api.WebhookRows), listed} }

func messageKey(org catalog.OrgID, webhookID, messageID string) key {
	return key{api.MessageRows.Key(string(org), webhookID), messageID}
}

// Webhooks reads the organization's webhooks with a strong read.
func (s *Store) Webhooks(ctx context.Context, org catalog.OrgID) (*catalog.Webhooks, error) {
	return s.webhooks(ctx, org, true)
}

func (s *Store) webhooks(ctx context.Context, org catalog.OrgID, strong bool) (*catalog.Webhooks, error) {
	w := &catalog.Webhooks{OrganizationID: org, Failing: map[string]catalog.Time{}, Quick: map[string]bool{}}
	row, err := s.row(ctx, webhooksKey(org), strong)
	if err != nil || row == nil {
		return w, err
	}
	w.Version = integer(row[version])
	if stored, ok := row[listed].(*types.AttributeValueMemberL); ok {
		for _, value := range stored.Value {
			webhook := &catalog.Webhook{}
			one, _ := value.(*types.AttributeValueMemberM)
			if one == nil || decodeWhole(one.Value, webhook) != nil {
				return nil, fmt.Errorf("webhooks of %s: malformed row", org)
			}
			w.List = append(w.List, webhook)
		}
	}
	if cursor, ok := row[dispatched].(*types.AttributeValueMemberS); ok {
		w.Dispatched, _ = catalog.ParseCursor(cursor.Value)
	}
	for name, value := range row {
		if id, ok := strings.CutPrefix(name, failing); ok {
			w.Failing[id] = catalog.Time(integer(value))
		}
		if id, ok := strings.CutPrefix(name, quick); ok {
			w.Quick[id] = true
		}
	}
	return w, nil
}

// saveWebhooks saves the organization's webhooks unless they changed since they were loaded.
func (s *Store) saveWebhooks(w *catalog.Webhooks) (write, error) {
	stored := &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
	enabled := false
	for _, webhook := range w.List {
		row, err := encodeWhole(webhook)
		if err != nil {
			return write{}, err
		}
		stored.Value = append(stored.Value, &types.AttributeValueMemberM{Value: row})
		enabled = enabled || webhook.Enabled
	}
	var e expression
	e.set(listed, stored)
	e.counted(version, w.Version)
	e.set(version, number(w.Version+1))
	if enabled {
		e.set(api.PendingIndexPartitionKey, text(receivers))
		e.set(api.PendingIndexSortKey, number(0))
	} else {
		e.remove(api.PendingIndexPartitionKey, api.PendingIndexSortKey)
	}
	for _, id := range w.Forgotten {
		e.remove(failing+id, quick+id)
	}
	return write{action: s.update(webhooksKey(w.OrganizationID), &e)}, nil
}

// DisableWebhook implements delivery.Store.
func (s *Store) DisableWebhook(ctx context.Context, org catalog.OrgID, webhookID, reason string) error {
	for {
		w, err := s.Webhooks(ctx, org)
		if err != nil {
			return err
		}
		webhook := w.Find(webhookID)
		if webhook == nil || !webhook.Enabled {
			return nil
		}
		w.Disable(webhook, reason, s.Now())
		err = s.Commit(ctx, org, catalog.NewChange(w))
		if !errors.Is(err, catalog.ErrStale) {
			return err
		}
	}
}

// MarkWebhook implements delivery.Store.
func (s *Store) MarkWebhook(
	ctx context.Context, org catalog.OrgID, webhookID string, since *catalog.Time, fast *bool,
) error {
	e := exists()
	switch {
	case since == nil:
	case *since == 0:
		e.remove(failing + webhookID)
	default:
		e.setOnce(failing+webhookID, number(int64(*since)))
	}
	switch {
	case fast == nil:
	case *fast:
		e.set(quick+webhookID, number(1))
	default:
		e.remove(quick + webhookID)
	}
	_, err := s.updateIf(ctx, webhooksKey(org), e)
	return err
}

func turnKey(m catalog.WebhookMessage) key {
	n := (placeOf(m.WebhookID, turns) + placeOf(m.ID, webhookTurns)) % turns
	return key{partition(m.OrganizationID, api.WebhookRows), turn + strconv.Itoa(n)}
}

// TakeTurn implements delivery.Store.
func (s *Store) TakeTurn(ctx context.Context, m catalog.WebhookMessage, until catalog.Time) (bool, error) {
	var e expression
	e.set("holder", text(m.ID))
	e.set("until", number(int64(until)))
	e.set(api.TTL, number((int64(until)+catalog.MessageTTL)/1000))
	e.below("until", int64(s.Now()))
	return s.updateIf(ctx, turnKey(m), &e)
}

// EndTurn implements delivery.Store.
func (s *Store) EndTurn(ctx context.Context, m catalog.WebhookMessage) error {
	var e expression
	e.set("until", number(0))
	e.is("holder", text(m.ID))
	_, err := s.updateIf(ctx, turnKey(m), &e)
	return err
}

// WebhookOrganizations implements delivery.Store.
func (s *Store) WebhookOrganizations(ctx context.Context, visit func(catalog.OrgID) error) error {
	return s.open(ctx, receivers, s.Now(), func(row item) error {
		if org, ok := api.WebhookRows.Organization(keyOfRow(row).pk); ok {
			return visit(org)
		}
		return nil
	})
}

// FeedPlace returns the organization of a page of the change feed and the cursor at which the
// page begins; false if the key is not that of a page.
func FeedPlace(pk, sk string) (org catalog.OrgID, begins catalog.Cursor, ok bool) {
	org, ok = api.JournalRows.Organization(pk)
	page, err := strconv.Atoi(sk)
	return org, catalog.Cursor{Page: page}, ok && err == nil
}

// Undispatched returns the organization's webhooks and at most limit changes for which no messages were made yet; there
// may be more even if it returns none. guess is where the changes may begin, nil if unknown: with it both are read in
// parallel, from the page before guess, where the previous dispatch may have ended.
//
// The webhooks may be slightly stale: SaveDispatched detects that.
func (s *Store) Undispatched(
	ctx context.Context, org catalog.OrgID, guess *catalog.Cursor, limit int,
) (w *catalog.Webhooks, changes []catalog.RecordChange, more bool, err error) {
	begin := catalog.Cursor{}
	if guess != nil {
		begin.Page = max(0, guess.Page-1)
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		w, err = s.webhooks(groupCtx, org, false)
		return err
	})
	if guess != nil {
		group.Go(func() (err error) {
			changes, more, err = s.Changes(groupCtx, org, begin.String(), limit)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, false, err
	}
	from, any := w.Undispatched()
	if !any {
		return w, nil, false, nil
	}
	changes = slices.DeleteFunc(changes, func(c catalog.RecordChange) bool { return !from.Before(c.Cursor) })
	if guess == nil || from.Before(begin) || len(changes) == 0 && more {
		changes, more, err = s.Changes(ctx, org, from.String(), limit)
	}
	return w, changes, more, err
}

// SaveDispatched implements delivery.Store.
func (s *Store) SaveDispatched(ctx context.Context, org catalog.OrgID, w *catalog.Webhooks, to catalog.Cursor) error {
	var e expression
	e.counted(version, w.Version)
	if w.Dispatched == (catalog.Cursor{}) {
		e.is(dispatched, nil)
	} else {
		e.is(dispatched, text(w.Dispatched.String()))
	}
	e.set(dispatched, text(to.String()))
	saved, err := s.updateIf(ctx, webhooksKey(org), &e)
	if err != nil {
		return err
	}
	if !saved {
		return catalog.ErrStale
	}
	w.Dispatched = to
	return nil
}

// storedMessage is the row of a message. Attempts counts the attempts made.
type storedMessage struct {
	catalog.WebhookMessage
	Attempts  int                     `json:"attempts"`
	First     *catalog.WebhookAttempt `json:"first"`
	ExpiresAt int64                   `json:"expiresAt"`
}

func shardOfMessage(id string) string { return messages + strconv.Itoa(placeOf(id, shards)) }

// placeOf hashes an id to one of several places.
func placeOf(id string, places uint32) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return int(h.Sum32() % places)
}

// messageRow returns the row of a message whose next attempt is due now.
func (s *Store) messageRow(m catalog.WebhookMessage) (item, error) {
	row, err := encode(m)
	if err != nil {
		return nil, err
	}
	delete(row, "attempt")
	now := int64(s.Now())
	row[dueAt] = number(now)
	row[api.PendingIndexPartitionKey] = text(shardOfMessage(m.ID))
	row[api.PendingIndexSortKey] = number(now + resendGrace)
	row[api.TTL] = number((now + catalog.MessageTTL) / 1000)
	return row, nil
}

// AddMessage implements delivery.Store.
func (s *Store) AddMessage(ctx context.Context, m catalog.WebhookMessage) error {
	row, err := s.messageRow(m)
	if err != nil {
		return err
	}
	_, err = s.putItem(ctx, messageKey(m.OrganizationID, m.WebhookID, m.ID), row, absent())
	return err
}

// sendMessage stores a new message, or makes the next attempt of an existing one due now.
func (s *Store) sendMessage(m catalog.WebhookMessage) (write, error) {
	row, err := s.messageRow(m)
	if err != nil {
		return write{}, err
	}
	var e expression
	for _, name := range slices.Sorted(maps.Keys(row)) {
		e.set(name, row[name])
	}
	return write{action: s.update(messageKey(m.OrganizationID, m.WebhookID, m.ID), &e)}, nil
}

// WebhookMessage reads a message, ready for its next attempt.
func (s *Store) WebhookMessage(
	ctx context.Context, org catalog.OrgID, webhookID, messageID string,
) (m catalog.WebhookMessage, err error) {
	if !catalog.MadeMessage(messageID) {
		return m, catalog.Absent()
	}
	row, err := s.row(ctx, messageKey(org, webhookID, messageID), true)
	if err != nil {
		return m, err
	}
	stored, err := s.decodeMessage(row)
	if err == nil && row == nil || stored.ExpiresAt < int64(s.Now())/1000 {
		return m, catalog.Absent()
	}
	return stored.WebhookMessage, err
}

// Delivering implements service.Webhooks.
func (s *Store) Delivering(ctx context.Context, m catalog.WebhookMessage) (bool, error) {
	row, err := s.row(ctx, leaseKey(m), true)
	return integer(row[lease]) >= int(s.Now()), err
}

func (s *Store) decodeMessage(row item) (stored storedMessage, err error) {
	err = decode(row, &stored)
	stored.Attempt = stored.Attempts + 1
	return stored, err
}

// ClaimMessage implements delivery.Store. It reads the webhooks in parallel.
func (s *Store) ClaimMessage(
	ctx context.Context, m catalog.WebhookMessage, until catalog.Time,
) (w *catalog.Webhooks, mine bool, err error) {
	made, held := false, false
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		w, err = s.Webhooks(groupCtx, m.OrganizationID)
		return err
	})
	group.Go(func() error {
		row, err := s.row(groupCtx, messageKey(m.OrganizationID, m.WebhookID, m.ID), false)
		made = integer(row["attempts"]) >= m.Attempt
		return err
	})
	group.Go(func() (err error) {
		held, err = s.takeLease(groupCtx, m, until)
		return err
	})
	err = group.Wait()
	return w, held && !made, err
}

// takeLease writes the lease of a message, and reports whether it was free.
func (s *Store) takeLease(ctx context.Context, m catalog.WebhookMessage, until catalog.Time) (bool, error) {
	var e expression
	if m.Attempt > 1 {
		e.below("attempts", int64(m.Attempt))
	} else {
		e.setOnce("messageId", text(m.ID))
		e.setOnce("type", text(m.Type))
		e.setOnce("attempt", number(1))
		e.setOnce(api.TTL, number((int64(s.Now())+catalog.MessageTTL)/1000))
	}
	e.set(lease, number(int64(until)))
	e.below(lease, int64(s.Now()))
	return s.updateIf(ctx, leaseKey(m), &e)
}

// leaseKey is the key of the row with the lease of a message.
func leaseKey(m catalog.WebhookMessage) key {
	if m.Attempt > 1 {
		return messageKey(m.OrganizationID, m.WebhookID, m.ID)
	}
	return attemptKey(m, catalog.WebhookAttempt{MessageID: m.ID, Attempt: m.Attempt, At: m.At})
}

func attemptKey(m catalog.WebhookMessage, a catalog.WebhookAttempt) key {
	return key{api.AttemptRows.Key(string(m.OrganizationID), m.WebhookID), attemptPlace(a)}
}

// SaveAttempt implements delivery.Store. An attempt that was recorded before does not change.
func (s *Store) SaveAttempt(
	ctx context.Context, m catalog.WebhookMessage, a catalog.WebhookAttempt, queued bool,
) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if a.Attempt == 1 {
			return nil
		}
		row, err := encode(a)
		if err != nil {
			return err
		}
		row[api.TTL] = number((int64(a.At) + catalog.MessageTTL) / 1000)
		_, err = s.putItem(groupCtx, attemptKey(m, a), row, nil)
		return err
	})
	group.Go(func() error {
		row, err := s.messageRow(m)
		if err != nil {
			return err
		}
		var e expression
		for _, name := range slices.Sorted(maps.Keys(row)) {
			switch name {
			case api.PendingIndexPartitionKey, api.PendingIndexSortKey, dueAt:
			case api.TTL:
				e.setOnce(name, row[name])
			default:
				e.set(name, row[name])
			}
		}
		if a.NextAttemptAt != nil {
			since := int64(*a.NextAttemptAt)
			e.set(dueAt, number(since))
			if queued {
				since += resendGrace
			}
			e.set(api.PendingIndexPartitionKey, row[api.PendingIndexPartitionKey])
			e.set(api.PendingIndexSortKey, number(since))
		} else {
			e.remove(dueAt, api.PendingIndexPartitionKey, api.PendingIndexSortKey)
		}
		if a.Attempt == 1 {
			made, err := encode(a)
			if err != nil {
				return err
			}
			e.set(first, &types.AttributeValueMemberM{Value: made})
		}
		e.below("attempts", int64(a.Attempt))
		e.set("attempts", number(a.Attempt))
		return s.updateMessage(groupCtx, m, &e)
	})
	return group.Wait()
}

// HoldMessage implements delivery.Store.
func (s *Store) HoldMessage(ctx context.Context, m catalog.WebhookMessage, until catalog.Time) error {
	var e expression
	e.set(dueAt, number(int64(until)))
	e.set(api.PendingIndexPartitionKey, text(shardOfMessage(m.ID)))
	e.set(api.PendingIndexSortKey, number(int64(until)+resendGrace))
	e.conditions = []string{"attribute_exists(" + e.name(dueAt) + ")"}
	if m.Attempt > 1 {
		return s.updateMessage(ctx, m, &e)
	}
	var free expression
	free.remove(lease)
	_, err := s.updateIf(ctx, leaseKey(m), &free)
	return errors.Join(err, s.updateMessage(ctx, m, &e))
}

// DropMessage implements delivery.Store.
func (s *Store) DropMessage(ctx context.Context, m catalog.WebhookMessage) error {
	e := exists()
	e.remove(dueAt, api.PendingIndexPartitionKey, api.PendingIndexSortKey)
	return s.updateMessage(ctx, m, e)
}

// updateMessage updates the row of a message and ends its lease if the conditions hold.
func (s *Store) updateMessage(ctx context.Context, m catalog.WebhookMessage, e *expression) error {
	e.remove(lease)
	_, err := s.updateIf(ctx, messageKey(m.OrganizationID, m.WebhookID, m.ID), e)
	return err
}

// DueMessages visits the messages whose next attempt is due and may not be in the queue, the
// longest due first in each shard. A resent message is then left alone for resendPause.
func (s *Store) DueMessages(
	ctx context.Context,
	visit func(resend func(context.Context) (m catalog.WebhookMessage, due bool, err error)) error,
) error {
	for shard := range shards {
		err := s.open(ctx, messages+strconv.Itoa(shard), s.Now(), func(row item) error {
			k := keyOfRow(row)
			return visit(func(ctx context.Context) (catalog.WebhookMessage, bool, error) { return s.resend(ctx, k) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) resend(ctx context.Context, k key) (m catalog.WebhookMessage, due bool, err error) {
	now := int64(s.Now())
	var e expression
	e.set(api.PendingIndexSortKey, number(now+resendPause))
	e.conditions = []string{e.name(api.PendingIndexSortKey) + " < " + e.value(number(now))}
	row, err := s.updated(ctx, k, &e)
	if err != nil || row == nil {
		return m, false, err
	}
	stored, err := s.decodeMessage(row)
	return stored.WebhookMessage, err == nil, err
}

// attemptPlace is the sort key of an attempt at a webhook, which orders by time.
func attemptPlace(a catalog.WebhookAttempt) string {
	return fmt.Sprintf("%013d#%s#%d", a.At, a.MessageID, a.Attempt)
}

var attemptPlaces = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9]{13}#msg_[0-9a-z]{1,64}#[0-9]{1,9}$`)
})

// WebhookAttempts reads a page of the attempts at a webhook, the newest first. before is the
// next of the previous page, "" for the first page; next is "" on the last one.
func (s *Store) WebhookAttempts(
	ctx context.Context, org catalog.OrgID, webhookID, before string, limit int,
) (attempts []catalog.WebhookAttempt, next string, err error) {
	from, to := fmt.Sprintf("%013d", int64(s.Now())-catalog.MessageTTL), "9"
	if before != "" {
		place, err := base64.RawURLEncoding.DecodeString(before)
		if err != nil || !attemptPlaces().Match(place) {
			return nil, "", catalog.Errorf(catalog.InvalidParameter, "before is not the next of an earlier page.")
		}
		to = string(place)
	}
	attempts = []catalog.WebhookAttempt{}
	var last string // sort key of the last one
	for more := to >= from; more && next == ""; {
		rows, err := s.attemptsBefore(ctx, org, webhookID, from, to, limit+1)
		if err != nil {
			return nil, "", err
		}
		made, err := s.attemptsOf(ctx, org, webhookID, rows)
		if err != nil {
			return nil, "", err
		}
		more = len(rows) > limit
		for i, a := range made {
			to = keyOfRow(rows[i]).sk
			switch {
			case a.Outcome == "": // in progress
			case len(attempts) < limit:
				attempts, last = append(attempts, a), to
			default:
				next = base64.RawURLEncoding.EncodeToString([]byte(last))
			}
		}
	}
	slices.SortStableFunc(attempts, func(a, b catalog.WebhookAttempt) int { return cmp.Compare(b.At, a.At) })
	return attempts, next, nil
}

// attemptsBefore reads rows of attempts at a webhook, the newest first, before a sort key.
func (s *Store) attemptsBefore(
	ctx context.Context, org catalog.OrgID, webhookID, from, to string, limit int,
) (rows []item, err error) {
	in := rangeQuery(api.AttemptRows.Key(string(org), webhookID), from, to, false)
	in.ScanIndexForward, in.Limit = aws.Bool(false), aws.Int32(int32(limit)+1)
	err = s.query(ctx, in, func(row item) (bool, error) {
		if keyOfRow(row).sk != to {
			rows = append(rows, row)
		}
		return len(rows) < limit, nil
	})
	return rows, err
}

// attemptsOf decodes rows of attempts. An attempt in progress has no outcome; a first
// attempt's outcome is in the row of its message.
func (s *Store) attemptsOf(
	ctx context.Context, org catalog.OrgID, webhookID string, rows []item,
) ([]catalog.WebhookAttempt, error) {
	attempts, messages := make([]catalog.WebhookAttempt, len(rows)), []key{}
	for i, row := range rows {
		if err := decode(row, &attempts[i]); err != nil {
			return nil, err
		}
		if attempts[i].Outcome == "" {
			messages = append(messages, messageKey(org, webhookID, attempts[i].MessageID))
		}
	}
	found, err := s.rows(ctx, messages, false)
	if err != nil {
		return nil, err
	}
	for _, row := range found {
		m, err := s.decodeMessage(row)
		if err != nil {
			return nil, err
		}
		for i, a := range attempts {
			if a.MessageID == m.ID && a.Outcome == "" && m.First != nil {
				attempts[i] = *m.First
			}
		}
	}
	return attempts, nil
}
