package wordvectors_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"skillscurriculum/pkg/extraction/wordvectors"
)

// TestTheTableIsTheOneOfTheNotice holds the file to the digest that was written down
// when it was made.
func TestTheTableIsTheOneOfTheNotice(t *testing.T) {
	file, err := os.ReadFile("words.bin")
	if err != nil {
		t.Fatal(err)
	}
	notice, err := os.ReadFile("NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(file); !strings.Contains(string(notice), hex.EncodeToString(sum[:])) {
		t.Errorf("the digest %x is not in NOTICE", sum)
	}
	if wordvectors.Table() == nil {
		t.Error("no table")
	}
}
