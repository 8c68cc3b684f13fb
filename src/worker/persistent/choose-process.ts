/** A kept process, as far as the choice needs it. */
export interface Kept {
  readonly key: string;
  readonly isBusy: boolean;
  /** By a clock that never goes back; in ms. */
  readonly lastUsedMs: number;
}

type ProcessChoice<Process> =
  | { readonly kind: "use"; readonly process: Process }
  /** Start another one, after the end of a process that is used less. */
  | { readonly kind: "start"; readonly after?: Process }
  /** All are busy. */
  | { readonly kind: "none" };

/** Chooses the process for an action. At most `most` processes exist at any time, those that start included. */
export function chooseProcess<Process extends Kept>(
  kept: readonly Process[],
  key: string,
  most: number,
): ProcessChoice<Process> {
  const idle = kept.filter(({ isBusy }) => !isBusy).toSorted((a, b) => a.lastUsedMs - b.lastUsedMs);
  const process = idle.findLast((each) => each.key === key);
  if (process !== undefined) return { kind: "use", process };
  if (kept.length < most) return { kind: "start" };
  const [oldest] = idle;
  return oldest === undefined || most === 0 ? { kind: "none" } : { kind: "start", after: oldest };
}
