package catalog

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"io"
	"strings"
)

// IDs makes ids from a source of random bytes.
type IDs struct{ Random io.Reader }

var encoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

func (s IDs) random(n int) []byte {
	b := make([]byte, n)
	if _, err := io.ReadFull(s.Random, b); err != nil {
		panic(err) // the operating system's source does not fail
	}
	return b
}

// New returns an id with a prefix and 120 random bits.
func (s IDs) New(prefix string) string { return prefix + encoding.EncodeToString(s.random(15)) }

// Of returns an id for a record of a kind that is not listed.
func (s IDs) Of(k Kind) string { return s.New(k.row().prefix) }

// Sequenced returns the id of a listed record: 40 bits of sequence number, which
// only look random, and 80 random bits, which nobody guesses.
func (s IDs) Sequenced(k Kind, seq int) string { return sequenced(k, seq, s.random(10)) }

// DefaultSectionID returns the id of a new course's default section. It follows from the
// course's, so that both can be read at once; only who knows that one can derive it.
func DefaultSectionID(courseID string) string {
	seq, _ := Sequence(CourseKind, courseID)
	sum := sha256.Sum256([]byte("default section of " + courseID))
	return sequenced(SectionKind, seq, sum[:10])
}

// sequenced returns an id of a sequence number and ten bytes that nobody guesses.
func sequenced(k Kind, seq int, unguessable []byte) string {
	b := make([]byte, 15)
	copy(b[5:], unguessable)
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], uint64(seq))
	mask := sha256.Sum256(b[5:])
	for i := range 5 {
		b[i] = number[3+i] ^ mask[i]
	}
	return k.row().prefix + encoding.EncodeToString(b)
}

// Sequence returns the sequence number of a listed record's id; false for ids that
// this service cannot have made.
func Sequence(k Kind, id string) (int, bool) {
	b, ok := k.decode(id)
	if !ok || len(b) != 15 {
		return 0, false
	}
	var number [8]byte
	mask := sha256.Sum256(b[5:])
	for i := range 5 {
		number[3+i] = b[i] ^ mask[i]
	}
	return int(binary.BigEndian.Uint64(number[:])), true
}

// Made reports whether the id is one that this service can have made for a record of
// the kind. Whatever else clients send is no key of the table.
func (k Kind) Made(id string) bool {
	_, ok := k.decode(id)
	return ok
}

func (k Kind) decode(id string) ([]byte, bool) {
	rest, ok := strings.CutPrefix(id, k.row().prefix)
	if !ok || len(rest) > 64 {
		return nil, false
	}
	b, err := encoding.DecodeString(rest)
	return b, err == nil && len(b) >= 15 && encoding.EncodeToString(b) == rest
}

// Ordered returns ids that sort in the order in which they were made: by instant,
// then by their place in one call, then by chance. They carry the sequence number of
// the listed record that owns theirs, which only looks random.
func (s IDs) Ordered(k Kind, now Time, place, parent int) string {
	b := make([]byte, 20)
	binary.BigEndian.PutUint64(b, uint64(now)<<16|uint64(place))
	copy(b[8:], s.random(8))
	mask := sha256.Sum256(b[:16])
	binary.BigEndian.PutUint32(b[16:], uint32(parent)^binary.BigEndian.Uint32(mask[:]))
	return k.row().prefix + encoding.EncodeToString(b)
}

// PackageNumber returns the sequence number of the package that owns the transfer
// course with that id; false for ids of before they carried it, and for what is none.
func PackageNumber(transferCourseID string) (int, bool) {
	b, ok := TransferCourseKind.decode(transferCourseID)
	if !ok || len(b) != 20 {
		return 0, false
	}
	mask := sha256.Sum256(b[:16])
	return int(binary.BigEndian.Uint32(b[16:]) ^ binary.BigEndian.Uint32(mask[:])), true
}
