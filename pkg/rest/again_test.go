package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/rest"
)

// staleFirst is a store that refuses each change once, so that every handler runs twice
// over one input.
type staleFirst struct {
	rest.Store
	mu      sync.Mutex
	refused int
}

func (s *staleFirst) Commit(ctx context.Context, org catalog.OrgID, change *catalog.Change) error {
	s.mu.Lock()
	s.refused++
	refuse := s.refused%2 == 1
	s.mu.Unlock()
	if refuse {
		return catalog.ErrStale
	}
	return s.Store.Commit(ctx, org, change)
}

// A handler that runs twice over the same decoded input answers what it answers at once.
func TestHandlersRunAgain(t *testing.T) {
	t.Parallel()
	once, twice := newService(t), newService(t, func(s *rest.Server) { s.Store = &staleFirst{Store: s.Store} })
	want, got := writes(once.one), writes(twice.one)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if store := twice.server.Store.(*staleFirst); store.refused < 2*20 {
		t.Errorf("%d commits", store.refused)
	}
}

var (
	// CTIDs are derived from ids.
	madeIDs   = regexp.MustCompile(`\b((crs|sec|job|prg|crd|tpk|tcr|rpt|ext|art|key|doc|imp)_[0-9a-z]+|ce-[0-9a-f-]{36})`)
	madeTimes = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z`)
)

// writes sends one request of each kind of write and returns the answers, with ids by the
// order in which they came.
func writes(c client) (answers []string) {
	names := map[string]string{}
	send := func(status int, method, path, body string) reply {
		r := c.must(status, method, path, body)
		text := madeTimes.ReplaceAllString(string(r.Body), "time")
		answers = append(answers, method+" "+madeIDs.ReplaceAllStringFunc(path+" "+text, func(id string) string {
			if names[id] == "" {
				names[id] = fmt.Sprint("id", len(names))
			}
			return names[id]
		}))
		return r
	}
	id := func(r reply) string {
		var made struct{ ID string }
		if err := json.Unmarshal(r.Body, &made); err != nil {
			r.t.Fatal(err)
		}
		return made.ID
	}
	skills := c.known(3)
	list := `[{"skillId":"` + skills[0] + `","level":2},{"skillId":"` + skills[1] + `","level":4}]`
	first := id(send(201, "POST", "/courses", `{"name":"Algebra","code":"MAT 1","externalId":"A"}`))
	second := id(send(201, "POST", "/courses", `{"name":"Biology","code":"BIO 1"}`))
	course := "/courses/" + first
	send(200, "PATCH", course, `{"code":"MAT 2","externalId":"B"}`)
	section := id(send(201, "POST", course+"/sections", `{"name":"Evening","skills":`+list+`}`))
	send(200, "PATCH", course+"/sections/"+section, `{"name":"Late","description":"D","skills":`+list+`}`)
	send(200, "PUT", course+"/sections/"+section+"/skills/"+skills[2]+"/review", `{"verdict":"ACCEPTED","level":3,"note":"n"}`)
	send(204, "DELETE", course+"/sections/"+section+"/skills/"+skills[2]+"/review", "")
	job := id(send(201, "POST", "/jobs", `{"name":"Analyst","employerId":"E","skills":`+list+`}`))
	send(200, "PATCH", "/jobs/"+job, `{"name":"Clerk"}`)
	program := id(send(201, "POST", "/programs", `{"name":"Science","courseOrder":["`+first+`"]}`))
	send(200, "POST", "/programs/"+program+"/courses", `{"courseId":"`+second+`"}`)
	send(200, "PATCH", "/programs/"+program, `{"courseOrder":["`+second+`","`+first+`"]}`)
	send(204, "DELETE", "/programs/"+program+"/courses/"+second, "")
	credential := id(send(201, "POST", "/credentials", `{"name":"Certificate","courseSectionIds":["`+section+`"]}`))
	send(200, "PATCH", "/credentials/"+credential, `{"courseSectionIds":[]}`)
	pack := id(send(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I","courses":[{"name":"C","code":"X 1"}]}`))
	send(201, "POST", "/transfer-packages/"+pack+"/courses", `{"courses":[{"name":"D"},{"name":"E"}]}`)
	send(200, "PATCH", "/transfer-packages/"+pack, `{"matchingConfig":{"fullEquivalentThreshold":0.9}}`)
	send(202, "POST", "/syllabus-extractions", `{"text":"Students write programs."}`)
	articulation := id(send(201, "POST", "/articulations", `{"sendingInstitution":{"name":"I"},"sending":[{"courses":[{"code":"X 1"}]}],"receiving":[{"courseId":"`+first+`"}],"decision":"EQUIVALENT","effectiveFrom":"2026-01-01"}`))
	send(200, "PATCH", "/articulations/"+articulation, `{"publicNote":"n"}`)
	for _, to := range []string{`"IN_REVIEW"`, `"APPROVED","decidedBy":{"name":"R"}`} {
		send(200, "POST", "/articulations/"+articulation+"/status", `{"status":`+strings.TrimSpace(to)+`}`)
	}
	running := id(send(202, "POST", "/imports", `{"documentId":"`+c.document("name,code")+`","resource":"course"}`))
	send(204, "DELETE", "/imports/"+running, "")
	send(204, "DELETE", "/imports/"+running, "")
	send(204, "DELETE", "/transfer-packages/"+pack, "")
	send(204, "DELETE", "/courses/"+second, "")
	return answers
}
