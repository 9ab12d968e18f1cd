import { List, Screen, Text } from "./ui";

export function Reports() {
  return <Screen title="Reports">
    <List<{ id: string; name: string }> path="/reports" address="#/reports" empty={<p>There are no reports yet.</p>}
      row={(r) => <a class="row" data-row href={"#/reports/" + r.id}><span class="grow"><Text of={r.name} /></span></a>} />
  </Screen>;
}
