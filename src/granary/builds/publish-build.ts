import type { Logger } from "pino";
import type { IndexEntry } from "#commit-index/index-entry.ts";
import type { Outbox } from "../outbox/outbox.ts";
import { type InterruptedBuild, interruptedBuilds } from "./access-log.ts";
import { indexEntries, ofRepository } from "./build-accesses.ts";
import { type BuildFacts, eachRepository, isIndexed } from "./build-facts.ts";
import { reportOf } from "./report.ts";

/** The end of a build, as its client reports it; absent for a client that vanished. */
export interface BuildEnd {
  readonly exitCode: number | null;
  /** Whether it requested all results that a build of its targets requests. */
  readonly complete: boolean;
  /** When its command ended, by `performance.now()`; now when absent. */
  readonly overAt?: number;
}

type Outlet = Pick<Outbox, "addIndex" | "addReport">;

/** Publishes the requests of a build as an index of its commit; not for a dirty tree, or without requests. */
export async function publishIndex(
  outbox: Outlet,
  facts: BuildFacts,
  entries: readonly IndexEntry[],
  how: BuildEnd,
): Promise<void> {
  if (!isIndexed(facts) || entries.length === 0) return;
  const { project, repository, commits, tree, branch, environment, targets } = facts;
  const complete = how.complete && how.exitCode === 0;
  await outbox.addIndex({
    project,
    repository,
    commits,
    tree,
    branch,
    environment,
    entries,
    complete,
    targets,
  });
}

/** Publishes the requests from builds of a crashed daemon, and reports these builds without an end. */
export async function publishInterrupted(
  directory: string,
  outbox: Outlet,
  logger: Logger,
): Promise<void> {
  for await (const build of interruptedBuilds(directory)) {
    await publishOne(outbox, build).catch((reason: unknown) => {
      logger.warn({ err: reason, build: build.id }, "an earlier build will be published later");
    });
  }
}

async function publishOne(outbox: Outlet, build: InterruptedBuild): Promise<void> {
  const { id, facts, accesses, startedAt, endedAt } = build;
  const end = { exitCode: null, complete: false };
  for (const [position, repository] of eachRepository(facts).entries()) {
    const own = ofRepository(accesses, position);
    await publishIndex(outbox, repository, indexEntries(own), end);
  }
  const report = reportOf(facts, accesses, {
    id,
    startedAt,
    endedAt,
    exitCode: null,
    indexes: [],
    transferred: { blobs: [], truncated: [] },
    uploadedBytes: 0,
    truncated: [],
  });
  await outbox.addReport(report);
  await build.remove();
}
