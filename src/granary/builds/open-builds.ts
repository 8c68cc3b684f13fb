import { join } from "node:path";
import type { GranaryBuildReport } from "#api/granary.ts";
import type { Service } from "#core/service.ts";
import { sharedTransfers } from "../prefetch/shared-transfers.ts";
import { openWasteMemory } from "../prefetch/waste-file.ts";
import type { FetchAheadAnswer } from "../protocol/answers.ts";
import type { BuildRegistry } from "./build.ts";
import type { BuildFacts } from "./build-facts.ts";
import type { BuildsParts } from "./builds-parts.ts";
import { endBuild } from "./end-build.ts";
import { fetchingAhead } from "./fetch-ahead.ts";
import { openLastReports } from "./last-reports.ts";
import { type BuildEnd, publishInterrupted } from "./publish-build.ts";
import { openQuarantineUpdates } from "./quarantine-updates.ts";
import { type BuildUnderWay, type RunningBuild, startBuild } from "./start-build.ts";
import { openWorkspaceMemory } from "./workspace-memory.ts";

export interface Builds extends BuildRegistry, Service {
  /** Starts a build without waiting for the farm. */
  start(facts: BuildFacts): Promise<RunningBuild>;
  /** Ends a build. Resolves when index and report are durable in the outbox, with undefined if no such build is running. */
  end(id: string, how: BuildEnd): Promise<GranaryBuildReport | undefined>;
  find(id: string | undefined): RunningBuild | undefined;
  /** Includes ended builds until their reports and indexes are in the outbox. */
  running(): readonly RunningBuild[];
  /** Returns the reports of this machine's last builds, latest first. */
  lastReports(): Promise<GranaryBuildReport[]>;
  /** Starts a prefetch for a future build and returns what it will fetch; with `dryRun`, only returns that. */
  fetchAhead(facts: BuildFacts, dryRun: boolean): Promise<FetchAheadAnswer>;
}

/** Opens the builds of this machine, after publishing those that an earlier daemon left. */
export async function openBuilds(parts: BuildsParts): Promise<Builds> {
  const { store, outbox, logger } = parts;
  const directory = join(parts.directory, "builds");
  const shared = sharedTransfers();
  const workspaces = openWorkspaceMemory(join(parts.directory, "workspaces"));
  const waste = await openWasteMemory(join(parts.directory, "prefetch-waste.json"));
  const news = await openQuarantineUpdates(
    join(parts.directory, "quarantine-heard.json"),
    parts.farmName ?? "",
    parts.forget ?? ((project, key) => store.forget(project, key)),
    () => store.sync(),
  );
  const lastReports = openLastReports(join(parts.directory, "reports"), logger);
  const entries = new Map<string, BuildUnderWay>();
  /** Ended, but not yet in the outbox. */
  const ending = new Set<RunningBuild>();
  const note = (message: string) => logger.info(message);

  const context = { parts, directory, shared, waste, news, workspaces, note };
  const ahead = fetchingAhead({ ...parts, shared, note });
  await publishInterrupted(directory, outbox, logger);

  async function start(facts: BuildFacts): Promise<RunningBuild> {
    const entry = await startBuild(context, facts);
    entries.set(entry.build.id, entry);
    return entry.build;
  }

  async function end(id: string, how: BuildEnd): Promise<GranaryBuildReport | undefined> {
    const entry = entries.get(id);
    if (entry === undefined) return undefined;
    entries.delete(id);
    ending.add(entry.build);
    try {
      const report = await endBuild(context, entry, how);
      lastReports.keep(report);
      return report;
    } finally {
      ending.delete(entry.build);
    }
  }

  return {
    start,
    end,
    find: (id) => (id === undefined ? undefined : entries.get(id)?.build),
    only(project) {
      const of = [...entries.values()].filter(({ build }) => build.project === project);
      return of.length === 1 ? of[0]?.build : undefined;
    },
    async environmentOf(project) {
      const named = new Set(
        [...entries.values()]
          .filter(({ build }) => build.project === project)
          .map(({ build }) => build.environment),
      );
      const [one] = named;
      return one !== undefined && named.size === 1 ? one : parts.ownEnvironment();
    },
    lastReports: () => lastReports.all(),
    fetchAhead: (facts, dryRun) => ahead.fetch(facts, dryRun),
    running: () => [...[...entries.values()].map(({ build }) => build), ...ending],
    async stop() {
      await ahead.stop();
      await Promise.all(
        [...entries.keys()].map((id) => end(id, { exitCode: null, complete: false })),
      );
      await lastReports.stop();
    },
  };
}
