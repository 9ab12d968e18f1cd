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

// Sequenced returns the id of a listed record: 40 bits of sequence number, which only look random, and 80 random bits.
func (s IDs) Sequenced(k Kind, seq int) string { return sequenced(k, seq, s.random(10)) }

// DefaultSectionID returns the id of a new course's default section. It is derived from the course's id, so that both
// can be read at once, and cannot be guessed without it.
func DefaultSectionID(courseID string) string {
	seq, _ := Sequence(CourseKind, courseID)
	sum := sha256.Sum256([]byte("default section of " + courseID))
	return sequenced(SectionKind, seq, sum[:10])
}

// OutcomeListID returns the id of the outcomes of a course or program. It is derived as that of a default section.
func OutcomeListID(ownerID string) string {
	seq, _ := Sequence(OutcomeOwner(ownerID), ownerID)
	sum := sha256.Sum256([]byte("outcomes of " + ownerID))
	return sequenced(OutcomeListKind, seq, sum[:10])
}

// sequenced returns an id from a sequence number and ten unguessable bytes.
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

// Sequence returns the sequence number in a listed record's id; false for ids that this service cannot have made.
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

// Made reports whether this service can have made the id for a record of the kind. Other ids are never used as keys.
func (k Kind) Made(id string) bool {
	_, ok := k.decode(id)
	return ok
}

func (k Kind) decode(id string) ([]byte, bool) { return decodeID(k.row().prefix, id) }

func decodeID(prefix, id string) ([]byte, bool) {
	rest, ok := strings.CutPrefix(id, prefix)
	if !ok || len(rest) > 64 {
		return nil, false
	}
	b, err := encoding.DecodeString(rest)
	return b, err == nil && len(b) >= 15 && encoding.EncodeToString(b) == rest
}

// Ordered returns ids that sort in the order of creation: by instant, then by place in one call, then at random. They
// contain the sequence number of the listed record that owns theirs, which only looks random.
func (s IDs) Ordered(k Kind, now Time, place, parent int) string {
	b := make([]byte, 20)
	binary.BigEndian.PutUint64(b, uint64(now)<<16|uint64(place))
	copy(b[8:], s.random(8))
	mask := sha256.Sum256(b[:16])
	binary.BigEndian.PutUint32(b[16:], uint32(parent)^binary.BigEndian.Uint32(mask[:]))
	return k.row().prefix + encoding.EncodeToString(b)
}

// PackageNumber returns the sequence number of the package that owns a transfer course, from the course's id; false
// for ids that predate it and for other text.
func PackageNumber(transferCourseID string) (int, bool) {
	b, ok := TransferCourseKind.decode(transferCourseID)
	if !ok || len(b) != 20 {
		return 0, false
	}
	mask := sha256.Sum256(b[:16])
	return int(binary.BigEndian.Uint32(b[16:]) ^ binary.BigEndian.Uint32(mask[:])), true
}
