package labor

import "sync"

// Groups maps each code under which OEWS (May 2021 to May 2024) and the Employment
// Projections (2024-34) publish several occupations only as a group to their SOC 2018
// codes. Some group codes are the survey's own rather than SOC codes.
var Groups = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"13-1020": {"13-1021", "13-1022", "13-1023"},
		"13-2020": {"13-2022", "13-2023"},
		"21-1018": {"21-1011", "21-1014"},
		"25-2052": {"25-2055", "25-2056"},
		"25-9045": {"25-9042", "25-9043", "25-9049"},
		"29-2010": {"29-2011", "29-2012"},
		"31-1120": {"31-1121", "31-1122"},
		"39-7010": {"39-7011", "39-7012"},
		"47-4090": {"47-4091", "47-4099"},
		"51-2028": {"51-2022", "51-2023"},
		"51-2090": {"51-2092", "51-2099"},
		"53-1047": {"53-1042", "53-1043", "53-1044", "53-1049"},
	}
})

var groupOf = sync.OnceValue(func() map[string]string {
	of := map[string]string{}
	for group, members := range Groups() {
		for _, soc := range members {
			of[soc] = group
		}
	}
	return of
})

// Group returns the code under which the survey and the projections publish an
// occupation together with others; ok is false for one published on its own.
func Group(soc string) (code string, ok bool) {
	code, ok = groupOf()[soc]
	return code, ok
}
