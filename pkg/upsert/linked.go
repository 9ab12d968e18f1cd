package upsert

import (
	"context"
	"maps"
	"slices"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
	"skillscurriculum/pkg/service"
)

// byCTID is the table for rows that name records by their CTIDs (entry.CTIDName): it finds those too, or else the
// record with the row's external id or code.
type byCTID struct {
	Store
	of  map[string]entry.Row // rows by name
	all map[catalog.Kind][]catalog.Record
}

// partLinked separates the names that are CTIDs from those that are external ids.
func partLinked(names []string) (linked, other []string) {
	for _, name := range names {
		if entry.CTIDOf(name) != "" {
			linked = append(linked, name)
		} else {
			other = append(other, name)
		}
	}
	return linked, other
}

// KnownCourses finds courses by external id or by CTID.
func (s *byCTID) KnownCourses(
	ctx context.Context, org catalog.OrgID, names []string,
) (map[string]catalog.ExternalID, map[string]*catalog.Section, error) {
	linked, other := partLinked(names)
	known, sections, err := s.Store.KnownCourses(ctx, org, other)
	if err != nil || len(linked) == 0 {
		return known, sections, err
	}
	found, err := s.Known(ctx, org, catalog.CourseKind, linked)
	maps.Copy(known, found)
	return known, sections, err
}

// Known finds records by external id or by CTID.
func (s *byCTID) Known(
	ctx context.Context, org catalog.OrgID, kind catalog.Kind, names []string,
) (map[string]catalog.ExternalID, error) {
	linked, other := partLinked(names)
	known, err := s.Store.Known(ctx, org, kind, other)
	if err != nil || len(linked) == 0 || catalog.RegisteredOf(kind.New()) == nil || !kind.Listed() {
		return known, err
	}
	ctids := make([]string, len(linked))
	for i, name := range linked {
		ctids[i] = entry.CTIDOf(name)
	}
	set, err := s.CTIDs(ctx, org, ctids)
	if err != nil {
		return nil, err
	}
	ids := map[string]string{} // by name
	for i, name := range linked {
		ctid := ctids[i]
		if record := set[ctid].Record; record != nil {
			if catalog.KindOf(record) == kind {
				ids[name] = record.Base().ID
			}
			continue
		}
		if ids[name], err = s.find(ctx, org, kind, s.of[name], ctid); err != nil {
			return nil, err
		}
	}
	records, err := s.RecordsByID(ctx, org, kind, slices.Collect(maps.Values(ids)), true)
	for name, id := range ids {
		if record := records[id]; record != nil {
			known[name] = catalog.ExternalID{Name: name, Record: record, Was: id}
		}
	}
	return known, err
}

// find returns the id of the record with a CTID that was never set, or else with the row's external id, or else the only
// one with its code; "" for none.
func (s *byCTID) find(ctx context.Context, org catalog.OrgID, kind catalog.Kind, row entry.Row, ctid string) (string, error) {
	if s.all[kind] == nil {
		s.all[kind] = []catalog.Record{}
		err := s.EachRecord(ctx, org, kind, "", func(r catalog.Record) error {
			s.all[kind] = append(s.all[kind], r)
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	external, _ := row.Fields["externalId"].(string)
	code, _ := row.Fields["code"].(string)
	named, coded := "", []string{}
	for _, r := range s.all[kind] {
		id := r.Base().ID
		if catalog.RegisteredOf(r).CTID == ctid {
			return id, nil
		}
		if x := catalog.ExternalOf(r).ExternalID; x != nil && *x == external {
			named = id
		}
		if own, _ := catalog.TitleOf(r); code != "" && catalog.Normalized(own) == catalog.Normalized(code) {
			coded = append(coded, id)
		}
	}
	if named == "" && len(coded) == 1 {
		named = coded[0]
	}
	return named, nil
}

// holders finds the records that have CTIDs, set or derived.
func (l *Loader) holders(ctx context.Context, org catalog.OrgID, ctids []string) (map[string]catalog.ExternalID, error) {
	if l.CTIDs == nil {
		l.CTIDs = &service.CTIDs{}
	}
	return l.CTIDs.Holders(ctx, service.Actor{Org: org, Store: l.Store}, ctids)
}

// link prepares a row that names its record by CTID: skills get the ids of the taxonomy's, and the row is imported
// without those that the taxonomy lacks.
func (r *run) link(row *entry.Row) {
	if row.Kind.Listed() {
		r.byCTID.of[row.Name] = *row
	}
	given, ok := row.Fields["skills"].([]any)
	if !ok {
		return
	}
	skills, seen := []any{}, map[string]bool{}
	for _, item := range given {
		skill, _ := item.(map[string]any)
		id, _ := skill["skillId"].(string)
		name, _ := skill["skillName"].(string)
		if _, known := r.SkillName(id); !known {
			id = ""
			if r.SkillID != nil {
				id, _ = r.SkillID(name)
			}
		}
		if id == "" {
			row.Ignored = append(row.Ignored, catalog.ImportProblem{
				Column: "skills", Code: entry.InvalidValue, Message: "is not in the taxonomy", Value: name,
			})
		} else if !seen[id] {
			seen[id] = true
			skill = maps.Clone(skill)
			skill["skillId"] = id
			skills = append(skills, skill)
		}
	}
	row.Fields["skills"] = skills
}

// linked drops skills that a section has already from the input of a row that does not know their levels.
func (p *plan) linked(row entry.Row, in catalog.SectionInput, s *catalog.Section) catalog.SectionInput {
	if entry.CTIDOf(row.Name) == "" || !in.Skills.Set || len(in.Skills.Value) != len(s.Skills) {
		return in
	}
	for _, skill := range in.Skills.Value {
		same := func(ref catalog.SkillRef) bool {
			return ref.SkillID == skill.SkillID && (skill.Confidence == nil || ref.Confidence == *skill.Confidence)
		}
		if !slices.ContainsFunc(s.Skills, same) {
			return in
		}
	}
	in.Skills = catalog.Optional[[]catalog.SkillInput]{}
	return in
}

// kept returns the id of the section by which the credential of a row that does not know sections holds a course
// already; "" for none.
func (p *plan) kept(courseID string) string {
	name := nameOf(p.rows[0])
	credential, ok := p.known[name].Record.(*catalog.Credential)
	if !ok || entry.CTIDOf(name) == "" {
		return ""
	}
	for _, s := range credential.Sections {
		if s.CourseID == courseID {
			return s.SectionID
		}
	}
	return ""
}

// loadKept reads those sections.
func (p *plan) loadKept(ctx context.Context) error {
	var ids []string
	for _, course := range p.lookups.Courses {
		if id := p.kept(course.ID); id != "" {
			ids = append(ids, id)
		}
	}
	sections, err := service.GetByID[*catalog.Section](ctx, p.Store, p.org, ids, true)
	maps.Copy(p.byID, sections)
	return err
}

// assigned returns what is known of the external ids that the change assigns.
func (p *plan) assigned(ctx context.Context) (map[string]catalog.ExternalID, error) {
	kind, names := p.change.ExternalIDs()
	names = slices.DeleteFunc(names, func(name string) bool { return p.read.names[name] }) // those of rows are known
	if len(names) == 0 {
		return p.known, nil
	}
	known, err := p.Store.Known(ctx, p.org, kind, names)
	if err == nil {
		maps.Copy(known, p.known)
	}
	return known, err
}
