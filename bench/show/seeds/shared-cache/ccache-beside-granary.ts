import { loadavg } from "node:os";
import { join } from "node:path";
import { type EmptiedCache, emptiedCache } from "../../granary/emptied-cache.ts";
import { type Granary, type GranaryLab, startGranaryLab } from "../../granary/granary-lab.ts";
import { type BuiltProject, ccacheProject } from "../../granary/project.ts";
import { roundsOr } from "../../granary/rounds.ts";
import { timed } from "../../granary/timed.ts";
import { quantile } from "../../quantile.ts";
import { atMost, exactly, forInformation, type Measurement, type Row } from "../../row.ts";

const roundTripMs = 20;
const rounds = roundsOr(5);

/** In the order of a round; every second round is in reverse order. */
const cases = [
  "no cache",
  "ccache alone, empty",
  "granary on, all empty",
  "ccache by HTTP to the farm",
  "granary without an index",
  "granary with an index",
  "ccache alone, full",
  "all full",
] as const;
type Case = (typeof cases)[number];

/** The seed's four timings for ccache, compared with ccache alone and with HTTP to the farm; `files` compilations. */
export function ccacheBesideGranary(files: number): Measurement {
  return {
    title: `four timings: ccache, ${files} files, ${roundTripMs} ms`,
    long: false,
    async measure() {
      const lab = await startGranaryLab({ roundTripMs, bytesPerSecond: 100e6 / 8 });
      try {
        const project = await ccacheProject(lab.work, files);
        try {
          return await measured(lab, project, files);
        } finally {
          await project.close();
        }
      } finally {
        await lab.stop();
      }
    },
  };
}

async function measured(lab: GranaryLab, project: BuiltProject, files: number): Promise<Row[]> {
  const walls = new Map<Case, number[]>(cases.map((which) => [which, []]));
  const loads: number[] = [];
  const products = new Set<string>();
  const here = emptiedCache(join(lab.work, "ccache-here"));
  const env = { CCACHE_DIR: here.path, CCACHE_COMPILERCHECK: "content" };
  const overHttp = {
    ...env,
    CCACHE_REMOTE_STORAGE: `http://127.0.0.1:${lab.line.port}/cache/by-http/ccache`,
  };
  const check = (run: { readonly code: number | null; readonly text: string }) => {
    if (run.code !== 0)
      throw new Error(`a build ended with ${run.code}:\n${run.text.slice(-2_000)}`);
    products.add(project.product());
  };
  const alone = async (variables: Readonly<Record<string, string>>) => {
    await project.clean();
    const run = await timed(project.command, { cwd: project.path, env: variables });
    check(run);
    return run.wallMs;
  };
  const through = async (granary: Granary, name: string, more: readonly string[] = []) => {
    await project.clean();
    const run = await granary.exec(project.command, {
      cwd: project.path,
      env,
      more: ["--project", name, ...more],
    });
    check(run);
    return run.wallMs;
  };
  const name = `four-${files}`;
  const first = await lab.startGranary();
  await through(first, name);
  await first.drained();
  await first.stop();
  await here.empty();
  await alone(overHttp);
  const one = async (which: Case, round: number): Promise<number> => {
    if (!which.includes("full")) await here.empty();
    switch (which) {
      case "no cache":
        return alone({ ...env, CCACHE_DISABLE: "1" });
      case "ccache alone, empty":
        return alone(env);
      case "ccache by HTTP to the farm":
        return alone(overHttp);
      case "ccache alone, full":
        return fullAfter(here, env, alone);
      case "granary on, all empty":
        return withGranary(lab, (granary) => through(granary, `${name}-empty-${round}`));
      case "granary without an index":
        return withGranary(lab, (granary) => through(granary, name, ["--no-prefetch"]));
      case "granary with an index":
        return withGranary(lab, (granary) => through(granary, name));
      case "all full":
        return withGranary(
          lab,
          async (granary) => {
            await through(granary, name);
            return through(granary, name);
          },
          first.data,
        );
    }
  };
  for (let round = 0; round < rounds; round++) {
    for (const which of round % 2 === 0 ? cases : cases.toReversed()) {
      walls.get(which)?.push(await one(which, round));
      loads.push(loadavg()[0] ?? 0);
    }
  }
  await here.remove();
  return rowsOf(files, walls, products.size, loads);
}

async function fullAfter(
  here: EmptiedCache,
  env: Readonly<Record<string, string>>,
  build: (env: Readonly<Record<string, string>>) => Promise<number>,
): Promise<number> {
  await here.empty();
  await build(env);
  return build(env);
}

/** All daemons have the same age, and have started their own work before they are measured. */
async function withGranary(
  lab: GranaryLab,
  build: (granary: Granary) => Promise<number>,
  data?: string,
): Promise<number> {
  const granary = await lab.startGranary(data === undefined ? {} : { data });
  await granary.idle();
  const wallMs = await build(granary);
  await granary.drained();
  await granary.stop();
  return wallMs;
}

const goals: readonly (readonly [what: string, which: Case, beside: Case, limit: number])[] = [
  ["on and empty, to ccache alone", "granary on, all empty", "ccache alone, empty", 1.02],
  [
    "no index, to ccache by HTTP to the farm",
    "granary without an index",
    "ccache by HTTP to the farm",
    1,
  ],
  ["with an index, to no cache", "granary with an index", "no cache", 0.12],
  ["all full, to ccache alone", "all full", "ccache alone, full", 1.2],
];

function rowsOf(
  files: number,
  walls: ReadonlyMap<Case, readonly number[]>,
  products: number,
  loads: readonly number[],
): Row[] {
  const title = `ccache, ${files} files, ${roundTripMs} ms`;
  const of = (which: Case) => walls.get(which) ?? [];
  const load = `load average ${Math.min(...loads).toFixed(0)} to ${Math.max(...loads).toFixed(0)}`;
  return [
    ...goals.map(([what, which, beside, limit]) => {
      const ratios = of(which).map((wallMs, round) => wallMs / (of(beside)[round] ?? 1));
      const each = ratios.map((ratio) => ratio.toFixed(2)).join(", ");
      return atMost(
        `${title}: ${what}`,
        quantile(ratios, 0.5),
        limit,
        "×",
        `the middle of ${each}, by turns; ${load}`,
      );
    }),
    ...cases.map((which) =>
      forInformation(
        `${title}: ${which}`,
        quantile(of(which), 0.5) / 1_000,
        "s",
        `${(quantile(of(which), 0.25) / 1_000).toFixed(2)}–${(quantile(of(which), 0.75) / 1_000).toFixed(2)} s; n = ${of(which).length}`,
      ),
    ),
    exactly(`${title}: what came out`, products, 1, "kinds", "SHA-256 of all outputs"),
  ];
}
