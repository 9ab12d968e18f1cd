import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Problem, call, get, onSignIn, settled, type Failure } from "./api";
import type { Skill } from "./evidence";
import { useMayWrite } from "./session";
import { Await, Badge, Empty, Key, Loading, Notice, Refused, Select, Text, asProblem, count, isolated, levels, number, useAction, useGet, useRefocus, useShortcuts, words } from "./ui";

type Outcome = { id: string; code: string | null; statement: string; level: number; levelSource: string; verb: string | null; skills: Skill[]; skillsSource: string; parentId: string | null; alignments: unknown[] };
type OutcomeList = { processingStatus: string; failure: { code: string; message: string } | null; outcomes: Outcome[]; updatedAt: string };

// Row is an outcome as it is written here. A level of undefined was not touched, null is to be
// read from the sentence. parent is the key of another row.
type Row = { key: string; id: string | null; code: string; statement: string; level?: number | null | undefined; parent: string | null };

let last = 0;
const blank = (parent: string | null): Row => ({ key: "new" + ++last, id: null, code: "", statement: "", parent });
// rowsOf turns a list into rows, which keep the keys that they have here.
const rowsOf = (l: OutcomeList, old: Row[]): Row[] => {
  const keys = new Map(old.map((r) => [r.id, r.key])), key = (id: string) => keys.get(id) ?? id;
  return l.outcomes.map((o) => ({ key: key(o.id), id: o.id, code: o.code ?? "", statement: o.statement, parent: o.parentId && key(o.parentId) }));
};
const plain = (r: Row, all: Row[]) => JSON.stringify([r.id, r.code.trim(), r.statement.trim(), r.level === undefined, all.find((p) => p.key === r.parent)?.id ?? r.parent]);
const same = (a: Row[], b: Row[]) => a.length === b.length && a.every((r, i) => plain(r, a) === plain(b[i]!, b));

// merge puts what somebody else has saved into what was written here since base: rows that were
// not touched here become theirs, theirs that are new are added, and what both changed stays as it is here.
export function merge(base: Row[], mine: Row[], theirs: Row[]) {
  const was = new Map(base.map((r) => [r.id, r])), now = new Map(theirs.map((r) => [r.id, r]));
  const touched = (r: Row) => { const b = was.get(r.id); return !b || plain(r, mine) !== plain(b, base); };
  const changed = (r: Row) => { const b = was.get(r.id); return !b || b.statement !== r.statement || b.code !== r.code || b.parent !== r.parent; };
  const rows = mine.flatMap((r): Row[] => {
    const t = r.id ? now.get(r.id) : undefined;
    if (!r.id) return [r];
    if (!t) return touched(r) ? [{ ...r, id: null }] : [];
    return [touched(r) ? r : { ...t, key: r.key }];
  });
  const added = theirs.filter((t) => !was.has(t.id));
  const whole = [...rows, ...added];
  const present = new Set(whole.map((r) => r.key));
  return {
    rows: whole.map((r) => r.parent && !present.has(r.parent) ? { ...r, parent: null } : r),
    theirs: [...added.map((t) => ({ how: "Added", statement: t.statement })), ...base.filter((b) => !now.has(b.id)).map((b) => ({ how: "Removed", statement: b.statement })),
      ...theirs.filter((t) => was.has(t.id) && changed(t)).map((t) => ({ how: "Changed", statement: t.statement }))],
  };
}

// drafts keeps what was written and not saved while one looks elsewhere.
const drafts = new Map<string, { base: Row[]; rows: Row[] }>();
onSignIn(() => drafts.clear());
addEventListener("beforeunload", (e) => { if (drafts.size) e.preventDefault(); });

const idle = (l: OutcomeList) => !["PENDING", "PROCESSING"].includes(l.processingStatus);

// useOutcomes holds a list, what is written on it here, and saves it on the version that it was written on.
function useOutcomes(path: string) {
  const [list, setList] = useState<OutcomeList | null>(null);
  const [rows, setRows] = useState<Row[]>([]);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [meanwhile, tell] = useState<{ how: string; statement: string }[] | null>(null);
  const [saved, setSaved] = useState(false);
  const [busy, setBusy] = useState(false);
  const own = useRef({ etag: "", base: [] as Row[], rows: [] as Row[], sent: [] as string[], ended: new AbortController() });
  const edit = (next: Row[]) => {
    own.current.rows = next;
    setRows(next);
    if (same(next, own.current.base)) drafts.delete(path); else drafts.set(path, { base: own.current.base, rows: next });
  };
  // take makes a list of the service the one that is written on; it returns what others have changed.
  const take = (l: OutcomeList, etag: string) => {
    const o = own.current, draft = drafts.get(path), theirs = rowsOf(l, draft?.rows ?? o.rows);
    const merged = draft ? merge(draft.base, draft.rows, theirs) : { rows: theirs, theirs: [] };
    o.etag = etag;
    o.base = theirs;
    setList(l);
    edit(merged.rows);
    return merged.theirs;
  };
  const load = async () => {
    const { signal } = own.current.ended;
    const read = async () => { const { data, etag } = await get<OutcomeList>(path, signal); const changed = take(data, etag); if (changed.length) tell(changed); return data; };
    if (!idle(await read())) { await settled<OutcomeList>(path, idle, signal); await read(); }
  };
  const start = () => { setProblem(null); load().catch((e) => { if (!own.current.ended.signal.aborted) setProblem(asProblem(e)); }); };
  useEffect(() => {
    own.current.ended = new AbortController();
    const { ended } = own.current;
    start();
    return () => ended.abort();
  }, [path]);
  // reread reads the list after a 412, and returns what others have changed in it: nothing where only its owner has changed.
  const reread = async () => {
    const was = own.current.base, { data, etag } = await get<OutcomeList>(path);
    const theirs = take(data, etag);
    if (!idle(data)) start();
    return same(was, own.current.base) ? null : theirs;
  };
  const save = async (again = true): Promise<void> => {
    const o = own.current;
    const sent = o.rows.filter((r) => r.statement.trim() || r.code.trim());
    const known = new Map(list!.outcomes.map((x) => [x.id, x]));
    const by = new Map(sent.map((r) => [r.key, r]));
    const outcomes = sent.map((r) => {
      const parent = r.parent ? by.get(r.parent) : undefined;
      return {
        ...(r.id ? { id: r.id, alignments: known.get(r.id)?.alignments ?? [] } : {}), code: r.code.trim() || null, statement: r.statement.trim(),
        ...(r.level === undefined ? {} : { level: r.level }), ...(parent ? parent.id ? { parentId: parent.id } : { parentCode: parent.code.trim() } : {}),
      };
    });
    o.sent = sent.map((r) => r.key);
    // accept makes the saved list the one that is written on; what was typed meanwhile stays.
    const accept = (l: OutcomeList, etag: string) => {
      const ids = new Map(sent.map((r, i) => [r.key, l.outcomes[i]!.id]));
      const written = o.rows.filter((r) => ids.has(r.key) || r.statement.trim() || r.code.trim()).map((r): Row => {
        const s = by.get(r.key);
        return { ...r, id: ids.get(r.key) ?? r.id, ...(s && s.level === r.level ? { level: undefined } : {}) };
      });
      o.etag = etag;
      setSaved(true);
      o.base = rowsOf(l, written);
      setList(l);
      edit(same(written, o.base) ? o.base : written);
      if (!idle(l)) start();
    };
    setBusy(true); setProblem(null); tell(null); setSaved(false);
    try {
      const saved = await call<OutcomeList>("PUT", path, { body: { outcomes }, ifMatch: o.etag });
      accept(saved.data, saved.etag);
    } catch (e) {
      const p = asProblem(e);
      if (p.status !== 412) return setProblem(p);
      try {
        const now = await get<OutcomeList>(path);
        const ours = now.data.outcomes.length === sent.length && now.data.outcomes.every((x, i) => x.statement === outcomes[i]!.statement && (x.code ?? null) === outcomes[i]!.code);
        if (ours) return accept(now.data, now.etag); // the answer to the first attempt was lost
        const theirs = await reread();
        if (!theirs && again) return await save(false);
        tell(theirs ?? []);
      } catch (e) { setProblem(asProblem(e)); }
    } finally { setBusy(false); }
  };
  return {
    list, rows, edit, save, saved, busy, problem, meanwhile, etag: () => own.current.etag, take, reread, dirty: list !== null && !same(rows, own.current.base),
    heard: () => tell(null), retry: start, discard: () => { drafts.delete(path); tell(null); edit(own.current.base); },
    faults: (key: string): Failure[] => problem && own.current.sent.includes(key) ? problem.at(`outcomes[${own.current.sent.indexOf(key)}]`) : [],
  };
}

const depth = (r: Row, all: Row[]): number => { const p = r.parent && all.find((o) => o.key === r.parent); return p ? 1 + depth(p, all) : 1; };
const under = (r: Row, top: string, all: Row[]): boolean => r.parent !== null && (r.parent === top || under(all.find((o) => o.key === r.parent) ?? blank(null), top, all));
// block returns the end of the rows that stand under the one at i.
const block = (i: number, all: Row[]) => { let to = i + 1; while (to < all.length && under(all[to]!, all[i]!.key, all)) to++; return to; };

// moved returns the rows with the one at i, and those under it, before its previous or behind its next sibling.
export function moved(rows: Row[], i: number, by: -1 | 1): Row[] | null {
  const to = block(i, rows), siblings = rows.map((r, n) => ({ r, n })).filter(({ r }) => r.parent === rows[i]!.parent);
  const other = siblings[siblings.findIndex(({ n }) => n === i) + by]?.n;
  if (other === undefined) return null;
  const own = rows.slice(i, to);
  const rest = [...rows.slice(0, i), ...rows.slice(to)];
  const at = by < 0 ? other : rest.indexOf(rows[block(other, rows) - 1]!) + 1;
  return [...rest.slice(0, at), ...own, ...rest.slice(at)];
}

const ofCode = (f: Failure) => f.location.endsWith(".code");

// Outcomes writes the outcomes of a program or a course.
export function Outcomes({ path, of, children }: { path: string; of: "program" | "course"; children?: (o: ReturnType<typeof useOutcomes>) => preact.ComponentChildren }) {
  const o = useOutcomes(path);
  const mayWrite = useMayWrite();
  const area = useRef<HTMLOListElement>(null);
  const [wanted, want] = useState<string | null>(null);
  useRefocus(o.dirty);
  const focus = (key: string | null) => want(key);
  useLayoutEffect(() => { // at once: later it would take the focus from where the person has gone on
    if (!wanted) return;
    area.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(wanted)}"] textarea`)?.focus();
    want(null);
  }, [wanted]);
  const add = (at = o.rows.length, parent: string | null = null, statements = [""]) => {
    const fresh = statements.map((statement) => ({ ...blank(parent), statement }));
    o.edit([...o.rows.slice(0, at), ...fresh, ...o.rows.slice(at)]);
    focus(fresh.at(-1)!.key);
  };
  useShortcuts(mayWrite && o.list ? [{ keys: "+", does: "Add an outcome", run: () => add() }] : []);
  if (!o.list) return o.problem ? <Refused problem={o.problem} retry={o.problem.status === 404 ? undefined : o.retry} /> : <Loading />;
  const known = new Map(o.list.outcomes.map((x) => [x.id, x]));
  const reading = !idle(o.list);
  const change = (key: string, with_: Partial<Row>) => o.edit(o.rows.map((r) => r.key === key ? { ...r, ...with_ } : r));
  const move = (i: number, by: -1 | 1) => { const next = moved(o.rows, i, by); if (next) { o.edit(next); focus(o.rows[i]!.key); } };
  const remove = (i: number) => {
    const gone = o.rows[i]!;
    o.edit(o.rows.filter((r) => r !== gone).map((r) => r.parent === gone.key ? { ...r, parent: gone.parent } : r));
    focus(o.rows[i - 1]?.key ?? o.rows[i + 1]?.key ?? null);
  };
  const changes = o.rows.filter((r) => { const k = r.id ? known.get(r.id) : undefined; return !k || k.statement !== r.statement.trim() || (k.code ?? "") !== r.code.trim() || r.level !== undefined; }).length;
  const general = o.problem && o.rows.some((r) => o.faults(r.key).length) ? new Problem(o.problem.status, o.problem.code, "Some outcomes are not accepted; see what is said below them. Nothing was saved.") : o.problem;
  return <div onKeyDown={(e) => { if (mayWrite && o.dirty && (e.ctrlKey || e.metaKey) && (e.key === "Enter" || e.key === "s")) { e.preventDefault(); void o.save(); } }}>
    {o.meanwhile && <Notice kind="bad" title="Somebody else changed this list meanwhile" onClose={o.heard}>
      <p>{o.dirty ? "Their changes were put into yours below; where you both changed the same outcome, yours stands. Nothing is saved until you save." : "What you see now is the current list."}</p>
      {o.meanwhile.length > 0 && <ul>{o.meanwhile.slice(0, 10).map((m) => <li class="few">{m.how}: <Text of={m.statement} /></li>)}</ul>}
    </Notice>}
    {o.list.failure && <Notice kind="bad" title="The sentences could not be read"><p><Text of={o.list.failure.message} /> Save the list again to try once more; the sentences themselves are safe.</p></Notice>}
    {reading && <Notice title="The sentences are being read"><p>Their levels and skills appear here in a moment. You can go on writing.</p></Notice>}
    <Refused problem={general} retry={o.problem && (o.problem.status === 0 || o.problem.status >= 500) && o.dirty ? () => void o.save() : undefined} />
    {o.rows.length === 0 ? <Empty>
      <p>{of === "program" ? "Nobody has written what this program promises." : "This course has no outcomes yet."} An outcome is one sentence about what students can do afterwards, such as “Analyze a balance sheet”.</p>
      {mayWrite && <p><button type="button" class="primary" onClick={() => add()}>Write the first outcome</button></p>}
    </Empty> : <ol class="outcomes" ref={area}>{o.rows.map((r, i) => {
      const k = r.id ? known.get(r.id) : undefined, fresh = !k || k.statement !== r.statement.trim(), d = depth(r, o.rows);
      const name = r.code.trim() || "outcome " + number(i + 1);
      const before = o.rows.slice(0, i).findLast((p) => p.parent === r.parent);
      const faults = o.faults(r.key);
      const given = k?.levelSource === "GIVEN";
      const level = r.level === undefined ? given ? String(k!.level) : "" : r.level === null ? "" : String(r.level);
      const about = <div class="small soft skills">
        {fresh ? r.statement.trim() && <span>Its level and skills are read when you save.</span>
          : reading && k!.skills.length === 0 ? <span>Being read…</span>
            : k!.skills.length === 0 ? <span>No skills found in this sentence.</span>
              : k!.skills.map((s) => <Badge><Text of={s.skillName} /> {s.level}</Badge>)}
      </div>;
      return <li key={r.key} data-key={r.key} class={"depth" + d}>
        {mayWrite ? <>
          <input class="short" aria-label={"Code of " + isolated(name)} placeholder="Code" maxLength={50} value={r.code} aria-invalid={faults.some(ofCode) || undefined} onInput={(e) => change(r.key, { code: e.currentTarget.value })} />
          <div class="grow">
            <textarea aria-label={"Statement of " + isolated(name)} rows={1} maxLength={2000} dir="auto" value={r.statement} aria-invalid={faults.some((f) => !ofCode(f)) || undefined}
              onInput={(e) => change(r.key, { statement: e.currentTarget.value })}
              onPaste={(e) => {
                const lines = (e.clipboardData?.getData("text/plain") ?? "").split(/\r?\n/).map((l) => l.replace(/^\s*(?:[•*–-]|\d{1,2}[.)])\s+/, "").trim()).filter(Boolean);
                if (lines.length < 2) return;
                e.preventDefault();
                const rest = lines.map((statement) => ({ ...blank(r.parent), statement }));
                const next = [...o.rows];
                next.splice(r.statement.trim() ? i + 1 : i, r.statement.trim() ? 0 : 1, ...rest);
                o.edit(next);
                focus(rest.at(-1)!.key);
              }}
              onKeyDown={(e) => {
                if (e.isComposing || e.ctrlKey || e.metaKey) return;
                if (e.key === "Enter") { e.preventDefault(); add(block(i, o.rows), r.parent); }
                else if (e.key === "Backspace" && !r.statement && !r.code) { e.preventDefault(); remove(i); }
                else if (e.altKey && (e.key === "ArrowUp" || e.key === "ArrowDown")) { e.preventDefault(); move(i, e.key === "ArrowUp" ? -1 : 1); }
              }} />
            {faults.map((f) => <div class="fault small">{ofCode(f) && "The code "}<Text of={f.message} /></div>)}
            {about}
          </div>
          <select class="level" aria-label={"Level of " + isolated(name)} value={level} onChange={(e) => { const v = e.currentTarget.value; change(r.key, { level: v === "" ? given ? null : undefined : given && Number(v) === k!.level ? undefined : Number(v) }); }}>
            <option value="">{k && !fresh && !given ? `${k.level} ${levels[k.level]}, as read` : "As read"}</option>
            {[1, 2, 3, 4, 5].map((n) => <option value={String(n)}>{n} {levels[n]}</option>)}
          </select>
          <div class="tools" role="group" aria-label={"Place of " + isolated(name)}>
            <button type="button" class="quiet" aria-label="Move up" title="Move up (Alt ↑)" disabled={!moved(o.rows, i, -1)} onClick={() => move(i, -1)}>↑</button>
            <button type="button" class="quiet" aria-label="Move down" title="Move down (Alt ↓)" disabled={!moved(o.rows, i, 1)} onClick={() => move(i, 1)}>↓</button>
            <button type="button" class="quiet" aria-label="Put under the outcome above" title={before && !before.id && !before.code.trim() ? "Save first, or give the outcome above a code" : "Put under the outcome above"}
              disabled={!before || !before.id && !before.code.trim() || Math.max(d, ...o.rows.filter((x) => under(x, r.key, o.rows)).map((x) => depth(x, o.rows))) >= 3} onClick={() => { change(r.key, { parent: before!.key }); focus(r.key); }}>→</button>
            <button type="button" class="quiet" aria-label="Take out of the outcome above" title="Take out of the outcome above" disabled={r.parent === null} onClick={() => { change(r.key, { parent: o.rows.find((p) => p.key === r.parent)?.parent ?? null }); focus(r.key); }}>←</button>
            <button type="button" class="quiet" aria-label={"Remove " + isolated(name)} title="Remove" onClick={() => remove(i)}>✕</button>
          </div>
        </> : <>
          <span class="short code"><Text of={r.code} /></span>
          <div class="grow"><Text of={r.statement} />{about}</div>
          {k && <span class="soft small">{k.level} {levels[k.level]}</span>}
        </>}
      </li>;
    })}</ol>}
    {mayWrite && o.rows.length > 0 && <p class="actions"><button type="button" onClick={() => add()}>Add an outcome <Key>+</Key></button><span class="small soft">Enter adds one below, Alt ↑ and ↓ move; a pasted list becomes one each.</span></p>}
    <p class="small soft" role="status">{o.saved && !o.dirty && "Saved."}</p>
    {mayWrite && o.dirty && <div class="bar" role="region" aria-label="Changes">
      <div class="grow"><strong>Not saved yet</strong><div class="small soft" role="status">{changes ? count(changes, "outcome") + " written or changed" : "Another order, or outcomes removed"}</div></div>
      <div class="actions"><button type="button" disabled={o.busy} onClick={o.discard}>Discard</button>
        <button type="button" class="primary" disabled={o.busy} onClick={() => void o.save()}>{o.busy ? "Saving…" : "Save"} <Key>Ctrl Enter</Key></button></div>
    </div>}
    {children?.(o)}
  </div>;
}

type Course = { id: string; code: string; name: string; defaultSectionId: string; sections: { id: string; name: string; term: string | null; status: string }[] };
type Found = { number: number; code: string | null; statement: string; page: number; level: number };

// CourseOutcomes adds the sentences that syllabi of a course contain.
export function CourseOutcomes({ courseId }: { courseId: string }) {
  const course = useGet<Course>("/courses/" + courseId);
  return <Outcomes key={courseId} path={`/courses/${courseId}/outcomes`} of="course">{(o) =>
    <Await of={course}>{(c) => <FoundOutcomes course={c} o={o} />}</Await>}</Outcomes>;
}

function FoundOutcomes({ course, o }: { course: Course; o: ReturnType<typeof useOutcomes> }) {
  const mayWrite = useMayWrite();
  const [chosen, choose] = useState(course.defaultSectionId);
  const [off, setOff] = useState<Set<number>>(new Set());
  const section = useGet<{ processingStatus: string; foundOutcomes: Found[] | null }>(`/courses/${course.id}/sections/${chosen}?include=outcomes`);
  const reading = section.data && !["COMPLETED", "FAILED"].includes(section.data.processingStatus);
  useEffect(() => {
    if (!reading) return;
    const gone = new AbortController();
    settled<{ processingStatus: string }>(`/courses/${course.id}/sections/${chosen}`, (s) => ["COMPLETED", "FAILED"].includes(s.processingStatus), gone.signal).then(section.reload, () => {});
    return () => gone.abort();
  }, [chosen, reading]);
  const normal = (s: string) => s.trim().replace(/\s+/g, " ").toLowerCase();
  const here = new Set(o.list!.outcomes.map((x) => normal(x.statement)));
  const adopt = useAction(async (key: string, numbers: number[]) => {
    const post = () => call<OutcomeList>("POST", `/courses/${course.id}/outcomes/adopt`, { body: { sectionId: chosen, numbers }, ifMatch: o.etag(), idempotencyKey: key });
    const { data, etag } = await post().catch(async (e) => {
      if (!(e instanceof Problem) || e.status !== 412 || await o.reread()) throw e;
      return post();
    });
    o.take(data, etag);
    o.retry();
  });
  return <section aria-labelledby="found">
    <h2 id="found">Found in a syllabus</h2>
    {course.sections.length > 1 && <Select label="Syllabus of" value={chosen} options={course.sections.map((s) => [s.id, s.name + (s.term ? " · " + s.term : "")])} onChange={(v) => { choose(v); setOff(new Set()); }} />}
    <Await of={section}>{(s) => {
      const found = s.foundOutcomes ?? [], left = found.filter((f) => !here.has(normal(f.statement))), take = left.filter((f) => !off.has(f.number));
      return reading ? <Notice title={words(s.processingStatus)}><p>The syllabus is being read.</p></Notice>
        : found.length === 0 ? <p class="soft">This section has no syllabus, or its syllabus states no outcomes.</p> : <>
          <ul class="found">{found.map((f) => here.has(normal(f.statement))
            ? <li class="soft"><span aria-hidden="true">✓</span> <Text of={f.statement} /> <Badge kind="good">In the list</Badge></li>
            : <li>{mayWrite ? <label><input type="checkbox" checked={!off.has(f.number)} onChange={() => setOff((was) => { const next = new Set(was); if (!next.delete(f.number)) next.add(f.number); return next; })} /> <Text of={f.statement} /> <span class="small soft">{f.code && <><Text of={f.code} />, </>}page {f.page}, {f.level} {levels[f.level]}</span></label> : <Text of={f.statement} />}</li>)}</ul>
          <Refused problem={adopt.problem} />
          {mayWrite && left.length > 0 && <p><button type="button" disabled={adopt.busy || take.length === 0} onClick={() => void adopt.run(take.map((f) => f.number))}>{adopt.busy ? "Adding…" : `Add ${count(take.length, "sentence")} to the outcomes`}</button></p>}
        </>;
    }}</Await>
  </section>;
}
