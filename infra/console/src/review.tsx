import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Problem, call, get } from "./api";
import { Evidence, named, type Item, type Quote, type Skill, type Verdict } from "./evidence";
import { go } from "./route";
import { useMayWrite } from "./session";
import { Choose, Dialog, Empty, Key, Loading, Notice, Refused, Text, asProblem, count, isolated, levels, percent, useShortcuts, words } from "./ui";

export type Review = { skillId: string; skillName: string; verdict: Verdict; level: number | null; note: string | null; extracted: { level: number; confidence: number } | null };
export type Reviewed = {
  id: string; updatedAt: string; processingStatus: string; failure: { code: string; message: string } | null;
  skills: Skill[]; evidence?: Quote[]; rejectedEvidence?: Quote[]; reviews?: Review[]; text?: string;
};

// Decision is what a person said about a skill; without a verdict, that the extraction's word holds again.
type Decision = { skillId: string; skillName: string; verdict: Verdict | null; level: number | null };

const settledStates = ["COMPLETED", "FAILED"];

// Done is whether people have decided on all skills of a record.
export const isDone = (r: Reviewed) => r.skills.length + (r.reviews?.length ?? 0) > 0 && r.skills.every((s) => r.reviews?.some((v) => v.skillId === s.skillId));

// useReviews holds a record with reviews, and saves decisions one after the other, each on the
// version that the one before has made. What is not saved yet is shown as if it were.
function useReviews<T extends Reviewed>(path: string) {
  const [record, setRecord] = useState<T | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [waiting, setWaiting] = useState<Decision[]>([]);
  const [lost, setLost] = useState<Decision[]>([]);
  const own = useRef({ etag: "", queue: [] as Decision[], busy: false, ended: new AbortController() });
  const load = async () => {
    const { signal } = own.current.ended;
    for (let pause = 300; ; pause = Math.min(3000, pause * 1.5)) {
      const { data, etag } = await get<T>(path + "?include=evidence,reviews,rejected,text", signal);
      own.current.etag = etag;
      setRecord(data);
      if (settledStates.includes(data.processingStatus)) return data;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  };
  const start = () => {
    setProblem(null);
    load().catch((e) => { if (!own.current.ended.signal.aborted) setProblem(asProblem(e)); });
  };
  useEffect(() => {
    own.current = { etag: "", queue: [], busy: false, ended: new AbortController() };
    const { ended } = own.current;
    setRecord(null); setWaiting([]); setLost([]);
    start();
    return () => ended.abort();
  }, [path]);
  const drain = async () => {
    const o = own.current;
    if (o.busy) return;
    o.busy = true;
    setProblem(null);
    try {
      for (let d = o.queue[0]; d; d = o.queue[0]) {
        const at = `${path}/skills/${encodeURIComponent(d.skillId)}/review`;
        try {
          if (d.verdict) {
            const saved = await call<T>("PUT", at, { body: { verdict: d.verdict, ...(d.level ? { level: d.level } : {}) }, ifMatch: o.etag });
            o.etag = saved.etag;
            const { skillId, skillName, verdict, level } = d;
            setRecord((r) => r && { ...r, skills: saved.data.skills, reviews: [...(r.reviews ?? []).filter((v) => v.skillId !== skillId), { ...(r.reviews?.find((v) => v.skillId === skillId) ?? { note: null, extracted: r.skills.find((s) => s.skillId === skillId) ?? null }), skillId, skillName, verdict, level }] });
          } else {
            await call("DELETE", at, { ifMatch: o.etag });
            await load();
          }
        } catch (e) {
          if (!(e instanceof Problem) || e.status !== 412) throw e;
          const now = await load();
          const review = now.reviews?.find((r) => r.skillId === d!.skillId);
          // A lost answer is repeated on a version that it has made itself.
          if ((review?.verdict ?? null) !== d.verdict || d.verdict && (review!.level ?? null) !== d.level) {
            setLost(o.queue.splice(0));
            setWaiting([]);
            return;
          }
        }
        o.queue.shift();
        setWaiting([...o.queue]);
      }
    } catch (e) {
      setProblem(asProblem(e));
    } finally {
      o.busy = false;
    }
  };
  const decide = (...d: Decision[]) => {
    own.current.queue.push(...d);
    setWaiting([...own.current.queue]);
    void drain();
  };
  return { record, problem, waiting, lost, decide, retry: () => own.current.queue.length ? void drain() : start(), forget: () => setLost([]) };
}

// shown is the record's skills with what people said about them.
function shown(r: Reviewed, waiting: Decision[]): Item[] {
  const items = new Map<string, Item>();
  for (const s of r.skills) items.set(s.skillId, { ...s, verdict: null });
  for (const v of r.reviews ?? []) {
    const i = items.get(v.skillId);
    items.set(v.skillId, { skillId: v.skillId, skillName: v.skillName, level: i?.level ?? v.level ?? v.extracted?.level ?? 2, confidence: i?.confidence ?? v.extracted?.confidence ?? 1, verdict: v.verdict, added: v.extracted === null });
  }
  for (const d of waiting) {
    const i = items.get(d.skillId);
    items.set(d.skillId, { skillId: d.skillId, skillName: d.skillName, confidence: i?.confidence ?? 1, level: d.level ?? i?.level ?? 2, verdict: d.verdict, added: i?.added ?? !i });
  }
  return [...items.values()].sort((a, b) => a.skillName.localeCompare(b.skillName));
}

const verbs: Record<string, string> = { ACCEPTED: "Accepted", REJECTED: "Rejected" };
const said = (d: Decision) => `${d.verdict ? verbs[d.verdict] : "Undone:"} ${isolated(d.skillName)}${d.level ? ", level " + d.level : ""}.`;

// ReviewEvidence is the heart of the console: a record's text, its skills beside it, and a bar
// for the decision on the one in hand.
export function ReviewEvidence<T extends Reviewed>({ path, onChange, next }: { path: string; onChange?: (r: T) => void; next?: { name: string; address: string } | undefined }) {
  const r = useReviews<T>(path);
  const mayWrite = useMayWrite();
  const [active, setActive] = useState<string | null>(null);
  const [adding, add] = useState(false);
  const [told, tell] = useState("");
  const undone = useRef<Decision[]>([]);
  useEffect(() => { undone.current = []; setActive(null); tell(""); }, [path]);
  useEffect(() => { if (r.record) onChange?.(r.record); }, [r.record]);
  useEffect(() => { if (r.lost.length > 0) tell("Not saved: " + r.lost.map(said).join(" ")); }, [r.lost]);
  const quotes = useMemo(() => [...r.record?.evidence ?? [], ...r.record?.rejectedEvidence ?? []], [r.record?.evidence, r.record?.rejectedEvidence]);
  const items = r.record ? shown(r.record, r.waiting) : [];
  const at = items.find((i) => i.skillId === active);
  const left = items.filter((i) => i.verdict === null);
  const decide = (skill: { skillId: string; skillName: string }, verdict: Verdict, level: number | null) => {
    const before = r.record!.reviews?.find((v) => v.skillId === skill.skillId);
    const queued = r.waiting.findLast((d) => d.skillId === skill.skillId);
    undone.current.push(queued ? { ...queued } : { skillId: skill.skillId, skillName: skill.skillName, verdict: before?.verdict ?? null, level: before?.level ?? null });
    const decision = { skillId: skill.skillId, skillName: skill.skillName, verdict, level };
    r.decide(decision);
    tell(said(decision));
  };
  // onward goes to the next skill without a decision, in the order of the text.
  const onward = (from: string) => {
    const notes = [...document.querySelectorAll<HTMLElement>("[data-note]")].map((n) => n.dataset.note!);
    const start = notes.indexOf(from);
    const next = [...notes.slice(start + 1), ...notes.slice(0, start)].find((n) => left.some((i) => i.skillId === n && n !== from));
    if (next) document.querySelector<HTMLElement>(`[data-note="${CSS.escape(next)}"]`)?.focus();
  };
  const act = (verdict: Verdict, level: number | null) => {
    if (!at || !mayWrite) return;
    if (at.added && verdict === "ACCEPTED" && level === null) level = at.level;
    decide(at, verdict, level);
    onward(at.skillId);
  };
  const undo = () => {
    const d = undone.current.pop();
    if (!d) return;
    r.decide(d);
    setActive(d.skillId);
    document.querySelector<HTMLElement>(`[data-note="${CSS.escape(d.skillId)}"]`)?.focus();
    tell(`Undone: ${isolated(d.skillName)}.`);
  };
  const list = [
    { keys: "a", does: "Accept the skill", run: () => act("ACCEPTED", null) },
    { keys: "r", does: "Reject the skill", run: () => act("REJECTED", null) },
    { keys: "1|2|3|4|5", does: "Accept the skill at this level", run: (e: KeyboardEvent) => act("ACCEPTED", Number(e.key)) },
    { keys: "u", does: "Undo the last decision", run: undo },
    { keys: "+", does: "Add a skill", run: () => add(true) },
  ];
  useShortcuts([...(mayWrite ? list : []), ...(next ? [{ keys: "]", does: "Next section to review", run: () => go(next.address) }] : [])]);
  if (!r.record) return r.problem ? <Refused problem={r.problem} retry={r.retry} /> : <Loading>Loading the text and its skills…</Loading>;
  const { record } = r;
  return <section aria-label="Skills and their evidence">
    {!settledStates.includes(record.processingStatus) && <Notice title="The text is being read">The skills appear here when it is done.</Notice>}
    {record.failure && <Notice kind="bad" title={words(record.failure.code)}><p><Text of={record.failure.message} /></p></Notice>}
    {r.lost.length > 0 && <Notice kind="bad" title="Somebody else changed this meanwhile" onClose={r.forget}>
      <p>What you see now is the current state. Not saved: {r.lost.map((d, i) => <>{i > 0 && ", "}<Text of={d.skillName} /> ({d.verdict ? words(d.verdict).toLowerCase() : "undone"})</>)}.</p>
      <p><button type="button" onClick={() => { const mine = r.lost; r.forget(); r.decide(...mine); tell(mine.map(said).join(" ")); }}>Save mine again</button></p>
    </Notice>}
    <Refused problem={r.problem} retry={r.retry} />
    {items.length === 0 && !record.text && settledStates.includes(record.processingStatus) ? <Empty>
      <p>No skills here yet. They come from a syllabus or a description{mayWrite ? ", or are added by hand." : "."}</p>
      {mayWrite && <p><button type="button" onClick={() => add(true)}>Add a skill</button></p>}
    </Empty> : <>
      <Evidence text={record.text ?? ""} quotes={quotes} items={items} active={active} onActive={setActive} reviewed={true}
        none={<p>These skills were set by hand; there is no text behind them.</p>} />
      <div class="bar" role="region" aria-label="Review">
        <div class="grow">{at ? <><strong><Text of={at.skillName} /></strong> <span class="small soft">{at.verdict === "REJECTED" ? "rejected" : `${at.level} ${levels[at.level]}`}{at.verdict === null && ", " + percent(at.confidence) + " sure"}{at.verdict === "ACCEPTED" && (at.added ? ", added" : ", accepted")}</span></>
          : <span class="soft">Choose a skill <Key>j</Key></span>}
          <div class="small soft">{items.length - left.length} of {count(items.length, "skill")} reviewed <progress aria-label="Skills reviewed" value={items.length - left.length} max={Math.max(1, items.length)} />{r.waiting.length > 0 && ` saving ${r.waiting.length}…`}
            {next && <> <a href={"#" + next.address}>Next section<span class="hidden">: <Text of={next.name} /></span></a> <Key>]</Key></>}</div>
        </div>
        {mayWrite && <div class="actions">
          <span role="group" aria-label={at ? "Level of " + named(at) : "Level"} class="levels">{[1, 2, 3, 4, 5].map((n) =>
            <button type="button" disabled={!at} aria-pressed={at?.verdict !== "REJECTED" && at?.level === n} title={levels[n]!} aria-label={`${n} ${levels[n]}`} onClick={() => act("ACCEPTED", n)}>{n}</button>)}</span>
          <button type="button" disabled={!at} class="primary" onClick={() => act("ACCEPTED", null)}>Accept <Key>a</Key></button>
          <button type="button" disabled={!at} onClick={() => act("REJECTED", null)}>Reject <Key>r</Key></button>
          <button type="button" disabled={undone.current.length === 0} onClick={undo}>Undo <Key>u</Key></button>
          <button type="button" onClick={() => add(true)}>Add a skill <Key>+</Key></button>
        </div>}
        <div class="hidden" role="status">{told}</div>
      </div>
    </>}
    {adding && <AddSkill onClose={() => add(false)} onAdd={(s, level) => { add(false); decide(s, "ACCEPTED", level); setActive(s.skillId); }} />}
  </section>;
}

type Known = { id: string; name: string; description: string | null };

// AddSkill searches the taxonomy for a skill that nothing has found.
function AddSkill({ onAdd, onClose }: { onAdd: (s: { skillId: string; skillName: string }, level: number) => void; onClose: () => void }) {
  const [skill, setSkill] = useState<Known | null>(null);
  const [level, setLevel] = useState(3);
  return <Dialog title="Add a skill" onClose={onClose}>
    <Choose<Known> label="Search the taxonomy" path={(q) => "/skills?limit=12&query=" + encodeURIComponent(q)} name={(s) => s.name} onChoose={setSkill} autoFocus />
    {skill && <form onSubmit={(e) => { e.preventDefault(); onAdd({ skillId: skill.id, skillName: skill.name }, level); }}>
      <p><strong><Text of={skill.name} /></strong>{skill.description && <><br /><span class="small soft"><Text of={skill.description} /></span></>}</p>
      <fieldset><legend>Level</legend>{[1, 2, 3, 4, 5].map((n) => <label class="option"><input type="radio" name="level" value={n} checked={level === n} onChange={() => setLevel(n)} /> {n} {levels[n]}</label>)}</fieldset>
      <button class="primary">Add</button>
    </form>}
  </Dialog>;
}
