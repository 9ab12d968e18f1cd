import { useState } from "preact/hooks";
import { get, onSignIn, query } from "./api";
import { ReviewEvidence, isDone, type Reviewed } from "./review";
import { replace, type Route } from "./route";
import { Await, Badge, List, Screen, Search, State, Text, asProblem, count, number, useGet } from "./ui";

export type SectionRef = { id: string; name: string; externalId: string | null; term: string | null; status: string; instructorName: string | null; skillCount: number };
export type Course = {
  id: string; code: string; name: string; description: string | null; defaultSectionId: string; sections: SectionRef[]; lifecycleStatus: string;
  credits: { min: number; max: number; unit: string } | null;
};

// done remembers which sections were found reviewed since sign-in.
const done = new Map<string, boolean>();
onSignIn(() => done.clear());

// Progress counts the sections on which people have decided. The list of courses does not say
// it, so the sections are read one by one, when somebody asks.
function Progress({ courses, at }: { courses: Course[]; at: string }) {
  const all = courses.flatMap((c) => c.sections.filter((s) => s.skillCount > 0 && s.status !== "CANCELLED").map((s) => ({ course: c.id, id: s.id })));
  const [read, setRead] = useState<number | null>(all.every((s) => done.has(s.id)) ? all.length : null);
  const [problem, setProblem] = useState("");
  const reviewed = all.filter((s) => done.get(s.id)).length;
  const run = async () => {
    setProblem("");
    let n = 0;
    setRead(0);
    const todo = [...all];
    const work = async () => {
      for (let s = todo.shift(); s; s = todo.shift()) {
        done.set(s.id, isDone((await get<Reviewed>(`/courses/${s.course}/sections/${s.id}?include=reviews`)).data));
        setRead(++n);
      }
    };
    try { await Promise.all([work(), work(), work()]); } catch (e) { setProblem(asProblem(e).message); setRead(null); }
  };
  if (all.length === 0) return null;
  return <p class="progress small" role="status">
    {read === all.length ? <>{number(reviewed)} of {count(all.length, "section")} {at} reviewed <progress aria-label="Sections reviewed" value={reviewed} max={all.length} /></>
      : read !== null ? <>Looking at {number(read)} of {count(all.length, "section")}…</>
        : <button type="button" class="quiet" onClick={run}>Count the reviewed sections {at}</button>} {problem && <span class="fault">{problem}</span>}
  </p>;
}

export function Courses({ route }: { route: Route }) {
  const [, id, , sectionId] = route.parts;
  return id ? <OneCourse id={id} sectionId={sectionId} /> : <AllCourses words={route.query.get("query") ?? ""} />;
}

function AllCourses({ words }: { words: string }) {
  return <Screen title="Courses">
    <Search label="Search courses by code or name" value={words} onSearch={(q) => replace(query("/courses", { query: q }))} />
    <List<Course> path="/courses" address="#/courses" parameters={{ query: words }}
      empty={words ? <p>No course has a code or name that begins with these words.</p> : <p>There are no courses yet.</p>}
      head={(p) => <Progress key={p.data.map((c) => c.id).join()} courses={p.data} at="on this page" />}
      row={(c) => <a class="row" data-row href={"#/courses/" + c.id}>
        <span class="code"><Text of={c.code} /></span><span class="grow"><Text of={c.name} /></span>
        {c.lifecycleStatus !== "ACTIVE" && <State of={c.lifecycleStatus} />}
        <span class="soft small">{c.sections.length > 1 && count(c.sections.length, "section") + ", "}{count(Math.max(0, ...c.sections.map((s) => s.skillCount)), "skill")}</span>
      </a>} />
  </Screen>;
}

function OneCourse({ id, sectionId }: { id: string; sectionId: string | undefined }) {
  const course = useGet<Course>("/courses/" + id);
  const [, changed] = useState(0);
  return <Await of={course}>{(c) => {
    const section = c.sections.find((s) => s.id === (sectionId ?? c.defaultSectionId));
    const next = c.sections.find((s) => s.skillCount > 0 && s.status !== "CANCELLED" && !done.get(s.id) && s.id !== section?.id);
    return <Screen title={c.code + " " + c.name} of={<><Text of={c.code} /> <Text of={c.name} /></>} crumbs={[["Courses", "#/courses"]]}>
      <p class="facts"><State of={c.lifecycleStatus} />
        {c.credits && <span>{c.credits.min === c.credits.max ? number(c.credits.min) : number(c.credits.min) + " to " + number(c.credits.max)} {c.credits.unit.toLowerCase().replace("_", " ")}s</span>}
      </p>
      {c.sections.length > 1 && <>
        <nav class="tabs" aria-label="Sections">{c.sections.map((s) => <a href={`#/courses/${c.id}/sections/${s.id}`} {...(s.id === section?.id ? { "aria-current": "page" as const } : {})}>
          {done.get(s.id) && <span aria-hidden="true">✓ </span>}<Text of={s.name} />{s.term && <> · <Text of={s.term} /></>}{done.get(s.id) && <span class="hidden">, reviewed</span>}</a>)}</nav>
        <Progress key={c.id} courses={[c]} at="of this course" />
      </>}
      {section ? <>
        <p class="facts">{section.status !== "ACTIVE" && <State of={section.status} />}{section.instructorName && <span><Text of={section.instructorName} /></span>}{done.get(section.id) && <Badge kind="good">Reviewed</Badge>}
          {done.get(section.id) && next && <a href={`#/courses/${c.id}/sections/${next.id}`}>Next section: <Text of={next.name} /></a>}</p>
        <ReviewEvidence key={section.id} path={`/courses/${c.id}/sections/${section.id}`} onChange={(r) => { if (done.get(section.id) !== isDone(r)) { done.set(section.id, isDone(r)); changed((n) => n + 1); } }} />
      </> : <p>This course has no such section. <a href={"#/courses/" + c.id}>Open its default section.</a></p>}
    </Screen>;
  }}</Await>;
}
