import type { ComponentChildren, JSX } from "preact";
import { useCallback, useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Problem, get, newKey, query, remembered, type Page } from "./api";
import { current, go } from "./route";

// Words and figures as the browser's language writes them.
const decimal = new Intl.NumberFormat(), share = new Intl.NumberFormat(undefined, { style: "percent" });
const tenths = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 }); // a score just below a threshold does not round to it
const money = new Intl.NumberFormat(undefined, { style: "currency", currency: "USD", maximumFractionDigits: 0 });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const calendar = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });
export const number = (n: number) => decimal.format(n);
export const percent = (n: number) => share.format(n);
export const score = (n: number) => tenths.format(n);
export const dollars = (n: number) => money.format(n);
export const time = (s: string) => moment.format(new Date(s));
export const date = (s: string) => calendar.format(new Date(s));
export const count = (n: number, one: string, many = one + "s") => number(n) + " " + (n === 1 ? one : many);
export const today = () => new Date().toISOString().slice(0, 10);

// words turns a constant of the contract into words: IN_REVIEW is "In review".
export const words = (constant: string) => { const w = constant.toLowerCase().replaceAll("_", " "); return w.charAt(0).toUpperCase() + w.slice(1); };

// isolated keeps the direction of strangers' text from what stands beside it, where there can be no element.
export const isolated = (text: string) => "\u2068" + text + "\u2069";

// Text shows strangers' text where there can be an element.
export const Text = ({ of }: { of: string | null | undefined }) => <bdi class="text">{of}</bdi>;

export const levels = ["", "Remember", "Understand", "Apply", "Analyze", "Create"];

// Loaded is what a GET has brought so far.
export type Loaded<T> = { data: T | undefined; etag: string; problem: Problem | null; loading: boolean; reload: () => void; set: (data: T) => void };

// useGet reads a path; null reads nothing. What was read before is shown until the answer is here.
export function useGet<T>(path: string | null): Loaded<T> {
  const [state, set] = useState<{ path: string | null; data: T | undefined; etag: string; problem: Problem | null; loading: boolean }>(
    () => ({ path, data: path ? remembered<T>(path) : undefined, etag: "", problem: null, loading: path !== null }));
  const [turn, again] = useState(0);
  useEffect(() => {
    if (path === null) return;
    const ended = new AbortController();
    set((s) => ({ path, data: s.path === path && s.data !== undefined ? s.data : remembered<T>(path), etag: s.path === path ? s.etag : "", problem: null, loading: true }));
    get<T>(path, ended.signal).then(
      ({ data, etag }) => set({ path, data, etag, problem: null, loading: false }),
      (e) => { if (!ended.signal.aborted) set((s) => ({ ...s, problem: asProblem(e), loading: false })); });
    return () => ended.abort();
  }, [path, turn]);
  const fits = state.path === path;
  return {
    data: fits ? state.data : path ? remembered<T>(path) : undefined, etag: fits ? state.etag : "", problem: fits ? state.problem : null,
    loading: fits ? state.loading : path !== null,
    reload: useCallback(() => again((n) => n + 1), []), set: (data) => set((s) => ({ ...s, data })),
  };
}

export const asProblem = (e: unknown) => e instanceof Problem ? e : new Problem(0, "internal", e instanceof Error ? e.message : String(e));

// useAction runs a write. The Idempotency-Key stays the same until one attempt has succeeded.
export function useAction<A extends unknown[]>(act: (key: string, ...a: A) => Promise<void>) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const key = useRef({ of: "", key: newKey() });
  const run = async (...a: A) => {
    if (busy) return;
    setBusy(true);
    setProblem(null);
    const of = JSON.stringify(a, (_, v) => v instanceof Event ? undefined : v instanceof File ? v.name + v.size + v.lastModified : v);
    if (of !== key.current.of) key.current = { of, key: newKey() };
    try {
      await act(key.current.key, ...a);
      key.current = { of: "", key: newKey() };
    } catch (e) {
      setProblem(asProblem(e));
    } finally {
      setBusy(false);
    }
  };
  return { run, busy, problem, clear: () => setProblem(null) };
}

// Notice is a message in its place: what happened, and what one can do.
export const Notice = ({ kind = "info", title, children, onClose }: { kind?: "info" | "bad" | "good"; title?: ComponentChildren; children?: ComponentChildren; onClose?: () => void }) =>
  <div class={"notice " + kind} role={kind === "bad" ? "alert" : "status"}>
    <div>{title && <strong>{title}</strong>}{children}</div>
    {onClose && <button type="button" class="quiet" onClick={() => { onClose(); toHeading(); }}>Dismiss</button>}
  </div>;

// toHeading gives the focus to the heading of the screen.
export const toHeading = () => document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });

// useRefocus keeps the focus on the screen where a change takes away the element that had it.
export function useRefocus(change: unknown, to = toHeading) {
  useEffect(() => { if (document.activeElement === document.body) to(); }, [change]);
}

const titles: Record<number, string> = { 0: "No connection", 401: "This key is not valid", 403: "This key may not do that", 404: "Not found", 409: "Not possible now", 412: "Changed by somebody else", 429: "Rate limit reached", 503: "The service is busy" };

export const Refused = ({ problem, retry }: { problem: Problem | null; retry?: (() => void) | undefined }) => problem &&
  <Notice kind="bad" title={titles[problem.status] ?? (problem.status >= 500 ? "The service failed" : "Not accepted")}>
    <p><Text of={problem.message} /></p>
    {problem.faults.length > 0 && <ul>{problem.faults.slice(0, 20).map((f) => <li><code>{f.location.replace(/^body\./, "")}</code> <Text of={f.message} /></li>)}</ul>}
    {problem.requestId && problem.status >= 500 && <p class="soft small">Request <code>{problem.requestId}</code></p>}
    {retry && <p><button type="button" onClick={retry}>Try again</button></p>}
  </Notice>;

// Await shows what was loaded, or why there is nothing yet. What it loads may be a whole screen, which has a heading before.
export function Await<T>({ of, screen, children }: { of: Loaded<T>; screen?: { title: string; crumbs: [string, string][] }; children: (data: T) => ComponentChildren }) {
  const shown = <>
    <Refused problem={of.problem} retry={of.problem?.status === 404 || of.problem?.status === 403 ? undefined : of.reload} />
    {of.data !== undefined ? <div aria-busy={of.loading}>{children(of.data)}</div> : of.loading ? <Loading /> : null}
  </>;
  return screen && of.data === undefined ? <Screen {...screen}>{shown}</Screen> : shown;
}

export const Loading = ({ children = "Loading…" }: { children?: ComponentChildren }) => <p class="loading" role="status">{children}</p>;
export const Empty = ({ children }: { children: ComponentChildren }) => <div class="empty">{children}</div>;

// Screen is one address: its heading, the way back, and what one can do there.
export function Screen({ title, of, crumbs = [], actions, children }: { title: string; of?: ComponentChildren; crumbs?: [string, string][]; actions?: ComponentChildren; children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => { document.title = isolated(title) + " · Skills Curriculum Service"; }, [title]);
  useEffect(() => { heading.current?.focus({ preventScroll: true }); scrollTo(0, 0); }, [current().path]);
  return <>
    <div class="head">
      <div>
        {crumbs.length > 0 && <nav class="crumbs" aria-label="Breadcrumbs">{crumbs.map(([name, address]) => <a href={address}><Text of={name} /></a>)}</nav>}
        <h1 tabIndex={-1} ref={heading}>{of ?? <Text of={title} />}</h1>
      </div>
      {actions && <div class="actions">{actions}</div>}
    </div>
    {children}
  </>;
}

export const Badge = ({ kind = "", children }: { kind?: string; children: ComponentChildren }) => <span class={"badge " + kind}>{children}</span>;
const kinds: Record<string, string> = { COMPLETED: "good", APPROVED: "good", READY: "good", ACTIVE: "good", FAILED: "bad", REJECTED: "bad", PENDING: "wait", PROCESSING: "wait", IN_REVIEW: "wait" };
export const State = ({ of }: { of: string }) => <Badge kind={kinds[of] ?? ""}>{words(of)}</Badge>;

export const Key = ({ children }: { children: ComponentChildren }) => <kbd aria-hidden="true">{children}</kbd>;

// Shortcuts. They can be switched off, and end where one types.
export type Shortcut = { keys: string; does: string; run: (e: KeyboardEvent) => void };
let active: Shortcut[][] = [];
export const shortcuts = { on: true, all: () => active.flat() };
let prefix = "";
addEventListener("keydown", (e) => {
  const t = e.target as HTMLElement;
  if (!shortcuts.on || e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || e.isComposing || document.querySelector("dialog[open]")) return;
  if (t.closest("textarea, select, [contenteditable], input:not([type=checkbox]):not([type=radio])")) return;
  const typed = prefix ? prefix + " " + e.key : e.key;
  prefix = "";
  for (const list of active.toReversed()) {
    const s = list.find((s) => s.keys.split("|").includes(typed));
    if (s) { e.preventDefault(); s.run(e); return; }
  }
  if (typed === "g") prefix = "g";
});

// useShortcuts offers shortcuts while the component is shown; the latest win.
export function useShortcuts(list: Shortcut[]) {
  const mine = useRef(list);
  mine.current.splice(0, Infinity, ...list);
  useLayoutEffect(() => { // before a key can be pressed
    const own = mine.current;
    active.push(own);
    return () => { active = active.filter((l) => l !== own); };
  }, []);
}

// Dialog is modal; Escape closes it.
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    ref.current!.showModal();
    return () => before?.focus();
  }, []);
  return <dialog ref={ref} aria-labelledby={id} onClose={onClose} onCancel={onClose}>
    <div class="head"><h2 id={id}>{title}</h2><button type="button" class="quiet" onClick={onClose}>Close</button></div>
    {children}
  </dialog>;
}

// Field is a labelled control with its hint and faults.
export function Field({ label, hint, faults = [], children }: { label: string; hint?: ComponentChildren; faults?: { message: string }[]; children: (p: { id: string; "aria-describedby"?: string; "aria-invalid"?: true }) => JSX.Element }) {
  const id = useId();
  const about = hint || faults.length ? id + "-about" : "";
  return <div class="field">
    <label for={id}>{label}</label>
    {children({ id, ...(about ? { "aria-describedby": about } : {}), ...(faults.length ? { "aria-invalid": true as const } : {}) })}
    {about && <div id={about} class="small">{faults.map((f) => <div class="fault">{f.message}</div>)}{hint && <div class="soft">{hint}</div>}</div>}
  </div>;
}

export function Select({ label, value, options, onChange, hint }: { label: string; value: string; options: [string, string][]; onChange: (v: string) => void; hint?: string }) {
  return <Field label={label} hint={hint}>{(p) =>
    <select {...p} value={value} onChange={(e) => onChange(e.currentTarget.value)}>{options.map(([v, name]) => <option value={v}>{isolated(name)}</option>)}</select>}</Field>;
}

// Search is a box whose words stand in the address, a moment after the last letter.
export function Search({ label, value, onSearch }: { label: string; value: string; onSearch: (v: string) => void }) {
  const [typed, type] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => type(value), [value]);
  useEffect(() => {
    if (typed.trim() === value) return;
    const timer = setTimeout(() => onSearch(typed.trim()), 250);
    return () => clearTimeout(timer);
  }, [typed]);
  // first goes to the first row of what the search finds, unless one has gone on typing.
  const first = (frames = 600) => {
    if (document.activeElement !== input.current) return;
    if (!document.querySelector("main .loading, main [aria-busy=true]")) step(1, true);
    else if (frames) requestAnimationFrame(() => first(frames - 1));
  };
  const now = () => { if (typed.trim() !== value) onSearch(typed.trim()); requestAnimationFrame(() => requestAnimationFrame(() => first())); };
  useShortcuts([{ keys: "/", does: "Search", run: () => input.current?.select() }]);
  return <div class="search" role="search">
    <label class="hidden" for="search">{label}</label>
    <input id="search" ref={input} type="search" placeholder={label} value={typed} maxLength={100} autoComplete="off" spellcheck={false}
      onInput={(e) => type(e.currentTarget.value)}
      onKeyDown={(e) => { if (e.key === "Enter" || e.key === "ArrowDown") { e.preventDefault(); now(); } }} />
    <Key>/</Key>
  </div>;
}

// step moves the focus among the rows of the screen.
export function step(by: number, first = false) {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const at = first ? -1 : rows.indexOf(document.activeElement as HTMLElement);
  const row = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + by))];
  row?.focus();
  row?.scrollIntoView({ block: "nearest" });
}

// List shows a list of the API page by page; the address keeps the offset. The newest records are first if asked for: the
// API lists the oldest first, so that the pages are then counted from the end.
export function List<T>({ path, address, parameters = {}, newest, row, empty, head }: {
  path: string; address: string; parameters?: Record<string, string>; newest?: boolean; row: (t: T) => ComponentChildren; empty: ComponentChildren; head?: (p: Page<T>) => ComponentChildren;
}) {
  const offset = Number(current().query.get("offset")) || 0;
  const first = useGet<Page<T>>(newest ? query(path, { ...parameters, limit: 1 }) : null), total = first.data?.pagination.total;
  const limit = Number(parameters.limit) || 50, from = (total ?? 0) - offset;
  const page = useGet<Page<T>>(!newest || from <= 0 && total !== undefined ? query(path, { ...parameters, offset })
    : total === undefined ? null : query(path, { ...parameters, limit: Math.min(limit, from), offset: Math.max(0, from - limit) }));
  const more = newest ? from > limit : page.data?.pagination.hasMore;
  const to = (o: number) => query(address, { ...parameters, offset: o });
  useShortcuts([
    { keys: "j|ArrowDown", does: "Next row", run: () => step(1) },
    { keys: "k|ArrowUp", does: "Previous row", run: () => step(-1) },
    ...(more ? [{ keys: "n", does: "Next page", run: () => go(to(offset + limit)) }] : []),
    ...(page.data && offset ? [{ keys: "p", does: "Previous page", run: () => go(to(Math.max(0, offset - limit))) }] : []),
  ]);
  return <Await of={newest && total === undefined ? first : page}>{(p) => p.data.length === 0 ? <Empty>{offset ? <p>There is nothing on this page. <a href={to(0)}>Go to the first page.</a></p> : empty}</Empty> : <>
    {head?.(p)}
    <ul class="rows">{(newest ? p.data.toReversed() : p.data).map((t) => <li>{row(t)}</li>)}</ul>
    {(more || offset > 0) && <nav class="pager" aria-label="Pages">
      <span>{number(offset + 1)} to {number(offset + p.data.length)} of {number(p.pagination.total)}</span>
      {offset > 0 && <a href={to(Math.max(0, offset - limit))}>Previous <Key>p</Key></a>}
      {more && <a href={to(offset + limit)}>Next <Key>n</Key></a>}
    </nav>}
  </>}</Await>;
}

// Choose searches a list of the API and takes one of what it finds.
export function Choose<T>({ label, path, name, onChoose, hint, autoFocus }: { label: string; path: (query: string) => string; name: (t: T) => string; onChoose: (t: T) => void; hint?: string; autoFocus?: boolean }) {
  const [typed, type] = useState("");
  const [sought, seek] = useState("");
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  const id = useId(), input = useRef<HTMLInputElement>(null);
  useEffect(() => { if (autoFocus) input.current?.focus(); }, []);
  useEffect(() => { const timer = setTimeout(() => { seek(typed.trim()); setAt(0); }, 200); return () => clearTimeout(timer); }, [typed]);
  const found = useGet<Page<T>>(open && sought ? path(sought) : null);
  const items = open && sought ? found.data?.data.slice(0, 12) ?? [] : [];
  const take = (t: T | undefined) => { if (t === undefined) return; onChoose(t); type(""); seek(""); setOpen(false); };
  return <Field label={label} hint={hint}>{(p) => <div class="choose">
    <input {...p} ref={input} value={typed} role="combobox" aria-expanded={items.length > 0} aria-controls={id + "-list"} aria-autocomplete="list" autoComplete="off" spellcheck={false} maxLength={100}
      {...(items[at] !== undefined ? { "aria-activedescendant": id + "-" + at } : {})}
      onInput={(e) => { type(e.currentTarget.value); setOpen(true); }} onBlur={() => setTimeout(() => setOpen(false), 150)}
      onKeyDown={(e) => {
        if (e.key === "ArrowDown" || e.key === "ArrowUp") { e.preventDefault(); setAt((n) => Math.max(0, Math.min(items.length - 1, n + (e.key === "ArrowDown" ? 1 : -1)))); }
        else if (e.key === "Enter" && open) { e.preventDefault(); take(items[at]); }
        else if (e.key === "Escape" && items.length) { e.preventDefault(); e.stopPropagation(); setOpen(false); }
      }} />
    <ul id={id + "-list"} role="listbox" aria-label={label} hidden={items.length === 0}>
      {items.map((t, i) => <li id={id + "-" + i} role="option" aria-selected={i === at} onPointerDown={(e) => { e.preventDefault(); take(t); }}><Text of={name(t)} /></li>)}
    </ul>
    <div role="status" class="small soft">{open && sought && !found.loading && found.data && items.length === 0 ? "Nothing found." : found.problem?.message ?? ""}</div>
  </div>}</Field>;
}

// Drop takes one file, dropped or chosen.
export function Drop({ label, accept, onFile, hint }: { label: string; accept: string; onFile: (f: File) => void; hint: string }) {
  const [over, setOver] = useState(false);
  const id = useId();
  return <div class={"drop" + (over ? " over" : "")}
    onDragOver={(e) => { e.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)}
    onDrop={(e) => { e.preventDefault(); setOver(false); const f = e.dataTransfer?.files[0]; if (f) onFile(f); }}>
    <label for={id}>{label}</label>
    <input id={id} type="file" accept={accept} aria-describedby={id + "-hint"} onChange={(e) => { const f = e.currentTarget.files?.[0]; if (f) onFile(f); e.currentTarget.value = ""; }} />
    <div id={id + "-hint"} class="small soft">{hint}</div>
  </div>;
}

// copy puts text on the clipboard, and reports whether the browser let it.
export const copy = (text: string) => navigator.clipboard ? navigator.clipboard.writeText(text).then(() => true, () => false) : Promise.resolve(false);

// save offers text as a file.
export function save(name: string, type: string, text: string) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([text], { type }));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}

