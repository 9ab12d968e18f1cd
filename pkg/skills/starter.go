package skills

import (
	"embed"
	"fmt"
	"io/fs"
	"sync"
)

// starterFiles are the starter vocabulary, which was written for this project.
//
//go:embed starter/skills/*.csv starter/occupations.csv
var starterFiles embed.FS

// StarterName is the name of the starter vocabulary.
const StarterName = "Starter vocabulary"

// starterInfo describes the starter vocabulary. Its version changes with its data.
var starterInfo = Info{
	Name: StarterName, Version: "4.1", Licence: "Apache-2.0",
	Attribution: "Starter vocabulary of the Skills Curriculum Service.",
}

// Starter returns the built-in vocabulary, with which the service works out of the box, without an index; package
// extraction has it with one. It is compiled on first use; bundles contain it compiled.
var Starter = sync.OnceValue(func() *Taxonomy { return CompiledStarter(nil) })

// CompiledStarter compiles the built-in vocabulary with an index, if any.
func CompiledStarter(index func(Contents) Labelled) *Taxonomy {
	b := Builder{Index: index}
	err := b.AddStarter()
	var compiled []byte
	if err == nil {
		compiled, err = b.Compile()
	}
	var t *Taxonomy
	if err == nil {
		t, err = Open(compiled)
	}
	if err != nil {
		panic("skills: the built-in vocabulary is invalid: " + err.Error())
	}
	return t
}

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
