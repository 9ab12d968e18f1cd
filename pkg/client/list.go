package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"time"

	"skillscurriculum/pkg/catalog"
)

// List iterates over the records of a list, fetching pages as needed. It ends with the first error. Each page is a
// snapshot, but the list may change between pages; Changes misses nothing.
func List[T any](ctx context.Context, c *Client, in Request) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			response, err := c.Call(ctx, in)
			var records []T
			if err == nil {
				records, err = page[T](response.Body)
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, record := range records {
				if !yield(record, nil) {
					return
				}
			}
			next := nextOf(response.Header.Values("Link"))
			if next == "" {
				return
			}
			in = Request{Operation: in.Operation, Href: next, Header: in.Header}
		}
	}
}

// page decodes a page of a list: an object with data, or an array.
func page[T any](body []byte) ([]T, error) {
	var records []T
	var err error
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		err = json.Unmarshal(body, &records)
	} else {
		var page struct{ Data *[]T }
		if err = json.Unmarshal(body, &page); err == nil && page.Data == nil {
			return nil, fmt.Errorf("client: the response is not a list")
		}
		if page.Data != nil {
			records = *page.Data
		}
	}
	if err != nil {
		return nil, fmt.Errorf("client: page of a list: %w", err)
	}
	return records, nil
}

// nextOf returns the rel="next" target of Link headers (RFC 8288); "" for none.
func nextOf(headers []string) string {
	for link := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		address, parameters, _ := strings.Cut(link, ">")
		if strings.Contains(parameters, `rel="next"`) {
			return strings.TrimPrefix(strings.TrimSpace(address), "<")
		}
	}
	return ""
}

// Change is an entry of the change feed: a record was created, changed or deleted. GET Href returns its current state.
type Change struct {
	Cursor     string       `json:"cursor"`
	Change     string       `json:"change"`
	Resource   catalog.Kind `json:"resource"`
	ID         string       `json:"id"`
	Href       string       `json:"href"`
	OccurredAt time.Time    `json:"occurredAt"`
}

// Changes iterates over the changes of the organization's records after a cursor, "" for
// all, up to the present. Keep the last Cursor to continue from there.
func (c *Client) Changes(ctx context.Context, since string) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		for more := true; more; {
			query := url.Values{"limit": {"1000"}}
			if since != "" {
				query.Set("since", since)
			}
			feed, err := Do[struct {
				Data    []Change
				Next    string
				HasMore bool
			}](ctx, c, Request{Operation: "listChanges", Query: query})
			if err != nil {
				yield(Change{}, err)
				return
			}
			for _, change := range feed.Data {
				if !yield(change, nil) {
					return
				}
			}
			since, more = feed.Next, feed.HasMore
		}
	}
}

// Extraction is a standalone extraction with its results so far.
type Extraction struct {
	ExtractionID     string                   `json:"extractionId"`
	ProcessingStatus catalog.ProcessingStatus `json:"processingStatus"`
	Skills           []catalog.SkillRef       `json:"skills"`
	Failure          *catalog.Failure         `json:"failure"`
	Warnings         []catalog.Warning        `json:"warnings"`
	Evidence         []catalog.Evidence       `json:"evidence"`
}

// WaitExtraction waits until an extraction is COMPLETED or FAILED, and returns it with its evidence.
func (c *Client) WaitExtraction(ctx context.Context, id string) (Extraction, error) {
	return Wait[Extraction](ctx, c, Request{
		Operation: "getSyllabusExtraction", IDs: []string{id}, Query: url.Values{"include": {"evidence"}},
	})
}

// Wait polls a record until its processingStatus is COMPLETED or FAILED, or absent. A section
// or transfer course then has the skills of its syllabus, or a failure.
func Wait[T any](ctx context.Context, c *Client, in Request) (T, error) {
	for pause := firstPoll; ; pause = min(2*pause, longestPoll) {
		read, err := Do[json.RawMessage](ctx, c, in)
		var state struct{ ProcessingStatus catalog.ProcessingStatus }
		if err == nil {
			err = json.Unmarshal(read, &state)
		}
		var out T
		if err != nil {
			return out, err
		}
		if state.ProcessingStatus != catalog.Pending && state.ProcessingStatus != catalog.Processing {
			return out, json.Unmarshal(read, &out)
		}
		if err := sleep(ctx, pause); err != nil {
			return out, err
		}
	}
}
