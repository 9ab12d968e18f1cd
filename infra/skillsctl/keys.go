package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"skillscurriculum/infra/skillsctl/keyring"
	"skillscurriculum/pkg/catalog"
)

// ofCustomer has the flag of every command about keys.
type ofCustomer struct {
	Customer catalog.CustomerID `required:"" placeholder:"ID" help:"Id of the customer."`
}

// ofScope has the flags of the commands that issue a key.
type ofScope struct {
	ofCustomer
	Scope catalog.Scope `enum:"write,read" default:"write" help:"What the key may do: write or read."`
}

type keysCreate struct {
	ofScope
	Valid time.Duration `help:"How long the key is valid. 0 is forever."`
}

// Validate implements kong's check of flags.
func (c *keysCreate) Validate() error {
	return notNegative("--valid", c.Valid)
}

// Run issues a key.
func (c *keysCreate) Run(ctx context.Context, t *tool, s keyed) error {
	return t.showIssued(s.keys.Create(ctx, c.Customer, c.Scope, c.Valid))
}

func notNegative(flag string, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("%s must not be negative", flag)
	}
	return nil
}

type keysRotate struct {
	ofScope
	Grace time.Duration `default:"24h" help:"How long the old key remains valid."`
}

// Validate implements kong's check of flags.
func (c *keysRotate) Validate() error {
	return notNegative("--grace", c.Grace)
}

// Run issues a key that replaces others.
func (c *keysRotate) Run(ctx context.Context, t *tool, s keyed) error {
	return t.showIssued(s.keys.Rotate(ctx, c.Customer, c.Scope, c.Grace))
}

// showIssued shows a new key, even one that comes with an error: it may work.
func (t *tool) showIssued(issued *keyring.Issued, failed error) error {
	if issued == nil {
		return failed
	}
	return errors.Join(failed, t.show(shownKey(issued.Key, issued.Secret), func(w io.Writer) {
		fmt.Fprintf(w, "key\t%s\nscope\t%s\nAPI key\t%s\n\nThe API key will not be shown again.\n",
			issued.ID, issued.Scope, issued.Secret)
	}))
}

// key is an API key in the output, without its digest.
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
func (c *keysList) Run(ctx context.Context, t *tool, s keyed) error {
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
			ends := "-"
			if end := cmp.Or(k.RevokedAt, k.ExpiresAt); end != nil {
				ends = end.String()
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", k.ID, k.Scope, k.State, k.CreatedAt, ends)
		}
	})
}

type keysRevoke struct {
	ofCustomer
	Key string `required:"" placeholder:"ID" help:"Id of the key."`
}

// Run revokes a key.
func (c *keysRevoke) Run(ctx context.Context, t *tool, s keyed) error {
	revoked, err := s.keys.Revoke(ctx, c.Customer, c.Key)
	if err != nil {
		return err
	}
	return t.show(shownKey(revoked, ""), func(w io.Writer) {
		fmt.Fprintf(w, "%s is revoked; it stops working within 60 s.\n", revoked.ID)
	})
}
