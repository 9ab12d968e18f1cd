import { useState } from "preact/hooks";
import { query } from "./api";
import { CourseOutcomes } from "./outcomes";
import { ReviewEvidence, isDone } from "./review";
import { go, replace, type Route } from "./route";
import { Await, Badge, List, Screen, Search, Select, State, Text, count, number, useGet, words } from "./ui";

export type SectionRef = {
  id: string; name: string; externalId: string | null; term: string | null; status: string; instructorName: string | null; skillCount: number; reviewed: boolean;
};
export type Course = {
  id: string; code: string; name: string; description: string | null; defaultSectionId: string; sections: SectionRef[]; lifecycleStatus: string;
  credits: { min: number; max: number; unit: string } | null;
};

// toReview are the sections whose skills people are to decide on.
const toReview = (sections: SectionRef[]) => sections.filter((s) => (s.skillCount > 0 || s.reviewed) && s.status !== "CANCELLED");

// Progress is how many sections people have reviewed.
function Progress({ sections, at }: { sections: SectionRef[]; at: string }) {
  const all = toReview(sections), reviewed = all.filter((s) => s.reviewed).length;
  return all.length > 0 && <p class="progress small soft">{number(reviewed)} of {count(all.length, "section")} {at} reviewed <progress aria-label="Sections reviewed" value={reviewed} max={all.length} /></p>;
}

export function Courses({ route }: { route: Route }) {
  const [, id, part, sectionId] = route.parts;
  return id ? <OneCourse key={id} id={id} outcomes={part === "outcomes"} sectionId={sectionId} /> : <AllCourses words={route.query.get("query") ?? ""} />;
}

function AllCourses({ words }: { words: string }) {
  return <Screen title="Courses">
    <Search label="Search courses by code or name" value={words} onSearch={(q) => replace(query("/courses", { query: q }))} />
    <List<Course> path="/courses" address="#/courses" parameters={{ query: words }}
      empty={words ? <p>No course has a code or name that begins with these words.</p> : <p>There are no courses yet. They come with an <a href="#/imports">import</a>.</p>}
      head={(p) => <Progress sections={p.data.flatMap((c) => c.sections)} at={p.pagination.total > p.data.length ? "on this page" : ""} />}
      row={(c) => { const all = toReview(c.sections), done = all.filter((s) => s.reviewed).length; return <a class="row" data-row href={"#/courses/" + c.id}>
        <span class="code"><Text of={c.code} /></span><span class="grow"><Text of={c.name} /></span>
        {c.lifecycleStatus !== "ACTIVE" && <State of={c.lifecycleStatus} />}
        {done > 0 && <Badge kind="good">{done === all.length ? "Reviewed" : `${number(done)} of ${number(all.length)} reviewed`}</Badge>}
        <span class="soft small">{c.sections.length > 1 && count(c.sections.length, "section") + ", "}{count(Math.max(0, ...c.sections.map((s) => s.skillCount)), "skill")}</span>
      </a>; }} />
  </Screen>;
}

function OneCourse({ id, outcomes, sectionId }: { id: string; outcomes: boolean; sectionId: string | undefined }) {
  const course = useGet<Course>("/courses/" + id);
  const [done, setDone] = useState<{ id: string; text: boolean; done: boolean } | null>(null);
  return <Await of={course} screen={{ title: "Course", crumbs: [["Courses", "#/courses"]] }}>{(c) => {
    const home = "#/courses/" + c.id, section = c.sections.find((s) => s.id === (sectionId ?? c.defaultSectionId));
    const shown = c.sections.map((s) => s.id === done?.id ? { ...s, reviewed: done.done } : s); // what is decided here counts at once
    const next = toReview(shown).find((s) => !s.reviewed && s.id !== section?.id);
    const name = (s: SectionRef) => (s.reviewed ? "✓ " : "") + s.name + (s.term ? " · " + s.term : "");
    return <Screen title={c.code + " " + c.name} of={<><Text of={c.code} /> <Text of={c.name} /></>} crumbs={[["Courses", "#/courses"]]}>
      <p class="facts">{c.lifecycleStatus !== "ACTIVE" && <State of={c.lifecycleStatus} />}
        {c.credits && <span>{c.credits.min === c.credits.max ? number(c.credits.min) : number(c.credits.min) + " to " + number(c.credits.max)} {words(c.credits.unit).toLowerCase()}s</span>}
        {!outcomes && section && <>{section.status !== "ACTIVE" && <State of={section.status} />}{section.instructorName && <Text of={section.instructorName} />}</>}</p>
      <nav class="tabs" aria-label="Parts of the course">{([["Skills and evidence", home, !outcomes], ["Outcomes", home + "/outcomes", outcomes]] as const).map(([tab, to, on]) => <a href={to} {...(on ? { "aria-current": "page" as const } : {})}>{tab}</a>)}</nav>
      {outcomes ? <CourseOutcomes courseId={c.id} /> : <>
        {c.sections.length > 1 && <div class="fields">
          <Select label="Section" value={section?.id ?? ""} options={shown.map((s) => [s.id, name(s)])} onChange={(s) => go(`/courses/${c.id}/sections/${s}`)} />
          <Progress sections={shown} at="of this course" />
        </div>}
        {section ? <>
          {done?.id === section.id && !done.text && c.description && <p class="said"><Text of={c.description} /></p>}
          <ReviewEvidence key={section.id} path={`/courses/${c.id}/sections/${section.id}`} next={next && { name: next.name, address: `/courses/${c.id}/sections/${next.id}` }}
            onChange={(r) => { setDone({ id: section.id, text: Boolean(r.text), done: isDone(r) }); if (isDone(r) !== section.reviewed) course.reload(); }} />
        </> : <p>This course has no such section. <a href={home}>Open its default section.</a></p>}
      </>}
    </Screen>;
  }}</Await>;
}
