import { useEffect, useState } from "preact/hooks";
import { call, maxFile, onSignIn, settled, upload, type Problem } from "./api";
import { Evidence, csv, nextQuote, type Item, type Quote, type Skill } from "./evidence";
import { go, type Route } from "./route";
import { useMayWrite } from "./session";
import { Drop, Empty, Field, Key, Loading, Notice, Refused, Screen, Text, asProblem, copy, count, isolated, levels, number, percent, save, useAction, useShortcuts, words } from "./ui";

type Extraction = {
  extractionId: string; name: string | null; processingStatus: string; failure?: { code: string; message: string }; skills: Skill[];
  evidence?: Quote[]; text?: string; warnings?: { code: string; message: string }[]; extraction?: { engine: string; taxonomy: string; taxonomyVersion: string };
};

const maxText = 100_000;

// What was typed and tried stays until sign-out or reload, whatever screen is shown meanwhile.
const kept = { text: "", tried: [] as { id: string; name: string }[] };
onSignIn(() => { kept.text = ""; kept.tried = []; });

export function Try({ route }: { route: Route }) {
  const [, id] = route.parts;
  return id ? <Result key={id} id={id} /> : <Ask />;
}

function Ask() {
  const mayWrite = useMayWrite();
  const [text, setText] = useState(kept.text);
  const [file, setFile] = useState<File | null>(null);
  const [sent, setSent] = useState(0);
  const start = useAction(async (key: string, of: string | File) => {
    const name = typeof of === "string" ? of.trim().split("\n", 1)[0]!.slice(0, 80) : of.name;
    setSent(0);
    const source = typeof of === "string" ? { text: of } : { documentId: await upload(of, key + "-file", setSent) };
    const { data } = await call<{ extractionId: string }>("POST", "/syllabus-extractions", { body: { ...source, name }, idempotencyKey: key });
    if (typeof of === "string") kept.text = "";
    kept.tried.unshift({ id: data.extractionId, name });
    go("/try/" + data.extractionId);
  });
  const length = [...text].length;
  const submit = (e: Event) => { e.preventDefault(); if (text.trim() && length <= maxText) { setFile(null); void start.run(text); } };
  const take = (f: File) => { setFile(f); void start.run(f); };
  return <Screen title="Try a text or a file">
    {mayWrite ? <div class="two">
      <form onSubmit={submit}>
        <Field label="Text of a syllabus or a course" hint={length > maxText * .9 ? `${number(length)} of at most ${number(maxText)} characters` : "Nothing is added to the catalog."}
          faults={[...start.problem?.at("text") ?? [], ...(length > maxText ? [{ message: `The text has ${number(length)} characters; ${number(maxText)} are the most. Drop it as a file instead.` }] : [])]}>{(p) =>
          <textarea {...p} rows={14} value={text} disabled={start.busy} dir="auto" onInput={(e) => setText(kept.text = e.currentTarget.value)}
            onKeyDown={(e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) submit(e); }} />}</Field>
        <p><button class="primary" disabled={start.busy || !text.trim() || length > maxText}>{start.busy && !file ? "Sending…" : "Find the skills"} <Key>Ctrl Enter</Key></button></p>
      </form>
      <div>
        {start.busy && file
          ? <div class="drop" role="status"><p><Text of={file.name} /></p>
            <p>{sent < 1 ? <>Uploading <progress aria-label="Uploaded" value={sent} /> <span class="soft small">{percent(sent)}</span></> : "Uploaded. Starting…"}</p></div>
          : <Drop label="Or a file" accept=".pdf,.docx,.txt,.md,.html" onFile={take} hint={`PDF, DOCX, HTML or text, at most ${number(maxFile / 1024 / 1024)} MB. Drop it here or choose it.`} />}
        {kept.tried.length > 0 && <><h2>Tried in this tab</h2><ul class="rows">{kept.tried.map((t) => <li><a class="row" data-row href={"#/try/" + t.id}><Text of={t.name} /></a></li>)}</ul></>}
      </div>
    </div> : <Empty><p>This key can only read, and a try is stored for a while. Somebody with a key that writes can start one and send you its address.</p></Empty>}
    <Refused problem={start.problem?.at("text").length ? null : start.problem} retry={start.problem ? () => void start.run(file ?? text) : undefined} />
  </Screen>;
}

// advice says what a person can do about a file that cannot be read.
const advice: Record<string, string> = {
  unsupported_type: "Save it as PDF, DOCX or text, then drop it again.", encrypted: "Remove its password, then drop it again.", no_text: "It is a picture of a text. Recognise its text first, or paste the text.",
  too_large: "Drop a smaller file, or paste the part that matters.", malformed: "Open it and save it anew, then drop it again.",
};

function Result({ id }: { id: string }) {
  const [found, setFound] = useState<Extraction | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [turn, again] = useState(0);
  const [active, setActive] = useState<string | null>(null);
  const [copied, setCopied] = useState("");
  useEffect(() => {
    const ended = new AbortController();
    setProblem(null);
    settled<Extraction>(`/syllabus-extractions/${id}?include=evidence,text`, (e) => ["COMPLETED", "FAILED"].includes(e.processingStatus), ended.signal, setFound)
      .catch((e) => { if (!ended.signal.aborted) setProblem(asProblem(e)); });
    return () => ended.abort();
  }, [id, turn]);
  const items: Item[] = found?.skills.map((s) => ({ ...s, verdict: null })) ?? [];
  const quotes = found?.evidence ?? [];
  const done = found?.processingStatus === "COMPLETED";
  const chosen = items.find((i) => i.skillId === active);
  const own = quotes.filter((q) => q.skillId === active);
  const copyAll = async () => setCopied(await copy(csv(items, quotes)) ? `Copied ${count(items.length, "skill")}.` : "The browser refused. Save the file instead.");
  useShortcuts(done && items.length ? [{ keys: "c", does: "Copy the skills as CSV", run: () => void copyAll() }] : []);
  return <Screen title={found?.name ?? "Text"} crumbs={[["Try", "#/try"]]} actions={done && items.length > 0 && <>
    <button type="button" onClick={copyAll}>Copy as CSV <Key>c</Key></button>
    <button type="button" onClick={() => save("skills.csv", "text/csv", csv(items, quotes))}>Save as CSV</button>
  </>}>
    <div class="small soft" role="status">{copied}</div>
    <Refused problem={problem} retry={() => again((n) => n + 1)} />
    {!found ? !problem && <Loading /> : found.processingStatus === "FAILED"
      ? <Notice kind="bad" title={words(found.failure?.code ?? "FAILED")}><p><Text of={found.failure?.message} /></p><p>{advice[found.failure?.code ?? ""]} <a href="#/try">Try another</a></p></Notice>
      : !done ? <Loading>Reading the text. This takes a few seconds…</Loading> : <>
        {found.warnings?.map((w) => <Notice title={words(w.code)}><Text of={w.message} /></Notice>)}
        <p class="facts"><span><strong>{count(items.length, "skill")}</strong></span>{[1, 2, 3, 4, 5].map((l) => [l, items.filter((i) => i.level === l).length] as const).filter(([, n]) => n).map(([l, n]) => <span>{number(n)} at {l} {levels[l]}</span>)}
          {found.extraction && <span class="small"><Text of={found.extraction.taxonomy} /> <Text of={found.extraction.taxonomyVersion} /></span>}</p>
        {items.length === 0 && <Empty><p>None of the taxonomy’s skills is named in this text. A syllabus with topics and outcomes has more to find than a title alone.</p></Empty>}
        <Evidence text={found.text ?? ""} quotes={quotes} items={items} active={active} onActive={setActive} reviewed={false} none={<p>The text itself is no longer kept; these are its skills.</p>} />
        {items.length > 0 && <div class="bar" role="region" aria-label="Chosen skill">{chosen
          ? <div class="grow"><strong><Text of={chosen.skillName} /></strong> <span class="soft">{chosen.level} {levels[chosen.level]}, {percent(chosen.confidence)} sure</span>
            <div class="small soft">{own.length ? <>{count(own.length, "quote")}{own[0]!.verb && <>, level by “{isolated(own[0]!.verb)}”</>}{own[0]!.page > 1 && <>, page {own[0]!.page}</>}</> : "Without a quote in the text"}</div>
            {own.length > 1 && <button type="button" onClick={() => nextQuote(active)}>Next quote <Key>n</Key></button>}</div>
          : <span class="soft">Choose a skill or a marked quote <Key>j</Key> <Key>k</Key></span>}</div>}
      </>}
  </Screen>;
}
