import { render, type ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Problem, call, onEnded, onWaiting, renew, signIn, type Waiting } from "./api";
import { Courses } from "./courses";
import { Imports } from "./imports";
import { Programs } from "./programs";
import { Reports } from "./reports";
import { go, useRoute, type Route } from "./route";
import { Transfer } from "./transfer";
import { Try } from "./try";
import { Session, type Me } from "./session";
import { Dialog, Field, Key, Refused, Screen, Text, asProblem, shortcuts, toHeading, useShortcuts } from "./ui";

const screens: [string, string, string, ComponentType<{ route: Route }>][] = [
  ["try", "Try", "y", Try],
  ["courses", "Courses", "c", Courses],
  ["transfer", "Transfer", "t", Transfer],
  ["programs", "Programs", "p", Programs],
  ["reports", "Reports", "r", Reports],
  ["imports", "Imports", "i", Imports],
];

// KeyForm asks for a key, and hands on whose it is.
function KeyForm({ onMe }: { onMe: (me: Me, key: string) => void }) {
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const submit = async (e: Event) => {
    e.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      onMe((await call<Me>("GET", "/me", { key: key.trim() })).data, key.trim());
    } catch (e) {
      setProblem(asProblem(e));
    } finally {
      setBusy(false);
    }
  };
  return <form onSubmit={submit}>
    <Field label="API key" hint="Kept in this tab’s memory, and gone when you close or reload it.">{(p) =>
      <input {...p} type="password" autoComplete="off" spellcheck={false} required value={key} onInput={(e) => setKey(e.currentTarget.value)} autofocus />}</Field>
    <Refused problem={problem} />
    <button class="primary" disabled={busy || !key.trim()}>{busy ? "Signing in…" : "Sign in"}</button>
  </form>;
}

function SignIn({ onMe }: { onMe: (me: Me, key: string) => void }) {
  useEffect(() => { document.title = "Sign in · Skills Curriculum Service"; }, []);
  return <main class="signin">
    <p class="kind">Skills Curriculum Service</p>
    <h1>Sign in</h1>
    <KeyForm onMe={onMe} />
    <p class="soft small">No key? Ask whoever operates this service. Programs use the same key: see the <a href={document.getElementById("console")!.dataset.base + "/docs"}>reference</a>.</p>
  </main>;
}

// Ended asks for another key when the one in use has ended; what is on the screen stays.
function Ended({ me, onMe, onLeave }: { me: Me; onMe: (me: Me, key: string) => void; onLeave: () => void }) {
  const [asked, ask] = useState<{ go: () => void; leave: (p: Problem) => void } | null>(null);
  useEffect(() => onEnded(() => new Promise((go, leave) => ask({ go, leave }))), []);
  const leave = () => { asked?.leave(new Problem(401, "ended", "You have signed out.")); ask(null); };
  return asked && <Dialog title="Your key has ended" onClose={() => { leave(); onLeave(); }}>
    <p>It was revoked or replaced. Sign in with another key of <Text of={me.organizationName || me.organizationId} /> to go on where you are; closing this signs you out.</p>
    <KeyForm onMe={(now, key) => {
      if (now.organizationId !== me.organizationId) leave(); else { renew(key); asked.go(); ask(null); }
      onMe(now, key);
    }} />
  </Dialog>;
}

const reasons = { connection: "The connection is lost", limit: "The rate limit is reached", busy: "The service is busy" };

// Status tells what the calls under way wait for.
function Status() {
  const [waiting, set] = useState<Waiting>(null);
  const [, tick] = useState(0);
  useEffect(() => onWaiting(set), []);
  useEffect(() => {
    if (!waiting) return;
    const timer = setInterval(() => tick((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, [waiting]);
  const seconds = waiting ? Math.max(0, Math.ceil((waiting.until - Date.now()) / 1000)) : 0;
  return <div class="waiting" role="status">{waiting && <p>{reasons[waiting.reason]}. Trying again{seconds ? <span aria-hidden="true"> in {seconds} s</span> : ""}; nothing is lost.</p>}</div>;
}

function Keys({ onClose }: { onClose: () => void }) {
  const [on, set] = useState(shortcuts.on);
  const all = shortcuts.all();
  return <Dialog title="Keyboard" onClose={onClose}>
    <p><label><input type="checkbox" checked={on} onChange={(e) => set(shortcuts.on = e.currentTarget.checked)} /> Single keys work outside of text fields</label></p>
    <table><thead><tr><th scope="col">Key</th><th scope="col">Does</th></tr></thead>
      <tbody>{all.filter((s, i) => all.findLastIndex((o) => o.keys === s.keys) === i).map((s) => <tr><td>{s.keys.split("|").map((k, i) => <>{i > 0 && " or "}<kbd>{k}</kbd></>)}</td><td>{s.does}</td></tr>)}</tbody>
    </table>
  </Dialog>;
}

function App() {
  const [me, setMe] = useState<Me | null>(null);
  // Whoever signs in for another organization finds nothing of the one before.
  const take = (now: Me, key: string) => { if (now.organizationId !== me?.organizationId) signIn(key); setMe(now); };
  const leave = () => { signIn(""); setMe(null); };
  return me ? <Session.Provider value={me}>
    <Shell key={me.organizationId} me={me} onLeave={leave} />
    <Ended key={me.organizationId + "-ended"} me={me} onMe={take} onLeave={leave} />
  </Session.Provider> : <SignIn onMe={take} />;
}

function Shell({ me, onLeave }: { me: Me; onLeave: () => void }) {
  const route = useRoute();
  const [keys, showKeys] = useState(false);
  useShortcuts([
    ...screens.map(([id, name, letter]) => ({ keys: "g " + letter, does: name, run: () => go("/" + id) })),
    { keys: "?", does: "Show these keys", run: () => showKeys(true) },
  ]);
  const screen = screens.find(([id]) => id === (route.parts[0] ?? "courses"));
  const Current = screen?.[3];
  return <div class="shell">
    <button class="skip" onClick={toHeading}>Skip to the content</button>
    <header class="side">
      <div class="brand"><strong><Text of={me.organizationName || me.organizationId} /></strong>{me.customerName !== me.organizationName && <span class="soft small"><Text of={me.customerName} /></span>}</div>
      <nav aria-label="Main"><ul>{screens.map(([id, name, letter]) =>
        <li><a href={"#/" + id} {...(screen?.[0] === id ? { "aria-current": "page" as const } : {})}><span>{name}</span><Key>g {letter}</Key></a></li>)}</ul></nav>
      <div class="who">
        {me.key.scope === "read" && <span class="badge">Read only</span>}
        <button type="button" class="quiet" onClick={() => showKeys(true)}>Keyboard <Key>?</Key></button>
        <button type="button" class="quiet" onClick={onLeave}>Sign out</button>
      </div>
    </header>
    <main>
      {Current ? <Current route={route} /> : <Screen title="Not found"><p>This address leads nowhere. <a href="#/courses">Go to the courses.</a></p></Screen>}
    </main>
    <Status />
    {keys && <Keys onClose={() => showKeys(false)} />}
  </div>;
}

render(<App />, document.getElementById("console")!);
