package dynamo

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// extractionRow is what any record with an extraction is stored with.
type extractionRow struct {
	catalog.Meta
	Name         *string `json:"name"`
	Description  *string `json:"description"`
	SyllabusHref *string `json:"syllabusHref"`
	DocumentID   *string `json:"documentId"`
	catalog.Extraction
	LeaseToken  string `json:"leaseToken"`
	LeaseUntil  int64  `json:"leaseUntil"`
	Attempts    int    `json:"attempts"`
	RequestedAt int64  `json:"requestedAt"`
}

func jobKey(job catalog.ExtractionJob) key {
	k, _ := recordKey(job.OrganizationID, job.Kind, job.PackageID, job.ID)
	return k
}

// SweepGrace is how long, in ms, an extraction may be PENDING before it is sent
// again at the earliest.
const SweepGrace = 60_000

// Claim takes an extraction for a run until the lease ends: one that is PENDING,
// or PROCESSING under a lease that has ended, and was requested when the job says.
// Anything else is ErrFinished or ErrLeased. A claim that was applied but whose
// response was lost may be repeated.
func (s *Store) Claim(ctx context.Context, job catalog.ExtractionJob, lease string, until catalog.Time) (*catalog.Task, error) {
	now := s.Now()
	for {
		out, err := s.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.Table, Key: jobKey(job).attributes(),
			UpdateExpression: aws.String("SET processingStatus = :processing, leaseToken = :lease, leaseUntil = :until, openSince = :sweep, waitsSince = :sweep, " +
				"updatedAt = :now ADD attempts :one REMOVE failure, warnings"),
			ConditionExpression: aws.String("(processingStatus = :pending OR processingStatus = :processing AND leaseUntil < :clock) AND updatedAt < :now " +
				"AND (:requested = :any OR requestedAt = :requested OR attribute_not_exists(requestedAt))"),
			ExpressionAttributeValues: item{
				":processing": text(string(catalog.Processing)), ":pending": text(string(catalog.Pending)),
				":lease": text(lease), ":until": number(int64(until)), ":sweep": number(int64(until) - SweepGrace), ":now": text(now.String()), ":clock": number(int64(s.Now())), ":one": number(1),
				":requested": number(int64(job.RequestedAt)), ":any": number(0),
			},
			ReturnValues: types.ReturnValueAllNew, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		var refused *types.ConditionalCheckFailedException
		if err != nil && !errors.As(err, &refused) {
			return nil, unavailable(err)
		}
		var row item
		if refused != nil {
			row = refused.Item
		} else {
			row = out.Attributes
		}
		var stored extractionRow
		if len(row) == 0 {
			return nil, catalog.ErrFinished
		}
		if err := decode(row, &stored); err != nil {
			return nil, err
		}
		switch {
		case refused == nil, stored.LeaseToken == lease && stored.ProcessingStatus == catalog.Processing:
			return taskOf(job, lease, row, &stored)
		case stored.ProcessingStatus != catalog.Pending && stored.ProcessingStatus != catalog.Processing:
			return nil, catalog.ErrFinished
		case job.RequestedAt != 0 && stored.RequestedAt != 0 && stored.RequestedAt != int64(job.RequestedAt):
			return nil, catalog.ErrFinished // with that request; there is a later one
		case stored.ProcessingStatus == catalog.Processing && stored.LeaseUntil >= int64(s.Now()):
			return nil, catalog.ErrLeased
		}
		// The record is younger than this clock.
		now = stored.UpdatedAt.After(s.Now())
	}
}

func taskOf(job catalog.ExtractionJob, lease string, row item, stored *extractionRow) (*catalog.Task, error) {
	job.RequestedAt = catalog.Time(stored.RequestedAt)
	r, err := decodeKind(job.Kind, row)
	if err != nil {
		return nil, err
	}
	return &catalog.Task{
		Job: job, ParentID: catalog.ParentOf(r), Lease: lease, Attempt: stored.Attempts, UpdatedAt: stored.UpdatedAt, Reviews: catalog.ReviewsOf(r),
		Name: aws.ToString(stored.Name), Description: aws.ToString(stored.Description), SyllabusHref: aws.ToString(stored.SyllabusHref),
		DocumentID: aws.ToString(stored.DocumentID),
	}, nil
}

// Finish ends a claimed extraction with its outcome, in one transaction with its
// evidence and its entry in the change feed. What it found stands as the record's
// reviews leave it, also those that came during the run. It is ErrFinished when the run has
// lost its lease to another, or the record is deleted.
func (s *Store) Finish(ctx context.Context, task *catalog.Task, outcome *catalog.Outcome) error {
	status, event := catalog.Completed, catalog.ExtractionCompleted
	if outcome.Failure != nil {
		status, event = catalog.Failed, catalog.ExtractionFailed
	}
	org := task.Job.OrganizationID
	kept := *outcome
	kept.Provenance.FinishedAt = s.Now()
	return s.settle(ctx, task, event, func(e *expression, present []catalog.Review) ([]write, error) {
		e.set("processingStatus", text(string(status)))
		values := map[string]any{}
		if outcome.Failure != nil {
			values["failure"] = outcome.Failure
		} else {
			skills, reviewed := catalog.ApplyReviews(present, outcome.Skills)
			if len(reviewed) > 0 {
				packed, err := packReviews(reviewed)
				if err != nil {
					return nil, err
				}
				e.set(reviews, packed)
			}
			if task.Job.Kind == catalog.SectionKind {
				values[byHand] = false
			}
			values["skills"], values[provenance] = skills, kept.Provenance
			if len(outcome.Warnings) > 0 {
				values["warnings"] = outcome.Warnings
			}
		}
		row, err := encode(values)
		if err != nil {
			return nil, err
		}
		for name, value := range row {
			e.set(name, value)
		}
		e.remove(leaseToken, leaseUntil, api.PendingIndexPartitionKey, api.PendingIndexSortKey, waitsSince, requested)
		if outcome.Failure != nil {
			return nil, nil
		}
		return s.outcomeRows(org, task.Job.ID, &kept)
	})
}

// PutBack makes a claimed extraction PENDING again. It counts as waiting from the
// given instant on.
func (s *Store) PutBack(ctx context.Context, task *catalog.Task, from catalog.Time) error {
	return s.settle(ctx, task, "", func(e *expression, _ []catalog.Review) ([]write, error) {
		e.set("processingStatus", text(string(catalog.Pending)))
		e.set(api.PendingIndexSortKey, number(int64(from)))
		e.set(waitsSince, number(int64(from)))
		e.remove(leaseToken, leaseUntil)
		return nil, nil
	})
}

// settle changes the record of a claimed extraction while the claim is still this
// run's own, together with the writes that change returns; event is what that means to
// the record, "" for nothing. It is decided anew, on the reviews as they are then,
// where the record was changed meanwhile.
func (s *Store) settle(ctx context.Context, task *catalog.Task, event string, change func(e *expression, present []catalog.Review) ([]write, error)) error {
	updatedAt, present := task.UpdatedAt, task.Reviews
	for {
		var e expression
		next := updatedAt.After(s.Now())
		writes, err := change(&e, present)
		if err != nil {
			return err
		}
		e.set("updatedAt", text(next.String()))
		e.was(updatedAt)
		e.conditions = append(e.conditions, e.name(leaseToken)+" = "+e.value(text(task.Lease)))
		writes = append(writes, write{
			action: s.update(jobKey(task.Job), &e),
			entry:  formatEntry(marked(event), task.Job.Kind, task.Job.ID, task.ParentID, next),
		})
		err = s.transact(ctx, task.Job.OrganizationID, writes)
		if !errors.Is(err, catalog.ErrStale) {
			return err
		}
		row, err := s.row(ctx, jobKey(task.Job), true)
		if err != nil {
			return err
		}
		var stored extractionRow
		if row == nil {
			return catalog.ErrFinished
		}
		if err := decode(row, &stored); err != nil {
			return err
		}
		if stored.LeaseToken != task.Lease {
			return catalog.ErrFinished
		}
		updatedAt = stored.UpdatedAt
		if present, err = unpackReviews(row); err != nil {
			return err
		}
	}
}

// outcomeRows keep the evidence and the text of a record, and the outcome for the
// document, so that the same document is not extracted again.
func (s *Store) outcomeRows(org catalog.OrgID, id string, o *catalog.Outcome) ([]write, error) {
	var writes []write
	for _, k := range []key{evidenceKey(org, id), documentKey(org, o.Provenance, o.Text)} {
		w, err := s.putOutcome(k, o)
		if err != nil {
			return nil, err
		}
		writes = append(writes, w)
	}
	if words := compress([]byte(o.Text)); len(words) <= rowBytes {
		row := textKey(org, id).attributes()
		row["text"] = binary(words)
		writes = append(writes, write{action: types.TransactWriteItem{Put: &types.Put{TableName: &s.Table, Item: row}}})
	}
	return writes, nil
}

func (s *Store) putOutcome(k key, o *catalog.Outcome) (write, error) {
	packed, err := json.Marshal(o)
	if err != nil {
		return write{}, err
	}
	row := k.attributes()
	row["outcome"] = binary(compress(packed))
	return write{action: types.TransactWriteItem{Put: &types.Put{TableName: &s.Table, Item: row}}}, nil
}

// Outcome reads the result of the last extraction of a record; nil for none.
func (s *Store) Outcome(ctx context.Context, org catalog.OrgID, id string) (*catalog.Outcome, error) {
	return s.outcome(ctx, evidenceKey(org, id))
}

// Extracted reads the outcome of an earlier extraction of the same text with the
// same engine and taxonomy; nil for none.
func (s *Store) Extracted(ctx context.Context, org catalog.OrgID, p catalog.Provenance, words string) (*catalog.Outcome, error) {
	return s.outcome(ctx, documentKey(org, p, words))
}

func (s *Store) outcome(ctx context.Context, k key) (*catalog.Outcome, error) {
	packed, err := s.packed(ctx, k, "outcome")
	if err != nil || packed == nil {
		return nil, err
	}
	var o catalog.Outcome
	return &o, json.Unmarshal(packed, &o)
}

// Text reads the text of a record's syllabus as it was extracted; nil for none.
func (s *Store) Text(ctx context.Context, org catalog.OrgID, id string) ([]byte, error) {
	return s.packed(ctx, textKey(org, id), "text")
}

func (s *Store) packed(ctx context.Context, k key, attribute string) ([]byte, error) {
	row, err := s.row(ctx, k, true)
	if err != nil {
		return nil, err
	}
	packed, ok := row[attribute].(*types.AttributeValueMemberB)
	if !ok {
		return nil, nil
	}
	return decompress(packed.Value)
}

// Stuck finds extractions that have waited longer than SweepGrace, or whose lease
// has ended, and were not sent again lately, oldest first in each shard, and passes
// each to visit; where no message is left, all that are not finished.
func (s *Store) Stuck(ctx context.Context, noneLeft bool, visit func(catalog.ExtractionJob) error) error {
	before := s.Now() - SweepGrace
	if noneLeft {
		before = math.MaxInt64
	}
	for shard := range shards {
		err := s.open(ctx, strconv.Itoa(shard), before, func(row item) error {
			job, ok := jobOf(row)
			if !ok {
				return nil
			}
			return visit(job)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// open visits the rows of a shard of the open index whose openSince is before an
// instant, the oldest first; they hold keys only.
func (s *Store) open(ctx context.Context, shard string, before catalog.Time, visit func(item) error) error {
	return s.query(ctx, &dynamodb.QueryInput{
		IndexName:                 aws.String(api.PendingIndex),
		KeyConditionExpression:    aws.String("openShard = :shard AND openSince < :before"),
		ExpressionAttributeValues: item{":shard": text(shard), ":before": number(int64(before))},
	}, func(row item) (bool, error) { return true, visit(row) })
}

// jobOf reads a job back from the key of its record.
func jobOf(row item) (catalog.ExtractionJob, bool) {
	at := keyOfRow(row)
	parts := strings.Split(at.pk, "#")
	if len(parts) < 3 {
		return catalog.ExtractionJob{}, false
	}
	job := catalog.ExtractionJob{OrganizationID: catalog.OrgID(parts[1]), Kind: catalog.Kind(parts[2]), ID: at.sk}
	if len(parts) == 4 {
		job.PackageID = parts[3]
	}
	return job, true
}

// Resend returns the job of a stuck extraction to be sent again; false when it has
// moved on by itself. After that it is left alone for as long as it has waited so
// far: its message may still stand in a long queue, which one more each minute would
// lengthen. Where no message is left, that does not count.
func (s *Store) Resend(ctx context.Context, noneLeft bool, job catalog.ExtractionJob) (catalog.ExtractionJob, bool, error) {
	now, waits := int64(s.Now()), "openSince < :before"
	if noneLeft {
		waits += " OR waitsSince < :before"
	}
	out, err := s.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.Table, Key: jobKey(job).attributes(), ReturnValues: types.ReturnValueAllNew,
		// now + (now - waitsSince); rows of the first release have no waitsSince
		UpdateExpression:          aws.String("SET openSince = :twice - if_not_exists(waitsSince, openSince)"),
		ConditionExpression:       &waits,
		ExpressionAttributeValues: item{":twice": number(2 * now), ":before": number(now - SweepGrace)},
	})
	var moved *types.ConditionalCheckFailedException
	if errors.As(err, &moved) {
		return job, false, nil
	}
	if err != nil {
		return job, false, unavailable(err)
	}
	var stored extractionRow
	err = decode(out.Attributes, &stored)
	job.RequestedAt = catalog.Time(stored.RequestedAt)
	return job, err == nil, err
}
