package rest

import (
	"context"
	"slices"
	"strings"
	"time"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/quota"
	"skillscurriculum/pkg/service/parallel"
)

// UsageReader reads what customers have used.
type UsageReader interface {
	Usage(ctx context.Context, customer catalog.CustomerID, w quota.Window) (quota.Usage, error)
	// History reads the windows that began in [from, to), by their start.
	History(ctx context.Context, customer catalog.CustomerID, from, to int64) (map[int64]quota.Usage, error)
}

// Me says whose the key of a call is, and what it can expect of the service.
type Me struct {
	CustomerID       catalog.CustomerID `json:"customerId"`
	CustomerName     string             `json:"customerName" doc:"Name of the customer"`
	OrganizationID   catalog.OrgID      `json:"organizationId"`
	OrganizationName string             `json:"organizationName" doc:"Name of the organization that the API key belongs to"`
	Key              MyKey              `json:"key" doc:"The API key of the call"`
	Limit            MyLimit            `json:"limit" doc:"Rate limit of the customer"`
	Taxonomy         LoadedTaxonomy     `json:"taxonomy" doc:"The loaded taxonomy"`
	Market           LoadedMarket       `json:"market" doc:"The loaded labor market figures"`
	Service          ServiceAddress     `json:"service" doc:"This service"`
}

// MyKey is an API key without its secret.
type MyKey struct {
	ID        string        `json:"id" doc:"Id of the key"`
	Scope     catalog.Scope `json:"scope" enum:"read,write" doc:"Access that the key grants"`
	CreatedAt catalog.Time  `json:"createdAt" doc:"When the key was created"`
	ExpiresAt *catalog.Time `json:"expiresAt" doc:"When the key expires; null if it does not"`
}

// MyLimit is a rate limit.
type MyLimit struct {
	Units         int `json:"units" doc:"Units available per window"`
	WindowSeconds int `json:"windowSeconds" doc:"Length of the window in seconds"`
}

// LoadedTaxonomy describes the loaded taxonomy.
type LoadedTaxonomy struct {
	TaxonomyRef
	Skills int `json:"skills" doc:"Number of skills"`
}

// LoadedMarket describes the loaded labor market figures.
type LoadedMarket struct {
	Vintage labor.Vintage `json:"vintage" doc:"Periods and editions of the data"`
	States  int           `json:"states" doc:"Number of states with figures of their own; others show national figures"`
	Metros  int           `json:"metros" doc:"Number of metropolitan areas with figures of their own; others show figures of their state or the nation"`
}

// ServiceAddress is where this service is reached.
type ServiceAddress struct {
	Version string `json:"version" doc:"Version of the contract"`
	BaseURL string `json:"baseUrl" doc:"Address that precedes all paths of the contract"`
}

// CustomerUsage is a customer's usage of rate limit units.
type CustomerUsage struct {
	CustomerID     catalog.CustomerID   `json:"customerId"`
	OrganizationID catalog.OrgID        `json:"organizationId"`
	Window         UsageWindow          `json:"window" doc:"The current window"`
	Operations     []OperationUsage     `json:"operations" doc:"Usage of the current window by operation, in alphabetical order"`
	History        []UsageHistoryWindow `json:"history" doc:"The previous 60 windows, latest first"`
	Status         string               `json:"status" enum:"ok,limited" doc:"limited if no units are left in the current window"`
}

// UsageWindow is the current window, in units.
type UsageWindow struct {
	Limit         int          `json:"limit" doc:"Units available per window"`
	Used          int          `json:"used" doc:"Units charged in the window"`
	Remaining     int          `json:"remaining" doc:"Units left"`
	StartsAt      catalog.Time `json:"startsAt" doc:"When the window began"`
	ResetsAt      catalog.Time `json:"resetsAt" doc:"When the window ends"`
	LengthSeconds int          `json:"lengthSeconds" doc:"Length of the window in seconds"`
}

// OperationUsage is the usage of one operation in the current window.
type OperationUsage struct {
	Operation string `json:"operation" doc:"operationId of the operation"`
	Calls     int    `json:"calls" doc:"Number of calls charged"`
	Units     int    `json:"units" doc:"Units charged for the calls"`
}

// UsageHistoryWindow is a past window. Limited is a lower bound, but above 0 whenever a call was refused.
type UsageHistoryWindow struct {
	StartsAt catalog.Time `json:"startsAt" doc:"When the window began"`
	Used     int          `json:"used" doc:"Units charged in the window"`
	Limited  int          `json:"limited" doc:"Number of calls known to have been refused; above 0 whenever any was refused"`
}

const historyWindows = 60

type changesInput struct {
	Since string `query:"since" pattern:"^(c[0-9a-z]+-[0-9a-z]+)?$" doc:"Cursor from an earlier response; the start of the feed when absent"`
	Limit int    `query:"limit" default:"100" minimum:"1" maximum:"1000" doc:"Maximum number of changes in the response"`
}

// ChangeList is a page of the change feed. Next is always set, even on the last page.
type ChangeList struct {
	Data    []ChangeEntry `json:"data" doc:"Changes in the order they were made"`
	Next    string        `json:"next" doc:"Cursor to pass as since in the next request; set even if there are no more changes yet"`
	HasMore bool          `json:"hasMore" doc:"Whether there are more changes after next"`
}

// ChangeEntry records that a record was created, changed or deleted.
type ChangeEntry struct {
	Cursor     string       `json:"cursor" doc:"Position in the feed after this change"`
	Change     string       `json:"change" enum:"created,changed,deleted" doc:"What happened to the record"`
	Resource   catalog.Kind `json:"resource" doc:"Kind of the record"`
	ID         string       `json:"id" doc:"Id of the record"`
	Href       string       `json:"href" doc:"Path of the record"`
	OccurredAt catalog.Time `json:"occurredAt" doc:"When the change was made"`
}

func (s *Server) bindCustomers() {
	read(s, "getMe", me)
	read(s, "getCustomerUsage", usage)
	read(s, "listChanges", changes)
	read(s, "getOpenAPI", func(_ context.Context, c *call, _ *none) (anything, error) {
		c.rendered = &rendered{body: c.Document}
		return anything{}, nil
	})
}

func me(ctx context.Context, c *call, _ *none) (*Me, error) {
	var organization *catalog.Organization
	var tables *labor.Tables
	var imported []labor.Area
	err := parallel.All(ctx, parallel.Into(&organization, parallel.Call(c.Store.Organization, c.org)), func(
		ctx context.Context,
	) (err error) {
		tables, imported, err = c.Market.Tables(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	limit, key, taxonomy := c.limitOf(c.customer), c.caller.Key, c.Taxonomy().Info()
	out := &Me{
		CustomerID: c.customer.ID, CustomerName: c.customer.Name, OrganizationID: c.org,
		Key:      MyKey{key.ID, key.Scope, key.CreatedAt, key.ExpiresAt},
		Limit:    MyLimit{limit.Units, int(limit.Window / time.Second)},
		Taxonomy: LoadedTaxonomy{TaxonomyRef{taxonomy.Name, taxonomy.Version}, taxonomy.Skills},
		Market:   LoadedMarket{Vintage: tables.Vintage()},
		Service:  ServiceAddress{Version, origin(c.request) + api.BasePath},
	}
	if organization != nil { // organizations of early releases have no name
		out.OrganizationName = organization.Name
	}
	for _, region := range tables.Surveyed(imported) {
		switch region.RegionType {
		case labor.State:
			out.Market.States++
		case labor.MSA:
			out.Market.Metros++
		}
	}
	return out, nil
}

func usage(ctx context.Context, c *call, _ *none) (*CustomerUsage, error) {
	if c.param("customerId") != string(c.customer.ID) {
		return nil, catalog.Errorf(catalog.Forbidden, "A key can read only the usage of its own customer.")
	}
	// The usage includes this call.
	if err := c.admission.wait(); err != nil {
		return nil, err
	}
	window := c.admission.window
	length := window.End - window.Start
	current, past, err := parallel.Two(ctx, parallel.Call2(c.Usage.Usage, c.customer.ID, window), func(
		ctx context.Context,
	) (map[int64]quota.Usage, error) {
		return c.Usage.History(ctx, c.customer.ID, window.Start-historyWindows*length, window.Start)
	})
	if err != nil {
		return nil, err
	}
	instant := func(second int64) catalog.Time { return catalog.TimeOf(time.Unix(second, 0)) }
	out := &CustomerUsage{
		CustomerID: c.customer.ID, OrganizationID: c.org, Status: "ok",
		Window: UsageWindow{
			Limit: window.Units, Used: current.Used, Remaining: max(0, window.Units-current.Used),
			StartsAt: instant(window.Start), ResetsAt: instant(window.End), LengthSeconds: int(length),
		},
		Operations: []OperationUsage{}, History: make([]UsageHistoryWindow, 0, historyWindows),
	}
	if out.Window.Remaining == 0 {
		out.Status = "limited"
	}
	for id, o := range current.Operations {
		out.Operations = append(out.Operations, OperationUsage{id, o.Calls, o.Units})
	}
	slices.SortFunc(out.Operations, func(a, b OperationUsage) int { return strings.Compare(a.Operation, b.Operation) })
	for _, w := range window.Before(historyWindows) {
		out.History = append(out.History, UsageHistoryWindow{instant(w.Start), past[w.Start].Used, past[w.Start].Limited})
	}
	return out, nil
}

func changes(ctx context.Context, c *call, in *changesInput) (*ChangeList, error) {
	found, more, err := c.Store.Changes(ctx, c.org, in.Since, in.Limit)
	if err != nil {
		return nil, err
	}
	out := &ChangeList{Data: make([]ChangeEntry, len(found)), Next: in.Since, HasMore: more}
	for i, change := range found {
		out.Data[i] = ChangeEntry{
			Cursor: change.Cursor.String(), Change: change.What, Resource: change.Kind, ID: change.ID,
			Href: api.BasePath + change.Kind.Href(change.ParentID, change.ID), OccurredAt: change.At,
		}
		out.Next = change.Cursor.String()
	}
	return out, nil
}
