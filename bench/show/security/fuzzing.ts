import { randomInt } from "node:crypto";
import { allTargets } from "../../../test/hostile/fuzz/all-targets.ts";
import { type FuzzTarget, fuzz, inputsOf } from "../../../test/hostile/fuzz/fuzz.ts";
import { atLeast, atMost, type Measurement, type Row } from "../row.ts";

/** Inputs for each parser: in all more than 10⁵, and with `--long` 10⁷. */
const inputsOfEach = { usual: 3_200, long: 320_000 };

/** The sizes that are compared, in bytes: below, the clock and the collector of garbage say more than the parser. */
const [small, large] = [32_768, 65_536];
/** The greatest accepted growth of time when the input doubles. */
const mostGrowth = 3;
/** A pair above it is measured again this many times: other processes of the machine slow one of two sizes down. */
const again = 5;

export const fuzzing: Measurement = { title: "fuzzing", long: false, measure: () => rows("usual") };

export const longFuzzing: Measurement = {
  title: "fuzzing, 10⁷ inputs",
  long: true,
  measure: () => rows("long"),
};

async function rows(length: keyof typeof inputsOfEach): Promise<Row[]> {
  const seed = randomInt(2 ** 31);
  const targets = await allTargets();
  let inputs = 0;
  const crashes: string[] = [];
  let slowest = { name: "", ms: 0, input: "" };
  for (const target of targets) {
    const most = inputsOfEach[length];
    const fuzzed = await fuzz(target, seed, most);
    inputs += inputsOf(target, most);
    crashes.push(
      ...fuzzed.crashes.map(({ input, reason }) => `${target.name}: ${reason}: ${input}`),
    );
    if (fuzzed.slowest.ms > slowest.ms) slowest = { name: target.name, ...fuzzed.slowest };
  }
  const how = `${targets.length} parsers, seed ${seed}; inputs of at most 4 KiB made from valid ones`;
  const found = crashes.length === 0 ? "" : `; ${crashes.slice(0, 3).join("; ")}`;
  const growthRow = await growth(targets);
  for (const target of targets) await target.end?.();
  return [
    atLeast("fuzzing: inputs", inputs, length === "long" ? 1e7 : 1e5, "", how),
    atMost("fuzzing: crashes", crashes.length, 0, "", `${how}${found}`),
    atMost(
      "fuzzing: slowest input",
      slowest.ms,
      1_000,
      "ms",
      `${how}; it was one of ${slowest.name}, in a process that may have been interrupted`,
    ),
    growthRow,
  ];
}

/** The greatest growth of time when a piece of a valid input is repeated twice as often: 2 is linear, 4 quadratic. */
async function growth(targets: readonly FuzzTarget[]): Promise<Row> {
  let worst = { factor: 0, name: "", piece: "" };
  for (const target of targets) {
    for (const piece of target.words ?? []) {
      const unit = Buffer.from(piece);
      const factor = await growthOf((size) => target.read(Buffer.alloc(size, unit)));
      if (factor > worst.factor) worst = { factor, name: target.name, piece: unit.toString() };
    }
  }
  return atMost(
    "fuzzing: time of twice the input",
    worst.factor,
    mostGrowth,
    "×",
    `each piece of each format repeated to 32 and 64 KiB, the least of three runs; a pair above ${mostGrowth} × is measured ${again} more times, by turns, and its least times count; worst: ${worst.name}, ${JSON.stringify(worst.piece)}`,
  );
}

/** Returns the time for the large size as a multiple of that for the small one; 0 when the large one takes < 5 ms. */
async function growthOf(read: (size: number) => unknown): Promise<number> {
  let before = await leastMs(() => read(small));
  let after = await leastMs(() => read(large));
  for (let n = 0; n < again && after >= 5 && after > mostGrowth * before; n++) {
    before = Math.min(before, await leastMs(() => read(small)));
    after = Math.min(after, await leastMs(() => read(large)));
  }
  return after < 5 ? 0 : after / before;
}

async function leastMs(read: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3; run++) {
    const before = performance.now();
    try {
      await read();
    } catch {
      // A refusal takes time, too.
    }
    least = Math.min(least, performance.now() - before);
  }
  return least;
}
