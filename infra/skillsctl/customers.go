package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// customer is a customer in the output, whose id is also called customerId as everywhere else.
type customer struct {
	CustomerID catalog.CustomerID `json:"customerId"`
	*catalog.Customer
}

type customersCreate struct {
	Name         string        `required:"" help:"Name of the customer."`
	Organization catalog.OrgID `placeholder:"ID" help:"Its organization. A new one of the same name if empty."`
	Units        uint          `placeholder:"N" help:"Rate limit in units per window, instead of the default."`
}

// Validate implements kong's check of flags.
func (c *customersCreate) Validate() error {
	if strings.TrimSpace(c.Name) == "" {
		return errors.New("--name must not be blank")
	}
	return nil
}

// Run adds a customer.
func (c *customersCreate) Run(ctx context.Context, t *tool, s *service) error {
	org := c.Organization
	if org != "" {
		if _, err := s.organization(ctx, org); err != nil {
			return err
		}
	} else {
		org = catalog.OrgID(ids.New("org_"))
		if err := s.store.SaveOrganization(ctx, &catalog.Organization{ID: org, Name: c.Name, CreatedAt: now()}); err != nil {
			return err
		}
	}
	created := &catalog.Customer{
		ID: catalog.CustomerID(ids.New("cus_")), OrganizationID: org, Name: c.Name, RateLimitUnits: limitOf(c.Units),
		CreatedAt: now(),
	}
	if err := s.store.SaveCustomer(ctx, created); err != nil {
		return err
	}
	return t.show(customer{created.ID, created}, func(w io.Writer) {
		fmt.Fprintf(w, "customerId\t%s\norganizationId\t%s\n\nNext: skillsctl keys create -customer %s\n",
			created.ID, org, created.ID)
	})
}

// limitOf returns the rate limit of a customer; nil for the default.
func limitOf(units uint) *int {
	if units == 0 {
		return nil
	}
	return new(int(units))
}

// organization returns an organization, which must exist.
func (s *service) organization(ctx context.Context, id catalog.OrgID) (*catalog.Organization, error) {
	found, err := s.store.Organization(ctx, id)
	if err == nil && found == nil {
		err = fmt.Errorf("there is no organization %s; list them with skillsctl customers list", id)
	}
	return found, err
}

// organizations returns the given organization, which must exist, or all if id is empty.
func (s *service) organizations(ctx context.Context, id catalog.OrgID) ([]catalog.OrgID, error) {
	if id != "" {
		_, err := s.organization(ctx, id)
		return []catalog.OrgID{id}, err
	}
	all, err := s.store.Organizations(ctx)
	orgs := make([]catalog.OrgID, len(all))
	for i, o := range all {
		orgs[i] = o.ID
	}
	return orgs, err
}

type customersList struct{}

// Run lists customers.
func (customersList) Run(ctx context.Context, t *tool, s *service) error {
	found, err := s.store.Customers(ctx)
	if err != nil {
		return err
	}
	customers := make([]customer, len(found))
	for i, c := range found {
		customers[i] = customer{c.ID, c}
	}
	return t.show(customers, func(w io.Writer) {
		fmt.Fprintln(w, "CUSTOMERID\tORGANIZATIONID\tUNITS\tSTATE\tNAME")
		for _, c := range customers {
			units := "default"
			if c.RateLimitUnits != nil {
				units = strconv.Itoa(*c.RateLimitUnits)
			}
			state := "enabled"
			if c.DisabledAt != nil {
				state = "disabled"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", c.ID, c.OrganizationID, units, state, c.Name)
		}
	})
}

// change loads a customer, changes it, saves it and shows it with what the change does.
func (s *service) change(
	ctx context.Context, t *tool, id catalog.CustomerID, change func(*catalog.Customer), effect string,
) error {
	changed, err := s.store.Customer(ctx, id)
	if err != nil {
		return err
	}
	if changed == nil {
		return fmt.Errorf("there is no customer %s", id)
	}
	change(changed)
	if err := s.store.SaveCustomer(ctx, changed); err != nil {
		return err
	}
	return t.show(customer{changed.ID, changed}, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", changed.Name, effect) })
}

type customersLimit struct {
	ofCustomer
	Units uint `placeholder:"N" help:"Units per window. 0 is the default."`
}

// Run changes a customer's rate limit.
func (c *customersLimit) Run(ctx context.Context, t *tool, s *service) error {
	return s.change(ctx, t, c.Customer, func(changed *catalog.Customer) { changed.RateLimitUnits = limitOf(c.Units) },
		"the new limit applies within 60 s.")
}

type customersRename struct {
	ofCustomer
	Name string `required:"" help:"New name."`
}

// Run renames a customer.
func (c *customersRename) Run(ctx context.Context, t *tool, s *service) error {
	if strings.TrimSpace(c.Name) == "" {
		return errors.New("-name must not be blank")
	}
	return s.change(ctx, t, c.Customer, func(changed *catalog.Customer) { changed.Name = c.Name },
		"this is the customer's name from now on.")
}

type customersDisable struct{ ofCustomer }

// Run refuses the calls of a customer.
func (c *customersDisable) Run(ctx context.Context, t *tool, s *service) error {
	return s.change(ctx, t, c.Customer, func(changed *catalog.Customer) {
		if changed.DisabledAt == nil {
			changed.DisabledAt = new(now())
		}
	}, "its keys are refused within 60 s; customers enable admits them again.")
}

type customersEnable struct{ ofCustomer }

// Run admits the calls of a disabled customer.
func (c *customersEnable) Run(ctx context.Context, t *tool, s *service) error {
	return s.change(ctx, t, c.Customer, func(changed *catalog.Customer) { changed.DisabledAt = nil },
		"its keys work again.")
}
