import { useEffect, useState } from "preact/hooks";
import { call, get, onSignIn, settled, upload, type Problem } from "./api";
import { Chips } from "./jobs";
import { go, type Route } from "./route";
import { useMayWrite } from "./session";
import { Badge, Choose, Drop, Field, List, Loading, Notice, Refused, Screen, Select, State, Text, asProblem, count, number, percent, time, useAction, words } from "./ui";

type Counts = { read: number; created: number; updated: number; unchanged: number; failed: number; retired: number };
type Column = { header: string; field: string | null; example: string; file?: string; suggestion?: string };
type Import = {
  id: string; status: string; mode: "CHECK" | "APPLY"; layout: string; resource: string | null; sheet: string | null; retireMissing: boolean; ownerId?: string | null; documentId: string; fileName: string; createdAt: string;
  failure: { code: string; message: string } | null; counts: Counts; countsByResource?: Record<string, Counts>; startedAt: string | null; finishedAt: string | null;
  columns: Column[]; problems: { line: number; column: string; code: string; message: string; value: string; file?: string }[]; rejects: { url: string; expiresAt: string } | null;
};
type Owner = { id: string; name: string };
type Reading = { resource: string; layout: string; sheet: string; retireMissing: boolean; owner: Owner | null };

// fieldsOf has the fields of each kind of record that a column can become.
const fieldsOf: Record<string, string[]> = JSON.parse(document.getElementById("console")!.dataset.fields ?? "{}");
const layouts: [string, string][] = [["AUTO", "Detect"], ["GENERIC", "Plain table"], ["BANNER", "Banner"], ["CANVAS", "Canvas"], ["ONEROSTER", "OneRoster"], ["TES", "TES (articulations)"]];
// ownerless is whether outcomes wait to be told whose they are.
const ownerless = (i: Import) => i.failure?.code === "missing_columns" && /\bowner\b/.test(i.failure.message);
const ended = (i: Import) => !["PENDING", "PROCESSING"].includes(i.status);

// spaced turns the name of a field into words: creditsMin is "Credits min".
const spaced = (name: string) => words(name.replace(/([a-z])([A-Z0-9])/g, "$1 $2"));
const plural = (resource: string | null) => resource ? spaced(resource).toLowerCase() + "s" : "records";

export function Imports({ route }: { route: Route }) {
  return route.parts[1] ? <OneImport key={route.parts[1]} id={route.parts[1]} /> : <AllImports />;
}

function AllImports() {
  const mayWrite = useMayWrite();
  const [file, setFile] = useState<File | null>(null);
  const [sent, setSent] = useState(0);
  const check = useAction(async (key: string, f: File) => {
    setSent(0);
    const documentId = await upload(f, key + "-file", setSent);
    const { data } = await call<Import>("POST", "/imports", { body: { documentId, mode: "CHECK" }, idempotencyKey: key + "-check" });
    go("/imports/" + data.id);
  });
  const take = (f: File) => { setFile(f); void check.run(f); };
  return <Screen title="Imports">
    {mayWrite && (check.busy && file
      ? <div class="drop" role="status"><p><Text of={file.name} /></p><p>{sent < 1 ? <>Uploading <progress aria-label="Uploaded" value={sent} /> <span class="soft small">{percent(sent)}</span></> : "Uploaded. Starting the check…"}</p></div>
      : <Drop label="Drop a file, or choose one" accept=".csv,.tsv,.txt,.xlsx,.zip,.ndjson,.jsonl,.json,.jsonld" onFile={take}
        hint="CSV, Excel (XLSX), NDJSON, a ZIP of OneRoster or JSON-LD, at most 25 MB. It is checked first: nothing changes before you apply it." />)}
    <Refused problem={check.problem} retry={file && (() => take(file)) || undefined} />
    <h2>Earlier imports</h2>
    <List<Import> path="/imports" address="#/imports" parameters={{ limit: "20" }} newest empty={<p>Nothing was imported yet.</p>}
      row={(i) => <a class="row" data-row href={"#/imports/" + i.id}>
        <span class="code">{i.mode === "CHECK" ? "Check" : "Import"}</span>
        <span class="grow"><Text of={i.fileName} /></span>
        <span class="soft small">{ended(i) && <>{count(i.counts.read, "row")}{i.counts.failed > 0 && <>, {number(i.counts.failed)} rejected</>}</>} · {time(i.createdAt)}</span>
        <State of={i.status} />
      </a>} />
  </Screen>;
}

// What a person can do about a file that failed as a whole.
const advice: Record<string, string> = {
  unsupported_type: "Save it as CSV or XLSX, then drop it again.",
  malformed: "Open it in the program that wrote it, save it again as CSV or XLSX, then drop it again.",
  encrypted: "Save it without a password, then drop it again.",
  too_large: "Divide it into files of at most 25 MiB and 200,000 rows.",
  empty: "It has no rows below its header.",
  unknown_layout: "Say below which kind of records it has, then check again.",
  missing_columns: "Say below which column is which, then check again.",
  too_many_missing: "It has less than half of the records that are here: is it the whole catalog? Nothing was retired.",
  timeout: "Divide it into smaller files.",
  internal: "Check it again. If it fails again, tell whoever operates this service.",
};

function OneImport({ id }: { id: string }) {
  const path = "/imports/" + id;
  const mayWrite = useMayWrite();
  const [i, set] = useState<Import | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [turn, again] = useState(0);
  useEffect(() => {
    const gone = new AbortController();
    setProblem(null);
    settled<Import>(path, ended, gone.signal, set).catch((e) => { if (!gone.signal.aborted) setProblem(asProblem(e)); });
    return () => gone.abort();
  }, [path, turn]);
  // The same call would delete an import that has ended: it is sent again only where the import still runs.
  const cancel = useAction(async () => {
    for (let tries = 1; !ended((await get<Import>(path)).data); tries++) {
      try { await call("DELETE", path, { once: true }); } catch (e) { const { status } = asProblem(e); if (tries === 5 || status && status < 500 && status !== 429) throw e; }
    }
    again((n) => n + 1);
  });
  const remove = useAction(async () => { await call("DELETE", path); go("/imports"); });
  const rejects = useAction(async () => { // the address of the last answer may have expired
    const { data } = await get<Import>(path);
    if (!data.rejects) return;
    const a = document.createElement("a");
    Object.assign(a, { href: data.rejects.url, target: "_blank", rel: "noopener" });
    a.click();
  });
  const checks = i?.mode === "CHECK";
  return <Screen title="Import" of={<Text of={i?.fileName || "Import"} />} crumbs={[["Imports", "#/imports"]]}
    actions={i && ended(i) && mayWrite && <button type="button" class="quiet" disabled={remove.busy} onClick={() => void remove.run()}>Delete {checks ? "this check" : "this entry"}</button>}>
    <Refused problem={problem} retry={problem?.status === 404 ? undefined : () => again((n) => n + 1)} />
    {!i ? !problem && <Loading /> : <>
      <p class="facts"><State of={i.status} /><span>{checks ? "A check: nothing was changed" : "Import"}</span>{(i.resource || i.countsByResource) && <span>{i.resource ? words(plural(i.resource)) : "Several kinds of records"}</span>}
        {i.layout !== "GENERIC" && i.layout !== "AUTO" && <span>{layouts.find(([l]) => l === i.layout)?.[1]}</span>}{i.sheet && <span>Sheet <Text of={i.sheet} /></span>}<span>{time(i.createdAt)}</span></p>
      <Refused problem={cancel.problem ?? remove.problem ?? rejects.problem} />
      {!ended(i) && <Notice title={i.status === "PENDING" ? "Waiting for its turn" : checks ? "Checking" : "Importing"}>
        <p>{i.counts.read > 0 && <>{count(i.counts.read, "row")} read, {number(i.counts.created)} created, {number(i.counts.updated)} changed. </>}You can leave this page; it goes on.</p>
        {mayWrite && <p><button type="button" disabled={cancel.busy} onClick={() => void cancel.run()}>Cancel{!checks && ", and keep what is done"}</button></p>}
      </Notice>}
      {i.failure && <Notice kind={ownerless(i) ? "info" : "bad"} title={ownerless(i) ? "Whose outcomes are these?" : i.failure.code === "internal" ? "The service failed" : "The file was not imported: " + words(i.failure.code).toLowerCase()}>
        <p>{ownerless(i) ? "A file of Canvas does not name their program or course. Choose it below, then check again." : <><Text of={i.failure.message} />{/[.!?]$/.test(i.failure.message) ? "" : "."} {advice[i.failure.code]} Nothing was changed.</>}</p></Notice>}
      {i.status === "CANCELLED" && <Notice title="Cancelled"><p>{checks ? "Nothing was changed." : "What was done until then stays. The counts say how much."}</p></Notice>}
      {(i.status === "COMPLETED" || i.status === "CANCELLED") && <Outcome i={i} />}
      {i.rejects && <p><button type="button" disabled={rejects.busy} onClick={() => void rejects.run()}>Download the {count(i.counts.failed, "rejected row")}</button> <span class="soft small">A CSV of the rows as they were, with what is wrong with each. Mend it and drop it again.</span></p>}
      {i.problems.length > 0 && <Problems i={i} />}
      {ended(i) && (checks && mayWrite ? <Correct i={i} /> : i.columns.length > 0 && <Columns columns={i.columns} several={i.columns.some((c) => c.file)} />)}
    </>}
  </Screen>;
}

// Outcome is what an import did, or would do.
function Outcome({ i }: { i: Import }) {
  const would = i.mode === "CHECK";
  const of: [keyof Counts, string, string][] = [["read", "Rows read", ""], ["created", would ? "To create" : "Created", "good"], ["updated", would ? "To change" : "Changed", "good"],
    ["unchanged", "Unchanged", ""], ["failed", would ? "To reject" : "Rejected", "bad"], ["retired", would ? "To retire" : "Retired", "wait"]];
  const shown = of.filter(([k]) => k === "read" || i.counts[k] > 0);
  const several = Object.entries(i.countsByResource ?? {});
  const home = i.ownerId ? `${i.ownerId.startsWith("prg_") ? "programs" : "courses"}/${i.ownerId}/outcomes` : ({ course: "courses", section: "courses", program: "programs", outcome: "programs", transferPackage: "transfer", articulation: "transfer" } as Record<string, string>)[i.resource ?? ""];
  return <>
    <dl class="tiles">{shown.map(([k, name, kind]) => <div class={kind}><dt>{name}</dt><dd>{number(i.counts[k])}</dd></div>)}</dl>
    {several.length > 1 && <div class="scroll" tabIndex={0} role="region" aria-label="Counts by kind"><table><thead><tr><th scope="col">Kind</th>{shown.map(([, name]) => <th scope="col" class="number">{name}</th>)}</tr></thead>
      <tbody>{several.map(([resource, c]) => <tr><th scope="row">{words(plural(resource))}</th>{shown.map(([k]) => <td class="number">{number(c[k])}</td>)}</tr>)}</tbody></table></div>}
    {!would && home && i.counts.created + i.counts.updated > 0 && <p><a href={"#/" + home}>See the {plural(i.resource)}</a></p>}
  </>;
}

function Problems({ i }: { i: Import }) {
  const several = i.problems.some((p) => p.file);
  return <>
    <h2>Problems</h2>
    {i.problems.length >= 100 && <p class="soft">The first 100. The rejected rows have them all.</p>}
    <table>
      <thead><tr><th scope="col" class="number">Line</th><th scope="col">Column and value</th><th scope="col">What is wrong</th></tr></thead>
      <tbody>{i.problems.map((p) => <tr><td class="number">{number(p.line)}{several && <div class="small soft"><Text of={p.file} /></div>}</td>
        <td><Text of={p.column} />{p.column && <div class="small soft few">{p.value ? <Text of={p.value} /> : "empty"}</div>}</td><td><div class="few"><Text of={p.message.replace(/^expected required property (\S+) to be present$/, "must not be empty")} /></div></td></tr>)}</tbody>
    </table>
  </>;
}

// nameable is whether a correction can name the column: the service shortens long headers.
const nameable = (c: Column) => c.header !== "" && !c.header.endsWith("…");

// Columns are a file's columns and what they became; with onField, they can be corrected.
function Columns({ columns, several, fields = [], changed = new Set(), onField }: { columns: Column[]; several: boolean; fields?: string[]; changed?: Set<string>; onField?: (header: string, field: string | null) => void }) {
  const lost = columns.filter((c) => c.field === null).length;
  return <>
    <h2>Columns</h2>
    <p class="soft">{lost === 0 ? "Every column is read." : `${count(columns.length - lost, "column")} of ${number(columns.length)} ${columns.length - lost === 1 ? "is" : "are"} read; the others are left out.`}</p>
    <table class="columns">
      <thead><tr><th scope="col">Column and example</th><th scope="col">Becomes</th></tr></thead>
      <tbody>{columns.map((c) => <tr>
        <th scope="row"><div class="few"><Text of={c.header || "(no header)"} /></div>{several && <span class="small soft"> <Text of={c.file} /></span>}<div class="small soft few"><Text of={c.example} /></div></th>
        <td>{onField && nameable(c) ? <>
          <select aria-label={"Field of " + c.header} value={c.field ?? ""} onChange={(e) => onField(c.header, e.currentTarget.value || null)}>
            <option value="">Left out</option>
            {[...new Set([...(c.field ? [c.field] : []), ...fields])].map((f) => <option value={f}>{spaced(f)}</option>)}
          </select>
          {changed.has(c.header) && <> <Badge kind="wait">Not checked yet</Badge></>}
          {c.suggestion && c.field === null && <> <button type="button" class="quiet" onClick={() => onField(c.header, c.suggestion!)}>{spaced(c.suggestion)}?</button></>}
        </> : c.field ? spaced(c.field) : <span class="soft">Left out</span>}</td></tr>)}</tbody>
    </table>
  </>;
}

// owners remembers the names of programs and courses whose outcomes a file has.
const owners = new Map<string, string>();

// corrected is what was changed on a check and not checked yet; it stays while one looks elsewhere.
const corrected = new Map<string, { columns: Map<string, string | null>; reading: Reading }>();
onSignIn(() => { owners.clear(); corrected.clear(); });

// Correct corrects a check's columns, checks again, and applies.
function Correct({ i }: { i: Import }) {
  const was: Reading = { resource: i.resource ?? "", layout: i.failure ? "AUTO" : i.layout, sheet: i.sheet ?? "", retireMissing: i.retireMissing, owner: i.ownerId ? { id: i.ownerId, name: owners.get(i.ownerId) ?? i.ownerId } : null };
  const [{ columns, reading }, put] = useState(() => corrected.get(i.id) ?? { columns: new Map<string, string | null>(), reading: was });
  const keep = (c: Map<string, string | null>, r: Reading) => { corrected.set(i.id, { columns: c, reading: r }); put({ columns: c, reading: r }); };
  const several = i.columns.some((c) => c.file);
  const other = reading.resource !== was.resource || reading.layout !== was.layout || reading.sheet !== was.sheet || reading.owner?.id !== was.owner?.id;
  const dirty = columns.size > 0 || other || reading.retireMissing !== was.retireMissing;
  const shown = i.columns.map((c) => columns.has(c.header) ? { ...c, field: columns.get(c.header)! } : c);
  const fields = (reading.resource ? fieldsOf[reading.resource] : several || !i.resource ? Object.values(fieldsOf).flat() : []) ?? [];
  const choose = (header: string, field: string | null) => {
    const next = new Map(columns).set(header, field);
    if (field && !several) for (const c of shown) if (c.field === field && c.header !== header) next.set(c.header, null); // one column a field
    for (const c of i.columns) if (next.get(c.header) === c.field) next.delete(c.header);
    keep(next, reading);
  };
  // What was found is said again, so that an APPLY reads as its CHECK did; a column with a suggestion stays open.
  const said = other ? new Map<string, string | null>() : new Map<string, string | null>(several ? [] : i.columns.filter((c) => nameable(c) && (c.field !== null || !c.suggestion)).map((c) => [c.header, c.field]));
  for (const [header, field] of columns) said.set(header, field);
  const start = useAction(async (key: string, mode: "CHECK" | "APPLY", body: object) => {
    const { data } = await call<Import>("POST", "/imports", { body: { ...body, mode }, idempotencyKey: key });
    corrected.delete(i.id);
    go("/imports/" + data.id);
  });
  const run = (mode: "CHECK" | "APPLY") => void start.run(mode, {
    documentId: i.documentId, layout: reading.layout, ...(reading.resource ? { resource: reading.resource } : {}), ...(reading.sheet ? { sheet: reading.sheet } : {}),
    ...(reading.retireMissing ? { retireMissing: true } : {}), ...(reading.owner ? { ownerId: reading.owner.id } : {}), ...(said.size ? { columns: Object.fromEntries(said) } : {}),
  });
  const { created, updated, retired } = i.counts, n = created + updated + retired;
  const does = [created && `create ${number(created)}`, updated && `change ${number(updated)}`, retired && `retire ${number(retired)}`].filter(Boolean).join(", ");
  return <>
    {shown.length > 0 && !other && <Columns columns={shown} several={several} fields={fields} changed={new Set(columns.keys())} onField={choose} />}
    <details open={i.status === "FAILED"}><summary>How the file is read</summary>
      {(reading.resource === "outcome" || reading.layout === "CANVAS" || ownerless(i)) && <>
        <Chips of={reading.owner ? [reading.owner] : []} onChange={() => keep(columns, { ...reading, owner: null })} />
        <div class="fields">{(["programs", "courses"] as const).map((kind) => <Choose<Owner & { code: string | null }> label={kind === "programs" ? "They are of a program" : "They are of a course"} path={(q) => `/${kind}?limit=12&query=${encodeURIComponent(q)}`}
          name={(o) => [o.code, o.name].filter(Boolean).join(" ")} onChoose={({ id, name }) => { owners.set(id, name); keep(columns, { ...reading, owner: { id, name } }); }} />)}</div>
      </>}
      <div class="fields">
        <Select label="Kind of records" value={reading.resource} options={[["", "Detect"], ...Object.keys(fieldsOf).map((r): [string, string] => [r, words(plural(r))])]} onChange={(resource) => keep(columns, { ...reading, resource })} />
        <Select label="Written by" value={reading.layout} options={layouts} onChange={(layout) => keep(columns, { ...reading, layout })} />
        <Field label="Sheet" hint="Of a workbook; the first if empty">{(p) => <input {...p} value={reading.sheet} maxLength={255} onInput={(e) => keep(columns, { ...reading, sheet: e.currentTarget.value })} />}</Field>
      </div>
      <p><label><input type="checkbox" checked={reading.retireMissing} onChange={(e) => keep(columns, { ...reading, retireMissing: e.currentTarget.checked })} /> This is the whole catalog: retire courses, or cancel sections, that it lacks</label></p>
    </details>
    <Refused problem={start.problem} retry={start.problem?.status === 0 || (start.problem?.status ?? 0) >= 500 ? () => run(dirty ? "CHECK" : "APPLY") : undefined} />
    <div class="bar" role="region" aria-label="Next step">
      <div class="grow">{dirty ? <><strong>Your corrections are not checked yet</strong><div class="small soft">Check again to see what they change.</div></>
        : i.status !== "COMPLETED" ? <span class="soft">Correct how it is read, or check again.</span>
          : n === 0 ? <><strong>Nothing would change</strong><div class="small soft">{i.counts.failed ? "Every other row is the same as here." : "Every row is the same as here."}</div></>
            : <><strong>Ready: {does}</strong>{i.counts.failed > 0 && <div class="small soft">{count(i.counts.failed, "row")} with problems {i.counts.failed === 1 ? "stays" : "stay"} out.</div>}</>}</div>
      <div class="actions">
        {dirty && <button type="button" disabled={start.busy} onClick={() => { corrected.delete(i.id); put({ columns: new Map(), reading: was }); }}>Discard</button>}
        <button type="button" class={dirty || i.status !== "COMPLETED" ? "primary" : ""} disabled={start.busy} onClick={() => run("CHECK")}>Check again</button>
        {!dirty && i.status === "COMPLETED" && n > 0 && <button type="button" class="primary" disabled={start.busy} onClick={() => run("APPLY")}>{start.busy ? "Starting…" : "Apply"}</button>}
      </div>
    </div>
  </>;
}

