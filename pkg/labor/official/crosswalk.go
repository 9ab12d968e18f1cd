package official

import (
	"io"
	"slices"

	"skillscurriculum/pkg/labor"
)

// The codes that stand for NO MATCH.
const (
	noCIP = "99.9999"
	noSOC = "99-9999"
)

// ReadCrosswalk reads the official crosswalk, csv or xlsx (its sheet CIP-SOC). The
// editions of CIP and SOC come from the header. Lines said twice count once; two
// titles for one code, or NO MATCH along with a match, are errors.
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
	defer t.close()

	c := &labor.Crosswalk{CIPs: map[string]labor.CIP{}, Names: map[string]string{},
		Vintage: "CIP " + t.title("CIPCode")[3:7] + " - SOC " + t.title("SOCCode")[3:7]}
	unmatched := map[string]bool{}
	for {
		more, err := t.scan()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		if err := addMatch(c, t, unmatched); err != nil {
			return nil, err
		}
	}
	if len(c.CIPs) == 0 {
		return nil, &FileError{Sheet: t.sheet, Line: t.line, Reason: "no program below the header"}
	}
	for code, cip := range c.CIPs {
		slices.Sort(cip.SOCCodes)
		cip.SOCCodes = slices.Compact(cip.SOCCodes)
		c.CIPs[code] = cip
	}
	return c, nil
}

func addMatch(c *labor.Crosswalk, t *table, unmatched map[string]bool) error {
	code, err := t.code("CIPCode", labor.IsCIP, "11.0701")
	if err != nil {
		return err
	}
	soc, err := t.code("SOCCode", labor.IsSOC, "15-1252")
	if err != nil {
		return err
	}
	title, err := t.text("CIPTitle")
	if err != nil {
		return err
	}
	name, err := t.text("SOCTitle")
	if err != nil {
		return err
	}
	if soc != noSOC {
		if old, ok := c.Names[soc]; ok && old != name {
			return t.errorAt("SOCTitle", "%s was %q before, now %q", soc, old, name)
		}
		c.Names[soc] = name
	}
	if code == noCIP {
		return nil
	}
	cip, ok := c.CIPs[code]
	if !ok {
		cip = labor.CIP{CIPCode: code, Title: title, SOCCodes: []string{}}
	}
	if cip.Title != title {
		return t.errorAt("CIPTitle", "%s was %q before, now %q", code, cip.Title, title)
	}
	if soc == noSOC {
		unmatched[code] = true
	} else {
		cip.SOCCodes = append(cip.SOCCodes, soc)
	}
	if unmatched[code] && len(cip.SOCCodes) > 0 {
		return t.errorAt("SOCCode", "%s has both a match and NO MATCH", code)
	}
	c.CIPs[code] = cip
	return nil
}
