import type { DiskCost, GranaryBuildReport } from "#api/granary.ts";
import { keyText } from "#commit-index/result-key.ts";
import { messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import type { DiskTrouble } from "../store/disk-trouble.ts";
import { indexEntries } from "./demand.ts";
import type { Plan } from "./plan-ahead.ts";
import { type BuildEnd, publishIndex } from "./publish-build.ts";
import { reportOf, type TruncatedMark } from "./report.ts";
import type { BuildHouse, BuildUnderWay } from "./start-build.ts";
import type { WorkspaceMemory } from "./workspace-memory.ts";

export interface EndHouse extends BuildHouse {
  readonly workspaces: WorkspaceMemory;
}

/** A farm that does not hear that nobody waits any more is not waited for. */
const planGraceMs = 250;

/** A build that asked for less of what an index names was helped by its tool's own books: it did not ask for all. */
const fewShare = 0.5;

async function noPlanAfter(ms: number): Promise<Plan> {
  await rest(ms);
  return { indexes: [], isCut: true };
}

function costSince(
  before: DiskTrouble | undefined,
  now: DiskTrouble | undefined,
): DiskCost | undefined {
  if (now === undefined || now === before) return undefined;
  const refusedWrites = now.refusedWrites - (before?.refusedWrites ?? 0);
  const removedBytes = now.removedBytes - (before?.removedBytes ?? 0);
  return refusedWrites + removedBytes === 0 ? undefined : { refusedWrites, removedBytes };
}

/** Its index and its report are safe, and on their way, when this resolves; where they cannot be, they wait for a restart. */
export async function endBuild(
  { parts: { outbox, store, logger }, waste, workspaces }: EndHouse,
  entry: BuildUnderWay,
  how: BuildEnd,
): Promise<GranaryBuildReport> {
  const { build, demand, places, log, letGo, notAhead, abort } = entry;
  const endedAt = how.overAt ?? performance.now();
  const elapsedMs = Math.max(0, Math.round(entry.elapsedMs() - (performance.now() - endedAt)));
  const facts = entry.facts();
  abort.abort();
  await build.prefetch.stop();
  const { indexes, isCut } = await Promise.race([entry.plan, noPlanAfter(planGraceMs)]);
  await log.close();
  const truncated: TruncatedMark[] = [];
  if (demand.truncated) truncated.push("asked");
  if (isCut) truncated.push("index");
  const report = reportOf(facts, [...demand.all()], {
    id: build.id,
    startedAt: build.startedAt,
    endedAt: new Date(build.startedAt.getTime() + elapsedMs),
    exitCode: how.exitCode,
    indexes,
    notAhead,
    transferred: build.prefetch.transferred(),
    uploadedBytes: Math.max(0, outbox.sentBytes - entry.sentBefore),
    diskTrouble: costSince(entry.troubleBefore, store.diskTrouble()),
    truncated,
  });
  const { results, isWhole, remembered } = await workspaces.after(
    facts,
    indexEntries(demand.all()).map((own) => ({ entry: own, place: places.get(keyText(own)) })),
  );
  const all = results.map((result) => result.entry);
  const isFew = indexes.some(({ entries: named }) => all.length < named * fewShare);
  const isAll = isWhole && !isFew && !demand.truncated;
  try {
    // Together, for one wait for the disk; in this order they become durable, and leave.
    await Promise.all([
      publishIndex(outbox, facts, all, { ...how, complete: how.complete && isAll }),
      outbox.addReport(report),
      remembered,
    ]);
    // From here on the outbox has it.
    await log.remove();
  } catch (reason) {
    logger.warn(
      { build: build.id, why: messageOf(reason) },
      "the build's index waits for a restart",
    );
  } finally {
    letGo();
  }
  const { transferred, wasted } = report.bytes;
  await waste.remember(
    facts.project,
    facts.command,
    notAhead === undefined ? { transferred, wasted } : "skipped",
  );
  return report;
}
