/** The collector's behaviour when the machine is busy. */
type OnLoad =
  | { readonly kind: "begin"; readonly warning?: string }
  | { readonly kind: "wait"; readonly why: string };

interface LoadRequested {
  readonly policy: "wait" | "refuse" | "flag";
  /** Undefined: the machine is quiet. */
  readonly busy: string | undefined;
  readonly waitedMs: number;
  readonly waitLimitMs: number;
}

/** Decides whether measuring begins although other programs run on the machine. */
export function onLoad({ policy, busy, waitedMs, waitLimitMs }: LoadRequested): OnLoad {
  if (busy === undefined) return { kind: "begin" };
  if (policy === "flag" || (policy === "wait" && waitedMs >= waitLimitMs))
    return { kind: "begin", warning: busy };
  return { kind: "wait", why: busy };
}
