import type { Asking } from "./asking.ts";

type Named = Pick<Asking, "project" | "invocation">;

/** Which invocations use which connections of this server. */
interface OpenConnections {
  used(peer: string, key: string, invocation: Named): void;
  /** Forgets a connection; returns the invocations, by key, that used no other one. */
  closed(peer: string): Map<string, Named>;
}

/** More invocations of one connection are not followed: a proxy has many clients behind it, a build tool has one. */
const mostOfConnection = 1_000;

export function openConnections(): OpenConnections {
  const invocationsOf = new Map<string, Map<string, Named>>();
  const counts = new Map<string, number>();
  return {
    used(peer, key, { project, invocation }) {
      const known = invocationsOf.get(peer) ?? new Map<string, Named>();
      if (known.has(key) || known.size >= mostOfConnection) return;
      known.set(key, { project, invocation });
      invocationsOf.set(peer, known);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
    closed(peer) {
      const gone = new Map<string, Named>();
      for (const [key, invocation] of invocationsOf.get(peer) ?? []) {
        const others = (counts.get(key) ?? 1) - 1;
        if (others > 0) counts.set(key, others);
        else {
          counts.delete(key);
          gone.set(key, invocation);
        }
      }
      invocationsOf.delete(peer);
      return gone;
    },
  };
}
