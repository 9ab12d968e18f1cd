package dynamo

import (
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
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// The webhooks of an organization are one row, so that they are never too many; how
// far its change feed was made into messages stands there as well, since when each
// webhook fails, which are slow, and which of their turns are taken. A message has a row
// as long as it can be sent once more, which is in the open index while its next attempt
// is due some time; each attempt has a row.
//
// A message is never only in a queue: its row is there before the feed counts as
// dispatched behind its change.
const (
	listed     = "webhooks"
	version    = "version"
	dispatched = "dispatched"
	failing    = "failing#" // and the webhook's id: Unix ms of the first failure since the last success
	slow       = "slow#"    // and the webhook's id: there while its last response was slow
	turn       = "turn#"    // and the id of one that is slow, #, and 0..3: Unix ms until which a message has that turn
	dueAt      = "dueAt"    // of a message: Unix ms, when its next attempt is to be made
)

// The shards of the open index that webhooks are in.
const (
	receivers = "webhooks"  // organizations with an enabled webhook
	messages  = "messages#" // and 0..3: messages with an attempt to be made
)

// resendGrace is how long, in ms, after it is due an attempt is sent again at the
// earliest, where its message may be in the queue; resendPause is how long after that, and
// each time, at the earliest. A queue that is longer than that has each of its messages
// once more for each pause, which takes a delivery little: the attempt was made.
const (
	resendGrace = 60_000
	resendPause = 5 * 60_000
)

// storedWebhook is a webhook with what clients do not see.
type storedWebhook struct {
	catalog.Webhook
	Secrets []catalog.WebhookSecret `json:"secrets"`
	From    string                  `json:"from"`
}

func webhooksKey(org catalog.OrgID) key { return key{partition(org, api.WebhookRows), listed} }

func messageKey(org catalog.OrgID, webhookID, messageID string) key {
	return key{api.MessageRows.Key(string(org), webhookID), messageID}
}

// Webhooks reads the organization's webhooks as they are now.
func (s *Store) Webhooks(ctx context.Context, org catalog.OrgID) (*catalog.Webhooks, error) {
	return s.webhooks(ctx, org, true)
}

func (s *Store) webhooks(ctx context.Context, org catalog.OrgID, strong bool) (*catalog.Webhooks, error) {
	w := &catalog.Webhooks{OrganizationID: org, Failing: map[string]catalog.Time{}, Slow: map[string]bool{}}
	row, err := s.row(ctx, webhooksKey(org), strong)
	if err != nil || row == nil {
		return w, err
	}
	var stored struct {
		Webhooks   []storedWebhook `json:"webhooks"`
		Version    int             `json:"version"`
		Dispatched string          `json:"dispatched"`
	}
	if err := decode(row, &stored); err != nil {
		return nil, fmt.Errorf("webhooks of %s: %w", org, err)
	}
	w.Version = stored.Version
	w.Dispatched, _ = catalog.ParseCursor(stored.Dispatched)
	for _, one := range stored.Webhooks {
		webhook := one.Webhook
		webhook.Secrets = one.Secrets
		webhook.From, _ = catalog.ParseCursor(one.From)
		w.List = append(w.List, &webhook)
	}
	for name, value := range row {
		if id, ok := strings.CutPrefix(name, failing); ok {
			w.Failing[id] = catalog.Time(integer(value))
		}
		if id, ok := strings.CutPrefix(name, slow); ok {
			w.Slow[id] = true
		}
	}
	return w, nil
}

// saveWebhooks saves the organization's webhooks, unless they were changed since they
// were loaded.
func (s *Store) saveWebhooks(w *catalog.Webhooks) (types.TransactWriteItem, error) {
	stored := make([]storedWebhook, len(w.List))
	enabled := false
	for i, webhook := range w.List {
		stored[i] = storedWebhook{*webhook, webhook.Secrets, webhook.From.String()}
		enabled = enabled || webhook.Enabled
	}
	row, err := encode(map[string]any{listed: stored})
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	var e expression
	e.set(listed, row[listed])
	e.counted(version, w.Version)
	e.set(version, number(w.Version+1))
	if enabled {
		e.set(api.PendingIndexPartitionKey, text(receivers))
		e.set(api.PendingIndexSortKey, number(0))
	} else {
		e.remove(api.PendingIndexPartitionKey, api.PendingIndexSortKey)
	}
	for _, id := range w.Forgotten {
		e.forget(id)
	}
	return s.update(webhooksKey(w.OrganizationID), &e), nil
}

// forget removes since when a webhook fails, that it is slow, and its turns. An id is no
// name of an expression.
func (e *expression) forget(webhookID string) {
	e.name(version) // makes the map
	names := []string{failing + webhookID, slow + webhookID}
	for n := range turns {
		names = append(names, turn+webhookID+"#"+strconv.Itoa(n))
	}
	for _, name := range names {
		placeholder := fmt.Sprintf("#forgotten%d", len(e.removes))
		e.names[placeholder] = name
		e.removes = append(e.removes, placeholder)
	}
}

// DisableWebhook disables a webhook that is enabled, for a reason.
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
		err = s.Commit(ctx, org, &catalog.Change{Webhooks: w})
		if !errors.Is(err, catalog.ErrStale) {
			return err
		}
	}
}

// MarkFailing notes that an attempt at a webhook has failed, unless an earlier one has
// since the last success; MarkWorking that one has succeeded.
func (s *Store) MarkFailing(ctx context.Context, org catalog.OrgID, webhookID string, since catalog.Time) error {
	return s.mark(ctx, org, &dynamodb.UpdateItemInput{
		UpdateExpression:          aws.String("SET #f = if_not_exists(#f, :since)"),
		ExpressionAttributeNames:  map[string]string{"#f": failing + webhookID},
		ExpressionAttributeValues: item{":since": number(int64(since))},
	})
}

// MarkWorking is said at MarkFailing.
func (s *Store) MarkWorking(ctx context.Context, org catalog.OrgID, webhookID string) error {
	return s.mark(ctx, org, &dynamodb.UpdateItemInput{
		UpdateExpression: aws.String("REMOVE #f"), ExpressionAttributeNames: map[string]string{"#f": failing + webhookID},
	})
}

// MarkSlow notes that the receiver of a message was slow to respond, MarkQuick that it was
// not; both end the message's turn.
func (s *Store) MarkSlow(ctx context.Context, m catalog.WebhookMessage) error {
	return s.mark(ctx, m.OrganizationID, &dynamodb.UpdateItemInput{
		UpdateExpression:          aws.String("SET #s = :yes REMOVE #t"),
		ExpressionAttributeNames:  map[string]string{"#s": slow + m.WebhookID, "#t": turnOf(m)},
		ExpressionAttributeValues: item{":yes": number(1)},
	})
}

// MarkQuick is said at MarkSlow.
func (s *Store) MarkQuick(ctx context.Context, m catalog.WebhookMessage) error {
	return s.mark(ctx, m.OrganizationID, &dynamodb.UpdateItemInput{
		UpdateExpression:         aws.String("REMOVE #s, #t"),
		ExpressionAttributeNames: map[string]string{"#s": slow + m.WebhookID, "#t": turnOf(m)},
	})
}

// turns is how many messages a slow receiver is sent at a time. Each message waits for
// one of the turns, so that nothing need be counted.
const turns = 4

func turnOf(m catalog.WebhookMessage) string {
	return turn + m.WebhookID + "#" + strconv.Itoa(placeOf(m.ID, turns))
}

// TakeTurn reserves one of a slow receiver's turns for a message until an instant, and
// reports whether no other has it now.
func (s *Store) TakeTurn(ctx context.Context, m catalog.WebhookMessage, until catalog.Time) (bool, error) {
	_, err := s.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.Table, Key: webhooksKey(m.OrganizationID).attributes(),
		UpdateExpression:          aws.String("SET #t = :until"),
		ConditionExpression:       aws.String("attribute_exists(#s) AND (attribute_not_exists(#t) OR #t < :now)"),
		ExpressionAttributeNames:  map[string]string{"#s": slow + m.WebhookID, "#t": turnOf(m)},
		ExpressionAttributeValues: item{":until": number(int64(until)), ":now": number(int64(s.Now()))},
	})
	if taken := new(types.ConditionalCheckFailedException); errors.As(err, &taken) {
		return false, nil
	}
	return err == nil, unavailable(err)
}

func (s *Store) mark(ctx context.Context, org catalog.OrgID, in *dynamodb.UpdateItemInput) error {
	in.TableName, in.Key, in.ConditionExpression = &s.Table, webhooksKey(org).attributes(), aws.String("attribute_exists(pk)")
	_, err := s.Client.UpdateItem(ctx, in)
	if gone := new(types.ConditionalCheckFailedException); errors.As(err, &gone) {
		return nil
	}
	return unavailable(err)
}

// WebhookOrganizations visits the organizations with an enabled webhook.
func (s *Store) WebhookOrganizations(ctx context.Context, visit func(catalog.OrgID) error) error {
	return s.open(ctx, receivers, s.Now(), func(row item) error {
		if org, ok := api.WebhookRows.Organization(keyOfRow(row).pk); ok {
			return visit(org)
		}
		return nil
	})
}

// FeedPlace returns whose feed the key of a row is a page of, and where the page begins;
// false for another row.
func FeedPlace(pk, sk string) (org catalog.OrgID, begins catalog.Cursor, ok bool) {
	org, ok = api.JournalRows.Organization(pk)
	page, err := strconv.Atoi(sk)
	return org, catalog.Cursor{Page: page}, ok && err == nil
}

// Undispatched returns the organization's webhooks, and the changes that are not yet
// made into messages, at most limit and perhaps none although there are more. guess is
// where they may begin, so that both are read in parallel, from the page before on: the
// dispatch before this one may have ended there. nil where nobody knows.
//
// The webhooks may be as they were a moment ago: SaveDispatched finds that out.
func (s *Store) Undispatched(ctx context.Context, org catalog.OrgID, guess *catalog.Cursor, limit int) (w *catalog.Webhooks, changes []catalog.RecordChange, more bool, err error) {
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

// SaveDispatched notes up to where the change feed was made into messages. It is
// catalog.ErrStale when somebody else did so since the webhooks were loaded, or they
// were changed.
func (s *Store) SaveDispatched(ctx context.Context, org catalog.OrgID, w *catalog.Webhooks, to catalog.Cursor) error {
	var e expression
	e.counted(version, w.Version)
	if w.Dispatched == (catalog.Cursor{}) {
		e.conditions = append(e.conditions, "attribute_not_exists("+e.name(dispatched)+")")
	} else {
		e.conditions = append(e.conditions, e.name(dispatched)+" = "+e.value(text(w.Dispatched.String())))
	}
	e.set(dispatched, text(to.String()))
	_, err := s.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.Table, Key: webhooksKey(org).attributes(), UpdateExpression: e.update(), ConditionExpression: e.condition(),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	})
	if moved := new(types.ConditionalCheckFailedException); errors.As(err, &moved) {
		return catalog.ErrStale
	}
	if err == nil {
		w.Dispatched = to
	}
	return unavailable(err)
}

// storedMessage is a message as it is stored: Attempts were made at its delivery.
type storedMessage struct {
	catalog.WebhookMessage
	Attempts  int   `json:"attempts"`
	ExpiresAt int64 `json:"expiresAt"`
}

func shardOfMessage(id string) string { return messages + strconv.Itoa(placeOf(id, shards)) }

// placeOf spreads ids over so many places.
func placeOf(id string, places uint32) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return int(h.Sum32() % places)
}

// messageRow returns what is stored of a message whose next attempt is due now.
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

// AddMessage stores a new message; one that is there stays as it is.
func (s *Store) AddMessage(ctx context.Context, m catalog.WebhookMessage) error {
	row, err := s.messageRow(m)
	if err != nil {
		return err
	}
	maps.Copy(row, messageKey(m.OrganizationID, m.WebhookID, m.ID).attributes())
	_, err = s.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.Table, Item: row, ConditionExpression: aws.String("attribute_not_exists(pk)")})
	if there := new(types.ConditionalCheckFailedException); errors.As(err, &there) {
		return nil
	}
	return unavailable(err)
}

// sendMessage stores a message whose next attempt is due now, whether it is new or was
// sent before.
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

// WebhookMessage reads a message before its next attempt.
func (s *Store) WebhookMessage(ctx context.Context, org catalog.OrgID, webhookID, messageID string) (m catalog.WebhookMessage, err error) {
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

func (s *Store) decodeMessage(row item) (stored storedMessage, err error) {
	err = decode(row, &stored)
	stored.Attempt = stored.Attempts + 1
	return stored, err
}

// Receiver returns the organization's webhooks as they are now, and how many attempts
// were made at a message as far as is known; both are read in parallel.
func (s *Store) Receiver(ctx context.Context, m catalog.WebhookMessage) (w *catalog.Webhooks, made int, err error) {
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		w, err = s.Webhooks(groupCtx, m.OrganizationID)
		return err
	})
	group.Go(func() error {
		row, err := s.row(groupCtx, messageKey(m.OrganizationID, m.WebhookID, m.ID), false)
		made = integer(row["attempts"])
		return err
	})
	return w, made, group.Wait()
}

// SaveAttempt notes an attempt at a message, and when the next one is due. queued says
// that it is sent to the queue, so that it is sent again only if that may have lost it.
// An attempt that was noted before is left as it is.
func (s *Store) SaveAttempt(ctx context.Context, m catalog.WebhookMessage, a catalog.WebhookAttempt, queued bool) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		row, err := rowAt(key{api.AttemptRows.Key(string(m.OrganizationID), m.WebhookID), attemptPlace(a)}, a)
		if err != nil {
			return err
		}
		row[api.TTL] = number((int64(a.At) + catalog.MessageTTL) / 1000)
		_, err = s.Client.PutItem(groupCtx, &dynamodb.PutItemInput{TableName: &s.Table, Item: row})
		return unavailable(err)
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
				e.keep(name, row[name])
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
		e.conditions = []string{"attribute_not_exists(" + e.name("attempts") + ") OR " + e.name("attempts") + " < " + e.value(number(a.Attempt))}
		e.set("attempts", number(a.Attempt))
		return s.updateMessage(groupCtx, m, &e)
	})
	return group.Wait()
}

// HoldMessage puts the next attempt at a message off until an instant, at which the queue
// has it.
func (s *Store) HoldMessage(ctx context.Context, m catalog.WebhookMessage, until catalog.Time) error {
	var e expression
	e.set(dueAt, number(int64(until)))
	e.set(api.PendingIndexPartitionKey, text(shardOfMessage(m.ID)))
	e.set(api.PendingIndexSortKey, number(int64(until)+resendGrace))
	e.conditions = []string{"attribute_exists(" + e.name(dueAt) + ")"}
	return s.updateMessage(ctx, m, &e)
}

// DropMessage ends a message without another attempt.
func (s *Store) DropMessage(ctx context.Context, m catalog.WebhookMessage) error {
	e := expression{conditions: []string{"attribute_exists(pk)"}}
	e.remove(dueAt, api.PendingIndexPartitionKey, api.PendingIndexSortKey)
	return s.updateMessage(ctx, m, &e)
}

func (s *Store) updateMessage(ctx context.Context, m catalog.WebhookMessage, e *expression) error {
	_, err := s.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.Table, Key: messageKey(m.OrganizationID, m.WebhookID, m.ID).attributes(),
		UpdateExpression: e.update(), ConditionExpression: e.condition(), ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	})
	if done := new(types.ConditionalCheckFailedException); errors.As(err, &done) {
		return nil
	}
	return unavailable(err)
}

// DueMessages visits the messages whose next attempt is due and may be in no queue, the
// longest due first in each shard. Each is left alone after that for a while, because the
// queue may be long.
func (s *Store) DueMessages(ctx context.Context, visit func(resend func(context.Context) (m catalog.WebhookMessage, due bool, err error)) error) error {
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
	out, err := s.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.Table, Key: k.attributes(), ReturnValues: types.ReturnValueAllNew,
		UpdateExpression:          aws.String("SET openSince = :later"),
		ConditionExpression:       aws.String("openSince < :now"),
		ExpressionAttributeValues: item{":later": number(now + resendPause), ":now": number(now)},
	})
	if moved := new(types.ConditionalCheckFailedException); errors.As(err, &moved) {
		return m, false, nil
	}
	if err != nil {
		return m, false, unavailable(err)
	}
	stored, err := s.decodeMessage(out.Attributes)
	return stored.WebhookMessage, err == nil, err
}

// attemptPlace is where an attempt stands among those at its webhook, in order of time.
func attemptPlace(a catalog.WebhookAttempt) string {
	return fmt.Sprintf("%013d#%s#%d", a.At, a.MessageID, a.Attempt)
}

var attemptPlaces = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{13}#msg_[0-9a-z]{1,64}#[0-9]{1,9}$`) })

// WebhookAttempts reads a page of the attempts at a webhook, the newest first, from
// behind a place on, which is a cursor of the page before; "" for the first. next is ""
// where there are no more.
func (s *Store) WebhookAttempts(ctx context.Context, org catalog.OrgID, webhookID, before string, limit int) (attempts []catalog.WebhookAttempt, next string, err error) {
	from, to := fmt.Sprintf("%013d", int64(s.Now())-catalog.MessageTTL), "9"
	if before != "" {
		place, err := base64.RawURLEncoding.DecodeString(before)
		if err != nil || !attemptPlaces().Match(place) {
			return nil, "", catalog.Errorf(catalog.InvalidParameter, "before is not the next of an earlier page.")
		}
		before = string(place)
		to = before
	}
	attempts = []catalog.WebhookAttempt{}
	if to < from {
		return attempts, "", nil
	}
	err = s.query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression: aws.String("pk = :pk AND sk BETWEEN :from AND :to"),
		ExpressionAttributeValues: item{
			":pk": text(api.AttemptRows.Key(string(org), webhookID)), ":from": text(from), ":to": text(to),
		},
		ScanIndexForward: aws.Bool(false), Limit: aws.Int32(int32(limit) + 2),
	}, func(row item) (bool, error) {
		if place := keyOfRow(row).sk; place == before {
			return true, nil
		}
		if len(attempts) == limit {
			next = base64.RawURLEncoding.EncodeToString([]byte(attemptPlace(attempts[limit-1])))
			return false, nil
		}
		var a catalog.WebhookAttempt
		err := decode(row, &a)
		attempts = append(attempts, a)
		return true, err
	})
	return attempts, next, err
}
