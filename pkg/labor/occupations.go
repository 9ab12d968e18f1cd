package labor

import "context"

// Occupations returns the SOC codes that each of the CIP codes leads to; a code that
// the loaded crosswalk does not have is left out. It takes at most 25 distinct codes.
func Occupations(ctx context.Context, source Source, cips []string) (map[string][]string, error) {
	scope, err := source.Scope(ctx, Nation, cips)
	if err != nil {
		return nil, err
	}
	socs := make(map[string][]string, len(scope.CIPs))
	for cip, study := range scope.CIPs {
		socs[cip] = study.SOCCodes
	}
	return socs, nil
}
