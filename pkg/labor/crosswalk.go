package labor

// Crosswalk maps instructional programs to the occupations they lead to.
//
// The official one (CIP 2020 - SOC 2018) has 6,097 lines of 2,143 CIP and 868 SOC codes, the two NO MATCH codes
// included: 194 programs without an occupation (kept, with no SOC codes) and 180 occupations without a program (kept as
// names). That leaves 2,142 programs, 867 names and 5,723 matches. The reader does not check these totals, because
// later editions will differ; imports print them.
type Crosswalk struct {
	CIPs    map[string]CIP    // by CIP code
	Names   map[string]string // title by SOC code
	Vintage string            // such as CIP 2020 - SOC 2018
}

// Matches counts the pairs of a program and an occupation.
func (c *Crosswalk) Matches() int {
	n := 0
	for _, cip := range c.CIPs {
		n += len(cip.SOCCodes)
	}
	return n
}
