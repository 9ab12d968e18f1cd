package labor

import "slices"

// Crosswalk maps instructional programs to the occupations that they lead to.
//
// The official one (CIP 2020 - SOC 2018) has 6,097 lines of 2,143 CIP and 868 SOC
// codes, the two NO MATCH codes included: 194 programs without an occupation (kept,
// with no SOC codes) and 180 occupations without a program (kept as names). That
// leaves 2,142 programs, 867 names and 5,723 matches. The reader does not insist on
// these totals, since an edition to come has others; who imports it shows them.
type Crosswalk struct {
	CIPs    map[string]CIP    // by CIP code
	Names   map[string]string // title by SOC code
	Vintage string            // as CIP 2020 - SOC 2018
}

// SOCs returns the occupations of a program, sorted and distinct: none where the
// crosswalk says NO MATCH. known is false for a code that it does not have.
func (c *Crosswalk) SOCs(cip string) (socs []string, known bool) {
	entry, known := c.CIPs[cip]
	return slices.Clone(entry.SOCCodes), known
}

// Matches counts the pairs of a program and an occupation.
func (c *Crosswalk) Matches() int {
	n := 0
	for _, cip := range c.CIPs {
		n += len(cip.SOCCodes)
	}
	return n
}
