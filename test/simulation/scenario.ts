import type { QueueTimes } from "#execution/queue-times.ts";
import { Random } from "./random.ts";

/** How an action ends when a worker executes it. */
export interface Behaviour {
  readonly durationMs: number;
  readonly ending:
    | "succeeds"
    | "fails"
    /** It succeeds on size class 2 only. */
    | "fails on a small worker"
    /** The worker reports that its machine failed. */
    | "machine fails"
    /** It ends its worker, each time. */
    | "kills its worker"
    /** It runs until it is cancelled. */
    | "endless";
}

export interface PlannedRequest {
  readonly atMs: number;
  /** Requests with equal actions are served by one execution while it is in flight. */
  readonly action: number;
  readonly doNotCache: boolean;
  /** When its client cancels it, after it was accepted. */
  readonly cancelAfterMs: number | undefined;
}

export interface PlannedJob {
  readonly name: string;
  readonly kind: "command" | "join" | "timer" | "notify" | "dummy";
  /** The names of the jobs that it waits for, with the condition. */
  readonly needs: Readonly<Record<string, "success" | "end">>;
  readonly retries: number;
  /** Of a timer, in ms. */
  readonly afterMs: number;
  readonly behaviour: Behaviour;
}

export interface PlannedGraph {
  readonly atMs: number;
  readonly jobs: readonly PlannedJob[];
  readonly cancelAfterMs: number | undefined;
  /** When one of its jobs is retriggered with all that depend on it. */
  readonly retriggerAfterMs: number | undefined;
  /** A graph whose actions are the same shares executions with this graph; by index. */
  readonly sharesWith: number | undefined;
}

export interface PlannedWorker {
  readonly name: string;
  readonly sizeClass: number;
  readonly slots: number;
  /** It does not react to cancellations. */
  readonly isDeaf: boolean;
  readonly heartbeatMs: number;
  /** How long one of its claims waits for work. */
  readonly claimMs: number;
}

/**
 * What a scenario is for that others rarely contain. Others have all kinds of faults; these have one coincidence, and
 * as little else as possible.
 */
type Aim =
  /** Heartbeats arrive a little later than the end of the lease. */
  | "late heartbeats"
  /** A claim waits longer than the seed, and notifications between servers are lost. */
  | "long claims"
  /** A graph asks for work that another graph has just cancelled. */
  | "cancelled work";

/** The aim of each seed by its remainder; all others are random. */
const aims: readonly Aim[] = ["late heartbeats", "long claims", "cancelled work"];
const seedsForEachRound = 12;

/** Probabilities and intervals of faults. */
export interface PlannedFaults {
  readonly lostMessage: number;
  readonly doubledMessage: number;
  readonly slowMessage: number;
  readonly commitFault: number;
  readonly statementFault: number;
  readonly lostNotification: number;
  /** How often the database takes a part of a second for an answer. */
  readonly slowStatement: number;
  /** The mean time between crashes, stops and partitions, in ms. */
  readonly betweenMs: number;
}

/** Everything that a seed decides in advance. */
export interface Scenario {
  readonly seed: number;
  /** Undefined for a random one. */
  readonly aim: Aim | undefined;
  readonly servers: number;
  readonly workers: readonly PlannedWorker[];
  readonly requests: readonly PlannedRequest[];
  readonly behaviours: readonly Behaviour[];
  readonly graphs: readonly PlannedGraph[];
  readonly faults: PlannedFaults;
  /** How long faults happen, in ms. */
  readonly faultMs: number;
  /** Whether size classes are chosen: small ones first, a greater one after a failure or a long time. */
  readonly isSized: boolean;
  /** How far the clocks of servers are ahead of the true time, in ms. */
  readonly skewsMs: readonly number[];
  readonly times: Partial<QueueTimes>;
}

/** Shorter than usual, and in the usual proportions: a seed is a minute of the farm's time. */
const simulatedTimes = {
  leaseMs: 6_000,
  heartbeatMs: 1_500,
  rescueEveryMs: 1_500,
  graceMs: 6_000,
  cancelGraceMs: 5_000,
  pollMs: 4_000,
  sweepEveryMs: 6_000,
  hedgeEveryMs: 2_500,
  mostAttempts: 4,
} satisfies Partial<QueueTimes>;

const workerTimes = { heartbeatMs: 1_500, claimMs: 5_000 };

/** Within this time after the last fault all work must have ended, in ms. */
export const recoveryMs = 240_000;

export function scenarioOf(seed: number): Scenario {
  const random = new Random(seed);
  const aim = aims[seed % seedsForEachRound];
  return aim === undefined ? randomScenario(seed, random) : aimedScenario(seed, random, aim);
}

function randomScenario(seed: number, random: Random): Scenario {
  const hasGraphs = random.chance(0.4);
  const isSized = random.chance(0.35);
  const faultMs = random.integer(12_000, 25_000);
  const servers = random.integer(1, 2);
  const actions = random.integer(2, 5);
  const workers = Array.from({ length: random.integer(2, 3) }, (_, n) => ({
    name: `worker-${n}`,
    sizeClass: isSized && n % 2 === 1 ? 2 : 1,
    slots: random.integer(1, 3),
    isDeaf: random.chance(0.2),
    ...workerTimes,
  }));
  const behaviours = Array.from({ length: actions }, () => behaviourOf(random, isSized));
  return {
    seed,
    aim: undefined,
    servers,
    workers,
    behaviours,
    requests: hasGraphs
      ? []
      : Array.from({ length: random.integer(3, 7) }, () =>
          requestOf(random, behaviours, actions, faultMs),
        ),
    graphs: hasGraphs ? graphsOf(random, isSized, faultMs) : [],
    faults: {
      lostMessage: random.pick([0, 0.02, 0.1]),
      doubledMessage: random.pick([0, 0.05, 0.2]),
      slowMessage: random.pick([0, 0.05, 0.15]),
      commitFault: random.pick([0, 0.01, 0.05]),
      statementFault: random.pick([0, 0.002, 0.01]),
      lostNotification: random.pick([0, 0.1, 0.5]),
      slowStatement: random.pick([0.01, 0.01, 0.15]),
      betweenMs: random.pick([1_500, 3_000, 6_000]),
    },
    faultMs,
    isSized,
    skewsMs: Array.from({ length: servers }, () =>
      random.chance(0.3) ? random.integer(-40_000, 40_000) : random.integer(-50, 50),
    ),
    times: simulatedTimes,
  };
}

const noFaults: PlannedFaults = {
  lostMessage: 0,
  doubledMessage: 0,
  slowMessage: 0,
  commitFault: 0,
  statementFault: 0,
  lostNotification: 0,
  slowStatement: 0.01,
  betweenMs: 3_600_000,
};

function aimedScenario(seed: number, random: Random, aim: Aim): Scenario {
  const common = {
    seed,
    aim,
    servers: 2,
    faults: noFaults,
    faultMs: 30_000,
    isSized: false,
    skewsMs: [0, 0],
    times: simulatedTimes,
  };
  const worker = (n: number): PlannedWorker => ({
    name: `worker-${n}`,
    sizeClass: 1,
    slots: 2,
    isDeaf: false,
    ...workerTimes,
  });
  const succeeding = (durationMs: number): Behaviour => ({ durationMs, ending: "succeeds" });
  const requests = (count: number, latestMs: number): PlannedRequest[] =>
    Array.from({ length: count }, (_, action) => ({
      atMs: random.integer(0, latestMs),
      action,
      doNotCache: false,
      cancelAfterMs: undefined,
    }));
  switch (aim) {
    case "late heartbeats": {
      // Long enough that a lease that was lost too early is not taken for an error of the clocks.
      const times = { ...simulatedTimes, leaseMs: 12_000, rescueEveryMs: 700 };
      return {
        ...common,
        workers: [0, 1, 2].map((n) => ({
          ...worker(n),
          heartbeatMs: times.leaseMs + random.integer(50, 700),
        })),
        behaviours: Array.from({ length: 5 }, () => succeeding(random.integer(30_000, 40_000))),
        requests: requests(5, 4_000),
        graphs: [],
        faults: { ...noFaults, slowStatement: 0.2 },
        faultMs: 50_000,
        times,
      };
    }
    case "long claims":
      return {
        ...common,
        workers: [{ ...worker(0), slots: 1, claimMs: 2 * recoveryMs }],
        behaviours: Array.from({ length: 3 }, () => succeeding(random.integer(100, 1_500))),
        requests: requests(3, common.faultMs - 5_000),
        graphs: [],
        faults: { ...noFaults, lostNotification: 0.9 },
      };
    case "cancelled work": {
      const cancelAfterMs = random.integer(2_000, 4_000);
      const job: PlannedJob = {
        name: "job-0",
        kind: "command",
        needs: {},
        retries: 0,
        afterMs: 0,
        behaviour: succeeding(random.integer(12_000, 16_000)),
      };
      const graph = { jobs: [job], retriggerAfterMs: undefined };
      return {
        ...common,
        workers: [0, 1, 2].map((n) => ({ ...worker(n), isDeaf: true })),
        behaviours: [],
        requests: [],
        graphs: [
          { ...graph, atMs: 0, cancelAfterMs, sharesWith: undefined },
          {
            ...graph,
            atMs: cancelAfterMs + random.integer(0, simulatedTimes.cancelGraceMs),
            cancelAfterMs: undefined,
            sharesWith: 0,
          },
        ],
      };
    }
  }
}

function behaviourOf(random: Random, isSized: boolean): Behaviour {
  const durationMs = random.chance(0.25)
    ? random.integer(8_000, 16_000)
    : random.integer(100, 3_000);
  const ending = random.next();
  if (ending < 0.08) return { durationMs, ending: "machine fails" };
  if (ending < 0.18) return { durationMs, ending: "kills its worker" };
  if (ending < 0.3) return { durationMs, ending: "fails" };
  if (isSized && ending < 0.5) return { durationMs, ending: "fails on a small worker" };
  return { durationMs, ending: "succeeds" };
}

function requestOf(
  random: Random,
  behaviours: Behaviour[],
  actions: number,
  faultMs: number,
): PlannedRequest {
  const atMs = random.integer(0, faultMs * 0.7);
  if (!random.chance(0.3)) {
    const action = random.integer(0, actions - 1);
    return { atMs, action, doNotCache: random.chance(0.2), cancelAfterMs: undefined };
  }
  // Its client cancels it, so it has an action of its own: nobody else waits for that.
  const isEndless = random.chance(0.5);
  const behaviour = behaviourOf(random, false);
  behaviours.push(isEndless ? { ...behaviour, ending: "endless" } : behaviour);
  const cancelAfterMs = random.integer(0, 8_000);
  return { atMs, action: behaviours.length - 1, doNotCache: false, cancelAfterMs };
}

function graphsOf(random: Random, isSized: boolean, faultMs: number): PlannedGraph[] {
  const graphs: PlannedGraph[] = [];
  const count = random.chance(0.6) ? 2 : 1;
  for (let n = 0; n < count; n++) {
    const isShared = n > 0 && random.chance(0.7);
    const jobs = isShared ? (graphs[0]?.jobs ?? []) : jobsOf(random, isSized);
    graphs.push({
      atMs: random.integer(0, faultMs * 0.5),
      jobs,
      cancelAfterMs: random.chance(0.3) ? random.integer(500, 15_000) : undefined,
      retriggerAfterMs: random.chance(0.2) ? random.integer(4_000, 15_000) : undefined,
      sharesWith: isShared ? 0 : undefined,
    });
  }
  return graphs;
}

function jobsOf(random: Random, isSized: boolean): PlannedJob[] {
  const jobs: PlannedJob[] = [];
  const count = random.integer(2, 5);
  for (let n = 0; n < count; n++) {
    const drawn = random.next();
    const isFirst = n === 0;
    const kind =
      drawn < 0.62 || isFirst
        ? "command"
        : drawn < 0.7
          ? "join"
          : drawn < 0.8
            ? "timer"
            : drawn < 0.93
              ? "notify"
              : "dummy";
    const needs: Record<string, "success" | "end"> = {};
    for (let on = 0; on < n; on++)
      if (random.chance(0.45)) needs[`job-${on}`] = random.chance(0.75) ? "success" : "end";
    // What depends on nothing is not what is to be tried of these kinds.
    if (kind !== "command" && Object.keys(needs).length === 0) needs[`job-${n - 1}`] = "end";
    const behaviour = behaviourOf(random, isSized);
    jobs.push({
      name: `job-${n}`,
      kind,
      needs,
      retries: random.chance(0.2) ? 1 : 0,
      afterMs: random.integer(1_000, 12_000),
      behaviour:
        behaviour.ending === "machine fails" ? { ...behaviour, ending: "fails" } : behaviour,
    });
  }
  return jobs;
}
