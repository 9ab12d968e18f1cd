package dynamo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// extractionRow is the row of a record with an extraction.
type extractionRow struct {
	Name         string `json:"name"`
	SyllabusHref string `json:"syllabusHref"`
	DocumentID   string `json:"documentId"`
	LeaseToken   string `json:"leaseToken"`
	LeaseUntil   int64  `json:"leaseUntil"`
	Attempts     int    `json:"attempts"`
	RequestedAt  int64  `json:"requestedAt"`

	record catalog.Record
	*catalog.Extraction
}

func decodeExtraction(kind catalog.Kind, row item) (x extractionRow, err error) {
	if err = decode(row, &x); err == nil {
		x.record, err = decodeRecord(kind, row)
	}
	if err == nil {
		x.Extraction = catalog.ExtractionOf(x.record)
	}
	return x, err
}

func jobKey(job catalog.ExtractionJob) key {
	k, _ := recordKey(job.OrganizationID, job.Kind, job.PackageID, job.ID)
	return k
}

// SweepGrace is how long, in ms, an extraction stays PENDING before it may be sent again.
const SweepGrace = 60_000

// Claim claims an extraction for a run until its lease ends, if it is PENDING, or
// PROCESSING with an expired lease, and was requested at job.RequestedAt. Otherwise the
// error is ErrFinished or ErrLeased. A claim whose response was lost can be repeated.
func (s *Store) Claim(
	ctx context.Context, job catalog.ExtractionJob, lease string, until catalog.Time,
) (*catalog.Task, error) {
	now := s.Now()
	for {
		out, err := s.Client.UpdateItem(ctx, s.claim(job, lease, until, now))
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
		if len(row) == 0 {
			return nil, catalog.ErrFinished
		}
		x, err := decodeExtraction(job.Kind, row)
		if err != nil {
			return nil, err
		}
		switch {
		case refused == nil, x.LeaseToken == lease && x.ProcessingStatus == catalog.Claiming.To:
			job.RequestedAt = catalog.Time(x.RequestedAt)
			task := &catalog.Task{
				Job: job, ParentID: catalog.ParentOf(x.record), Lease: lease, Attempt: x.Attempts,
				UpdatedAt: x.record.Base().UpdatedAt, Reviews: catalog.ReviewsOf(x.record),
				Name: x.Name, SyllabusHref: x.SyllabusHref, DocumentID: x.DocumentID,
			}
			// A change of the course after this read ends the claim.
			if task.Course, err = s.courseOf(ctx, job); err != nil || task.Course == nil && job.Kind == catalog.SectionKind {
				return nil, cmp.Or(err, catalog.ErrFinished)
			}
			task.Source, task.Description = catalog.SourceOf(x.record, task.Course)
			if list, ok := x.record.(*catalog.OutcomeList); ok {
				task.Outcomes = list
			} else if task.Source == catalog.FromOutcomes {
				task.Outcomes, err = s.outcomesOf(ctx, task.Course)
			}
			return task, err
		case row[api.PendingIndexPartitionKey] == nil:
			return nil, catalog.ErrFinished // another record's extraction ends it
		case !catalog.Claiming.StartsIn(x.ProcessingStatus):
			return nil, catalog.ErrFinished
		case job.RequestedAt != 0 && x.RequestedAt != 0 && x.RequestedAt != int64(job.RequestedAt):
			return nil, catalog.ErrFinished // there is a later request
		case x.ProcessingStatus == catalog.Processing && x.LeaseUntil >= int64(s.Now()):
			return nil, catalog.ErrLeased
		}
		// The record was updated by a machine whose clock is ahead.
		now = x.record.Base().UpdatedAt.After(s.Now())
	}
}

// courseOf reads the course of a section; nil if it was deleted or the record is not a section.
func (s *Store) courseOf(ctx context.Context, job catalog.ExtractionJob) (*catalog.Course, error) {
	seq, ok := catalog.Sequence(catalog.SectionKind, job.ID)
	if !ok {
		return nil, nil
	}
	row, err := s.row(ctx, numberedKey(job.OrganizationID, catalog.CourseKind, seq), true)
	if err != nil || row == nil {
		return nil, err
	}
	course := &catalog.Course{}
	return course, decodeInto(row, course)
}

// claim returns the update that claims an extraction at an instant.
func (s *Store) claim(job catalog.ExtractionJob, lease string, until, now catalog.Time) *dynamodb.UpdateItemInput {
	var e expression
	sweepAt := number(int64(until) - SweepGrace)
	e.set(processingStatus, text(string(catalog.Claiming.To)))
	e.set(leaseToken, text(lease))
	e.set(leaseUntil, number(int64(until)))
	e.set(api.PendingIndexSortKey, sweepAt)
	e.set(waitsSince, sweepAt)
	e.set("updatedAt", text(now.String()))
	e.add(attempts, "1")
	e.remove("failure", "warnings")
	var states []string
	for _, from := range catalog.Claiming.From {
		state := e.name(processingStatus) + " = " + e.value(text(string(from)))
		if from == catalog.Processing {
			state += " AND " + e.name(leaseUntil) + " < " + e.value(number(int64(s.Now())))
		}
		states = append(states, state)
	}
	e.conditions = []string{
		"(" + strings.Join(states, " OR ") + ")", e.name("updatedAt") + " < " + e.value(text(now.String())),
		"attribute_exists(" + e.name(api.PendingIndexPartitionKey) + ")",
	}
	if job.RequestedAt != 0 {
		at, as := e.name(requested), e.value(number(int64(job.RequestedAt)))
		e.conditions = append(e.conditions, "("+at+" = "+as+" OR attribute_not_exists("+at+"))")
	}
	in := s.updateInput(jobKey(job), &e)
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	return in
}

// Finish ends a claimed extraction with its outcome, in one transaction with its evidence and its entry in the change
// feed. The record's reviews, including those made during the run, apply to the skills that were found. It returns
// ErrFinished if another run has the lease or the record was deleted.
func (s *Store) Finish(ctx context.Context, task *catalog.Task, outcome *catalog.ExtractionResult) error {
	if task.Job.Kind == catalog.OutcomeListKind {
		return s.finishOutcomes(ctx, task, outcome)
	}
	transition, event := catalog.Completing, catalog.ExtractionCompleted
	if outcome.Failure != nil {
		transition, event = catalog.Failing, catalog.ExtractionFailed
	}
	kept := *outcome
	kept.Provenance.FinishedAt = s.Now()
	return s.settle(ctx, task, transition, event, func(
		e *expression, now *catalog.Task, at catalog.Time,
	) ([]write, error) {
		values := map[string]any{}
		var writes []write
		if outcome.Failure != nil {
			values["failure"] = outcome.Failure
		} else {
			skills, reviewed := catalog.ApplyReviews(now.Reviews, outcome.Skills)
			writes = s.mention(now, len(skills), catalog.FullyReviewed(skills, reviewed), at)
			if len(reviewed) > 0 {
				values[reviews] = catalog.Reviews(reviewed)
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
		e.remove(api.PendingIndexPartitionKey, api.PendingIndexSortKey, waitsSince, requested)
		if outcome.Failure != nil {
			return nil, nil
		}
		more, err := s.resultRows(task.Job.OrganizationID, task.Job.ID, &kept)
		return append(writes, more...), err
	})
}

// mention returns the update of a section's reference in its course, if its skills changed what the reference says.
func (s *Store) mention(task *catalog.Task, skills int, reviewed bool, at catalog.Time) []write {
	course := task.Course
	if course == nil {
		return nil
	}
	i := slices.IndexFunc(course.Sections, func(r catalog.SectionRef) bool { return r.ID == task.Job.ID })
	if i < 0 || course.Sections[i].SkillCount == skills && course.Sections[i].Reviewed == reviewed {
		return nil
	}
	after := *course
	after.UpdatedAt = at
	var e expression
	ref := fmt.Sprintf("%s[%d].", e.name("sections"), i)
	e.sets = append(e.sets, ref+e.name("skillCount")+" = "+e.value(number(skills)),
		ref+e.name("reviewed")+" = "+e.value(&types.AttributeValueMemberBOOL{Value: reviewed}))
	e.set("updatedAt", text(at.String()))
	e.conditions = []string{
		ref + e.name("id") + " = " + e.value(text(task.Job.ID)), e.name("updatedAt") + " < " + e.value(text(at.String())),
	}
	return []write{{action: s.update(keyOf(course), &e), entry: entry(catalog.Changed, &after), row: s.bytesOf(course)}}
}

// PutBack makes a claimed extraction PENDING again, waiting from an instant on.
func (s *Store) PutBack(ctx context.Context, task *catalog.Task, from catalog.Time) error {
	return s.settle(ctx, task, catalog.Returning, "", func(
		e *expression, _ *catalog.Task, _ catalog.Time,
	) ([]write, error) {
		e.set(api.PendingIndexSortKey, number(int64(from)))
		e.set(waitsSince, number(int64(from)))
		return nil, nil
	})
}

// settle makes a transition of a claimed extraction while the run still has its lease, in one transaction with the
// writes that change returns for the task as it is now and the time of the transition. event goes to the change feed;
// "" for none. If the record or its course was changed, change is called again.
func (s *Store) settle(
	ctx context.Context, task *catalog.Task, t catalog.Transition, event string,
	change func(e *expression, now *catalog.Task, at catalog.Time) ([]write, error),
) error {
	now := *task
	for {
		var e expression
		next := now.UpdatedAt.After(s.Now())
		if now.Course != nil {
			next = now.Course.UpdatedAt.After(next)
		}
		writes, err := change(&e, &now, next)
		if err != nil {
			return err
		}
		e.set(processingStatus, text(string(t.To)))
		e.set("updatedAt", text(next.String()))
		e.remove(leaseToken, leaseUntil)
		e.unchanged(now.UpdatedAt)
		e.is(leaseToken, text(task.Lease)) // only a record in PROCESSING has one
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
		if row == nil {
			return catalog.ErrFinished
		}
		x, err := decodeExtraction(task.Job.Kind, row)
		if err != nil {
			return err
		}
		if x.LeaseToken != task.Lease || !t.StartsIn(x.ProcessingStatus) {
			return catalog.ErrFinished
		}
		now.UpdatedAt, now.Reviews = x.record.Base().UpdatedAt, catalog.ReviewsOf(x.record)
		if now.Course, err = s.courseOf(ctx, task.Job); err != nil {
			return err
		}
	}
}

// resultRows store the evidence and the text of a record, and the outcome of its syllabus,
// so that the same one is not extracted again.
func (s *Store) resultRows(org catalog.OrgID, id string, o *catalog.ExtractionResult) ([]write, error) {
	var writes []write
	keys, read := []key{evidenceKey(org, id)}, o.Provenance.Source != catalog.FromDescription &&
		o.Provenance.Source != catalog.FromOutcomes
	if read {
		keys = append(keys, documentKey(org, o.Provenance, o.Text))
	}
	for _, k := range keys {
		w, err := s.putResult(k, o)
		if err != nil {
			return nil, err
		}
		writes = append(writes, w)
	}
	if words := compress([]byte(o.Text)); read && len(words) <= rowBytes {
		writes = append(writes, s.put(textKey(org, id), item{"text": binary(words)}, nil))
	}
	return writes, nil
}

func (s *Store) putResult(k key, o *catalog.ExtractionResult) (write, error) {
	value, err := packed(o)
	return s.put(k, item{"outcome": value}, nil), err
}

// ExtractionResult reads the result of the last extraction of a record; nil for none.
func (s *Store) ExtractionResult(ctx context.Context, org catalog.OrgID, id string) (*catalog.ExtractionResult, error) {
	return s.outcome(ctx, evidenceKey(org, id))
}

// ExtractionResults reads the results of the last extractions of records, by their ids.
func (s *Store) ExtractionResults(
	ctx context.Context, org catalog.OrgID, ids []string,
) (map[string]*catalog.ExtractionResult, error) {
	keys := make([]key, len(ids))
	for i, id := range ids {
		keys[i] = evidenceKey(org, id)
	}
	rows, err := s.rows(ctx, keys, true, "outcome")
	if err != nil {
		return nil, err
	}
	found := make(map[string]*catalog.ExtractionResult, len(rows))
	for _, row := range rows {
		o, err := resultOf(row)
		if err != nil {
			return nil, err
		}
		found[keyOfRow(row).sk] = o
	}
	return found, nil
}

// resultOf returns the result in a row; nil for none.
func resultOf(row item) (*catalog.ExtractionResult, error) {
	plain, err := unpacked(row, "outcome")
	if err != nil || plain == nil {
		return nil, err
	}
	var o catalog.ExtractionResult
	return &o, json.Unmarshal(plain, &o)
}

// Extracted reads the outcome of an earlier extraction of the same text with the same engine
// and taxonomy; nil for none.
func (s *Store) Extracted(
	ctx context.Context, org catalog.OrgID, p catalog.Provenance, words string,
) (*catalog.ExtractionResult, error) {
	return s.outcome(ctx, documentKey(org, p, words))
}

func (s *Store) outcome(ctx context.Context, k key) (*catalog.ExtractionResult, error) {
	row, err := s.row(ctx, k, true)
	if err != nil {
		return nil, err
	}
	return resultOf(row)
}

// Text reads the text of a record's syllabus as it was extracted; nil for none.
func (s *Store) Text(ctx context.Context, org catalog.OrgID, id string) ([]byte, error) {
	row, err := s.row(ctx, textKey(org, id), true)
	if err != nil {
		return nil, err
	}
	return unpacked(row, "text")
}

// Stuck implements queue.SweeperStore. It leaves out extractions that were resent recently.
func (s *Store) Stuck(ctx context.Context, noneLeft bool, visit func(catalog.ExtractionJob) error) error {
	before := s.Now() - SweepGrace
	if noneLeft {
		before = math.MaxInt64
	}
	for shard := range shards {
		err := s.open(ctx, strconv.Itoa(shard), before, func(row item) error {
			if job, ok := jobOf(row); ok {
				return visit(job)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// open visits the rows of a shard of the pending index whose openSince is before an instant,
// the oldest first. They consist of keys only.
func (s *Store) open(ctx context.Context, shard string, before catalog.Time, visit func(item) error) error {
	return s.query(ctx, &dynamodb.QueryInput{
		IndexName:                 aws.String(api.PendingIndex),
		KeyConditionExpression:    aws.String("openShard = :shard AND openSince < :before"),
		ExpressionAttributeValues: item{":shard": text(shard), ":before": number(int64(before))},
	}, func(row item) (bool, error) { return true, visit(row) })
}

// jobOf parses a job from the key of its record, live or deleted.
func jobOf(row item) (catalog.ExtractionJob, bool) {
	at := keyOfRow(row)
	parts := strings.Split(strings.TrimSuffix(at.pk, "!"), "#")
	if len(parts) < 3 {
		return catalog.ExtractionJob{}, false
	}
	job := catalog.ExtractionJob{OrganizationID: catalog.OrgID(parts[1]), Kind: catalog.Kind(parts[2]), ID: at.sk}
	if len(parts) == 4 {
		job.PackageID = parts[3]
	}
	return job, true
}

// Resend returns the job of a stuck extraction to be sent again; false if it is no longer stuck. The extraction is then
// left alone for as long as it has waited so far: its message may still be in a long queue, which resending every
// minute would lengthen. With noneLeft that delay does not apply.
func (s *Store) Resend(
	ctx context.Context, noneLeft bool, job catalog.ExtractionJob,
) (catalog.ExtractionJob, bool, error) {
	now := int64(s.Now())
	var e expression
	since, waits := e.name(api.PendingIndexSortKey), e.name(waitsSince)
	// now + (now - waitsSince); rows of the first release have no waitsSince
	e.sets = []string{since + " = " + e.value(number(2*now)) + " - if_not_exists(" + waits + ", " + since + ")"}
	before := e.value(number(now - SweepGrace))
	e.conditions = []string{since + " < " + before}
	if noneLeft {
		e.conditions[0] += " OR " + waits + " < " + before
	}
	row, err := s.updated(ctx, jobKey(job), &e)
	if err != nil || row == nil {
		return job, false, err
	}
	x, err := decodeExtraction(job.Kind, row)
	job.RequestedAt = catalog.Time(x.RequestedAt)
	return job, err == nil, err
}
