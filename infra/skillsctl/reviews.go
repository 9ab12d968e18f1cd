package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"skillscurriculum/infra/skillsctl/remap"
	"skillscurriculum/pkg/catalog"
)

type reviews struct {
	Organization catalog.OrgID `placeholder:"ID" help:"Limit to one organization."`
	Out          string        `placeholder:"FILE" help:"Write the reviews as lines of JSON."`
}

// verdicts counts reviews.
type verdicts struct {
	Accepted int `json:"accepted"`
	Rejected int `json:"rejected"`
	Added    int `json:"added"`
	// ShareAccepted is the accepted fraction of the extracted skills; nil if there are none.
	ShareAccepted *float64 `json:"shareAccepted"`
}

// decile counts the reviews of skills extracted with a confidence in [From, To). The last one includes 1.
type decile struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
	verdicts
}

// reviewCounts compares reviews with confidence.
type reviewCounts struct {
	Reviews      int        `json:"reviews"`
	Records      int        `json:"records"` // with reviews
	Deciles      [10]decile `json:"deciles"`
	NotExtracted verdicts   `json:"notExtracted"`
	All          verdicts   `json:"all"`
}

// reviewLine is a line of the -out file.
type reviewLine struct {
	Resource       catalog.Kind     `json:"resource"`
	ID             string           `json:"id"`
	SkillID        string           `json:"skillId"`
	Verdict        catalog.Verdict  `json:"verdict"`
	Level          *int             `json:"level"`
	Extracted      *catalog.Finding `json:"extracted"`
	DocumentSHA256 *string          `json:"documentSha256"` // of the last extraction; null for skills set by hand
}

// Run counts the reviews of extracted skills by confidence.
func (c *reviews) Run(ctx context.Context, t *tool, s *service) error {
	orgs, err := s.organizations(ctx, c.Organization)
	if err != nil {
		return err
	}
	var counts reviewCounts
	var lines bytes.Buffer
	for _, org := range orgs {
		records, err := remap.Extracted(ctx, s.store, org)
		if err != nil {
			return err
		}
		for _, r := range records {
			list := catalog.ReviewsOf(r)
			counts.add(list)
			if c.Out != "" && len(list) > 0 {
				if err := s.writeReviews(ctx, &lines, r, list); err != nil {
					return err
				}
			}
		}
	}
	counts.sum()
	if c.Out != "" {
		if err := os.WriteFile(c.Out, lines.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return t.show(counts, counts.print)
}

// writeReviews writes the reviews of a record as lines of JSON.
func (s *service) writeReviews(ctx context.Context, w io.Writer, r catalog.Record, list []catalog.Review) error {
	outcome, err := s.store.ExtractionResult(ctx, r.Base().OrganizationID, r.Base().ID)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(w)
	for _, review := range list {
		line := reviewLine{
			catalog.KindOf(r), r.Base().ID, review.SkillID, review.Verdict, review.Level, review.Extracted, nil,
		}
		if section, ok := r.(*catalog.Section); outcome != nil && !(ok && section.ByHand) {
			line.DocumentSHA256 = &outcome.Provenance.DocumentSHA256
		}
		if err := encoder.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// add counts the reviews of a record.
func (c *reviewCounts) add(list []catalog.Review) {
	if len(list) > 0 {
		c.Records++
	}
	c.Reviews += len(list)
	for _, review := range list {
		count := &c.NotExtracted
		if found := review.Extracted; found != nil {
			// Rounded to four decimals, so that 0.3 is in the decile from 0.3.
			count = &c.Deciles[min(int(found.Confidence*10_000+0.5)/1000, 9)].verdicts
		}
		switch {
		case review.Verdict == catalog.Rejected:
			count.Rejected++
		case review.Extracted == nil:
			count.Added++
		default:
			count.Accepted++
		}
	}
}

// sum computes shares and totals.
func (c *reviewCounts) sum() {
	extracted := verdicts{}
	for i := range c.Deciles {
		d := &c.Deciles[i]
		d.From, d.To = float64(i)/10, float64(i+1)/10
		d.share()
		extracted.Accepted, extracted.Rejected = extracted.Accepted+d.Accepted, extracted.Rejected+d.Rejected
	}
	extracted.share()
	c.All = extracted
	c.All.Rejected += c.NotExtracted.Rejected
	c.All.Added = c.NotExtracted.Added
}

func (v *verdicts) share() {
	if n := v.Accepted + v.Rejected; n > 0 {
		v.ShareAccepted = new(float64(v.Accepted) / float64(n))
	}
}

// print writes the table, highest confidence first.
func (c *reviewCounts) print(w io.Writer) {
	row := func(name string, v verdicts) {
		share := ""
		if v.ShareAccepted != nil {
			share = fmt.Sprintf("%.0f %%", 100**v.ShareAccepted)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\n", name, v.Accepted, v.Rejected, v.Added, share)
	}
	fmt.Fprintln(w, "CONFIDENCE\tACCEPTED\tREJECTED\tADDED\tSHARE ACCEPTED")
	for i := len(c.Deciles) - 1; i >= 0; i-- {
		row(fmt.Sprintf("%.1f - %.1f", c.Deciles[i].From, c.Deciles[i].To), c.Deciles[i].verdicts)
	}
	row("not extracted", c.NotExtracted)
	row("all", c.All)
	fmt.Fprintf(w, "%d reviews of %d sections and transfer courses. Shares count extracted skills only.\n",
		c.Reviews, c.Records)
}
