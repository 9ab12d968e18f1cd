package upsert

import (
	"context"

	"skillscurriculum/pkg/catalog"
)

// Names finds records of a kind by the names that files use: ids, external ids or codes.
type Names struct {
	external map[string]string   // id by external id
	codes    map[string][]string // ids by code
	alike    map[string][]string // ids by normalised code
	best     map[string][]string // external id and code by id
	likes    map[string][]string // ids by normalised external id
}

// NamesOf returns the names of records of a kind that has external ids. Only those of lists have codes.
func NamesOf[R catalog.Record](records []R) *Names {
	n := &Names{map[string]string{}, map[string][]string{}, map[string][]string{}, map[string][]string{},
		map[string][]string{}}
	for _, r := range records {
		n.add(r)
	}
	return n
}

func (n *Names) add(r catalog.Record) {
	id := r.Base().ID
	n.best[id] = nil
	if external := catalog.ExternalOf(r).ExternalID; external != nil {
		n.external[*external] = id
		n.likes[catalog.Normalized(*external)] = append(n.likes[catalog.Normalized(*external)], id)
		n.best[id] = append(n.best[id], *external)
	}
	if !catalog.KindOf(r).Listed() {
		return
	}
	if code, _ := catalog.TitleOf(r); code != "" {
		n.codes[code] = append(n.codes[code], id)
		n.alike[catalog.Normalized(code)] = append(n.alike[catalog.Normalized(code)], id)
		n.best[id] = append(n.best[id], code)
	}
}

// stored returns the names of the organization's records of a kind. They are read once for all passes: a draft may
// refer to records deleted since.
func (r *run) stored(ctx context.Context, kind catalog.Kind) (*Names, error) {
	if r.names[kind] == nil {
		names := NamesOf[catalog.Record](nil)
		err := r.Store.EachRecord(ctx, r.org, kind, "", func(record catalog.Record) error {
			names.add(record)
			return nil
		})
		if err != nil {
			return nil, err
		}
		r.names[kind] = names
	}
	return r.names[kind], nil
}

// Find returns the id of the record with the given id, external id or code, or else of the only record whose code has
// the same normalised form; "" if there is none or the code is ambiguous.
func (n *Names) Find(name string) string {
	if _, ok := n.best[name]; ok {
		return name
	}
	if id := n.external[name]; id != "" {
		return id
	}
	for _, found := range [][]string{n.codes[name], n.alike[catalog.Normalized(name)]} {
		if len(found) == 1 {
			return found[0]
		} else if len(found) > 1 {
			return ""
		}
	}
	return ""
}

// FindLike returns what Find does, or else the id of the only record whose external id has the same normalised form.
func (n *Names) FindLike(name string) string {
	if id := n.Find(name); id != "" {
		return id
	}
	if like := n.likes[catalog.Normalized(name)]; len(like) == 1 {
		return like[0]
	}
	return ""
}

// Of returns the name of a record in files, by which Find finds it in another organization too; its id if it has no
// other unambiguous name.
func (n *Names) Of(id string) string {
	for _, name := range n.best[id] {
		if n.Find(name) == id {
			return name
		}
	}
	return id
}
