package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"skillscurriculum/infra/local/stack"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/client"
)

// tried is an operation of the served document.
type tried struct {
	method, path string
	OperationID  string
	Parameters   []struct {
		Name, In string
		Required bool
		Example  any
	}
	RequestBody struct {
		Content map[string]struct{ Example any }
	}
}

// everyExample calls each operation of the served document with its own example, and reading
// operations also with required parameters only, as the page of GET /docs does. Headers are
// omitted: their examples only show the form of values from earlier responses.
func everyExample(t *testing.T, a stack.Announcement) {
	awaitExtractions(t, a)
	operations := served(t, a.BaseURL)
	if len(operations) != len(api.Operations()) {
		t.Fatalf("%d operations are served", len(operations))
	}
	for _, op := range operations {
		body := op.call(t, a, true)
		if op.method == http.MethodGet && op.OperationID != "listSections" { // which needs one of its filters
			op.call(t, a, false)
		}
		var list struct{ Data []any }
		if json.Unmarshal(body, &list) == nil && list.Data != nil && len(list.Data) == 0 {
			t.Errorf("%s finds nothing", op.OperationID)
		}
		switch op.OperationID {
		case "createWebhook":
			deleteWebhook(t, a, body)
		case "getDocs":
			if !bytes.Contains(body, []byte(`data-document="`+api.BasePath+`/openapi.json"`)) {
				t.Error("the page shows another document")
			}
		}
	}
}

// served returns the operations in an order in which none needs a record that another has
// removed: new webhooks before the changes that they announce, changes of a record before the
// moves that freeze it, and deletions last, inner records first.
func served(t *testing.T, base string) (operations []tried) {
	response, err := http.Get(base + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var document struct{ Paths map[string]map[string]tried }
	if err := json.NewDecoder(response.Body).Decode(&document); err != nil {
		t.Fatal(err)
	}
	for path, methods := range document.Paths {
		for method, op := range methods {
			op.method, op.path = strings.ToUpper(method), path
			operations = append(operations, op)
		}
	}
	methods := []string{http.MethodGet, http.MethodPatch, http.MethodPut, http.MethodPost, http.MethodDelete}
	place := func(op tried) int {
		if op.OperationID == "createWebhook" {
			return -1
		}
		return slices.Index(methods, op.method)
	}
	slices.SortFunc(operations, func(a, b tried) int {
		return cmp.Or(place(a)-place(b), strings.Count(b.path, "/")-strings.Count(a.path, "/"), strings.Compare(a.path, b.path))
	})
	return operations
}

// call sends the operation's example, with or without the optional parameters.
func (op tried) call(t *testing.T, a stack.Announcement, optional bool) (body []byte) {
	path, query := op.path, url.Values{}
	for _, p := range op.Parameters {
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", text(p.Example))
		case p.In == "query" && p.Example != nil && (p.Required || optional):
			query.Set(p.Name, text(p.Example))
		}
	}
	var sent io.Reader = http.NoBody
	example := op.RequestBody.Content[api.JSON].Example
	if example != nil {
		packed, err := json.Marshal(example)
		if err != nil {
			t.Fatal(err)
		}
		sent = bytes.NewReader(packed)
	}
	request, err := http.NewRequestWithContext(t.Context(), op.method, a.BaseURL+path+"?"+query.Encode(), sent)
	if err != nil {
		t.Fatal(err)
	}
	request.Header[api.HeaderKey] = []string{a.Customers[0].APIKey}
	if example != nil {
		request.Header.Set("Content-Type", api.JSON)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		t.Errorf("%s %s (%s): %d %s", op.method, request.URL, op.OperationID, response.StatusCode, body)
	}
	return body
}

// text returns a parameter's value as it appears in a URL.
func text(example any) string {
	list, ok := example.([]any)
	if !ok {
		return fmt.Sprint(example)
	}
	words := make([]string, len(list))
	for i, word := range list {
		words[i] = fmt.Sprint(word)
	}
	return strings.Join(words, ",")
}

// awaitExtractions waits until all extractions of the demo have ended: the failed course can be
// retried, and no message for a webhook is in flight.
func awaitExtractions(t *testing.T, a stack.Announcement) {
	service := &client.Client{BaseURL: a.BaseURL, Key: a.Customers[0].APIKey}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	if _, err := service.WaitExtraction(ctx, a.Parameters["getSyllabusExtraction.extractionId"]); err != nil {
		t.Fatal(err)
	}
	packages, err := client.Do[struct{ Data []catalog.TransferPackage }](ctx, service, client.Request{Operation: "listTransferPackages"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages.Data {
		courses, err := client.Do[[]catalog.TransferCourse](ctx, service, client.Request{Operation: "listTransferCourses", IDs: []string{p.ID}})
		if err != nil {
			t.Fatal(err)
		}
		for _, course := range courses {
			if _, err := client.Wait[catalog.TransferCourse](ctx, service, client.Request{Operation: "getTransferCourse", IDs: []string{p.ID, course.ID}}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// deleteWebhook deletes the created webhook before there is a message for it.
func deleteWebhook(t *testing.T, a stack.Announcement, created []byte) {
	var hook catalog.Webhook
	if err := json.Unmarshal(created, &hook); err != nil {
		t.Fatal(err)
	}
	service := &client.Client{BaseURL: a.BaseURL, Key: a.Customers[0].APIKey}
	if _, err := service.Call(t.Context(), client.Request{Operation: "deleteWebhook", IDs: []string{hook.ID}}); err != nil {
		t.Fatal(err)
	}
}
