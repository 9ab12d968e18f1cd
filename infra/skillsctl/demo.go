package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"skillscurriculum/infra/local/demo"
	"skillscurriculum/pkg/dynamo"
)

type demoLoad struct{}

// Run loads the demo, unless it is loaded already, and shows its keys.
func (demoLoad) Run(ctx context.Context, t *tool, s keyed) error {
	kept := demoKeys
	if s.inAWS() {
		kept = filepath.Join("build", "demo-keys-"+s.store.Table+".json")
	}
	loader := demo.Loader{
		Store: s.store, Queue: s.queue, Keyring: s.keys, Market: &dynamo.Market{Store: s.store}, Keys: kept,
	}
	loaded, err := loader.Load(ctx)
	if err != nil {
		return err
	}
	return t.show(loaded, func(w io.Writer) {
		for _, c := range loaded.Customers {
			fmt.Fprintf(w, "%s\t%s\tkey %s\tread only %s\n", c.Name, c.CustomerID, c.APIKey, c.ReadOnlyAPIKey)
		}
	})
}
