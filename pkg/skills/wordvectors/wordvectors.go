// Package wordvectors holds the table of word vectors of this program. It is a
// package of its own so that only programs which extract, or compile taxonomies,
// carry it. infra/training/vectors makes words.bin.
package wordvectors

import (
	_ "embed"
	"sync"

	"skillscurriculum/pkg/skills"
)

//go:embed words.bin
var file []byte

// Table returns the table, opened on first use.
var Table = sync.OnceValue(func() *skills.Words {
	words, err := skills.OpenWords(file)
	if err != nil {
		panic("wordvectors: the built-in table is broken: " + err.Error())
	}
	return words
})
