package rest_test

import (
	"sync"
	"testing"
)

// The document is made of the schemas that bodies are held to; both at once do no
// harm (go test -race tells).
func TestDocumentBesideRequests(t *testing.T) {
	t.Parallel()
	s := newService(t)
	nobody := client{s: s}
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			for range 3 {
				if r := nobody.do("GET", "/openapi.json", ""); r.Status != 200 {
					t.Errorf("status %d", r.Status)
				}
			}
		})
		group.Go(func() {
			for range 10 {
				s.one.do("POST", "/reports", `{"name":"R","settings":{"area":5}}`)
			}
		})
	}
	group.Wait()
}
