package service

import (
	"context"
	"fmt"
	"log/slog"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/skills"
)

func addSkills(usage *skills.Usage, refs []catalog.SkillRef) {
	for _, skill := range refs {
		usage.Add(skill.SkillID)
	}
}

// warnings returns a warning if some of the skills in use are not in the taxonomy.
func warnings(taxonomy *skills.Taxonomy, usage *skills.Usage) []catalog.Warning {
	if usage.Unknown() == 0 {
		return nil
	}
	return []catalog.Warning{{
		Code: catalog.SkillsNotInTaxonomy, Count: usage.Unknown(), Total: usage.InUse(),
		Message: fmt.Sprintf("%d of the %d skills compared here are not in the loaded taxonomy (%s): "+
			"they match by id only. An operator can map them (skillsctl taxonomy remap).",
			usage.Unknown(), usage.InUse(), taxonomy.Info().Name),
	}}
}

// logUsage logs how many of the skills that an organization teaches are in the taxonomy.
func (x *Index) logUsage(ctx context.Context, org catalog.OrgID, usage *skills.Usage) {
	level := slog.LevelInfo
	if usage.Unknown() > 0 {
		level = slog.LevelWarn
	}
	info := x.Taxonomy().Info()
	x.Log().LogAttrs(ctx, level, "skills in use", slog.String("organization", string(org)),
		slog.String("taxonomy", info.Name), slog.String("taxonomyVersion", info.Version),
		slog.Int("inUse", usage.InUse()), slog.Int("known", usage.InUse()-usage.Unknown()))
}
