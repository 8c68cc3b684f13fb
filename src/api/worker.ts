import { z } from "zod";

const Time = z.iso.datetime();

export const Worker = z
  .object({
    name: z.string(),
    platform: z.record(z.string(), z.string()),
    sizeClass: z.number().int(),
    slots: z.number().int(),
    /** The CPUs that one slot gives an action; null: all CPUs of the machine. */
    cpus: z.number().nullable(),
    memoryBytes: z.number().nullable(),
    /** `lost`: its heartbeats stopped. */
    state: z.enum(["idle", "busy", "draining", "lost"]),
    facilities: z.record(z.string(), z.string()),
    version: z.string(),
    /** `pull`: started on the machine itself; `ssh`: started remotely, with `grange worker --ssh`. */
    transport: z.enum(["pull", "ssh"]),
    /** The machine's own name; empty when the worker does not report it. */
    host: z.string(),
    /** The principal that registered it. */
    principal: z.string(),
    /** Why the farm accepts nothing more from it; usually null. */
    quarantine: z.string().nullable(),
    /** Why it can run nothing at present, as the worker reported it, such as a full disk; null while it can. */
    trouble: z.string().nullable(),
    registeredAt: Time,
    lastSeenAt: Time,
    /** Executions that were assigned to it and have not ended, running and not yet started. */
    heldCount: z.number().int(),
    /**
     * Executions that have ended for the farm (cancelled, or moved to another worker) but still occupy slots of this
     * worker.
     */
    endingCount: z.number().int(),
    /** Its running executions. */
    running: z.array(
      z.object({
        executionId: z.string(),
        /** The job of the execution, if any. */
        graphId: z.string().nullable(),
        job: z.string().nullable(),
        since: Time,
      }),
    ),
    finishedCount: z.number().int(),
  })
  .meta({ id: "Worker" });
export type Worker = z.infer<typeof Worker>;
