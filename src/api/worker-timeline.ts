import { z } from "zod";
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
const Index = z.number().int().nonnegative();

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
    labels: z.array(z.string()),
    runs: z.object({
      execution: z.array(z.string()),
      worker: z.array(Index),
      lane: z.array(Index),
      label: z.array(Index),
      leasedMs: z.array(Ms),
      /** From then on it executed; before, the worker waited for its inputs. Null: it never began. */
      startedMs: z.array(Ms.nullable()),
      endedMs: z.array(Ms),
      /** Null: it is not over. */
      outcome: z.array(RunOutcome.nullable()),
    }),
    gaps: z.object({
      worker: z.array(Index),
      lane: z.array(Index),
      fromMs: z.array(Ms),
      toMs: z.array(Ms),
      cause: z.array(GapCause),
    }),
  })
  .meta({ id: "WorkerTimeline" });
export type WorkerTimeline = z.infer<typeof WorkerTimeline>;
