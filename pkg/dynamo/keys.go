package dynamo

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// Every key of the table. Package api defines the partition keys and which of them each function may access. Words in
// angle brackets are placeholders. Live and deleted rows never share a partition, so that no read has to filter.
//
//	row                     partition (pk)                    sort key (sk)             read by
//	course, job, program,   o#<org>#<Kind>                    10-digit number           id (contains the number); list
//	  credential, package,
//	  report, articulation,
//	  import
//	section                 o#<org>#Section                   <id>                      id; all of an organization
//	transfer course         o#<org>#TransferCourse#<package>  <id>, in time order       id; all of a package
//	extraction              o#<org>#SyllabusExtraction        <id>                      id
//	document                o#<org>#Document                  <id>                      id
//	deleted record          its partition + !                 as before                 the sweeper; an operator
//	evidence of skills      o#<org>#evidence                  <record id>               include=evidence
//	text of an extraction   o#<org>#text                      <record id>               include=text; the extractor
//	read document           o#<org>#document                  sha256 of text#<engine>#  the extractor, to reuse outcomes
//	                                                          <taxonomy>#<version>
//	list directory          o#<org>#directory                 <Kind>                    every list, create and delete
//	change feed             o#<org>#journal                   10-digit page             since a cursor; the last page
//	idempotency record      o#<org>#answer                    sha256 of the key         Idempotency-Key
//	reservation             o#<org>#reservation               <holder's id>             deletions of what it will hold
//	external id             o#<org>#external#<Kind>           <external id>             external id
//	CTID that was set       o#<org>#ctid                      <ctid>                    CTID
//	code of a course        o#<org>#code#Course               sha256 of the code        all courses with a code
//	                                                          #10-digit number
//	records with a facet    o#<org>#facet#<Kind>              <facet>#<value>           lists with filters; see facet.go
//	                                                          #6-digit segment
//	approved articulations  o#<org>#approved                  sha256 of institution     look-ups of codes; approvals
//	                                                          and codes[#6-digit part]
//	move of articulation    o#<org>#history                   <id>#13-digit ms          all of an articulation
//	details of an import    o#<org>#import                    <import id>               the import; its worker
//	rejected rows           o#<org>#import                    <import id>#<Kind>#       the worker, for the file of
//	                                                          10-digit number of rows   all rejected rows
//	decision on a map       o#<org>#map#<program>             <outcome>#<course>        all of a program
//	webhooks                o#<org>#webhooks                  webhooks                  all of an organization
//	turn of a delivery      o#<org>#webhooks                  turn#0..5                 deliveries to slow webhooks
//	message to a webhook    o#<org>#message#<webhook>         <message id>              each attempt; resend
//	attempt at a message    o#<org>#attempt#<webhook>         13-digit ms#...           attempts, newest first
//	organization            organizations                     <org>                     all
//	customer                customers                         <customer>                id; all
//	key of a customer       c#<customer>#key                  <key id>                  all of a customer
//	key                     k#<sha256 of the key>             key                       every request
//	link to a page          l#<sha256 of the token>           link                      the page that it opens
//	handle                  h#<handle>                        organization              public addresses
//	units used              u#<customer>                      <window start>            every request; usage
//	reference data          r#<set>#<generation>...           see labor.go              labor market, programs
//
// The row of an external id or code may be there before its record, or without it: see Store.ClaimNames.
//
// The pending index, which is sparse, lists unfinished work. openShard is 0..3, by id, for extractions; uploads for
// documents whose file may not have been uploaded; and deletions for deleted records that may still own live ones and
// for deleted documents whose file may still exist; and imports for those that have not ended. The sweeper processes
// rows whose openSince is older than SweepGrace. messages#0..3 are messages with an attempt due at openSince, and
// webhooks the organizations with an enabled webhook; both are for the deliverer.
const (
	shards    = 4
	deletions = "deletions"
	uploads   = "uploads"
	imports   = "imports"
)

type key struct{ pk, sk string }

func compareKeys(a, b key) int {
	return cmp.Or(strings.Compare(a.pk, b.pk), strings.Compare(a.sk, b.sk))
}

func (k key) attributes() item {
	return item{api.PartitionKey: text(k.pk), api.SortKey: text(k.sk)}
}

// deleted is the key of the tombstone of a record.
func (k key) deleted() key { return key{k.pk + "!", k.sk} }

// partition is the organization's partition of rows that have one.
func partition(org catalog.OrgID, rows api.Partition) string { return rows.Key(string(org)) }

func numbered(n int) string { return fmt.Sprintf("%010d", n) }

func keyOfRow(row item) key {
	pk, _ := row[api.PartitionKey].(*types.AttributeValueMemberS)
	sk, _ := row[api.SortKey].(*types.AttributeValueMemberS)
	return key{pk.Value, sk.Value}
}

// recordKey returns the key of a record; false for an id that this service cannot have made.
// parent is the id of its owner if the kind is nested.
func recordKey(org catalog.OrgID, kind catalog.Kind, parent, id string) (key, bool) {
	if kind.Listed() {
		seq, ok := catalog.Sequence(kind, id)
		return numberedKey(org, kind, seq), ok
	}
	return key{recordPartition(org, kind, parent), id}, kind.Made(id) && (!kind.Nested() || kind.Parent().Made(parent))
}

// recordPartition is the partition of the records of a kind; of a nested kind, those with the same parent.
func recordPartition(org catalog.OrgID, kind catalog.Kind, parent string) string {
	if kind.Nested() {
		return api.RecordRows(kind).Key(string(org), parent)
	}
	return partition(org, api.RecordRows(kind))
}

// numberedKey is the key of the listed record with a sequence number.
func numberedKey(org catalog.OrgID, kind catalog.Kind, seq int) key {
	return key{recordPartition(org, kind, ""), numbered(seq)}
}

func keyOf(r catalog.Record) key {
	k, _ := recordKey(r.Base().OrganizationID, catalog.KindOf(r), catalog.ParentOf(r), r.Base().ID)
	return k
}

func directoryKey(org catalog.OrgID, kind catalog.Kind) key {
	return key{partition(org, api.DirectoryRows), string(kind)}
}

func journalKey(org catalog.OrgID, page int) key {
	return key{partition(org, api.JournalRows), numbered(page)}
}

func answerKey(org catalog.OrgID, idempotencyKey string) key {
	return key{partition(org, api.AnswerRows), digest(idempotencyKey)}
}

func evidenceKey(org catalog.OrgID, id string) key { return key{partition(org, api.EvidenceRows), id} }

func textKey(org catalog.OrgID, id string) key { return key{partition(org, api.TextRows), id} }

func documentKey(org catalog.OrgID, p catalog.Provenance, words string) key {
	sk := strings.Join([]string{digest(words), p.Engine, p.Taxonomy, p.TaxonomyVersion}, "#")
	return key{partition(org, api.DocumentRows), sk}
}

func reservationKey(org catalog.OrgID, holder string) key {
	return key{partition(org, api.ReservationRows), holder}
}

func externalKey(org catalog.OrgID, kind catalog.Kind, external string) key {
	return key{api.ExternalRows.Key(string(org), string(kind)), external}
}

func ctidKey(org catalog.OrgID, ctid string) key { return key{partition(org, api.CTIDRows), ctid} }

func codeKey(org catalog.OrgID, code string, seq int) key {
	return key{partition(org, api.CodeRows), codePrefix(code) + numbered(seq)}
}

// codePrefix is the prefix of the sort keys of courses with a normalised code.
func codePrefix(code string) string { return digest(code) + "#" }

// facetKey is the key of a facet's row; see facetRow.
func facetKey(org catalog.OrgID, kind catalog.Kind, prefix string, segment int) key {
	return key{api.FacetRows.Key(string(org), string(kind)), prefix + fmt.Sprintf("%06d", segment)}
}

// approvedKey is the key of the first row of what is approved under a key, or of a part.
func approvedKey(org catalog.OrgID, k catalog.ApprovedKey, part int) key {
	sk := digest(k.Institution + "\n" + k.Codes)
	if part > 0 {
		sk += fmt.Sprintf("#%06d", part)
	}
	return key{partition(org, api.ApprovedRows), sk}
}

// historyKey is the key of the latest move of an articulation.
func historyKey(org catalog.OrgID, a *catalog.Articulation) key {
	return key{partition(org, api.HistoryRows), fmt.Sprintf("%s#%013d", a.ID, a.UpdatedAt)}
}

func importKey(org catalog.OrgID, id string) key { return key{partition(org, api.ImportRows), id} }

func organizationKey(id catalog.OrgID) key { return key{api.OrganizationRows.Key(), string(id)} }

func customerKey(id catalog.CustomerID) key { return key{api.CustomerRows.Key(), string(id)} }

func customerKeyKey(id catalog.CustomerID, keyID string) key {
	return key{api.CustomerKeyRows.Key(string(id)), keyID}
}

func secretKey(hash string) key { return key{api.KeyRows.Key(hash), "key"} }

func handleKey(handle string) key { return key{api.HandleRows.Key(handle), "organization"} }

func linkKey(hash string) key { return key{api.LinkRows.Key(hash), "link"} }

func unitsKey(id catalog.CustomerID, windowStart int64) key {
	return key{api.UnitRows.Key(string(id)), strconv.FormatInt(windowStart, 10)}
}

func shardOf(id string) string { return strconv.Itoa(int(digest(id)[0]) % shards) }

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number[N int | int64](n N) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(n), 10)}
}

// stringSet is nil for an empty set, which DynamoDB does not support.
func stringSet(members []string) types.AttributeValue {
	if len(members) == 0 {
		return nil
	}
	return &types.AttributeValueMemberSS{Value: members}
}

func binary(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} }
