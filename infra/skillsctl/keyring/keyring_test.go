package keyring_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"pgregory.net/rapid"

	"skillscurriculum/infra/skillsctl/keyring"
	"skillscurriculum/pkg/catalog"
)

// random is a source of ids for tests.
type random struct{ *rand.ChaCha8 }

func (r random) Read(b []byte) (int, error) { return r.ChaCha8.Read(b) }

var errCut = errors.New("cable cut")

// world is a table and a gateway. Any call may fail, before or after it took effect.
type world struct {
	keys    map[string]*catalog.Key // by id
	gateway map[string]string       // id by name
	values  map[string]string       // secret by name
	next    int
	fail    func() (before, after bool)
}

func (w *world) do(work func()) error {
	before, after := w.fail()
	if before {
		return errCut
	}
	work()
	if after {
		return errCut
	}
	return nil
}

func (w *world) Customer(_ context.Context, id catalog.CustomerID) (*catalog.Customer, error) {
	if id != "cus_1" {
		return nil, nil
	}
	return &catalog.Customer{ID: id, OrganizationID: "org_1"}, nil
}

func (w *world) Keys(context.Context, catalog.CustomerID) (keys []*catalog.Key, err error) {
	err = w.do(func() {
		for _, id := range slices.Sorted(maps.Keys(w.keys)) {
			k := *w.keys[id]
			keys = append(keys, &k)
		}
	})
	return keys, err
}

func (w *world) SaveKey(_ context.Context, k *catalog.Key) error {
	return w.do(func() {
		saved := *k
		w.keys[k.ID] = &saved
	})
}

func (w *world) Names(_ context.Context, prefix string) (names map[string]string, err error) {
	err = w.do(func() {
		names = map[string]string{}
		for name, id := range w.gateway {
			if strings.HasPrefix(name, prefix) {
				names[name] = id
			}
		}
	})
	return names, err
}

func (w *world) Add(_ context.Context, name, secret string) error {
	return w.do(func() {
		w.next++
		w.gateway[name], w.values[name] = fmt.Sprint("gw", w.next), secret
	})
}

func (w *world) Remove(_ context.Context, id string) error {
	return w.do(func() {
		maps.DeleteFunc(w.gateway, func(_, known string) bool { return known == id })
	})
}

func newWorld() (*world, *keyring.Keyring, *catalog.Time) {
	w := &world{keys: map[string]*catalog.Key{}, gateway: map[string]string{}, values: map[string]string{}, fail: func() (bool, bool) { return false, false }}
	at := new(catalog.Time)
	*at = 1_795_000_000_000
	r := &keyring.Keyring{Store: w, Gateway: w, Now: func() catalog.Time { return *at }, IDs: catalog.IDs{Random: random{rand.NewChaCha8([32]byte{1})}}}
	return w, r, at
}

// Whatever fails and however often: after a successful call the gateway admits exactly the live keys, no customer has
// more than the limit, and every live key was shown.
func TestAnyFailure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, r, at := newWorld()
		ctx := t.Context()
		shown := map[string]bool{} // digests
		chance := 0
		w.fail = func() (bool, bool) {
			n := rapid.IntRange(0, 9).Draw(t, "fail")
			return n < chance, n == 9 && chance > 0
		}
		for range rapid.IntRange(1, 12).Draw(t, "calls") {
			chance = rapid.IntRange(0, 2).Draw(t, "chance")
			*at += 1000
			scope := rapid.SampledFrom([]catalog.Scope{catalog.ReadScope, catalog.WriteScope}).Draw(t, "scope")
			var issued *keyring.Issued
			var err error
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				issued, err = r.Create(ctx, "cus_1", scope, 0)
			case 1:
				issued, err = r.Rotate(ctx, "cus_1", scope, time.Second/2, rapid.Bool().Draw(t, "replace"))
			case 2:
				ids := slices.Sorted(maps.Keys(w.keys))
				if len(ids) > 0 {
					_, err = r.Revoke(ctx, "cus_1", rapid.SampledFrom(ids).Draw(t, "key"))
				}
			default:
				_, err = r.List(ctx, "cus_1")
			}
			if issued != nil {
				if err == nil && w.keys[issued.ID] == nil {
					t.Fatal("a key was issued that the table does not have")
				}
				shown[catalog.HashSecret(issued.Secret)] = true
			}
		}
		chance = 0
		*at += 1000
		keys, err := r.List(ctx, "cus_1")
		if err != nil {
			t.Fatal(err)
		}
		live := map[catalog.Scope]int{}
		open := 0
		for _, key := range keys {
			if !key.Live(*at) {
				continue
			}
			live[key.Scope]++
			if !shown[key.Hash] {
				t.Fatalf("the key %s works but was never shown", key.ID)
			}
			name := "cus_1." + key.ID
			if w.gateway[name] == "" || catalog.HashSecret(w.values[name]) != key.Hash {
				t.Fatalf("the gateway does not let %s through", key.ID)
			}
			open++
		}
		if len(w.gateway) != open {
			t.Fatalf("the gateway knows %d keys, %d are live", len(w.gateway), open)
		}
		for scope, n := range live {
			if n > catalog.MaxLiveKeys {
				t.Fatalf("%d live keys of scope %s", n, scope)
			}
		}
	})
}

func TestRotate(t *testing.T) {
	w, r, at := newWorld()
	ctx := t.Context()
	first, err := r.Create(ctx, "cus_1", catalog.WriteScope, 0)
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.Rotate(ctx, "cus_1", catalog.WriteScope, time.Hour, false)
	if err != nil {
		t.Fatal(err)
	}
	if !w.keys[first.ID].Live(*at) || !w.keys[second.ID].Live(*at) {
		t.Error("both keys live while one takes the place of the other")
	}
	var known *catalog.Error
	if _, err := r.Create(ctx, "cus_1", catalog.WriteScope, 0); !errors.As(err, &known) || known.Code != catalog.Conflict {
		t.Errorf("a third key: %v", err)
	}
	if _, err := r.Create(ctx, "cus_1", catalog.ReadScope, 0); err != nil {
		t.Errorf("read-only keys count for themselves: %v", err)
	}
	_, err = r.Rotate(ctx, "cus_1", catalog.WriteScope, time.Hour, false)
	if !errors.As(err, &known) || known.Code != catalog.Conflict || !strings.Contains(known.Detail, "-replace revokes "+first.ID) {
		t.Errorf("a third key by rotation: %v", err)
	}
	third, err := r.Rotate(ctx, "cus_1", catalog.WriteScope, time.Hour, true)
	if err != nil || w.keys[first.ID].Live(*at) || !w.keys[second.ID].Live(*at) || w.keys[second.ID].ExpiresAt == nil {
		t.Errorf("-replace revokes the one that ends first: %v", err)
	}
	second, first = third, second
	*at += 3_600_001
	if w.keys[first.ID].Live(*at) || !w.keys[second.ID].Live(*at) {
		t.Error("after the grace only the new key lives")
	}
	if _, err := r.Revoke(ctx, "cus_1", "key_unknown"); !errors.As(err, &known) || known.Code != catalog.NotFound {
		t.Errorf("an unknown key: %v", err)
	}
	if _, err := r.List(ctx, "cus_2"); !errors.As(err, &known) || known.Code != catalog.NotFound {
		t.Errorf("an unknown customer: %v", err)
	}
}

// The calls of API Gateway, in order.
func TestAPIGateway(t *testing.T) {
	var calls []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		calls = append(calls, fmt.Sprint(r.Method, " ", r.URL.RequestURI(), " ", body["name"], " ", body["value"], " ", body["enabled"], " ", body["keyId"], " ", body["keyType"]))
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodGet && r.URL.Query().Get("position") == "":
			fmt.Fprint(w, `{"position":"next","item":[{"id":"1","name":"cus_1.a"}]}`)
		case r.Method == http.MethodGet:
			fmt.Fprint(w, `{"item":[{"id":"2","name":"cus_1.b"}]}`)
		case r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/gone"):
			w.Header().Set("X-Amzn-ErrorType", "NotFoundException")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{}`)
		case r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/held"):
			w.Header().Set("X-Amzn-ErrorType", "BadRequestException")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{}`)
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusAccepted)
		default:
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"id":"new"}`)
		}
	}))
	defer server.Close()
	g := keyring.APIGateway{UsagePlan: "plan", Client: apigateway.New(apigateway.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL), Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	})}
	names, err := g.Names(t.Context(), "cus_1.")
	if err != nil || len(names) != 2 || names["cus_1.b"] != "2" {
		t.Errorf("names %v %v", names, err)
	}
	if err := g.Add(t.Context(), "cus_1.c", "skc_secret"); err != nil {
		t.Error(err)
	}
	if err := g.Remove(t.Context(), "1"); err != nil {
		t.Error(err)
	}
	if err := g.Remove(t.Context(), "gone"); err != nil {
		t.Errorf("a key that is gone already: %v", err)
	}
	if err := g.Remove(t.Context(), "held"); err == nil {
		t.Error("no error for a key that could not be removed")
	}
	want := []string{
		"GET /apikeys?name=cus_1. <nil> <nil> <nil> <nil> <nil>",
		"GET /apikeys?name=cus_1.&position=next <nil> <nil> <nil> <nil> <nil>",
		"POST /apikeys cus_1.c skc_secret true <nil> <nil>",
		"POST /usageplans/plan/keys <nil> <nil> <nil> new API_KEY",
		"DELETE /apikeys/1 <nil> <nil> <nil> <nil> <nil>",
		"DELETE /apikeys/gone <nil> <nil> <nil> <nil> <nil>",
		"DELETE /apikeys/held <nil> <nil> <nil> <nil> <nil>",
	}
	if !slices.Equal(calls, want) {
		t.Errorf("calls:\n%s", strings.Join(calls, "\n"))
	}
}
