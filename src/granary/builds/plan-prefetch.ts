import type { UsedIndex } from "#api/granary.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { filterByDiff } from "#commit-index/filter-by-diff.ts";
import type { IndexEntry } from "#commit-index/index-entry.ts";
import { resolveChain } from "#commit-index/resolve-chain.ts";
import type { Digest } from "#core/digest.ts";
import { messageOf } from "#core/fault.ts";
import {
  type FetchResponse,
  type FoundIndex,
  FoundIndex_Source,
} from "#proto/grange/granary/v1/granary_pb.ts";
import { meansUnreachable } from "../farm/circuit.ts";
import type { FetchedThing, GranaryFarm } from "../farm/granary-farm.ts";
import { readHead } from "../farm/read-head.ts";
import type { RunningPrefetch } from "../prefetch/start-prefetch.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import { type BuildFacts, eachRepository } from "./build-facts.ts";

export interface PlanParts {
  readonly store: Pick<GranaryStore, "blobs">;
  readonly farm: Pick<GranaryFarm, "resolve" | "blobs" | "isAway">;
  /** Returns the paths that differ between a commit and the working tree; undefined if unknown. */
  readonly changedSince: (
    facts: BuildFacts,
    commit: string,
    signal: AbortSignal,
  ) => Promise<readonly string[] | undefined>;
  readonly note: (message: string) => void;
}

export interface Plan {
  readonly indexes: readonly UsedIndex[];
  /** Whether a part of an index could not be read. */
  readonly isCut: boolean;
  /** The farm was not reached. */
  readonly isUnheard?: boolean;
}

const sources: Readonly<Record<FoundIndex_Source, UsedIndex["source"] | undefined>> = {
  [FoundIndex_Source.SOURCE_UNSPECIFIED]: undefined,
  [FoundIndex_Source.COMMIT]: "commit",
  [FoundIndex_Source.TREE]: "tree",
  [FoundIndex_Source.ANCESTOR]: "ancestor",
  [FoundIndex_Source.BRANCH]: "branch",
  [FoundIndex_Source.REPOSITORY]: "repository",
};

/** The assumed distance of the branch's newest index if its commit is not an ancestor of the build's. */
const farDistance = 8;
/** The assumed distance of the repository's newest index, which may be of any branch. */
const fartherDistance = 16;
const mostIndexes = 3;

/**
 * Predicts the requests of a build from the index of its commit and those of the nested repositories, and starts to
 * prefetch them. Never throws: without an index the build runs normally.
 */
export async function planPrefetch(
  parts: PlanParts,
  facts: BuildFacts,
  prefetch: RunningPrefetch,
  signal: AbortSignal,
): Promise<Plan> {
  if (parts.farm.isAway()) {
    prefetch.planned("farm-away");
    return { indexes: [], isCut: false, isUnheard: true };
  }
  const plans = await Promise.all(
    eachRepository(facts).map((repository) => expectFrom(parts, repository, prefetch, signal)),
  );
  const plan = joined(plans);
  const isNone = plan.indexes.length === 0;
  prefetch.planned(plan.isUnheard ? "farm-away" : plan.isCut && isNone ? "incomplete" : undefined);
  return plan;
}

/** Predicts and prefetches the requests for repositories that a tool reports after its build has begun. */
export async function planNested(
  parts: PlanParts,
  facts: BuildFacts,
  prefetch: Pick<RunningPrefetch, "expect">,
  signal: AbortSignal,
): Promise<Plan> {
  if (parts.farm.isAway()) return { indexes: [], isCut: false };
  const [, ...nested] = eachRepository(facts);
  return joined(
    await Promise.all(nested.map((repository) => expectFrom(parts, repository, prefetch, signal))),
  );
}

/** Returns the plan of a whole build from those of its repositories. */
export function joined(plans: readonly Plan[]): Plan {
  return {
    indexes: plans.flatMap(({ indexes }) => indexes),
    isCut: plans.some(({ isCut }) => isCut),
    isUnheard: plans.some(({ isUnheard }) => isUnheard === true),
  };
}

/**
 * Expects the requests for one repository from its commit's index, or from the nearest indexes without the entries that
 * were made from changed files.
 */
async function expectFrom(
  parts: PlanParts,
  facts: BuildFacts,
  prefetch: Pick<RunningPrefetch, "expect">,
  signal: AbortSignal,
): Promise<Plan> {
  const used: UsedIndex[] = [];
  let isCut = false;
  try {
    const { project, repository, commits, tree, branch, environment } = facts;
    const which = { project, repository, commits, tree, branch, environment };
    const { indexes, mayHave, blobs = [], head } = await parts.farm.resolve(which, signal);
    // The store verifies digests; a wrong blob is requested again later.
    await Promise.all(
      blobs.map(({ digest, data }) => parts.store.blobs.put(digest, data).catch(() => {})),
    );
    for (const index of indexes.slice(0, mostIndexes)) {
      if (signal.aborted) break;
      const source = sources[index.source];
      if (source === undefined || index.index === undefined) continue;
      try {
        const [{ entries }, changed] = await Promise.all([
          resolveChain(fromDigestMessage(index.index, "an index"), (digest) =>
            readThrough(parts, project, digest),
          ),
          changedFor(parts, facts, index, source, signal),
        ]);
        const distance = distanceOf(facts, index, source);
        const { expected, dropped } = filterByDiff(entries, changed, distance);
        const isBest = index === indexes[0];
        const brought = isBest && head ? await preloaded(parts, project, head, entries) : [];
        prefetch.expect(expected, mayHave, brought);
        used.push({
          source,
          commit: index.commit,
          distance: index.distance,
          complete: index.complete,
          entries: entries.length,
          dropped: dropped.length,
        });
      } catch (reason) {
        isCut = true;
        parts.note(`the index of ${index.commit} cannot be used: ${messageOf(reason)}`);
      }
    }
  } catch (reason) {
    if (!signal.aborted) parts.note(`no index could be read: ${messageOf(reason)}`);
    return { indexes: used, isCut, isUnheard: meansUnreachable(reason) };
  }
  return { indexes: used, isCut };
}

/** Reads only quarantined results from the farm, for builds without prefetch. */
export async function readQuarantineOnly(
  farm: Pick<GranaryFarm, "resolve" | "isAway">,
  { project, repository, environment }: BuildFacts,
  signal: AbortSignal,
): Promise<Plan> {
  if (!farm.isAway()) {
    const nothing = { commits: [], tree: "", branch: "" };
    await farm.resolve({ project, repository, environment, ...nothing }, signal).catch(() => {});
  }
  return { indexes: [], isCut: false };
}

/** Returns the results that arrived with the index; empty if they do not match it. */
async function preloaded(
  { note }: PlanParts,
  project: string,
  head: readonly FetchResponse[],
  entries: readonly IndexEntry[],
): Promise<FetchedThing[]> {
  try {
    return await readHead(project, head, entries);
  } catch (reason) {
    note(`the data with an index cannot be used: ${messageOf(reason)}`);
    return [];
  }
}

async function changedFor(
  parts: PlanParts,
  facts: BuildFacts,
  index: FoundIndex,
  source: UsedIndex["source"],
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const isSame = source === "commit" || source === "tree";
  if (isSame) return facts.dirty ? facts.dirtyPaths : [];
  return parts.changedSince(facts, index.commit, signal).catch(() => undefined);
}

function distanceOf(
  { commits }: BuildFacts,
  { commit, distance }: FoundIndex,
  source: UsedIndex["source"],
): number {
  if (source !== "branch" && source !== "repository") return distance;
  const at = commits.indexOf(commit);
  if (at !== -1) return at;
  return source === "branch" ? farDistance : fartherDistance;
}

/** Reads indexes through the store, because the next build of a descendant reads most of the same chain. */
async function readThrough(
  { store, farm }: PlanParts,
  project: string,
  digest: Digest,
): Promise<Uint8Array | undefined> {
  const here = await store.blobs.get(digest);
  if (here !== undefined) return here;
  const there = await farm.blobs(project).get(digest);
  if (there !== undefined) await store.blobs.put(digest, there);
  return there;
}
