package rest

import (
	"context"
	"maps"
	"slices"
	"strings"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

type articulationInput struct {
	ArticulationID string `path:"articulationId"`
}

type readArticulationInput struct {
	articulationInput
	Format string `query:"format" enum:"json,html" doc:"instead of Accept: html is a page to read, print and sign"`
}

type sharedArticulationInput struct {
	articulationInput
	tokenInput
}

type createArticulationLinkInput struct {
	articulationInput
	Body struct{ catalog.LinkInput }
}

type listArticulationsInput struct {
	pageInput
	Institution string                     `query:"institution" minLength:"1" doc:"only those of the institution with this name or code, in any spelling"`
	SendingCode string                     `query:"sendingCode" minLength:"1" doc:"only those with this code among their sending courses, in any spelling"`
	CourseID    string                     `query:"courseId" minLength:"1" doc:"only those that grant this course"`
	Status      catalog.ArticulationStatus `query:"status" enum:"DRAFT,IN_REVIEW,APPROVED,REJECTED" doc:"only those with this status"`
	AsOf        string                     `query:"asOf" format:"date" doc:"only the approved ones that are in force on this day"`
	Published   *bool                      `query:"published" doc:"only those that are, or are not, published"`
}

type createArticulationInput struct {
	Body struct{ catalog.ArticulationInput }
}

type updateArticulationInput struct {
	articulationInput
	Body struct {
		patch
		catalog.ArticulationInput
	}
}

type moveArticulationInput struct {
	articulationInput
	Body struct{ catalog.MoveInput }
}

type lookupInput struct {
	Institution string   `query:"institution" required:"true" minLength:"1" doc:"name or code of the institution, in any spelling"`
	Codes       string   `query:"codes" required:"true" minLength:"1" doc:"1 to 50 codes of courses, in any spelling, separated by commas"`
	AsOf        string   `query:"asOf" format:"date" doc:"the day that counts; today where nothing is said"`
	ProgramID   string   `query:"programId" minLength:"1" doc:"also what is for this program; without it only what is for all programs"`
	Include     []string `query:"include" enum:"trace" doc:"trace adds why each uncovered code is uncovered"`
}

// Lookup is what is granted for courses of another institution.
type Lookup struct {
	Data      []catalog.Granted        `json:"data" doc:"What is granted, in the order of precedence"`
	Uncovered []string                 `json:"uncovered" doc:"the codes for which nothing is decided, as they were asked for and in that order"`
	Trace     *[]catalog.UncoveredCode `json:"trace,omitempty" doc:"with include=trace: for each uncovered code what was considered"`
}

// History is the moves of an articulation, the oldest first.
type History struct {
	Data []catalog.Move `json:"data" doc:"The moves, the oldest first"`
}

func (s *Server) bindArticulations() {
	read(s, "listArticulations", func(ctx context.Context, c *call, in *listArticulationsInput) (Page[*catalog.Articulation], error) {
		articulations, total, err := c.Store.Articulations(ctx, c.org, catalog.ArticulationFilter{
			Institution: in.Institution, SendingCode: in.SendingCode, CourseID: in.CourseID, Status: in.Status, Published: in.Published, AsOf: in.AsOf,
		}, in.Offset, in.Limit)
		return page(c, in.pageInput, articulations, total), err
	})
	read(s, "getArticulation", func(ctx context.Context, c *call, in *readArticulationInput) (*catalog.Articulation, error) {
		if c.media(in.Format) == api.HTML {
			_, err := c.articulationPage(ctx, in.ArticulationID)
			return nil, err
		}
		return c.Store.Articulation(ctx, c.org, in.ArticulationID, c.strong)
	})
	read(s, "getArticulationPage", func(ctx context.Context, c *call, in *articulationInput) (anything, error) {
		return c.articulationPage(ctx, in.ArticulationID)
	})
	write(s, "createArticulationLink", func(ctx context.Context, c *call, in *createArticulationLinkInput) (*catalog.LinkedPage, *catalog.Change, error) {
		a, err := c.Store.Articulation(ctx, c.org, in.ArticulationID, c.strong)
		if err != nil {
			return nil, nil, err
		}
		return c.linkTo(a, in.Body.LinkInput)
	})
	read(s, "getSharedArticulation", func(ctx context.Context, c *call, in *sharedArticulationInput) (anything, error) {
		if err := c.follow(ctx, catalog.ArticulationKind, in.ArticulationID, in.Token); err != nil {
			return anything{}, err
		}
		return c.articulationPage(ctx, in.ArticulationID)
	})
	write(s, "createArticulation", createArticulation)
	write(s, "updateArticulation", updateArticulation)
	write(s, "deleteArticulation", func(ctx context.Context, c *call, in *articulationInput) (none, *catalog.Change, error) {
		return deleteListed(ctx, c, catalog.ArticulationKind, func(ctx context.Context) (*catalog.Articulation, error) {
			a, err := c.Store.Articulation(ctx, c.org, in.ArticulationID, true)
			if err == nil {
				err = a.CheckDelete()
			}
			return a, err
		})
	})
	write(s, "moveArticulation", moveArticulation)
	read(s, "listArticulationMoves", func(ctx context.Context, c *call, in *articulationInput) (*History, error) {
		_, moves, err := c.articulationMoves(ctx, in.ArticulationID)
		return &History{moves}, err
	})
	read(s, "lookupArticulations", lookupArticulations)
	read(s, "listArticulationIssues", listArticulationIssues)
}

// articulationMoves loads an articulation with its history.
func (c *call) articulationMoves(ctx context.Context, id string) (*catalog.Articulation, []catalog.Move, error) {
	return parallel(ctx, func(ctx context.Context) (*catalog.Articulation, error) {
		return c.Store.Articulation(ctx, c.org, id, c.strong)
	}, func(ctx context.Context) ([]catalog.Move, error) {
		return c.Store.Moves(ctx, c.org, id)
	})
}

// articulationLookups returns the look-ups with what an articulation's input names.
func (c *call) articulationLookups(ctx context.Context, in catalog.ArticulationInput) (catalog.Lookups, error) {
	l := c.lookups()
	courses, transferCourses, programs, articulations := in.Names()
	err := inParallel(ctx, func(ctx context.Context) (err error) {
		l.Courses, err = c.Store.CoursesByID(ctx, c.org, courses, true)
		return err
	}, func(ctx context.Context) (err error) {
		l.TransferCourses, _, err = c.Store.TransferCoursesByID(ctx, c.org, transferCourses)
		return err
	}, func(ctx context.Context) (err error) {
		l.Programs, err = c.Store.ProgramsByID(ctx, c.org, programs, true)
		return err
	}, func(ctx context.Context) (err error) {
		l.Articulations, err = c.Store.ArticulationsByID(ctx, c.org, articulations, true)
		return err
	})
	return l, err
}

func createArticulation(ctx context.Context, c *call, in *createArticulationInput) (*catalog.Articulation, *catalog.Change, error) {
	l, dir, err := parallel(ctx, func(ctx context.Context) (catalog.Lookups, error) {
		return c.articulationLookups(ctx, in.Body.ArticulationInput)
	}, func(ctx context.Context) (*catalog.Directory, error) {
		return c.Store.Directory(ctx, c.org, catalog.ArticulationKind)
	})
	a := &catalog.Articulation{}
	if err == nil {
		err = catalog.Apply(in.Body.ArticulationInput, a, l)
	}
	if err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	change.Add(a, c.IDs, dir, c.org, c.Now())
	c.created(a)
	return a, &change, nil
}

func updateArticulation(ctx context.Context, c *call, in *updateArticulationInput) (*catalog.Articulation, *catalog.Change, error) {
	a, l, err := parallel(ctx, func(ctx context.Context) (*catalog.Articulation, error) {
		return c.Store.Articulation(ctx, c.org, in.ArticulationID, true)
	}, func(ctx context.Context) (catalog.Lookups, error) {
		return c.articulationLookups(ctx, in.Body.ArticulationInput)
	})
	if err != nil {
		return nil, nil, err
	}
	before := *a
	if err := in.Body.Revise(a, l); err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	catalog.ReplaceChanged(&change, before, a, c.now)
	if a.Status == catalog.ArticulationApproved && before.Period() != a.Period() {
		err = ExtendApproval(ctx, c.Store, a, &change, c.now)
	}
	return a, &change, err
}

func moveArticulation(ctx context.Context, c *call, in *moveArticulationInput) (*catalog.Articulation, *catalog.Change, error) {
	a, err := c.Store.Articulation(ctx, c.org, in.ArticulationID, true)
	if err != nil {
		return nil, nil, err
	}
	before := *a
	move, err := in.Body.Apply(a, c.caller.KeyID, c.lookups(), c.now)
	if err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	if move.To == catalog.ArticulationApproved {
		evidence := func(ctx context.Context, granted GrantedCourses) (*catalog.DecisionEvidence, error) {
			sides, err := c.sidesOf(ctx, a, granted)
			if err != nil {
				return nil, err
			}
			return c.evidence(ctx, sides)
		}
		if err := Approve(ctx, c.Store, a, move, evidence, &change); err != nil {
			return nil, nil, err
		}
	}
	catalog.ReplaceChanged(&change, before, a, c.now)
	if move.To == catalog.ArticulationApproved || move.To == catalog.ArticulationRejected {
		change.Happened(catalog.ArticulationDecided, a)
	}
	change.Moves = append(change.Moves, catalog.ArticulationMove{Articulation: a, Move: move})
	return a, &change, nil
}

// maxLookupCodes is how many codes one look-up asks for.
const maxLookupCodes = 50

func lookupArticulations(ctx context.Context, c *call, in *lookupInput) (*Lookup, error) {
	query := catalog.ArticulationQuery{Institution: in.Institution, AsOf: in.AsOf, ProgramID: in.ProgramID}
	if query.AsOf == "" {
		query.AsOf = catalog.DateOf(c.now)
	}
	for code := range strings.SplitSeq(in.Codes, ",") {
		code = strings.TrimSpace(code)
		if catalog.Normalized(code) == "" {
			return nil, catalog.Errorf(catalog.InvalidParameter, "codes must be codes of courses, separated by commas.")
		}
		query.Codes = append(query.Codes, code)
	}
	if len(query.Codes) > maxLookupCodes {
		return nil, catalog.Errorf(catalog.InvalidParameter, "codes must be at most %d.", maxLookupCodes)
	}
	found, err := c.decisions(ctx, catalog.LookupKeys(in.Institution, query.Codes))
	if err != nil {
		return nil, err
	}
	var out Lookup
	var why []catalog.UncoveredCode
	out.Data, out.Uncovered, why = query.Lookup(found.all)
	if len(in.Include) > 0 {
		out.Trace = &why
	}
	return &out, nil
}

// decisions are articulations by the keys that lead to them.
type decisions struct {
	all   []*catalog.Articulation // in creation order
	under map[catalog.ApprovedKey][]*catalog.Articulation
}

// decisions loads the articulations to which the keys lead.
func (c *call) decisions(ctx context.Context, keys []catalog.ApprovedKey) (decisions, error) {
	d := decisions{under: map[catalog.ApprovedKey][]*catalog.Articulation{}}
	approved, err := c.Store.Approved(ctx, c.org, keys)
	if err != nil {
		return d, err
	}
	numbers := map[int]bool{}
	for _, a := range approved {
		for seq := range a.Periods {
			numbers[seq] = true
		}
	}
	if d.all, err = c.Store.ArticulationsByNumber(ctx, c.org, slices.Collect(maps.Keys(numbers))); err != nil {
		return d, err
	}
	at := map[int]*catalog.Articulation{}
	for _, a := range d.all {
		seq, _ := catalog.Sequence(catalog.ArticulationKind, a.ID)
		at[seq] = a
	}
	for _, a := range approved {
		for seq := range a.Periods {
			if found := at[seq]; found != nil {
				d.under[a.Key] = append(d.under[a.Key], found)
			}
		}
	}
	return d, nil
}

// of lists the articulations to which some of the keys lead; one may stand there twice.
func (d decisions) of(keys []catalog.ApprovedKey) (some []*catalog.Articulation) {
	for _, key := range keys {
		some = append(some, d.under[key]...)
	}
	return some
}
