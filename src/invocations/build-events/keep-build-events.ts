import { Fault } from "#core/fault.ts";
import type { Db, Tx } from "#db/db.ts";
import { noteInvocations } from "../invocation.store.ts";
import {
  type BuildKey,
  type BuildRow,
  lockBuild,
  noteHeard,
  saveCounts,
  saveFacts,
} from "./build.store.ts";
import { most } from "./build-bounds.ts";
import { type BuildFacts, learn } from "./build-facts.ts";
import { appendPrinted } from "./build-log.store.ts";
import {
  dropFileSets,
  filesOfSets,
  saveFileSets,
  saveTargets,
  saveTests,
  type TargetChange,
} from "./build-parts.store.ts";
import type { BuildUpdate, TargetUpdate } from "./build-update.ts";
import { fitPrinted } from "./fit-printed.ts";
import { judgeSequence } from "./judge-sequence.ts";

/** Other code writes this row, too: for a tool with frequent events, its sighting is recorded this often. */
const noteEveryMs = 10_000;

/** The sender of events, and their build. */
export interface BuildTeller extends BuildKey {
  readonly buildId: string;
  readonly principal: string;
}

/** One parsed event of a stream. */
export interface NumberedUpdate {
  readonly sequence: number;
  readonly news: readonly BuildUpdate[];
}

/**
 * Stores events that arrived together; returns how many of them, from the first on, are stored.
 *
 * Fewer than arrived means that there is a gap before the next event. Events that were stored before are acknowledged
 * and not stored again, whichever server stored them: the row of the build is locked meanwhile.
 */
export function keepBuildEvents(
  db: Db,
  teller: BuildTeller,
  events: readonly NumberedUpdate[],
  now: Date,
): Promise<number> {
  return db.transaction(async (tx) => {
    const build = await lockOwnBuild(tx, teller, now);
    const judged = judgeSequence(
      build.acknowledged,
      events.map(({ sequence }) => sequence),
    );
    if (judged.fresh.length > 0) {
      if (build.complete) {
        throw new Fault(
          "failed_precondition",
          `the events of invocation ${teller.invocation} have ended with number ${build.acknowledged}; use another invocation id for another build`,
        );
      }
      const news = judged.fresh.flatMap((index) => events[index]?.news ?? []);
      await storeUpdates(tx, teller, { ...build, acknowledged: judged.acknowledged }, news, now);
    }
    return judged.answered;
  });
}

/** Stores the content of the frame around the events. It has no number: storing it twice changes nothing. */
export function keepLifecycle(
  db: Db,
  teller: BuildTeller,
  news: readonly BuildUpdate[],
  now: Date,
): Promise<void> {
  return db.transaction(async (tx) => {
    await storeUpdates(tx, teller, await lockOwnBuild(tx, teller, now), news, now);
  });
}

/** Called regularly while a stream is open, because a tool may send no events for long. */
export async function noteStreamOpen(db: Db, teller: BuildTeller, now: Date): Promise<void> {
  await db.transaction(async (tx) => {
    await noteHeard(tx, teller, now);
    await seen(tx, teller, "", now);
  });
}

async function lockOwnBuild(tx: Tx, teller: BuildTeller, now: Date): Promise<BuildRow> {
  const build = await lockBuild(tx, teller, { ...teller, now });
  if (build.principal !== teller.principal) {
    throw new Fault(
      "permission_denied",
      `${teller.principal} may not send events of invocation ${teller.invocation}: ${build.principal} has begun it`,
    );
  }
  if (build.buildId !== teller.buildId) {
    throw new Fault(
      "failed_precondition",
      `invocation ${teller.invocation} already belongs to another build; use another invocation id for each build`,
    );
  }
  return build;
}

async function storeUpdates(
  tx: Tx,
  teller: BuildTeller,
  build: BuildRow,
  news: readonly BuildUpdate[],
  now: Date,
): Promise<void> {
  const before: BuildFacts = build;
  const facts = news.reduce(learn, before);
  const counts = { ...build };

  const sets = news.filter((one) => one.kind === "fileSet");
  counts.fileSets += await saveFileSets(
    tx,
    teller,
    sets.slice(0, room(most.fileSets, build.fileSets)),
  );
  const targets = await withFiles(tx, teller, gatherTargets(news));
  const full = build.targets >= most.targets;
  counts.targets += await saveTargets(tx, teller, targets, full);
  const tests = news.filter((one) => one.kind === "test");
  counts.tests += await saveTests(tx, teller, tests.slice(0, room(most.tests, build.tests)));

  const printed = news.flatMap((one) => (one.kind === "printed" ? [one.bytes] : []));
  const fitting = fitPrinted(build.logBytes, Buffer.concat(printed));
  await appendPrinted(tx, teller, build.logBytes, fitting);
  counts.logBytes += fitting.length;

  await saveCounts(tx, teller, counts, now);
  if (facts !== before) await saveFacts(tx, teller, facts);
  if (facts.complete && !before.complete) await dropFileSets(tx, teller);
  const quietMs = now.getTime() - build.lastHeardAt.getTime();
  if (quietMs > noteEveryMs || facts.toolVersion !== before.toolVersion || quietMs === 0)
    await seen(tx, teller, facts.toolVersion, now);
}

function room(limit: number, used: number): number {
  return Math.max(0, limit - used);
}

async function withFiles(
  tx: Tx,
  key: BuildKey,
  targets: ReturnType<typeof gatherTargets>,
): Promise<TargetChange[]> {
  const found = await filesOfSets(
    tx,
    key,
    targets.map(({ sets = [] }) => sets),
    { sets: most.setsWalked, files: most.filesOfTarget },
  );
  return targets.map(({ files = [], ...target }, index) => ({
    ...target,
    outputs: [...(found[index] ?? []), ...files].slice(0, most.filesOfTarget),
  }));
}

async function seen(tx: Tx, teller: BuildTeller, toolVersion: string, at: Date): Promise<void> {
  const { project, principal, invocation, buildId: correlatedId } = teller;
  await noteInvocations(tx, [
    { project, principal, invocation, correlatedId, toolName: "bazel", toolVersion, at },
  ]);
}

/** Merges all updates of each target in a batch into one update. */
function gatherTargets(news: readonly BuildUpdate[]): TargetUpdate[] {
  const gathered = new Map<string, TargetUpdate>();
  for (const one of news) {
    if (one.kind !== "target") continue;
    const key = `${one.label}\n${one.aspect}`;
    const before = gathered.get(key);
    gathered.set(key, before === undefined ? one : joinTargets(before, one));
  }
  return [...gathered.values()];
}

/** A target with several configurations is reported several times: it succeeded when all reports did. */
function joinTargets(before: TargetUpdate, news: TargetUpdate): TargetUpdate {
  const { success = before.success } = news;
  return {
    ...before,
    ...news,
    ...(success === undefined ? {} : { success: success && before.success !== false }),
    ...(before.aborted === undefined ? {} : { aborted: before.aborted }),
    sets: [...(before.sets ?? []), ...(news.sets ?? [])],
    files: [...(before.files ?? []), ...(news.files ?? [])],
  };
}
