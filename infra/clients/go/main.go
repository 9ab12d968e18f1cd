// Command main calls the service through the client that oapi-codegen makes of the
// contract: it lists, creates, extracts and reads an error.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"
)

func main() {
	if err := call(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func call(ctx context.Context) error {
	client := &Client{Server: os.Getenv("BASE_URL"), Key: os.Getenv("API_KEY")}
	courses, err := client.ListCourses(ctx, &ListCoursesParams{Limit: new(int64(2))})
	if err != nil {
		return err
	}
	if courses.Value == nil || len(courses.Value.Data) != 2 {
		return fmt.Errorf("list: %s", courses.Body)
	}
	course, err := client.CreateCourse(ctx, nil, CreateCourseRequest{
		Name: "Operating Systems", Code: "CS 310", Credits: &CreditsInput{Min: 3, Max: 3, Unit: CreditUnitSEMESTERHOUR},
	})
	if err != nil {
		return err
	}
	if course.Value == nil || course.Value.Name != "Operating Systems" {
		return fmt.Errorf("create: %s", course.Body)
	}
	skills, err := extract(ctx, client)
	if err != nil {
		return err
	}
	refused, err := client.CreateCourse(ctx, nil, CreateCourseRequest{Name: "", Code: "CS 310"})
	if err != nil {
		return err
	}
	problem := refused.Problem
	if problem == nil || problem.Code != ProblemCodeValidationFailed || problem.Errors == nil ||
		(*problem.Errors)[0].Location != "body.name" {
		return fmt.Errorf("error: %s", refused.Body)
	}
	fmt.Printf("%d courses, created %s, extracted %d skills, refused with %d %s\n", courses.Value.Pagination.Total,
		course.Value.Id, skills, problem.Status, problem.Code)
	return nil
}

func extract(ctx context.Context, client *Client) (skills int, err error) {
	var request CreateSyllabusExtractionRequest
	if err := request.FromTextExtractionRequest(TextExtractionRequest{Text: "Students will write Python programs and " +
		"design SQL databases."}); err != nil {
		return 0, err
	}
	accepted, err := client.CreateSyllabusExtraction(ctx, nil, request)
	if err != nil {
		return 0, err
	}
	if accepted.Value == nil {
		return 0, fmt.Errorf("extract: %s", accepted.Body)
	}
	for range 120 {
		extraction, err := client.GetSyllabusExtraction(ctx, accepted.Value.ExtractionId, &GetSyllabusExtractionParams{})
		if err != nil {
			return 0, err
		}
		if extraction.Value == nil {
			return 0, fmt.Errorf("extraction: %s", extraction.Body)
		}
		if extraction.Value.ProcessingStatus == ProcessingStatusCOMPLETED && len(extraction.Value.Skills) > 0 {
			return len(extraction.Value.Skills), nil
		}
		time.Sleep(time.Second / 2)
	}
	return 0, fmt.Errorf("extraction %s does not end", accepted.Value.ExtractionId)
}
