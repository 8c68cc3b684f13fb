import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compareArtifacts } from "#comparison/compare-artifacts.ts";
import { relativeRange, scatterFactor } from "#comparison/judge-counts.ts";
import type { MeasuredCase } from "#comparison/measured.ts";
import { Fault } from "#core/fault.ts";
import type { TestCase } from "#core/test-case.ts";
import { measureTest } from "#measuring/measure-test.ts";
import type { MeasuredIteration } from "#measuring/measured-iteration.ts";
import { type Random, seededRandom } from "#statistics/seeded-random.ts";
import { metricsOf } from "#suites/metrics-of.ts";
import { Suite } from "#suites/suite.ts";
import { atLeast, exactly, forInformation, type Measurement, type Row } from "../../row.ts";
import { findProgram } from "../find-program.ts";
import { type CountedProgram, countedPrograms, programsIn } from "./counted-programs.ts";
import { openCountingPlace } from "./counting-place.ts";

/** The number of comparisons of equal artifacts, for each program. */
const comparisons = 50;
/** The runs from which these are drawn: each comparison uses a random ten of them. */
const recordedRuns = 30;
/** The number of changes of half a per cent, for each program. */
const changes = 5;
/** This many programs must be quiet: then twenty changes are searched in them. */
const leastQuiet = 4;
const plantedShare = 0.005;
const plantedRuns = 10;
/** The loop iterations by which the loop's cost is measured. */
const calibrated = 200;
/** Another process on this machine may fill it meanwhile; then the run is ended, and reports this. */
const mostTries = 5;

const suite = Suite.parse({
  suite: "counts",
  artifacts: { from: "nowhere" },
  backends: {
    sh: {
      tool: ["{artifact}/run"],
      instructions: { without: "cachegrind", simulator: ["--trace-children=yes"] },
    },
  },
  targets: { here: {} },
  metrics: {
    instructions: {
      take: { from: "instructions" },
      nature: "deterministic",
      unit: "instructions",
    },
  },
  headline: "instructions",
  compile: {
    command: ["{tool}"],
    benchmarks: Object.fromEntries(countedPrograms.map(({ name }) => [name, { args: [name] }])),
  },
});

/** As many as in a suite. */
const sides = suite.iterations.counted;

/** The results of counted runs. */
type Counts = readonly number[];

export const countsLong: Measurement = {
  title: "counts of six programs, 50 comparisons of equal artifacts each",
  long: true,
  async measure() {
    const missing = countedPrograms.filter(({ needs }) => findProgram(needs) === undefined);
    if (missing.length > 0)
      throw new Error(`install ${missing.map(({ needs }) => needs).join(", ")}`);
    const directory = await mkdtemp(join(tmpdir(), "grange-counts-"));
    try {
      const place = await openCountingPlace(join(directory, "work"));
      try {
        const counter = place.tools.counters[0];
        if (counter === undefined)
          throw new Error("neither perf's hardware counters nor valgrind can count here");
        const count: Count = async ({ name }, runs, planted = 0) => {
          const folder = join(directory, `${name}-${planted}`);
          const artifact = await programsIn(folder, { [name]: planted });
          return counted(() =>
            measureTest({
              suite,
              case: caseOf(name),
              artifact,
              place,
              signal: new AbortController().signal,
              iterations: { counted: runs },
            }),
          );
        };
        const how = `${sides} counted runs on each side by ${counter.version}`;
        const rows: Row[] = [];
        let [found, planted] = [0, 0];
        for (const program of countedPrograms) {
          const runs = await count(program, recordedRuns);
          rows.push(...rowsOfEqual(program, runs, how));
          const told = await foundOf(program, runs, count);
          process.stderr.write(`  ${program.name}: ${runs.length} runs counted\n`);
          if (isQuiet(runs)) {
            planted += changes;
            found += told;
          } else rows.push(rowOfNoisy(program, told));
        }
        const plantedHow = `${how}, drawn from ${plantedRuns} runs with as many turns of a loop before the program as are ${100 * plantedShare} % of its instructions; no history, no self-tests`;
        rows.push(
          atLeast(
            "counts: programs whose counts stand still",
            planted / changes,
            leastQuiet,
            `of ${countedPrograms.length}`,
            `twice the distance of ${recordedRuns} runs is below ${100 * plantedShare} %`,
          ),
          exactly(
            `counts: planted +${100 * plantedShare} % in those, told as regressions`,
            found,
            planted,
            `of ${planted}`,
            plantedHow,
          ),
        );
        return rows;
      } finally {
        await place.close();
      }
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
};

type Count = (program: CountedProgram, runs: number, planted?: number) => Promise<Counts>;

async function counted(measure: () => Promise<MeasuredIteration[]>): Promise<Counts> {
  for (let tries = 1; ; tries++) {
    try {
      const runs = await measure();
      return runs.map(({ values }) => values["instructions"] ?? Number.NaN);
    } catch (reason) {
      const isOfTheMachine = reason instanceof Fault && reason.code === "resource_exhausted";
      if (!isOfTheMachine || tries >= mostTries) throw reason;
      process.stderr.write(`  ${reason.message}; again\n`);
    }
  }
}

function rowsOfEqual(program: CountedProgram, runs: Counts, how: string): Row[] {
  const { name, kind } = program;
  const random = seededRandom(`${name}, equal`);
  const told = Array.from({ length: comparisons }, () => {
    const drawn = draw(runs, 2 * sides, random);
    return verdictOf(name, drawn.slice(0, sides), drawn.slice(sides));
  }).filter((verdict) => verdict !== "no-change");
  return [
    exactly(
      `counts: ${name}, equal artifacts told as changed`,
      told.length,
      0,
      `of ${comparisons}`,
      `${kind}; ${how}, drawn from ${runs.length} runs; no history, no self-tests`,
    ),
    forInformation(
      `counts: ${name}, runs apart`,
      100 * (relativeRange(runs) ?? Number.NaN),
      "%",
      `the greatest of ${runs.length} runs above the least; ${(Math.min(...runs) / 1e6).toFixed(1)} M instructions`,
    ),
  ];
}

async function foundOf(program: CountedProgram, usual: Counts, count: Count): Promise<number> {
  const least = Math.min(...usual);
  const longer = Math.min(...(await count(program, sides, calibrated)));
  const turns = Math.ceil((plantedShare * least * calibrated) / (longer - least));
  const changed = await count(program, plantedRuns, turns);
  const random = seededRandom(`${program.name}, changed`);
  let found = 0;
  for (let nth = 0; nth < changes; nth++) {
    const [before, after] = [draw(usual, sides, random), draw(changed, sides, random)];
    if (verdictOf(program.name, before, after) === "regressed") found += 1;
  }
  return found;
}

/** By the lab's own rule for limits: a change must be twice the differences between its runs. */
function isQuiet(runs: Counts): boolean {
  return scatterFactor * (relativeRange(runs) ?? Number.NaN) < plantedShare;
}

function rowOfNoisy({ name }: CountedProgram, told: number): Row {
  return forInformation(
    `counts: ${name}, planted +${100 * plantedShare} % told as regressions`,
    told,
    `of ${changes}`,
    "its runs lie too far apart for so small a change",
  );
}

/** Draws this many of the runs, each at most once. */
function draw(runs: Counts, wanted: number, random: Random): Counts {
  const left = [...runs];
  return Array.from({ length: wanted }, () => {
    const [taken = Number.NaN] = left.splice(Math.floor(random() * left.length), 1);
    return taken;
  });
}

/** Returns the lab's verdict about two artifacts without further data. */
function verdictOf(name: string, before: Counts, after: Counts): string {
  const { cases } = compareArtifacts({
    metrics: metricsOf(suite),
    metric: "instructions",
    before: [measured(name, before)],
    after: [measured(name, after)],
    categoryOf: () => "primary",
    historyOf: () => [],
    pairs: [],
    limitOf: () => undefined,
    errors: { before: [], after: [] },
  });
  return cases[0]?.verdict ?? "missing";
}

function measured(name: string, counts: Counts): MeasuredCase {
  const scatter = relativeRange(counts);
  return {
    case: caseOf(name),
    fingerprint: "here",
    collector: "here",
    values: { instructions: Math.min(...counts) },
    scatter: scatter === undefined ? {} : { instructions: scatter },
    warnings: [],
  };
}

function caseOf(benchmark: string): TestCase {
  return {
    section: "compile",
    benchmark,
    profile: "",
    scenario: "",
    backend: "sh",
    target: "here",
  };
}
