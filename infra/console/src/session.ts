import { createContext } from "preact";
import { useContext } from "preact/hooks";

// Me is whose key this is, and what it may (GET /me).
export type Me = {
  customerId: string; customerName: string; organizationId: string; organizationName: string; key: { id: string; scope: "read" | "write" };
  limit: { units: number; windowSeconds: number }; taxonomy: { name: string; version: string; skills: number };
};

export const Session = createContext<Me | null>(null);

// useMayWrite reports whether changes are offered.
export const useMayWrite = () => useContext(Session)?.key.scope === "write";
