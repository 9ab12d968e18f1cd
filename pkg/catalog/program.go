package catalog

import (
	"cmp"
	"fmt"
	"slices"
)

// Program is an ordered list of courses. CourseOrder has the ids of Courses in the same order; only CourseOrder is
// stored. DerivedSOCs are the sorted, distinct occupations of CIPCode by the loaded crosswalk.
type Program struct {
	Meta
	External
	Registered
	Name            string          `json:"name" doc:"Name of the program"`
	Description     *string         `json:"description" doc:"What the program is about"`
	Code            *string         `json:"code" doc:"Code of the program"`
	CIPCode         *string         `json:"cipCode" doc:"CIP code of the program of study, NN.NNNN, one that the loaded crosswalk knows"`
	Courses         []CourseProfile `json:"courses" doc:"The program's courses, in the order of courseOrder"`
	CourseOrder     []string        `json:"courseOrder" doc:"Ids of the program's courses, in the order of the curriculum"`
	DerivedSOCs     []string        `json:"derivedSocs" doc:"SOC codes, NN-NNNN, of the occupations that cipCode leads to, sorted"`
	CredentialIDs   []string        `json:"credentialIds" maxItems:"10" doc:"Credentials that completing the program leads to" extension:"true"`
	Webpage         *string         `json:"webpage" format:"uri" doc:"Page about the program: an https address without credentials" extension:"true"`
	LifecycleStatus string          `json:"lifecycleStatus" enum:"PROPOSED,ACTIVE,RETIRED" doc:"Stage of the program between proposal and retirement; ACTIVE by default" extension:"true"`
	MapSettings     *MapSettings    `json:"mapSettings" extension:"true" doc:"Lowest scores of marks in the curriculum map; null for the defaults, 0.3 and 0.6"`
}

// ProgramInput is the input for a program from a request or a file.
type ProgramInput struct {
	ExternalInput
	RegisteredInput
	Name            Optional[string]       `json:"name" minLength:"1" maxLength:"255"`
	Description     Optional[*string]      `json:"description,omitzero" maxLength:"10000"`
	Code            Optional[*string]      `json:"code,omitzero" maxLength:"50"`
	CIPCode         Optional[*string]      `json:"cipCode,omitzero" pattern:"^\\d{2}\\.\\d{4}$"`
	CredentialIDs   Optional[[]string]     `json:"credentialIds,omitzero" maxItems:"10" doc:"Credentials that completing the program leads to"`
	Webpage         Optional[*string]      `json:"webpage,omitzero" maxLength:"2000"`
	LifecycleStatus Optional[string]       `json:"lifecycleStatus,omitzero" enum:"PROPOSED,ACTIVE,RETIRED"`
	CourseOrder     Optional[[]string]     `json:"courseOrder,omitzero" maxItems:"200" doc:"Ids of the program's courses, in order; a PATCH names the same ones in another order"`
	MapSettings     Optional[*MapSettings] `json:"mapSettings,omitzero"`
}

// Apply sets the fields of the program. Its courses are looked up in l.Courses; if that is nil, they can only be
// reordered. Its occupations are those of its CIP code in l.Occupations.
func (in ProgramInput) Apply(p *Program, l Lookups) []FieldError {
	p.Name = in.Name.Or(p.Name)
	p.Description, p.Code = text(in.Description, p.Description), text(in.Code, p.Code)
	p.LifecycleStatus = cmp.Or(in.LifecycleStatus.Value, p.LifecycleStatus, ActiveCourse)
	check := l.checker()
	in.ExternalInput.apply(&p.External, check)
	p.Webpage = check.webpage(in.Webpage, p.Webpage)
	in.RegisteredInput.apply(&p.Registered)
	if p.MapSettings = in.MapSettings.Or(p.MapSettings); p.MapSettings != nil {
		p.MapSettings.check(check.below("mapSettings"))
	}
	if in.CredentialIDs.Set || p.CredentialIDs == nil {
		p.CredentialIDs = named("credential", in.CredentialIDs.Value, p.CredentialIDs, l.Credentials, "credentialIds", check)
	}
	if in.CIPCode.Set || p.DerivedSOCs == nil {
		p.CIPCode = text(in.CIPCode, nil)
		if known := p.Derive(l.Occupations); !known {
			check.fault("cipCode", "must be in the loaded CIP to SOC crosswalk", *p.CIPCode)
		}
	}
	if in.CourseOrder.Set || p.CourseOrder == nil {
		check.add(p.setCourses(in.CourseOrder.Value, l)...)
	}
	return *check.wrong
}

func (p *Program) setCourses(order []string, l Lookups) []FieldError {
	at := l.at("courseOrder")
	if l.Courses == nil && p.CourseOrder != nil {
		return p.Reorder(order, at)
	}
	if wrong := CheckNamed("course", order, l.Courses, at); wrong != nil {
		return wrong
	}
	p.CourseOrder, p.Courses = make([]string, len(order)), make([]CourseProfile, len(order))
	for i, name := range order {
		p.CourseOrder[i], p.Courses[i] = l.Courses[name].ID, l.Courses[name].Profile()
	}
	return nil
}

// Derive sets the program's occupations from its CIP code and reports whether the code is known.
func (p *Program) Derive(occupations map[string][]string) (known bool) {
	p.DerivedSOCs = []string{}
	if p.CIPCode == nil {
		return true
	}
	socs, known := occupations[*p.CIPCode]
	p.DerivedSOCs = append(p.DerivedSOCs, socs...)
	return known
}

// CheckNamed returns the errors in a list of records that a request names: names that found lacks, and records named
// twice.
func CheckNamed[T any](kind string, names []string, found map[string]*T, location string) []FieldError {
	var wrong []FieldError
	seen := map[*T]bool{}
	for i, name := range names {
		record, message := found[name], ""
		if record == nil {
			message = "there is no such " + kind
		} else if seen[record] {
			message = "the " + kind + " is named twice"
		}
		seen[record] = true
		if message != "" {
			wrong = append(wrong, FieldError{fmt.Sprintf("%s[%d]", location, i), message, name})
		}
	}
	return wrong
}

// named returns the ids of the records that a field of an input names. Those that the record has already may be gone.
func named[R Record](kind string, names, before []string, found map[string]R, field string, check checker) []string {
	ids := make([]string, 0, len(names))
	for i, name := range names {
		id, message := name, ""
		if record, ok := found[name]; ok {
			id = record.Base().ID
		} else if !slices.Contains(before, name) {
			message = "there is no such " + kind
		}
		if slices.Contains(ids, id) {
			message = "the " + kind + " is named twice"
		}
		if message != "" {
			check.fault(fmt.Sprintf("%s[%d]", field, i), message, name)
		}
		ids = append(ids, id)
	}
	return ids
}

// MaxProgramCourses is the maximum number of courses in a program, so that a change of it fits a transaction.
const MaxProgramCourses = 200

// Contains reports whether the program has the course.
func (p *Program) Contains(courseID string) bool { return slices.Contains(p.CourseOrder, courseID) }

// Add appends a course to the program unless it has it already.
func (p *Program) Add(c *Course) (added bool, err error) {
	if p.Contains(c.ID) {
		return false, nil
	}
	if len(p.CourseOrder) >= MaxProgramCourses {
		return false, Errorf(Conflict, "A program holds at most %d courses.", MaxProgramCourses)
	}
	p.CourseOrder = append(p.CourseOrder, c.ID)
	p.Courses = append(p.Courses, c.Profile())
	return true, nil
}

// Reorder sets the order of the courses, which must name each of them once.
func (p *Program) Reorder(order []string, location string) []FieldError {
	var wrong []FieldError
	place := map[string]int{}
	for i, id := range order {
		if _, twice := place[id]; twice || !p.Contains(id) {
			wrong = append(wrong, FieldError{fmt.Sprintf("%s[%d]", location, i),
				"must be a permutation of the program's courses", id})
		}
		place[id] = i
	}
	if wrong == nil && len(order) != len(p.CourseOrder) {
		message := fmt.Sprintf("must be a permutation of the program's %d courses", len(p.CourseOrder))
		wrong = []FieldError{{Location: location, Message: message}}
	}
	if wrong == nil {
		p.CourseOrder = append([]string{}, order...)
		slices.SortFunc(p.Courses, func(a, b CourseProfile) int { return cmp.Compare(place[a.CourseID], place[b.CourseID]) })
	}
	return wrong
}

// Remove removes a course from the program and reports whether it was there.
func (p *Program) Remove(courseID string) bool {
	n := len(p.CourseOrder)
	p.CourseOrder = slices.DeleteFunc(slices.Clone(p.CourseOrder), func(id string) bool { return id == courseID })
	p.Courses = slices.DeleteFunc(p.Courses, func(c CourseProfile) bool { return c.CourseID == courseID })
	return len(p.CourseOrder) < n
}
