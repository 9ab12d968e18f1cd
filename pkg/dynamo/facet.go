package dynamo

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/catalog"
)

// The rows of a facet record which records of a list have it: one row for each segmentSize sequence numbers, whose
// attributes are numbers with 64 bits, one for each record. A record that joins a facet adds its bit, one that leaves
// it subtracts the bit. Nothing has to be read for that, and it is exact because it happens in the transaction that
// saves the record, on the condition that the record is unchanged. Sets of sequence numbers would need no condition,
// but nine times the space.
//
// The rows of a record's facets fit into its transaction, except for its codes, of which there may be many: these share
// codeRows rows for each wordSize sequence numbers. There each record has its own attribute, the set of its codes that
// belong to the row, as short digests: 64 records with 100 codes each fit into one row, and old codes of a record
// leave nothing behind.
const (
	segmentSize = 1024
	wordSize    = 64
	codeRows    = 64
)

// facetRow returns the prefix of the sort keys of a facet's rows, which keeps dates in order. code is the digest of a
// code, "" for other facets.
func facetRow(f catalog.Facet) (prefix, code string) {
	value := f.Value
	switch f.Name {
	case catalog.SendingFacet:
		sum := sha256.Sum256([]byte(value))
		return fmt.Sprintf("code#%02d#", sum[1]%codeRows), base64.RawStdEncoding.EncodeToString(sum[:12])
	case catalog.InstitutionFacet, catalog.CourseFacet:
		value = digest(value)[:32] // clients may ask for any text
	}
	return f.Name + "#" + value + "#", ""
}

// facetWrites returns the updates of the facets' rows, with one sum for each number.
func (s *Store) facetWrites(org catalog.OrgID, changed []catalog.FacetedRecord) (writes []write) {
	sums := map[key]map[string]*big.Int{}
	codes := map[key]map[string][]string{}
	for _, c := range changed {
		kind := catalog.KindOf(c.Record)
		seq, _ := catalog.Sequence(kind, c.Record.Base().ID)
		bit := new(big.Int).Lsh(big.NewInt(1), uint(seq%wordSize))
		for i, f := range slices.Concat(c.Left, c.Joined) {
			prefix, code := facetRow(f)
			if code != "" {
				put(codes, facetKey(org, kind, prefix, seq/wordSize), strconv.Itoa(seq%wordSize), nil)
				continue
			}
			k, name := facetKey(org, kind, prefix, seq/segmentSize), fmt.Sprintf(",%d", seq%segmentSize/wordSize)
			if sums[k][name] == nil {
				put(sums, k, name, new(big.Int))
			}
			if n := sums[k][name]; i < len(c.Left) {
				n.Sub(n, bit)
			} else {
				n.Add(n, bit)
			}
		}
		for _, f := range c.Has {
			prefix, code := facetRow(f)
			k, name := facetKey(org, kind, prefix, seq/wordSize), strconv.Itoa(seq%wordSize)
			if _, touched := codes[k][name]; code != "" && touched {
				codes[k][name] = append(codes[k][name], code)
			}
		}
	}
	updates := map[key]*expression{}
	for k, attributes := range sums {
		updates[k] = &expression{}
		for _, name := range slices.Sorted(maps.Keys(attributes)) {
			updates[k].add(name, attributes[name].String())
		}
	}
	for k, attributes := range codes {
		updates[k] = &expression{}
		for _, name := range slices.Sorted(maps.Keys(attributes)) {
			if set := attributes[name]; len(set) > 0 {
				updates[k].set(name, stringSet(set))
			} else {
				updates[k].remove(name)
			}
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(updates), compareKeys) {
		writes = append(writes, write{action: s.update(k, updates[k])})
	}
	return writes
}

func put[V any](rows map[key]map[string]V, k key, attribute string, v V) {
	if rows[k] == nil {
		rows[k] = map[string]V{}
	}
	rows[k][attribute] = v
}

// numbers is a set of sequence numbers.
type numbers []uint64

func (n *numbers) put(word int, value uint64) {
	if word >= len(*n) {
		*n = append(*n, make(numbers, word+1-len(*n))...)
	}
	(*n)[word] |= value
}

// and removes the numbers that are not in the other set.
func (n *numbers) and(other numbers) {
	*n = (*n)[:min(len(*n), len(other))]
	for i := range *n {
		(*n)[i] &= other[i]
	}
}

// without removes the numbers of the other set.
func (n numbers) without(other numbers) {
	for i := range min(len(n), len(other)) {
		n[i] &^= other[i]
	}
}

func (n numbers) count() (count int) {
	for _, word := range n {
		count += bits.OnesCount64(word)
	}
	return count
}

// page lists at most limit of the numbers in order, after the first offset ones.
func (n numbers) page(offset, limit int) (page []int) {
	for i, word := range n {
		if count := bits.OnesCount64(word); count <= offset {
			offset -= count
			continue
		}
		for ; word != 0; word &= word - 1 {
			if offset > 0 {
				offset--
				continue
			}
			if len(page) == limit {
				return page
			}
			page = append(page, i*wordSize+bits.TrailingZeros64(word))
		}
	}
	return page
}

// faceted reads the union of the records in the facet rows between two sort keys.
func (s *Store) faceted(
	ctx context.Context, org catalog.OrgID, kind catalog.Kind, from, to, code string,
) (found numbers, err error) {
	in := rangeQuery(facetKey(org, kind, "", 0).pk, from, to, true)
	in.Limit = aws.Int32(20000) // rows are small: DynamoDB ends a page at 1 MB
	err = s.query(ctx, in, func(row item) (bool, error) {
		sk := keyOfRow(row).sk
		segment, err := strconv.Atoi(sk[strings.LastIndexByte(sk, '#')+1:])
		if err != nil {
			return false, fmt.Errorf("facet %s: %w", sk, err)
		}
		for name, v := range row {
			if err := found.read(segment, name, v, code); err != nil {
				return false, fmt.Errorf("facet %s: %w", sk, err)
			}
		}
		return true, nil
	})
	return found, err
}

// read adds the records of an attribute of a facet's row: a number has a bit for each record, a set the codes of one
// record.
func (n *numbers) read(segment int, name string, v types.AttributeValue, code string) error {
	switch v := v.(type) {
	case *types.AttributeValueMemberN:
		word, err := strconv.Atoi(strings.TrimPrefix(name, ","))
		if err != nil {
			return err
		}
		bits, err := strconv.ParseUint(v.Value, 10, 64)
		if err != nil {
			return err
		}
		n.put(segment*(segmentSize/wordSize)+word, bits)
	case *types.AttributeValueMemberSS:
		at, err := strconv.Atoi(name)
		if err != nil {
			return err
		}
		if slices.Contains(v.Value, code) {
			n.put(segment, 1<<at)
		}
	}
	return nil
}

// The ends of ranges of sort keys, in which # separates values and sorts before their characters.
const (
	afterHash = "$"
	lastKey   = "~"
)

// selected reads the sequence numbers of the articulations that a filter selects.
func (s *Store) selected(ctx context.Context, org catalog.OrgID, filter catalog.ArticulationFilter) (numbers, error) {
	type part struct {
		from, to, code string
		without        bool
		found          numbers
	}
	var parts []*part
	for _, f := range filter.Facets() {
		prefix, code := facetRow(f)
		parts = append(parts, &part{from: prefix, to: prefix + lastKey, code: code})
	}
	if filter.AsOf != "" {
		begins := catalog.BeginsFacet + "#"
		parts = append(parts, &part{from: begins + filter.AsOf + afterHash, to: begins + lastKey, without: true})
	}
	for _, date := range []string{filter.AsOf, filter.Lasting} {
		if date != "" {
			parts = append(parts, &part{from: catalog.EndsFacet + "#", to: catalog.EndsFacet + "#" + date, without: true})
		}
	}
	group, groupCtx := errgroup.WithContext(ctx)
	for _, p := range parts {
		group.Go(func() (err error) {
			p.found, err = s.faceted(groupCtx, org, catalog.ArticulationKind, p.from, p.to, p.code)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	// The first part is a facet: every filter has one.
	found := parts[0].found
	for _, p := range parts[1:] {
		if p.without {
			found.without(p.found)
		} else {
			found.and(p.found)
		}
	}
	return found, nil
}

// Articulations reads a page of the articulations that a filter selects, in creation order, and their number. It reads
// the facets again if a record on the page no longer matches the filter.
func (s *Store) Articulations(
	ctx context.Context, org catalog.OrgID, filter catalog.ArticulationFilter, offset, limit int,
) ([]*catalog.Articulation, int, error) {
	if filter.Empty() {
		records, total, err := s.Page(ctx, org, catalog.ArticulationKind, offset, limit)
		page := make([]*catalog.Articulation, len(records))
		for i, r := range records {
			page[i] = r.(*catalog.Articulation)
		}
		return page, total, err
	}
	for attempt := range pageAttempts {
		found, err := s.selected(ctx, org, filter)
		if err != nil {
			return nil, 0, err
		}
		wanted := found.page(offset, limit)
		page, err := s.ArticulationsByNumber(ctx, org, wanted, nil, attempt > 0)
		if err != nil {
			return nil, 0, err
		}
		page = slices.DeleteFunc(page, func(a *catalog.Articulation) bool { return !filter.Selects(a) })
		if len(page) == len(wanted) {
			return page, found.count(), nil
		}
	}
	return nil, 0, catalog.ChangingTooFast()
}

// LastingArticulations returns the sequence numbers of all approved articulations that have not ended before the day,
// in creation order.
func (s *Store) LastingArticulations(ctx context.Context, org catalog.OrgID, day string) ([]int, error) {
	found, err := s.selected(ctx, org, catalog.ArticulationFilter{Lasting: day})
	return found.page(0, found.count()), err
}
