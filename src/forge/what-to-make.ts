import { createHash } from "node:crypto";
import { matchesPattern } from "#access/matches-pattern.ts";
import type { ForgePolicy } from "./forge-policy.ts";
import type { KnownPull } from "./pull.store.ts";
import type { KnownRef } from "./ref.store.ts";

/** What is to be there for a pull request as it is now. */
export type PullSituation =
  /** Closed or merged: nobody needs what was made of it. */
  | { readonly kind: "over"; readonly isMerged: boolean }
  /** The policy wants nothing of it. */
  | { readonly kind: "quiet"; readonly head: string }
  /** From a fork, and nobody has approved of this commit. */
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

/** The same for equal situations: what was made for one is not made again. */
export function situationKey(situation: PullSituation): string {
  return situation.kind === "over" ? "over" : `${situation.kind} ${situation.head}`;
}

/** Which named graph is made; all jobs when undefined. */
export function namedGraphOf(
  { graph, forkGraph }: Pick<ForgePolicy, "graph" | "forkGraph">,
  isFork: boolean,
): string | undefined {
  return isFork ? (forkGraph ?? graph) : graph;
}

/** Whether commits of a pull request may be measured: collectors give whole machines to them. */
export function mayMeasure(
  pull: Pick<KnownPull, "head" | "isFork" | "approvedHead">,
  { forkBench }: Pick<ForgePolicy, "forkBench">,
): "yes" | "after approval" | "never" {
  if (!pull.isFork) return "yes";
  if (forkBench === "never") return "never";
  return pull.approvedHead === pull.head ? "yes" : "after approval";
}

/** A branch or tag whose head is to get something. */
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

/** Of the default branch and of tags, the heads of which not all was made that is to be. */
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

/** Tags that were there before anybody watched get nothing: there may be thousands. */
export function workedFromTheStart(refs: readonly { readonly ref: string }[]): string[] {
  return refs.map(({ ref }) => ref).filter((ref) => ref.startsWith("refs/tags/"));
}

/** The id of a commit's graph: whoever makes it, and however often, makes this one. */
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
  // A UUID of version 8: of our own making.
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}
