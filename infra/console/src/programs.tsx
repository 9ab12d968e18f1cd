import type { Route } from "./route";
import { List, Screen, Text } from "./ui";

export function Programs({ route }: { route: Route }) {
  return <Screen title="Programs">
    <List<{ id: string; name: string }> path="/programs" address="#/programs" parameters={{ query: route.query.get("query") ?? "" }} empty={<p>There are no programs yet.</p>}
      row={(r) => <a class="row" data-row href={"#/programs/" + r.id}><span class="grow"><Text of={r.name} /></span></a>} />
  </Screen>;
}
