import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { type Farm, startFarm } from "../support/farm.ts";
import { type OtherNetwork, otherNetwork } from "../support/network-namespace.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";
import { checkHistory, type Violation } from "./history/history.ts";
import { jobsEach, observedLoad, untilAnswered } from "./history/observed-load.ts";

/** How a partition separates a worker from its server. */
const ways = ["from the server", "from the worker", "both", "flapping"] as const;
type Way = (typeof ways)[number];

interface RandomCuts {
  readonly violations: readonly Violation[];
  readonly jobs: number;
  readonly cuts: number;
  /** From each healing until every worker that was cut off has run a new job, in ms. */
  readonly progressMs: readonly number[];
}

/** From less than a heartbeat to more than a lease and the time for others to take over. */
const cutMs = { min: 1_000, max: 20_000 };
const flapMs = { min: 100, max: 2_000 };

/** A job for each worker, which only that one can run, so that each shows that it works again. */
const probes = `
version: 1
parameters:
  round: { type: string, default: "0" }
jobs:
  a: { commands: "true", inputs: [], environment: { ROUND: "\${parameters.round}" }, platform: { cable: a } }
  b: { commands: "true", inputs: [], environment: { ROUND: "\${parameters.round}" }, platform: { cable: b } }
`;

/**
 * Cuts workers off from their server at random while graphs run, and judges what clients saw.
 *
 * Two workers, each in a network namespace with a cable of its own. The seed decides which cables are cut, in which
 * direction, and for how long. Needs root.
 */
export async function cutAtRandom(options: {
  readonly cuts: number;
  /** Graphs that are submitted before each cut. */
  readonly graphsEach: number;
  readonly seed: number;
}): Promise<RandomCuts> {
  const cables = { a: await otherNetwork(), b: await otherNetwork() };
  const repository = await sampleRepository({ ".grange/farm.yml": probes });
  const farm = await startFarm({
    workers: 0,
    env: { GRANGE_HOST: "0.0.0.0", GRANGE_ALLOW_OPEN: "1" },
  });
  const load = await observedLoad(farm);
  try {
    for (const [name, cable] of Object.entries(cables))
      farm.startWorker({
        name,
        server: farm.url.replace(/\/\/[^:/]+/, `//${cable.address}`),
        within: cable.within,
        env: { GRANGE_WORKER_PLATFORM: `cable=${name}` },
      });
    const progressMs: number[] = [];
    const plan = fc.sample(partition, { numRuns: options.cuts, seed: options.seed });
    for (const [n, { cut, way, ms, flaps }] of plan.entries()) {
      await load.submitMany(options.graphsEach);
      await Promise.all(
        cut.map(async (name) => {
          const cable = cables[name];
          if (way === "flapping") await flap(cable, ms, flaps);
          else await cutFor(cable, way, ms);
        }),
      );
      progressMs.push(await untilAllWork(farm, repository, `${options.seed} ${n}`));
    }
    for (const { id } of load.graphs) await load.readToItsEnd(id);
    return {
      violations: checkHistory(load.history),
      jobs: load.graphs.length * jobsEach,
      cuts: options.cuts,
      progressMs,
    };
  } finally {
    for (const cable of Object.values(cables)) await cable.mend();
    await farm.stop();
    await load.remove();
    await repository.remove();
    for (const cable of Object.values(cables)) await cable.remove();
  }
}

const partition = fc.record({
  cut: fc.constantFrom(["a"] as const, ["b"] as const, ["a", "b"] as const),
  way: fc.constantFrom(...ways),
  ms: fc.integer(cutMs),
  flaps: fc.array(
    fc.record({ way: fc.constantFrom(...ways.slice(0, 3)), ms: fc.integer(flapMs) }),
    {
      minLength: 3,
      maxLength: 8,
    },
  ),
});

async function cutFor(cable: OtherNetwork, way: Exclude<Way, "flapping">, ms: number) {
  switch (way) {
    case "from the server":
      await cable.loseFrom("here");
      break;
    case "from the worker":
      await cable.loseFrom("there");
      break;
    case "both":
      await cable.cut();
      break;
  }
  await delay(ms);
  await cable.mend();
}

/** Cuts and heals again and again, for `ms` in total. */
async function flap(
  cable: OtherNetwork,
  ms: number,
  flaps: readonly { readonly way: Way; readonly ms: number }[],
): Promise<void> {
  const until = performance.now() + ms;
  for (let n = 0; performance.now() < until; n++) {
    const { way, ms: cutFlapMs } = flaps[n % flaps.length] ?? { way: "both", ms: flapMs.min };
    await cutFor(cable, way === "flapping" ? "both" : way, cutFlapMs);
    await delay(cutFlapMs);
  }
}

/** Returns the time until each worker has run a new job, in ms. */
async function untilAllWork(
  farm: Farm,
  repository: SampleRepository,
  round: string,
): Promise<number> {
  const healed = performance.now();
  const request = { repository: repository.path, parameters: { round }, id: crypto.randomUUID() };
  const { id } = await untilAnswered(() => farm.submit(request));
  const { state } = await farm.untilOver(id);
  if (state !== "succeeded") throw new Error(`the probe of round ${round} ended ${state}`);
  return performance.now() - healed;
}
