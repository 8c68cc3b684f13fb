import { createHash } from "node:crypto";
import type { Principal } from "#access/principal.ts";
import type { GraphSummary, RunCause } from "#api/graph.ts";
import { parseSelection } from "#api/selection/parse-selection.ts";
import type { CommitSha } from "#core/commit-sha.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { Db, Tx } from "#db/db.ts";
import type { CancellingQueue } from "#graphs/cancel-graph.ts";
import { addressOfRepository } from "#graphs/catalogs/known-repository.store.ts";
import type { PreviewServices } from "#graphs/catalogs/preview-graph.ts";
import { GraphId } from "#graphs/graph-id.ts";
import {
  graphsOfCommits,
  type SearchedJob,
  searchedJobs,
} from "#graphs/graphs-of-commits.store.ts";
import { submitGraph } from "#graphs/submit-graph.ts";
import type { SubmissionServices } from "#graphs/submitting/submission.ts";
import { judgeCommit, type Verdict } from "./judge-commit.ts";
import type { OpenCommit, StandingOfCommit } from "./range-commit.store.ts";
import type { SearchToStep } from "./search.store.ts";
import { wantSearchedJobs } from "./want-searched-jobs.ts";

export interface RangeServices extends SubmissionServices, PreviewServices {
  readonly queue: CancellingQueue;
  readonly pricePerWorkerMinute: number;
}

/**
 * Requests the jobs of a commit, in an existing graph or in a new one.
 *
 * Known results are not computed again. A repeated request has no further effect, because the id of the new graph is
 * derived from the search and the commit. Throws `permission_denied`, `already_exists` when another principal has used
 * that id, and temporary errors. A commit that has no such jobs, or no valid definitions, is skipped.
 */
export async function askCommit(
  services: RangeServices,
  search: SearchToStep,
  { position, commit }: OpenCommit,
  by: Principal,
): Promise<StandingOfCommit> {
  const existing = await bestGraphOf(services.db, search, commit);
  if (existing !== undefined) {
    const { graphId, verdict } = existing;
    switch (verdict.kind) {
      case "good":
      case "bad":
        return { position, standing: verdict.kind, graphId, why: null };
      case "under way":
        return { position, standing: "asked", graphId, why: null };
      case "asleep":
      case "unsure":
      case "untestable": {
        const wanted = await wantIfAllowed(services, search, existing, by);
        if (wanted === undefined) break;
        if (wanted) return { position, standing: "asked", graphId, why: null };
        const why = verdict.kind === "untestable" ? verdict.why : "its jobs cannot run";
        return { position, standing: "skipped", graphId, why };
      }
      case "absent":
        break;
    }
  }
  try {
    const graphId = await makeGraph(services, search, { position, commit }, by);
    return { position, standing: "asked", graphId, why: null };
  } catch (reason) {
    if (!isOfTheCommit(reason)) throw reason;
    return { position, standing: "skipped", graphId: null, why: messageOf(reason).slice(0, 1_000) };
  }
}

/** Undefined when the owner of the search may not request more in this graph; then the search creates its own graph. */
async function wantIfAllowed(
  ...request: Parameters<typeof wantSearchedJobs>
): Promise<boolean | undefined> {
  try {
    return await wantSearchedJobs(...request);
  } catch (reason) {
    if (reason instanceof Fault && reason.code === "permission_denied") return undefined;
    throw reason;
  }
}

/** A graph of a commit, and its verdict. */
export interface JudgedGraph {
  readonly graphId: GraphId;
  readonly jobs: readonly SearchedJob[];
  readonly verdict: Verdict;
}

/** Returns the newest graph that has a result; otherwise the newest that may have one. */
async function bestGraphOf(
  db: Db,
  search: SearchToStep,
  commit: CommitSha,
): Promise<JudgedGraph | undefined> {
  const found = await graphsOfCommits(db, { ...search, commits: [commit] });
  const graphs = found.map(({ graphId }) => graphId);
  const judged = await judgeGraphs(db, search, graphs.slice(0, 50));
  return (
    judged.find(({ verdict }) => verdict.kind === "good" || verdict.kind === "bad") ??
    judged.find(({ verdict }) => verdict.kind !== "untestable" && verdict.kind !== "absent") ??
    judged.find(({ verdict }) => verdict.kind === "untestable")
  );
}

/** Returns the verdicts of graphs about their commits, in the same order. */
export async function judgeGraphs(
  tx: Tx,
  { selection, sameResults }: Pick<SearchToStep, "selection" | "sameResults">,
  graphs: readonly GraphId[],
): Promise<JudgedGraph[]> {
  const jobsOf = await searchedJobs(tx, graphs, parseSelection(selection), sameResults);
  return graphs.map((graphId) => {
    const jobs = jobsOf.get(graphId) ?? [];
    return { graphId, jobs, verdict: judgeCommit(jobs, sameResults) };
  });
}

async function makeGraph(
  services: RangeServices,
  search: SearchToStep,
  { position, commit }: OpenCommit,
  by: Principal,
): Promise<GraphId> {
  const { kind, branch, selection, set } = search;
  const cause: RunCause = kind;
  const repository = await addressOfRepository(services.db, search.repository);
  const { graph, isNew } = await submitGraph(
    services,
    { id: graphIdOf(search, position), repository, rev: commit, branch, select: selection },
    by,
    { cause, ...(set === null ? {} : { set, parent: { kind, id: set } }) },
  );
  if (!isNew && !isOfSearch(graph, search, commit)) {
    const message = `graph ${graph.id} is none of this ${kind}, and has the id that its graph of ${commit.slice(0, 10)} was to have; start the ${kind} again`;
    throw new Fault("already_exists", message);
  }
  return GraphId.parse(graph.id);
}

/**
 * Returns whether the search itself created the graph with its id. Everybody can compute such an id and use it first.
 */
function isOfSearch(graph: GraphSummary, search: SearchToStep, commit: string): boolean {
  const { parent } = graph;
  const isInPlace =
    parent === null
      ? search.set === null || search.set === graph.id
      : parent.kind === search.kind && parent.id === search.set;
  return (
    isInPlace &&
    graph.repository === search.repository &&
    graph.commit === commit &&
    graph.submittedBy === search.startedBy
  );
}

/** Returns an id derived from the search and the commit: a UUID of version 8, whose digits are free to choose. */
export function graphIdOf({ id }: Pick<SearchToStep, "id">, position: number): string {
  const hex = createHash("sha256").update(`${id} ${position}`).digest("hex");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}

/** Returns whether a retry would fail in the same way, because the cause is in the commit. */
function isOfTheCommit(reason: unknown): boolean {
  return (
    reason instanceof Fault &&
    ["invalid_argument", "not_found", "failed_precondition", "out_of_range"].includes(reason.code)
  );
}
