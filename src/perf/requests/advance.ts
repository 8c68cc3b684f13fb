import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { messageOf } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { noteNewResults } from "../history/note-results.ts";
import { endRequest } from "./end-request.ts";
import { enqueueNext } from "./enqueue-next.ts";
import { BenchmarkRequestId, findRequest, openRequests } from "./request.store.ts";
import type { RequestHooks } from "./request-hooks.ts";

interface RequestServices {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly hooks: RequestHooks;
}

/**
 * After this number of failures a request ends without its report, so that a comparison cannot block the queue forever.
 */
const mostReportFailures = 3;

const withoutReport: RequestHooks = {
  changesToConfirm: async () => [],
  makeReport: async (tx, id, now) => {
    const request = await findRequest(tx, BenchmarkRequestId.parse(id));
    if (request === undefined) return;
    await noteNewResults(tx, [request.artifactId, ...[request.parentId ?? []].flat()], now);
  },
};

/**
 * Ends requests whose jobs have ended, and starts the next ones, until nothing more changes. Any number of servers may
 * do so. An error in one request is logged, and does not stop the others.
 */
export function requestAdvancer({ db, clock, logger, hooks }: RequestServices) {
  const failures = new Map<BenchmarkRequestId, number>();

  const endOne = async (suite: string, id: BenchmarkRequestId) => {
    const failed = failures.get(id) ?? 0;
    const used = failed < mostReportFailures ? hooks : withoutReport;
    try {
      const came = await db.transaction((tx) => endRequest(tx, suite, id, used, clock.now()));
      failures.delete(id);
      if (came === "ended" && used !== hooks) {
        logger.error({ request: id, suite }, "a benchmark request ended without its report");
      }
      return came !== "goes-on";
    } catch (reason) {
      failures.set(id, failed + 1);
      logger.warn(
        { request: id, suite, err: reason },
        "a benchmark request could not be ended; trying again",
      );
      return false;
    }
  };

  return {
    /** True when something changed. */
    async advance(suite: string): Promise<boolean> {
      let changed = false;
      const skipped = new Set<string>();
      const tried = new Set<string>();
      for (;;) {
        const over = (await openRequests(db, suite)).filter(
          ({ id, state, awaited }) => state === "in-progress" && awaited === 0 && !tried.has(id),
        );
        for (const { id } of over) {
          tried.add(id);
          if (await endOne(suite, id)) changed = true;
        }
        let next: BenchmarkRequestId | undefined;
        try {
          const started = await db.transaction((tx) =>
            enqueueNext(tx, suite, clock.now(), skipped, (id) => {
              next = id;
            }),
          );
          if (started === undefined) return changed;
          changed = true;
        } catch (reason) {
          if (next === undefined) throw reason;
          skipped.add(next);
          logger.warn(
            { request: next, suite, reason: messageOf(reason) },
            "a benchmark request could not begin; trying again",
          );
        }
      }
    },
  };
}
