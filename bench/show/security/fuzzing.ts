import { randomInt } from "node:crypto";
import { fuzz, inputsOf } from "../../../test/hostile/fuzz/fuzz.ts";
import { protocolTargets } from "../../../test/hostile/fuzz/protocol-targets.ts";
import { textTargets } from "../../../test/hostile/fuzz/text-targets.ts";
import { atLeast, atMost, type Measurement, type Row } from "../row.ts";

/** Inputs for each parser: in all more than 10⁵, and with `--long` 10⁷. */
const inputsOfEach = { usual: 3_200, long: 320_000 };

/** How often inputs of twice the size are tried for their time. */
const sizes = [1, 2, 4, 8];

export const fuzzing: Measurement = { title: "fuzzing", long: false, measure: () => rows("usual") };

export const longFuzzing: Measurement = {
  title: "fuzzing, 10⁷ inputs",
  long: true,
  measure: () => rows("long"),
};

async function rows(length: keyof typeof inputsOfEach): Promise<Row[]> {
  const seed = randomInt(2 ** 31);
  const targets = [...(await protocolTargets()), ...textTargets()];
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
    await growth(),
  ];
}

/** The greatest growth of time when a piece of a valid input is repeated twice as often: 2 is linear, 4 quadratic. */
async function growth(): Promise<Row> {
  const targets = [...(await protocolTargets()), ...textTargets()];
  let worst = { factor: 0, name: "", piece: "" };
  for (const target of targets) {
    for (const piece of target.words ?? []) {
      const unit = Buffer.from(piece);
      const times: number[] = [];
      for (const size of sizes) {
        const input = Buffer.alloc(size * 8_192, unit);
        times.push(await leastMs(() => target.read(input)));
      }
      const [, , before = 0, after = 0] = times;
      // Below, the clock and the collector of garbage say more than the parser.
      if (after < 5) continue;
      const factor = after / before;
      if (factor > worst.factor) worst = { factor, name: target.name, piece: unit.toString() };
    }
  }
  return atMost(
    "fuzzing: time of twice the input",
    worst.factor,
    3,
    "×",
    `each piece of each format repeated to 32 and 64 KiB, the least of three runs; worst: ${worst.name}, ${JSON.stringify(worst.piece)}`,
  );
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
