import { between, exponential, pareto, type Random, weighted } from "#simulate/random.ts";
import type { Pool, Trace } from "#simulate/trace.ts";
import {
  classesWith,
  executionOf,
  GiB,
  hour,
  MiB,
  type Needs,
  needOf,
  noisy,
  parallel,
  poisson,
  randomOf,
  type Sharing,
  serial,
  traceOf,
  usualMemory,
  usualWork,
} from "./trace-of.ts";

/**
 * Ten kinds of traces that were not used to choose parameters of the strategies.
 *
 * They vary the parameters of an external review (one each), with new random figures for each seed. Parameters were
 * chosen with seeds from 101 on; `size-class-rows.ts` shows others.
 */
export const unseenTraces: Readonly<Record<string, (seed: number) => Trace>> = {
  /** The work of a run depends on its input: one of two sizes. */
  "two sizes of input": (seed) => {
    const random = randomOf(1, seed);
    return traceOf("two sizes of input", poisson(random, actions(random, 60, ofTwoSizes)));
  },
  /**
   * Work grows or shrinks by a factor of four, at once or gradually; for some actions, the parallel share changes, too.
   */
  drift: (seed) => {
    const random = randomOf(2, seed);
    return traceOf("drift", poisson(random, actions(random, 60, drifting)));
  },
  /** Rarely a run needs many times the usual memory. */
  "rare shortage of memory": (seed) => {
    const random = randomOf(3, seed);
    return traceOf("rare shortage of memory", poisson(random, actions(random, 60, rarelyHungry)));
  },
  /** Thousands of actions, each once or twice. */
  "seen once or twice": seenOnceOrTwice,
  /** Run times with a heavy tail, and a client that allows ten minutes. */
  "heavy tails": (seed) => {
    const random = randomOf(5, seed);
    return traceOf("heavy tails", poisson(random, actions(random, 60, heavyTailed)));
  },
  /** Hundreds of executions at once on a fixed number of workers. */
  "bursts on fixed workers": burstsOnFixedWorkers,
  /** Work for two to six CPUs. */
  "saturating work": (seed) => {
    const random = randomOf(7, seed);
    return traceOf("saturating work", poisson(random, actions(random, 60, saturating)));
  },
  /** Actions whose duration on the smallest class is close to the limit. */
  "edge of a limit": (seed) => {
    const random = randomOf(8, seed);
    return traceOf("edge of a limit", poisson(random, actions(random, 60, atALimit)));
  },
  /** Several runs with much parallel work alternate with several short serial runs. */
  "alternating regimes": (seed) => {
    const random = randomOf(9, seed);
    return traceOf("alternating regimes", poisson(random, actions(random, 60, alternating)));
  },
  /** Prices that grow less than the sizes. */
  "prices below proportion": (seed) => {
    const random = randomOf(10, seed);
    const exponent = between(random, 0.4, 0.7);
    return traceOf(
      "prices below proportion",
      poisson(random, actions(random, 60, ofAnyKind)),
      classesWith((sizeClass) => sizeClass ** exponent),
    );
  },
};

function actions(random: Random, count: number, make: (random: Random) => Needs): Needs[] {
  return Array.from({ length: count }, () => make(random));
}

function sharingOf(random: Random, parallelRate: number): Sharing {
  return random() < parallelRate ? parallel(random, 0.5, 0.97) : serial;
}

function ofTwoSizes(random: Random): Needs {
  const shortMs = usualWork(random) / 2;
  const longMs = shortMs * between(random, 5, 25);
  const longRate = between(random, 0.1, 0.4);
  const ofShort = sharingOf(random, 0.2);
  // Larger inputs are usually more parallel, and usually not in memory at once.
  const ofLong = random() < 0.4 ? parallel(random, 0.7, 0.97) : ofShort;
  const memory = usualMemory(random);
  const memoryOfLong = memory * between(random, 1, 3);
  return () =>
    random() < longRate
      ? needOf(noisy(random, longMs, 0.15), ofLong, noisy(random, memoryOfLong, 0.08))
      : needOf(noisy(random, shortMs, 0.15), ofShort, noisy(random, memory, 0.08));
}

function drifting(random: Random): Needs {
  const cpuMs = usualWork(random);
  const times = random() < 0.5 ? 4 : 1 / 4;
  const isGradual = random() < 0.5;
  const jumpsAt = between(random, 0.25, 0.75);
  const before = sharingOf(random, 0.3);
  const after = random() < 1 / 3 ? sharingOf(random, 0.5) : before;
  const memory = usualMemory(random);
  return (_number, progress) => {
    const isAfter = progress >= jumpsAt;
    const factor = isGradual ? times ** progress : isAfter ? times : 1;
    return needOf(
      noisy(random, cpuMs * factor, 0.12),
      isAfter ? after : before,
      noisy(random, memory, 0.05),
    );
  };
}

function rarelyHungry(random: Random): Needs {
  const cpuMs = usualWork(random);
  const sharing = sharingOf(random, 0.25);
  const isHungry = random() < 0.7;
  const usual = isHungry ? between(random, 0.3, 3) * GiB : usualMemory(random);
  const most = between(random, 9, 28) * GiB;
  const rate = isHungry ? between(random, 0.02, 0.1) : 0;
  return () =>
    needOf(
      noisy(random, cpuMs, 0.12),
      sharing,
      random() < rate
        ? Math.min(31 * GiB, noisy(random, most, 0.1))
        : Math.min(3.6 * GiB, noisy(random, usual, 0.06)),
    );
}

function seenOnceOrTwice(seed: number): Trace {
  const random = randomOf(4, seed);
  // Actions of one target are similar; their properties are drawn for the target.
  const targets = Array.from({ length: 1_300 }, () => ({
    cpuMs: pareto(random, 1_000, 1, 120_000),
    sharing: sharingOf(random, 0.2),
    memory: random() < 0.05 ? between(random, 3, 20) * GiB : usualMemory(random),
  }));
  const executions = Array.from({ length: 3_900 }, (_, action) => {
    const target = targets[Math.floor(action / 3)] as (typeof targets)[number];
    const cpuMs = noisy(random, target.cpuMs, 0.4);
    const memory = Math.min(31 * GiB, noisy(random, target.memory, 0.15));
    const first = random() * hour * 1.5;
    const times = random() < 0.5 ? 1 : 2;
    return Array.from({ length: times }, (_, i) =>
      executionOf(
        action,
        first + i * exponential(random, hour / 4),
        needOf(noisy(random, cpuMs, 0.1), target.sharing, memory),
      ),
    );
  }).flat();
  return traceOf("seen once or twice", executions);
}

function heavyTailed(random: Random): Needs {
  const leastMs = usualWork(random) / 3;
  const shape = between(random, 0.9, 1.6);
  const sharing = sharingOf(random, 0.4);
  const memory = usualMemory(random);
  return () => ({
    ...needOf(pareto(random, leastMs, shape, hour), sharing, noisy(random, memory, 0.1)),
    timeoutMs: 600_000,
  });
}

/** The number of CPUs of each class; half of them would be enough for the mean load. */
const fixedWorkers: Readonly<Record<number, number>> = { 1: 24, 2: 8, 4: 4, 8: 2 };

function burstsOnFixedWorkers(seed: number): Trace {
  const random = randomOf(6, seed);
  const all = actions(random, 150, ofAnyKind);
  const executions = [];
  const numbers = all.map(() => 0);
  for (let at = 0; executions.length < 6_000; at += exponential(random, 240_000)) {
    const size = Math.round(between(random, 150, 450));
    for (let i = 0; i < size && executions.length < 6_000; i++) {
      const place = Math.floor(random() * all.length);
      const number = numbers[place] ?? 0;
      numbers[place] = number + 1;
      const needs = all[place] as Needs;
      executions.push(executionOf(place, at + random() * 2_000, needs(number, 0)));
    }
  }
  const pool = (sizeClass: number): Pool => ({
    kind: "fixed",
    workers: fixedWorkers[sizeClass] ?? 1,
  });
  return traceOf("bursts on fixed workers", executions, classesWith(undefined, pool));
}

function saturating(random: Random): Needs {
  const cpuMs = usualWork(random) * 3;
  const sharing: Sharing = {
    share: between(random, 0.4, 0.98),
    width: weighted(random, [
      [3, 2],
      [3, 3],
      [3, 4],
      [1, 6],
    ]),
  };
  const memory = usualMemory(random);
  return () => needOf(noisy(random, cpuMs, 0.15), sharing, noisy(random, memory, 0.06));
}

function atALimit(random: Random): Needs {
  const limitMs = between(random, 30_000, 300_000);
  // On the smallest class some executions end in time, others do not.
  const cpuMs = limitMs * between(random, 0.8, 1.3);
  const sharing = parallel(random, 0.5, 0.95);
  const memory = usualMemory(random);
  const isOwn = random() < 0.5;
  return () => ({
    ...needOf(noisy(random, cpuMs, 0.08), sharing, noisy(random, memory, 0.06)),
    ...(isOwn ? { ownTimeoutMs: limitMs } : { timeoutMs: limitMs }),
  });
}

function alternating(random: Random): Needs {
  const lightMs = usualWork(random) / 2;
  const heavyMs = lightMs * between(random, 4, 20);
  const ofHeavy = parallel(random, 0.8, 0.98);
  const heavyRuns = 1 + Math.floor(random() * 3);
  const lightRuns = 2 + Math.floor(random() * 3);
  const memory = usualMemory(random);
  return (number) =>
    number % (heavyRuns + lightRuns) < heavyRuns
      ? needOf(noisy(random, heavyMs, 0.1), ofHeavy, noisy(random, 2 * memory, 0.06))
      : needOf(noisy(random, lightMs, 0.1), serial, noisy(random, memory, 0.06));
}

function ofAnyKind(random: Random): Needs {
  const cpuMs = usualWork(random);
  const sharing = sharingOf(random, 0.4);
  const memory = random() < 0.1 ? between(random, 3, 24) * GiB : usualMemory(random);
  const least = 20 * MiB;
  return () =>
    needOf(
      noisy(random, cpuMs, 0.15),
      sharing,
      Math.max(least, Math.min(31 * GiB, noisy(random, memory, 0.06))),
    );
}
