// Package budget states what each operation may cost in sequential round trips to DynamoDB and in capacity units. It
// does not measure. Invariant: a budget wider than its target states the reason.
package budget

// Sizes to which the budgets apply: members of a program or credential, transfer courses in a POST, records in a page.
const (
	Members = 10
	Courses = 10
	Page    = 100
)

// Cost is the cost of one call on records of at most 1 KB: sequential round trips, write units and read units.
type Cost struct{ Trips, Write, Read float64 }

// FindRecord is the cost of a look-up by externalId or code among any number of records: the row of the value, and the
// record.
var FindRecord = Cost{2, 1, 2}

// Any means that there is no target.
const Any = -1

// Budget is the maximum cost of an operation, Held, beside its target. Why is empty unless Held is wider.
type Budget struct {
	Operation    string
	Target, Held Cost
	Why          string
}

// Exceeded reports whether a measured cost exceeds the budget.
func (b Budget) Exceeded(measured Cost) bool {
	return measured.Trips > b.Held.Trips || measured.Write > b.Held.Write || measured.Read > b.Held.Read
}

// Reasons why a target is not met.
const (
	feed = "The change feed was added to the design: a change is a transaction, with 2 units for the feed and 2 for " +
		"the record."
	defaultSection = "A course and its default section are two records. Each moves out of the live partition (2 + 2), " +
		"and the sections are known only after the course is read. The row of its code is deleted (2)."
	byCode   = "A course is found by its code, which has its own row (2)."
	byFacets = "An articulation is found by its facets: one row (2) each for status, published, name and code of the " +
		"institution, code, and course. The course is read in parallel with the directory."
	byBothSides = "The articulation names the package and the course, which lead to the transfer " +
		"course and the sections. " +
		"These three steps are sequential; both sides are read in parallel."
	wholeResponse = "The response is the whole record with its members, and is stored under its idempotency key in the " +
		"same transaction as the change, so that the members are read first. Record (2 per KB; 10 sections are 2 KB), " +
		"change feed (2), and the hold on a course (2)."
	guarded = "The package counts its courses, and that count guards the change. It is read before the courses, not in " +
		"parallel with them, because a course created between the two reads would otherwise be missed."
	sequential = "100 new courses are 400 rows (the course, its default section, and the rows by which externalId " +
		"and code find it), which need 5 transactions; known ones with another name, whose " +
		"descriptions are extracted again, are 200 rows, which need 3. They follow each other, because each adds to the " +
		"list and to the change feed. The reads before are the rows of the externalIds with the directory, and the " +
		"records with their default sections."
	evidence = "Evidence, text, found outcomes and result of the extraction were added to the design: one row each (2 " +
		"per KB) with the record and the change feed, all in the transaction that ends the job. A known document is " +
		"looked up first."
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
		same("search courses", Cost{2, 1, 1 + Page/2}),
		same("sections that teach a skill", Cost{1, 1, 2}),
		{"create a course", create, Cost{2, 11, 1}, byCode},
		{"create a job, externalId", create, Cost{2, 9, 1}, ""},
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
		{"PATCH a course's description", Cost{2, 4, Any}, Cost{2, 7, 2}, feed},
		{"PATCH a section", Cost{2, 2, Any}, Cost{2, 5, 2}, feed},
		{"PATCH a job", Cost{2, 2, Any}, Cost{2, 5, 1}, feed},
		{"PATCH a package", Cost{2, 2, Any}, Cost{2, 5, 1}, feed},
		// The target assumes a separate row for the reviews; they are stored in their record's.
		{"PUT a review of a section", Cost{2, 7, 2}, Cost{2, 5, 2}, ""},
		{"PUT a review of a transfer course", Cost{2, 7, 2}, Cost{2, 5, 1}, ""},
		{"DELETE a review", Cost{2, 7, 2}, Cost{2, 5, 1}, ""},
		{"create an articulation", create, Cost{2, 19, 2}, byFacets},
		{"approve an articulation that supersedes another", Cost{3, 30, Any}, Cost{3, 23, 5}, ""},
		{"approve an articulation with evidence", Cost{3, Any, Any}, Cost{4, 33, 10}, byBothSides},
		// The two calls of an upload; the file is sent to the storage directly.
		{"announce a document", create, Cost{2, 5, 0.5}, ""},
		same("GET a document", read),
		// From the hint of the table's stream, without the POST to the receiver.
		same("message to a webhook", Cost{3, 4, 3}),
		same("GET outcomes", Cost{1, 1, 1.5}),
		same("outcomes with a skill", Cost{2, 1, 3}),
		{"PUT outcomes that are given", Cost{2, Any, Any}, Cost{2, 7, 3}, ""},
		{"PUT outcomes to be read", Cost{2, Any, Any}, Cost{2, 9, 3}, ""},
		{"PUT a review of an outcome", Cost{2, Any, Any}, Cost{2, 9, 3}, ""},
		{"extraction job of outcomes", Cost{3, Any, Any}, Cost{3, 13, 4}, ""},
		{"GET a course in CTDL", Cost{2, 1, Any}, Cost{2, 1, 6}, ""},
		{"GET a public course", Cost{2, 1, Any}, Cost{2, 1, 6}, ""},
		{"GET the index of what is public", Cost{2, 1, Any}, Cost{2, 1, 2}, ""},
		{"GET a map of 10 courses", Cost{4, 1, Any}, Cost{4, 1, 13}, ""},
		{"GET the page of a map", Cost{4, 1, Any}, Cost{4, 1, 20}, ""},
		{"PUT a decision on a map", Cost{4, Any, Any}, Cost{4, 7, 24}, ""},
		{"PATCH a credential", Cost{2, 2, Any}, Cost{3, 7, 21}, wholeResponse},
		{"add a section to a credential", Cost{2, 2, Any}, Cost{3, 7, 5}, wholeResponse},
		{"add a course to a program", Cost{2, 2, Any}, Cost{3, 7, 4}, wholeResponse},
		{"POST transfer courses", Cost{2, 1 + 2*Courses + 6, Any}, Cost{3, 1 + 2*Courses + 6, 2}, guarded},
		{"POST a batch of 100 new courses", Cost{4, Any, Any}, Cost{6, 847, 1}, sequential},
		{"POST a batch of 100 known courses", Cost{4, Any, Any}, Cost{4, 435, 301}, ""},
		{"POST a batch of 100 unchanged courses", Cost{4, Any, Any}, Cost{1, 1, 301}, ""},
		{"extraction job", Cost{2, 2, 0}, Cost{3, 18, 1}, evidence},
		{"extraction job of a description", Cost{3, 2, 1}, Cost{3, 11, 1}, evidence},
	}
}
