import {
  between,
  exponential,
  logNormal,
  normal,
  pareto,
  type Random,
  weighted,
} from "../random.ts";
import type { TraceExecution } from "../trace.ts";

const MiB = 2 ** 20;
const hour = 3_600_000;

/** The common properties of the executions of one action. */
export interface Action {
  readonly action: string;
  readonly target: string;
  readonly mnemonic: string;
  /** The typical value; each execution differs slightly. */
  readonly cpuMs: number;
  /** The share of the CPU time that can run in parallel. */
  readonly parallelShare: number;
  readonly width: number;
  readonly peakMemoryBytes: number;
  readonly timeoutMs: number;
  readonly ownTimeoutMs: number | undefined;
  /** How much executions differ from each other: sigma of a log-normal. */
  readonly noise: number;
  /** How often it occurs, relative to others. */
  readonly popularity: number;
}

/** A kind of rule, with the actions of each of its targets. */
type Rule = (random: Random, target: string) => Action[];

/** A code base: targets of several kinds, each with a few similar actions. */
export function codeBase(random: Random, targets: number): Action[] {
  const rules: readonly (readonly [number, Rule])[] = [
    [35, cppLibrary],
    [15, javaLibrary],
    [10, generated],
    [8, cppBinary],
    [7, rustCrate],
    [25, tests],
  ];
  return Array.from({ length: targets }, (_, index) => {
    const rule = weighted(random, rules);
    // How often a target is built: a few change all day, most rarely.
    const popularity = pareto(random, 1, 1.1, 25);
    return rule(random, `//pkg/${index}`).map((each) => ({ ...each, popularity }));
  }).flat();
}

interface Shape {
  readonly mnemonic: string;
  readonly cpuMs: number;
  readonly memoryMiB: number;
  readonly parallelShare?: number;
  readonly width?: number;
  readonly ownTimeoutMs?: number;
}

function actionsOf(
  random: Random,
  target: string,
  count: number,
  shape: (index: number) => Shape,
): Action[] {
  return Array.from({ length: count }, (_, index) => {
    const { mnemonic, cpuMs, memoryMiB, parallelShare = 0, width = 1, ownTimeoutMs } = shape(index);
    return {
      action: `${target} ${mnemonic} ${index}`,
      target,
      mnemonic,
      cpuMs,
      parallelShare,
      width,
      peakMemoryBytes: memoryMiB * MiB,
      timeoutMs: mnemonic === "TestRunner" ? (ownTimeoutMs ?? hour) : hour,
      ownTimeoutMs: undefined,
      noise: between(random, 0.08, 0.22),
      popularity: 1,
    };
  });
}

/** Compilers of C++ use one thread. Files of one target include mostly the same headers. */
function cppLibrary(random: Random, target: string): Action[] {
  const typicalMs = pareto(random, 2_500, 1.3, 60_000);
  const typicalMiB = pareto(random, 60, 1.3, 1_500);
  return actionsOf(random, target, 1 + Math.floor(exponential(random, 3)), () => ({
    mnemonic: "CppCompile",
    cpuMs: logNormal(random, typicalMs, 0.5),
    memoryMiB: logNormal(random, typicalMiB, 0.3),
  }));
}

/** javac and its related programs are slightly parallel. */
function javaLibrary(random: Random, target: string): Action[] {
  return actionsOf(random, target, 1, () => ({
    mnemonic: "Javac",
    cpuMs: pareto(random, 6_000, 1.4, 120_000),
    memoryMiB: logNormal(random, 350, 0.4),
    parallelShare: between(random, 0.3, 0.6),
    width: 3,
  }));
}

function generated(random: Random, target: string): Action[] {
  return actionsOf(random, target, 1 + Math.floor(exponential(random, 1)), () => ({
    mnemonic: "Genrule",
    cpuMs: pareto(random, 300, 0.9, 60_000),
    memoryMiB: pareto(random, 20, 1.2, 2_000),
  }));
}

/** A linker runs most of its work in parallel; a few outputs are large and need gigabytes. */
function cppBinary(random: Random, target: string): Action[] {
  const link = pareto(random, 3_000, 0.9, 300_000);
  return [
    ...actionsOf(random, target, 1, () => ({
      mnemonic: "CppLink",
      cpuMs: link,
      memoryMiB: logNormal(random, 150 + link / 25, 0.3),
      parallelShare: between(random, 0.4, 0.8),
      width: 8,
    })),
    ...cppLibrary(random, target),
  ];
}

/** rustc's front end has one thread, its code generation up to 16. */
function rustCrate(random: Random, target: string): Action[] {
  return actionsOf(random, target, 1, () => ({
    mnemonic: "Rustc",
    cpuMs: pareto(random, 10_000, 1.2, 400_000),
    memoryMiB: logNormal(random, 700, 0.6),
    parallelShare: between(random, 0.35, 0.75),
    width: 16,
  }));
}

/** Any kind: most are short and have one thread; some are parallel, some start whole databases. Shards are similar. */
function tests(random: Random, target: string): Action[] {
  const shards = random() < 0.15 ? 2 + Math.floor(random() * 7) : 1;
  const typicalMs = pareto(random, 3_000, 0.95, 600_000);
  const typicalMiB = pareto(random, 50, 1, 12_000);
  const isParallel = random() < 0.2;
  const parallelShare = isParallel ? between(random, 0.5, 0.97) : 0;
  const width = isParallel
    ? weighted(random, [
        [3, 2],
        [4, 4],
        [3, 8],
        [1, 32],
      ])
    : 1;
  return actionsOf(random, target, shards, () => ({
    mnemonic: "TestRunner",
    cpuMs: logNormal(random, typicalMs, 0.35),
    memoryMiB: logNormal(random, typicalMiB, 0.15),
    parallelShare,
    width,
  }));
}

/** Returns one execution of an action. */
export function executionOf(random: Random, action: Action, at: number): TraceExecution {
  const { mnemonic, target, cpuMs, parallelShare, width, noise } = action;
  const thisCpuMs = Math.max(10, cpuMs * Math.exp(noise * normal(random)));
  const memory = action.peakMemoryBytes * Math.exp(0.5 * noise * normal(random));
  return {
    at: Math.round(at),
    keys: { action: action.action, target, mnemonic, platform: "linux" },
    serialMs: Math.round(thisCpuMs * (1 - parallelShare)),
    parallelMs: Math.round(thisCpuMs * parallelShare),
    width,
    peakMemoryBytes: Math.round(memory),
    timeoutMs: action.timeoutMs,
    ...(action.ownTimeoutMs !== undefined && { ownTimeoutMs: action.ownTimeoutMs }),
    flakyRate: 0,
  };
}
