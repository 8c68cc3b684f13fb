import type { Logger } from "pino";
import { findArtifacts } from "#artifacts/find-artifacts.ts";
import type { Clock } from "#core/clock.ts";
import type { IdleState } from "#core/idle-state.ts";
import type { Db } from "#db/db.ts";
import type { PrivateHosts } from "#outgoing/allowed-address.ts";
import { labTimes } from "#perf/lab-times.ts";
import { reportHooks } from "#perf/reports/make-report.ts";
import { unservedAnnouncer } from "#perf/requests/announce-unserved.ts";
import { startBenchmarkCron } from "#perf/requests/cron.ts";
import { type AskSource, sourceService } from "#perf/requests/source-service.ts";
import { advanceSearches } from "#perf/searches/advance-searches.ts";
import { askForFigure } from "#perf/searches/ask-for-figure.ts";
import type { Keep } from "./keep-services.ts";
import { retentionAgeMs } from "./retention/retention-age.store.ts";

interface LabServiceParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly idle: IdleState;
  readonly privateHosts: () => Promise<PrivateHosts>;
  /** When false, other servers of the farm make the requests. */
  readonly makesRequests: boolean;
  /** How often requests are made; the lab's usual period when absent. */
  readonly everyMs: number | undefined;
  readonly keep: Keep;
}

/** Starts the services that find artifacts of benchmark suites and make benchmark requests. */
export async function startLabServices(parts: LabServiceParts) {
  const { db, clock, logger, idle, privateHosts, keep } = parts;
  const ending = new AbortController();
  const ask: AskSource = async (suite, options) =>
    findArtifacts(suite, { ...options, privateHosts: await privateHosts() });
  const sources = sourceService({ db, clock, ask, signal: ending.signal });
  if (parts.makesRequests) {
    keep(
      await startBenchmarkCron({
        db,
        clock,
        logger,
        idle,
        hooks: reportHooks,
        sources,
        everyMs: parts.everyMs,
        keepJobsMs: () => retentionAgeMs(db, "benchmark-jobs"),
        alsoThen: {
          "advance searches": () =>
            advanceSearches(
              db,
              clock.now(),
              askForFigure(() => clock.now()),
            ),
          "announce unserved jobs": unservedAnnouncer({ db, clock, times: labTimes, logger }),
        },
      }),
    );
  }
  keep({ stop: async () => ending.abort() });

  return { sources };
}
