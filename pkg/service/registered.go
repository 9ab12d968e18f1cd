package service

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/ctdl"
	"skillscurriculum/pkg/service/parallel"
)

// CTIDs finds what has a CTID, set or derived, in organizations. It keeps those of the organizations that asked last,
// and follows the change feed. Its zero value is ready for use.
type CTIDs struct {
	followed[catalog.OrgID, *registered]
}

// keptCTIDs limits the CTIDs in memory; those of one organization may exceed it alone.
const keptCTIDs = 500_000

// registered has the CTIDs of an organization. The mutex is held while they are read or changed.
type registered struct {
	mu      sync.Mutex
	records map[string]registration // by id
	ids     map[string]string       // of records, by CTID
	// addresses are those of Addresses; nil if they must be made again.
	addresses []Address
}

func (all *registered) share() float64 {
	if !all.mu.TryLock() {
		return 0
	}
	defer all.mu.Unlock()
	return float64(len(all.ids)) / keptCTIDs
}

// registration is a record with its CTIDs.
type registration struct {
	class    string   // "" for an articulation that is not meant for publication
	ready    bool     // for the Registry
	ctids    []string // of an articulation, one for each alternative
	outcomes []string // of the framework and the outcomes of a course or program; nil if it has none
}

// registeredFields are the stored fields, besides catalog.TitleFields, on which registrations depend.
var registeredFields = []string{
	"ctid", "description", "webpage", "lifecycleStatus", "credentialType", "status",
	"published", "sendingInstitution", "sending", "receiving", "granted", "publicNote", "effectiveFrom",
}

// newRegistration describes a record and its outcomes, nil for none.
func newRegistration(r catalog.Record, outcomes *catalog.OutcomeList) registration {
	p := newPublication("")
	// Whether a record is ready does not depend on the organization.
	p.Organization = ctdl.Organization{CTID: r.Base().ID, Language: catalog.DefaultLanguage, Base: "/"}
	x := registration{ctids: []string{catalog.RegisteredOf(r).CTID}}
	if a, ok := r.(*catalog.Articulation); ok {
		for i := range a.Sending[1:] {
			x.ctids = append(x.ctids, a.AlternativeCTID(i+1))
		}
	}
	if all := p.describe(r); len(all) > 0 {
		x.class, x.ready = all[0].Class, all[0].Ready()
	}
	if outcomes != nil && len(outcomes.Outcomes) > 0 {
		x.outcomes = []string{outcomes.CTID}
		for _, o := range outcomes.Outcomes {
			x.outcomes = append(x.outcomes, o.CTID)
		}
	}
	return x
}

// Find returns the id of the record that has a CTID, or whose outcomes have it; "" for none. The record may have
// changed since the feed was read, unless the CTIDs are read as they are now.
func (x *CTIDs) Find(ctx context.Context, a Actor, ctid string, now bool) (id string, err error) {
	all, ok := x.last(a.Org)
	if now || !ok {
		all, err = x.current(ctx, a)
	}
	if err != nil {
		return "", err
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.ids[ctid], nil
}

// Holders finds the records that have CTIDs now, set or derived, as Store.CTIDs finds those that were set. Was is the id
// of the organization for its own.
func (x *CTIDs) Holders(ctx context.Context, a Actor, ctids []string) (map[string]catalog.ExternalID, error) {
	holders, err := a.Store.CTIDs(ctx, a.Org, ctids)
	if err != nil || len(ctids) == 0 {
		return holders, err
	}
	all, err := x.current(ctx, a)
	if err != nil {
		return nil, err
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, ctid := range ctids {
		id := all.ids[ctid]
		if ctid == catalog.DerivedCTID(string(a.Org)) {
			holders[ctid] = catalog.ExternalID{Name: ctid, Was: string(a.Org)}
		}
		if id == "" || holders[ctid].Record != nil {
			continue
		}
		kind := catalog.OutcomeListKind
		if slices.Contains(all.records[id].ctids, ctid) {
			kind = publishedKinds[kindMade(id)]
		} else {
			id = catalog.OutcomeListID(id)
		}
		records, err := a.Store.RecordsByID(ctx, a.Org, kind, []string{id}, true)
		if err != nil {
			return nil, err
		}
		holder := holders[ctid]
		holder.Name, holder.Record = ctid, records[id]
		holders[ctid] = holder
	}
	return holders, nil
}

// kindMade returns the index in publishedKinds of the kind of a record that can be published, by its id.
func kindMade(id string) int {
	return slices.IndexFunc(publishedKinds, func(kind catalog.Kind) bool { return kind.Made(id) })
}

// current returns the CTIDs of an organization as they are now.
func (x *CTIDs) current(ctx context.Context, a Actor) (*registered, error) {
	return x.now(ctx, a, a.Org, ofKinds(publishedKinds...), func(
		ctx context.Context, last *registered, ids []string,
	) (*registered, error) {
		return last, last.reread(ctx, a, ids)
	}, func(ctx context.Context) (*registered, error) {
		return loadRegistered(ctx, a)
	})
}

// loadRegistered reads all records.
func loadRegistered(ctx context.Context, a Actor) (*registered, error) {
	found := make([][]catalog.Record, len(publishedKinds))
	lists := map[string]*catalog.OutcomeList{}
	reads := []func(context.Context) error{func(ctx context.Context) error {
		return Each(ctx, a.Store, a.Org, "", func(list *catalog.OutcomeList) error {
			lists[list.OwnerID] = list
			return nil
		})
	}}
	for i, kind := range publishedKinds {
		reads = append(reads, func(ctx context.Context) (err error) {
			found[i], err = a.Store.Titles(ctx, a.Org, kind, registeredFields...)
			return err
		})
	}
	if err := parallel.All(ctx, reads...); err != nil {
		return nil, err
	}
	all := &registered{records: map[string]registration{}, ids: map[string]string{}}
	for _, records := range found {
		for _, r := range records {
			all.put(r, lists[r.Base().ID])
		}
	}
	return all, nil
}

func (all *registered) put(r catalog.Record, outcomes *catalog.OutcomeList) {
	x := newRegistration(r, outcomes)
	all.records[r.Base().ID] = x
	for _, ctid := range slices.Concat(x.ctids, x.outcomes) {
		all.ids[ctid] = r.Base().ID
	}
}

// reread replaces some records by their current versions.
func (all *registered) reread(ctx context.Context, a Actor, touched []string) error {
	p := newPublication("")
	if _, err := p.load(ctx, a, touched); err != nil {
		return err
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.addresses = nil
	for _, id := range touched {
		before := all.records[id]
		delete(all.records, id)
		for _, ctid := range slices.Concat(before.ctids, before.outcomes) {
			if all.ids[ctid] == id {
				delete(all.ids, ctid)
			}
		}
	}
	for _, id := range touched {
		if r := p.read[id]; r != nil {
			all.put(r, p.outcomes[id])
		}
	}
	return nil
}

// resources are the names of publishedKinds, and of the frameworks of outcomes, in the order in which they are listed.
var resources = []string{"course", "program", "credential", "articulation", "framework"}

// Resource is a record that can be published, or the framework of its outcomes.
type Resource struct {
	Name string // one of resources
	ID   string // of the record, or of the course or program that has the outcomes
}

// Resources lists what can be published as it is now: all, or those with a name; by name, then creation.
func (x *CTIDs) Resources(ctx context.Context, a Actor, name string) (found []Resource, err error) {
	all, err := x.current(ctx, a)
	if err != nil {
		return nil, err
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	for id, r := range all.records {
		if kind := resources[kindMade(id)]; r.class != "" && (name == "" || name == kind) {
			found = append(found, Resource{kind, id})
		}
		if r.ready && r.outcomes != nil && (name == "" || name == "framework") {
			found = append(found, Resource{"framework", id})
		}
	}
	slices.SortFunc(found, func(a, b Resource) int {
		return cmp.Or(cmp.Compare(slices.Index(resources, a.Name), slices.Index(resources, b.Name)),
			comparePublished(a.ID, b.ID))
	})
	return found, nil
}

// Address is the class and the CTID of a public entity.
type Address struct{ Class, CTID string }

// ParseAddress parses what String returns. Any text is a place in the list of addresses.
func ParseAddress(text string) Address {
	class, ctid, _ := strings.Cut(text, " ")
	return Address{class, ctid}
}

// String returns class and CTID, separated by a space.
func (a Address) String() string { return a.Class + " " + a.CTID }

func (a Address) compare(b Address) int {
	return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.CTID, b.CTID))
}

// Addresses lists the entities of records that are public now, by class, then CTID. The organization is not among them.
// The list must not be modified.
func (x *CTIDs) Addresses(ctx context.Context, a Actor) ([]Address, error) {
	all, err := x.current(ctx, a)
	if err != nil {
		return nil, err
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.addresses != nil {
		return all.addresses, nil
	}
	all.addresses = []Address{}
	for _, r := range all.records {
		if !r.ready {
			continue
		}
		for _, ctid := range r.ctids {
			all.addresses = append(all.addresses, Address{r.class, ctid})
		}
		class := "ceasn:CompetencyFramework"
		for _, ctid := range r.outcomes {
			all.addresses = append(all.addresses, Address{class, ctid})
			class = "ceasn:Competency"
		}
	}
	slices.SortFunc(all.addresses, Address.compare)
	return all.addresses, nil
}
