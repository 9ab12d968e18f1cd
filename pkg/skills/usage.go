package skills

// Usage counts the distinct skills that records refer to, and those that a taxonomy lacks.
type Usage struct {
	taxonomy *Taxonomy
	base     *Usage // whose skills are counted as well
	known    map[string]bool
	unknown  int
}

// Usage returns a count that starts with the skills of base, which may be nil and must not change afterwards.
func (t *Taxonomy) Usage(base *Usage) *Usage {
	u := &Usage{taxonomy: t, base: base, known: map[string]bool{}}
	if base != nil {
		u.unknown = base.unknown
	}
	return u
}

// Add counts a skill.
func (u *Usage) Add(id string) {
	if u.has(id) || u.base != nil && u.base.has(id) {
		return
	}
	_, u.known[id] = u.taxonomy.find(id)
	if !u.known[id] {
		u.unknown++
	}
}

func (u *Usage) has(id string) bool {
	_, ok := u.known[id]
	return ok
}

// InUse returns how many skills are named.
func (u *Usage) InUse() int {
	if u.base != nil {
		return len(u.known) + len(u.base.known)
	}
	return len(u.known)
}

// Unknown returns how many of the skills the taxonomy lacks.
func (u *Usage) Unknown() int { return u.unknown }
