import type { InvocationCounts, InvocationSummary } from "#api/invocation.ts";
import type { Tx } from "#db/db.ts";
import { type BuildSummary, buildSummaries } from "../build-events/build-detail.ts";
import { countActions, countsOf } from "./count-actions.store.ts";
import type { InvocationRow } from "./invocation-row.store.ts";
import { invocationState } from "./invocation-state.ts";
import { lastActionEnds } from "./last-action-ends.store.ts";

/** Returns invocations as lists show them, with counts and the content of their build events. */
export async function summariesOf(
  tx: Tx,
  rows: readonly InvocationRow[],
  now: Date,
): Promise<InvocationSummary[]> {
  const counts = await countActions(tx, rows);
  const builds = await buildSummaries(
    tx,
    rows.map(({ project, id }) => ({ project, invocation: id })),
  );
  const rowsWithBuilds = rows.map((row) => ({
    row,
    build: builds.find(
      ({ project, invocation }) => project === row.project && invocation === row.id,
    ),
  }));
  const ends = await lastActionEnds(
    tx,
    rowsWithBuilds.filter(({ build }) => !build?.exit).map(({ row }) => row),
  );
  return rowsWithBuilds.map(({ row, build }) => {
    const end = ends.find(({ project, id }) => project === row.project && id === row.id);
    return summaryOf(row, countsOf(counts, row), build, end?.at ?? undefined, now);
  });
}

function summaryOf(
  row: InvocationRow,
  counts: InvocationCounts,
  told: BuildSummary | undefined,
  lastActionEnd: Date | undefined,
  now: Date,
): InvocationSummary {
  const { project, id, principal, toolName: name, toolVersion: version } = row;
  const lastSeenAt = latest(row.lastSeenAt, told?.endedAt);
  return {
    project,
    id,
    state: invocationState({ ...row, lastSeenAt, counts, exit: told?.exit }, now),
    tool: { name, version },
    principal,
    startedAt: (told?.startedAt ?? row.firstSeenAt).toISOString(),
    // After its reported end, later calls do not belong to the build.
    endedAt: (told?.exit ? told.endedAt : latest(lastSeenAt, lastActionEnd)).toISOString(),
    counts,
    build: told?.build ?? null,
  };
}

function latest(one: Date, other: Date | undefined): Date {
  return other !== undefined && other > one ? other : one;
}
