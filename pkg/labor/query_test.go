package labor

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/catalog"
)

func refused(t *testing.T, err error, location string) {
	t.Helper()
	var e *catalog.Error
	if !errors.As(err, &e) || e.Code != catalog.InvalidParameter || len(e.Fields) != 1 ||
		e.Fields[0].Location != location {
		t.Errorf("want an invalid parameter at %s, got %v", location, err)
	}
}

func TestParseCIPs(t *testing.T) {
	for list, want := range map[string][]string{
		"11.0701":                 {"11.0701"},
		"51.3801,11.0701":         {"51.3801", "11.0701"},
		"11.0701,51.3801,11.0701": {"11.0701", "51.3801"},
		strings.Repeat("11.0701,", 24) + "99.9999": {"11.0701", "99.9999"},
	} {
		got, err := ParseCIPs(list)
		if err != nil {
			t.Errorf("%q: %v", list, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", list, diff)
		}
	}
	for _, list := range []string{"", ",", "11.0701,", "11.0701, 51.3801", "11.070", "1.0701", "11.07011", "110701",
		"11-0701", "11.07O1", "١١.٠٧٠١",
		"11.0701;51.3801", "11.0701\n", strings.Repeat("11.0701,", 25) + "11.0701"} {
		got, err := ParseCIPs(list)
		refused(t, err, "query.cipCodes")
		if got != nil {
			t.Errorf("%q gives %v", list, got)
		}
	}
}

func TestParseRegion(t *testing.T) {
	for in, want := range map[[2]string]Area{
		{"", ""}:           Nation,
		{"national", ""}:   Nation,
		{"national", "US"}: Nation,
		{"state", "6"}:     {State, "06"},
		{"state", "06"}:    {State, "06"},
		{"state", "53"}:    {State, "53"},
		{"msa", "42660"}:   {MSA, "42660"},
	} {
		got, err := ParseRegion(in[0], in[1])
		if err != nil || got != want {
			t.Errorf("%v: %v, %v", in, got, err)
		}
	}
	for _, in := range [][2]string{{"", "06"}, {"national", "06"}, {"state", ""}, {"state", "006"}, {"state", "CA"},
		{"state", "-6"}, {"msa", ""},
		{"msa", "4266"}, {"msa", "426600"}, {"msa", "06"}} {
		_, err := ParseRegion(in[0], in[1])
		refused(t, err, "query.region")
	}
	for _, kind := range []string{"metro", "State", " state", "msa,state"} {
		_, err := ParseRegion(kind, "06")
		refused(t, err, "query.regionType")
	}
}

func TestParseArea(t *testing.T) {
	for code, want := range map[string]Area{
		"national": Nation, "6": {State, "06"}, "06": {State, "06"}, "42660": {MSA, "42660"},
	} {
		if got, ok := ParseArea(code); !ok || got != want {
			t.Errorf("%q: %v %v", code, got, ok)
		}
	}
	for _, code := range []string{"", "US", "006", "National", "4266", "state"} {
		if got, ok := ParseArea(code); ok {
			t.Errorf("%q is %v", code, got)
		}
	}
}

func FuzzParseCIPs(f *testing.F) {
	for _, list := range []string{
		"11.0701", "11.0701,51.3801", ",", "11.0701,,", strings.Repeat("11.0701,", 30), "\x00", "11.0701,11.0701",
	} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		codes, err := ParseCIPs(list)
		if err != nil {
			refused(t, err, "query.cipCodes")
			return
		}
		asked := strings.Split(list, ",")
		for _, code := range asked {
			if !slices.Contains(codes, code) {
				t.Errorf("%q lost %q", list, code)
			}
		}
		if len(codes) < 1 || len(codes) > MaxCIPs || len(asked) > MaxCIPs {
			t.Errorf("%q gives %d codes", list, len(codes))
		}
	})
}

func FuzzParseRegion(f *testing.F) {
	for _, in := range [][2]string{
		{"", ""}, {"national", "US"}, {"state", "6"}, {"state", "06"}, {"msa", "42660"}, {"msa", "6"}, {"x", ""},
	} {
		f.Add(in[0], in[1])
	}
	f.Fuzz(func(t *testing.T, regionType, region string) {
		area, err := ParseRegion(regionType, region)
		if err != nil {
			if area != (Area{}) {
				t.Errorf("an area with an error: %v", area)
			}
			return
		}
		again, err := ParseRegion(string(area.RegionType), area.Region)
		if err != nil || again != area {
			t.Errorf("%q %q gives %v, which gives %v, %v", regionType, region, area, again, err)
		}
	})
}
