package stack

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/google/renameio/v2"

	"skillscurriculum/pkg/api"
)

// Announcement is build/local.json: the address of the service, and the environment
// variables with which a program uses the same table, queues and bucket.
type Announcement struct {
	BaseURL string `json:"baseUrl"`
	Demo
	Syllabi     string            `json:"syllabi"` // URL of the demo syllabi, with a trailing slash
	Environment map[string]string `json:"environment"`
}

// Demo lists the demo's customers and example records.
type Demo struct {
	Customers []Customer `json:"customers"`
	Examples  Examples   `json:"examples"` // of the first customer
	// Parameters replace the parameter examples of the served OpenAPI document.
	Parameters map[string]string `json:"-"`
}

// Customer is a demo customer with its API keys.
type Customer struct {
	CustomerID     string `json:"customerId"`
	OrganizationID string `json:"organizationId"`
	Name           string `json:"name"`
	APIKey         string `json:"apiKey"`
	ReadOnlyAPIKey string `json:"readOnlyApiKey"`
}

// Examples holds ids of records to start with.
type Examples struct {
	CourseID     string `json:"courseId"`
	SectionID    string `json:"sectionId"`
	CredentialID string `json:"credentialId"`
	ProgramID    string `json:"programId"`
	JobID        string `json:"jobId"`
	PackageID    string `json:"packageId"`
}

// FirstCall returns a curl command that works as it is.
func (a Announcement) FirstCall() string {
	if len(a.Customers) == 0 {
		return "curl -s " + a.BaseURL + "/openapi.json"
	}
	return fmt.Sprintf("curl -s -H '%s: %s' '%s/courses?limit=3'", api.HeaderKey, a.Customers[0].APIKey, a.BaseURL)
}

// check waits until the service answers, and if there are customers accepts the first
// one's key.
func (a Announcement) check(ctx context.Context) error {
	path, key := "/openapi.json", ""
	if len(a.Customers) > 0 {
		path, key = "/customers/"+a.Customers[0].CustomerID+"/usage", a.Customers[0].APIKey
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		err := get(ctx, a.BaseURL+path, key)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the service does not answer: %w", err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func get(ctx context.Context, url, key string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	if key != "" {
		request.Header[api.HeaderKey] = []string{key}
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %.500s", url, response.Status, body)
	}
	return err
}

// write replaces the announcement file atomically.
func (a Announcement) write(path string) error {
	if a.Customers == nil {
		a.Customers = []Customer{}
	}
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return fmt.Errorf("announcement: %w", err)
	}
	if err := renameio.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("announcement: %w", err)
	}
	return nil
}
