package official

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
)

// sheet is a sheet of a workbook made for a test.
type sheet struct {
	name  string
	lines [][]any
}

func workbook(t testing.TB, sheets ...sheet) []byte {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	for i, s := range sheets {
		if i == 0 {
			f.SetSheetName("Sheet1", s.name)
		} else if _, err := f.NewSheet(s.name); err != nil {
			t.Fatal(err)
		}
		for line, cells := range s.lines {
			if err := f.SetSheetRow(s.name, fmt.Sprintf("A%d", line+1), &cells); err != nil {
				t.Fatal(err)
			}
		}
	}
	var out bytes.Buffer
	if err := f.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func cells(line string) []any {
	var all []any
	for _, cell := range strings.Split(line, "|") {
		all = append(all, cell)
	}
	return all
}

const oewsHeader = "AREA|AREA_TITLE|AREA_TYPE|PRIM_STATE|NAICS|I_GROUP|OCC_CODE|OCC_TITLE|O_GROUP|TOT_EMP|H_MEDIAN|A_PCT10|A_PCT25|A_MEDIAN|A_PCT75|A_PCT90|ANNUAL|HOURLY"

func oews(lines ...string) [][]any {
	all := [][]any{cells(oewsHeader)}
	for _, line := range lines {
		all = append(all, cells(line))
	}
	return all
}

// The files of all states and all metropolitan areas have the national one's columns.
func TestReadWagesOfManyAreas(t *testing.T) {
	notes := sheet{
		"Field Descriptions", [][]any{
			{"May 2021 OEWS Estimates"}, {"#  = indicates a wage equal to or greater than $100.00 per hour or $208,000 per year "},
		},
	}
	data := workbook(t, sheet{"All May 2021 data", oews(
		"1|Alabama|2|AL|000000|cross-industry|00-0000|All Occupations|total|1903210|18.5|20000|24000|38470|61000|95000||",
		"1|Alabama|2|AL|000000|cross-industry|15-1250|Software and Web "+
			"Developers|broad|20000|50|50000|60000|100000|120000|150000||",
		"01|Alabama|2|AL|000000|cross-industry|15-1252|Software Developers|detailed|11930|50|50000|60000|104240|#|#||",
		"01|Alabama|2|AL|541500|5-digit|15-1252|Software Developers|detailed|930|50|50000|60000|104240|#|#||",
		"72|Puerto Rico|3|PR|000000|cross-industry|15-1252|Software Developers|detailed|**|50|*|*|*|*|*||",
		"42660|Seattle-Tacoma-Bellevue, WA|4|WA|000000|cross-industry|27-2011|Actors|detailed|630|25.5|*|*|*|*|*||TRUE",
		"0038900|Portland-Vancouver-Hillsboro, "+
			"OR-WA|4|OR|000000|cross-industry|25-2021|Teachers|detailed|9000.0|*|50000|60000|7.0E4|80000|90000|TRUE|",
		"5300007|Eastern Washington nonmetropolitan "+
			"area|6|WA|000000|cross-industry|25-2021|Teachers|detailed|900|*|50000|60000|70000|80000|90000|TRUE|",
	)}, notes)
	file, err := ReadWages(bytes.NewReader(data), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	unpublished := func(why catalog.WarningCode, more ...string) map[string]catalog.WarningCode {
		reasons := map[string]catalog.WarningCode{"medianAnnualWage": why, "p10": why, "p25": why, "p75": why, "p90": why}
		for _, name := range more {
			reasons[name] = catalog.Suppressed
		}
		return reasons
	}
	want := &labor.WageFile{
		Wages: []labor.Wage{
			{Area: labor.Area{RegionType: labor.State, Region: "01"}, SOCCode: "15-1252", Name: "Software Developers",
				TotalEmployment: num(11930), MedianAnnualWage: num(104240),
				WagePercentiles: labor.WagePercentiles{P10: num(50000), P25: num(60000), P75: num(208000), P90: num(208000)},
				Reasons:         map[string]catalog.WarningCode{"p75": catalog.TopCoded, "p90": catalog.TopCoded},
				Vintage:         "May 2021", Source: "BLS OEWS, May 2021, Alabama"},
			{Area: labor.Area{RegionType: labor.State, Region: "72"}, SOCCode: "15-1252", Name: "Software Developers",
				Reasons: unpublished(catalog.Suppressed, "totalEmployment"),
				Vintage: "May 2021", Source: "BLS OEWS, May 2021, Puerto Rico"},
			{Area: labor.Area{RegionType: labor.MSA, Region: "42660"}, SOCCode: "27-2011", Name: "Actors",
				TotalEmployment: num(630), Reasons: unpublished(catalog.HourlyOnly),
				Vintage: "May 2021", Source: "BLS OEWS, May 2021, Seattle-Tacoma-Bellevue, WA"},
			{Area: labor.Area{RegionType: labor.MSA, Region: "38900"}, SOCCode: "25-2021", Name: "Teachers",
				TotalEmployment: num(9000), MedianAnnualWage: num(70000),
				WagePercentiles: labor.WagePercentiles{P10: num(50000), P25: num(60000), P75: num(80000), P90: num(90000)},
				Vintage:         "May 2021", Source: "BLS OEWS, May 2021, Portland-Vancouver-Hillsboro, OR-WA"},
		},
		Regions: []labor.Region{
			{Area: labor.Area{RegionType: labor.State, Region: "01"}, Name: "Alabama"}, {Area: labor.Area{
				RegionType: labor.State, Region: "72",
			}, Name: "Puerto Rico"},
			{Area: labor.Area{RegionType: labor.MSA, Region: "42660"}, Name: "Seattle-Tacoma-Bellevue, WA", State: "53"},
			{Area: labor.Area{RegionType: labor.MSA, Region: "38900"}, Name: "Portland-Vancouver-Hillsboro, OR-WA"},
		},
		Vintage: "May 2021", Skipped: 1,
	}
	if diff := cmp.Diff(want, file); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadWagesPeriodAndCapWithoutNotes(t *testing.T) {
	line := "99|U.S.|1|US|000000|cross-industry|11-1011|Chief Executives|detailed|211850|99.24|73710|126080|#|#|#||"
	for name, c := range map[string]struct{ sheet, given, want string }{
		"the sheet's name": {"state_M2023_dl", "", "May 2023"},
		"nothing":          {"data", "", "undated"},
		"the caller":       {"state_M2023_dl", "May 2022", "May 2022"},
	} {
		file, err := ReadWages(bytes.NewReader(workbook(t, sheet{c.sheet, oews(line)})), c.given, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		if file.Vintage != c.want || *file.Wages[0].MedianAnnualWage != 239200 {
			t.Errorf("%s: vintage %q, cap %d", name, file.Vintage, *file.Wages[0].MedianAnnualWage)
		}
	}
}

const (
	crosswalkHeader = "CIP2020Code,CIP2020Title,SOC2018Code,SOC2018Title\r\n"
	projectionsHead = "Table 1.2 Occupational projections (Employment in thousands)\n" +
		"2024 National Employment Matrix title,2024 National Employment Matrix code,Occupation type,\"Employment change, " +
		"percent, 2024–34\"," +
		"\"Occupational openings, 2024–34 annual average\",Typical education needed for entry\n"
	cbsaHeader  = "cbsacode,cbsatitle,fipsstatecode\n"
	stateHeader = "state_name,state_abbr,fips\n"
)

func TestReadCrosswalk(t *testing.T) {
	c, err := ReadCrosswalk(strings.NewReader("\xef\xbb\xbfCIP2030Code,CIP2030Title,SOC2028Code,SOC2028Title\r\n"+
		"11.0701,Computer Science.,15-1252,Software Developers\r\n"+
		"11.0701,Computer Science.,15-1221,\"Research, Computer\"\r\n"+
		"11.0701,Computer Science.,15-1252,Software Developers\r\n"+
		"\r\n"+
		"01.0508,Taxidermy.,99-9999,NO MATCH\r\n"+
		"99.9999,NO MATCH,55-3016,Infantry\r\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &labor.Crosswalk{Vintage: "CIP 2030 - SOC 2028",
		CIPs: map[string]labor.CIP{
			"11.0701": {CIPCode: "11.0701", Title: "Computer Science.", SOCCodes: []string{"15-1221", "15-1252"}},
			"01.0508": {CIPCode: "01.0508", Title: "Taxidermy.", SOCCodes: []string{}},
		},
		Names: map[string]string{"15-1252": "Software Developers", "15-1221": "Research, Computer", "55-3016": "Infantry"}}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadProjections(t *testing.T) {
	projections, err := ReadProjections(strings.NewReader(projectionsHead+
		"  Top executives,11-1000,Summary,4.4,333.1,—\n"+
		"    Chief executives,11-1011,Line item,-4.3,22.2,Bachelor's degree\n"+
		"    Soldiers,55-1011,Line item,—,—,—\n"+
		"Footnotes:,,,,,\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	growth, education, source := -0.043, "Bachelor's degree", "BLS Employment Projections, 2024-34, United States"
	want := []labor.Projection{
		{SOCCode: "11-1011", Name: "Chief executives", ProjectedGrowth: &growth, AnnualOpenings: num(22200),
			TypicalEducation: &education, Vintage: "2024-34", Source: source},
		{SOCCode: "55-1011", Name: "Soldiers", Vintage: "2024-34", Source: source},
	}
	if diff := cmp.Diff(want, projections); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadRegions(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		want []labor.Region
	}{
		"counties": {cbsaHeader + "38900,\"Portland, OR-WA\",41\n10180,\"Abilene, TX\",48\n38900,\"Portland, " +
			"OR-WA\",53\n38900,\"Portland, OR-WA\",41\n",
			[]labor.Region{
				{Area: labor.Area{RegionType: labor.MSA, Region: "10180"}, Name: "Abilene, TX", State: "48"}, {Area: labor.Area{
					RegionType: labor.MSA, Region: "38900",
				}, Name: "Portland, OR-WA"},
			}},
		"states": {stateHeader + "Washington,WA,53\nCalifornia,CA,6\n",
			[]labor.Region{
				{Area: labor.Area{RegionType: labor.State, Region: "06"}, Name: "California"}, {Area: labor.Area{
					RegionType: labor.State, Region: "53",
				}, Name: "Washington"},
			}},
	} {
		regions, err := ReadRegions(strings.NewReader(c.file), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		if diff := cmp.Diff(c.want, regions); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// readers returns each reader under one shape; what it gives is nil on an error.
var readers = map[string]func(io.Reader) (any, error){
	"crosswalk":   func(r io.Reader) (any, error) { c, err := ReadCrosswalk(r, nil); return orNil(c != nil, c), err },
	"wages":       func(r io.Reader) (any, error) { f, err := ReadWages(r, "", nil); return orNil(f != nil, f), err },
	"projections": func(r io.Reader) (any, error) { p, err := ReadProjections(r, nil); return orNil(p != nil, p), err },
	"regions":     func(r io.Reader) (any, error) { g, err := ReadRegions(r, nil); return orNil(g != nil, g), err },
}

func orNil(given bool, v any) any {
	if given {
		return v
	}
	return nil
}

func TestMalformedFiles(t *testing.T) {
	good := "99|U.S.|1|US|000000|cross-industry|11-1011|Chief Executives|detailed|211850|99.24|1|2|3|4|5||"
	wages := func(old, new string) string {
		return string(workbook(t, sheet{
			"national_M2024_dl", oews(good, strings.Replace(strings.Replace(good, "11-1011", "11-1021", 1), old, new, 1)),
		}))
	}
	washington := "ID,Year,Area code,Area name,SOC code,Occupational title,Employment,Average wage,25th Percentile,50th " +
		"Percentile,75th Percentile,Annual wage\n"
	newYork := "Area Type, Area, Area Name, Standard Occupational Code, Occupational Title, Employment,Mean Wage, " +
		"Median Wage\n"
	for name, c := range map[string]struct {
		reader, file string
		want         FileError // the reason by what it must contain
	}{
		"empty": {"crosswalk", "", FileError{Reason: "empty"}},
		"other csv": {
			"crosswalk", "a,b\n1,2\n", FileError{Line: 1, Reason: "no column CIPCode, CIPTitle, SOCCode, SOCTitle"},
		},
		"header only": {"crosswalk", crosswalkHeader, FileError{Line: 1, Reason: "no program"}},
		"short line": {
			"crosswalk", crosswalkHeader + "11.0701,Computer Science.,15-1252\r\n", FileError{
				Line: 2, Reason: "3 cells below a header of 4",
			},
		},
		"open quote": {
			"crosswalk", crosswalkHeader + "11.0701,\"Computer Science.,15-1252,x\r\n", FileError{
				Line: 2, Reason: "byte 38 of the line",
			},
		},
		"cip as a number": {
			"crosswalk", crosswalkHeader + "11.0701,C,15-1252,S\r\n1.05,Taxidermy,99-9999,NO MATCH\r\n", FileError{
				Line: 3, Column: 1, Reason: `CIPCode: "1.05" is not a code like 11.0701`,
			},
		},
		"soc": {
			"crosswalk", crosswalkHeader + "11.0701,C,15-1252.00,S\r\n", FileError{Line: 2, Column: 3, Reason: "SOCCode"},
		},
		"no title": {
			"crosswalk", crosswalkHeader + "11.0701, ,15-1252,S\r\n", FileError{Line: 2, Column: 2, Reason: "CIPTitle: empty"},
		},
		"not utf-8": {
			"crosswalk", crosswalkHeader + "11.0701,C\xe9,15-1252,S\r\n", FileError{Line: 2, Column: 2, Reason: "not UTF-8"},
		},
		"two titles": {
			"crosswalk", crosswalkHeader + "11.0701,C,15-1252,S\r\n11.0701,D,15-1221,T\r\n", FileError{
				Line: 3, Column: 2, Reason: "is named",
			},
		},
		"two names": {
			"crosswalk", crosswalkHeader + "11.0701,C,15-1252,S\r\n11.0702,D,15-1252,T\r\n", FileError{
				Line: 3, Column: 4, Reason: "is named",
			},
		},
		"match and none": {
			"crosswalk", crosswalkHeader + "11.0701,C,15-1252,S\r\n11.0701,C,99-9999,NO MATCH\r\n", FileError{
				Line: 3, Column: 3, Reason: "NO MATCH",
			},
		},
		"none and match": {
			"crosswalk", crosswalkHeader + "11.0701,C,99-9999,NO MATCH\r\n11.0701,C,15-1252,S\r\n", FileError{
				Line: 3, Column: 3, Reason: "NO MATCH",
			},
		},
		"no workbook": {"crosswalk", "PK\x03\x04 and then nothing", FileError{Reason: "not a valid workbook"}},
		"broken sheet": {"crosswalk", string(repack(t, workbook(t, sheet{"CIP-SOC", nil}), []byte(`<worksheet><sheetData>
			<row r="1"><c r="A1" t="str"><v>CIP2020Code</v></c><c r="B1" t="str"><v>CIP2020Title</v></c><c r="C1" t="str"><v>SOC2018Code</v></c><c r="D1" t="str"><v>SOC2018Title</v></c></row>
			<row r="2"><c r="A2" t="str"><v>11.0701</v></c><c r="B2" t="str"><v>C</v></c><c r="C2" t="str"><v>15-1252</v></c><c r="D2" t="str"><v>S</v></c></row>
			<row r="3"><c </row></sheetData></worksheet>`))), FileError{Reason: "not a valid workbook: xl/worksheets/sheet1.xml: XML syntax error on line 4"}},
		"zip of no sheets": {"wages", string(otherZip(t)), FileError{Reason: "not a valid workbook"}},
		"wages as projections": {
			"projections", wages("x", "x"), FileError{Sheet: "national_M2024_dl", Line: 1, Reason: "no column title, code"},
		},
		"projections as wages": {"wages", projectionsHead, FileError{Line: 1, Reason: "no column AREA"}},
		"employment": {
			"wages", wages("|211850|", "|many|"), FileError{
				Sheet: "national_M2024_dl", Line: 3, Column: 10, Reason: `TOT_EMP: "many" is not a number`,
			},
		},
		"negative wage": {
			"wages", wages("|3|", "|-3|"), FileError{Sheet: "national_M2024_dl", Line: 3, Column: 14, Reason: "A_MEDIAN"},
		},
		"infinite wage": {
			"wages", wages("|3|", "|Inf|"), FileError{Sheet: "national_M2024_dl", Line: 3, Column: 14, Reason: "A_MEDIAN"},
		},
		"capped employment": {
			"wages", wages("|211850|", "|#|"), FileError{Sheet: "national_M2024_dl", Line: 3, Column: 10, Reason: "TOT_EMP"},
		},
		"hourly": {
			"wages", wages("|5||", "|5||maybe"), FileError{Sheet: "national_M2024_dl", Line: 3, Column: 18, Reason: "HOURLY"},
		},
		"occupation": {
			"wages", wages("11-1021", "111021"), FileError{Sheet: "national_M2024_dl", Line: 3, Column: 7, Reason: "OCC_CODE"},
		},
		"area type": {
			"wages", wages("U.S.|1|", "U.S.|nation|"), FileError{
				Sheet: "national_M2024_dl", Line: 3, Column: 3, Reason: "AREA_TYPE",
			},
		},
		"area": {
			"wages", wages("99|", "US|"), FileError{Sheet: "national_M2024_dl", Line: 3, Column: 1, Reason: "AREA"},
		},
		"state": {
			"wages", wages("99|U.S.|1|", "42660|Seattle|2|"), FileError{
				Sheet: "national_M2024_dl", Line: 3, Column: 1, Reason: "is not a state",
			},
		},
		"metro": {
			"wages", wages("99|U.S.|1|", "53|Washington|4|"), FileError{
				Sheet: "national_M2024_dl", Line: 3, Column: 1, Reason: "is not a metropolitan area",
			},
		},
		"twice": {
			"wages", wages("11-1021", "11-1011"), FileError{Sheet: "national_M2024_dl", Line: 3, Reason: "is a duplicate of line 2"},
		},
		"no detail": {
			"wages", string(workbook(t, sheet{"x", oews()})), FileError{Sheet: "x", Line: 1, Reason: "no detailed occupation"},
		},
		"washington wage": {
			"wages", washington + "1,2022,000053,Washington,11-1011,Chief,10,1,2,3,x,5\n", FileError{
				Line: 2, Column: 11, Reason: "75th Percentile",
			},
		},
		"washington jobs": {
			"wages", washington + "1,2022,000053,Washington,11-1011,Chief,ten,1,2,3,4,5\n", FileError{
				Line: 2, Column: 7, Reason: "Employment",
			},
		},
		"washington area": {
			"wages", washington + "1,2022,WA,Washington,11-1011,Chief,10,1,2,3,4,5\n", FileError{
				Line: 2, Column: 3, Reason: "Area code",
			},
		},
		"two years": {
			"wages", washington + "1,2022,000053,W,11-1011,Chief,10,1,2,3,4,5\n1,2023,000053,W,11-1021,Chief,10,1,2,3,4,5\n",
			FileError{Line: 3, Reason: "a second period"},
		},
		"no year": {
			"wages", washington + "1,,000053,Washington,11-1011,Chief,10,1,2,3,4,5\n", FileError{
				Line: 2, Column: 2, Reason: "Year",
			},
		},
		"new york wage": {
			"wages", newYork + "1,36,New York,11-1011,Chief,10,1,x\n", FileError{Line: 2, Column: 8, Reason: "Median Wage"},
		},
		"new york area": {
			"wages", newYork + "1,NY,New York,11-1011,Chief,10,1,2\n", FileError{Line: 2, Column: 2, Reason: "Area"},
		},
		"new york type": {
			"wages", newYork + "state,36,New York,11-1011,Chief,10,1,2\n", FileError{Line: 2, Column: 1, Reason: "Area Type"},
		},
		"growth": {
			"projections", projectionsHead + "Chief,11-1011,Line item,x,1,—\n", FileError{
				Line: 3, Column: 4, Reason: "growth",
			},
		},
		"openings": {
			"projections", projectionsHead + "Chief,11-1011,Line item,1,-1,—\n", FileError{
				Line: 3, Column: 5, Reason: "openings",
			},
		},
		"units": {
			"projections", strings.Replace(projectionsHead, "thousands", "jobs", 1) + "Chief,11-1011,Line item,1,1,—\n",
			FileError{Line: 1, Reason: "thousands"},
		},
		"period": {
			"projections", strings.Replace(projectionsHead, "openings, 2024–34", "openings,", 1) +
				"Chief,11-1011,Line item,1,1,—\n", FileError{Line: 2, Column: 5, Reason: "period"},
		},
		"projected twice": {
			"projections", projectionsHead + strings.Repeat("Chief,11-1011,Line item,1,1,—\n", 2), FileError{
				Line: 4, Column: 2, Reason: "is a duplicate",
			},
		},
		"projected code": {
			"projections", projectionsHead + "Chief,11-10,Line item,1,1,—\n", FileError{Line: 3, Column: 2, Reason: "code"},
		},
		"nothing projected": {
			"projections", projectionsHead + "Top,11-1000,Summary,1,1,—\n", FileError{Line: 3, Reason: "no line item"},
		},
		"other regions": {"regions", "code,name\n1,x\n", FileError{Line: 1, Reason: "no column cbsacode"}},
		"no regions":    {"regions", stateHeader, FileError{Line: 1, Reason: "no region"}},
		"cbsa":          {"regions", cbsaHeader + "3890,P,41\n", FileError{Line: 2, Column: 1, Reason: "cbsacode"}},
		"renamed":       {"regions", cbsaHeader + "38900,P,41\n38900,Q,41\n", FileError{Line: 3, Column: 2, Reason: "is named"}},
		"fips":          {"regions", stateHeader + "California,CA,CA\n", FileError{Line: 2, Column: 3, Reason: "fips"}},
		"state twice": {
			"regions", stateHeader + "California,CA,6\nCalifornia,CA,06\n", FileError{Line: 3, Column: 3, Reason: "is a duplicate"},
		},
		"nameless": {"regions", stateHeader + ",CA,6\n", FileError{Line: 2, Column: 1, Reason: "state_name: empty"}},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := readers[c.reader](strings.NewReader(c.file))
			if v != nil {
				t.Errorf("a part of the file was given: %v", v)
			}
			var got *FileError
			if !errors.As(err, &got) {
				t.Fatalf("error %v", err)
			}
			if got.Sheet != c.want.Sheet || got.Line != c.want.Line || got.Column != c.want.Column ||
				!strings.Contains(got.Reason, c.want.Reason) {
				t.Errorf("want %+v\n got %+v", c.want, *got)
			}
		})
	}
}

// otherZip is an archive, and no workbook.
func otherZip(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	if _, err := w.Create("readme.txt"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestFileErrorText(t *testing.T) {
	for want, err := range map[string]*FileError{
		`sheet "a", line 3, column 4: bad`: {"a", 3, 4, "bad"},
		"line 3: bad":                      {"", 3, 0, "bad"},
		"bad":                              {Reason: "bad"},
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err.Error(), want)
		}
	}
}

// A workbook answers as the csv of its sheet does.
func TestWorkbookIsCSV(t *testing.T) {
	lines := [][]any{cells("AREA|AREA_TITLE|AREA_TYPE|OCC_CODE|OCC_TITLE|O_GROUP|TOT_EMP|A_PCT10|A_PCT25|A_MEDIAN|A_PCT75|A_PCT90|HOURLY"),
		cells("53|Washington|2|11-1011|Chief Executives|detailed|10|1|2|3|4|#|"), {},
		cells("53|Washington|2|11-1021|Managers|detailed|**|*|*|*|*|*|")}
	var text strings.Builder
	for _, line := range lines {
		for i, cell := range line {
			text.WriteString(strings.Repeat(",", min(i, 1)) + cell.(string))
		}
		text.WriteString("\n")
	}
	fromXLSX, err := ReadWages(bytes.NewReader(workbook(t, sheet{"x", lines})), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	fromCSV, err := ReadWages(strings.NewReader(text.String()), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fromCSV, fromXLSX); diff != "" {
		t.Errorf("(-csv +xlsx):\n%s", diff)
	}
}

func TestProgressGrows(t *testing.T) {
	var file strings.Builder
	file.WriteString(crosswalkHeader)
	for i := range 4999 {
		fmt.Fprintf(&file, "11.%04d,C,15-1252,S\r\n", i)
	}
	var dones []int
	_, err := ReadCrosswalk(strings.NewReader(file.String()), func(done, total int) {
		dones = append(dones, done)
		if total != 5000 {
			t.Errorf("total %d", total)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1000, 2000, 3000, 4000, 5000, 5000}, dones); diff != "" {
		t.Error(diff)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		crosswalkHeader + "11.0701,Computer Science.,15-1252,Software Developers\r\n01.0508,Taxidermy.,99-9999,NO MATCH\r\n",
		projectionsHead + "Chief,11-1011,Line item,-4.3,22.2,Bachelor's degree\n",
		cbsaHeader + "38900,\"Portland, OR-WA\",41\n",
		stateHeader + "California,CA,6\n",
		"AREA,AREA_TITLE,AREA_TYPE,OCC_CODE,OCC_TITLE,O_GROUP,TOT_EMP,A_PCT10,A_PCT25,A_MEDIAN,A_PCT75,A_PCT90,HOURLY\n06,California,2,11-1011,Chief,detailed,1,2,3,4,5,#,TRUE\n",
		"Year,Area code,Area name,SOC code,Occupational title,Employment,25th Percentile,50th Percentile,75th " +
			"Percentile,Annual wage\n2022,042660,\"Seattle, WA\",11-1011,Chief,1,2,3,4,5\n",
		"Area Type, Area, Area Name, Standard Occupational Code, Occupational Title, Employment,Median Wage\n1,36,New " +
			"York,11-1011,Chief,1,2\n",
		"\xef\xbb\xbf", "PK\x03\x04", string(otherZip(f)),
	} {
		f.Add([]byte(seed))
	}
	f.Add(workbook(f, sheet{
		"state_M2024_dl", oews("06|California|2|CA|000000|cross-industry|11-1011|Chief|detailed|1|2|3|4|5|6|#||"),
	}))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range slices.Sorted(maps.Keys(readers)) {
			v, err := readers[name](bytes.NewReader(data))
			if (v == nil) != (err != nil) {
				t.Fatalf("%s gives %v and error %v", name, v, err)
			}
			switch v := v.(type) {
			case *labor.Crosswalk:
				for code, cip := range v.CIPs {
					if !labor.IsCIP(code) || code == noCIP || cip.SOCCodes == nil || slices.Contains(cip.SOCCodes, noSOC) ||
						!slices.IsSorted(cip.SOCCodes) {
						t.Fatalf("%+v", cip)
					}
				}
			case *labor.WageFile:
				known := map[labor.Area]bool{}
				for _, r := range v.Regions {
					known[r.Area] = true
				}
				for _, w := range v.Wages {
					for _, f := range w.Figures() {
						if why, marked := w.Reasons[f.Name]; (*f.Value == nil) != (marked && why != catalog.TopCoded) {
							t.Fatalf("%s is %v for reason %q", f.Name, *f.Value, why)
						}
					}
					if !known[w.Area] || !labor.IsSOC(w.SOCCode) || w.Vintage == "" {
						t.Fatalf("%+v", w)
					}
				}
			case []labor.Region:
				for _, r := range v {
					if area, err := labor.ParseRegion(string(r.RegionType), r.Region); err != nil || area != r.Area || r.Name == "" {
						t.Fatalf("%+v: %v", r, err)
					}
				}
			}
		}
	})
}

// repack returns a workbook with another first sheet.
func repack(t testing.TB, data, sheet []byte) []byte {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, file := range r.File {
		part, err := w.Create(file.Name)
		if err != nil {
			t.Fatal(err)
		}
		if file.Name == "xl/worksheets/sheet1.xml" {
			part.Write(sheet)
			continue
		}
		old, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(part, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// FuzzReadSheet hands the readers the XML of a sheet, which random bytes of an
// archive never reach.
func FuzzReadSheet(f *testing.F) {
	base := workbook(f, sheet{"CIP-SOC", [][]any{{"CIP2020Code", "CIP2020Title", "SOC2018Code", "SOC2018Title"}}})
	for _, rows := range []string{
		`<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c><c r="D1" t="s"><v>3</v></c></row>` +
			`<row r="2"><c r="A2" t="inlineStr"><is><t>11.0701</t></is></c><c r="B2" t="str"><v>C</v></c><c r="C2" t="str"><v>15-1252</v></c><c r="D2" t="str"><v>S</v></c></row>`,
		`<row r="7"><c r="XFD7"><v>1</v></c></row>`,
		`<row><c t="b"><v>1</v></c><c t="e"><v>#N/A</v></c><c t="s"><v>99</v></c></row>`, `<row r="0"/>`, ``, `<row`,
	} {
		f.Add([]byte(`<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>` + rows + `</sheetData></worksheet>`))
	}
	f.Fuzz(func(t *testing.T, xml []byte) {
		data := repack(t, base, xml)
		for _, name := range slices.Sorted(maps.Keys(readers)) {
			if v, err := readers[name](bytes.NewReader(data)); (v == nil) != (err != nil) {
				t.Fatalf("%s gives %v and error %v", name, v, err)
			}
		}
	})
}
