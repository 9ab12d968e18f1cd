// Package budget is what each operation may cost, counted and not timed: round
// trips to DynamoDB that follow one another, and capacity units. The bench
// measures against it, the simulation in infra/bench/scale computes with it. It
// measures nothing itself. Invariant: where a budget is wider than its target, it
// says why.
package budget

// Members, Courses and Page are the sizes that the budgets are stated for: members
// of a program or credential, transfer courses of one POST, records of a page.
const (
	Members = 10
	Courses = 10
	Page    = 100
)

// Cost is what one call takes: serial round trips, write units and read units.
// Records are of at most 1 KB.
type Cost struct{ Trips, Write, Read float64 }

// FindRecord is what a look-up by externalId or code takes, however many records there
// are: the row of the name, and the one record.
var FindRecord = Cost{2, 1, 2}

// Any stands in a target that is not set.
const Any = -1

// Budget is the cost that an operation is held to, and the target that it comes
// from. Why is empty where they are the same.
type Budget struct {
	Operation    string
	Target, Held Cost
	Why          string
}

// Exceeded reports whether a measured cost breaks the budget.
func (b Budget) Exceeded(measured Cost) bool {
	return measured.Trips > b.Held.Trips || measured.Write > b.Held.Write || measured.Read > b.Held.Read
}

// Why a target is not met.
const (
	feed = "The row of the change feed was added to the design: a change is a transaction, with 2 units for it and 2 for the record."

	defaultSection = "A course and its default section are two records: each moves out of the live partition (2 + 2), and the sections are known only once the course is read. The row of its code goes (2)."

	byCode = "A course is found by its code: a row of its own (2)."

	byName = "Whose the name is at present is looked up first, a trip of its own; the name has a row of its own (2)."

	byFacets = "An articulation is found by its facets: a row (2) for each of status, published, name and code of the institution, code, and course. The course is read along with the directory."

	byBothSides = "What is compared is known only after what names it: a transfer course lies in its package, sections in their course. Both are read once the articulation is, then the sides in parallel."

	wholeResponse = "The response is the whole record with its members, and it is kept under its idempotency key in the transaction of the change: the members are read before it. Record (2 for each KB; 10 sections are 2 KB), change feed (2), and a mark on the course that is held (2)."

	guarded = "The package counts what it is given, and that count guards the change: it is read before the package's courses, not in parallel with them. Read the other way round, a course that came between the two reads was not seen."

	evidence = "Evidence, text and outcome of the extraction were added to the design: one row each (2 for each KB), with the record and the change feed, all in the transaction that ends the job; a document that is known already is looked up first."
)

// All lists the budgets.
func All() []Budget {
	same := func(operation string, c Cost) Budget { return Budget{Operation: operation, Target: c, Held: c} }
	read, create := Cost{1, 1, 0.5}, Cost{2, 10, Any}
	return []Budget{
		same("GET a course", read),
		same("GET a section", read),
		same("GET a job", read),
		same("GET a package", read),
		same("GET a credential", Cost{2, 1, 0.5 + Members}),
		same("GET a program", Cost{2, 1, 0.5 + Members}),
		same("find a job by externalId", FindRecord),
		same("find a section by externalId", FindRecord),
		same("find a course by code", FindRecord),
		same("sections that teach a skill", Cost{1, 1, 2}),
		{"create a course", create, Cost{2, 11, 1}, byCode},
		{"create a job, externalId", create, Cost{3, 9, 1}, byName},
		{"create a job", create, Cost{2, 7, 1}, ""},
		{"create a program", create, Cost{2, 7, 1}, ""},
		{"create a credential", create, Cost{2, 7, 1}, ""},
		{"create a package", create, Cost{2, 7, 1}, ""},
		{"create a job, Idempotency-Key", create, Cost{2, 9, 2}, ""},
		{"delete a course", create, Cost{3, 15, 3}, defaultSection},
		{"delete a job", create, Cost{2, 9, 2}, ""},
		{"delete a program", create, Cost{2, 9, 2}, ""},
		{"delete a credential", create, Cost{2, 9, 2}, ""},
		{"delete a package", create, Cost{3, 9, 2}, guarded},
		{"PATCH a course", Cost{2, 2, Any}, Cost{2, 5, 1}, feed},
		{"PATCH a section", Cost{2, 2, Any}, Cost{2, 5, 2}, feed},
		{"PATCH a job", Cost{2, 2, Any}, Cost{2, 5, 1}, feed},
		{"PATCH a package", Cost{2, 2, Any}, Cost{2, 5, 1}, feed},
		// The target has a row of its own for the reviews; they stand in their record's.
		{"PUT a review of a section", Cost{2, 7, 2}, Cost{2, 5, 1}, ""},
		{"PUT a review of a transfer course", Cost{2, 7, 2}, Cost{2, 5, 1}, ""},
		{"DELETE a review", Cost{2, 7, 2}, Cost{2, 5, 1}, ""},
		{"create an articulation", create, Cost{2, 19, 2}, byFacets},
		{"approve an articulation that supersedes another", Cost{3, 30, Any}, Cost{3, 23, 5}, ""},
		{"approve an articulation with evidence", Cost{3, Any, Any}, Cost{4, 33, 9}, byBothSides},
		// The two calls of an upload; the file goes past the service.
		{"announce a document", create, Cost{2, 5, 0.5}, ""},
		same("GET a document", read),
		// From the hint of the table's stream on, besides the POST to the receiver.
		same("message to a webhook", Cost{3, 4, 3}),
		{"PATCH a credential", Cost{2, 2, Any}, Cost{3, 7, 21}, wholeResponse},
		{"add a section to a credential", Cost{2, 2, Any}, Cost{3, 7, 5}, wholeResponse},
		{"add a course to a program", Cost{2, 2, Any}, Cost{3, 7, 4}, wholeResponse},
		{"POST transfer courses", Cost{2, 1 + 2*Courses + 6, Any}, Cost{3, 1 + 2*Courses + 6, 2}, guarded},
		{"extraction job", Cost{2, 2, 0}, Cost{3, 14, 1}, evidence},
	}
}
