// Calls the service through openapi-fetch with the types that openapi-typescript makes
// of the contract: it lists, creates, extracts and reads an error.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

const client = createClient<paths>({
  baseUrl: process.env.BASE_URL!,
  headers: { "X-API-Key": process.env.API_KEY! },
});

function fail(what: string, problem: components["schemas"]["Problem"] | undefined): never {
  throw new Error(`${what}: ${problem?.code} ${problem?.detail}`);
}

async function extract(text: string): Promise<number> {
  const accepted = await client.POST("/syllabus-extractions", { body: { text } });
  if (!accepted.data) fail("extract", accepted.error);
  for (let i = 0; i < 120; i++) {
    const extraction = await client.GET("/syllabus-extractions/{extractionId}", {
      params: { path: { extractionId: accepted.data.extractionId }, query: { include: ["evidence"] } },
    });
    if (!extraction.data) fail("extraction", extraction.error);
    const { processingStatus, skills } = extraction.data;
    if (processingStatus === "COMPLETED" && skills.length > 0) return skills.length;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error("the extraction does not end");
}

const courses = await client.GET("/courses", { params: { query: { limit: 2 } } });
if (!courses.data || courses.data.data.length !== 2) fail("list", courses.error);

const course = await client.POST("/courses", {
  body: { name: "Operating Systems", code: "CS 310", credits: { min: 3, max: 3, unit: "SEMESTER_HOUR" } },
});
if (!course.data) fail("create", course.error);

// The view tells of what type the data is.
const report = await client.POST("/reports", { body: { name: "Fit", settings: { courses: [course.data.id], view: "coverage" } } });
if (!report.data) fail("report", report.error);
if (report.data.view !== "coverage") throw new Error(`the view is ${report.data.view}`);
const taught: number[] = report.data.data.map((item) => item.maxTaughtLevel);

const skills = await extract("Students will write Python programs and design SQL databases.");

const refused = await client.POST("/courses", { body: { name: "", code: "CS 310" } });
const problem = refused.error;
if (problem?.code !== "validation_failed" || problem.errors?.[0]?.location !== "body.name") fail("error", problem);

console.log(
  `${courses.data.pagination.total} courses, created ${course.data.id}, a report of ${taught.length} skills, ` +
    `extracted ${skills} skills, refused with ${problem.status} ${problem.code}`,
);
