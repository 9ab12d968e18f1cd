import type { Route } from "./route";
import { replace } from "./route";
import { query } from "./api";
import { List, Screen, Search, Text, count } from "./ui";

export type SectionRef = { id: string; name: string; externalId: string | null; term: string | null; status: string; instructorName: string | null; skillCount: number };
export type Course = { id: string; code: string; name: string; description: string | null; defaultSectionId: string; sections: SectionRef[]; lifecycleStatus: string };

export function Courses({ route }: { route: Route }) {
  const words = route.query.get("query") ?? "";
  return <Screen title="Courses">
    <Search label="Search courses by code or name" value={words} onSearch={(q) => replace(query("/courses", { query: q }))} />
    <List<Course> path="/courses" address="#/courses" parameters={{ query: words }}
      empty={words ? <p>No course has a code or name that begins with these words.</p> : <p>There are no courses yet.</p>}
      row={(c) => <a class="row" data-row href={"#/courses/" + c.id}>
        <span class="code"><Text of={c.code} /></span><span class="grow"><Text of={c.name} /></span>
        <span class="soft small">{count(c.sections.length, "section")}</span>
      </a>} />
  </Screen>;
}
