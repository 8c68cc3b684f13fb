import { randomBytes } from "node:crypto";
import { digestOf } from "#cas/digest-of.ts";
import { unzstdWhole, zstdWhole } from "#cas/zstd/zstd-streams.ts";
import { canonicalJson } from "#core/canonical-json.ts";
import { definitionsFrom } from "#definitions/definitions-from.fixture.ts";
import { TemplateEvaluator } from "#definitions/template-evaluator.ts";
import { plan } from "#graphs/plan.ts";

/**
 * One hot path of Grange, repeated for about a second: `tsx bench/hot-paths.ts NAME`. Prints one line of JSON. The
 * suite `.grange/bench/grange.yml` runs it on every commit.
 */

/** Half of it repeats, as in the output of compilers. */
const half = randomBytes(512 * 1024);
const blob = Buffer.concat([half, Buffer.alloc(half.length, half.subarray(0, 1_000))]);

const paths: Readonly<Record<string, () => Promise<() => unknown>>> = {
  digests: async () => () => digestOf(blob),
  zstd: async () => async () => (await zstdWhole(blob)).length,
  unzstd: async () => {
    const packed = await zstdWhole(blob);
    return async () => (await unzstdWhole(packed, blob.length)).length;
  },
  "canonical-json": async () => {
    const value = Array.from({ length: 2_000 }, (_, i) => ({
      name: `job ${i}`,
      needs: [i],
      limits: { cpus: 1 },
    }));
    return () => canonicalJson(value);
  },
  planning: async () => {
    const jobs = Array.from({ length: 500 }, (_, i) => [
      `job-${i}`,
      { commands: `echo ${i}`, inputs: [], ...(i === 0 ? {} : { needs: [`job-${i >> 1}`] }) },
    ]);
    const evaluator = new TemplateEvaluator();
    const definitions = await definitionsFrom(
      evaluator,
      JSON.stringify({ version: 1, jobs: Object.fromEntries(jobs) }),
    );
    await evaluator.stop();
    return async () => (await plan(definitions)).catalog.entries.length;
  },
};

const name = process.argv[2] ?? "";
const path = Object.hasOwn(paths, name) ? paths[name] : undefined;
if (path === undefined) {
  process.stderr.write(`name one of ${Object.keys(paths).join(", ")}\n`);
  process.exit(2);
}
const step = await path();
for (let warm = 0; warm < 3; warm++) await step();
const began = process.cpuUsage();
const seconds = () => {
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1e6;
};
let rounds = 0;
while (seconds() < 1) {
  await step();
  rounds++;
}
process.stdout.write(
  `${JSON.stringify({ path: name, rounds, secondsPerRound: seconds() / rounds })}\n`,
);
