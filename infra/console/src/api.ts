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

export type Answer<T> = { data: T; etag: string; attempts: number };
type Options = { body?: unknown; ifMatch?: string | undefined; idempotencyKey?: string | undefined; signal?: AbortSignal };

// The key lives here alone: it ends with the page.
let key = "";
export const signIn = (k: string) => { key = k; known.clear(); };

// Waiting is what the calls under way wait for; the page shows it.
export type Waiting = { reason: "connection" | "limit" | "busy"; until: number } | null;
let waiting: Waiting = null;
const listeners = new Set<(w: Waiting) => void>();
export const onWaiting = (f: (w: Waiting) => void) => { listeners.add(f); return () => void listeners.delete(f); };
const tell = (w: Waiting) => { waiting = w; for (const f of listeners) f(w); };

// Unsaved counts the writes under way, so that the page can ask before it is left.
let unsaved = 0;
addEventListener("beforeunload", (e) => { if (unsaved) e.preventDefault(); });

const known = new Map<string, { etag: string; data: unknown }>();
export const remembered = <T>(path: string) => known.get(path)?.data as T | undefined;

const attempts = 7;

// sleep ends early when the browser finds its connection again.
const sleep = (ms: number, signal?: AbortSignal) => new Promise<void>((resolve, reject) => {
  const end = () => { clearTimeout(timer); removeEventListener("online", end); resolve(); };
  const timer = setTimeout(end, ms);
  addEventListener("online", end);
  signal?.addEventListener("abort", () => { end(); reject(signal.reason); }, { once: true });
});

export const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");

export async function call<T>(method: string, path: string, o: Options = {}): Promise<Answer<T>> {
  const headers: Record<string, string> = { "X-API-Key": key, Accept: "application/json" };
  const cached = method === "GET" ? known.get(path) : undefined;
  if (cached) headers["If-None-Match"] = cached.etag;
  if (o.ifMatch) headers["If-Match"] = o.ifMatch;
  if (method === "POST") headers["Idempotency-Key"] = o.idempotencyKey ?? newKey();
  if (o.body !== undefined) headers["Content-Type"] = "application/json";
  const request: RequestInit = { method, headers, credentials: "omit", cache: "no-store", redirect: "error" };
  if (o.body !== undefined) request.body = JSON.stringify(o.body);
  if (o.signal) request.signal = o.signal;
  const writes = method !== "GET";
  if (writes) unsaved++;
  let waited = false;
  try {
    for (let attempt = 1; ; attempt++) {
      const backoff = Math.min(10_000, 400 * 2 ** (attempt - 1)) * (.75 + Math.random() / 2);
      let response: Response, text: string;
      try {
        response = await fetch(base + path, request);
        text = await response.text(); // the connection can be lost in the body too
      } catch (e) {
        if (o.signal?.aborted) throw e;
        if (attempt === attempts) throw new Problem(0, "connection", "The service cannot be reached. Check the connection, then try again.");
        waited = true;
        tell({ reason: "connection", until: Date.now() + backoff });
        await sleep(backoff, o.signal);
        continue;
      }
      if ([429, 502, 503, 504].includes(response.status) && attempt < attempts) {
        const wait = Math.max(Number(response.headers.get("Retry-After") ?? 0) * 1000, backoff);
        waited = true;
        tell({ reason: response.status === 429 ? "limit" : "busy", until: Date.now() + wait });
        await sleep(wait, o.signal);
        continue;
      }
      if (response.status === 304) return { data: cached!.data as T, etag: cached!.etag, attempts: attempt };
      const type = response.headers.get("Content-Type") ?? "";
      const data = text && /json/.test(type) ? JSON.parse(text) : text;
      if (!response.ok) {
        const p = typeof data === "object" && data ? data : {};
        throw new Problem(response.status, p.code ?? "internal", p.detail ?? p.title ?? "The service failed. Try again later.", p.errors, p.requestId);
      }
      const etag = response.headers.get("ETag") ?? "";
      if (method === "GET" && etag) known.set(path, { etag, data });
      return { data, etag, attempts: attempt };
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

// upload stores a file (section 12 of the contract) and returns its document's id. A retry
// finds the document of the first attempt by the key.
export async function upload(file: File, idempotencyKey: string): Promise<string> {
  const bytes = await file.arrayBuffer();
  const sha256 = Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)), (b) => b.toString(16).padStart(2, "0")).join("");
  type Doc = { id: string; status: string; upload: { url: string; headers: Record<string, string> } | null };
  let { data: doc } = await call<Doc>("POST", "/documents", { body: { fileName: file.name, sizeBytes: file.size, sha256 }, idempotencyKey });
  for (let attempt = 1; ; attempt++) {
    if (attempt > 1) ({ data: doc } = await get<Doc>("/documents/" + doc.id)); // has a fresh upload
    if (doc.status === "READY" || !doc.upload) return doc.id;
    const headers = Object.fromEntries(Object.entries(doc.upload.headers).filter(([name]) => !/^(host|content-length)$/i.test(name)));
    const stored = await fetch(doc.upload.url, { method: "PUT", body: bytes, headers, credentials: "omit" }).catch(() => null);
    if (stored?.ok) return doc.id;
    if (attempt === 5) throw new Problem(stored?.status ?? 0, "upload", "The file could not be stored. Try again.");
    await sleep(500 * 2 ** attempt);
  }
}
