import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Problem, call, get, onSignIn, query, remembered, type Page } from "./api";
import type { Course } from "./courses";
import type { Quote, Skill } from "./evidence";
import { go, type Route } from "./route";
import { useMayWrite } from "./session";
import { Await, Badge, Dialog, Field, Key, List, Loading, Notice, Refused, Screen, State, Text, count, date, levels, percent, save, score, time, today, useAction, useGet, useRefocus, useShortcuts, words } from "./ui";

export type SkillMatch = { skillId: string; transferLevel: number; institutionalLevel: number; matchScore: number; matchType: "EXACT" | "RELATED" };
type Move = { at: string; from: string; to: string; decidedBy: { name: string; role: string | null } | null; note: string | null };
export type Articulation = {
  id: string; sendingInstitution: { name: string }; sending: { courses: { code: string; title: string | null; minimumGrade: string | null }[] }[];
  receiving: { courseId: string | null; label: string | null }[]; decision: string; reason: string | null; status: string; effectiveFrom: string; effectiveTo: string | null;
  effectiveTerm: string | null; publicNote: string | null; privateNote: string | null; decidedBy: { name: string; role: string | null } | null; updatedAt: string;
  evidence: { transferCourseId: string; packageId?: string; courseId: string; sectionId: string; skillsMatchScore: number; equivalence: string; skillMatches: SkillMatch[] } | null;
};
export type Taught = { id: string; name: string; skills: Skill[]; evidence?: Quote[] };

export const equivalences: Record<string, [string, string]> = { FULL: ["good", "Full"], PARTIAL: ["wait", "Partial"], NONE: ["", "Below partial"] };
export const Equivalence = ({ of }: { of: string }) => <Badge kind={equivalences[of]?.[0] ?? ""}>{equivalences[of]?.[1] ?? words(of)}</Badge>;

const codes = (a: Articulation) => a.sending.map((s) => s.courses.map((c) => c.code).join(" + ")).join(" or ");

// says is the verb that is true in the articulation's state.
function says(a: Articulation) {
  const what = { NO_CREDIT: "no credit", PARTIAL: ", in part", ELECTIVE: ", as an elective", REQUIREMENT: ", for a requirement" }[a.decision] ?? "";
  const verb = { DRAFT: "is proposed to count as", IN_REVIEW: "is proposed to count as", REJECTED: "was not accepted as" }[a.status]
    ?? (a.effectiveTo && a.effectiveTo < today() ? `counted, until ${date(a.effectiveTo)}, as` : a.effectiveFrom > today() ? `will count, from ${date(a.effectiveFrom)}, as` : "counts as");
  return [verb, what] as const;
}

// CourseName is the code of a course that is known by its id.
export function CourseName({ id }: { id: string }) {
  const course = useGet<Course>(remembered<Course>("/courses/" + id) ? null : "/courses/" + id);
  const c = course.data ?? remembered<Course>("/courses/" + id);
  return c ? <><Text of={c.code} /> <Text of={c.name} /></> : course.problem ? <>a course that is gone</> : <>…</>;
}

const Granted = ({ of }: { of: Articulation }) => <>{of.receiving.map((r, i) => <>{i > 0 && " and "}{r.courseId ? <CourseName id={r.courseId} /> : <Text of={r.label} />}</>)}</>;

// Claim is the whole sentence of an articulation.
const Claim = ({ of }: { of: Articulation }) => { const [verb, what] = says(of); return <>{verb} <strong><Granted of={of} /></strong>{what}</>; };

export const Tabs = ({ at }: { at: string }) => {
  const queue = useGet<Page<Articulation>>("/articulations?status=IN_REVIEW&limit=1");
  return <nav class="tabs" aria-label="Transfer">{[["packages", "#/transfer", "Packages"], ["decisions", "#/transfer/decisions", "Decisions"]].map(([id, address, name]) =>
    <a href={address} {...(id === at ? { "aria-current": "page" as const } : {})}>{name}{id === "decisions" && queue.data && queue.data.pagination.total > 0 && <> <Badge kind="wait">{queue.data.pagination.total} in review</Badge></>}</a>)}</nav>;
};

const states: [string, string, string][] = [["IN_REVIEW", "In review", "Nothing waits for a decision."], ["DRAFT", "Drafts", "There are no drafts."], ["APPROVED", "Approved", "Nothing was approved yet."], ["REJECTED", "Rejected", "Nothing was rejected."]];

// Decisions is the queue of what waits for a decision, and what was decided.
export function Decisions({ route }: { route: Route }) {
  const status = route.query.get("status") ?? "IN_REVIEW";
  return <Screen title="Transfer">
    <Tabs at="decisions" />
    <nav class="chips" aria-label="Status">{states.map(([s, name]) => <a class="button" href={query("#/transfer/decisions", { status: s })} {...(s === status ? { "aria-current": "true" as const } : {})}>{name}</a>)}</nav>
    <List<Articulation> path="/articulations" address="#/transfer/decisions" parameters={{ status }} empty={<p>{states.find(([s]) => s === status)?.[2]} {status === "IN_REVIEW" && <>Propose an articulation from a match of a <a href="#/transfer">package’s course</a>.</>}</p>}
      row={(a) => <a class="row" data-row href={"#/transfer/articulations/" + a.id}>
        <span class="code"><Text of={codes(a)} /></span><span class="grow"><Claim of={a} /><span class="small soft"> · <Text of={a.sendingInstitution.name} /></span></span>
        <span class="small soft">{date(a.updatedAt)}</span></a>} />
  </Screen>;
}

// Compare puts what a section teaches beside what was sent, what is not met first.
export function Compare({ matches, section, sent, extra = [] }: { matches: SkillMatch[]; section: Taught; sent?: Taught | undefined; extra?: Skill[] }) {
  const met = new Map(matches.map((m) => [m.skillId, m]));
  const lines = [...section.skills.map((s) => ({ id: s.skillId, name: s.skillName, level: s.level, weight: s.confidence })),
    ...matches.filter((m) => !section.skills.some((s) => s.skillId === m.skillId)).map((m) => ({ id: m.skillId, name: m.skillId, level: m.institutionalLevel, weight: 0 }))]
    .sort((a, b) => (met.get(a.id)?.matchScore ?? 0) - (met.get(b.id)?.matchScore ?? 0) || b.weight - a.weight);
  const cell = (level: number, by: Taught | undefined, id: string) => { const q = by?.evidence?.find((q) => q.skillId === id); return <>{level} {levels[level]}{q && <q class="soft small"><Text of={q.quote} /></q>}</>; };
  return <>
    <p>{matches.length} of {count(lines.length, "skill")} met, {matches.filter((m) => m.matchScore === 1).length} of them in full.</p>
    <table class="compare stack"><caption class="hidden">Skills of the section and how far the course that was sent meets them</caption>
      <thead><tr><th scope="col">Skill</th><th scope="col">Met</th><th scope="col">What is sent</th><th scope="col">What is taught here</th></tr></thead>
      <tbody>{lines.map((l) => {
        const m = met.get(l.id);
        return <tr><th scope="row"><Text of={l.name} /></th>
          <td>{!m ? <Badge kind="bad">Not met</Badge> : <><Badge kind={m.matchScore === 1 ? "good" : "wait"}>{percent(m.matchScore)}</Badge>{m.matchType === "RELATED" && <span class="small soft"> by a related skill</span>}</>}</td>
          <td><span class="side-name">Sent: </span>{m ? cell(m.transferLevel, sent, l.id) : <span class="soft">–</span>}</td><td><span class="side-name">Here: </span>{cell(l.level, section, l.id)}</td></tr>;
      })}</tbody></table>
    {extra.length > 0 && <><h3>Only in what is sent</h3><p class="soft">{extra.map((s, i) => <>{i > 0 && ", "}<Text of={s.skillName} /></>)}</p></>}
  </>;
}

type Verb = { to: string; name: string; key: string; kind?: "primary" };
const moves: Record<string, Verb[]> = {
  DRAFT: [{ to: "IN_REVIEW", name: "Send to review", key: "s", kind: "primary" }],
  IN_REVIEW: [{ to: "APPROVED", name: "Approve", key: "a", kind: "primary" }, { to: "DRAFT", name: "Send back", key: "b" }, { to: "REJECTED", name: "Reject", key: "r" }],
  REJECTED: [{ to: "DRAFT", name: "Reopen as a draft", key: "b" }],
};

// Whoever decides writes the name once a session.
const decider = { name: "", role: "" };
onSignIn(() => { decider.name = decider.role = ""; });

// Decision is one articulation: what is claimed, what speaks for it, and who decides.
export function Decision({ id }: { id: string }) {
  const path = "/articulations/" + id;
  const loaded = useGet<Articulation>(path + "?include=evidence");
  const history = useGet<{ data: Move[] }>(path + "/history");
  const queue = useGet<Page<Articulation>>("/articulations?status=IN_REVIEW&limit=2");
  const evidence = loaded.data?.evidence;
  const section = useGet<Taught>(evidence ? `/courses/${evidence.courseId}/sections/${evidence.sectionId}?include=evidence` : null);
  const sent = useGet<Taught>(evidence?.packageId ? `/transfer-packages/${evidence.packageId}/courses/${evidence.transferCourseId}?include=evidence` : null);
  const mayWrite = useMayWrite();
  const [asking, ask] = useState<Verb | null>(null);
  const [told, tell] = useState("");
  const [note, setNote] = useState("");
  const [link, setLink] = useState("");
  const [changed, setChanged] = useState(false);
  const again = () => { loaded.reload(); history.reload(); queue.reload(); };
  const move = useAction(async (key, to: string) => {
    try {
      const body = { status: to, note: note.trim() || null, decidedBy: decider.name.trim() ? { name: decider.name.trim(), role: decider.role.trim() || null } : null };
      await call("POST", path + "/status", { body, ifMatch: loaded.etag, idempotencyKey: key });
      tell(words(to) + ".");
      setNote("");
    } catch (e) {
      if ((e as { status?: number }).status !== 412) throw e;
      setChanged(true);
    }
    ask(null);
    again();
  });
  const page = useAction(async (key) => {
    if (!mayWrite) return save("articulation.html", "text/html", (await get<string>(path + "/page")).data);
    const tab = open("", "_blank");
    try {
      const { url } = (await call<{ url: string }>("POST", path + "/links", { body: { expiresInSeconds: 3600 }, idempotencyKey: key })).data;
      if (tab) { tab.opener = null; tab.location = url; } else setLink(url);
    } catch (e) { tab?.close(); throw e; }
  });
  const remove = useAction(async () => { await call("DELETE", path, { ifMatch: loaded.etag }); go("/transfer/decisions"); });
  const offered = mayWrite && loaded.data && loaded.etag ? moves[loaded.data.status] ?? [] : [];
  const start = (v: Verb) => { if (loaded.loading) return; setChanged(false); move.clear(); if (loaded.data?.status === "IN_REVIEW") ask(v); else void move.run(v.to); };
  useRefocus(loaded.data?.status);
  const next = queue.data?.data.find((a) => a.id !== id);
  useShortcuts([...offered.map((v) => ({ keys: v.key, does: v.name, run: () => start(v) })), { keys: "o", does: "Open the page to sign", run: () => void page.run() },
    ...(next ? [{ keys: "n", does: "Next in review", run: () => go("/transfer/articulations/" + next.id) }] : [])]);
  return <Await of={loaded} screen={{ title: "Articulation", crumbs: [["Transfer", "#/transfer"], ["Decisions", "#/transfer/decisions"]] }}>{(a) => <Screen title={codes(a) + " at " + a.sendingInstitution.name} of={<><Text of={codes(a)} /> at <Text of={a.sendingInstitution.name} /></>} crumbs={[["Transfer", "#/transfer"], ["Decisions", "#/transfer/decisions"]]}
    actions={<button type="button" disabled={page.busy} onClick={() => void page.run()}>{mayWrite ? "Open the page to sign" : "Save the page to sign"} <Key>o</Key></button>}>
    <p class="lead"><Claim of={a} /></p>
    {changed && <Notice kind="bad" title="Somebody else changed this meanwhile" onClose={() => setChanged(false)}>What you see is the current state. Your decision was not saved; your note is kept.</Notice>}
    {told && <Notice kind="good" title={told} onClose={() => tell("")}>{next ? <a href={"#/transfer/articulations/" + next.id}>Next in review: <Text of={codes(next)} /></a> : <>Nothing else waits for a decision.</>}</Notice>}
    {!asking && <Refused problem={move.problem ?? page.problem ?? remove.problem} />}
    {link && <Notice title="The page is ready"><a href={link} target="_blank" rel="noopener">Open the page to sign</a></Notice>}
    <p class="facts"><State of={a.status} />{evidence && <span>{score(evidence.skillsMatchScore)} match <Equivalence of={evidence.equivalence} /></span>}<span>{words(a.decision)}</span><span>From {date(a.effectiveFrom)}{a.effectiveTo && <> until {date(a.effectiveTo)}</>}</span>{a.effectiveTerm && <span><Text of={a.effectiveTerm} /></span>}
      {a.status === "APPROVED" && a.decidedBy && <span>Decided by <Text of={a.decidedBy.name} />{a.decidedBy.role && <>, <Text of={a.decidedBy.role} /></>}</span>}</p>
    {(a.sending.length > 1 || a.sending[0]!.courses.length > 1 || a.sending.some((s) => s.courses.some((c) => c.title || c.minimumGrade))) && <><h2>What is sent</h2>
      <ul class="plain">{a.sending.map((s) => <li>{s.courses.map((c, i) => <>{i > 0 && ", with "}<strong><Text of={c.code} /></strong> <Text of={c.title} />{c.minimumGrade && <>, grade <Text of={c.minimumGrade} /> or better</>}</>)}</li>)}</ul></>}
    {[["Reason", a.reason], ["Note for students", a.publicNote], ["Note of the organization", a.privateNote]].map(([name, text]) => text && <><h2>{name}</h2><p class="said"><Text of={text} /></p></>)}
    <h2>Skills, side by side</h2>
    <Refused problem={section.problem} />
    {evidence ? <><p><strong>{score(evidence.skillsMatchScore)}</strong> match{a.status === "APPROVED" ? ", as frozen at the approval" : ", as of now; an approval freezes it"}.</p>
      {section.data ? <Compare matches={evidence.skillMatches} section={section.data} sent={sent.data} /> : section.loading && <Loading />}</>
      : <p class="soft">There is nothing to compare: the decision names no course of a package, several courses, or courses without skills.</p>}
    <h2>History</h2>
    <Await of={history}>{(h) => h.data.length === 0 ? <p class="soft">Nothing was decided yet.</p> : <ol class="history">{h.data.map((m) => <li><State of={m.to} /> <span class="soft small">{time(m.at)}{m.decidedBy && <>, by <Text of={m.decidedBy.name} />{m.decidedBy.role && <>, <Text of={m.decidedBy.role} /></>}</>}</span>
      {m.note && <p class="said"><Text of={m.note} /></p>}</li>)}</ol>}</Await>
    {offered.length > 0 && <div class="bar" role="region" aria-label="Decision">
      <span class="grow soft">{a.status === "IN_REVIEW" ? "Waits for a decision" : words(a.status)}{next && <> · <a href={"#/transfer/articulations/" + next.id}>Next in review</a> <Key>n</Key></>}</span>
      <div class="actions">{offered.map((v) => <button type="button" key={v.to} class={v.kind ?? ""} disabled={move.busy || loaded.loading} onClick={() => start(v)}>{v.name} <Key>{v.key}</Key></button>)}
        {["DRAFT", "REJECTED"].includes(a.status) && <button type="button" disabled={remove.busy} onClick={() => { if (confirm("Delete this articulation? Its history goes with it.")) void remove.run(); }}>Delete</button>}</div>
    </div>}
    {asking && <MoveDialog verb={asking} busy={move.busy} problem={move.problem} note={note} onNote={setNote} onClose={() => ask(null)} onMove={() => void move.run(asking.to)} claim={<><Text of={codes(a)} /> <Claim of={a} /></>} />}
  </Screen>}</Await>;
}

// MoveDialog asks who decides and why.
function MoveDialog({ verb, busy, problem, note, onNote, onClose, onMove, claim }: {
  verb: Verb; busy: boolean; problem: ReturnType<typeof useAction>["problem"]; note: string; onNote: (s: string) => void; onClose: () => void; onMove: () => void; claim: ComponentChildren;
}) {
  const [, set] = useState(0);
  const needs = verb.to === "REJECTED";
  const other = problem?.status === 409 ? problem.faults.map((f) => String(f.value ?? "")).find((v) => v.startsWith("art_")) : undefined;
  useEffect(() => () => { decider.name = decider.name.trim(); }, []);
  return <Dialog title={verb.name} onClose={onClose}>
    <p>{claim}</p>
    <form onSubmit={(e) => { e.preventDefault(); onMove(); }}>
      <div class="fields">
        <Field label="Who decides" faults={problem?.at("decidedBy") ?? []}>{(p) => <input {...p} required maxLength={255} autoComplete="name" value={decider.name} onInput={(e) => { decider.name = e.currentTarget.value; set((n) => n + 1); }} autofocus />}</Field>
        <Field label="Role" hint="Optional">{(p) => <input {...p} maxLength={255} autoComplete="organization-title" value={decider.role} onInput={(e) => { decider.role = e.currentTarget.value; set((n) => n + 1); }} />}</Field>
      </div>
      <Field label={needs ? "Why it is rejected" : "Note"} hint={needs ? "Stands in the history and on the page." : "Optional; stands in the history and on the page."} faults={problem?.at("note") ?? []}>{(p) =>
        <textarea {...p} required={needs} maxLength={2000} value={note} dir="auto" onInput={(e) => onNote(e.currentTarget.value)} />}</Field>
      <Refused problem={other ? new Problem(409, problem!.code, problem!.message) : problem} />
      {other && <p><a href={"#/transfer/articulations/" + other} onClick={onClose}>Open the decision that is in the way</a></p>}
      <div class="actions"><button class="primary" disabled={busy || !decider.name.trim() || needs && !note.trim()}>{busy ? "Saving…" : verb.name}</button><button type="button" onClick={onClose}>Cancel</button></div>
    </form>
  </Dialog>;
}

