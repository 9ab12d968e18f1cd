import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { call, onSignIn, query, type Page, type Problem } from "./api";
import { Compare, CourseName, Decision, Decisions, Equivalence, Tabs, type Articulation, type SkillMatch, type Taught } from "./articulation";
import type { Course } from "./courses";
import type { Skill } from "./evidence";
import { ReviewEvidence } from "./review";
import { go, replace, type Route } from "./route";
import { useMayWrite } from "./session";
import { Await, Dialog, Empty, Field, Key, List, Loading, Notice, Refused, Screen, Search, Select, State, Text, asProblem, count, date, score, step, today, useAction, useGet, useShortcuts, words } from "./ui";

type Package = { id: string; name: string; transferFromInstitution: string; uniqueTag: string | null; description: string | null; matchingConfig: { fullEquivalentThreshold: number; partialEquivalentThreshold: number } };
type Credits = { min: number; max: number; unit: string } | null;
type Sent = Taught & { code: string | null; takenTerm: string | null; credits: Credits; processingStatus: string; failure?: { code: string; message: string } };
type Match = {
  courseSectionId: string; courseId: string; courseName: string; sectionName: string; skillsMatchScore: number; equivalence: string; skillMatches: SkillMatch[];
  unmatchedTransferSkills: Skill[]; articulationId: string | null;
};
type Equivalents = { transferCourseId: string; matches: Match[]; reason: string | null };

export function Transfer({ route }: { route: Route }) {
  const [, what, id, , course, view] = route.parts;
  if (what === "decisions") return <Decisions route={route} />;
  if (what === "articulations" && id) return <Decision key={id} id={id} />;
  if (what === "packages" && id && course) return <OneCourse key={course} packageId={id} id={course} skills={view === "skills"} chosen={route.query.get("section")} />;
  if (what === "packages" && id) return <OnePackage key={id} id={id} />;
  return <Packages words={route.query.get("query") ?? ""} />;
}

function Packages({ words }: { words: string }) {
  return <Screen title="Transfer">
    <Tabs at="packages" />
    <Search label="Search packages by name or tag" value={words} onSearch={(q) => replace(query("/transfer", { query: q }))} />
    <List<Package> path="/transfer-packages" address="#/transfer" parameters={{ query: words }}
      empty={words ? <p>No package has a name or tag that begins with these words.</p> : <p>There are no transfer packages yet. They come by the API, or by an import.</p>}
      row={(p) => <a class="row" data-row href={"#/transfer/packages/" + p.id}>
        <span class="grow"><Text of={p.name} />{p.uniqueTag && <span class="soft small"> · <Text of={p.uniqueTag} /></span>}</span><span class="soft"><Text of={p.transferFromInstitution} /></span></a>} />
  </Screen>;
}

// useCompared asks for equivalents when the number of those that are ready changes, and when told. The last answer is shown meanwhile.
const compared = new Map<string, unknown>();
onSignIn(() => compared.clear());
function useCompared<T>(path: string, ready: number) {
  const [state, set] = useState<{ data: T | undefined; problem: Problem | null }>({ data: compared.get(path) as T | undefined, problem: null });
  const [turn, again] = useState(0);
  useEffect(() => {
    if (!ready) return;
    const ended = new AbortController();
    call<T>("POST", path, { signal: ended.signal }).then(({ data }) => { compared.set(path, data); set({ data, problem: null }); },
      (e) => { if (!ended.signal.aborted) set((s) => ({ ...s, problem: asProblem(e) })); });
    return () => ended.abort();
  }, [path, ready, turn]);
  return { ...state, again: () => { set((s) => ({ ...s, problem: null })); again((n) => n + 1); } };
}

// usePolled reads a path again while its data wait for something.
function usePolled<T>(path: string, waits: (t: T) => boolean) {
  const loaded = useGet<T>(path);
  useEffect(() => {
    if (loaded.loading || loaded.data === undefined || !waits(loaded.data)) return;
    const timer = setTimeout(loaded.reload, 2000);
    return () => clearTimeout(timer);
  }, [loaded.loading, loaded.data]);
  return loaded;
}

const waiting = (c: Sent) => c.processingStatus === "PENDING" || c.processingStatus === "PROCESSING";
const reasons: Record<string, string> = { NO_SECTION_HAS_SKILLS: "no section here has skills", NOTHING_IN_COMMON: "nothing in common", BELOW_PARTIAL: "below partial" };

function OnePackage({ id }: { id: string }) {
  const pack = useGet<Package>("/transfer-packages/" + id);
  const courses = usePolled<Sent[]>(`/transfer-packages/${id}/courses`, (all) => all.some(waiting));
  const done = courses.data?.filter((c) => c.processingStatus === "COMPLETED").length ?? 0;
  const all = useCompared<{ courses: Equivalents[] }>(`/transfer-packages/${id}/equivalencies`, done);
  const best = (c: Sent) => all.data?.courses.find((e) => e.transferCourseId === c.id);
  return <Await of={pack} screen={{ title: "Transfer package", crumbs: [["Transfer", "#/transfer"]] }}>{(p) => <Screen title={p.name} crumbs={[["Transfer", "#/transfer"]]}>
    <p class="facts"><span>From <Text of={p.transferFromInstitution} /></span><span>Full from {score(p.matchingConfig.fullEquivalentThreshold)}, partial from {score(p.matchingConfig.partialEquivalentThreshold)}</span></p>
    {p.description && <p><Text of={p.description} /></p>}
    <Refused problem={all.problem} retry={all.again} />
    <Await of={courses}>{(list) => list.length === 0 ? <Empty><p>This package has no courses.</p></Empty> : <Rows>{list.map((c) => {
      const e = best(c), m = e?.matches[0];
      return <a class="row" data-row href={`#/transfer/packages/${id}/courses/${c.id}`}>
        {list.some((o) => o.code) && <span class="code"><Text of={c.code} /></span>}<span class="grow"><Text of={c.name} /> <span class="soft small">{count(c.skills.length, "skill")}</span></span>
        {c.processingStatus !== "COMPLETED" ? <State of={c.processingStatus} /> : m && m.equivalence !== "NONE"
          ? <span class="best"><Text of={m.courseName} /> <span class="soft">{score(m.skillsMatchScore)}</span> <Equivalence of={m.equivalence} />{m.articulationId && <span class="soft small"> decided</span>}</span>
          : <span class="soft small">{e ? "No equivalent: " + (reasons[e.reason ?? ""] ?? "no match") : c.skills.length ? "Comparing…" : "No skills"}</span>}
      </a>;
    })}</Rows>}</Await>
  </Screen>}</Await>;
}

// Rows is a list that the keys j and k move in.
function Rows({ children }: { children: ComponentChildren[] }) {
  useShortcuts([{ keys: "j|ArrowDown", does: "Next row", run: () => step(1) }, { keys: "k|ArrowUp", does: "Previous row", run: () => step(-1) }]);
  return <ul class="rows">{children.map((c) => <li>{c}</li>)}</ul>;
}

function OneCourse({ packageId, id, skills, chosen }: { packageId: string; id: string; skills: boolean; chosen: string | null }) {
  const path = `/transfer-packages/${packageId}/courses/${id}`, address = `#/transfer/packages/${packageId}/courses/${id}`;
  const pack = useGet<Package>("/transfer-packages/" + packageId);
  const sent = usePolled<Sent>(path + "?include=evidence", waiting);
  const mayWrite = useMayWrite();
  const retry = useAction(async (key) => { await call("POST", path + "/retry", { idempotencyKey: key }); sent.reload(); });
  return <Await of={sent} screen={{ title: "Transfer course", crumbs: [["Transfer", "#/transfer"], [pack.data?.name ?? "Package", "#/transfer/packages/" + packageId]] }}>{(c) => <Screen title={(c.code ? c.code + " " : "") + c.name} of={<><Text of={c.code} /> <Text of={c.name} /></>} crumbs={[["Transfer", "#/transfer"], [pack.data?.name ?? "Package", "#/transfer/packages/" + packageId]]}>
    <p class="facts"><State of={c.processingStatus} />{pack.data && <span>From <Text of={pack.data.transferFromInstitution} /></span>}{c.takenTerm && <span>Taken <Text of={c.takenTerm} /></span>}<span>{count(c.skills.length, "skill")}</span></p>
    <nav class="tabs" aria-label="Views">{([["Matches", address, !skills], ["Skills and evidence", address + "/skills", skills]] as const).map(([name, to, on]) => <a href={to} {...(on ? { "aria-current": "page" as const } : {})}>{name}</a>)}</nav>
    {c.processingStatus === "FAILED" && <Notice kind="bad" title={words(c.failure?.code ?? "FAILED")}><p><Text of={c.failure?.message} /></p>
      {mayWrite && <p><button type="button" disabled={retry.busy} onClick={() => void retry.run()}>Read it again</button></p>}<Refused problem={retry.problem} /></Notice>}
    {skills ? <ReviewEvidence path={path} /> : waiting(c) ? <Loading>The syllabus is being read. The matches appear when it is done…</Loading>
      : c.processingStatus === "COMPLETED" && <Matches path={path} address={address} sent={c} pack={pack.data} chosen={chosen} />}
  </Screen>}</Await>;
}

const without: Record<string, string> = {
  NO_SECTION_HAS_SKILLS: "No section of the catalog has skills yet. Give courses a description or a syllabus first.", NOTHING_IN_COMMON: "No section shares a skill with this course.",
  BELOW_PARTIAL: "No section reaches the score for a partial equivalent; the nearest are shown.",
};

function Matches({ path, address, sent, pack, chosen }: { path: string; address: string; sent: Sent; pack: Package | undefined; chosen: string | null }) {
  const found = useCompared<Equivalents>(path + "/equivalencies", 1);
  const all = found.data?.matches ?? [];
  const match = all.find((m) => m.courseSectionId === chosen) ?? all[0];
  const move = (by: number) => { const to = all[Math.max(0, Math.min(all.length - 1, all.indexOf(match!) + by))]; if (to) replace(`${address.slice(1)}?section=${to.courseSectionId}`); };
  useShortcuts(all.length ? [{ keys: "j|ArrowDown", does: "Next match", run: () => move(1) }, { keys: "k|ArrowUp", does: "Previous match", run: () => move(-1) }] : []);
  return <>
    <Refused problem={found.problem} retry={found.again} />
    {!found.data ? !found.problem && <Loading>Comparing with every section…</Loading> : <>
      {found.data.reason && <Notice title="No equivalent">{without[found.data.reason] ?? words(found.data.reason)}</Notice>}
      {match && <div class="beside">
        <nav aria-label="Matches"><ul class="rows">{all.map((m) => <li><a class="row match" href={`${address}?section=${m.courseSectionId}`} {...(m === match ? { "aria-current": "true" as const } : {})}
          onClick={(e) => { e.preventDefault(); replace(`${address.slice(1)}?section=${m.courseSectionId}`); }}>
          <span class="grow"><CourseName id={m.courseId} />{m.sectionName !== m.courseName && <><br /><span class="small soft"><Text of={m.sectionName} /></span></>}</span><span>{score(m.skillsMatchScore)} <Equivalence of={m.equivalence} /></span></a></li>)}</ul></nav>
        <Chosen key={match.courseSectionId} match={match} sent={sent} pack={pack} />
      </div>}
    </>}
  </>;
}

// Chosen is one match: both sides, what was decided on them so far, and the way to propose a decision.
function Chosen({ match, sent, pack }: { match: Match; sent: Sent; pack: Package | undefined }) {
  const section = useGet<Taught>(`/courses/${match.courseId}/sections/${match.courseSectionId}?include=evidence`);
  const course = useGet<Course>("/courses/" + match.courseId);
  const decisions = useGet<Page<Articulation>>(pack && sent.code ? query("/articulations", { courseId: match.courseId, sendingCode: sent.code, institution: pack.transferFromInstitution }) : null);
  const mayWrite = useMayWrite();
  const [proposing, propose] = useState(false);
  useShortcuts(mayWrite && pack && course.data ? [{ keys: "p", does: "Propose an articulation", run: () => propose(true) }] : []);
  return <section aria-label="Chosen match">
    <div class="head"><div><h2><a href={`#/courses/${match.courseId}/sections/${match.courseSectionId}`}><Text of={course.data?.code} /> <Text of={match.courseName} /></a> <Equivalence of={match.equivalence} /></h2></div>
      {mayWrite && pack && course.data && <button type="button" class="primary" onClick={() => propose(true)}>Propose an articulation <Key>p</Key></button>}</div>
    {decisions.data?.data.map((a) => <Notice kind={a.status === "APPROVED" ? "good" : "info"} title={a.status === "APPROVED" ? "Already decided" : a.status === "REJECTED" ? "Rejected before" : "Already proposed"}>
      <a href={"#/transfer/articulations/" + a.id}>{words(a.decision)}, from {date(a.effectiveFrom)}{a.effectiveTo && <> until {date(a.effectiveTo)}</>}</a> <State of={a.status} /></Notice>)}
    <Await of={section}>{(s) => <Compare matches={match.skillMatches} section={s} sent={sent} extra={match.unmatchedTransferSkills} />}</Await>
    {proposing && pack && course.data && <Propose match={match} sent={sent} pack={pack} course={course.data} onClose={() => propose(false)} />}
  </section>;
}

const decisions: [string, string][] = [["EQUIVALENT", "Equivalent"], ["PARTIAL", "Partial"], ["ELECTIVE", "Elective"], ["REQUIREMENT", "Fulfils a requirement"], ["NO_CREDIT", "No credit"]];

function Propose({ match, sent, pack, course, onClose }: { match: Match; sent: Sent; pack: Package; course: Course; onClose: () => void }) {
  const [f, set] = useState({
    institution: pack.transferFromInstitution, code: sent.code ?? "", decision: match.equivalence === "FULL" ? "EQUIVALENT" : match.equivalence === "PARTIAL" ? "PARTIAL" : "ELECTIVE",
    from: today(), to: "", reason: "", publicNote: "",
  });
  const given = <K extends keyof typeof f>(name: K) => ({ value: f[name], onInput: (e: { currentTarget: { value: string } }) => set({ ...f, [name]: e.currentTarget.value }) });
  const made = useRef({ of: f, id: "" });
  const act = useAction(async (key, review: boolean, form: typeof f) => {
    if (made.current.of !== form || !made.current.id) made.current = { of: form, id: (await call<Articulation>("POST", "/articulations", { idempotencyKey: key, body: {
      sendingInstitution: { name: form.institution.trim() }, sending: [{ courses: [{ code: form.code.trim(), title: sent.name, credits: sent.credits, transferCourseId: sent.id }] }],
      receiving: form.decision === "NO_CREDIT" ? [] : [{ courseId: course.id, credits: course.credits }], decision: form.decision, reason: form.reason.trim() || null,
      effectiveFrom: form.from, effectiveTo: form.to || null, publicNote: form.publicNote.trim() || null,
    } })).data.id };
    const { id } = made.current;
    if (review) await call("POST", `/articulations/${id}/status`, { idempotencyKey: key + "-review", body: { status: "IN_REVIEW" } });
    go("/transfer/articulations/" + id);
  });
  const faults = (...names: string[]) => names.flatMap((n) => act.problem?.at(n) ?? []);
  const none = f.decision === "NO_CREDIT";
  return <Dialog title="Propose an articulation" onClose={onClose}>
    <form onSubmit={(e) => { e.preventDefault(); void act.run((e.submitter as HTMLButtonElement | null)?.value !== "draft", f); }}>
      <p><Text of={sent.name} /> {none ? "would earn no credit." : <>would count as <strong><Text of={course.code} /> <Text of={course.name} /></strong>{course.credits && <>, {course.credits.max} {words(course.credits.unit).toLowerCase()}s</>}.</>}</p>
      <div class="fields">
        <Field label="Institution" faults={faults("sendingInstitution")}>{(p) => <input {...p} required maxLength={255} {...given("institution")} />}</Field>
        <Field label="Course code there" faults={faults("sending")}>{(p) => <input {...p} required maxLength={50} autofocus {...given("code")} />}</Field>
        <Select label="Decision" value={f.decision} options={decisions} onChange={(decision) => set({ ...f, decision })} />
        <Field label="From" faults={faults("effectiveFrom")}>{(p) => <input {...p} type="date" required {...given("from")} />}</Field>
        <Field label="Until" hint="Optional" faults={faults("effectiveTo")}>{(p) => <input {...p} type="date" min={f.from} {...given("to")} />}</Field>
      </div>
      <Field label="Reason" {...(none ? {} : { hint: "Optional" })} faults={faults("reason")}>{(p) => <textarea {...p} required={none} maxLength={10000} dir="auto" {...given("reason")} />}</Field>
      <Field label="Note for students" hint="Optional" faults={faults("publicNote")}>{(p) => <textarea {...p} rows={2} maxLength={10000} dir="auto" {...given("publicNote")} />}</Field>
      <Refused problem={act.problem} />
      <div class="actions"><button class="primary" disabled={act.busy}>{act.busy ? "Saving…" : "Send to review"}</button><button value="draft" disabled={act.busy}>Keep as a draft</button></div>
    </form>
  </Dialog>;
}
