package rest

import (
	"context"
	"io"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
)

type readReportInput struct {
	viewInput
	Format string `query:"format" doc:"Overrides Accept: csv is the view's table, html a page to read or print"`
}

type viewInput struct {
	View string `query:"view" enum:"alignment,coverage,gap,market" doc:"View to show instead of the one in the report's settings"`
}

type sharedReportInput struct {
	viewInput
	tokenInput
}

func (s *Server) bindReports() {
	s.bindMaps()
	pages[*catalog.Report](s, "listReports")
	write(s, "createReport", createReport)
	read(s, "getReport", readReport)
	read(s, "getReportTable", showReport)
	read(s, "getReportPage", showReport)
	link[*catalog.Report](s, "createReportLink", "")
	read(s, "getSharedReport", func(ctx context.Context, c *call, in *sharedReportInput) (anything, error) {
		if err := follow[*catalog.Report](ctx, c, in.Token); err != nil {
			return anything{}, err
		}
		return showReport(ctx, c, &in.viewInput)
	})
	erase(s, "deleteReport", service.Delete[*catalog.Report])
}

func createReport(
	ctx context.Context, c *call, in *body[catalog.ReportInput],
) (*alignment.Result, *catalog.Change, error) {
	report, change, err := c.actor().CreateReport(ctx, in.Body)
	if err != nil {
		return nil, nil, err
	}

	result := report.Result()
	return &result, change, nil
}

func readReport(ctx context.Context, c *call, in *readReportInput) (*alignment.Result, error) {
	report, err := loadReport(ctx, c, in.View)
	if err != nil {
		return nil, err
	}
	if write := reportFormats[c.media(in.Format)]; write != nil {
		return nil, write(c, report, func(view string) string { return c.path + "/page?view=" + view })
	}
	result := report.Result()
	return &result, nil
}

// showReport writes a view of a report in the operation's only format. Links to the other views differ only in the
// parameter view.
func showReport(ctx context.Context, c *call, in *viewInput) (anything, error) {
	report, err := loadReport(ctx, c, in.View)
	if err != nil {
		return anything{}, err
	}
	return anything{}, reportFormats[c.op.Gives[0]](c, report, func(view string) string {
		query := c.request.URL.Query()
		query.Set("view", view)
		return "?" + query.Encode()
	})
}

// loadReport loads the report that the path names, for the market view with the areas that have figures.
func loadReport(ctx context.Context, c *call, view string) (alignment.Report, error) {
	report, err := c.actor().Report(ctx, c.recordID(), view)
	if err != nil || report.Record.Settings.View != alignment.MarketView {
		return report, err
	}
	tables, imported, err := c.Market.Tables(ctx)
	if err == nil {
		report.Surveyed = tables.Surveyed(imported)
	}
	return report, err
}

// reportFormats has the writers of the media types other than JSON. address returns the address of a view.
var reportFormats = map[string]func(c *call, report alignment.Report, address func(view string) string) error{
	api.CSV: func(c *call, report alignment.Report, _ func(string) string) error {
		return c.render(api.CSV, func(w io.Writer) (string, error) { return "", report.WriteCSV(w) })
	},
	api.HTML: func(c *call, report alignment.Report, address func(string) string) error {
		m, err := c.masthead(c.request.Context(), report.Record.ID)
		if err != nil {
			return err
		}
		return c.render(api.HTML, func(w io.Writer) (string, error) { return c.Pages.Report(w, m, report, address) })
	},
}
