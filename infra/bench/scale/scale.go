// Command scale writes the tables of docs/scale.md: where the design stops, worked out
// from the budgets that the bench holds, the traffic of its load run, and the
// published quotas of the services beneath. It measures nothing and calls nothing;
// what no multiplication gives it simulates, from fixed seeds, so that the figures
// are the same on every machine. A test fails when the page has others.
package main

import (
	"log"
	"math/rand/v2"
	"os"

	"skillscurriculum/infra/bench/budget"
	"skillscurriculum/infra/load"
	"skillscurriculum/pkg/catalog"
)

// page is what the command writes, seen from the project's root.
const page = "docs/scale.md"

func main() {
	text, err := os.ReadFile(page)
	if err != nil {
		log.Fatal(err)
	}
	rendered, err := render(string(text))
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(page, []byte(rendered), 0o644); err != nil {
		log.Fatal(err)
	}
}

// Today's bench: the load run of make bench.
const (
	Customers = 20
	PerSecond = 2 // calls of each customer
)

// Published default quotas; "soft" ones are raised on request.
const (
	GatewayRate       = 10_000 // calls per second of an account and region (soft)
	GatewayBurst      = 5_000  // calls (soft)
	GatewayKeys       = 10_000 // API keys of an account and region
	LambdaConcurrency = 1_000  // invocations at a time of an account and region (soft)
	TableUnits        = 40_000 // read, and write, units per second of a table (soft)
	PartitionRead     = 3_000  // units per second of one partition
	PartitionWrite    = 1_000
	ItemBytes         = 400 << 10
	InFlight          = 120_000 // messages of a queue
)

// Our own settings (infra/aws), which an operator raises.
const (
	StageRate        = 2_000 // calls per second of the stage
	ExtractorsAtOnce = 10
)

// Assumed times, in ms. The ceilings of contention scale with one over them.
const (
	readTime     = 4  // one read of DynamoDB
	commitTime   = 12 // one transaction
	handlerTime  = 1  // all of a function's own work
	extractTime  = 2000
	extractParts = 1 // transfer courses of a call of the mix
)

// budgetOf names the budget of an operation of the mix.
var budgetOf = map[string]string{
	"getCourse": "GET a course", "getJob": "GET a job", "getSection": "GET a section",
	"createCourse": "create a course", "createJob": "create a job, Idempotency-Key", "updateCourse": "PATCH a course", "deleteJob": "delete a job",
	"createTransferPackage": "create a package",
}

// cost is what a call of the mix takes.
func cost(operation string) budget.Cost {
	for _, b := range budget.All() {
		if b.Operation == budgetOf[operation] {
			return b.Held
		}
	}
	switch operation {
	case "listCourses", "listJobs", "listChanges":
		return budget.Cost{Trips: 1, Write: 1, Read: ListUnits}
	case "createTransferCourses":
		return budget.Cost{Trips: 2, Write: 1 + 2 + 2 + 2 + extraction.Write, Read: 1 + extraction.Read}
	case "listSkills":
		return budget.Cost{Trips: 1, Write: 1}
	case "getCustomerUsage":
		return budget.Cost{Trips: 1, Read: 15} // 60 windows of a quarter of a KB, and the current one
	}
	panic("no cost of " + operation)
}

// ListUnits is what a page of 100 records of 1 KB and its directory take.
const ListUnits = 15

// extraction is what one job of the worker takes.
var extraction = func() budget.Cost {
	for _, b := range budget.All() {
		if b.Operation == "extraction job" {
			return b.Held
		}
	}
	panic("no budget of extractions")
}()

// Demand is what a multiple of today's traffic asks for.
type Demand struct {
	Factor      int
	Calls       float64 // per second
	Keys        int
	Write, Read float64 // units per second
	Concurrency float64 // invocations of API functions at a time
	Extractors  float64 // invocations of the extractor at a time
}

// DemandOf multiplies the customers of today's bench.
func DemandOf(factor int) Demand {
	d := Demand{Factor: factor, Keys: Customers * factor, Calls: float64(Customers * PerSecond * factor)}
	whole := 0.0
	for _, s := range load.Mix {
		whole += float64(s.Parts)
	}
	for _, s := range load.Mix {
		calls := d.Calls * float64(s.Parts) / whole
		c := cost(s.Operation)
		d.Write += calls * c.Write
		d.Read += calls * max(c.Read, 0)
		d.Concurrency += calls * (handlerTime + c.Trips*readTime) / 1000
		if s.Operation == "createTransferCourses" {
			d.Extractors += calls * extractParts * extractTime / 1000
		}
	}
	return d
}

// Limits returns the quotas that a demand meets, and at which multiple of today's
// traffic each is full.
func (d Demand) Limits() map[string]float64 {
	factor := func(quota, demand float64) float64 { return quota / demand * float64(d.Factor) }
	return map[string]float64{
		"our stage's throttle":       factor(StageRate, d.Calls),
		"our extractors at a time":   factor(ExtractorsAtOnce, d.Extractors),
		"API Gateway, calls/s":       factor(GatewayRate, d.Calls),
		"API Gateway, keys":          factor(GatewayKeys, float64(d.Keys)),
		"Lambda, concurrency":        factor(LambdaConcurrency, d.Concurrency+d.Extractors),
		"DynamoDB table, write":      factor(TableUnits, d.Write),
		"DynamoDB table, read":       factor(TableUnits, d.Read),
		"SQS, messages in flight":    factor(InFlight, d.Extractors),
		"one customer's counter row": float64(PartitionWrite) / PerSecond,
	}
}

// DirectoryBytes is the length of a list's directory after n records were created
// and a share of them was deleted at random places.
func DirectoryBytes(n int, deleted float64) int {
	d := &catalog.Directory{Kind: catalog.JobKind}
	for range n {
		d.Take()
	}
	for _, seq := range rand.New(rand.NewPCG(1, 1)).Perm(n)[:int(float64(n)*deleted)] {
		d.Drop(seq)
	}
	return len(d.Pack())
}
