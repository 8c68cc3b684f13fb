import type { SpooledKind, SpoolFile } from "./spool.ts";

/** What is known of a file that the farm would not take, though it answers. */
export interface Failing {
  readonly tries: number;
  /** By a clock that nobody sets. */
  readonly notBeforeMs: number;
  readonly because: string;
}

export type NextToSend<File> =
  | { readonly kind: "send"; readonly files: readonly File[] }
  /** All that is left is to be tried again later. */
  | { readonly kind: "wait"; readonly untilMs: number }
  | { readonly kind: "nothing" };

/** The farm takes 2,000 at once; a file has 500 at most. */
const enoughResults = 1_000;

const firstMs = 1_000;
const longestMs = 60 * 60_000;
/** Four minutes after the first, it is no hiccup: it is set aside, and tried again each hour, and when the granary starts. */
export const triesUntilSetAside = 9;

export function afterFailing(
  before: Failing | undefined,
  because: string,
  nowMs: number,
  jitter: number,
): Failing {
  const tries = (before?.tries ?? 0) + 1;
  const fullMs = tries < triesUntilSetAside ? firstMs * 2 ** (tries - 1) : longestMs;
  return { tries, because, notBeforeMs: nowMs + Math.round(fullMs * (0.5 + jitter / 2)) };
}

export function isSetAside({ tries }: Failing): boolean {
  return tries >= triesUntilSetAside;
}

type File = Pick<SpoolFile, "kind" | "items">;

/**
 * The oldest of what may be sent now. Results next to each other travel together; of others, one file at a time, and of
 * what has failed.
 *
 * An index waits for results before it that are still tried: the farm leaves out of an index what it does not have.
 */
export function whatToSend<Some extends File>(
  files: readonly Some[],
  failingOf: (file: Some) => Failing | undefined,
  nowMs: number,
): NextToSend<Some> {
  const chosen: Some[] = [];
  let items = 0;
  let untilMs = Number.POSITIVE_INFINITY;
  let areResultsTried = false;
  for (const file of files) {
    const failing = failingOf(file);
    const isLater = failing !== undefined && failing.notBeforeMs > nowMs;
    const waitsForResults = file.kind === "index" && areResultsTried;
    if (isLater || waitsForResults) {
      if (chosen.length > 0) break;
      if (isLater) untilMs = Math.min(untilMs, failing.notBeforeMs);
      if (isLater && file.kind === "results" && !isSetAside(failing)) areResultsTried = true;
      continue;
    }
    const isAlone = file.kind !== "results" || failing !== undefined;
    if (chosen.length > 0 && (isAlone || items + file.items > enoughResults)) break;
    chosen.push(file);
    items += file.items;
    if (isAlone) break;
  }
  if (chosen.length > 0) return { kind: "send", files: chosen };
  return untilMs === Number.POSITIVE_INFINITY ? { kind: "nothing" } : { kind: "wait", untilMs };
}

export interface SetAside {
  readonly results: number;
  readonly indexes: number;
  readonly reports: number;
  readonly because: string;
}

const names = { results: "results", index: "indexes", report: "reports" } as const satisfies Record<
  SpooledKind,
  keyof SetAside
>;

/** What is only tried each hour; undefined: nothing. */
export function setAsideOf<Some extends File>(
  files: readonly Some[],
  failingOf: (file: Some) => Failing | undefined,
): SetAside | undefined {
  const counts = { results: 0, indexes: 0, reports: 0 };
  let because: string | undefined;
  for (const file of files) {
    const failing = failingOf(file);
    if (failing === undefined || !isSetAside(failing)) continue;
    counts[names[file.kind]] += file.items;
    because ??= failing.because;
  }
  return because === undefined ? undefined : { ...counts, because };
}
