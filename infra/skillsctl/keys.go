package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
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
	Valid period `default:"0s" placeholder:"TIME" help:"How long the key is valid, such as 90d. 0s is forever."`
}

// Run issues a key.
func (c *keysCreate) Run(ctx context.Context, t *tool, s keyed) error {
	return t.showIssued(s.keys.Create(ctx, c.Customer, c.Scope, time.Duration(c.Valid)))
}

// period is a duration in a flag. It can be given in days, as 30d.
type period time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *period) UnmarshalText(text []byte) error {
	var whole, rest time.Duration
	given := string(text)
	if days, hours, found := strings.Cut(given, "d"); found {
		n, err := strconv.Atoi(days)
		if err != nil {
			return fmt.Errorf("must be a time such as 30d, 36h or 1d12h, not %s", given)
		}
		whole, given = time.Duration(n)*24*time.Hour, cmp.Or(hours, "0s")
	}
	rest, err := time.ParseDuration(given)
	if err != nil {
		return fmt.Errorf("must be a time such as 30d, 36h or 1d12h, not %s", text)
	}
	if whole < 0 || rest < 0 {
		return errors.New("must not be negative")
	}
	*p = period(whole + rest)
	return nil
}

type keysRotate struct {
	ofScope
	Grace   period `default:"24h" placeholder:"TIME" help:"How long the old key remains valid, such as 24h or 30d."`
	Replace bool   `help:"If there are two live keys already, revoke the one that ends first."`
}

// Run issues a key that replaces others.
func (c *keysRotate) Run(ctx context.Context, t *tool, s keyed) error {
	return t.showIssued(s.keys.Rotate(ctx, c.Customer, c.Scope, time.Duration(c.Grace), c.Replace))
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
