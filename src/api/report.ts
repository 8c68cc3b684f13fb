import { z } from "zod";
import { RunOutcome } from "./graph.ts";

/** Another machine's report about a job that it runs, with `outside: true` in its definition. */
export const ReportRun = z
  .object({
    /** Chosen by the reporter; sending the same id again changes nothing. */
    id: z.string().min(1).max(128),
    /** `finished` for a run without a reported start also counts as its start. */
    state: z.enum(["started", "finished"]),
    /** The run; when absent, the latest or else the next. An ended run accepts no report. */
    run: z.number().int().min(1).optional(),
    /** For a finished run. */
    outcome: RunOutcome.optional(),
    exitCode: z.number().int().min(0).max(255).optional(),
    /** For people. */
    message: z.string().max(4_096).optional(),
    /** Numbers that the machine reported, by name. */
    numbers: z
      .record(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/), z.number())
      .refine((numbers) => Object.keys(numbers).length <= 100, "at most 100 numbers")
      .optional(),
    /** Files that it made and that are in the farm's store: `<hash>/<size>`. */
    outputs: z
      .array(
        z.object({
          path: z.string().min(1).max(1_024),
          digest: z.string().regex(/^[0-9a-f]{64}\/\d{1,15}$/, "a digest is <hash>/<size>"),
        }),
      )
      .max(1_000)
      .optional(),
    /** The reporting machine. */
    reporter: z.string().max(256).optional(),
  })
  .meta({ id: "ReportRun" });
export type ReportRun = z.input<typeof ReportRun>;

export const ReportedRun = z
  .object({
    run: z.number().int(),
    state: z.enum(["started", "finished"]),
    /** The same report had been accepted before. */
    known: z.boolean(),
  })
  .meta({ id: "ReportedRun" });
export type ReportedRun = z.infer<typeof ReportedRun>;
