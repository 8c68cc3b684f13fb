import type { Durations, GraphTimes, GroupTimes, Times } from "#api/times.ts";

const daySeconds = 24 * 60 * 60;

/** Answers made-up waiting and running times of two branches, and a metric of record. */
export function fakeTimes(now: Date): Times {
  const seconds = 7 * daySeconds;
  const named = "try/a-branch-with-a-long-name-that-a-narrow-page-must-still-show";
  return {
    repository: null,
    branch: null,
    window: {
      from: new Date(now.getTime() - seconds * 1_000).toISOString(),
      until: now.toISOString(),
      seconds,
    },
    group: "branch",
    goal: { withinSeconds: 900, share: 0.95 },
    all: group("", 1_200, 0.97),
    groups: [group("main", 1_000, 0.99), group(named, 200, 0.87)],
    graphs: graphTimes("", 60),
    graphGroups: [graphTimes("main", 48), graphTimes(named, 12)],
    record: {
      metric: {
        name: "wait-of-tests",
        measure: "wait",
        figure: { kind: "share", withinSeconds: 900, goal: 0.95 },
        group: null,
        filter: "kind:test",
        windowSeconds: seconds,
        ofRecord: true,
      },
      value: 0.93,
      count: 800,
      groups: [],
      goalMet: false,
    },
  };
}

function group(name: string, count: number, withinGoal: number): GroupTimes {
  return { name, wait: durations(count, 4_000), run: durations(count, 90_000), withinGoal };
}

function graphTimes(name: string, count: number): GraphTimes {
  return {
    name,
    endToEnd: durations(count, 600_000),
    firstFailure: durations(Math.round(count / 10), 200_000),
    criticalPath: durations(count, 400_000),
  };
}

/** @param p50Ms the median; the other figures are multiples of it */
function durations(count: number, p50Ms: number): Durations {
  return {
    count,
    meanMs: 1.2 * p50Ms,
    p50Ms,
    p90Ms: 2 * p50Ms,
    p95Ms: 2.5 * p50Ms,
    p99Ms: 4 * p50Ms,
    maxMs: 9 * p50Ms,
  };
}
