package rest

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/danielgtaylor/huma/v2/negotiation"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// ServiceName is the contract's title.
const ServiceName = "Skills Curriculum Service"

// Version is the contract's version.
const Version = "1.0.0"

// sitePolicy lets the pages of GET /docs and GET /console load their script and stylesheet, and call this service and
// another origin.
func sitePolicy(other string) string {
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src " +
		strings.TrimSpace("'self' "+other) +
		"; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}

// ServiceInfo describes the service at its root path.
type ServiceInfo struct {
	Name    string       `json:"name" doc:"Name of the service"`
	Version string       `json:"version" doc:"Version of the contract"`
	Links   ServiceLinks `json:"links" doc:"Links to documentation"`
}

// ServiceLinks are paths of the service.
type ServiceLinks struct {
	Docs    string `json:"docs" doc:"Path of the reference and guides"`
	OpenAPI string `json:"openapi" doc:"Path of the OpenAPI document"`
}

func (s *Server) bindDocs() {
	read(s, "getServiceInfo", func(_ context.Context, c *call, _ *none) (*ServiceInfo, error) {
		accept := strings.Join(c.request.Header.Values("Accept"), ",")
		if negotiation.SelectQValue(accept, []string{api.JSON, api.HTML}) == api.HTML {
			c.location = api.BasePath + api.Of(c.op.Leads).Path
			c.rendered = &rendered{status: http.StatusFound}
		}
		return &ServiceInfo{ServiceName, Version, ServiceLinks{api.BasePath + api.Of("getDocs").Path,
			api.BasePath + api.Of("getOpenAPI").Path}}, nil
	})
	read(s, "getDocs", func(_ context.Context, c *call, _ *none) (anything, error) {
		return anything{}, c.page("index.html", sitePolicy(""))
	})
	read(s, "getConsole", func(_ context.Context, c *call, _ *none) (anything, error) {
		return anything{}, c.page("console.html", sitePolicy(s.Uploads))
	})
	read(s, "getDocsAsset", func(_ context.Context, c *call, _ *none) (anything, error) {
		// Its name contains its digest.
		return anything{}, c.file("assets/"+c.param("asset"), "public, max-age=31536000, immutable")
	})
}

var siteMedia = map[string]string{".html": api.HTML, ".js": api.JavaScript, ".css": api.CSS}

// page renders a page, which may do what the policy says.
func (c *call) page(name, policy string) error {
	err := c.file(name, "no-cache")
	if err == nil {
		c.rendered.policy = policy
	}
	return err
}

// file renders a file of the site.
func (c *call) file(name, cache string) error {
	if c.Site == nil || !fs.ValidPath(name) || strings.Count(name, "/") > 1 {
		return catalog.Errorf(catalog.NotFound, "The file does not exist.")
	}
	text, err := fs.ReadFile(c.Site, name)
	if errors.Is(err, fs.ErrNotExist) {
		return catalog.Errorf(catalog.NotFound, "The file does not exist.")
	}
	media := siteMedia[path.Ext(name)]
	c.rendered = &rendered{contentType: media + "; charset=utf-8", cache: cache, body: text}
	return err
}
