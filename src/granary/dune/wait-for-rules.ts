import { inTime } from "#core/in-time.ts";
import type { DuneClient } from "./daemon-proxy.ts";
import type { DuneSession } from "./dune-session.ts";
import type { DuneOutlook } from "./write-rules.ts";

type Prepared = Pick<DuneSession, "prepared" | "outlook">;

/**
 * The pause between two checks, as a share of the estimated wait: a check of thousands of rules costs as much as their
 * arrival.
 */
const checkShare = 1 / 8;
const leastCheckMs = 25;
/**
 * While dune is delayed, its granary repeats the request: a stopped or killed granary delays dune no longer than this.
 */
const holdMs = 1_000;
const holdEveryMs = 250;
/**
 * The time limit for loading the index, in ms. The absence of an index, or of a farm, is known within a round trip. An
 * existing index has to be read: 3,157 entries, which need a request of their own, took more than 150 ms.
 */
const planningMs = 900;
/**
 * Before and while the first results arrive, the line is estimated several times slower than it is: the compression
 * ratio is unknown, and the code at both ends is not yet optimised. A wait whose estimate exceeds the saved time by at
 * most this factor may continue for the time above.
 */
const mostExcess = 3;
/** No data for this time means that the farm is silent or unreachable. */
const stalledMs = 750;
/**
 * A limit, because the user did not request this wait, and only SIGKILL ends a waiting dune. dune's own sources, with
 * 58 MB of results, take 5 s on a line of 100 Mbit/s.
 */
const longestMs = 20_000;

/**
 * Delays a connected dune until all rules that it will look up are present in time, if that is faster than making them.
 *
 * dune looks for each rule once, and makes it when it is absent. The wait is here, and not before the build's command.
 * So it delays dune only when dune really runs, and only for rules that have not arrived until then.
 */
export async function delayUntilRulesArrive(
  session: Prepared,
  client: Pick<DuneClient, "hold" | "greet">,
): Promise<void> {
  const startedAt = performance.now();
  let holdAgainAt = 0;
  // Once a wait was worthwhile, it continues to the end: the last rules are few and large, and expensive to make.
  let mostMs: number | undefined;
  let [least, leastAt] = [Number.POSITIVE_INFINITY, startedAt];
  for (;;) {
    const now = performance.now();
    const seen = session.outlook();
    if (seen !== undefined) {
      if (seen.waitMs === 0) break;
      if (mostMs === undefined && seen.waitMs > mostExcess * seen.worthMs) break;
      if (seen.waitMs <= seen.worthMs)
        mostMs ??= Math.min(longestMs, now - startedAt + seen.worthMs);
      if (seen.missing < least) [least, leastAt] = [seen.missing, now];
      if (now - leastAt > stalledMs) break;
    }
    if (now - startedAt > (mostMs ?? planningMs)) break;
    if (now >= holdAgainAt) {
      client.hold(holdMs);
      holdAgainAt = now + holdEveryMs;
    }
    await inTime(session.prepared(), nextCheckMs(seen));
  }
  client.greet();
}

/** Resolves when the build may start, or after this time. */
export async function untilReady(session: Prepared, mostMs: number): Promise<void> {
  const until = performance.now() + mostMs;
  for (;;) {
    const seen = session.outlook();
    const leftMs = until - performance.now();
    if (leftMs <= 0 || (seen?.isOnlyDune === true && seen.waitMs === 0)) return;
    await inTime(session.prepared(), Math.min(nextCheckMs(seen), leftMs));
  }
}

/**
 * Returns the time until the next check, in ms: never later than the next required `hold` message.
 */
function nextCheckMs(seen: DuneOutlook | undefined): number {
  return Math.min(holdEveryMs, Math.max(leastCheckMs, (seen?.waitMs ?? 0) * checkShare));
}
