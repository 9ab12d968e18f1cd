package official

import (
	"io"
	"slices"

	"skillscurriculum/pkg/labor"
)

// The codes that mean NO MATCH.
const (
	noCIP = "99.9999"
	noSOC = "99-9999"
)

// ReadCrosswalk reads the official crosswalk, CSV or XLSX (its sheet CIP-SOC). The editions of CIP and SOC come from
// the header. Duplicate lines count once; two titles for one code, or NO MATCH along with a match, are errors.
func ReadCrosswalk(r io.Reader, progress labor.Progress) (*labor.Crosswalk, error) {
	b, err := openBook(r, progress)
	if err != nil {
		return nil, err
	}
	defer b.close()
	t, err := b.open(col("CIPCode", `CIP\d{4}Code`), col("CIPTitle", `CIP\d{4}Title`),
		col("SOCCode", `SOC\d{4}Code`), col("SOCTitle", `SOC\d{4}Title`))
	if err != nil {
		return nil, err
	}

	c := &labor.Crosswalk{CIPs: map[string]labor.CIP{}, Names: map[string]string{},
		Vintage: "CIP " + t.title("CIPCode")[3:7] + " - SOC " + t.title("SOCCode")[3:7]}
	unmatched := map[string]bool{}
	for t.scan() {
		addMatch(c, t, unmatched)
	}
	if err := t.end(len(c.CIPs), "program"); err != nil {
		return nil, err
	}
	for code, cip := range c.CIPs {
		slices.Sort(cip.SOCCodes)
		cip.SOCCodes = slices.Compact(cip.SOCCodes)
		c.CIPs[code] = cip
	}
	return c, nil
}

func addMatch(c *labor.Crosswalk, t *table, unmatched map[string]bool) {
	code, soc := t.code("CIPCode", labor.IsCIP, "11.0701"), t.code("SOCCode", labor.IsSOC, "15-1252")
	title, name := t.text("CIPTitle"), t.text("SOCTitle")
	if soc != noSOC {
		if old, ok := c.Names[soc]; ok && old != name {
			t.fail("SOCTitle", "%s is named %q above, here %q", soc, old, name)
		}
		c.Names[soc] = name
	}
	if code == noCIP {
		return
	}
	cip, ok := c.CIPs[code]
	if !ok {
		cip = labor.CIP{CIPCode: code, Title: title, SOCCodes: []string{}}
	}
	if cip.Title != title {
		t.fail("CIPTitle", "%s is named %q above, here %q", code, cip.Title, title)
	}
	if soc == noSOC {
		unmatched[code] = true
	} else {
		cip.SOCCodes = append(cip.SOCCodes, soc)
	}
	if unmatched[code] && len(cip.SOCCodes) > 0 {
		t.fail("SOCCode", "%s has both a match and NO MATCH", code)
	}
	c.CIPs[code] = cip
}
