import { inTime } from "#core/in-time.ts";
import type { DuneClient } from "./daemon-proxy.ts";
import type { DuneSession } from "./dune-session.ts";
import type { DuneOutlook } from "./write-rules.ts";

type Prepared = Pick<DuneSession, "prepared" | "outlook">;

/**
 * The pause between two checks, as a share of the estimated wait: a check of thousands of rules costs as much as their
 * arrival.
 */
const lookShare = 1 / 8;
const leastLookMs = 25;
/** While dune is held, its granary says so repeatedly: a stopped or killed granary holds it no longer than this. */
const holdMs = 1_000;
const sayMs = 250;
/**
 * How long the index may take, in ms. The absence of an index, or of a farm, is known within a round trip. An existing
 * one has to be read: 3,157 entries, which need a request of their own, took more than 150 ms.
 */
const planningMs = 900;
/**
 * Before and while the first results arrive, the line is assumed several times slower than it is: compression is
 * unknown, and code is cold at both ends. A wait that is worthwhile apart from this gets the time above.
 */
const hopelessShare = 3;
/** No data for this time means that the farm is silent or unreachable. */
const stalledMs = 750;
/**
 * The user did not request this wait, and only SIGKILL ends a waiting dune. dune's own sources, 58 MB of results, take
 * 5 s on a line of 100 Mbit/s.
 */
const longestMs = 20_000;

/**
 * Holds a connected dune until all rules that it will look for are present in time, if that is faster than making them.
 *
 * dune looks for each rule once, and makes it when it is absent. Waiting here, and not before the build's command,
 * delays it only when dune really runs, and only for what has not arrived meanwhile.
 */
export async function letInWhenWorth(
  session: Prepared,
  client: Pick<DuneClient, "hold" | "greet">,
): Promise<void> {
  const startedAt = performance.now();
  let sayAgainAt = 0;
  // Once a wait was worthwhile, it continues to the end: the last rules are few and large, and expensive to make.
  let mostMs: number | undefined;
  let [least, leastAt] = [Number.POSITIVE_INFINITY, startedAt];
  for (;;) {
    const now = performance.now();
    const seen = session.outlook();
    if (seen !== undefined) {
      if (seen.waitMs === 0) break;
      if (mostMs === undefined && seen.waitMs > hopelessShare * seen.worthMs) break;
      if (seen.waitMs <= seen.worthMs)
        mostMs ??= Math.min(longestMs, now - startedAt + seen.worthMs);
      if (seen.missing < least) [least, leastAt] = [seen.missing, now];
      if (now - leastAt > stalledMs) break;
    }
    if (now - startedAt > (mostMs ?? planningMs)) break;
    if (now >= sayAgainAt) {
      client.hold(holdMs);
      sayAgainAt = now + sayMs;
    }
    await inTime(session.prepared(), lookAgainMs(seen));
  }
  client.greet();
}

/** Resolves when the build may begin, or after this time. */
export async function untilReady(session: Prepared, mostMs: number): Promise<void> {
  const until = performance.now() + mostMs;
  for (;;) {
    const seen = session.outlook();
    const leftMs = until - performance.now();
    if (leftMs <= 0 || (seen?.isOnlyDune === true && seen.waitMs === 0)) return;
    await inTime(session.prepared(), Math.min(lookAgainMs(seen), leftMs));
  }
}

/** Never later than the next required `hold` message. */
function lookAgainMs(seen: DuneOutlook | undefined): number {
  return Math.min(sayMs, Math.max(leastLookMs, (seen?.waitMs ?? 0) * lookShare));
}
