import { z } from "zod";
import { RunCause, type RunOutcome } from "#api/graph.ts";
import { JobState } from "#api/job-state.ts";
import type { ReportedRun } from "#api/report.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { GraphId } from "../graph-id.ts";
import type { JobKey } from "../run.store.ts";

const OutsideJob = z.object({
  outside: z.boolean(),
  state: JobState,
  wanted: RunCause.nullable(),
  /** The number of its runs; the latest may be unfinished. */
  runs: z.number(),
  outputs: z.array(z.string()),
  inputRuns: z.record(z.string(), z.number()),
});
/** The part of a job that reports need. */
export type OutsideJob = z.infer<typeof OutsideJob>;

/** The graph is locked. */
export async function outsideJob(
  tx: Tx,
  graphId: GraphId,
  job: string,
): Promise<OutsideJob | undefined> {
  const [row] = await tx.many(
    OutsideJob,
    sql`
      select job.outside, job.state, job.wanted, job.runs,
             coalesce(definition.body -> 'outputs', '[]') as outputs,
             coalesce((
               select jsonb_object_agg(source.name, source.runs)
               from edge join job as source on source.graph_id = edge.graph_id and source.name = edge.on_job
               where edge.graph_id = job.graph_id and edge.job = job.name and source.runs > 0
             ), '{}') as "inputRuns"
      from job join definition on definition.digest = job.definition
      where job.graph_id = ${graphId} and job.name = ${job}
    `,
  );
  return row;
}

const ReportRow = z.object({ run: z.number(), state: z.enum(["started", "finished"]) });

export async function knownReport(
  tx: Tx,
  graphId: GraphId,
  job: string,
  reportId: string,
): Promise<ReportedRun | undefined> {
  const [row] = await tx.many(
    ReportRow,
    sql`
      select run, state from run_report
      where graph_id = ${graphId} and job = ${job} and report_id = ${reportId}
    `,
  );
  return row && { ...row, known: true };
}

export async function keepReport(
  tx: Tx,
  { graphId, job }: JobKey,
  report: { readonly id: string; readonly run: number; readonly state: ReportedRun["state"] },
  by: string,
): Promise<void> {
  await tx.run(sql`
    insert into run_report (graph_id, job, report_id, run, state, reported_by)
    values (${graphId}, ${job}, ${report.id}, ${report.run}, ${report.state}, ${by})
  `);
}

/** How a run ended, as another machine reported it. */
export interface OutsideEnd {
  readonly outcome: RunOutcome;
  readonly exitCode: number | null;
  readonly message: string | null;
  readonly reporter: string;
  /** REv2 ActionResult, binary; null when it made nothing. */
  readonly result: Uint8Array | null;
  readonly yield: string;
  readonly numbers: Readonly<Record<string, number>>;
}

const Ended = z.object({ cancelRequested: z.boolean() });

/** Ends an unfinished run that executes outside the farm; undefined when there is none. */
export async function finishOutsideRun(
  tx: Tx,
  { graphId, job }: JobKey,
  run: number,
  end: OutsideEnd,
): Promise<{ readonly cancelRequested: boolean } | undefined> {
  const numbers = Object.fromEntries(
    Object.entries(end.numbers).map(([name, value]) => [name, { value, min: null, max: null }]),
  );
  const result = end.result === null ? null : Buffer.from(end.result).toString("base64");
  const [ended] = await tx.many(
    Ended,
    sql`
      with ended as (
        update run
        set state = 'finished', outcome = ${end.outcome}, exit_code = ${end.exitCode}, message = ${end.message},
            worker = ${end.reporter}, finished_at = now(), result = decode(${result}, 'base64'),
            yield = ${end.yield}, numbers = ${JSON.stringify(numbers)}::jsonb
        where graph_id = ${graphId} and job = ${job} and number = ${run}
          and state = 'running' and served_by = 'outside'
        returning graph_id, job, yield, cancel_asked_at
      ),
      given as (
        update job set yield = ended.yield
        from ended where job.graph_id = ended.graph_id and job.name = ended.job
      )
      select cancel_asked_at is not null as "cancelRequested" from ended
    `,
  );
  return ended;
}
