import { quantile } from "../quantile.ts";
import { atMost, forInformation, type Row } from "../row.ts";
import { type Granary, type GranaryLab, startGranaryLab } from "./granary-lab.ts";
import type { BuiltProject } from "./project.ts";
import { cpuOf, timed } from "./timed.ts";

type Case = "off" | "own-empty" | "own-full" | "empty" | "farm" | "full";
const ours: readonly Case[] = ["off", "empty", "farm", "full"];
/** In addition, if the tool has its own cache: its cost without a granary. */
const controls: readonly Case[] = ["off", "own-empty", "own-full", "empty", "farm", "full"];
/** Only the cost of a distant farm: a large code base does not have to be built repeatedly for it. */
export const fromFarm = ["farm", "full"] as const;

interface Sample {
  readonly wallMs: number;
  /** The CPU time of the build: the tool, its server, and their children. */
  readonly cpuMs: number;
  readonly granaryCpuMs: number;
}

interface FourTimings {
  readonly samples: Readonly<Record<Case, Sample[]>>;
  readonly products: ReadonlySet<string>;
  readonly coverage: { readonly asked: number; readonly ahead: number; readonly late: number };
  readonly wasteShare: number;
  readonly leadMs: number;
}

interface TimingOptions {
  /** Options of `grange exec`. */
  readonly more?: readonly string[];
  readonly cases?: readonly Case[];
}

const casesOf = ({ ownCache }: BuiltProject) => (ownCache === undefined ? ours : controls);

/**
 * The seed's four timings, alternately: no cache; a cache, empty everywhere; empty here and full at the farm; full
 * here.
 *
 * For "empty" the project's name is new each time, so that the farm has no data of it. `cases`: only these.
 */
export async function fourTimings(
  lab: GranaryLab,
  project: BuiltProject,
  rounds: number,
  { more = [], cases = casesOf(project) }: TimingOptions = {},
): Promise<FourTimings> {
  const samples: Record<Case, Sample[]> = {
    off: [],
    "own-empty": [],
    "own-full": [],
    empty: [],
    farm: [],
    full: [],
  };
  const products = new Set<string>();
  const name = `four-${project.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`;
  const alone = (which: Case) => {
    const uncached = { ...project.env, ...project.uncached };
    return which === "off" ? uncached : (project.ownCache?.env ?? uncached);
  };
  const build = async (which: Case, granary: Granary | undefined, projectName: string) => {
    await project.clean();
    const helper = project.helper();
    const before = helper === 0 ? 0 : await cpuOf(helper);
    const env =
      granary === undefined ? alone(which) : { ...project.env, ...project.beside?.(granary.data) };
    const run =
      granary === undefined
        ? { ...(await timed(project.command, { cwd: project.path, env })), granaryCpuMs: 0 }
        : await granary.exec(project.command, {
            cwd: project.path,
            env,
            more: ["--project", projectName, ...more],
          });
    if (run.code !== 0)
      throw new Error(
        `${project.name}, ${which}: ended with ${run.code}:\n${run.text.slice(-3_000)}`,
      );
    const helped = helper === 0 ? 0 : (await cpuOf(helper)) - before;
    products.add(project.product(which));
    return { wallMs: run.wallMs, cpuMs: run.cpuMs + helped, granaryCpuMs: run.granaryCpuMs };
  };

  // So that the farm has all results.
  const first = await lab.startGranary();
  await build("empty", first, name);
  await first.drained();
  await first.stop();
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? cases : cases.toReversed();
    for (const which of order) {
      if (which === "off") {
        samples.off.push(await build(which, undefined, name));
      } else if (which === "own-empty" || which === "own-full") {
        await project.ownCache?.empty();
        if (which === "own-full") await build(which, undefined, name);
        samples[which].push(await build(which, undefined, name));
      } else {
        // All daemons have the same age: only the place of the results differs, not the compilation of a daemon's code.
        const granary = await lab.startGranary(which === "full" ? { data: first.data } : {});
        await granary.idle();
        const sample = await build(which, granary, which === "empty" ? `${name}-${round}` : name);
        samples[which].push(sample);
        await granary.drained();
        // Its files stay until the end: directly after many are removed, ext4 needs much longer to create others.
        await granary.stop();
      }
    }
  }
  const reports = (await lab.reports(name)).filter(
    ({ counts }) => counts.prefetched + counts.fetched > 0,
  );
  const sum = (of: (report: (typeof reports)[number]) => number) =>
    reports.reduce((all, report) => all + of(report), 0);
  return {
    samples,
    products,
    coverage: {
      asked: sum(({ counts }) => counts.prefetched + counts.fetched + counts.missed + counts.local),
      ahead: sum(({ counts }) => counts.prefetched),
      late: sum(({ counts }) => counts.fetched),
    },
    wasteShare:
      sum(({ bytes }) => bytes.wasted) /
      Math.max(
        1,
        sum(({ bytes }) => bytes.transferred),
      ),
    leadMs: quantile(
      reports.flatMap(({ lead }) => (lead === null ? [] : [lead.medianMs])),
      0.5,
    ),
  };
}

/** The seed's goals: 65 % and 85 % less time than without a cache, 2–3 % more with an empty one. */
const seeds = { farm: 0.65, full: 0.85 };

export function rowsOf(
  project: string,
  roundTripMs: number,
  timings: FourTimings,
  judged: { readonly overhead: boolean; readonly distance: boolean },
): Row[] {
  const { samples } = timings;
  const cases = controls.filter((which) => samples[which].length > 0);
  const has = (...some: Case[]) => some.every((which) => cases.includes(which));
  const n = samples.full.length;
  const wall = (which: Case, q = 0.5) =>
    quantile(
      samples[which].map(({ wallMs }) => wallMs),
      q,
    );
  const cpu = (which: Case, q = 0.5) =>
    quantile(
      samples[which].map(({ cpuMs }) => cpuMs),
      q,
    );
  const title = `${project}, ${roundTripMs} ms`;
  const spread = (which: Case) =>
    `wall ${seconds(wall(which, 0.25))}–${seconds(wall(which, 0.75))}, CPU ${seconds(cpu(which))} (${seconds(cpu(which, 0.25))}–${seconds(cpu(which, 0.75))}), the granary's own CPU ${seconds(
      quantile(
        samples[which].map((each) => each.granaryCpuMs),
        0.5,
      ),
    )} s; n = ${n}, by turns`;
  /** The median of the rounds' own ratios, because a machine that is slower for some minutes affects both. */
  const ratio = (of: (one: Sample) => number, which: Case, beside: Case) =>
    quantile(
      samples[which].flatMap((one, round) => {
        const other = samples[beside][round];
        return other === undefined ? [] : [of(one) / of(other)];
      }),
      0.5,
    );
  const wallMs = (one: Sample) => one.wallMs;
  const cpuMs = (one: Sample) => one.cpuMs;
  const overhead = (
    of: (one: Sample) => number,
    which: Case = "empty",
    beside: Case = "off",
  ): number => (ratio(of, which, beside) - 1) * 100;
  const control = has("own-empty") ? (["wall time", "CPU of the build"] as const) : [];
  const how = `median of ${n} rounds' own ratios, by turns; ${title} of added round trip, 100 Mbit/s`;
  const limit = (name: string, figure: number, goal: number, unit: string, isJudged: boolean) =>
    isJudged ? atMost(name, figure, goal, unit, how) : forInformation(name, figure, unit, how);
  return [
    ...cases.map((which) =>
      forInformation(`${title}: ${names[which]}`, wall(which) / 1_000, "s", spread(which)),
    ),
    ...(has("off", "empty")
      ? [
          limit(
            `${title}: on and empty, more wall time`,
            overhead(wallMs),
            0.5,
            "%",
            judged.overhead,
          ),
          limit(
            `${title}: on and empty, more CPU of the build`,
            overhead(cpuMs),
            0.5,
            "%",
            judged.overhead,
          ),
        ]
      : []),
    ...control.flatMap((what) => {
      const of = what === "wall time" ? wallMs : cpuMs;
      return [
        forInformation(
          `${title}: the tool's own cache alone, empty, more ${what}`,
          overhead(of, "own-empty"),
          "%",
          `what caching costs without a granary; ${how}`,
        ),
        {
          ...limit(
            `${title}: on and empty, more ${what} than the tool's own empty cache`,
            overhead(of, "empty", "own-empty"),
            0.5,
            "%",
            judged.overhead,
          ),
          how: `what the granary adds to that; ${how}`,
        },
      ];
    }),
    limit(
      `${title}: farm full, to all full`,
      ratio(wallMs, "farm", "full"),
      1.1,
      "×",
      judged.distance,
    ),
    ...(has("off") ? fromFarm : []).map((which) =>
      forInformation(
        `${title}: ${shortNames[which]}, less time than without a cache (the seed: ${seeds[which] * 100} %)`,
        (1 - ratio(wallMs, which, "off")) * 100,
        "%",
        how,
      ),
    ),
    forInformation(
      `${title}: asked for and already there`,
      (100 * timings.coverage.ahead) / Math.max(1, timings.coverage.ahead + timings.coverage.late),
      "%",
      `${timings.coverage.ahead} ahead, ${timings.coverage.late} waited for, of builds that had anything from the farm`,
    ),
    forInformation(
      `${title}: transferred and never asked for`,
      timings.wasteShare * 100,
      "%",
      "of all its builds together",
    ),
    forInformation(
      `${title}: lead, the middle`,
      timings.leadMs,
      "ms",
      "the median of its builds' medians",
    ),
  ];
}

const shortNames = { farm: "farm full", full: "all full" };

const names: Record<Case, string> = {
  off: "no cache",
  "own-empty": "no granary, the tool's own cache, empty",
  "own-full": "no granary, the tool's own cache, full",
  empty: "on and empty",
  farm: "nothing here, farm full",
  full: "all full",
};

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(2);
}

/** Measures one project at one distance; `cases`: only these. */
export async function measureFour(
  roundTripMs: number,
  rounds: number,
  open: (work: string) => Promise<BuiltProject>,
  cases?: readonly Case[],
): Promise<Row[]> {
  const lab = await startGranaryLab({ roundTripMs, bytesPerSecond: 100e6 / 8 });
  try {
    const project = await open(lab.work);
    try {
      const options = cases === undefined ? {} : { cases };
      const timings = await fourTimings(lab, project, rounds, options);
      return [
        ...rowsOf(project.name, roundTripMs, timings, {
          overhead: roundTripMs === 20,
          distance: roundTripMs === 20,
        }),
        {
          name: `${project.name}, ${roundTripMs} ms: what came out`,
          figure: timings.products.size,
          unit: "kinds",
          goal: "1 kinds",
          holds: timings.products.size === 1,
          how: "SHA-256 of all outputs of all builds",
        },
      ];
    } finally {
      await project.close();
    }
  } finally {
    await lab.stop();
  }
}
