package rest

import "skillscurriculum/pkg/catalog"

type reviewInput struct {
	SkillID string `path:"skillId"`
}

// review puts a review of a loaded record's skill in the place of the present one.
func review[R catalog.Reviewed](c *call, record R, skillID string, in catalog.ReviewInput) (R, *catalog.Change, error) {
	var change catalog.Change
	if err := in.Apply(record, skillID, c.caller.KeyID, c.lookups(), c.now); err != nil {
		return record, nil, err
	}
	change.Replace(record, c.now)
	return record, &change, nil
}

// unreview takes the review of a loaded record's skill away, if there is one.
func unreview(c *call, record catalog.Reviewed, skillID string) *catalog.Change {
	var change catalog.Change
	if catalog.Unreview(record, skillID) {
		change.Replace(record, c.now)
	}
	return &change
}
