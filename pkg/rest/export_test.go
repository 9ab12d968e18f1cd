package rest

import (
	"context"
	"slices"
	"time"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
)

// SaveWithoutHaste has changes that others are in the way of tried again by count alone,
// however slow the machine is.
func SaveWithoutHaste() { saveTime = time.Hour }

// NewOf makes a server of another contract, in which more binds what the contract
// has beyond the real one.
func NewOf(contract []api.Operation, more func(*Server)) *Server {
	return remade(&Server{}, contract, more)
}

func remade(s *Server, contract []api.Operation, more func(*Server)) *Server {
	bindings := bindings()
	programs := bindings[api.Programs]
	bindings[api.Programs] = func(s *Server) { programs(s); more(s) }
	return newServer(s, contract, bindings)
}

// Extend adds operations to a server that no contract has yet: a list where a member
// is deleted, a PUT that is compared with a record above it, and a page for a
// browser that needs no key.
func Extend(s *Server) *Server {
	extra := []api.Operation{
		{ID: "listProgramCourses", Method: "GET", Path: "/programs/{programId}/courses", Group: api.Programs, Cost: api.Cost{Base: 1}, Status: 200, Gives: []string{api.JSON}, Pages: true},
		{ID: "putProgramLabel", Method: "PUT", Path: "/programs/{programId}/labels/{label}", Group: api.Programs, Cost: api.Cost{Base: 2}, Status: 200, Access: api.Write,
			Accepts: []string{api.JSON}, Gives: []string{api.JSON}, IfMatch: "getProgram", ETag: true},
		{ID: "page", Method: "GET", Path: "/open/page", Group: api.Programs, Status: 200, Gives: []string{api.HTML}, ETag: true, Access: api.Public},
	}
	page := func(_ context.Context, c *call, _ *none) (anything, error) {
		c.rendered = &rendered{contentType: "text/html; charset=utf-8", policy: "default-src 'none'", body: []byte("<p>page</p>")}
		return anything{}, nil
	}
	type label struct {
		Body struct {
			Text string `json:"text" minLength:"1"`
		}
	}
	return remade(s, slices.Concat(api.Operations(), extra), func(s *Server) {
		read(s, "listProgramCourses", func(ctx context.Context, c *call, _ *none) (Page[string], error) {
			program, err := service.Get[*catalog.Program](ctx, c.Store, c.org, c.recordID(), c.strong)
			if err != nil {
				return Page[string]{}, err
			}
			return Page[string]{Data: program.CourseOrder}, nil
		})
		write(s, "putProgramLabel", func(ctx context.Context, c *call, in *label) (*catalog.Program, *catalog.Change, error) {
			program, err := service.Get[*catalog.Program](ctx, c.Store, c.org, c.recordID(), true)
			if err == nil {
				err = c.actor().FillPrograms(ctx, program)
			}
			if err != nil {
				return nil, nil, err
			}
			before := *program
			text := c.param("label") + ": " + in.Body.Text
			program.Description = &text
			change := &catalog.Change{}
			change.Replace(&before, program, c.now)
			return program, change, nil
		})
		read(s, "page", page)
	})
}
