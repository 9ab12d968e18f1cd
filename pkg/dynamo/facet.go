package dynamo

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/catalog"
)

// The rows of facets say which records of a list have a facet: one row for each
// segmentSize sequence numbers, in which each attribute holds 64 of them, a number with
// a bit for each. A record that joins a facet adds its bit, one that leaves it takes
// the bit off. That needs nothing to be read, and is exact because it happens in the
// transaction that saves the record, which is conditioned on what the record was. Sets
// of numbers would take any order of changes, but nine times the room.
//
// A record has so few facets that its transaction holds all their rows. Only its codes
// may be too many: facets of codes share codeRows rows, in which the attributes' names
// begin with the code.
const (
	segmentSize = 1024
	wordSize    = 64
	codeRows    = 64
)

// facetRow returns where a facet lies: what the sort keys of its rows begin with, and
// the beginning of its attributes' names there. Values of dates stay in order.
func facetRow(f catalog.Facet) (prefix, attribute string) {
	value := f.Value
	switch f.Name {
	case catalog.SendingFacet:
		n, _ := strconv.ParseUint(digest(value)[:4], 16, 16)
		return fmt.Sprintf("%s#%02d#", f.Name, n%codeRows), value
	case catalog.InstitutionFacet, catalog.CourseFacet:
		value = digest(value)[:32] // whatever a client asks for
	}
	return f.Name + "#" + value + "#", ""
}

// refacet returns the updates of the facets' rows. What the records of a change add to
// one number, and take off it, is added up.
func (s *Store) refacet(org catalog.OrgID, changed []catalog.Refaceted) (writes []write) {
	sums := map[key]map[string]*big.Int{}
	for _, c := range changed {
		kind := catalog.KindOf(c.Record)
		seq, _ := catalog.Sequence(kind, c.Record.Base().ID)
		bit := new(big.Int).Lsh(big.NewInt(1), uint(seq%wordSize))
		sum := func(f catalog.Facet) *big.Int {
			prefix, attribute := facetRow(f)
			k, name := facetKey(org, kind, prefix, seq/segmentSize), fmt.Sprintf("%s,%d", attribute, seq%segmentSize/wordSize)
			if sums[k] == nil {
				sums[k] = map[string]*big.Int{}
			}
			if sums[k][name] == nil {
				sums[k][name] = new(big.Int)
			}
			return sums[k][name]
		}
		for _, f := range c.Left {
			n := sum(f)
			n.Sub(n, bit)
		}
		for _, f := range c.Joined {
			n := sum(f)
			n.Add(n, bit)
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(sums), compareKeys) {
		var e expression
		for _, name := range slices.Sorted(maps.Keys(sums[k])) {
			e.add(name, sums[k][name].String())
		}
		writes = append(writes, write{action: s.update(k, &e)})
	}
	return writes
}

// numbers is a set of sequence numbers.
type numbers []uint64

func (n *numbers) put(word int, value uint64) {
	if word >= len(*n) {
		*n = append(*n, make(numbers, word+1-len(*n))...)
	}
	(*n)[word] |= value
}

// and leaves what is in both.
func (n *numbers) and(other numbers) {
	*n = (*n)[:min(len(*n), len(other))]
	for i := range *n {
		(*n)[i] &= other[i]
	}
}

// without leaves what is not in the other.
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

// page lists at most limit of the numbers in order, behind the first offset ones.
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

// faceted reads the records that have a facet; from and to are what the sort keys of
// its rows lie between, so that a range of values is the union of theirs.
func (s *Store) faceted(ctx context.Context, org catalog.OrgID, kind catalog.Kind, from, to, attribute string) (found numbers, err error) {
	in := &dynamodb.QueryInput{
		KeyConditionExpression: aws.String("pk = :pk AND sk BETWEEN :from AND :to"),
		ExpressionAttributeValues: item{
			":pk": text(facetKey(org, kind, "", 0).pk), ":from": text(from), ":to": text(to),
		},
		ConsistentRead: aws.Bool(true),
		Limit:          aws.Int32(20000), // rows are small: DynamoDB ends a page at 1 MB
	}
	err = s.query(ctx, in, func(row item) (bool, error) {
		sk := keyOfRow(row).sk
		segment, err := strconv.Atoi(sk[strings.LastIndexByte(sk, '#')+1:])
		if err != nil {
			return false, fmt.Errorf("facet %s: %w", sk, err)
		}
		for name, v := range row {
			at := strings.LastIndexByte(name, ',')
			value, ok := v.(*types.AttributeValueMemberN)
			if !ok || at < 0 || name[:at] != attribute {
				continue
			}
			word, err := strconv.Atoi(name[at+1:])
			if err != nil {
				return false, fmt.Errorf("facet %s: %w", sk, err)
			}
			bits, err := strconv.ParseUint(value.Value, 10, 64)
			if err != nil {
				return false, fmt.Errorf("facet %s: %w", sk, err)
			}
			found.put(segment*(segmentSize/wordSize)+word, bits)
		}
		return true, nil
	})
	return found, err
}

// The ends of ranges of sort keys: # parts the values, and follows none of them.
const (
	afterHash = "$"
	lastKey   = "~"
)

// selected reads the sequence numbers of the articulations that a filter selects.
func (s *Store) selected(ctx context.Context, org catalog.OrgID, filter catalog.ArticulationFilter) (numbers, error) {
	type part struct {
		from, to, attribute string
		without             bool
		found               numbers
	}
	var parts []*part
	for _, f := range filter.Facets() {
		prefix, attribute := facetRow(f)
		parts = append(parts, &part{from: prefix, to: prefix + lastKey, attribute: attribute})
	}
	if filter.AsOf != "" {
		parts = append(parts, &part{from: catalog.BeginsFacet + "#" + filter.AsOf + afterHash, to: catalog.BeginsFacet + "#" + lastKey, without: true})
	}
	for _, date := range []string{filter.AsOf, filter.Lasting} {
		if date != "" {
			parts = append(parts, &part{from: catalog.EndsFacet + "#", to: catalog.EndsFacet + "#" + date, without: true})
		}
	}
	group, groupCtx := errgroup.WithContext(ctx)
	for _, p := range parts {
		group.Go(func() (err error) {
			p.found, err = s.faceted(groupCtx, org, catalog.ArticulationKind, p.from, p.to, p.attribute)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	// The facets come first, and there is one at least.
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

// Articulations reads a page of the articulations that a filter selects, in creation
// order, and how many there are. What facets say is held against the records: one that
// was changed in between is looked for anew.
func (s *Store) Articulations(ctx context.Context, org catalog.OrgID, filter catalog.ArticulationFilter, offset, limit int) ([]*catalog.Articulation, int, error) {
	if filter.Empty() {
		return list[catalog.Articulation](ctx, s, org, offset, limit)
	}
	for attempt := range pageAttempts {
		found, err := s.selected(ctx, org, filter)
		if err != nil {
			return nil, 0, err
		}
		wanted := found.page(offset, limit)
		page, err := s.articulations(ctx, org, wanted, attempt > 0)
		if err != nil {
			return nil, 0, err
		}
		page = slices.DeleteFunc(page, func(a *catalog.Articulation) bool { return !filter.Selects(a) })
		if len(page) == len(wanted) {
			return page, found.count(), nil
		}
	}
	return nil, 0, catalog.Errorf(catalog.Unavailable, "The list changes too fast at the moment.")
}

// lastingChunk is how many articulations LastingArticulations has in memory at a time.
const lastingChunk = 1000

// LastingArticulations passes all approved articulations that have not ended before the
// day to each, a thousand at a time, in creation order.
func (s *Store) LastingArticulations(ctx context.Context, org catalog.OrgID, day string, each func([]*catalog.Articulation) error) error {
	filter := catalog.ArticulationFilter{Lasting: day}
	found, err := s.selected(ctx, org, filter)
	if err != nil {
		return err
	}
	for chunk := range slices.Chunk(found.page(0, found.count()), lastingChunk) {
		some, err := s.articulations(ctx, org, chunk, false)
		if err == nil {
			err = each(slices.DeleteFunc(some, func(a *catalog.Articulation) bool { return !filter.Selects(a) }))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// articulations reads those with the sequence numbers that are live, in creation order.
func (s *Store) articulations(ctx context.Context, org catalog.OrgID, wanted []int, strong bool) ([]*catalog.Articulation, error) {
	keys := make([]key, len(wanted))
	for i, seq := range wanted {
		keys[i] = numberedKey(org, catalog.ArticulationKind, seq)
	}
	return records[catalog.Articulation](ctx, s, keys, strong)
}
