package skills

import (
	"embed"
	"sync"
)

// starterFiles are the starter vocabulary, the project's own work.
//
//go:embed starter/skills.csv starter/occupations.csv
var starterFiles embed.FS

// starterInfo is what the starter vocabulary says of itself. Its version changes
// whenever its data does.
var starterInfo = Info{
	Name: "Starter vocabulary", Version: "1.0", Licence: "Apache-2.0",
	Attribution: "Starter vocabulary of the Skills Curriculum Service.",
}

// Starter gives the built-in vocabulary with which the service works out of the
// box. It is compiled on first use.
var Starter = sync.OnceValue(func() *Taxonomy {
	compiled, err := compileStarter()
	if err != nil {
		panic("skills: the built-in vocabulary is broken: " + err.Error())
	}
	t, err := Open(compiled)
	if err != nil {
		panic("skills: the built-in vocabulary is broken: " + err.Error())
	}
	return t
})

func compileStarter() ([]byte, error) {
	var b Builder
	skills, err := starterFiles.Open("starter/skills.csv")
	if err != nil {
		return nil, err
	}
	defer skills.Close()
	if err := b.AddCSV(starterInfo, skills); err != nil {
		return nil, err
	}
	occupations, err := starterFiles.Open("starter/occupations.csv")
	if err != nil {
		return nil, err
	}
	defer occupations.Close()
	if err := b.AddRequirements(occupations); err != nil {
		return nil, err
	}
	return b.Compile()
}
