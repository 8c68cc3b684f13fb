import type { DiskCost, GranaryBuildReport } from "#api/granary.ts";
import { keyText } from "#commit-index/result-key.ts";
import { messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import type { DiskTrouble } from "../store/disk-trouble.ts";
import { indexEntries, ofRepository } from "./build-accesses.ts";
import { eachRepository } from "./build-facts.ts";
import type { Plan } from "./plan-prefetch.ts";
import { type BuildEnd, publishIndex } from "./publish-build.ts";
import { reportOf, type TruncatedMark } from "./report.ts";
import type { BuildContext, BuildUnderWay } from "./start-build.ts";
import type { WorkspaceMemory } from "./workspace-memory.ts";

interface EndContext extends BuildContext {
  readonly workspaces: WorkspaceMemory;
}

/** The longest wait for a cancelled prefetch plan, in ms. */
const planGraceMs = 250;

/** A build that requested less than this share of an index relied on its tool's local state, so its own list is not complete. */
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

/**
 * Ends a build. Resolves when index and report are durable in the outbox. If they cannot become durable, the log stays
 * for the next start.
 */
export async function endBuild(
  { parts: { outbox, store, logger }, waste, workspaces }: EndContext,
  entry: BuildUnderWay,
  how: BuildEnd,
): Promise<GranaryBuildReport> {
  const { build, accesses, places, log, releaseOutbox, notAhead, abort } = entry;
  const endedAt = how.overAt ?? performance.now();
  const elapsedMs = Math.max(0, Math.round(entry.elapsedMs() - (performance.now() - endedAt)));
  const facts = entry.facts();
  abort.abort();
  await build.prefetch.stop();
  const { indexes, isCut } = await Promise.race([entry.plan(), noPlanAfter(planGraceMs)]);
  await log.close();
  const truncated: TruncatedMark[] = [];
  if (accesses.truncated) truncated.push("asked");
  if (isCut) truncated.push("index");
  const report = reportOf(facts, [...accesses.all()], {
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
  const repositories = eachRepository(facts);
  const needed = await Promise.all(
    repositories.map((repository, position) =>
      workspaces.after(
        repository,
        indexEntries(ofRepository(accesses.all(), position)).map((own) => ({
          entry: own,
          place: places.get(keyText(own)),
        })),
      ),
    ),
  );
  const found = needed[0]?.results.length ?? 0;
  const isFew = indexes.some(({ entries: named }) => found < named * fewShare);
  const mayBeAll = how.complete && !isFew && !accesses.truncated;
  try {
    // Together, so that they share one fsync. They become durable, and are sent, in this order.
    await Promise.all([
      ...repositories.map((repository, position) => {
        const { results = [], isWhole = false } = needed[position] ?? {};
        const entries = results.map((result) => result.entry);
        return publishIndex(outbox, repository, entries, {
          ...how,
          complete: mayBeAll && isWhole,
        });
      }),
      outbox.addReport(report),
      ...needed.map(({ remembered }) => remembered),
    ]);
    // The outbox is responsible from here on.
    await log.remove();
  } catch (reason) {
    logger.warn(
      { build: build.id, why: messageOf(reason) },
      "the build's index waits for a restart",
    );
  } finally {
    releaseOutbox();
  }
  const { transferred, wasted } = report.bytes;
  await waste.remember(
    facts.project,
    facts.command,
    notAhead === undefined ? { transferred, wasted } : "skipped",
  );
  return report;
}
