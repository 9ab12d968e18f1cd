package rest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/dynamo"
)

// A deletion that breaks off after its owner is gone is brought to its end, within
// two minutes, and nothing is deleted that it does not own. A client that repeats it brings it to its end at once.
func TestDeletionsThatBreakOff(t *testing.T) {
	t.Parallel()
	s := newService(t)
	w := s.tap()
	one := s.one
	other := one.course("other").text("id")
	var owners, owned []string
	interrupt := func() {
		course := one.course("C").text("id")
		pack := one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I"}`).text("id")
		owners, owned = []string{"/courses/" + course, "/transfer-packages/" + pack}, nil
		for range 60 {
			owned = append(owned, "/courses/"+course+"/sections/"+one.must(201, "POST", "/courses/"+course+"/sections", `{"name":"S"}`).text("id"))
		}
		for range 2 {
			r := one.must(201, "POST", "/transfer-packages/"+pack+"/courses", `{"courses":[`+strings.TrimSuffix(strings.Repeat(`{"name":"X"},`, 50), ",")+`]}`)
			for i := range 50 {
				owned = append(owned, "/transfer-packages/"+pack+"/courses/"+r.text(fmt.Sprintf("%d.id", i)))
			}
		}
		for _, owner := range owners {
			transactions := 0
			w.through(func(c call) (any, error) {
				if _, ok := c.input.(*sdk.TransactWriteItemsInput); ok {
					if transactions++; transactions > 2 {
						return nil, &types.InternalServerError{}
					}
				}
				return c.next()
			})
			one.must(503, "DELETE", owner, "", "If-Match", "*")
			w.through(nil)
			one.must(404, "GET", owner, "")
		}
	}
	live := func() (n int) {
		for _, path := range owned {
			if one.do("GET", path, "").Status == 200 {
				n++
			}
		}
		return n
	}
	interrupt()
	left := live()
	sweep := func() {
		t.Helper()
		if err := s.store.CompleteDeletions(t.Context(), s.server.Files.Remove); err != nil {
			t.Fatal(err)
		}
	}
	sweep()
	if left == 0 || live() != left {
		t.Fatalf("%d of %d are left, then %d; a deletion may still be going on", left, len(owned), live())
	}
	s.clock.Add(dynamo.SweepGrace + 1)
	sweep()
	if n := live(); n > 0 {
		t.Errorf("%d outlive their owner", n)
	}
	interrupt()
	for _, owner := range owners {
		one.must(204, "DELETE", owner, "", "If-Match", "*")
		one.must(404, "DELETE", owner, "")
	}
	if n := live(); n > 0 {
		t.Errorf("%d outlive a deletion that was repeated", n)
	}
	one.must(200, "GET", "/courses/"+other, "")
	s.clock.Add(dynamo.SweepGrace + 1)
	sweep() // is done with both
	open, err := s.store.Client.Scan(t.Context(), &sdk.ScanInput{TableName: &s.store.Table, IndexName: aws.String(api.PendingIndex)})
	if err != nil || open.Count > 0 {
		t.Errorf("%v is still open, %v", open.Items, err)
	}
}
