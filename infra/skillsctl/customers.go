package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"skillscurriculum/infra/skillsctl/keyring"
	"skillscurriculum/pkg/catalog"
)

// keyring opens the keys of a service. In AWS they are nothing without a usage plan.
func (t *tool) keyring(ctx context.Context) (*keyring.Keyring, error) {
	s, err := t.open(ctx)
	if err != nil {
		return nil, err
	}
	if s.inAWS() && s.keys.Gateway == nil {
		return nil, fmt.Errorf("no usage plan: set %s to the deployment's output UsagePlanId", envUsagePlan)
	}
	return s.keys, nil
}

func scopeOf(text string) (catalog.Scope, error) {
	switch scope := catalog.Scope(text); scope {
	case catalog.ReadScope, catalog.WriteScope:
		return scope, nil
	}
	return "", fmt.Errorf("-scope is read or write, not %q", text)
}

func (t *tool) keysCreate(ctx context.Context, a *arguments) error {
	customer, scopeText := a.String("customer", "", "id of the customer"), a.String("scope", "write", "write or read")
	valid := a.Duration("valid", 0, "how long the key works; 0 is for ever")
	return t.issue(ctx, a, scopeText, func(keys *keyring.Keyring, scope catalog.Scope) (*keyring.Issued, error) {
		if *valid < 0 {
			return nil, errors.New("-valid is below 0")
		}
		return keys.Create(ctx, catalog.CustomerID(*customer), scope, *valid)
	})
}

func (t *tool) keysRotate(ctx context.Context, a *arguments) error {
	customer, scopeText := a.String("customer", "", "id of the customer"), a.String("scope", "write", "write or read")
	grace := a.Duration("grace", 24*time.Hour, "how long the old key still works")
	return t.issue(ctx, a, scopeText, func(keys *keyring.Keyring, scope catalog.Scope) (*keyring.Issued, error) {
		if *grace < 0 {
			return nil, errors.New("-grace is below 0")
		}
		return keys.Rotate(ctx, catalog.CustomerID(*customer), scope, *grace)
	})
}

func (t *tool) issue(ctx context.Context, a *arguments, scopeText *string, issue func(*keyring.Keyring, catalog.Scope) (*keyring.Issued, error)) error {
	if _, err := a.parse(0, 0, "customer"); err != nil {
		return err
	}
	scope, err := scopeOf(*scopeText)
	if err != nil {
		return err
	}
	keys, err := t.keyring(ctx)
	if err != nil {
		return err
	}
	issued, failed := issue(keys, scope)
	if issued == nil {
		return failed
	}
	return errors.Join(failed, t.show(shownKey(issued.Key, issued.Secret), func(w io.Writer) {
		fmt.Fprintf(w, "key\t%s\nscope\t%s\nAPI key\t%s\n\nThis is the only time that the API key is shown.\n", issued.ID, issued.Scope, issued.Secret)
	}))
}

// key is an API key as the tool shows it: never its digest.
type key struct {
	ID         string             `json:"id"`
	CustomerID catalog.CustomerID `json:"customerId"`
	Scope      catalog.Scope      `json:"scope"`
	State      string             `json:"state"`
	CreatedAt  catalog.Time       `json:"createdAt"`
	ExpiresAt  *catalog.Time      `json:"expiresAt"`
	RevokedAt  *catalog.Time      `json:"revokedAt"`
	APIKey     string             `json:"apiKey,omitempty"`
}

func shownKey(k *catalog.Key, secret string) key {
	state := "live"
	switch {
	case k.RevokedAt != nil:
		state = "revoked"
	case !k.Live(now()):
		state = "expired"
	}
	return key{k.ID, k.CustomerID, k.Scope, state, k.CreatedAt, k.ExpiresAt, k.RevokedAt, secret}
}

func (t *tool) keysList(ctx context.Context, a *arguments) error {
	customer := a.String("customer", "", "id of the customer")
	if _, err := a.parse(0, 0, "customer"); err != nil {
		return err
	}
	keys, err := t.keyring(ctx)
	if err != nil {
		return err
	}
	found, err := keys.List(ctx, catalog.CustomerID(*customer))
	if err != nil {
		return err
	}
	shown := make([]key, len(found))
	for i, k := range found {
		shown[i] = shownKey(k, "")
	}
	return t.show(shown, func(w io.Writer) {
		fmt.Fprintln(w, "KEY\tSCOPE\tSTATE\tCREATED\tENDS")
		for _, k := range shown {
			end := k.ExpiresAt
			if k.RevokedAt != nil {
				end = k.RevokedAt
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", k.ID, k.Scope, k.State, k.CreatedAt, orDash(end))
		}
	})
}

func orDash(at *catalog.Time) string {
	if at == nil {
		return "-"
	}
	return at.String()
}

func (t *tool) keysRevoke(ctx context.Context, a *arguments) error {
	customer, id := a.String("customer", "", "id of the customer"), a.String("key", "", "id of the key")
	if _, err := a.parse(0, 0, "customer", "key"); err != nil {
		return err
	}
	keys, err := t.keyring(ctx)
	if err != nil {
		return err
	}
	revoked, err := keys.Revoke(ctx, catalog.CustomerID(*customer), *id)
	if err != nil {
		return err
	}
	return t.show(shownKey(revoked, ""), func(w io.Writer) {
		fmt.Fprintf(w, "%s is revoked; within 60 s nothing takes it any more.\n", revoked.ID)
	})
}

func (t *tool) customersCreate(ctx context.Context, a *arguments) error {
	name, organization := a.String("name", "", "name of the customer"), a.String("organization", "", "id of its organization; a new one of the same name where empty")
	units := a.Int("units", 0, "rate limit a window instead of the default")
	if _, err := a.parse(0, 0, "name"); err != nil {
		return err
	}
	limit, err := limitOf(*units)
	if err != nil {
		return err
	}
	s, err := t.open(ctx)
	if err != nil {
		return err
	}
	org := catalog.OrgID(*organization)
	if org != "" {
		if err := s.organization(ctx, org); err != nil {
			return err
		}
	} else {
		org = catalog.OrgID(ids.New("org_"))
		if err := s.store.SaveOrganization(ctx, &catalog.Organization{ID: org, Name: *name, CreatedAt: now()}); err != nil {
			return err
		}
	}
	customer := &catalog.Customer{ID: catalog.CustomerID(ids.New("cus_")), OrganizationID: org, Name: *name, RateLimitUnits: limit, CreatedAt: now()}
	if err := s.store.SaveCustomer(ctx, customer); err != nil {
		return err
	}
	return t.show(customer, func(w io.Writer) {
		fmt.Fprintf(w, "customer\t%s\norganization\t%s\n\nNext: skillsctl keys create -customer %s\n", customer.ID, org, customer.ID)
	})
}

func limitOf(units int) (*int, error) {
	switch {
	case units < 0:
		return nil, errors.New("-units is below 0")
	case units == 0:
		return nil, nil
	}
	return &units, nil
}

// organization makes sure that an organization is there.
func (s *service) organization(ctx context.Context, id catalog.OrgID) error {
	found, err := s.store.Organization(ctx, id)
	if err == nil && found == nil {
		return fmt.Errorf("there is no organization %s: skillsctl customers list shows them", id)
	}
	return err
}

func (t *tool) customersList(ctx context.Context, a *arguments) error {
	if _, err := a.parse(0, 0); err != nil {
		return err
	}
	s, err := t.open(ctx)
	if err != nil {
		return err
	}
	customers, err := s.store.Customers(ctx)
	if err != nil {
		return err
	}
	return t.show(customers, func(w io.Writer) {
		fmt.Fprintln(w, "CUSTOMER\tORGANIZATION\tUNITS\tNAME")
		for _, c := range customers {
			units := "default"
			if c.RateLimitUnits != nil {
				units = strconv.Itoa(*c.RateLimitUnits)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.ID, c.OrganizationID, units, c.Name)
		}
	})
}

func (t *tool) customersLimit(ctx context.Context, a *arguments) error {
	id, units := a.String("customer", "", "id of the customer"), a.Int("units", 0, "units a window; 0 is the default")
	if _, err := a.parse(0, 0, "customer"); err != nil {
		return err
	}
	limit, err := limitOf(*units)
	if err != nil {
		return err
	}
	s, err := t.open(ctx)
	if err != nil {
		return err
	}
	customer, err := s.store.Customer(ctx, catalog.CustomerID(*id))
	if err != nil {
		return err
	}
	if customer == nil {
		return fmt.Errorf("there is no customer %s", *id)
	}
	customer.RateLimitUnits = limit
	if err := s.store.SaveCustomer(ctx, customer); err != nil {
		return err
	}
	return t.show(customer, func(w io.Writer) {
		fmt.Fprintf(w, "%s: the new limit counts within 60 s.\n", customer.Name)
	})
}
