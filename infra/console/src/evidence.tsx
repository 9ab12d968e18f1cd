import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { Text, count, isolated, levels, percent, useShortcuts } from "./ui";

export type Skill = { skillId: string; skillName: string; level: number; confidence: number };
export type Quote = { skillId: string; quote: string; page: number; start: number; end: number; label: string; verb: string; section: string };
export type Verdict = "ACCEPTED" | "REJECTED";

// Item is a skill as the screen shows it: found, decided or added.
export type Item = Skill & { verdict: Verdict | null; added?: boolean };

type Piece = { text: string; skills: string[] };
type Row = { pieces: Piece[]; begins: string[] };

// units translates offsets in code points into those of a JavaScript string.
function units(text: string): (codePoint: number) => number {
  if (!/[\uD800-\uDBFF]/.test(text)) return (n) => n;
  const at: number[] = [];
  for (let i = 0; i < text.length; i += text.codePointAt(i)! > 0xffff ? 2 : 1) at.push(i);
  at.push(text.length);
  return (n) => at[Math.min(n, at.length - 1)]!;
}

// rows cuts a text where a line has the first quote of a skill, so that its note can stand beside it.
export function rows(text: string, quotes: Quote[]): Row[] {
  const unit = units(text);
  const spans = quotes.map((q) => {
    let from = unit(q.start), to = unit(q.end);
    if (text.slice(from, to) !== q.quote && text.indexOf(q.quote) >= 0) { from = text.indexOf(q.quote); to = from + q.quote.length; }
    return { skill: q.skillId, from, to };
  }).sort((a, b) => a.from - b.from || (a.skill < b.skill ? -1 : 1)); // the same order whatever is decided
  const first = new Map<string, number>();
  for (const s of spans) if (!first.has(s.skill)) first.set(s.skill, s.from);
  const starts = [...new Set([0, ...[...first.values()].map((at) => text.lastIndexOf("\n", at - 1) + 1)])].sort((a, b) => a - b);
  return starts.map((start, i) => {
    const end = starts[i + 1] ?? text.length;
    const inside = spans.filter((s) => s.from < end && s.to > start);
    const cuts = [...new Set([start, end, ...inside.flatMap((s) => [Math.max(s.from, start), Math.min(s.to, end)])])].sort((a, b) => a - b);
    const pieces = cuts.slice(1).map((to, k) => {
      const from = cuts[k]!;
      return { text: text.slice(from, to), skills: [...new Set(inside.filter((s) => s.from < to && s.to > from).map((s) => s.skill))] };
    });
    if (i < starts.length - 1) { const last = pieces.at(-1); if (last) last.text = last.text.replace(/\n$/, ""); }
    return { pieces, begins: [...first].filter(([, at]) => at >= start && (at < end || end === text.length)).sort((a, b) => a[1] - b[1]).map(([skill]) => skill) };
  });
}

const said = (i: Item) => i.verdict === "ACCEPTED" ? i.added ? "added" : "accepted" : i.verdict === "REJECTED" ? "rejected" : "not reviewed";
const signs = { ACCEPTED: "✓", REJECTED: "✕", none: "○" };

// nextQuote scrolls to the quote of a skill after the one that was shown last.
let quoted = { skill: "", n: 0 };
export function nextQuote(skill: string | null, first = false) {
  const all = document.querySelectorAll(`.evidence mark[data-skills~="${CSS.escape(skill ?? "")}"]`);
  quoted = { skill: skill ?? "", n: first || quoted.skill !== skill ? 0 : (quoted.n + 1) % Math.max(1, all.length) };
  all[quoted.n]?.scrollIntoView({ block: "nearest" });
}

// Evidence is a text with its quotes marked, and each skill in the margin where it stands first.
// Choosing a skill leads to its quotes and the other way round.
export function Evidence({ text, quotes, items, active, onActive, reviewed, none }: {
  text: string; quotes: Quote[]; items: Item[]; active: string | null; onActive: (skill: string | null) => void; reviewed: boolean; none: ComponentChildren;
}) {
  const area = useRef<HTMLDivElement>(null);
  const shown = useMemo(() => rows(text, quotes.filter((q) => items.some((i) => i.skillId === q.skillId))), [text, quotes, items.map((i) => i.skillId).join()]);
  const by = new Map(items.map((i) => [i.skillId, i]));
  const placed = shown.flatMap((r) => r.begins);
  const unplaced = items.filter((i) => !placed.includes(i.skillId));
  const order = [...unplaced.map((i) => i.skillId), ...placed];
  const focus = (skill: string | undefined) => {
    const note = skill && area.current?.querySelector<HTMLElement>(`[data-note="${CSS.escape(skill)}"]`);
    if (note) note.focus();
  };
  const move = (step: number) => {
    const at = active ? order.indexOf(active) : -1;
    focus(order[at < 0 ? (step > 0 ? 0 : order.length - 1) : Math.max(0, Math.min(order.length - 1, at + step))]);
  };
  useShortcuts([
    { keys: "j|ArrowDown", does: "Next skill", run: () => move(1) }, { keys: "k|ArrowUp", does: "Previous skill", run: () => move(-1) },
    { keys: "n", does: "Next quote of the skill", run: () => nextQuote(active) },
  ]);
  // A skill that was chosen otherwise than by its note. An effect after painting would be late: where the focus has moved
  // on meanwhile, two notes would take it from each other without end.
  useLayoutEffect(() => {
    if (active && document.activeElement?.getAttribute("data-note") !== active && !document.activeElement?.closest("input, dialog, .bar")) focus(active);
  }, [active]);
  const times = (skill: string) => quotes.filter((q) => q.skillId === skill);
  const note = (id: string) => {
    const i = by.get(id)!, own = times(id), verb = own.find((q) => q.verb)?.verb;
    const pages = [...new Set(own.map((q) => q.page))];
    return <button type="button" key={id} data-note={id} class={"note " + (i.verdict ?? "") + (active === id ? " on" : "")} aria-pressed={active === id}
      onClick={(e) => e.currentTarget.focus()} onFocus={() => { onActive(id); nextQuote(id, true); }}>
      {reviewed && <span class="sign" aria-hidden="true">{signs[i.verdict ?? "none"]}</span>}
      <span class="grow"><Text of={i.skillName} /> <span class="small soft">{i.verdict === "REJECTED" ? "" : i.level + " " + levels[i.level]}
        {verb && <> · “<Text of={verb} />”</>}{i.verdict === null && " · " + percent(i.confidence)}{own.length > 1 && " · " + count(own.length, "quote")}{pages.some((p) => p > 1) && " · page " + pages.join(", ")}</span></span>
      {reviewed && <span class="hidden">, {said(i)}</span>}
    </button>;
  };
  const marks = useMemo(() => shown.map((r) => r.pieces), [shown]);
  return <div class="evidence" ref={area} onClick={(e) => {
    const skills = (e.target as HTMLElement).closest("mark")?.dataset.skills?.split(" ");
    if (skills) focus(skills[(skills.indexOf(active ?? "") + 1) % skills.length]);
  }}>
    {unplaced.length > 0 && <div class={"stretch" + (text ? "" : " alone")}><div class="words soft small">{text ? "Without a quote in the text" : none}</div><div class="notes">{unplaced.map((i) => note(i.skillId))}</div></div>}
    {text && shown.map((r, n) => <div class="stretch" key={n}>
      <div class="words" dir="auto">{marks[n]!.map((p) => p.skills.length
        ? <mark class={[active && p.skills.includes(active) ? "on" : "", p.skills.every((s) => by.get(s)?.verdict === "REJECTED") ? "REJECTED" : p.skills.every((s) => by.get(s)?.verdict) ? "ACCEPTED" : ""].join(" ")} data-skills={p.skills.join(" ")}>{p.text}</mark>
        : p.text)}</div>
      <div class="notes">{r.begins.map(note)}</div>
    </div>)}
    {!text && unplaced.length === 0 && <div class="empty">{none}</div>}
  </div>;
}

// csv writes the skills as a table: one row a skill, with its first quote.
export function csv(items: Item[], quotes: Quote[]) {
  const cell = (v: string | number) => { const s = String(v); return /^[=+\-@\t\r]/.test(s) ? `"'${s.replaceAll('"', '""')}"` : /[",\r\n]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s; };
  return [["skillId", "skillName", "level", "confidence", "quote", "page"], ...items.map((i) => {
    const q = quotes.find((q) => q.skillId === i.skillId);
    return [i.skillId, i.skillName, i.level, i.confidence, q?.quote ?? "", q?.page ?? ""];
  })].map((r) => r.map(cell).join(",")).join("\r\n") + "\r\n";
}

export const named = (i: Item | undefined) => isolated(i?.skillName ?? "");
