import { create, toBinary } from "@bufbuild/protobuf";
import type { z } from "zod";
import { recordAudit } from "#access/audit.store.ts";
import type { Principal } from "#access/principal.ts";
import type { ReportedRun, ReportRun } from "#api/report.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { problemOfPath } from "#cas/path-rules.ts";
import { digestKey, parseDigestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { Db, Tx } from "#db/db.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { advanceStoredGraph, type LockedGraph, lockGraphs } from "../advancing/advance.store.ts";
import { yieldOf } from "../advancing/yield-of.ts";
import type { GraphId } from "../graph-id.ts";
import { insertRuns } from "../insert-runs.store.ts";
import { projectOfGraph } from "../project-of-repository.store.ts";
import { passOnEndedRuns } from "../queue-events.ts";
import { requireGrantOnGraph } from "../require-grant-on-graph.ts";
import {
  finishOutsideRun,
  keepReport,
  knownReport,
  type OutsideEnd,
  type OutsideJob,
  outsideJob,
} from "./report.store.ts";

type Report = z.output<typeof ReportRun>;

/**
 * Accepts the report of another machine about a run. Returns undefined when there is no such job.
 *
 * The result is never put into the action cache, because the farm has not executed it. Throws `failed_precondition`
 * when the job is not run outside, waits for something, or the run has ended.
 */
export async function reportRun(
  services: { readonly db: Db; readonly blobsOf: (project: string) => BlobStore },
  graphId: GraphId,
  job: string,
  report: Report,
  by: Principal,
): Promise<ReportedRun | undefined> {
  await requireGrantOnGraph(services.db, by, "report", graphId);
  const end = report.state === "finished" ? await endOf(services, graphId, report, by) : undefined;
  return services.db.transaction(async (tx) => {
    const [graph] = await lockGraphs(tx, [graphId]);
    const known = await knownReport(tx, graphId, job, report.id);
    if (known !== undefined) return known;
    const stands = await outsideJob(tx, graphId, job);
    if (graph === undefined || stands === undefined) return undefined;
    const run = await runUnderWay(tx, graph, job, stands, report);
    await keepReport(tx, { graphId, job }, { ...report, run }, by.name);
    if (end === undefined) await advanceStoredGraph(tx, graph, [job]);
    else await finish(tx, graph, job, run, { end, stands });
    const detail = { run, state: report.state, outcome: report.outcome, reporter: report.reporter };
    await recordAudit(tx, { actor: by.name, verb: "report", graphId, job, detail });
    return { run, state: report.state, known: false };
  });
}

/** Returns the number of the run for a report; begins one when the job is ready. */
async function runUnderWay(
  tx: Tx,
  graph: LockedGraph,
  job: string,
  { outside, state, wanted, runs, inputRuns }: OutsideJob,
  report: Report,
): Promise<number> {
  const refuse = (why: string) => new Fault("failed_precondition", `job "${job}" ${why}`);
  if (!outside)
    throw refuse("is run by workers of the farm: its definition has no `outside: true`");
  const run = state === "running" ? runs : runs + 1;
  if (report.run !== undefined && report.run !== run)
    throw refuse(
      `takes no report about run ${report.run}: ${state === "running" ? `run ${run} is under way` : `its next is run ${run}`}`,
    );
  if (state === "running") return run;
  if (state !== "ready" || wanted === null)
    throw refuse(`is ${state}: no run of it is requested now`);
  await insertRuns(tx, [{ graphId: graph.id, job, cause: wanted, inputRuns, kind: "outside" }]);
  return run;
}

async function finish(
  tx: Tx,
  graph: LockedGraph,
  job: string,
  run: number,
  { end, stands }: { readonly end: OutsideEnd & Made; readonly stands: OutsideJob },
): Promise<void> {
  const stray = end.paths.find(
    (path) => !stands.outputs.some((output) => path === output || path.startsWith(`${output}/`)),
  );
  if (stray !== undefined) {
    const message = `"${stray}" is none of the outputs that the definition of "${job}" names`;
    throw new Fault("invalid_argument", message);
  }
  const key = { graphId: graph.id, job };
  const ended = await finishOutsideRun(tx, key, run, end);
  if (ended === undefined) throw new Fault("internal", `run ${run} of "${job}" is not under way`);
  await passOnEndedRuns(
    tx,
    [graph],
    [{ ...key, ...ended, outcome: end.outcome, failureClass: null }],
  );
}

interface Made {
  readonly paths: readonly string[];
}

/** Checks the report of an end and converts it; the outputs must already be stored. */
async function endOf(
  { db, blobsOf }: Parameters<typeof reportRun>[0],
  graphId: GraphId,
  report: Report,
  by: Principal,
): Promise<OutsideEnd & Made> {
  const { outcome, exitCode, outputs = [] } = report;
  if (outcome === undefined) {
    throw new Fault("invalid_argument", "a report of the end must contain the outcome");
  }
  for (const { path } of outputs) {
    const problem = problemOfPath(path);
    if (problem !== undefined)
      throw new Fault("invalid_argument", `the path ${JSON.stringify(path)} ${problem}`);
  }
  const digests = outputs.map(({ digest }) => parseDigestKey(digest));
  const project = await projectOfGraph(db, graphId);
  const [missing] = await blobsOf(project).findMissing(digests);
  if (missing !== undefined) {
    throw new Fault(
      "failed_precondition",
      `${digestKey(missing)} is not in the project ${project}; upload it there first`,
    );
  }
  const result = toBinary(
    ActionResultSchema,
    create(ActionResultSchema, {
      exitCode: exitCode ?? 0,
      outputFiles: outputs.map(({ path, digest }) => ({
        path,
        digest: toDigestMessage(parseDigestKey(digest)),
      })),
    }),
  );
  const isEmpty = outputs.length === 0;
  return {
    outcome,
    exitCode: exitCode ?? null,
    message: report.message ?? null,
    reporter: report.reporter ?? by.name,
    result: isEmpty ? null : result,
    yield: yieldOf(outcome, isEmpty ? undefined : result),
    numbers: report.numbers ?? {},
    paths: outputs.map(({ path }) => path),
  };
}
