package skills

import (
	"embed"
	"fmt"
	"io/fs"
	"sync"
)

// starterFiles are the starter vocabulary, the project's own work.
//
//go:embed starter/skills/*.csv starter/occupations.csv
var starterFiles embed.FS

// starterInfo is what the starter vocabulary says of itself. Its version changes
// whenever its data does.
var starterInfo = Info{
	Name: "Starter vocabulary", Version: "2.0", Licence: "Apache-2.0",
	Attribution: "Starter vocabulary of the Skills Curriculum Service.",
}

// Starter returns the built-in vocabulary with which the service works out of the
// box. It is compiled on first use, which takes a tenth of a second and more on a
// small machine: bundles carry it compiled.
var Starter = sync.OnceValue(func() *Taxonomy {
	var b Builder
	if err := b.AddStarter(); err != nil {
		panic("skills: the built-in vocabulary is broken: " + err.Error())
	}
	compiled, err := b.Compile()
	if err != nil {
		panic("skills: the built-in vocabulary is broken: " + err.Error())
	}
	t, err := Open(compiled)
	if err != nil {
		panic("skills: the built-in vocabulary is broken: " + err.Error())
	}
	return t
})

// AddStarter adds the built-in vocabulary.
func (b *Builder) AddStarter() error {
	files, err := fs.Glob(starterFiles, "starter/skills/*.csv")
	if err != nil {
		return err
	}
	for _, name := range files {
		skills, err := starterFiles.Open(name)
		if err != nil {
			return err
		}
		defer skills.Close()
		if err := b.AddCSV(starterInfo, skills); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	occupations, err := starterFiles.Open("starter/occupations.csv")
	if err != nil {
		return err
	}
	defer occupations.Close()
	return b.AddRequirements(occupations)
}
