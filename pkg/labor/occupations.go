package labor

import "context"

// Occupations returns the SOC codes that a program's CIP code leads to, keyed by that code;
// none if the program has no code or the loaded crosswalk lacks it.
func Occupations(ctx context.Context, source Source, cip *string) (map[string][]string, error) {
	if cip == nil {
		return nil, nil
	}
	scope, err := source.Scope(ctx, Nation, []string{*cip})
	if err != nil {
		return nil, err
	}
	socs := make(map[string][]string, len(scope.CIPs))
	for cip, study := range scope.CIPs {
		socs[cip] = study.SOCCodes
	}
	return socs, nil
}
