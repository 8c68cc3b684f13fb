import { rm } from "node:fs/promises";
import { join } from "node:path";
import { quantile } from "../quantile.ts";
import { atMost, forInformation, type Measurement, type Row } from "../row.ts";
import { type GranaryLab, startGranaryLab } from "./granary-lab.ts";
import { ccacheProject, sh } from "./project.ts";

const commits = 30;

interface History {
  readonly name: string;
  readonly path: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  checkOut(n: number): Promise<void>;
  clean(): Promise<void>;
}

/**
 * Consecutive commits, the oldest first, each on an empty machine: the farm has the results of the earlier ones.
 *
 * Uses a real project when GRANGE_SHOW_HISTORY names its repository (and GRANGE_SHOW_HISTORY_BUILD its build command
 * with ccache, GRANGE_SHOW_HISTORY_CLEAN its clean command); otherwise a generated one, which the row states.
 */
export const realHistory: Measurement = {
  title: `${commits} consecutive commits, a fresh machine at each`,
  long: true,
  async measure() {
    const lab = await startGranaryLab({ roundTripMs: 20, bytesPerSecond: 100e6 / 8 });
    try {
      return await measureHistory(lab, await openHistory(lab.work));
    } finally {
      await lab.stop();
    }
  },
};

async function measureHistory(lab: GranaryLab, history: History): Promise<Row[]> {
  const project = "history";
  const fresh: number[] = [];
  const full: number[] = [];
  const bytes = { ahead: 0, late: 0, wasted: 0, transferred: 0, made: 0 };
  const results = { ahead: 0, late: 0, made: 0 };
  for (let n = 0; n < commits; n++) {
    await history.checkOut(n);
    const granary = await lab.startGranary();
    const build = async () => {
      await history.clean();
      const { cwd, env } = { cwd: history.path, env: history.env };
      const run = await granary.exec(history.command, { cwd, env, more: ["--project", project] });
      if (run.code !== 0)
        throw new Error(`${history.name}, commit ${n}: ${run.text.slice(-2_000)}`);
      return run.wallMs;
    };
    const first = await build();
    await granary.drained();
    const [report] = await lab.reports(project);
    const again = await build();
    await granary.drained();
    await granary.stop();
    await rm(granary.data, { recursive: true, force: true });
    // The very first commit finds no results, wherever it is built.
    if (n === 0 || report === undefined) continue;
    fresh.push(first);
    full.push(again);
    bytes.ahead += report.bytes.prefetched;
    bytes.late += report.bytes.fetched;
    bytes.wasted += report.bytes.wasted;
    bytes.transferred += report.bytes.transferred;
    results.ahead += report.counts.prefetched;
    results.late += report.counts.fetched;
    results.made += report.counts.missed;
  }
  const how = `${history.name}: ${commits} commits in a row, 20 ms, 100 Mbit/s; ${results.ahead} results fetched ahead, ${results.late} waited for, ${results.made} made`;
  const ratios = fresh.map((ms, i) => ms / (full[i] ?? 1));
  return [
    forInformation(
      "history: bytes there before they were asked for",
      (100 * bytes.ahead) / Math.max(1, bytes.ahead + bytes.late),
      "% of what the farm had",
      how,
    ),
    forInformation(
      "history: transferred and never asked for",
      (100 * bytes.wasted) / Math.max(1, bytes.transferred),
      "%",
      how,
    ),
    forInformation("history: a build on a fresh machine", quantile(fresh, 0.5) / 1_000, "s", how),
    forInformation("history: with all of it local", quantile(full, 0.5) / 1_000, "s", how),
    forInformation("history: fresh to local, the middle", quantile(ratios, 0.5), "×", how),
    atMost(
      "history: results waited for, of a build",
      results.late / Math.max(1, fresh.length),
      5,
      "",
      how,
    ),
  ];
}

async function openHistory(work: string): Promise<History> {
  const { GRANGE_SHOW_HISTORY: from, GRANGE_SHOW_HISTORY_BUILD: command } = process.env;
  if (from === undefined || command === undefined) {
    const made = await ccacheProject(work, 60);
    return { ...made, name: "a made-up history", checkOut: (n) => made.commit(n) };
  }
  const path = join(work, "history");
  sh(work, `git clone -q ${JSON.stringify(from)} history`);
  const list = sh(path, `git log --first-parent --format=%H -n ${commits} HEAD`)
    .split("\n")
    .toReversed();
  const clean = process.env["GRANGE_SHOW_HISTORY_CLEAN"] ?? "git clean -fdxq";
  return {
    name: from.replace(/\/$/, "").split("/").slice(-2).join("/"),
    path,
    command: ["bash", "-ec", command],
    env: { CCACHE_DIR: join(work, "ccache-dir"), CCACHE_REMOTE_ONLY: "true" },
    async checkOut(n) {
      sh(path, `git checkout -q --detach ${list[n]}`);
    },
    async clean() {
      sh(path, clean);
    },
  };
}
