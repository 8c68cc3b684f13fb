import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { grange } from "../../../test/support/farm.ts";
import { startProgram } from "../../../test/support/process.ts";
import { quantile } from "../quantile.ts";
import { exactly, forInformation, type Measurement, type Row } from "../row.ts";
import { type GranaryLab, startGranaryLab } from "./granary-lab.ts";
import { sh } from "./project.ts";

const jobs = 40;
const filesOfJob = 10;
const bytesOfFile = 16 * 1024;
const rounds = 3;

/**
 * The farm's own jobs on a worker behind a 20 ms connection: inputs on its disk, nothing on its disk, nothing to do.
 */
export const farmGraph: Measurement = {
  title: "four timings: the farm's own graph, 20 ms",
  long: false,
  async measure() {
    const lab = await startGranaryLab({ roundTripMs: 20, bytesPerSecond: 100e6 / 8 });
    try {
      return await measureGraph(lab);
    } finally {
      await lab.stop();
    }
  },
};

async function measureGraph(lab: GranaryLab): Promise<Row[]> {
  const path = join(lab.work, "graph-project");
  await mkdir(join(path, ".grange"), { recursive: true });
  for (let job = 0; job < jobs; job++) {
    await mkdir(join(path, "src", String(job)), { recursive: true });
    for (let file = 0; file < filesOfJob; file++) {
      await writeFile(join(path, "src", String(job), `f${file}`), randomBytes(bytesOfFile));
    }
  }
  sh(path, "git init -q -b main");
  let salt = 0;
  /** With another salt every action is new, but reads the same files. */
  const commit = async () => {
    const lines = Array.from(
      { length: jobs },
      (_, job) =>
        `  j${job}: { inputs: [src/${job}], commands: "cat src/${job}/* | sha256sum > out; echo ${salt} > /dev/null", outputs: [out] }`,
    );
    await writeFile(join(path, ".grange", "farm.yml"), `version: 1\njobs:\n${lines.join("\n")}\n`);
    sh(
      path,
      "git add -A && git -c user.name=s -c user.email=s@example.org commit -q --allow-empty -m c",
    );
  };
  const build = async (): Promise<number> => {
    const began = performance.now();
    const { id } = await lab.farm.submit({ repository: path, rev: "HEAD" });
    const graph = await lab.farm.untilOver(id);
    if (graph.state !== "succeeded") throw new Error(`the graph ended ${graph.state}`);
    return performance.now() - began;
  };
  const machine = async (name: string) => {
    const data = join(lab.work, `machine-${name}`);
    const args = ["worker", "--server", `http://127.0.0.1:${lab.line.port}`, "--name", name];
    const worker = startProgram(process.execPath, [grange, ...args, "--data", data]);
    return async () => {
      worker.signal("SIGTERM");
      await worker.finished;
    };
  };
  const next = async () => {
    salt++;
    await commit();
  };
  const took = { warm: [] as number[], fresh: [] as number[], hits: [] as number[] };
  const carried: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await next();
    const before = lab.line.carried.toClient;
    const stop = await machine(`m${round}`);
    took.fresh.push(await build());
    carried.push(lab.line.carried.toClient - before);
    await next();
    took.warm.push(await build());
    await stop();
    const none = await lab.farm.submit({ repository: path, rev: "HEAD" });
    const began = performance.now();
    const graph = await lab.farm.untilOver(none.id);
    took.hits.push(performance.now() - began);
    if (graph.state !== "succeeded") throw new Error(`hits ended ${graph.state}`);
  }
  const how = `${jobs} jobs of ${filesOfJob} files of 16 KiB each, one worker, medians of ${rounds}`;
  const [fresh, warm, hits] = [took.fresh, took.warm, took.hits].map((each) => quantile(each, 0.5));
  return [
    forInformation(
      "the farm's graph: executed, inputs on the worker",
      (warm ?? 0) / 1_000,
      "s",
      how,
    ),
    forInformation(
      "the farm's graph: executed, nothing on the worker",
      (fresh ?? 0) / 1_000,
      "s",
      how,
    ),
    forInformation(
      "the farm's graph: nothing on the worker, to inputs there",
      (fresh ?? 0) / (warm ?? 1),
      "×",
      how,
    ),
    forInformation(
      "the farm's graph: all of it known to the farm, no worker at all",
      (hits ?? 0) / 1_000,
      "s",
      how,
    ),
    exactly(
      "the farm's graph: each input fetched once",
      quantile(carried, 0.5) < 1.3 * jobs * filesOfJob * bytesOfFile ? "yes" : "no",
      "yes",
      "",
      `${Math.round(quantile(carried, 0.5) / 1024)} KiB over the line, ${(jobs * filesOfJob * bytesOfFile) / 1024} KiB of inputs`,
    ),
  ];
}
