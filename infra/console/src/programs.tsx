import { query } from "./api";
import { CurriculumMap } from "./map";
import { CourseOutcomes, Outcomes } from "./outcomes";
import { replace, type Route } from "./route";
import { Await, Empty, List, Screen, Search, Text, count, useGet } from "./ui";

export type Program = { id: string; name: string; code: string | null; cipCode: string | null; courses: { courseId: string; courseCode: string; courseName: string }[] };

export function Programs({ route }: { route: Route }) {
  const [, id, tab, courseId] = route.parts;
  return id ? <OneProgram id={id} tab={tab} courseId={courseId} route={route} /> : <AllPrograms words={route.query.get("query") ?? ""} />;
}

function AllPrograms({ words }: { words: string }) {
  return <Screen title="Programs">
    <Search label="Search programs by code or name" value={words} onSearch={(q) => replace(query("/programs", { query: q }))} />
    <List<Program> path="/programs" address="#/programs" parameters={{ query: words }}
      empty={words ? <p>No program has a code or name that begins with these words.</p> : <p>There are no programs yet. They come with an <a href="#/imports">import</a>.</p>}
      row={(p) => <a class="row" data-row href={`#/programs/${p.id}/map`}>
        <span class="code"><Text of={p.code} /></span><span class="grow"><Text of={p.name} /></span><span class="soft small">{count(p.courses.length, "course")}</span>
      </a>} />
  </Screen>;
}

function OneProgram({ id, tab, courseId, route }: { id: string; tab: string | undefined; courseId: string | undefined; route: Route }) {
  const program = useGet<Program>("/programs/" + id);
  const tabs: [string, string][] = [["map", "Map"], ["outcomes", "Outcomes"], ["courses", "Outcomes of the courses"]];
  const at = tabs.some(([t]) => t === tab) ? tab! : "map";
  const home = "#/programs/" + id;
  return <Await of={program} screen={{ title: "Program", crumbs: [["Programs", "#/programs"]] }}>{(p) => {
    const course = courseId ? p.courses.find((c) => c.courseId === courseId) : undefined;
    if (courseId && at === "courses") return <Screen key={courseId} title={course ? course.courseCode + " " + course.courseName : "Course"} crumbs={[["Programs", "#/programs"], [p.name, home + "/courses"]]}
      of={course ? <><Text of={course.courseCode} /> <Text of={course.courseName} /></> : "Course"}>
      <CourseOutcomes courseId={courseId} />
    </Screen>;
    return <Screen title={p.name} crumbs={[["Programs", "#/programs"]]}>
      <p class="facts">{p.code && <span><Text of={p.code} /></span>}{p.cipCode && <span>CIP {p.cipCode}</span>}<span>{count(p.courses.length, "course")}</span></p>
      <nav class="tabs" aria-label="Parts of the program">{tabs.map(([t, name]) => <a href={home + "/" + t} {...(t === at ? { "aria-current": "page" as const } : {})}>{name}</a>)}</nav>
      {at === "map" ? <CurriculumMap key={id} program={p} jobs={route.query.get("jobs") ?? ""} />
        : at === "outcomes" ? <Outcomes key={id} path={home.slice(1) + "/outcomes"} of="program" />
          : p.courses.length === 0 ? <Empty><p>This program has no courses.</p></Empty>
            : <ul class="rows">{p.courses.map((c) => <li><a class="row" data-row href={`${home}/courses/${c.courseId}`}><span class="code"><Text of={c.courseCode} /></span><span class="grow"><Text of={c.courseName} /></span></a></li>)}</ul>}
    </Screen>;
  }}</Await>;
}
