// The client of the API: every call is retried as its answer allows, a GET is answered from
// memory where the ETag still holds, and a POST keeps its Idempotency-Key over all attempts.

const base = document.getElementById("console")!.dataset.base!;

export type Page<T> = { data: T[]; pagination: { total: number; limit: number; offset: number; hasMore: boolean } };
export type Failure = { location: string; message: string; value?: unknown };

// Problem is an error response, or a connection that stayed lost (status 0).
export class Problem extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly faults: Failure[] = [], readonly requestId = "") {
    super(message);
  }
  // At returns the faults of a body's field.
  at(field: string) {
    return this.faults.filter((f) => f.location === "body." + field || f.location.startsWith("body." + field + ".") || f.location.startsWith("body." + field + "["));
  }
}

// Answer is a response; its etag is the one that If-Match is compared with.
export type Answer<T> = { data: T; etag: string };
type Options = { key?: string; once?: boolean; body?: unknown; ifMatch?: string | undefined; idempotencyKey?: string | undefined; signal?: AbortSignal };

// The key lives here alone: it ends with the page.
let key = "";
export const signIn = (k: string) => { key = k; known.clear(); for (const forget of personal) forget(); };

// renew goes on with another key of the same organization.
export const renew = (k: string) => { key = k; };

// onEnded sets who asks for another key when the one in use has ended. Calls wait for it, and then go on.
let ask: (() => Promise<void>) | null = null, asking: Promise<void> | null = null;
export const onEnded = (f: () => Promise<void>) => { ask = f; return () => { ask = null; }; };

// onSignIn names what else is kept for the holder of a key and goes with it.
const personal: (() => void)[] = [];
export const onSignIn = (forget: () => void) => { personal.push(forget); };

// Waiting is what the calls under way wait for; the page shows it.
export type Waiting = { reason: "connection" | "limit" | "busy"; until: number } | null;
let waiting: Waiting = null;
const listeners = new Set<(w: Waiting) => void>();
export const onWaiting = (f: (w: Waiting) => void) => { listeners.add(f); return () => void listeners.delete(f); };
const tell = (w: Waiting) => { waiting = w; for (const f of listeners) f(w); };

// Unsaved counts the writes under way, so that the page can ask before it is left.
let unsaved = 0;
addEventListener("beforeunload", (e) => { if (unsaved) e.preventDefault(); });

const known = new Map<string, { tag: string; etag: string; data: unknown }>();
export const remembered = <T>(path: string) => known.get(path)?.data as T | undefined;

const attempts = 7;

// patience is how long a call waits for the first byte of an answer; the service takes 30 s at most.
const patience = 90_000;

// sleep ends early when the browser finds its connection again.
const sleep = (ms: number, signal?: AbortSignal) => new Promise<void>((resolve, reject) => {
  const end = () => { clearTimeout(timer); removeEventListener("online", end); resolve(); };
  const timer = setTimeout(end, ms);
  addEventListener("online", end);
  signal?.addEventListener("abort", () => { end(); reject(signal.reason); }, { once: true });
});

export const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");

export async function call<T>(method: string, path: string, o: Options = {}): Promise<Answer<T>> {
  const headers: Record<string, string> = { "X-API-Key": o.key ?? key, Accept: "application/json" };
  const cached = method === "GET" ? known.get(path) : undefined;
  if (cached) headers["If-None-Match"] = cached.tag;
  if (o.ifMatch) headers["If-Match"] = o.ifMatch;
  if (method === "POST") headers["Idempotency-Key"] = o.idempotencyKey ?? newKey();
  if (o.body !== undefined) headers["Content-Type"] = "application/json";
  const request: RequestInit = { method, headers, credentials: "omit", cache: "no-store", redirect: "error" };
  if (o.body !== undefined) request.body = JSON.stringify(o.body);
  const writes = method !== "GET", most = o.once ? 1 : attempts;
  if (writes) unsaved++;
  let waited = false;
  try {
    for (let attempt = 1; ; attempt++) {
      const backoff = Math.min(10_000, 400 * 2 ** (attempt - 1)) * (.75 + Math.random() / 2);
      let response: Response, text: string;
      try {
        const silent = new AbortController(), timer = setTimeout(() => silent.abort(), patience);
        request.signal = o.signal ? AbortSignal.any([o.signal, silent.signal]) : silent.signal;
        try { response = await fetch(base + path, request); } finally { clearTimeout(timer); }
        text = await response.text(); // the connection can be lost in the body too
      } catch (e) {
        if (o.signal?.aborted) throw e;
        if (attempt === most) throw new Problem(0, "connection", "The service cannot be reached. Check the connection, then try again.");
        waited = true;
        tell({ reason: "connection", until: Date.now() + backoff });
        await sleep(backoff, o.signal);
        continue;
      }
      if ([429, 502, 503, 504].includes(response.status) && attempt < most) {
        const wait = Math.max(Number(response.headers.get("Retry-After") ?? 0) * 1000, backoff);
        waited = true;
        tell({ reason: response.status === 429 ? "limit" : "busy", until: Date.now() + wait });
        await sleep(wait, o.signal);
        continue;
      }
      if (response.status === 401 && ask && o.key === undefined) {
        if (headers["X-API-Key"] === key) await (asking ??= ask().finally(() => { asking = null; }));
        headers["X-API-Key"] = key;
        attempt = 0;
        continue;
      }
      if (response.status === 304) return { data: cached!.data as T, etag: cached!.etag };
      const type = response.headers.get("Content-Type") ?? "";
      const data = text && /json/.test(type) ? JSON.parse(text) : text;
      if (!response.ok && !(method === "DELETE" && response.status === 404)) { // what is gone was deleted, perhaps by an attempt whose answer was lost
        const p = typeof data === "object" && data ? data : {};
        throw new Problem(response.status, p.code ?? "internal", p.detail ?? p.title ?? "The service failed. Try again later.", p.errors, p.requestId);
      }
      const tag = response.headers.get("ETag") ?? "", etag = response.headers.get("X-Record-ETag") ?? tag;
      if (method === "GET" && tag) known.set(path, { tag, etag, data });
      return { data, etag };
    }
  } finally {
    if (writes) unsaved--;
    if (waited && waiting) tell(null);
  }
}

export const get = <T>(path: string, signal?: AbortSignal) => call<T>("GET", path, signal ? { signal } : {});

// settled polls a path until its data satisfy done.
export async function settled<T>(path: string, done: (t: T) => boolean, signal: AbortSignal, seen: (t: T) => void = () => {}): Promise<T> {
  for (let pause = 300; ; pause = Math.min(pause * 1.5, 3000)) {
    const { data } = await get<T>(path, signal);
    seen(data);
    if (done(data)) return data;
    await sleep(pause, signal);
  }
}

// query writes parameters, leaving out the empty ones.
export const query = (path: string, parameters: Record<string, string | number | undefined>) => {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined && value !== "" && value !== 0) q.set(name, String(value));
  return q.size ? path + "?" + q : path;
};

// maxFile is the size in bytes of the largest file that the service takes.
export const maxFile = 26_214_400;

type Stored = { id: string; status: string; upload: { url: string; headers: Record<string, string> } | null };

// put sends a file to the signed address; it returns the status, 0 where the connection was lost.
const put = (to: NonNullable<Stored["upload"]>, file: ArrayBuffer, sent: (share: number) => void, signal?: AbortSignal) => new Promise<number>((resolve, reject) => {
  const request = new XMLHttpRequest();
  request.open("PUT", to.url);
  for (const [name, value] of Object.entries(to.headers)) if (!/^(host|content-length)$/i.test(name)) request.setRequestHeader(name, value);
  request.upload.onprogress = (e) => sent(e.loaded / file.byteLength);
  request.onloadend = () => resolve(request.status);
  signal?.addEventListener("abort", () => { request.abort(); reject(signal.reason); }, { once: true });
  request.send(file);
});

// upload stores a file (section 12 of the contract) and returns its document's id once the
// document is READY. sent is told the share that has arrived. With the same key, a later
// attempt goes on with the same document.
export async function upload(file: File, idempotencyKey: string, sent: (share: number) => void = () => {}, signal?: AbortSignal): Promise<string> {
  if (file.size > maxFile) throw new Problem(413, "too_large", "The file is larger than 25 MiB.");
  unsaved++;
  let waited = false;
  try {
    const bytes = await file.arrayBuffer();
    const sha256 = Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)), (b) => b.toString(16).padStart(2, "0")).join("");
    let doc = (await call<Stored>("POST", "/documents", { body: { fileName: file.name, sizeBytes: file.size, sha256 }, idempotencyKey, ...(signal ? { signal } : {}) })).data;
    for (let attempt = 1; ; attempt++) {
      // An answer from memory may hold an upload that has ended, and the bytes may be there although an answer was lost.
      if (attempt > 1) doc = (await get<Stored>("/documents/" + doc.id, signal)).data;
      if (doc.status === "READY") return doc.id;
      const status = doc.upload ? await put(doc.upload, bytes, sent, signal) : 403;
      if (status < 300 && status > 0 || status === 412) continue;
      if (attempt >= attempts || status >= 400 && status < 500 && status !== 403 && status !== 409 && status !== 429) throw new Problem(status, "upload", "The file could not be stored. Try again.");
      const wait = Math.min(10_000, 400 * 2 ** (attempt - 1));
      waited = true;
      tell({ reason: status ? "busy" : "connection", until: Date.now() + wait });
      await sleep(wait, signal);
    }
  } finally {
    unsaved--;
    if (waited) tell(null);
  }
}
