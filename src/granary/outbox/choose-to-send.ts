import type { SpooledKind, SpoolFile } from "./spool.ts";

/** The facts about a file that the farm did not accept although it responds. */
export interface Failing {
  readonly tries: number;
  /** A time of the monotonic clock. */
  readonly notBeforeMs: number;
  readonly because: string;
}

type NextToSend<File> =
  | { readonly kind: "send"; readonly files: readonly File[] }
  /** All remaining files are retried later. */
  | { readonly kind: "wait"; readonly untilMs: number }
  | { readonly kind: "nothing" };

/** The farm accepts 2,000 at once; a file has at most 500. */
const enoughResults = 1_000;

const firstMs = 1_000;
const longestMs = 60 * 60_000;
/**
 * After this many attempts (four minutes), the failure is not temporary: the file is set aside, and retried each hour
 * and when the granary starts.
 */
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
 * Returns the oldest files that may be sent now. Adjacent results are sent together; other kinds, and failed files, one
 * file at a time.
 *
 * An index waits for earlier results that are being retried, because the farm leaves unknown results out of an index.
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

/** Returns the files that are only retried each hour; undefined if there are none. */
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
