import { z } from "zod";
import {
  enumColumn,
  IndexColumn,
  NullableNumberColumn,
  NumberColumn,
  nullableEnumColumn,
  StringColumn,
} from "#core/column.ts";
import { RunOutcome } from "./run-outcome.ts";

/**
 * Why a slot of a worker was not executing.
 *
 * - `no work`: it was free; the queue had nothing for it.
 * - `draining`: the worker was drained, or had reported that it takes no new jobs.
 * - `lost`: its heartbeats had stopped.
 */
export const GapCause = z.enum(["no work", "draining", "lost"]);
export type GapCause = z.infer<typeof GapCause>;

/** The period of the page, unless its address says otherwise. */
export const defaultTimelineMinutes = 60;

const Ms = z.number();

/**
 * `GET /workers/timeline`: runs and gaps of all workers in a period, in columns: the n-th values of all columns belong
 * together. Times are in ms since `from`.
 */
export const WorkerTimeline = z
  .object({
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    /** Whether the period has more runs than requested: then `from` is when the first of them ended. */
    isCut: z.boolean(),
    workers: z.array(
      z.object({
        name: z.string(),
        /** Rows that its runs take: its slots, or more when it had more of them in the period. */
        lanes: z.number().int().positive(),
        /** What its lanes did in the period: sums over all of them, in ms. */
        executingMs: Ms,
        inputMs: Ms,
        noWorkMs: Ms,
        drainingMs: Ms,
        lostMs: Ms,
      }),
    ),
    /** What runs are for: a job, or the mnemonic and target of a build's action. */
    labels: StringColumn,
    runs: z.object({
      execution: StringColumn,
      worker: IndexColumn,
      lane: IndexColumn,
      label: IndexColumn,
      leasedMs: NumberColumn,
      /** From then on it executed; before, the worker waited for its inputs. Null: it never began. */
      startedMs: NullableNumberColumn,
      endedMs: NumberColumn,
      /** Null: it is not over. */
      outcome: nullableEnumColumn(RunOutcome),
    }),
    gaps: z.object({
      worker: IndexColumn,
      lane: IndexColumn,
      fromMs: NumberColumn,
      toMs: NumberColumn,
      cause: enumColumn(GapCause),
    }),
  })
  .meta({ id: "WorkerTimeline" });
export type WorkerTimeline = z.infer<typeof WorkerTimeline>;
