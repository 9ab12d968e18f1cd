import { useEffect, useState } from "preact/hooks";

// Route is the address after #: the parts of its path and its parameters.
export type Route = { path: string; parts: string[]; query: URLSearchParams };

const decode = (s: string) => { try { return decodeURIComponent(s); } catch { return s; } };

export function current(): Route {
  const [path = "", q = ""] = location.hash.replace(/^#\/?/, "").split("?", 2) as [string?, string?];
  return { path, parts: path.split("/").filter(Boolean).map(decode), query: new URLSearchParams(q) };
}

export function useRoute(): Route {
  const [route, set] = useState(current);
  useEffect(() => {
    const follow = () => set(current());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}

export const go = (address: string) => { location.hash = address; };

// replace changes the address without a step in the history.
export const replace = (address: string) => {
  history.replaceState(null, "", "#" + address);
  dispatchEvent(new HashChangeEvent("hashchange"));
};
