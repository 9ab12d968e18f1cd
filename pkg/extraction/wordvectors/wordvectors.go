// Package wordvectors embeds the table of word vectors. It is a separate package so that only
// programs that extract, or compile taxonomies, link it. infra/training/vectors builds
// words.bin.
package wordvectors

import (
	_ "embed"
	"sync"

	"skillscurriculum/pkg/extraction"
)

//go:embed words.bin
var file []byte

// Table returns the table, opened on first use.
var Table = sync.OnceValue(func() *extraction.Words {
	words, err := extraction.OpenWords(file)
	if err != nil {
		panic("wordvectors: the built-in table is invalid: " + err.Error())
	}
	return words
})
