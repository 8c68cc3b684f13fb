import type { LateReason, ResultSource } from "#api/granary.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { BlobAlong, FoundWithBlobs, GranaryFarm } from "../farm/granary-farm.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import type { Downloads } from "./downloads.ts";
import type { PartialResults } from "./partial-results.ts";
import type { SilenceBudget } from "./silence-budget.ts";
import type { Requester } from "./tiered-cache.ts";
import { arrivedWithin, waitForPrefetchMs } from "./wait-for-prefetch.ts";

export interface Found {
  readonly source: ResultSource;
  readonly because: LateReason | undefined;
  readonly result: GranaryResult | undefined;
}

interface FindResultParts {
  readonly store: Pick<GranaryStore, "find" | "blobs">;
  readonly farm: GranaryFarm;
  readonly downloads: Downloads;
  readonly partial: PartialResults;
  /** Moves a result whose blobs are all present into the store. */
  readonly settle: (result: GranaryResult) => Promise<void>;
}

/**
 * Results up to this size are fetched completely. For larger results, the value is fetched first, and each blob when a
 * tool reads it.
 */
const atOnceBytes = 1024 * 1024;

const never = { source: "missed", because: "never-made", result: undefined } as const;
const unreachable = { source: "unreachable", because: "farm-away", result: undefined } as const;

/** Returns a result for a build from the nearest tier that has it, with the reason if it came late. Does not throw for problems of the farm. */
export async function findResult(
  parts: FindResultParts,
  who: Requester,
  key: ResultKey,
  budget: SilenceBudget,
): Promise<Found> {
  const { store, farm, partial } = parts;
  const { project, build } = who;
  const prefetch = build?.prefetch;
  const here = async () =>
    (await store.find(project, key).catch(() => undefined)) ?? partial.find(project, key);

  const first = await here();
  const news = first && build?.quarantineUpdates?.();
  const local = news === undefined ? first : await news.then(here);
  if (local !== undefined) {
    const source = prefetch?.leadMs(key) === undefined ? "local" : "prefetched";
    return { source, because: undefined, result: local };
  }
  // Transfers over a silent connection do not arrive, so waiting for them uses the same budget.
  const canAskFarm = () => !budget.isOver && !farm.isAway();
  const within = async (event: Promise<void> | undefined) =>
    event !== undefined &&
    canAskFarm() &&
    (await arrivedWithin(event, waitForPrefetchMs(farm.line())));
  // The index and the key filter arrive in less than a round trip, and may make the lookup unnecessary.
  const isPlanned = await within(prefetch?.planning?.(key));
  const isCome = await within(prefetch?.coming(key));
  // Results that travelled with the index were not announced as transfers; look again.
  if (isPlanned || isCome) {
    const result = await here();
    if (result !== undefined) return { source: "fetched", because: "overtaken", result };
  }
  if (build?.mayBeAtFarm(key) === false) return never;
  if (!canAskFarm()) return unreachable;
  const done = prefetch?.pauseForForeground();
  try {
    const expected = prefetch?.blobsOf?.(key) ?? [];
    const asking =
      expected.length > 0 ? lookUp(farm, project, key) : farm.lookUpWithBlobs(project, key);
    fetchExpectedBlobs(parts, project, expected, budget);
    const found = await budget.wait(asking);
    if (found === undefined) return never;
    const { result, along } = found;
    const isHere = await fetchFor(parts, who, result, along, budget);
    if (!isHere) return { source: "missed", because: "incomplete", result: undefined };
    return { source: "fetched", because: prefetch?.whyNot(key) ?? "not-indexed", result };
  } catch (reason) {
    // A refusal is an answer of the farm, so it is a miss. Any other error means that the farm cannot be reached.
    return isAnswer(reason) ? never : unreachable;
  } finally {
    done?.();
  }
}

/** Looks up a result without its blobs, which the caller fetches at the same time. */
async function lookUp(
  farm: GranaryFarm,
  project: string,
  key: ResultKey,
): Promise<FoundWithBlobs | undefined> {
  const [result] = await farm.lookUp(project, [key]);
  return result && { result, along: [] };
}

/** Fetches the blobs that an index names for a result at the same time as the lookup: one round trip instead of two. */
function fetchExpectedBlobs(
  { store, downloads }: FindResultParts,
  project: string,
  blobs: readonly Digest[],
  budget: SilenceBudget,
): void {
  const bytes = blobs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (bytes === 0 || bytes > atOnceBytes) return;
  store.blobs
    .findMissing(blobs)
    .then((missing) => Promise.all(missing.map((b) => downloads.bring(project, b, budget))))
    // Ignored: if the blob is needed after the lookup, it is requested again and that error is reported.
    .catch(() => {});
}

/** Fetches the blobs that a found result needs at once. Returns false if the farm has lost one of them. */
async function fetchFor(
  { store, downloads, partial, settle }: FindResultParts,
  { project }: Requester,
  result: GranaryResult,
  along: readonly BlobAlong[],
  budget: SilenceBudget,
): Promise<boolean> {
  const all = new Map([result.value, ...result.blobs].map((blob) => [digestKey(blob), blob]));
  const bytes = [...all.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const wanted = bytes <= atOnceBytes ? [...all.values()] : [result.value];
  partial.add(result);
  // The store verifies digests. A blob that it refuses is requested separately below.
  await Promise.all(along.map(({ digest, data }) => store.blobs.put(digest, data).catch(() => {})));
  const missing = new Set((await store.blobs.findMissing([...all.values()])).map(digestKey));
  for (const [key, blob] of all) {
    if (missing.has(key)) continue;
    for (const whole of partial.arrived(blob)) await settle(whole);
  }
  const ends = await Promise.all(
    wanted
      .filter((blob) => missing.has(digestKey(blob)))
      .map((blob) => downloads.bring(project, blob, budget)),
  );
  if (ends.every(({ kind }) => kind !== "absent")) return true;
  partial.forget(project, result);
  return false;
}

const answers: ReadonlySet<Fault["code"]> = new Set([
  "permission_denied",
  "invalid_argument",
  "not_found",
  "data_loss",
  "failed_precondition",
  "unimplemented",
]);

function isAnswer(reason: unknown): boolean {
  return reason instanceof Fault && answers.has(reason.code);
}
