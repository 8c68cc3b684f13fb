import { inTime } from "#core/in-time.ts";
import type { DuneClient } from "./daemon-proxy.ts";
import type { DuneSession } from "./dune-session.ts";
import type { DuneOutlook } from "./write-rules.ts";

type Prepared = Pick<DuneSession, "prepared" | "outlook">;

/** It is looked again after so much of what was foreseen: a look at thousands of rules costs what they need to come. */
const lookShare = 1 / 8;
const leastLookMs = 25;
/** While dune is held, its granary says so again and again: one that is stopped or killed holds it no longer than this. */
const holdMs = 1_000;
const sayMs = 250;
/**
 * That there is no index, or no farm, is known within a round trip. One that is there has to be read: 3,157 entries, which a
 * question of its own brings, were not within 150 ms.
 */
const planningMs = 900;
/**
 * Before anything has come over a line, and while the first comes, it is held to be several times slower than it turns out:
 * what packs well is not known, and code is cold at both ends. What is worth it but for that is given the time above to show it.
 */
const hopelessShare = 3;
/** Nothing has come for so long: the farm is silent, or has gone. */
const stalledMs = 750;
/**
 * Nobody has asked for it, and dune cannot be ended while it waits, but by SIGKILL. dune's own sources, 58 MB of results,
 * take 5 s of a line of 100 Mbit/s.
 */
const longestMs = 20_000;

/**
 * Holds a dune that has come until all it will look for is there in time, where that is less than to make it would take.
 *
 * dune looks for each rule once, and makes what it does not find. That a build waits here, and not before its
 * command, makes it wait only when dune really runs, and no longer than for what has not come meanwhile.
 */
export async function letInWhenWorth(
  session: Prepared,
  client: Pick<DuneClient, "hold" | "greet">,
): Promise<void> {
  const startedAt = performance.now();
  let sayAgainAt = 0;
  // What was worth it once is waited for to its end: the last to come are few and large, and dear to make.
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

/** Resolves when the build may begin, or so much time is over. */
export async function untilReady(session: Prepared, mostMs: number): Promise<void> {
  const until = performance.now() + mostMs;
  for (;;) {
    const seen = session.outlook();
    const leftMs = until - performance.now();
    if (leftMs <= 0 || (seen?.isOnlyDune === true && seen.waitMs === 0)) return;
    await inTime(session.prepared(), Math.min(lookAgainMs(seen), leftMs));
  }
}

/** Never later than what keeps dune held has to be said again. */
function lookAgainMs(seen: DuneOutlook | undefined): number {
  return Math.min(sayMs, Math.max(leastLookMs, (seen?.waitMs ?? 0) * lookShare));
}
