package stack

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/renameio/v2"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/client"
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
	service, request := client.Client{BaseURL: a.BaseURL}, client.Request{Operation: "getOpenAPI"}
	if len(a.Customers) > 0 {
		service.Key = a.Customers[0].APIKey
		request = client.Request{Operation: "getCustomerUsage", IDs: []string{a.Customers[0].CustomerID}}
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		response, err := service.Send(ctx, request)
		if err == nil {
			err = response.Err()
		}
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
