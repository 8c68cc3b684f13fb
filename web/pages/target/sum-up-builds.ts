import type { TargetInBuild } from "#api/invocation-targets.ts";

interface TargetSummary {
  /** Builds in which the target ended. */
  readonly ended: number;
  readonly failed: number;
  readonly flaky: number;
  /** Of the builds that executed something and did not fail, in ms; undefined when there is none. */
  readonly medianMs: number | undefined;
  /** The first of the failed builds since the last success; undefined when the newest one has not failed. */
  readonly failsSince: TargetInBuild | undefined;
}

/** Sums up how a target went. Builds that did not end it say nothing. */
export function sumUpBuilds(newestFirst: readonly TargetInBuild[]): TargetSummary {
  const ended = newestFirst.filter(
    ({ state }) => state === "failed" || state === "flaky" || state === "succeeded",
  );
  const good = ended.findIndex(({ state }) => state !== "failed");
  const failing = good === -1 ? ended : ended.slice(0, good);
  const times = ended
    .flatMap(({ durationMs, executed, state, testStatus }) =>
      durationMs !== null && state !== "failed" && (executed > 0 || testStatus !== null)
        ? [durationMs]
        : [],
    )
    .toSorted((a, b) => a - b);
  return {
    ended: ended.length,
    failed: ended.filter(({ state }) => state === "failed").length,
    flaky: ended.filter(({ state }) => state === "flaky").length,
    medianMs: times[Math.floor(times.length / 2)],
    failsSince: failing.at(-1),
  };
}
