/**
 * A program that starts a worker, gives it jobs and prints what came of them, for tests of a worker that
 * runs elsewhere than in the test's own process: in a container, or in a job of another worker.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { z } from "zod";
import { readWorkerConfig } from "./config.ts";
import { FakeFarm, type FakeJob } from "./fake-farm.fixture.ts";
import { startWorkerOn } from "./start-worker.ts";

export interface JobsToRun {
  readonly sandbox?: "auto" | "bubblewrap" | "namespaces" | "none";
  readonly jobs: readonly FakeJob[];
}

/** What came of them, in the same order. */
export const JobsRun = z.object({
  facilities: z.record(z.string(), z.string()),
  ended: z.array(
    z.object({
      outcome: z.number(),
      exitCode: z.number().optional(),
      stdout: z.string(),
      stderr: z.string(),
      message: z.string(),
    }),
  ),
});
export type JobsRun = z.infer<typeof JobsRun>;

/** With a slash at its end. */
export const checkout = fileURLToPath(new URL("../..", import.meta.url));

/** PATH with which a sandbox shows this checkout, also below a home directory. */
export const pathWithCheckout = `${join(checkout, "bin")}:/usr/local/bin:/usr/bin:/bin`;

/** The command that runs this program. */
export function runJobsCommand(toRun: JobsToRun): string[] {
  return [
    process.execPath,
    "--import",
    join(checkout, "node_modules/tsx/dist/loader.mjs"),
    fileURLToPath(import.meta.url),
    JSON.stringify(toRun),
  ];
}

async function runJobs({ sandbox = "auto", jobs }: JobsToRun): Promise<JobsRun> {
  const dataDir = mkdtempSync(join(tmpdir(), "grange-jobs-"));
  const farm = new FakeFarm();
  const server = "http://127.0.0.1:1";
  const config = readWorkerConfig({
    server,
    name: "w",
    slots: 2,
    dataDir,
    sandbox,
    path: pathWithCheckout,
  });
  const worker = await startWorkerOn(farm, config, pino({ level: "silent" }));
  try {
    const ended = [];
    for (const job of jobs) {
      const { outcome, result, message } = await farm.run(job);
      const [stdout = "", stderr = ""] = [result?.stdoutRaw, result?.stderrRaw].map((bytes) =>
        Buffer.from(bytes ?? []).toString(),
      );
      ended.push({ outcome, exitCode: result?.exitCode, stdout, stderr, message });
    }
    return { facilities: farm.registered?.facilities ?? {}, ended };
  } finally {
    await worker.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const run = await runJobs(JSON.parse(process.argv[2] ?? "{}"));
  process.stdout.write(`${JSON.stringify(run)}\n`);
}
