package labor

import (
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// MaxCIPs is the most CIP codes that one question may name.
const MaxCIPs = 25

// ParseCIPs reads the query parameter cipCodes: 1 to 25 codes NN.NNNN between
// commas. It returns the distinct ones in the order in which they came, else an error
// invalid_parameter. Whether the crosswalk knows a code is not its question.
func ParseCIPs(list string) ([]string, error) {
	codes := strings.Split(list, ",")
	if len(codes) > MaxCIPs {
		return nil, badParameter("cipCodes", list, "cipCodes takes 1 to 25 codes, not %d", len(codes))
	}
	var distinct []string
	for _, code := range codes {
		if !IsCIP(code) {
			return nil, badParameter("cipCodes", code, "cipCodes takes codes like 11.0701 between commas")
		}
		if !slices.Contains(distinct, code) {
			distinct = append(distinct, code)
		}
	}
	return distinct, nil
}

// ParseRegion reads the query parameters regionType (empty is national) and region:
// empty or US for the nation, a state's FIPS code padded or not, a CBSA code. It
// returns an error invalid_parameter for anything else. Whether there is such a region
// is not its question.
func ParseRegion(regionType, region string) (Area, error) {
	switch RegionType(regionType) {
	case "", National:
		if region == "" || region == Nation.Region {
			return Nation, nil
		}
		return Area{}, badParameter("region", region, "region needs regionType state or msa with it")
	case State:
		if IsState(region) {
			return StateArea(region), nil
		}
		return Area{}, badParameter("region", region, "regionType state needs region, a FIPS code like 06 or 6")
	case MSA:
		if IsCBSA(region) {
			return Area{MSA, region}, nil
		}
		return Area{}, badParameter("region", region, "regionType msa needs region, a CBSA code like 41860")
	}
	return Area{}, badParameter("regionType", regionType, "regionType is national, state or msa")
}

// ParseArea reads the area code of a report (docs/contract.md): national, a
// state's FIPS code or a CBSA code; ok is false for anything else.
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

// badParameter shows the value where it points at it, and nowhere else.
func badParameter(name, value, format string, args ...any) error {
	err := catalog.Errorf(catalog.InvalidParameter, format, args...)
	err.Fields = []catalog.FieldError{{Location: "query." + name, Message: err.Detail, Value: value}}
	return err
}
