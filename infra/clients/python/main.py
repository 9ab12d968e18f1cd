"""Calls the service through the client that openapi-python-client makes of the
contract: it lists, creates, extracts and reads an error."""

import os
import time

from client import AuthenticatedClient
from client.api.catalog import create_course, list_courses
from client.api.extraction import create_syllabus_extraction, get_syllabus_extraction
from client.models import (
    AcceptedSyllabusExtraction,
    Course,
    CourseList,
    CreateCourseRequest,
    Problem,
    ProblemCode,
    ProcessingStatus,
    SyllabusExtraction,
    TextExtractionRequest,
)


def extract(client: AuthenticatedClient, text: str) -> int:
    accepted = create_syllabus_extraction.sync(client=client, body=TextExtractionRequest(text=text))
    assert isinstance(accepted, AcceptedSyllabusExtraction), accepted
    for _ in range(120):
        extraction = get_syllabus_extraction.sync(accepted.extraction_id, client=client)
        assert isinstance(extraction, SyllabusExtraction), extraction
        if extraction.processing_status == ProcessingStatus.COMPLETED and extraction.skills:
            return len(extraction.skills)
        time.sleep(0.5)
    raise TimeoutError("the extraction does not end")


def main() -> None:
    client = AuthenticatedClient(
        base_url=os.environ["BASE_URL"], token=os.environ["API_KEY"], prefix="", auth_header_name="X-API-Key"
    )
    courses = list_courses.sync(client=client, limit=2)
    assert isinstance(courses, CourseList) and len(courses.data) == 2, courses
    course = create_course.sync(client=client, body=CreateCourseRequest(name="Operating Systems", code="CS 310"))
    assert isinstance(course, Course), course
    skills = extract(client, "Students will write Python programs and design SQL databases.")
    problem = create_course.sync(client=client, body=CreateCourseRequest(name="", code="CS 310"))
    assert isinstance(problem, Problem) and problem.code == ProblemCode.VALIDATION_FAILED, problem
    assert problem.errors and problem.errors[0].location == "body.name", problem
    print(
        f"{courses.pagination.total} courses, created {course.id}, extracted {skills} skills, "
        f"refused with {problem.status} {problem.code}"
    )


if __name__ == "__main__":
    main()
