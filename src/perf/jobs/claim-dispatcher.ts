import { z } from "zod";
import type { ClaimBenchmarkJob, ClaimedBenchmarkJob } from "#api/collector.ts";
import type { Clock } from "#core/clock.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { Db, Tx } from "#db/db.ts";
import type { Suite } from "#suites/suite.ts";
import type { LabTimes } from "../lab-times.ts";
import { suiteByDigest } from "../suites.store.ts";
import { claimOnce } from "./claim-job.ts";

/** Resolves when something in the lab has changed since the ticket was made, or after some time. */
export interface ChangeTicket {
  changed(withinMs: number, signal: AbortSignal): Promise<unknown>;
  drop(): void;
}

interface Claimed {
  readonly job: ClaimedBenchmarkJob | null;
  readonly because: string | null;
  readonly selfTestDue: boolean;
}

interface BenchmarkClaimDispatcher {
  /** Waits for a job; when the wait has ended, returns why there is none. */
  claim(
    collector: string,
    claim: z.output<typeof ClaimBenchmarkJob>,
    signal: AbortSignal,
  ): Promise<Claimed>;
}

/** Definitions of suites; a definition never changes under its digest. */
const mostSuites = 50;

/** If this server cannot read a suite that an older server stored, the suite's jobs fail, but not all claims. */
async function readSuite(tx: Tx, digest: string): Promise<Suite | undefined> {
  try {
    return await suiteByDigest(tx, digest);
  } catch (reason) {
    if (reason instanceof z.ZodError) return undefined;
    throw reason;
  }
}

/** The queue in which claims of collectors wait for work. */
export function benchmarkClaimDispatcher(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly times: LabTimes;
  readonly changes: () => ChangeTicket;
}): BenchmarkClaimDispatcher {
  const { db, clock, times, changes } = parts;
  const suites = recentlyUsed<Suite>(mostSuites);

  const look = (collector: string, incarnation: string) =>
    db.transaction((tx) =>
      claimOnce(tx, collector, incarnation, {
        now: clock.now(),
        times,
        async suiteOf(at, digest) {
          const suite = suites.peek(digest) ?? (await readSuite(at, digest));
          if (suite !== undefined) suites.set(digest, suite);
          return suite;
        },
      }),
    );

  return {
    async claim(collector, { incarnation, waitMs }, signal) {
      const deadline = performance.now() + waitMs;
      for (;;) {
        // Before reading, so that no change in between is missed.
        const ticket = changes();
        try {
          const turn = await look(collector, incarnation);
          if (turn.kind === "job") return { ...turn, because: null };
          if (turn.kind === "ended") continue;
          const leftMs = deadline - performance.now();
          if (leftMs <= 0 || signal.aborted) return { ...turn, job: null };
          await ticket.changed(Math.min(leftMs, times.pollMs), signal);
          if (signal.aborted) return { ...turn, job: null };
        } finally {
          ticket.drop();
        }
      }
    },
  };
}
