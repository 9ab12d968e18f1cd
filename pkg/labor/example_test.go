package labor_test

import (
	"context"
	"fmt"

	"skillscurriculum/pkg/labor"
)

// What a nursing program leads to in Washington, as a service answers that has
// imported nothing.
func ExampleLookup() {
	cips, err := labor.ParseCIPs("51.3801")
	if err != nil {
		fmt.Println(err)
		return
	}
	area, err := labor.ParseRegion("state", "53")
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := labor.Lookup(context.Background(), labor.Starter(), labor.Query{CIPCodes: cips, Area: area})
	if err != nil {
		fmt.Println(err)
		return
	}
	first := answer.Data.Occupations[0]
	fmt.Println(answer.Data.RegionName, first.SOCCode, first.Name, *first.MedianAnnualWage)
	fmt.Println(answer.Warnings[0].Code)
	fmt.Println(answer.Warnings[1].Message)
	// Output:
	// Washington 29-1141 Registered Nurses 96990
	// region_fallback
	// The survey does not publish p10, p90 for Registered Nurses.
}
