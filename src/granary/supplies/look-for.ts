import type { LateBecause, ResultSource } from "#api/granary.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { BlobAlong, FoundWithBlobs, GranaryFarm } from "../farm/granary-farm.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import type { Downloads } from "./downloads.ts";
import type { FarmPatience } from "./farm-patience.ts";
import type { HalfFetched } from "./half-fetched.ts";
import type { ForWhom } from "./supplies.ts";
import { cameWithin, waitForPrefetchMs } from "./wait-for-prefetch.ts";

export interface Found {
  readonly source: ResultSource;
  readonly because: LateBecause | undefined;
  readonly result: GranaryResult | undefined;
}

export interface LookingParts {
  readonly store: Pick<GranaryStore, "find" | "blobs">;
  readonly farm: GranaryFarm;
  readonly downloads: Downloads;
  readonly halves: HalfFetched;
  /** Into the store, as all of it is here. */
  readonly settle: (result: GranaryResult) => Promise<void>;
}

/** A result of so many bytes comes at once; of larger ones the value, and the rest as it is read. */
const atOnceBytes = 1024 * 1024;

const never = { source: "missed", because: "never-made", result: undefined } as const;
const unreachable = { source: "unreachable", because: "farm-away", result: undefined } as const;

/** A result for a build, from the nearest place that has it. */
export async function lookFor(
  parts: LookingParts,
  who: ForWhom,
  key: ResultKey,
  patience: FarmPatience,
): Promise<Found> {
  const { store, farm, halves } = parts;
  const { project, build } = who;
  const prefetch = build?.prefetch;
  const here = async () =>
    (await store.find(project, key).catch(() => undefined)) ?? halves.find(project, key);

  const first = await here();
  const news = first && build?.newsOfQuarantine?.();
  const local = news === undefined ? first : await news.then(here);
  if (local !== undefined) {
    const source = prefetch?.leadMs(key) === undefined ? "local" : "prefetched";
    return { source, because: undefined, result: local };
  }
  // What comes over a line that fell silent does not come: the patience is for this as well.
  const hasHope = () => !patience.isOver && !farm.isAway();
  const within = async (event: Promise<void> | undefined) =>
    event !== undefined && hasHope() && (await cameWithin(event, waitForPrefetchMs(farm.line())));
  // The index comes in less than a round trip, and names where all is; so does the filter of what nobody has.
  const isPlanned = await within(prefetch?.planning?.(key));
  const isCome = await within(prefetch?.coming(key));
  // What came along with the index was on its way to nobody.
  if (isPlanned || isCome) {
    const result = await here();
    if (result !== undefined) return { source: "fetched", because: "overtaken", result };
  }
  if (build?.mayBeAtFarm(key) === false) return never;
  if (!hasHope()) return unreachable;
  const done = prefetch?.giveWay();
  try {
    const expected = prefetch?.blobsOf?.(key) ?? [];
    const asking =
      expected.length > 0 ? lookUp(farm, project, key) : farm.lookUpWithBlobs(project, key);
    bringExpected(parts, project, expected, patience);
    const found = await patience.wait(asking);
    if (found === undefined) return never;
    const { result, along } = found;
    const isHere = await fetchFor(parts, who, result, along, patience);
    if (!isHere) return { source: "missed", because: "incomplete", result: undefined };
    return { source: "fetched", because: prefetch?.whyNot(key) ?? "not-indexed", result };
  } catch (reason) {
    // Refused, or nonsense: an answer, if not the one that was hoped for.
    return isAnswer(reason) ? never : unreachable;
  } finally {
    done?.();
  }
}

/** Whose blobs are asked for beside the question need not come along. */
async function lookUp(
  farm: GranaryFarm,
  project: string,
  key: ResultKey,
): Promise<FoundWithBlobs | undefined> {
  const [result] = await farm.lookUp(project, [key]);
  return result && { result, along: [] };
}

/** What an index names of a result comes beside the answer, not after it: one round trip, not two. */
function bringExpected(
  { store, downloads }: LookingParts,
  project: string,
  blobs: readonly Digest[],
  patience: FarmPatience,
): void {
  const bytes = blobs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (bytes === 0 || bytes > atOnceBytes) return;
  store.blobs
    .findMissing(blobs)
    .then((missing) => Promise.all(missing.map((b) => downloads.bring(project, b, patience))))
    // Whoever needs it after the answer asks for it once more, and hears why.
    .catch(() => {});
}

/** False when the farm has lost some of it. */
async function fetchFor(
  { store, downloads, halves, settle }: LookingParts,
  { project }: ForWhom,
  result: GranaryResult,
  along: readonly BlobAlong[],
  patience: FarmPatience,
): Promise<boolean> {
  const all = new Map([result.value, ...result.blobs].map((blob) => [digestKey(blob), blob]));
  const bytes = [...all.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const wanted = bytes <= atOnceBytes ? [...all.values()] : [result.value];
  halves.add(result);
  // The store compares them with their digests. What it refuses is asked for by itself.
  await Promise.all(along.map(({ digest, data }) => store.blobs.put(digest, data).catch(() => {})));
  const missing = new Set((await store.blobs.findMissing([...all.values()])).map(digestKey));
  for (const [key, blob] of all) {
    if (missing.has(key)) continue;
    for (const whole of halves.arrived(blob)) await settle(whole);
  }
  const ends = await Promise.all(
    wanted
      .filter((blob) => missing.has(digestKey(blob)))
      .map((blob) => downloads.bring(project, blob, patience)),
  );
  if (ends.every(({ kind }) => kind !== "absent")) return true;
  halves.forget(project, result);
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
