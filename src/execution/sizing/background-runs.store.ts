import { randomUUID } from "node:crypto";
import { z } from "zod";
import { Platform } from "#core/platform.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { laneOf } from "../claiming/fair-lane.ts";
import { ExecutionId, type ExecutionRequest } from "../execution.ts";
import { requirementsText } from "../submitting/check-request.ts";
import { submitExecutions } from "../submitting/submit-executions.store.ts";
import { backgroundOwner } from "./background-owner.ts";
import type { ResizedExecution } from "./resize-held.store.ts";
import type { BackgroundRun, ChosenSize } from "./size-class-roles.ts";
import { recordDecisions } from "./size-decision.store.ts";

/** Only for display: its lane comes after all others regardless of its priority. */
const leastPriority = 1_000;

export type WantedBackgroundRun = ResizedExecution & BackgroundRun;

/**
 * Submits further runs of executions that succeeded, to measure them on other classes.
 *
 * Their results are not stored, and no client waits for them. When many such runs already wait, no further one is
 * submitted.
 */
export async function submitBackgroundRuns(
  tx: Tx,
  wanted: readonly WantedBackgroundRun[],
  now: Date,
): Promise<void> {
  const taken: { readonly request: ExecutionRequest; readonly chosen: ChosenSize }[] = [];
  for (const { held, chosen, mostWaiting } of wanted) {
    const request = requestOf(held, chosen);
    const kind = kindOf(request);
    const here = taken.filter((each) => kindOf(each.request) === kind).length;
    if (here + (await waitingLike(tx, request, mostWaiting)) < mostWaiting)
      taken.push({ request, chosen });
  }
  await submitExecutions(
    tx,
    taken.map(({ request }) => request),
    now,
  );
  await recordDecisions(
    tx,
    taken.map(({ request: { id, project, domain }, chosen }) => ({
      id,
      project,
      domain,
      purpose: "background",
      chosen,
    })),
  );
}

function requestOf(held: ResizedExecution["held"], chosen: ChosenSize): ExecutionRequest {
  return {
    id: ExecutionId.parse(randomUUID()),
    project: held.project,
    domain: held.domain,
    actionDigest: held.actionDigest,
    platform: Platform.parse(JSON.parse(held.requirements)),
    sizeClass: chosen.sizeClass,
    mostSizeClass: chosen.sizeClass,
    priority: leastPriority,
    last: true,
    invocation: `${backgroundOwner}/${chosen.sizeClass}`,
    owner: backgroundOwner,
    similarityKeys: held.similarityKeys,
    title: held.title,
    timeoutMs: chosen.timeoutMs,
    expectedDurationMs: chosen.expectedDurationMs,
    doNotCache: true,
  };
}

function kindOf({ platform, sizeClass, mostSizeClass }: ExecutionRequest): string {
  return `${sizeClass} ${requirementsText(platform, mostSizeClass)}`;
}

async function waitingLike(tx: Tx, request: ExecutionRequest, most: number): Promise<number> {
  const { platform, sizeClass, mostSizeClass, invocation } = request;
  const [row] = await tx.many(
    z.object({ count: z.number() }),
    sql`
      select count(*)::integer as count from (
        select from execution
        where state = 'queued' and requirements = ${requirementsText(platform, mostSizeClass)}
          and size_class = ${sizeClass} and lane = ${laneOf(request)} and invocation = ${invocation}
        limit ${most}
      ) as waiting
    `,
  );
  return row?.count ?? 0;
}
