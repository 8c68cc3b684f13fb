import type { Clock } from "#core/clock.ts";
import type { Db } from "#db/db.ts";
import { allSuites, beginSuiteCheck, lockSuite, type StoredSuite } from "../suites.store.ts";
import { artifactsWithoutRequest, type StoredArtifact } from "./artifact.store.ts";
import { createOrExtendRequest } from "./create-or-extend-request.ts";
import { ownJobs } from "./plan-request.ts";
import type { SourceService } from "./source-service.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

interface DiscoverServices {
  readonly db: Db;
  readonly clock: Clock;
  readonly sources: SourceService;
}

/**
 * Reads the sources of suites that are due, and requests new artifacts. `failed` gets each unreachable source; it is
 * read again when it is next due.
 */
export async function discoverAll(
  services: DiscoverServices,
  failed: (suite: string, reason: unknown) => void,
): Promise<number> {
  const { db, clock, sources } = services;
  let requestedCount = 0;
  for (const suite of await allSuites(db)) {
    const { discover } = suite.definition;
    if (discover === undefined) continue;
    const now = clock.now();
    const notSince = new Date(now.getTime() - discover.everyMinutes * minuteMs);
    try {
      if (await beginSuiteCheck(db, suite.name, now, notSince)) await sources.look(suite);
      // Also when it was just read: a request for an unknown tag may have caused that.
      requestedCount += await askForNew(services, suite.name);
    } catch (reason) {
      failed(suite.name, reason);
    }
  }
  return requestedCount;
}

/** R1: the main line as far back as the suite states, and its newest releases; each once. */
async function askForNew({ db, clock }: DiscoverServices, name: string): Promise<number> {
  return db.transaction(async (tx) => {
    const suite = await lockSuite(tx, name);
    const discover = suite?.definition.discover;
    if (suite === undefined || discover === undefined) return 0;
    const now = clock.now();
    const since = new Date(now.getTime() - discover.masterDays * dayMs);
    const found = [
      ...(await artifactsWithoutRequest(tx, name, "master", since, null)),
      ...(await artifactsWithoutRequest(tx, name, "release", null, discover.releases)),
    ].filter((artifact) => canBeMeasured(suite, artifact));
    // The oldest first, so that it is also the first among equal ones.
    for (const artifact of found.toReversed()) {
      await createOrExtendRequest(
        tx,
        suite,
        {
          artifact,
          parent: undefined,
          kind: artifact.kind,
          pr: null,
          backends: [],
          profiles: [],
          targets: [],
          benchmarks: [],
          paired: suite.definition.pairs.default,
          runs: null,
          waitForArtifacts: false,
          parents: "none",
          by: "grange",
          because: artifact.kind === "release" ? "it was released" : "it is new on the main line",
        },
        now,
      );
    }
    return found.length;
  });
}

function canBeMeasured({ definition }: StoredSuite, artifact: StoredArtifact): boolean {
  const usual = { backends: [], profiles: [], targets: [], benchmarks: [] };
  return ownJobs(definition, usual, artifact).length > 0;
}
