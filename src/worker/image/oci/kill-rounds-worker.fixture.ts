/**
 * A program that runs a worker: each line of stdin is a job, and each line of stdout is the result of one. The worker
 * stops at the end of stdin.
 */
import { createInterface } from "node:readline";
import { pino } from "pino";
import { z } from "zod";
import { readWorkerConfig, type WorkerConfig } from "../../config.ts";
import { FakeFarm } from "../../fake-farm.fixture.ts";
import { startWorkerOn } from "../../start-worker.ts";

const LineOfJob = z.object({ script: z.string(), image: z.string() });
export type LineOfJob = z.infer<typeof LineOfJob>;

export const LineOfResult = z.object({ stdout: z.string(), message: z.string() });

/** The part of the worker's settings that depends on the test. */
export type KilledWorkerSettings = Pick<
  z.input<typeof WorkerConfig>,
  "dataDir" | "registries" | "privateHosts"
>;

/** The name of the bundled program. */
export const killedWorkerProgram = "killed-worker.mjs";

async function runWorker(settings: KilledWorkerSettings): Promise<void> {
  const farm = new FakeFarm();
  const config = readWorkerConfig({
    server: "http://127.0.0.1:1",
    name: "w",
    slots: 2,
    path: "/usr/local/bin:/usr/bin:/bin",
    ...settings,
  });
  const worker = await startWorkerOn(farm, config, pino({ level: "silent" }));
  try {
    for await (const line of createInterface({ input: process.stdin })) {
      const { script, image } = LineOfJob.parse(JSON.parse(line));
      const platform = { "container-image": image };
      const { result, message } = await farm.run({ script, platform });
      const stdout = Buffer.from(result?.stdoutRaw ?? []).toString();
      process.stdout.write(`${JSON.stringify({ stdout, message })}\n`);
    }
  } finally {
    await worker.stop();
  }
}

// The test imports this file, too; then the first argument is a program of Vitest.
if (process.argv[1]?.endsWith(killedWorkerProgram) === true)
  await runWorker(JSON.parse(process.argv[2] ?? "{}"));
