package rest

import (
	"context"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/search"
)

// Market is the loaded labor market data.
type Market interface {
	labor.Source
	// Regions lists the regions of a type, or all regions if it is empty.
	Regions(ctx context.Context, regionType labor.RegionType) ([]labor.Region, error)
	// Tables returns the current tables, and the areas whose wages were imported, which they lack.
	Tables(ctx context.Context) (*labor.Tables, []labor.Area, error)
}

type marketInput struct {
	CIPCodes   string `query:"cipCodes" required:"true" pattern:"^\\d{2}\\.\\d{4}(,\\d{2}\\.\\d{4}){0,24}$" doc:"1 to 25 CIP codes (NN.NNNN), separated by commas"`
	RegionType string `query:"regionType" default:"national" enum:"national,state,msa"`
	Region     string `query:"region" pattern:"^(US|\\d{1,5})?$" doc:"FIPS code of a state or CBSA code; required for state and msa"`
}

type wordsInput struct {
	pageInput
	Query string `query:"query" minLength:"1" maxLength:"100" doc:"Words, each of which must begin a word of the name or of the code; all by code when absent"`
}

type regionsInput struct {
	RegionType string `query:"regionType" enum:"national,state,msa"`
}

// RegionList lists regions.
type RegionList struct {
	Data []Region `json:"data" doc:"Regions with labor market figures"`
}

// Region is one region.
type Region struct {
	RegionType labor.RegionType `json:"regionType" enum:"national,state,msa"`
	Region     string           `json:"region"`
	Name       string           `json:"name" doc:"Name of the region"`
}

func (s *Server) bindLabor() {
	read(s, "getLaborMarket", func(ctx context.Context, c *call, in *marketInput) (labor.Answer, error) {
		cips, err := labor.ParseCIPs(in.CIPCodes)
		if err != nil {
			return labor.Answer{}, err
		}
		area, err := labor.ParseRegion(in.RegionType, in.Region)
		if err != nil {
			return labor.Answer{}, err
		}
		return labor.Lookup(ctx, c.Market, labor.Query{CIPCodes: cips, Area: area})
	})
	read(s, "listOccupations", func(ctx context.Context, c *call, in *wordsInput) (Page[labor.NamedOccupation], error) {
		return searched(ctx, c, in, (*labor.Tables).Occupations, func(o labor.NamedOccupation) search.Entry {
			return search.NewEntry(o.SOCCode, o.SOCCode, o.Name)
		})
	})
	read(s, "listCIPCodes", func(ctx context.Context, c *call, in *wordsInput) (Page[labor.CIP], error) {
		return searched(ctx, c, in, (*labor.Tables).CIPs, func(p labor.CIP) search.Entry {
			return search.NewEntry(p.CIPCode, p.CIPCode, p.Title)
		})
	})
	read(s, "listRegions", func(ctx context.Context, c *call, in *regionsInput) (RegionList, error) {
		regions, err := c.Market.Regions(ctx, labor.RegionType(in.RegionType))
		list := RegionList{Data: make([]Region, len(regions))}
		for i, r := range regions {
			list.Data[i] = Region{r.RegionType, r.Area.Region, r.Name}
		}
		return list, err
	})
}

// searched returns a page of a table's rows, all by code or those that match the query.
func searched[T any](
	ctx context.Context, c *call, in *wordsInput, rows func(*labor.Tables) []T, entry func(T) search.Entry,
) (Page[T], error) {
	tables, _, err := c.Market.Tables(ctx)
	if err != nil {
		return Page[T]{}, err
	}
	found := rows(tables)
	if in.Query != "" {
		byCode := make(map[string]T, len(found))
		entries := make([]search.Entry, len(found))
		for i, row := range found {
			entries[i] = entry(row)
			byCode[entries[i].ID] = row
		}
		search.Sort(entries)
		found = nil
		for _, e := range search.Parse(in.Query).Find(entries) {
			found = append(found, byCode[e.ID])
		}
	}
	return page(c, in.pageInput, catalog.PageOf(found, in.Offset, in.Limit), len(found)), nil
}
