package labor

import (
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// MaxCIPs is the maximum number of CIP codes in a query.
const MaxCIPs = 25

// ParseCIPs parses the query parameter cipCodes: 1 to 25 comma-separated codes NN.NNNN. It returns the distinct codes
// in their order, or an invalid_parameter error. It does not check whether the crosswalk has them.
func ParseCIPs(list string) ([]string, error) {
	codes := strings.Split(list, ",")
	if len(codes) > MaxCIPs {
		return nil, badParameter("cipCodes", list, "cipCodes must have 1 to 25 codes, not %d", len(codes))
	}
	var distinct []string
	for _, code := range codes {
		if !IsCIP(code) {
			return nil, badParameter("cipCodes", code, "cipCodes must be comma-separated codes like 11.0701")
		}
		if !slices.Contains(distinct, code) {
			distinct = append(distinct, code)
		}
	}
	return distinct, nil
}

// ParseRegion parses the query parameters regionType (empty means national) and region:
// empty or US for the nation, a state FIPS code padded or not, or a CBSA code. It returns an
// invalid_parameter error for anything else. It does not check whether the region exists.
func ParseRegion(regionType, region string) (Area, error) {
	switch RegionType(regionType) {
	case "", National:
		if region == "" || region == Nation.Region {
			return Nation, nil
		}
		return Area{}, badParameter("region", region, "region requires regionType state or msa")
	case State:
		if IsState(region) {
			return StateArea(region), nil
		}
		return Area{}, badParameter("region", region, "regionType state requires region, a FIPS code like 06 or 6")
	case MSA:
		if IsCBSA(region) {
			return Area{MSA, region}, nil
		}
		return Area{}, badParameter("region", region, "regionType msa requires region, a CBSA code like 41860")
	}
	return Area{}, badParameter("regionType", regionType, "regionType must be national, state or msa")
}

// ParseArea parses the area code of a report (docs/contract.md): national, a state FIPS code
// or a CBSA code; ok is false for anything else.
func ParseArea(code string) (area Area, ok bool) {
	switch {
	case code == string(National):
		return Nation, true
	case IsState(code):
		return StateArea(code), true
	case IsCBSA(code):
		return Area{MSA, code}, true
	}
	return Area{}, false
}

// badParameter returns an invalid_parameter error that carries the value in its field error only.
func badParameter(name, value, format string, args ...any) error {
	err := catalog.Errorf(catalog.InvalidParameter, format, args...)
	err.Fields = []catalog.FieldError{{Location: "query." + name, Message: err.Detail, Value: value}}
	return err
}
