import { parseArgs } from "node:util";
import type { Violation } from "../faults/history/history.ts";
import { type PlantedBug, plantedBugs } from "./planted-bugs.ts";
import { scenarioOf } from "./scenario.ts";
import { openSimulator, type Simulator } from "./simulation.ts";

/** What came of a planted bug: a line of this process's output. */
export interface Search {
  readonly bug: string;
  /** The seed that shows it; undefined when none did. */
  readonly seed: number | undefined;
  readonly tried: number;
  readonly violation: Violation | undefined;
  /** Parts of the planted bug that occur in no statement of the seeds: the bug is not there. */
  readonly absent: readonly string[];
}

const usage = `npx tsx test/simulation/main.ts [--first SEED] [--from SEED] [--count SEEDS] [--bug NAME] [--trace]
  runs seeds, one after the other, --first before the others; writes a line of JSON for each, and with --trace all that happens
npx tsx test/simulation/main.ts --search [--search-from SEED] [--part N/OF] [--most SEEDS] [--bug NAME]
  looks for each planted bug, or for one, in at most so many seeds; with --count, it runs seeds first
`;

/** One process of a simulation. */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      first: { type: "string" },
      from: { type: "string", default: "1" },
      count: { type: "string" },
      bug: { type: "string" },
      trace: { type: "boolean", default: false },
      search: { type: "boolean", default: false },
      "search-from": { type: "string" },
      part: { type: "string", default: "0/1" },
      most: { type: "string", default: "60" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const bug = plantedBugs.find(({ name }) => name === values.bug);
  if (values.bug !== undefined && bug === undefined) {
    const known = plantedBugs.map(({ name }) => name).join(", ");
    process.stderr.write(`--bug ${values.bug}: there is no such planted bug; there are ${known}\n`);
    return 2;
  }
  const write = (line: string) => process.stdout.write(`${line}\n`);
  const simulator = await openSimulator();
  const from = Number(values.from);
  const count = Number(values.count ?? (values.search ? 0 : 1));
  // A bug is planted in seeds only when there is no search.
  const planted = values.search ? undefined : bug;
  const seeds = Array.from({ length: count }, (_, at) => from + at);
  if (values.first !== undefined) seeds.unshift(Number(values.first));
  for (const seed of seeds)
    write(JSON.stringify(await simulator.run(seed, planted, values.trace ? write : undefined)));
  if (values.search) {
    const searchFrom = Number(values["search-from"] ?? from);
    const [part = 0, of = 1] = values.part.split("/").map(Number);
    const wanted = bug === undefined ? plantedBugs.filter((_, n) => n % of === part) : [bug];
    for (const each of wanted)
      write(JSON.stringify(await search(simulator, each, searchFrom, Number(values.most))));
  }
  return 0;
}

/** Tries seeds in which the bug can show, until one shows it. */
async function search(
  simulator: Simulator,
  bug: PlantedBug,
  from: number,
  most: number,
): Promise<Search> {
  const changed = (bug.statements ?? []).map(() => 0);
  let tried = 0;
  let found: { seed: number; violation: Violation | undefined } | undefined;
  for (let seed = from; tried < most && found === undefined; seed++) {
    if (bug.canShowIn?.(scenarioOf(seed)) === false) continue;
    tried++;
    const run = await simulator.run(seed, bug);
    run.changed.forEach((times, at) => (changed[at] = (changed[at] ?? 0) + times));
    // What the farm itself breaks in this seed does not show the bug.
    if (run.violations.length > 0 && (await simulator.run(seed)).violations.length === 0)
      found = { seed, violation: run.violations[0] };
  }
  const absent = (bug.statements ?? []).flatMap(([part], at) =>
    changed[at] === 0 ? [String(part)] : [],
  );
  return { bug: bug.name, seed: found?.seed, tried, violation: found?.violation, absent };
}

// Real timers that began before the host was replaced can no longer be ended.
process.exit(await main());
