package dynamo

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// reservationTTL is when a reservation goes that a change has left which broke off.
const reservationTTL = 24 * time.Hour

// reservations returns new ones for all that the change puts courses into, or records
// that hold documents.
func reservations(c *catalog.Change) []catalog.Reservation {
	var holders []string
	for _, h := range c.Held {
		id, _, _ := strings.Cut(h.Holder, "/")
		holders = append(holders, id)
	}
	for _, h := range c.Documents {
		if _, parent, _ := catalog.HolderRecord(h.Holder); !h.Released {
			holders = append(holders, parent)
		}
	}
	slices.Sort(holders)
	var reserved []catalog.Reservation
	for _, id := range slices.Compact(holders) {
		reserved = append(reserved, catalog.Reservation{Holder: id, Token: rand.Text()})
	}
	return reserved
}

// reserve saves a reservation. One of the same holder loses its own.
func (s *Store) reserve(org catalog.OrgID, r catalog.Reservation) write {
	row := reservationKey(org, r.Holder).attributes()
	row["token"] = text(r.Token)
	row[api.TTL] = number(int64(s.Now())/1000 + int64(reservationTTL.Seconds()))
	return write{action: types.TransactWriteItem{Put: &types.Put{TableName: &s.Table, Item: row}}}
}

// endReservation takes out a reservation, which must still stand.
func (s *Store) endReservation(org catalog.OrgID, r catalog.Reservation) write {
	var e expression
	e.conditions = []string{e.name("token") + " = " + e.value(text(r.Token))}
	return write{action: types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.Table, Key: reservationKey(org, r.Holder).attributes(), ConditionExpression: e.condition(),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	}}}
}

// Reservations reads the reservations of the holders that have one.
func (s *Store) Reservations(ctx context.Context, org catalog.OrgID, holders []string) ([]catalog.Reservation, error) {
	keys := make([]key, len(holders))
	for i, id := range holders {
		keys[i] = reservationKey(org, id)
	}
	rows, err := s.rows(ctx, keys, true)
	if err != nil {
		return nil, err
	}
	reserved := make([]catalog.Reservation, len(rows))
	for i, row := range rows {
		var stored struct {
			Holder string `json:"sk"`
			Token  string `json:"token"`
		}
		if err := decode(row, &stored); err != nil {
			return nil, err
		}
		reserved[i] = catalog.Reservation(stored)
	}
	return reserved, nil
}
