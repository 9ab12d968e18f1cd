package dynamo

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// reservationTTL is when the reservation of an interrupted change expires.
const reservationTTL = 24 * time.Hour

// reservations returns a new reservation for each holder.
func reservations(holders []string) []catalog.Reservation {
	slices.Sort(holders)
	var reserved []catalog.Reservation
	for _, id := range slices.Compact(holders) {
		reserved = append(reserved, catalog.Reservation{Holder: id, Token: rand.Text()})
	}
	return reserved
}

// reserve saves a reservation, which replaces an earlier one of the same holder.
func (s *Store) reserve(org catalog.OrgID, r catalog.Reservation) write {
	return s.put(reservationKey(org, r.Holder), item{
		"token": text(r.Token), api.TTL: number(int64(s.Now())/1000 + int64(reservationTTL.Seconds())),
	}, nil)
}

// endReservation deletes a reservation, which must not have been replaced or revoked.
func (s *Store) endReservation(org catalog.OrgID, r catalog.Reservation) write {
	var e expression
	e.is("token", text(r.Token))
	return s.delete(reservationKey(org, r.Holder), &e)
}

// Reservations reads the reservations of holders. Holders without one are left out.
func (s *Store) Reservations(
	ctx context.Context, org catalog.OrgID, holders []string,
) ([]catalog.Reservation, error) {
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
