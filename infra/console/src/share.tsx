import { useState } from "preact/hooks";
import { call, get } from "./api";
import { useMayWrite } from "./session";
import { Dialog, Field, Refused, Select, copy, save, time, useAction } from "./ui";

// Share offers a record's page to print: as a link that needs no key, or as a file.
export function Share({ path, query = "", name, onClose }: { path: string; query?: string; name: string; onClose: () => void }) {
  const mayWrite = useMayWrite();
  const [life, setLife] = useState("86400");
  const [link, setLink] = useState<{ url: string; expiresAt: string } | null>(null);
  const [copied, setCopied] = useState(false);
  const make = useAction(async (key: string, expiresInSeconds: number) => {
    setLink(null);
    const { data } = await call<{ url: string; expiresAt: string }>("POST", path + "/links", { body: { expiresInSeconds }, idempotencyKey: key });
    setLink({ ...data, url: data.url + (query && (data.url.includes("?") ? "&" : "?") + query) });
    setCopied(false);
  });
  const file = useAction(async (_: string, part: string, type: string) => {
    const { data } = await get<string>(path + part + (query && "?" + query));
    save(name.replace(/[^\p{L}\p{N} -]+/gu, " ").trim().slice(0, 80) + (part === "/page" ? ".html" : ".csv"), type, data);
  });
  return <Dialog title="Page to print" onClose={onClose}>
    {mayWrite ? <>
      <p>A link opens the page without a key. It always shows the current state, and nothing else.</p>
      <form onSubmit={(e) => { e.preventDefault(); void make.run(Number(life)); }} class="share">
        <Select label="The link works for" value={life} options={[["3600", "an hour"], ["86400", "a day"], ["604800", "a week"]]} onChange={setLife} />
        <button class={link ? "" : "primary"} disabled={make.busy}>{make.busy ? "Making the link…" : link ? "Make another" : "Make a link"}</button>
      </form>
      <Refused problem={make.problem} />
      {link && <>
        <Field label="Link" hint={"Until " + time(link.expiresAt) + ". It is shown only now."}>{(p) => <input {...p} readOnly value={link.url} onFocus={(e) => e.currentTarget.select()} />}</Field>
        <p class="actions"><a class="button primary" href={link.url} target="_blank" rel="noopener">Open the page</a>
          <button type="button" onClick={() => { void copy(link.url).then(setCopied); }}>{copied ? "Copied" : "Copy"}</button></p>
      </>}
    </> : <p>This key reads only, so it can make no links. The page as a file opens in any browser.</p>}
    <p class="actions">
      <button type="button" disabled={file.busy} onClick={() => void file.run("/page", "text/html")}>Download the page</button>
      <button type="button" disabled={file.busy} onClick={() => void file.run("/table", "text/csv")}>Download the table (CSV)</button>
    </p>
    <Refused problem={file.problem} />
  </Dialog>;
}
