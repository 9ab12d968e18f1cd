import type { Route } from "./route";
import { List, Screen, Text } from "./ui";

export function Transfer({ route }: { route: Route }) {
  return <Screen title="Transfer">
    <List<{ id: string; name: string }> path="/transfer-packages" address="#/transfer" parameters={{ query: route.query.get("query") ?? "" }} empty={<p>There are no transfer packages yet.</p>}
      row={(r) => <a class="row" data-row href={"#/transfer/" + r.id}><span class="grow"><Text of={r.name} /></span></a>} />
  </Screen>;
}
