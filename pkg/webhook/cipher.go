package webhook

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// Cipher encrypts secrets at rest: AES-256-GCM under a key of the deployment, which readers
// of the table do not have. It is safe for concurrent use.
type Cipher struct{ keys []cipher.AEAD }

// minKey is the minimum length of a key's text, which should be random.
const minKey = 32

// NewCipher returns the cipher for a comma-separated list of keys: the first encrypts, all
// decrypt, so that keys can be rotated.
func NewCipher(keys string) (Cipher, error) {
	var c Cipher
	for text := range strings.SplitSeq(keys, ",") {
		if len(text) < minKey {
			return Cipher{}, fmt.Errorf("a key must have at least %d characters", minKey)
		}
		key, err := hkdf.Key(sha256.New, []byte(text), nil, "secrets of webhooks", 32)
		if err != nil {
			return Cipher{}, err
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return Cipher{}, err
		}
		sealer, err := cipher.NewGCM(block)
		if err != nil {
			return Cipher{}, err
		}
		c.keys = append(c.keys, sealer)
	}
	return c, nil
}

// Seal encrypts plain for an owner, whose name is authenticated and must be passed to Open.
func (c Cipher) Seal(owner string, plain []byte) []byte {
	nonce := make([]byte, c.keys[0].NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return c.keys[0].Seal(nonce, nonce, plain, []byte(owner))
}

// Open decrypts what Seal returned for the owner.
func (c Cipher) Open(owner string, sealed []byte) ([]byte, error) {
	for _, key := range c.keys {
		if n := key.NonceSize(); len(sealed) > n {
			if plain, err := key.Open(nil, sealed[:n], sealed[n:], []byte(owner)); err == nil {
				return plain, nil
			}
		}
	}
	return nil, errors.New("a secret was encrypted with a key that is no longer configured")
}

// Owner returns a webhook's name as the owner of its secrets.
func Owner(org catalog.OrgID, webhookID string) string { return string(org) + "/" + webhookID }
