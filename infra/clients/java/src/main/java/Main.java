import skills.ApiClient;
import skills.ApiException;
import skills.api.CatalogApi;
import skills.api.ExtractionApi;
import skills.model.AcceptedSyllabusExtraction;
import skills.model.Course;
import skills.model.CourseList;
import skills.model.CreateCourseRequest;
import skills.model.CreateSyllabusExtractionRequest;
import skills.model.Problem;
import skills.model.ProblemCode;
import skills.model.ProcessingStatus;
import skills.model.SyllabusExtraction;
import skills.model.TextExtractionRequest;

/**
 * Calls the service through the client that openapi-generator makes of the contract: it
 * lists, creates, extracts and reads an error.
 */
public final class Main {
  private final ApiClient client = new ApiClient();

  private Main() {
    client.updateBaseUri(System.getenv("BASE_URL"));
    client.setRequestInterceptor(request -> request.header("X-API-Key", System.getenv("API_KEY")));
  }

  public static void main(String[] args) throws Exception {
    new Main().call();
  }

  private void call() throws Exception {
    CatalogApi catalog = new CatalogApi(client);
    CourseList courses = catalog.listCourses(2L, null, null, null, null);
    require(courses.getData().size() == 2, "list: " + courses);
    Course course = catalog.createCourse(new CreateCourseRequest().name("Operating Systems").code("CS 310"), null);
    require("Operating Systems".equals(course.getName()), "create: " + course);
    int skills = extract("Students will write Python programs and design SQL databases.");
    Problem problem = refused(catalog);
    System.out.printf(
        "%d courses, created %s, extracted %d skills, refused with %d %s%n",
        courses.getPagination().getTotal(), course.getId(), skills, problem.getStatus(), problem.getCode());
  }

  private Problem refused(CatalogApi catalog) throws Exception {
    try {
      catalog.createCourse(new CreateCourseRequest().name("").code("CS 310"), null);
    } catch (ApiException e) {
      Problem problem = client.getObjectMapper().readValue(e.getResponseBody(), Problem.class);
      require(problem.getCode() == ProblemCode.VALIDATION_FAILED, "error: " + problem);
      require("body.name".equals(problem.getErrors().get(0).getLocation()), "error: " + problem);
      return problem;
    }
    throw new IllegalStateException("a course without a name is taken");
  }

  private int extract(String text) throws Exception {
    ExtractionApi api = new ExtractionApi(client);
    AcceptedSyllabusExtraction accepted =
        api.createSyllabusExtraction(new CreateSyllabusExtractionRequest(new TextExtractionRequest().text(text)), null);
    for (int i = 0; i < 120; i++) {
      SyllabusExtraction extraction = api.getSyllabusExtraction(accepted.getExtractionId(), null, null);
      if (extraction.getProcessingStatus() == ProcessingStatus.COMPLETED && !extraction.getSkills().isEmpty()) {
        return extraction.getSkills().size();
      }
      Thread.sleep(500);
    }
    throw new IllegalStateException("the extraction does not end");
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new IllegalStateException(otherwise);
    }
  }
}
