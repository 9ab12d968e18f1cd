package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"skillscurriculum/infra/skillsctl/keyring"
	"skillscurriculum/pkg/catalog"
)

// ofCustomer is the flag of every command about a customer's keys.
type ofCustomer struct {
	Customer catalog.CustomerID `required:"" placeholder:"ID" help:"Id of the customer."`
}

// ofScope is the flags of the commands that issue a key.
type ofScope struct {
	ofCustomer
	Scope catalog.Scope `enum:"write,read" default:"write" help:"What the key may do: write or read."`
}

// openKeys opens a service whose keys work. In AWS they are nothing without a usage plan.
func (t *tool) openKeys(ctx context.Context) (*service, error) {
	s, err := t.open(ctx)
	if err == nil && s.inAWS() && s.keys.Gateway == nil {
		err = fmt.Errorf("no usage plan: set %s to the deployment's output UsagePlanId", envUsagePlan)
	}
	return s, err
}

type keysCreate struct {
	ofScope
	Valid time.Duration `help:"How long the key works. 0 is for ever."`
}

// Validate implements kong's check of flags.
func (c *keysCreate) Validate() error {
	if c.Valid < 0 {
		return errors.New("--valid is below 0")
	}
	return nil
}

// Run issues a key.
func (c *keysCreate) Run(ctx context.Context, t *tool) error {
	return t.issue(ctx, func(keys *keyring.Keyring) (*keyring.Issued, error) {
		return keys.Create(ctx, c.Customer, c.Scope, c.Valid)
	})
}

type keysRotate struct {
	ofScope
	Grace time.Duration `default:"24h" help:"How long the old key still works."`
}

// Validate implements kong's check of flags.
func (c *keysRotate) Validate() error {
	if c.Grace < 0 {
		return errors.New("--grace is below 0")
	}
	return nil
}

// Run issues a key in place of another.
func (c *keysRotate) Run(ctx context.Context, t *tool) error {
	return t.issue(ctx, func(keys *keyring.Keyring) (*keyring.Issued, error) {
		return keys.Rotate(ctx, c.Customer, c.Scope, c.Grace)
	})
}

// issue shows a new key, also one that comes with an error: it may work.
func (t *tool) issue(ctx context.Context, issue func(*keyring.Keyring) (*keyring.Issued, error)) error {
	s, err := t.openKeys(ctx)
	if err != nil {
		return err
	}
	issued, failed := issue(s.keys)
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

type keysList struct{ ofCustomer }

// Run lists a customer's keys.
func (c *keysList) Run(ctx context.Context, t *tool) error {
	s, err := t.openKeys(ctx)
	if err != nil {
		return err
	}
	found, err := s.keys.List(ctx, c.Customer)
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

type keysRevoke struct {
	ofCustomer
	Key string `required:"" placeholder:"ID" help:"Id of the key."`
}

// Run ends a key.
func (c *keysRevoke) Run(ctx context.Context, t *tool) error {
	s, err := t.openKeys(ctx)
	if err != nil {
		return err
	}
	revoked, err := s.keys.Revoke(ctx, c.Customer, c.Key)
	if err != nil {
		return err
	}
	return t.show(shownKey(revoked, ""), func(w io.Writer) {
		fmt.Fprintf(w, "%s is revoked; within 60 s nothing takes it any more.\n", revoked.ID)
	})
}
