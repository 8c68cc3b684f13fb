import type { z } from "zod";
import { recordAudit } from "#access/audit.store.ts";
import { matchesPattern } from "#access/matches-pattern.ts";
import type { Principal } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import type { Release, ReleasedBreakpoint } from "#api/rerun.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { lockGraphs } from "../advancing/advance.store.ts";
import type { GraphId } from "../graph-id.ts";
import { finishServerJobs } from "../kinds/server-job.store.ts";
import { succeeded } from "../kinds/server-job-end.ts";
import { passOnEndedRuns } from "../queue-events.ts";
import { releasableJob } from "./release.store.ts";

/**
 * Ends the waiting of a breakpoint: the jobs that need it continue, or are skipped.
 *
 * The caller needs the grant, and must be on the breakpoint's own list if it has one. Undefined when there is no such
 * graph or job.
 */
export function release(
  db: Db,
  graphId: GraphId,
  { job: name, verdict, reason, dryRun }: z.output<typeof Release>,
  by: Principal,
): Promise<ReleasedBreakpoint | undefined> {
  return db.transaction(async (tx) => {
    const locked = await lockGraphs(tx, [graphId]);
    const job = await releasableJob(tx, graphId, name);
    if (job === undefined) return undefined;
    requireGrant(by, "release", job);
    assertOnList(name, job.definition, by);
    if (job.kind !== "breakpoint") {
      throw new Fault("failed_precondition", `${name} is not a breakpoint, but a ${job.kind} job`);
    }
    if (job.state !== "waiting") {
      throw new Fault(
        "failed_precondition",
        `${name} is ${job.state}: it does not wait for a release`,
      );
    }
    const goes = verdict === "go";
    const about = { graph: graphId, job: name, verdict };
    if (dryRun) return { applied: false, ...about, state: goes ? "succeeded" : "failed" };
    const ended = await finishServerJobs(tx, [
      {
        ...succeeded,
        graphId,
        job: name,
        run: job.run,
        outcome: goes ? "succeeded" : "failed",
        message: `${goes ? "released" : "stopped"} by ${by.name}${reason === undefined ? "" : `: ${reason}`}`,
      },
    ]);
    const detail = { verdict, run: job.run };
    await recordAudit(tx, { actor: by.name, verb: "release", graphId, job: name, detail, reason });
    await passOnEndedRuns(tx, locked, ended);
    const after = await releasableJob(tx, graphId, name);
    return { applied: true, ...about, state: after?.state ?? job.state };
  });
}

function assertOnList(job: string, { release: list }: JobDefinition, { name }: Principal): void {
  if (list === undefined || list.some((pattern) => matchesPattern(pattern, name))) return;
  throw new Fault(
    "permission_denied",
    `${name} may not release ${job}: its definition names ${list.join(", ")}; ask one of them`,
  );
}
