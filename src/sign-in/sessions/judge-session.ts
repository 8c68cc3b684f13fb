import type { StoredSession } from "./session.store.ts";

/** How long sessions last. */
export interface SessionTimes {
  /** The maximum time without a request. */
  readonly idleMs: number;
  /** The maximum total time, even with requests. */
  readonly wholeMs: number;
}

/** A user with daily requests stays signed in for a week, and then has to sign in again. */
export const sessionTimes: SessionTimes = {
  idleMs: 24 * 60 * 60_000,
  wholeMs: 7 * 24 * 60 * 60_000,
};

type SessionState =
  | { readonly kind: "live"; readonly until: Date }
  | { readonly kind: "over"; readonly why: "signed out" | "idle" | "aged" };

export function judgeSession(
  { endsAt, endedAt, seenAt }: Pick<StoredSession, "endsAt" | "endedAt" | "seenAt">,
  { idleMs }: SessionTimes,
  now: Date,
): SessionState {
  if (endedAt !== null) return { kind: "over", why: "signed out" };
  if (endsAt <= now) return { kind: "over", why: "aged" };
  const idleEnd = new Date(seenAt.getTime() + idleMs);
  if (idleEnd <= now) return { kind: "over", why: "idle" };
  return { kind: "live", until: idleEnd < endsAt ? idleEnd : endsAt };
}
