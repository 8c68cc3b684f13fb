import { createHash } from "node:crypto";
import type { Principal } from "#access/principal.ts";
import type { RunCause } from "#api/graph.ts";
import { parseSelection } from "#api/selection/parse-selection.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { Db, Tx } from "#db/db.ts";
import type { PreviewRooms } from "../catalogs/preview-graph.ts";
import { GraphId } from "../graph-id.ts";
import { type SubmissionRooms, submitGraph } from "../submit-graph.ts";
import { judgeCommit, type SearchedJob, type Verdict } from "./judge-commit.ts";
import {
  graphsOfRange,
  type OpenCommit,
  type StandingOfCommit,
  searchedJobs,
} from "./range-commit.store.ts";
import { nameSearchSet, type SearchToStep } from "./search.store.ts";
import { wantSearchedJobs } from "./want-searched-jobs.ts";

export interface RangeRooms extends SubmissionRooms, PreviewRooms {
  readonly pricePerWorkerMinute: number;
}

/**
 * Asks for the jobs of a commit: in a graph that is there already, or else in one of its own.
 *
 * What is known is not run again. Asking twice is asking once: the graph that it makes has an id of
 * the search and the commit. Throws `permission_denied`, and what passes by itself; a
 * commit that has no such jobs, or no sound definitions, is skipped.
 */
export async function askCommit(
  rooms: RangeRooms,
  search: SearchToStep,
  { position, commit }: OpenCommit,
  by: Principal,
): Promise<StandingOfCommit> {
  const existing = await bestGraphOf(rooms.db, search, position);
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
        const wanted = await wantSearchedJobs(rooms, search, existing, by);
        if (wanted) return { position, standing: "asked", graphId, why: null };
        const why = verdict.kind === "untestable" ? verdict.why : "its jobs cannot run";
        return { position, standing: "skipped", graphId, why };
      }
      case "absent":
        break;
    }
  }
  try {
    const graphId = await makeGraph(rooms, search, { position, commit }, by);
    return { position, standing: "asked", graphId, why: null };
  } catch (reason) {
    if (!isOfTheCommit(reason)) throw reason;
    return { position, standing: "skipped", graphId: null, why: messageOf(reason).slice(0, 1_000) };
  }
}

/** A graph of a commit, and what it says about it. */
export interface JudgedGraph {
  readonly graphId: GraphId;
  readonly jobs: readonly SearchedJob[];
  readonly verdict: Verdict;
}

/** The newest graph that has a result; else the newest that may have one. */
async function bestGraphOf(
  db: Db,
  search: SearchToStep,
  position: number,
): Promise<JudgedGraph | undefined> {
  const graphs = (await graphsOfRange(db, search.id, [position])).map(({ graphId }) => graphId);
  const judged = await judgeGraphs(db, search, graphs.slice(0, 50));
  return (
    judged.find(({ verdict }) => verdict.kind === "good" || verdict.kind === "bad") ??
    judged.find(({ verdict }) => verdict.kind !== "untestable" && verdict.kind !== "absent") ??
    judged.find(({ verdict }) => verdict.kind === "untestable")
  );
}

/** What graphs say about their commits, in their order. */
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
  rooms: RangeRooms,
  search: SearchToStep,
  { position, commit }: OpenCommit,
  by: Principal,
): Promise<GraphId> {
  const { kind, url, branch, selection, set } = search;
  const cause: RunCause = kind;
  const { graph } = await submitGraph(
    rooms,
    { id: graphIdOf(search, position), repository: url, rev: commit, branch, select: selection },
    by,
    { cause, ...(set === null ? {} : { set, parent: { kind, id: set } }) },
  );
  const id = GraphId.parse(graph.id);
  if (set === null) await nameSearchSet(rooms.db, search.id, id);
  return id;
}

/** An id of this search and commit: a UUID of version 8, whose digits are free to choose. */
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

/** Whether asking again would end the same, because of what the commit holds. */
function isOfTheCommit(reason: unknown): boolean {
  return (
    reason instanceof Fault &&
    ["invalid_argument", "not_found", "failed_precondition", "out_of_range"].includes(reason.code)
  );
}
