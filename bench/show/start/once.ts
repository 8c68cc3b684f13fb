import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { runProgram } from "../../../test/support/process.ts";
import { quantile } from "../quantile.ts";
import { atMost, exactly, type Measurement } from "../row.ts";
import { smallRepository } from "./small-repository.ts";

const rounds = 5;

/** The last line of `grange up --once --json`. */
const LastLine = z.object({ state: z.literal("succeeded"), jobs: z.number(), hits: z.number() });

/** The time for a first trial of Grange on a small repository, from the command to its end. */
export const once: Measurement = {
  title: "--once of a small repository",
  long: false,
  async measure() {
    const repository = await smallRepository();
    const first: number[] = [];
    const second: number[] = [];
    let executed = 0;
    try {
      for (let round = 0; round < rounds; round++) {
        const data = await mkdtemp(join(tmpdir(), "grange-once-"));
        first.push((await runOnce(repository.path, data)).seconds);
        const again = await runOnce(repository.path, data);
        second.push(again.seconds);
        executed += again.jobs - again.hits;
        await rm(data, { recursive: true, force: true });
      }
    } finally {
      await repository.remove();
    }
    const how = `npm start -- --once --repo of a repository with four short jobs, packages installed and built; from the command to its end; median of ${rounds}`;
    const range = (all: readonly number[]) =>
      `${how} (${Math.min(...all).toFixed(2)} to ${Math.max(...all).toFixed(2)} s)`;
    return [
      atMost("--once, first run", quantile(first, 0.5), 3, "s", range(first)),
      atMost("--once, second run", quantile(second, 0.5), 1.5, "s", range(second)),
      exactly("--once, second run: jobs executed again", executed, 0, "jobs", how),
    ];
  },
};

async function runOnce(
  repository: string,
  data: string,
): Promise<{ seconds: number; jobs: number; hits: number }> {
  const startedAt = performance.now();
  const { code, stdout, stderr } = await runProgram("npm", [
    "start",
    "--silent",
    "--",
    "--once",
    "--json",
    "--port",
    "0",
    "--repo",
    repository,
    "--data",
    data,
  ]);
  const seconds = (performance.now() - startedAt) / 1_000;
  if (code !== 0) throw new Error(`npm start ended with ${code}: ${stderr.slice(-2_000)}`);
  const last = LastLine.parse(JSON.parse(stdout.trim().split("\n").at(-1) ?? ""));
  return { seconds, jobs: last.jobs, hits: last.hits };
}
