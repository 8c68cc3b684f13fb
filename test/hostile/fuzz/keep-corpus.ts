/**
 * Searches for inputs that reach further into the parsers than their valid inputs, and keeps the best in `corpus/`:
 *
 *     npx tsx test/hostile/fuzz/keep-corpus.ts [--inputs N] [--seed N]
 *
 * Exits with 1 when an input crashes a parser.
 */
import { parseArgs } from "node:util";
import { targetsWithoutCorpus } from "./all-targets.ts";
import { keepInputs } from "./corpus.ts";
import { fuzz } from "./fuzz.ts";

/** A few for each parser, and short: the gate reads all of them each time. */
const mostKept = 16;
const mostBytes = 1_024;

const { values } = parseArgs({
  options: {
    inputs: { type: "string", default: "100000" },
    seed: { type: "string", default: "1" },
  },
});

for (const target of await targetsWithoutCorpus()) {
  const { found, crashes } = await fuzz(target, Number(values.seed), Number(values.inputs));
  // What the parser accepts has passed all of its checks.
  const best = found
    .filter(({ input }) => input.byteLength <= mostBytes)
    .toSorted(
      (a, b) =>
        Number(b.isAccepted) - Number(a.isAccepted) || a.input.byteLength - b.input.byteLength,
    )
    .slice(0, mostKept);
  keepInputs(
    target.name,
    best.map(({ input }) => input),
  );
  process.stdout.write(`${target.name}: ${found.length} outcomes, ${best.length} inputs kept\n`);
  for (const { input, reason } of crashes) {
    process.stdout.write(`${target.name}: ${reason}: ${input}\n`);
    process.exitCode = 1;
  }
  await target.end?.();
}
