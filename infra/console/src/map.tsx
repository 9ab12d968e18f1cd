import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Problem, call, get, onSignIn, settled } from "./api";
import type { Quote, Skill } from "./evidence";
import { Jobs, type JobRef } from "./jobs";
import type { Program } from "./programs";
import { replace } from "./route";
import { useMayWrite } from "./session";
import { Share } from "./share";
import { Badge, Empty, Field, Key, Loading, Notice, Refused, Text, asProblem, count, date, isolated, levels, number, percent, useAction, useGet, useRefocus, useShortcuts } from "./ui";

type Mark = "INTRODUCED" | "REINFORCED" | "MASTERED" | "NONE";
type Cell = {
  outcomeId: string; courseId: string; score: number; taughtLevel: number | null; computed: Mark; mark: Mark; assessed: boolean;
  decided: { mark: Mark; note: string | null; decidedAt: string; computedThen: Mark } | null;
  skills?: { skillId: string; skillName: string; requiredLevel: number; taughtLevel: number; matchType: string }[]; courseOutcomes?: { outcomeId: string; similarity: number }[];
};
type MapOutcome = { outcomeId: string; code: string | null; statement: string; level: number; skills: Skill[] };
type MapCourse = { courseId: string; courseCode: string; courseName: string; sectionId: string | null; position: number };
type Issue = { kind: string; outcomeId: string | null; courseId: string | null; detail: string };
type Whole = {
  outcomes: MapOutcome[]; courses: MapCourse[]; cells: Cell[]; issues: Issue[]; settled: boolean; truncated?: boolean;
  summary: { outcomeId: string; coverage: number | null; missingSkills: { skillId: string; skillName: string; level: number }[] }[];
  market: { job: JobRef; coverage: number; skills: { skillId: string; skillName: string; requiredLevel: number; taughtLevel: number | null; firstTaughtIn: string | null }[] }[];
};
type Decision = { mark: Mark; assessed: boolean; note: string };
type At = { outcomeId: string; courseId: string };

const marks: [Mark, string, string, string][] = [["INTRODUCED", "I", "Introduced", "i"], ["REINFORCED", "R", "Reinforced", "r"], ["MASTERED", "M", "Mastered", "m"], ["NONE", "–", "None", "x"]];
const glyph = (m: Mark) => m === "NONE" ? "" : m[0]!;
const name = (m: Mark) => marks.find(([k]) => k === m)![2];
const key = (a: At) => a.outcomeId + " " + a.courseId;

// What each kind of issue means, and what a person can do.
const kinds: Record<string, [string, string]> = {
  NOT_COVERED: ["No course covers it", "If a course teaches it, say so among that course’s outcomes, or set a mark by hand."],
  NOT_INTRODUCED: ["Never introduced", "The first course that has it expects it already. Mark an earlier course, or look at the order of the courses."],
  NOT_MASTERED: ["Never mastered", "No course brings it to its level. Mark the course that does, or lower the outcome’s level."],
  NOT_ASSESSED: ["Never assessed", "Tick “Assessed here” at the course that tests it."],
  GAP_IN_SEQUENCE: ["Introduced, then left", "No later course takes it up. Mark the one that does, or plan it."],
  REPEATED: ["In more than half of the courses", "Look whether each of them is meant to teach it."],
  COURSE_WITHOUT_OUTCOME: ["Course without a mark", "It teaches something, but no outcome of this program. Is it in the right program, or an outcome missing?"],
  COURSE_WITHOUT_SKILLS: ["Nothing is known of the course", "Give it a syllabus, a description or outcomes. Until then it counts nowhere."],
  SKILL_MISSING: ["A skill that no course teaches", "Look whether the outcome needs it, or which course should teach it."],
  DECISION_STALE: ["A decision to look at again", "The sentence, or what the course teaches, has changed since. Save the mark again, or take it back."],
  OUTCOMES_FAILED: ["The outcomes could not be read", "Open the outcomes and save them again."],
};

// drafts keeps decisions that were begun and not saved.
const drafts = new Map<string, Decision>();
onSignIn(() => drafts.clear());
addEventListener("beforeunload", (e) => { if (drafts.size) e.preventDefault(); });

// useMap reads a map with its version, the one that decisions are compared with, and the map with jobs.
function useMap(path: string, jobs: string) {
  const [whole, set] = useState<{ map: Whole; etag: string } | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [turn, again] = useState(0);
  const read = async (signal?: AbortSignal) => {
    const { data: map, etag } = await get<Whole>(jobs ? path + "?jobs=" + encodeURIComponent(jobs) : path, signal);
    const whole = { map, etag };
    set(whole);
    return whole;
  };
  useEffect(() => {
    const gone = new AbortController();
    setProblem(null);
    read(gone.signal).then(async ({ map }) => { if (!map.settled) { await settled<Whole>(path, (n) => n.settled, gone.signal); await read(gone.signal); } })
      .catch((e) => { if (!gone.signal.aborted) setProblem(asProblem(e)); });
    return () => gone.abort();
  }, [path, jobs, turn]);
  return { whole, problem, read, retry: () => again((n) => n + 1) };
}

export function CurriculumMap({ program, jobs }: { program: Program; jobs: string }) {
  const path = `/programs/${program.id}/map`;
  const m = useMap(path, jobs);
  const mayWrite = useMayWrite();
  const [at, setAt] = useState<At | null>(null);
  const [focused, setFocused] = useState<At | null>(null);
  const [sharing, share] = useState(false);
  const [said, say] = useState("");
  const [, changed] = useState(0);
  const [theirs, tell] = useState("");
  const area = useRef<HTMLTableElement>(null);
  const map = m.whole?.map;
  const cells = useMemo(() => new Map(map?.cells.map((c) => [key(c), c])), [map]);
  const cell = at ? cells.get(key(at)) : undefined;
  const draftKey = at ? path + " " + key(at) : "";
  const current: Decision = drafts.get(draftKey) ?? { mark: cell?.mark ?? "NONE", assessed: cell?.assessed ?? false, note: cell?.decided?.note ?? "" };
  const edit = (d: Partial<Decision>) => {
    const next = { ...current, ...d };
    if (next.mark === "NONE") next.assessed = false;
    if (next.mark === (cell?.mark ?? "NONE") && next.assessed === (cell?.assessed ?? false) && next.note === (cell?.decided?.note ?? "")) drafts.delete(draftKey); else drafts.set(draftKey, next);
    changed((n) => n + 1);
  };
  const decide = useAction(async (_: string, a: At, d: Decision | null) => {
    tell("");
    const to = `${path}/${a.outcomeId}/${a.courseId}`;
    const note = d?.note.trim() || null;
    const put = (ifMatch: string) => d ? call("PUT", to, { body: { mark: d.mark, assessed: d.assessed, note }, ifMatch }) : call("DELETE", to, { ifMatch });
    try {
      await put(m.whole!.etag);
    } catch (e) {
      if (!(e instanceof Problem) || e.status !== 412) throw e;
      const { map, etag } = await m.read(), now = map.cells.find((c) => key(c) === key(a));
      const done = d ? now?.decided?.mark === d.mark && now.assessed === d.assessed && (now.decided.note ?? null) === note : !now?.decided;
      if (!done && JSON.stringify(now) === JSON.stringify(cells.get(key(a)))) await put(etag); // what changed is not this cell
      else if (!done) return tell(`Here stands ${name(now?.mark ?? "NONE").toLowerCase()}${now?.assessed ? ", assessed" : ""}${now?.decided ? ", set by hand" : ""}.`);
    }
    drafts.delete(path + " " + key(a));
    say(d ? `Saved: ${name(d.mark)}.` : "Taken back.");
    await m.read();
  });
  const save = () => { if (at && mayWrite && !decide.busy) void decide.run(at, current); };
  const focus = (a: At, select: boolean) => {
    setFocused(a);
    if (select) { setAt(a); tell(""); decide.clear(); }
    area.current?.querySelector<HTMLElement>(`[data-cell="${CSS.escape(key(a))}"]`)?.focus();
  };
  const close = () => { setAt(null); if (at) focus(at, false); };
  useShortcuts([
    ...(at && mayWrite ? [...marks.map(([mark, , n, k]) => ({ keys: k, does: "Mark: " + n.toLowerCase(), run: () => edit({ mark }) })),
      { keys: "a", does: "Mark: assessed here, or not", run: () => edit({ assessed: !current.assessed }) }, { keys: "s", does: "Save the mark", run: save }] : []),
    ...(at ? [{ keys: "Escape", does: "Close the cell", run: close }] : []),
    { keys: "p", does: "Page to print", run: () => share(true) },
  ]);
  useRefocus(cell?.decided, () => { if (at) focus(at, false); });
  if (!map) return m.problem ? <Refused problem={m.problem} retry={m.retry} /> : <Loading>Computing the map…</Loading>;
  const outcomeName = (id: string | null) => { const i = map.outcomes.findIndex((o) => o.outcomeId === id), o = map.outcomes[i]; return o ? o.code || "Outcome " + number(i + 1) : ""; };
  const courseOf = (id: string | null) => map.courses.find((c) => c.courseId === id);
  if (map.outcomes.length === 0) return <Empty><p>The map shows where the courses keep what the program promises. First, <a href={`#/programs/${program.id}/outcomes`}>{mayWrite ? "write the program’s outcomes" : "the program needs outcomes"}</a>.</p></Empty>;
  if (map.courses.length === 0) return <Empty><p>This program has no courses, so there is nothing to map yet.</p></Empty>;
  const first = focused ?? { outcomeId: map.outcomes[0]!.outcomeId, courseId: map.courses[0]!.courseId };
  const step = (e: KeyboardEvent) => {
    const by = ({ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -1000], End: [0, 1000] } as Record<string, [number, number]>)[e.key];
    if (!by || e.ctrlKey || e.metaKey || e.altKey || !(e.target as HTMLElement).closest("[data-cell]")) return;
    e.preventDefault();
    const o = map.outcomes.findIndex((x) => x.outcomeId === first.outcomeId) + by[0], c = map.courses.findIndex((x) => x.courseId === first.courseId) + by[1];
    const within = (n: number, of: unknown[]) => Math.max(0, Math.min(of.length - 1, n));
    focus({ outcomeId: map.outcomes[within(o, map.outcomes)]!.outcomeId, courseId: map.courses[within(c, map.courses)]!.courseId }, at !== null);
  };
  const chosen: JobRef[] = map.market.map((k) => k.job);
  return <>
    <Refused problem={m.problem} retry={m.retry} />
    {!map.settled && <Notice title="The outcomes are being read"><p>The map is computed again when it is done.</p></Notice>}
    {map.truncated && <Notice title="A large map"><p>The skills behind each cell are left out; the marks are complete.</p></Notice>}
    <div class="actions legend"><p class="small soft grow"><b>I</b> introduced, <b>R</b> reinforced, <b>M</b> mastered, <b>A</b> assessed, <b>*</b> set by hand</p>
      <button type="button" onClick={() => share(true)}>Page to print <Key>p</Key></button></div>
    <div class="mapping">
      <div class="scroll"><table class="map" ref={area} onKeyDown={step}>
        <caption class="hidden">Curriculum map: outcomes by courses in their order</caption>
        <thead><tr><th scope="col">Outcome</th>{map.courses.map((c) => <th scope="col" title={isolated(c.courseName)}><a href={`#/programs/${program.id}/courses/${c.courseId}`}><Text of={c.courseCode} /></a></th>)}</tr></thead>
        <tbody>{map.outcomes.map((o) => <tr>
          <th scope="row"><div class="statement"><b><Text of={outcomeName(o.outcomeId)} /></b> <Text of={o.statement} /></div></th>
          {map.courses.map((c) => {
            const a = { outcomeId: o.outcomeId, courseId: c.courseId }, x = cells.get(key(a)), on = at && key(at) === key(a);
            const m = x?.mark ?? "NONE", draft = drafts.get(path + " " + key(a));
            return <td><button type="button" data-cell={key(a)} class={"cell " + m + (draft ? " draft" : "")} aria-pressed={Boolean(on)} tabIndex={key(first) === key(a) ? 0 : -1}
              onFocus={() => setFocused(a)} onClick={() => on ? close() : focus(a, true)}>
              <span aria-hidden="true">{glyph(m) || (x?.decided ? "–" : "·")}{x?.assessed && <sup>A</sup>}{x?.decided && <sup>*</sup>}</span>
              <span class="hidden"><Text of={outcomeName(o.outcomeId)} />, <Text of={c.courseCode} />: {name(m)}{x?.assessed && ", assessed"}{x?.decided && ", set by hand"}{draft && ", not saved"}</span></button></td>;
          })}
        </tr>)}</tbody>
      </table></div>
      <aside class={"panel" + (at ? " open" : "")} aria-label={at ? "Cell" : "Issues"}>
        {at ? <OneCell key={key(at)} map={map} at={at} cell={cell} title={<><Text of={outcomeName(at.outcomeId)} /> in <Text of={courseOf(at.courseId)?.courseCode} /></>} onClose={close}>
          {mayWrite && <form onSubmit={(e) => { e.preventDefault(); save(); }} onKeyDown={(e) => { if ((e.ctrlKey || e.metaKey) && e.key === "Enter") { e.preventDefault(); save(); } if (e.key === "Escape") close(); }}>
            {theirs && <Notice kind="bad" title="Somebody else changed this map meanwhile"><p>{theirs} Yours is below and not saved: save it again, or close the cell.</p></Notice>}
            <fieldset><legend>Mark</legend><div class="choices">{marks.map(([mark, g, n, k]) =>
              <label class={mark}><input type="radio" name="mark" checked={current.mark === mark} onChange={() => edit({ mark })} /> <b aria-hidden="true">{g}</b> {n} <Key>{k}</Key></label>)}</div>
              <label><input type="checkbox" checked={current.assessed} disabled={current.mark === "NONE"} onChange={(e) => edit({ assessed: e.currentTarget.checked })} /> Assessed here <Key>a</Key></label></fieldset>
            <Field label="Note" faults={decide.problem?.at("note") ?? []}>{(p) => <textarea {...p} maxLength={1000} rows={2} dir="auto" value={current.note} onInput={(e) => edit({ note: e.currentTarget.value })} />}</Field>
            <Refused problem={decide.problem} retry={decide.problem && (decide.problem.status === 0 || decide.problem.status >= 500) ? save : undefined} />
            <p class="actions"><button class="primary" disabled={decide.busy}>{decide.busy ? "Saving…" : cell?.decided || drafts.has(draftKey) ? "Save" : "Confirm this mark"} <Key>s</Key></button>
              {cell?.decided && <button type="button" disabled={decide.busy} onClick={() => void decide.run(at, null)}>Take back</button>}</p>
          </form>}
          {!mayWrite && cell?.decided?.note && <p><Text of={cell.decided.note} /></p>}
        </OneCell> : <Issues map={map} program={program} outcomeName={outcomeName} onCell={(a) => focus(a, true)} />}
        <div class="hidden" role="status">{said}</div>
      </aside>
    </div>
    <h2>What occupations ask for</h2>
    <p class="soft">Add an occupation to see which course first teaches what it asks for.</p>
    <Jobs chosen={chosen} most={10} onChange={(list) => replace(`/programs/${program.id}/map` + (list.length ? "?jobs=" + encodeURIComponent(list.map((j) => j.lib === "soc" ? "soc:" + j.id.replace(/^soc:/, "") : j.id).join(",")) : ""))} />
    {map.market.map((k) => <section>
      <h3><Text of={k.job.name} /> <span class="soft">{percent(k.coverage)} taught</span></h3>
      {k.skills.length === 0 ? <p class="soft">No requirements are known for it.</p> : <table class="narrow"><thead><tr><th scope="col">Skill</th><th scope="col" class="number">Asked</th><th scope="col" class="number">Taught</th><th scope="col">First in</th></tr></thead>
        <tbody>{k.skills.map((s) => <tr><th scope="row"><Text of={s.skillName} /></th><td class="number">{s.requiredLevel}</td><td class="number">{s.taughtLevel || "–"}</td><td>{s.firstTaughtIn ? <Text of={courseOf(s.firstTaughtIn)?.courseCode} /> : <Badge kind="bad">None</Badge>}</td></tr>)}</tbody></table>}
    </section>)}
    {sharing && <Share path={path} query={jobs && "jobs=" + encodeURIComponent(jobs)} name={"Map of " + program.name} onClose={() => share(false)} />}
  </>;
}

// Issues lists what is wrong by kind: what it means, what to do, and where.
function Issues({ map, program, outcomeName, onCell }: { map: Whole; program: Program; outcomeName: (id: string | null) => string; onCell: (a: At) => void }) {
  const by = [...new Set(map.issues.map((i) => i.kind))].map((kind) => [kind, map.issues.filter((i) => i.kind === kind)] as const);
  if (by.length === 0) return <><h2>Issues</h2><p><Badge kind="good">None</Badge> Every outcome is introduced, taken up and mastered.</p></>;
  // best is the course that comes closest to an outcome.
  const best = (outcomeId: string) => map.cells.filter((c) => c.outcomeId === outcomeId).sort((a, b) => b.score - a.score)[0]?.courseId ?? map.courses[0]!.courseId;
  return <>
    <h2>{count(map.issues.length, "issue")}</h2>
    {by.map(([kind, list]) => <section class="issue">
      <h3>{kinds[kind]?.[0] ?? kind} <span class="soft">{number(list.length)}</span></h3>
      <p class="small soft">{kinds[kind]?.[1] ?? <Text of={list[0]!.detail} />}</p>
      <ul class="where">{list.map((i) => {
        const course = map.courses.find((c) => c.courseId === i.courseId), skill = kind === "SKILL_MISSING" && map.summary.flatMap((s) => s.missingSkills).find((s) => s.skillId === i.detail);
        return <li>{i.outcomeId ? <button type="button" class="quiet" onClick={() => onCell({ outcomeId: i.outcomeId!, courseId: i.courseId ?? best(i.outcomeId!) })}>
          <span><Text of={outcomeName(i.outcomeId)} />{course && <> in <Text of={course.courseCode} /></>}{skill && <>: <Text of={skill.skillName} /></>}</span></button>
          : course ? <a href={kind === "COURSE_WITHOUT_SKILLS" ? "#/courses/" + course.courseId : `#/programs/${program.id}/courses/${course.courseId}`}><Text of={course.courseCode} /></a> : <a href={`#/programs/${program.id}/outcomes`}>Outcomes</a>}</li>;
      })}</ul>
    </section>)}
  </>;
}

// OneCell says why a cell has its mark.
function OneCell({ map, at, cell, title, onClose, children }: { map: Whole; at: At; cell: Cell | undefined; title: preact.ComponentChildren; onClose: () => void; children: preact.ComponentChildren }) {
  const outcome = map.outcomes.find((o) => o.outcomeId === at.outcomeId)!, course = map.courses.find((c) => c.courseId === at.courseId)!;
  const [still, rest] = useState(false); // the reasons are read when one stays at the cell
  useEffect(() => { const timer = setTimeout(() => rest(true), 200); return () => clearTimeout(timer); }, []);
  const skills = cell?.skills ?? [], similar = cell?.courseOutcomes ?? [];
  const own = useGet<{ outcomes: { id: string; statement: string }[] }>(still && similar.length ? `/courses/${at.courseId}/outcomes` : null);
  const section = useGet<{ evidence?: Quote[] }>(still && skills.length && course.sectionId ? `/courses/${at.courseId}/sections/${course.sectionId}?include=evidence` : null);
  const quotes = [...new Map((section.data?.evidence ?? []).filter((q) => skills.some((s) => s.skillId === q.skillId)).map((q) => [q.quote, q])).values()].slice(0, 4);
  return <>
    <div class="head"><h2>{title}</h2><button type="button" class="quiet" onClick={onClose}>Close <Key>Esc</Key></button></div>
    <p dir="auto"><Text of={outcome.statement} /></p>
    {cell?.decided && <p class="small soft">Set by hand on {date(cell.decided.decidedAt)}.{cell.decided.computedThen !== cell.computed && <> Computed then: {name(cell.decided.computedThen).toLowerCase()}; now: {name(cell.computed).toLowerCase()}.</>}</p>}
    {children}
    <h3>Why</h3>
    {!cell || cell.score === 0 ? <p>The course teaches none of the outcome’s skills{map.truncated ? ", as far as is shown" : ""}.</p>
      : <p>Computed: <strong>{name(cell.computed).toLowerCase()}</strong>. It matches {percent(cell.score)} of the outcome{cell.taughtLevel !== null && <>, at level {cell.taughtLevel} {levels[cell.taughtLevel]}; the outcome asks for {outcome.level} {levels[outcome.level]}</>}.</p>}
    {skills.length > 0 && <table><thead><tr><th scope="col">Skill</th><th scope="col" class="number">Asked</th><th scope="col" class="number">Taught</th></tr></thead>
      <tbody>{skills.map((s) => <tr><th scope="row"><Text of={s.skillName} />{s.matchType === "RELATED" && <span class="small soft"> by a related skill</span>}</th><td class="number">{s.requiredLevel}</td><td class="number">{s.taughtLevel}</td></tr>)}</tbody></table>}
    {similar.length > 0 && <><h3>Like these outcomes of the course</h3>
      {own.loading && !own.data ? <Loading /> : <ul class="plain">{similar.map((s) => <li><Text of={own.data?.outcomes.find((o) => o.id === s.outcomeId)?.statement ?? "An outcome that was removed"} /> <span class="soft">{percent(s.similarity)}</span></li>)}</ul>}</>}
    {quotes.length > 0 && <><h3>In the course’s text</h3>{quotes.map((q) => <blockquote dir="auto"><Text of={q.quote} /> <span class="small soft">{q.page > 1 && "page " + q.page}</span></blockquote>)}</>}
    <Refused problem={own.problem ?? section.problem} />
  </>;
}
