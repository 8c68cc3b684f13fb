import { Fault } from "#core/fault.ts";

/** A farm may be updated while a granary runs. */
const retryAfterMs = 5 * 60_000;

/** Whether the farm supports granaries: older farms do not, and are checked again only now and then. */
export interface ServiceSeen {
  isMissing(): boolean;
  /** Returns the answer of a call, or `nothing` when the farm does not know the call. */
  orElse<T>(nothing: T, call: () => Promise<T>): Promise<T>;
  noteMissing(): void;
}

export function serviceSeen(
  onMissing: () => void,
  now: () => number = () => performance.now(),
): ServiceSeen {
  let missingUntil = Number.NEGATIVE_INFINITY;
  const isMissing = () => now() < missingUntil;
  const noteMissing = () => {
    if (missingUntil === Number.NEGATIVE_INFINITY) onMissing();
    missingUntil = now() + retryAfterMs;
  };
  return {
    isMissing,
    noteMissing,
    async orElse(nothing, call) {
      if (isMissing()) return nothing;
      try {
        return await call();
      } catch (reason) {
        if (!isUnimplemented(reason)) throw reason;
        noteMissing();
        return nothing;
      }
    },
  };
}

export function isUnimplemented(reason: unknown): boolean {
  return reason instanceof Fault && reason.code === "unimplemented";
}
