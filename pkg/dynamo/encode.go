package dynamo

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// Attributes that are not fields of a record.
const (
	leaseToken = "leaseToken"  // of an extraction: token of the run that has claimed it
	leaseUntil = "leaseUntil"  // Unix ms
	attempts   = "attempts"    // runs begun
	waitsSince = "waitsSince"  // of an extraction: Unix ms, the openSince before any resend
	requested  = "requestedAt" // of an extraction: Unix ms, the updatedAt with which it became PENDING

	processingStatus = "processingStatus"
)

// Attributes of fields with a `store` tag that can change without the rest of their record.
const (
	heldBy     = "heldBy"
	taken      = "taken"
	additions  = "grown"
	reviews    = "reviews"
	byHand     = "byHand"
	provenance = "provenance"
)

// waiting lists the attributes of an unfinished extraction; attempts may outlive it.
var waiting = []string{api.PendingIndexPartitionKey, api.PendingIndexSortKey, waitsSince, requested, attempts}

// reviewBytes limits the compressed reviews in a record's row: enough for 500 with long
// notes. DynamoDB's limit for the whole row is 400 KB.
const reviewBytes = 220 << 10

// shape describes how values of one type are stored: each field under its JSON name, and fields hidden from clients
// under the name in their `store` tag, with the options of package attributevalue. A field with the option guard
// changes independently of its record: it is never saved with it, and the record is replaced or deleted only if the
// field is as it was loaded.
type shape struct {
	hidden reflect.Type // a struct of the tagged fields alone
	fields [][]int      // their indexes in the record
	guards []string
	names  []string // of the attributes that are saved with a record
}

var shapes sync.Map // reflect.Type -> *shape

func shapeOf(r any) *shape {
	t := reflect.TypeOf(r).Elem()
	if known, ok := shapes.Load(t); ok {
		return known.(*shape)
	}
	s := &shape{}
	var hidden []reflect.StructField
	for _, f := range reflect.VisibleFields(t) {
		if tag, ok := f.Tag.Lookup("store"); ok {
			name, options, _ := strings.Cut(tag, ",")
			if slices.Contains(strings.Split(options, ","), "guard") {
				s.guards = append(s.guards, name)
			} else {
				s.names = append(s.names, name)
			}
			json := reflect.StructTag(fmt.Sprintf("json:%q", tag))
			hidden = append(hidden, reflect.StructField{Name: f.Name, Type: f.Type, Tag: json})
			s.fields = append(s.fields, f.Index)
		} else if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !f.Anonymous && name != "" && name != "-" {
			s.names = append(s.names, name)
		}
	}
	s.hidden = reflect.StructOf(hidden)
	shapes.Store(t, s)
	return s
}

// encode returns the attributes of the hidden fields.
func (s *shape) encode(r any) (item, error) {
	hidden := reflect.New(s.hidden).Elem()
	for i, index := range s.fields {
		hidden.Field(i).Set(reflect.ValueOf(r).Elem().FieldByIndex(index))
	}
	return encode(hidden.Addr().Interface())
}

func (s *shape) decode(row item, r any) error {
	hidden := reflect.New(s.hidden)
	err := decode(row, hidden.Interface())
	for i, index := range s.fields {
		reflect.ValueOf(r).Elem().FieldByIndex(index).Set(hidden.Elem().Field(i))
	}
	return err
}

// asLoaded requires the guards to be as they were loaded.
func (s *shape) asLoaded(e *expression, row item) {
	for _, name := range s.guards {
		e.is(name, row[name])
	}
}

// encodeWhole returns all attributes of a value, hidden fields included; decodeWhole sets them.
func encodeWhole(v any) (item, error) {
	row, err := encode(v)
	if err != nil {
		return nil, err
	}
	hidden, err := shapeOf(v).encode(v)
	maps.Copy(row, hidden)
	return row, err
}

func decodeWhole(row item, v any) error { return cmp.Or(decode(row, v), shapeOf(v).decode(row, v)) }

// encodeRecord returns the row of a record. A PENDING extraction enters the pending index.
func (s *Store) encodeRecord(r catalog.Record) (item, error) {
	row, err := encodeWhole(r)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", r.Base().ID, err)
	}
	switch r := r.(type) {
	case *catalog.Program:
		delete(row, "courses")
	case *catalog.Credential:
		members := make([]types.AttributeValue, len(r.Sections))
		for i, section := range r.Sections {
			ids := item{"courseId": text(section.CourseID), "sectionId": text(section.SectionID)}
			members[i] = &types.AttributeValueMemberM{Value: ids}
		}
		row["sections"] = &types.AttributeValueMemberL{Value: members}
	case *catalog.Import:
		if !r.Ended() {
			row[api.PendingIndexPartitionKey] = text(imports)
			row[api.PendingIndexSortKey] = number(int64(s.Now()))
		}
	case *catalog.Document:
		row[api.PendingIndexPartitionKey] = text(uploads)
		row[api.PendingIndexSortKey] = number(int64(r.CreatedAt) + catalog.DocumentTTL)
	}
	if waits(r) {
		row[api.PendingIndexPartitionKey] = text(shardOf(r.Base().ID))
		row[api.PendingIndexSortKey] = number(int64(s.Now()))
		row[waitsSince] = row[api.PendingIndexSortKey]
		row[attempts] = number(0)
		row[requested] = number(int64(r.Base().UpdatedAt))
	}
	maps.Copy(row, keyOf(r).attributes())
	if packed, ok := row[reviews].(*types.AttributeValueMemberB); ok && len(packed.Value) > reviewBytes {
		return nil, catalog.Errorf(catalog.Conflict,
			"The reviews of a record must be at most %d KB when compressed: shorten their notes.", reviewBytes>>10)
	}
	if sizeOfRow(row) > rowLimit {
		return nil, catalog.Errorf(catalog.Conflict,
			"The record is larger than %d KB: shorten its texts or the notes of its reviews.", rowLimit>>10)
	}
	return row, nil
}

// waits reports whether a record waits for an extraction of its own.
func waits(r catalog.Record) bool {
	state := catalog.ExtractionOf(r)
	section, ok := r.(*catalog.Section)
	return state != nil && state.ProcessingStatus == catalog.Pending && !(ok && section.AwaitsOutcomes())
}

func decodeInto(row item, r catalog.Record) error {
	if err := decodeWhole(row, r); err != nil {
		return fmt.Errorf("row %v: %w", row[api.SortKey], err)
	}
	// Rows of earlier releases lack some attributes.
	catalog.DeriveCTID(r)
	switch r := r.(type) {
	case *catalog.Program:
		r.LifecycleStatus = cmp.Or(r.LifecycleStatus, catalog.ActiveCourse)
		if r.CredentialIDs == nil {
			r.CredentialIDs = []string{}
		}
	case *catalog.Credential:
		r.CredentialType = cmp.Or(r.CredentialType, catalog.MicroCredential)
		r.Status = cmp.Or(r.Status, catalog.ActiveCredential)
	case *catalog.Course:
		r.LifecycleStatus = cmp.Or(r.LifecycleStatus, catalog.ActiveCourse)
		for i := range r.Sections {
			r.Sections[i].Status = cmp.Or(r.Sections[i].Status, catalog.ActiveSection)
		}
	case *catalog.Section:
		r.Status = cmp.Or(r.Status, catalog.ActiveSection)
		if _, ok := row[byHand]; !ok {
			r.ByHand = r.ProcessingStatus == "" && len(r.Skills) > 0
		}
	}
	return nil
}
