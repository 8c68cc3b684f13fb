import { createHash } from "node:crypto";
import { matchesPattern } from "#access/matches-pattern.ts";
import type { ForgePolicy } from "./forge-policy.ts";
import type { KnownPull } from "./pull.store.ts";
import type { KnownRef } from "./ref.store.ts";

/** The situation of a pull request, which decides what is made for it. */
type PullSituation =
  /** Closed or merged: its graphs are no longer needed. */
  | { readonly kind: "over"; readonly isMerged: boolean }
  /** The policy requires no graph for it. */
  | { readonly kind: "quiet"; readonly head: string }
  /** From a fork, and this commit is not approved. */
  | { readonly kind: "held"; readonly head: string }
  | { readonly kind: "graph"; readonly head: string };

export function situationOf(
  pull: Pick<KnownPull, "state" | "head" | "isFork" | "approvedHead">,
  policy: Pick<ForgePolicy, "pullGraphs" | "forkGraphs">,
): PullSituation {
  const { state, head, isFork, approvedHead } = pull;
  if (state !== "open") return { kind: "over", isMerged: state === "merged" };
  if (!policy.pullGraphs) return { kind: "quiet", head };
  if (!isFork || policy.forkGraphs === "always") return { kind: "graph", head };
  if (policy.forkGraphs === "never") return { kind: "quiet", head };
  return { kind: approvedHead === head ? "graph" : "held", head };
}

/** Equal situations have equal keys, so that nothing is made twice for the same situation. */
export function situationKey(situation: PullSituation): string {
  return situation.kind === "over" ? "over" : `${situation.kind} ${situation.head}`;
}

/** Returns the named graph to make; undefined for all jobs. */
export function namedGraphOf(
  { graph, forkGraph }: Pick<ForgePolicy, "graph" | "forkGraph">,
  isFork: boolean,
): string | undefined {
  return isFork ? (forkGraph ?? graph) : graph;
}

/** Returns whether commits of a pull request may be measured, because measurements use whole machines. */
export function mayMeasure(
  pull: Pick<KnownPull, "head" | "isFork" | "approvedHead">,
  { forkBench }: Pick<ForgePolicy, "forkBench">,
): "yes" | "after approval" | "never" {
  if (!pull.isFork) return "yes";
  if (forkBench === "never") return "never";
  return pull.approvedHead === pull.head ? "yes" : "after approval";
}

/** A branch or tag whose head gets a graph. */
export interface RefToMake {
  readonly ref: string;
  readonly head: string;
  readonly graph: boolean;
  readonly bench: { readonly kind: "master" | "release"; readonly artifact: string } | undefined;
}

type RefPolicy = Pick<
  ForgePolicy,
  "branchGraphs" | "tags" | "suite" | "benchMaster" | "benchReleases"
>;

/** Returns the default branch and tags whose heads still lack something. */
export function refsToMake(
  known: readonly Pick<KnownRef, "ref" | "head" | "workedHead">[],
  defaultBranch: string,
  policy: RefPolicy,
): RefToMake[] {
  return known
    .filter(({ head, workedHead }) => head !== workedHead)
    .flatMap(({ ref, head }) => {
      const tag = tagOf(ref, policy);
      if (ref !== `refs/heads/${defaultBranch}` && tag === undefined) return [];
      return [{ ref, head, graph: policy.branchGraphs, bench: benchOf(tag, head, policy) }];
    });
}

function benchOf(tag: string | undefined, head: string, policy: RefPolicy): RefToMake["bench"] {
  if (policy.suite === undefined) return undefined;
  if (tag === undefined) return policy.benchMaster ? { kind: "master", artifact: head } : undefined;
  return policy.benchReleases ? { kind: "release", artifact: tag } : undefined;
}

function tagOf(ref: string, { tags }: Pick<ForgePolicy, "tags">): string | undefined {
  const tag = /^refs\/tags\/(.+)$/.exec(ref)?.[1];
  return tag !== undefined && matchesPattern(tags, tag) ? tag : undefined;
}

/** Tags that existed before the repository was watched get nothing, because there may be thousands. */
export function tagsBeforeWatching(refs: readonly { readonly ref: string }[]): string[] {
  return refs.map(({ ref }) => ref).filter((ref) => ref.startsWith("refs/tags/"));
}

/** Returns the id of a commit's graph, which is always the same for the same input. */
export function graphIdFor(graph: {
  readonly repository: string;
  readonly ref: string;
  readonly sha: string;
  readonly named: string | undefined;
  readonly generation: number;
}): string {
  const { repository, ref, sha, named = null, generation } = graph;
  const name = JSON.stringify([repository, ref, sha, named, generation]);
  const hex = createHash("sha256").update(`grange forge graph ${name}`).digest("hex");
  // A UUID of version 8, whose content is free to choose.
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}
