package rest

import (
	"context"

	"skillscurriculum/pkg/labor"
)

// Market is the loaded labor market data.
type Market interface {
	labor.Source
	// Regions lists the regions of a type, or all regions if it is empty.
	Regions(ctx context.Context, regionType labor.RegionType) ([]labor.Region, error)
}

type marketInput struct {
	CIPCodes   string `query:"cipCodes" required:"true" pattern:"^\\d{2}\\.\\d{4}(,\\d{2}\\.\\d{4}){0,24}$" doc:"1 to 25 CIP codes (NN.NNNN), separated by commas"`
	RegionType string `query:"regionType" default:"national" enum:"national,state,msa"`
	Region     string `query:"region" pattern:"^(US|\\d{1,5})?$" doc:"FIPS code of a state or CBSA code; required for state and msa"`
}

type regionsInput struct {
	RegionType string `query:"regionType" enum:"national,state,msa"`
}

// RegionList lists regions.
type RegionList struct {
	Data []RegionEntry `json:"data" doc:"Regions with labor market figures"`
}

// RegionEntry is one region.
type RegionEntry struct {
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
	read(s, "listRegions", func(ctx context.Context, c *call, in *regionsInput) (RegionList, error) {
		regions, err := c.Market.Regions(ctx, labor.RegionType(in.RegionType))
		list := RegionList{Data: make([]RegionEntry, len(regions))}
		for i, r := range regions {
			list.Data[i] = RegionEntry{r.RegionType, r.Area.Region, r.Name}
		}
		return list, err
	})
}
