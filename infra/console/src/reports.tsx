import { useEffect, useState } from "preact/hooks";
import { call, onSignIn, query } from "./api";
import { Chips, Jobs, type JobRef } from "./jobs";
import { go, type Route } from "./route";
import { useMayWrite } from "./session";
import { Share } from "./share";
import { Await, Badge, Choose, Dialog, Empty, Field, Key, List, Notice, Refused, Screen, Text, count, date, dollars, number, percent, time, today, useAction, useGet, useShortcuts } from "./ui";

type View = "alignment" | "coverage" | "gap" | "market";
type Settings = { courses: string[]; programs?: string[]; jobs: { id: string; lib: string }[]; skills: { id: string }[]; area?: { code: string }; view: View };
type Report = { id: string; name: string; description: string | null; createdAt: string; settings: Settings };
type Named = { id: string; name: string };
type SkillGap = { skillId: string; skillName: string; requiredLevel: number; taughtLevel: number | null };
type Result = {
  report: Report; view: View; data: unknown[]; warnings: { code: string; message: string }[];
  lookupData: { courseProfiles: { courseId: string; courseCode: string; courseName: string }[]; jobProfiles: { jobId: string; jobName: string }[]; skillProfiles: unknown[]; sectionProfiles: unknown[] };
};

const views: [View, string, string][] = [
  ["alignment", "Course by course", "How much of each job every course teaches, best first."],
  ["coverage", "Skills", "Each skill: who teaches it, who asks for it, and at which level."],
  ["gap", "What is missing", "How much of each job the courses teach together, and what they leave out."],
  ["market", "Labor market", "What the occupations employ, pay and promise."],
];

export function Reports({ route }: { route: Route }) {
  const [, id] = route.parts;
  return id === "new" ? <NewReport /> : id ? <OneReport key={id} id={id} view={route.query.get("view") as View | null} /> : <AllReports />;
}

function AllReports() {
  const mayWrite = useMayWrite();
  useShortcuts(mayWrite ? [{ keys: "+", does: "New report", run: () => go("/reports/new") }] : []);
  return <Screen title="Reports" actions={mayWrite && <a class="button main" href="#/reports/new">New report <Key>+</Key></a>}>
    <List<Report> path="/reports" address="#/reports" newest empty={<p>There are no reports yet. A report compares courses with jobs: what is taught, what is asked, what is missing.</p>}
      row={(r) => <a class="row" data-row href={"#/reports/" + r.id}><span class="grow"><Text of={r.name} /></span><span class="soft small">{sizes(r.settings)} · {time(r.createdAt)}</span></a>} />
  </Screen>;
}

const sizes = (s: Settings) => [s.programs?.length && count(s.programs.length, "program"), s.courses.length && count(s.courses.length, "course"), s.jobs.length && count(s.jobs.length, "job"), s.skills.length && count(s.skills.length, "skill")].filter(Boolean).join(", ");

// Draft is a report that is being put together; it stays while one looks elsewhere.
type Draft = { name: string; programs: Named[]; courses: Named[]; jobs: JobRef[]; skills: Named[]; area: { code: string; name: string } };
const empty: Draft = { name: "", programs: [], courses: [], jobs: [], skills: [], area: { code: "national", name: "United States" } };
let draft = empty;
onSignIn(() => { draft = empty; });

function NewReport() {
  const [d, set] = useState(draft);
  const mayWrite = useMayWrite();
  useEffect(() => { draft = d; }, [d]);
  const change = (p: Partial<Draft>) => set((was) => ({ ...was, ...p }));
  const add = (to: "programs" | "courses" | "skills", n: Named) => set((was) => was[to].some((o) => o.id === n.id) ? was : { ...was, [to]: [...was[to], n] });
  const suggested = [d.programs[0]?.name ?? d.courses[0]?.name, d.jobs[0]?.name].filter(Boolean).join(" and ") || "Report of " + date(today());
  const make = useAction(async (key: string, body: object) => {
    const { data } = await call<Result>("POST", "/reports", { body, idempotencyKey: key });
    draft = empty;
    go("/reports/" + data.report.id);
  });
  const submit = (e?: Event) => {
    e?.preventDefault();
    void make.run({ name: (d.name.trim() || suggested).slice(0, 255), settings: {
      programs: d.programs.map((p) => p.id), courses: d.courses.map((c) => c.id), skills: d.skills.map((s) => ({ id: s.id })), jobs: d.jobs.map(({ id, lib }) => ({ id, lib })), area: { code: d.area.code },
    } });
  };
  const faults = (field: string) => make.problem?.at("settings." + field).map((f) => <p class="fault small"><Text of={f.message} /></p>);
  if (!mayWrite) return <Screen title="New report" crumbs={[["Reports", "#/reports"]]}><Empty><p>This key reads only, so it can make no reports.</p></Empty></Screen>;
  // Enter in a search takes what is found there; it does not make the report.
  const hold = (e: KeyboardEvent) => { if (e.key === "Enter" && (e.target as HTMLElement).role === "combobox") e.preventDefault(); };
  const nothing = d.programs.length + d.courses.length + d.jobs.length + d.skills.length === 0;
  return <Screen title="New report" crumbs={[["Reports", "#/reports"]]}>
    <form onSubmit={submit} onKeyDown={hold} onKeyPress={hold} class="new">
      <fieldset><legend>What is taught</legend>
        <Chips of={d.programs} onChange={(programs) => change({ programs })} />{faults("programs")}
        <Chips of={d.courses} onChange={(courses) => change({ courses })} />{faults("courses")}
        <div class="fields">
          <Choose<Named & { code: string | null }> label="Add a program" hint="With all of its courses, now and later" path={(q) => "/programs?limit=12&query=" + encodeURIComponent(q)} name={(p) => [p.code, p.name].filter(Boolean).join(" ")} onChoose={(p) => add("programs", p)} />
          <Choose<Named & { code: string }> label="Add a course" path={(q) => "/courses?limit=12&query=" + encodeURIComponent(q)} name={(c) => c.code + " " + c.name} onChoose={(c) => add("courses", { id: c.id, name: c.code + " " + c.name })} />
        </div>
      </fieldset>
      <fieldset><legend>What is asked for</legend>
        <Jobs chosen={d.jobs} most={50} onChange={(jobs) => change({ jobs })} />{faults("jobs")}
        <Chips of={d.skills} onChange={(skills) => change({ skills })} />{faults("skills")}
        <div class="fields">
          <Choose<Named> label="Add a single skill" path={(q) => "/skills?limit=12&query=" + encodeURIComponent(q)} name={(s) => s.name} onChoose={(s) => add("skills", s)} />
          <Area area={d.area} onChange={(area) => change({ area })} />
        </div>{faults("area")}
      </fieldset>
      <Field label="Name" faults={make.problem?.at("name") ?? []}>{(p) => <input {...p} dir="auto" value={d.name} maxLength={255} placeholder={suggested} onInput={(e) => change({ name: e.currentTarget.value })} />}</Field>
      <Refused problem={make.problem} retry={make.problem && (make.problem.status === 0 || make.problem.status >= 500) ? () => submit() : undefined} />
      <p class="actions"><button class="primary" disabled={make.busy || nothing}>{make.busy ? "Making the report…" : "Make the report"}</button>
        {nothing && <span class="small soft">Choose at least a program, a course, a job or a skill.</span>}</p>
    </form>
  </Screen>;
}

type Region = { regionType: string; region: string; name: string };

// Area chooses the area of the labor market figures.
function Area({ area, onChange }: { area: Draft["area"]; onChange: (a: Draft["area"]) => void }) {
  const states = useGet<{ data: Region[] }>("/labor-market/regions?regionType=state"), metros = useGet<{ data: Region[] }>("/labor-market/regions?regionType=msa");
  const of = (name: string, l: Region[] | undefined) => l && l.length > 0 && <optgroup label={name}>{l.map((r) => <option value={r.region}>{r.name}</option>)}</optgroup>;
  return <Field label="Area of the figures" hint={(states.problem ?? metros.problem)?.message}>{(p) => <select {...p} value={area.code} onChange={(e) => onChange({ code: e.currentTarget.value, name: e.currentTarget.selectedOptions[0]?.text ?? "" })}>
    <option value="national">United States</option>
    {area.code !== "national" && !states.data && <option value={area.code}>{area.name}</option>}
    {of("States", states.data?.data)}{of("Metropolitan areas", metros.data?.data)}
  </select>}</Field>;
}

function OneReport({ id, view }: { id: string; view: View | null }) {
  const path = "/reports/" + id;
  const result = useGet<Result>(query(path, { view: view ?? undefined }));
  const mayWrite = useMayWrite();
  const [sharing, share] = useState(false);
  const [leaving, leave] = useState(false);
  const remove = useAction(async () => { await call("DELETE", path); go("/reports"); });
  const shown = result.data?.view ?? view ?? "alignment";
  const at = views.findIndex(([v]) => v === shown);
  const to = (v: View) => `/reports/${id}?view=${v}`;
  useShortcuts([
    { keys: "p", does: "Page to print", run: () => share(true) },
    ...views.map(([v, name], i) => ({ keys: String(i + 1), does: "View: " + name.toLowerCase(), run: () => go(to(v)) })),
  ]);
  // The frame stays while another view is loaded.
  const [frame, setFrame] = useState<Report | null>(null);
  useEffect(() => { if (result.data) setFrame(result.data.report); }, [result.data]);
  const report = result.data?.report ?? frame;
  return <Screen title={report?.name ?? "Report"} crumbs={[["Reports", "#/reports"]]} actions={report && <>
    <button type="button" onClick={() => share(true)}>Page to print <Key>p</Key></button>
    {mayWrite && <button type="button" class="quiet" onClick={() => leave(true)}>Delete</button>}</>}>
    {leaving && <Dialog title="Delete this report?" onClose={() => leave(false)}>
      <p>Its links end with it. The courses and jobs stay as they are.</p>
      <Refused problem={remove.problem} />
      <p class="actions"><button type="button" class="primary" disabled={remove.busy} onClick={() => void remove.run()}>Delete the report</button><button type="button" onClick={() => leave(false)}>Keep it</button></p>
    </Dialog>}
    {report && <p class="facts"><span>{sizes(report.settings)}</span><span>{time(report.createdAt)}</span></p>}
    {report?.description && <p><Text of={report.description} /></p>}
    {report && <><nav class="tabs" aria-label="Views">{views.map(([v, name]) => <a href={"#" + to(v)} {...(v === shown ? { "aria-current": "page" as const } : {})}>{name}</a>)}</nav>
      <p class="soft">{views[at]?.[2]}</p></>}
    <Await of={result}>{(r) => <>
      {r.warnings.length > 0 && <details class="warnings" open={r.warnings.length <= 3}><summary>{count(r.warnings.length, "thing")} to know about these figures</summary><ul class="plain">{r.warnings.map((w) => <li><Text of={w.message} /></li>)}</ul></details>}
      {r.data.length === 0 ? <Empty><p>{nothing[r.view]}</p></Empty> : <Data r={r} />}
    </>}</Await>
    {sharing && report && <Share path={path} query={"view=" + shown} name={report.name} onClose={() => share(false)} />}
  </Screen>;
}

const nothing: Record<View, string> = {
  alignment: "This view compares courses with jobs, and the report has only one of the two.", coverage: "None of the courses and jobs of this report has skills.",
  gap: "This view is about jobs, and the report has none.", market: "This view is about occupations: the report has none, or its jobs name no SOC code.",
};

// Bar is a share as a bar beside its figure.
const Bar = ({ of }: { of: number }) => <span class="share-of"><meter min={0} max={1} value={of} aria-hidden="true" /><span class="number">{percent(of)}</span></span>;

function Gaps({ of }: { of: SkillGap[] }) {
  return <table class="narrow"><thead><tr><th scope="col">Skill</th><th scope="col" class="number">Asked</th><th scope="col" class="number">Taught</th></tr></thead>
    <tbody>{of.map((s) => <tr><th scope="row"><Text of={s.skillName} /></th><td class="number">{s.requiredLevel}</td><td class="number">{s.taughtLevel || <span class="soft">no</span>}</td></tr>)}</tbody></table>;
}

function Data({ r }: { r: Result }) {
  const [few, setFew] = useState(true);
  const course = (id: string) => { const c = r.lookupData.courseProfiles.find((c) => c.courseId === id); return c ? <><span class="code"><Text of={c.courseCode} /></span> <Text of={c.courseName} /></> : <Text of={id} />; };
  const job = (id: string) => <Text of={r.lookupData.jobProfiles.find((j) => j.jobId === id)?.jobName ?? id} />;
  switch (r.view) {
    case "alignment": {
      const items = r.data as { courseId: string; jobId: string; score: number; matchedSkills: (SkillGap & { score: number })[]; missingSkills: { skillId: string; skillName: string; requiredLevel: number }[] }[];
      return <>{[...new Set(items.map((i) => i.jobId))].map((id) => <section><h2>{job(id)}</h2>
        {items.filter((i) => i.jobId === id).sort((a, b) => b.score - a.score).map((i) => <details class="pair"><summary><span class="grow">{course(i.courseId)}</span><Bar of={i.score} /></summary>
          <p class="small soft">Teaches {number(i.matchedSkills.length)} of {count(i.matchedSkills.length + i.missingSkills.length, "skill")} that the job asks for.</p>
          <Gaps of={[...i.matchedSkills, ...i.missingSkills.map((s) => ({ ...s, taughtLevel: null }))]} /></details>)}</section>)}</>;
    }
    case "coverage": {
      const items = r.data as { skillId: string; skillName: string; courseIds: string[]; jobIds: string[]; maxTaughtLevel: number | null; maxRequiredLevel: number | null }[];
      const kind = (i: (typeof items)[0]) => i.jobIds.length === 0 ? <span class="soft">Not asked</span> : i.courseIds.length === 0 ? <Badge kind="bad">Missing</Badge> : (i.maxTaughtLevel ?? 0) < (i.maxRequiredLevel ?? 0) ? <Badge kind="wait">Too low</Badge> : <Badge kind="good">Taught</Badge>;
      const asked = items.filter((i) => i.jobIds.length > 0), shown = few && asked.length ? asked : items;
      return <>
        {asked.length > 0 && asked.length < items.length && <p><label><input type="checkbox" checked={few} onChange={(e) => setFew(e.currentTarget.checked)} /> Only the {number(asked.length)} of {count(items.length, "skill")} that jobs ask for</label></p>}
        <table class="narrow"><thead><tr><th scope="col">Skill</th><th scope="col" class="number">Asked</th><th scope="col" class="number">Taught</th><th scope="col">So it is</th></tr></thead>
          <tbody>{shown.map((i) => <tr><th scope="row"><Text of={i.skillName} />{i.courseIds.length > 0 && <span class="small soft"> in {count(i.courseIds.length, "course")}</span>}</th><td class="number">{i.maxRequiredLevel || "–"}</td><td class="number">{i.maxTaughtLevel || "–"}</td><td>{kind(i)}</td></tr>)}</tbody></table></>;
    }
    case "gap": {
      const items = r.data as { jobId: string; coverage: number; missingSkills: SkillGap[] }[];
      return <>{items.map((i) => <section><h2>{job(i.jobId)} <Bar of={i.coverage} /></h2>{i.missingSkills.length ? <Gaps of={i.missingSkills} /> : <p><Badge kind="good">Nothing is missing</Badge></p>}</section>)}</>;
    }
    case "market": {
      const items = r.data as { socCode: string; name: string; totalEmployment: number | null; medianAnnualWage: number | null; wagePercentiles: { p10: number | null; p90: number | null } | null; projectedGrowth: number | null; annualOpenings: number | null; typicalEducation: string | null; source: string }[];
      const or = (n: number | null | undefined, write: (n: number) => string) => n === null || n === undefined ? <span class="soft">not published</span> : write(n);
      return <>{items.map((i) => <section><h2><Text of={i.name} /> <span class="code">{i.socCode}</span></h2>
        <dl class="tiles"><div><dt>Median wage a year</dt><dd>{or(i.medianAnnualWage, dollars)}</dd></div><div><dt>Employed</dt><dd>{or(i.totalEmployment, number)}</dd></div>
          <div><dt>Growth in ten years</dt><dd>{or(i.projectedGrowth, percent)}</dd></div><div><dt>Openings a year</dt><dd>{or(i.annualOpenings, number)}</dd></div></dl>
        <p class="small soft">{i.wagePercentiles?.p10 && i.wagePercentiles.p90 ? <>Eight of ten earn {dollars(i.wagePercentiles.p10)} to {dollars(i.wagePercentiles.p90)}. </> : null}{i.typicalEducation && <>Typical education: <Text of={i.typicalEducation} />. </>}<Text of={i.source} /></p></section>)}</>;
    }
    default: return <Notice title="Unknown view"><p>This console does not know the view.</p></Notice>;
  }
}
