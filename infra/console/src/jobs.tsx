import { Choose, Text, isolated } from "./ui";

export type JobRef = { id: string; lib: "soc" | "custom"; name: string };

// Jobs chooses occupations, and jobs of the organization.
export function Jobs({ chosen, onChange, most }: { chosen: JobRef[]; onChange: (jobs: JobRef[]) => void; most: number }) {
  const add = (j: JobRef) => { if (!chosen.some((c) => c.id === j.id)) onChange([...chosen, j]); };
  return <>
    <Chips of={chosen} onChange={onChange} />
    {chosen.length < most && <div class="fields">
      <Choose<{ socCode: string; name: string }> label="Add an occupation" hint="By name or SOC code" path={(q) => "/labor-market/occupations?limit=12&query=" + encodeURIComponent(q)} name={(o) => `${o.socCode} ${o.name}`} onChoose={(o) => add({ id: o.socCode, lib: "soc", name: o.name })} />
      <Choose<{ id: string; name: string }> label="Add one of your jobs" path={(q) => "/jobs?limit=12&query=" + encodeURIComponent(q)} name={(j) => j.name} onChoose={(j) => add({ id: j.id, lib: "custom", name: j.name })} />
    </div>}
  </>;
}

// Chips shows what was chosen, each with a way to take it out.
export const Chips = <T extends { id: string; name: string }>({ of, onChange }: { of: T[]; onChange: (left: T[]) => void }) => of.length > 0 &&
  <ul class="chips">{of.map((c) => <li><Text of={c.name} /><button type="button" class="quiet" aria-label={"Take out " + isolated(c.name)} onClick={() => onChange(of.filter((o) => o !== c))}>✕</button></li>)}</ul>;
