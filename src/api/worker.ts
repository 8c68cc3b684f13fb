import { z } from "zod";

const Time = z.iso.datetime();

export const Worker = z
  .object({
    name: z.string(),
    platform: z.record(z.string(), z.string()),
    sizeClass: z.number().int(),
    slots: z.number().int(),
    /** The CPUs that one slot gives an action; null: all of the machine. */
    cpus: z.number().nullable(),
    memoryBytes: z.number().nullable(),
    /** `lost`: its heartbeats stopped. */
    state: z.enum(["idle", "busy", "draining", "lost"]),
    facilities: z.record(z.string(), z.string()),
    version: z.string(),
    /** `pull`: started on the machine itself; `ssh`: from elsewhere, with `grange worker --ssh`. */
    transport: z.enum(["pull", "ssh"]),
    /** The machine's own name; empty when the worker does not say. */
    host: z.string(),
    /** The principal that registered it. */
    principal: z.string(),
    /** Why nothing is taken from it any more; null for all but a few. */
    quarantine: z.string().nullable(),
    /** Why it can run nothing at present, in its own words, such as a full disk; null while it can. */
    trouble: z.string().nullable(),
    registeredAt: Time,
    lastSeenAt: Time,
    /** Executions that it was handed and has not ended: those that it runs, and those it has yet to begin. */
    heldCount: z.number().int(),
    /**
     * Executions that are over for the farm (cancelled, or given to another worker), and that it has yet to end: they
     * still take its slots.
     */
    endingCount: z.number().int(),
    /** Its running executions. */
    running: z.array(
      z.object({
        executionId: z.string(),
        /** The job it serves, if it serves one. */
        graphId: z.string().nullable(),
        job: z.string().nullable(),
        since: Time,
      }),
    ),
    finishedCount: z.number().int(),
  })
  .meta({ id: "Worker" });
export type Worker = z.infer<typeof Worker>;
