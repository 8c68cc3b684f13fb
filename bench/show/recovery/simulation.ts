import { again, runSeeds, searchBugs } from "../../../test/simulation/run-simulation.ts";
import { atLeast, atMost, exactly, type Measurement, type Row } from "../row.ts";

export const simulation: Measurement = {
  title: "simulation",
  long: false,
  measure: () => measureSeeds(2_000, 120),
};

export const longSimulation: Measurement = {
  title: "simulation, 100,000 seeds",
  long: true,
  measure: () => measureSeeds(100_000, undefined),
};

export const plantedBugsFound: Measurement = {
  title: "planted bugs",
  long: false,
  async measure() {
    const searches = await searchBugs(100);
    const found = searches.filter(({ seed, absent }) => seed !== undefined && absent.length === 0);
    const missed = searches.filter((search) => !found.includes(search));
    const how =
      `each of ${searches.length} known bugs of such systems is planted by a change of the farm's statements or hooks, ` +
      `and looked for in at most 100 seeds; not found: ${missed.map(({ bug }) => bug).join(", ") || "none"}`;
    const least = Math.ceil(searches.length * 0.95);
    return [atLeast(`planted bugs found, of ${searches.length}`, found.length, least, "", how)];
  },
};

async function measureSeeds(count: number, mostSeconds: number | undefined): Promise<Row[]> {
  const from = 1 + Math.floor(Math.random() * 2 ** 31);
  const begun = performance.now();
  const runs = await runSeeds(from, count);
  const seconds = (performance.now() - begun) / 1_000;
  const broken = runs.filter(({ violations }) => violations.length > 0);
  const [first] = broken;
  const simulatedHours = runs.reduce((sum, run) => sum + run.simulatedMs, 0) / 3_600_000;
  const what =
    first === undefined
      ? `the rate of seeds that break one is below ${(3 / count).toPrecision(2)} with 95 % confidence`
      : `the first: ${first.violations[0]?.promise}: ${first.violations[0]?.what}; again with ${again(first.seed)}`;
  const how =
    `${count} seeds from ${from} in two processes: ${(count / seconds).toFixed(1)} seeds/s, ` +
    `${simulatedHours.toFixed(1)} hours of the farm's time; ${what}`;
  return [
    exactly(`seeds of ${count} that break a promise`, broken.length, 0, "", how),
    ...(mostSeconds === undefined
      ? []
      : [atMost(`time for ${count} seeds`, seconds, mostSeconds, "s", "the same run")]),
  ];
}
