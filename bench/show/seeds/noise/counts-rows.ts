import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PlacedArtifact } from "#artifacts/artifact-cache.ts";
import { compareArtifacts } from "#comparison/compare-artifacts.ts";
import { fenceHistory } from "#comparison/fence.ts";
import { relativeRange } from "#comparison/judge-counts.ts";
import type { MeasuredCase } from "#comparison/measured.ts";
import type { TestCase } from "#core/test-case.ts";
import { measureTest } from "#measuring/measure-test.ts";
import { metricsOf } from "#suites/metrics-of.ts";
import { Suite } from "#suites/suite.ts";
import { quantile } from "../../quantile.ts";
import { exactly, forInformation, type Measurement, type Row } from "../../row.ts";
import { findProgram } from "../find-program.ts";
import { type CountedProgram, countedPrograms, programsIn } from "./counted-programs.ts";
import { openCountingPlace } from "./counting-place.ts";

/** Comparisons of equal artifacts, of each program. */
const comparisons = 50;
/** Changes of half a per cent, over the quiet programs together. */
const changes = 20;
const plantedShare = 0.005;
/** Turns of the shell's loop by which its cost is measured. */
const calibrated = 200;

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

/** What one artifact's counted runs gave. */
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
        const made = new Map<string, Promise<PlacedArtifact>>();
        const count = async (at: string, name: string, planted = 0): Promise<Counts> => {
          const folder = join(directory, `${at}-${name}`);
          const making = made.get(folder) ?? programsIn(folder, { [name]: planted });
          made.set(folder, making);
          const artifact = await making;
          const signal = new AbortController().signal;
          const runs = await measureTest({ suite, case: caseOf(name), artifact, place, signal });
          return runs.map(({ values }) => values["instructions"] ?? Number.NaN);
        };
        const how = `${suite.iterations.counted} counted runs of each artifact by ${counter.version}`;
        const rows: Row[] = [];
        const quiet = countedPrograms.filter(({ isQuiet }) => isQuiet);
        let [found, planted] = [0, 0];
        for (const program of countedPrograms) {
          const line = await equalLine(program, count);
          rows.push(...rowsOfEqual(program, line, how));
          process.stderr.write(`  ${program.name}: ${line.length} artifacts counted\n`);
          if (!program.isQuiet) continue;
          const wanted = changes / quiet.length;
          planted += wanted;
          found += await foundOf(program, line, wanted, count);
        }
        rows.push(
          exactly(
            `counts: planted +${100 * plantedShare} % in ${quiet.length} quiet programs, told as regressions`,
            found,
            planted,
            `of ${planted}`,
            `${how}; turns of a loop before the program, as many as are ${100 * plantedShare} % of its instructions; no history`,
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

type Count = (at: string, name: string, planted?: number) => Promise<Counts>;

/** A main line on which nothing changes. */
async function equalLine({ name }: CountedProgram, count: Count): Promise<Counts[]> {
  const line: Counts[] = [];
  for (let nth = 0; nth <= comparisons; nth++) line.push(await count("equal", name));
  return line;
}

function rowsOfEqual(program: CountedProgram, line: readonly Counts[], how: string): Row[] {
  const { name, kind } = program;
  const told = line.slice(1).filter((after, i) => {
    const history = line.slice(Math.max(0, i - fenceHistory), i).toReversed();
    return isTold(name, line[i] ?? [], after, history) !== "no-change";
  });
  const scatter = line.map((counts) => relativeRange(counts) ?? 0);
  return [
    exactly(
      `counts: ${name}, equal artifacts told as changed`,
      told.length,
      0,
      `of ${comparisons}`,
      `${kind}; ${how}, each artifact compared with the one before, with the history that there is`,
    ),
    forInformation(
      `counts: ${name}, runs of one artifact apart`,
      100 * quantile(scatter, 0.5),
      "%",
      `median of ${line.length} artifacts; at most ${(100 * Math.max(...scatter)).toFixed(3)} %; ${((line[0]?.[0] ?? 0) / 1e6).toFixed(1)} M instructions`,
    ),
  ];
}

async function foundOf(
  { name }: CountedProgram,
  line: readonly Counts[],
  wanted: number,
  count: Count,
): Promise<number> {
  const [usual = Number.NaN] = line[0] ?? [];
  const [longer = Number.NaN] = await count("calibrated", name, calibrated);
  const turns = Math.ceil((plantedShare * usual * calibrated) / (longer - usual));
  let found = 0;
  for (let nth = 0; nth < wanted; nth++) {
    const after = await count("changed", name, turns);
    if (isTold(name, line[nth] ?? [], after, []) === "regressed") found += 1;
  }
  return found;
}

/** The lab's verdict about two artifacts; `history`: of those before them, the newest first. */
function isTold(name: string, before: Counts, after: Counts, history: readonly Counts[]): string {
  const { cases } = compareArtifacts({
    metrics: metricsOf(suite),
    metric: "instructions",
    before: [measured(name, before)],
    after: [measured(name, after)],
    categoryOf: () => "primary",
    historyOf: () => history.map((counts) => Math.min(...counts)),
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
