import { List, Screen, Text } from "./ui";

export function Imports() {
  return <Screen title="Imports">
    <List<{ id: string }> path="/imports" address="#/imports" empty={<p>Nothing was imported yet.</p>}
      row={(r) => <a class="row" data-row href={"#/imports/" + r.id}><span class="grow"><Text of={r.id} /></span></a>} />
  </Screen>;
}
