import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import type { Farm } from "../support/farm.ts";
import { type FarmOnFaultyDisks, farmOnFaultyDisks } from "./farm-on-faulty-disks.ts";
import { postgresProcessesOf } from "./farm-processes.ts";
import { checkHistory, type Observation, type Violation } from "./history/history.ts";
import { type ObservedLoad, observedLoad, untilAnswered } from "./history/observed-load.ts";

interface AfterPowerLosses {
  /** What was acknowledged and is lost or changed. */
  readonly violations: readonly Violation[];
  readonly losses: number;
  readonly graphs: number;
  readonly uploads: number;
  /** From each return of the power until the server answers, in ms. */
  readonly readyAgainMs: readonly number[];
}

/** The pause before each power failure, in ms. */
const pauseMs = { min: 200, max: 4_000 };

/**
 * Sizes in MiB, for the work of some hundred graphs. The blobs have a file system of their own: durable blobs sync all
 * of theirs, and would so hide what nobody syncs of the rest.
 */
const sizes = { ".": 1_024, blobs: 512 };

/**
 * Cuts the power of a machine with a whole farm under load, and starts the farm again, many times.
 *
 * The data directory lies on file systems that stop at once and forget everything that was not synced. With
 * durable blobs, a client must find all that was acknowledged: graphs, results, logs, outputs and uploaded blobs.
 */
export async function losePower(options: {
  readonly losses: number;
  readonly seed: number;
  readonly durableBlobs?: boolean;
}): Promise<AfterPowerLosses> {
  const world = await farmOnFaultyDisks(
    sizes,
    (options.durableBlobs ?? true) ? { GRANGE_DURABLE_BLOBS: "1" } : {},
  );
  const load = await observedLoad(world.farm);
  try {
    world.startWorker("worker-0");
    const clients = keepBusy(world.farm, load);
    const readyAgainMs: number[] = [];
    const pauses = fc.sample(fc.integer(pauseMs), {
      numRuns: options.losses,
      seed: options.seed,
    });
    for (const [n, pause] of pauses.entries()) {
      await delay(pause);
      await cutPower(world);
      const back = performance.now();
      await world.farm.restartServer();
      readyAgainMs.push(performance.now() - back);
      world.startWorker(`worker-${n + 1}`);
    }
    const uploads = await clients.stop();
    for (const { id } of load.graphs) await load.readToItsEnd(id);
    for (const blob of uploads) load.history.push(await readBlob(world.farm, blob));
    return {
      violations: checkHistory(load.history),
      losses: options.losses,
      graphs: load.graphs.length,
      uploads: uploads.length,
      readyAgainMs,
    };
  } finally {
    await world.stop();
    await load.remove();
  }
}

/** Submits graphs, reads them to their end, and uploads blobs, through all power failures, until it is stopped. */
function keepBusy(farm: Farm, load: ObservedLoad) {
  const uploads: string[] = [];
  let isOver = false;
  const submitting = (async () => {
    while (!isOver) {
      const { id } = await load.submit();
      await load.readToItsEnd(id);
    }
  })();
  const uploading = (async () => {
    while (!isOver) {
      const bytes = randomBytes(10_000);
      const hash = createHash("sha256").update(bytes).digest("hex");
      await untilAnswered(() => upload(farm, hash, bytes));
      load.history.push({ kind: "uploaded", blob: hash });
      uploads.push(hash);
      await delay(20);
    }
  })();
  return {
    async stop(): Promise<readonly string[]> {
      isOver = true;
      await Promise.all([submitting, uploading]);
      return uploads;
    },
  };
}

async function upload(farm: Farm, hash: string, bytes: Buffer): Promise<void> {
  const answer = await fetch(`${farm.url}/cache/default/bazel/cas/${hash}`, {
    method: "PUT",
    body: new Uint8Array(bytes),
  });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`an upload was answered ${answer.status}`);
}

async function readBlob(farm: Farm, hash: string): Promise<Observation> {
  const answer = await untilAnswered(async () => {
    const response = await fetch(`${farm.url}/cache/default/bazel/cas/${hash}`);
    const body = Buffer.from(await response.arrayBuffer());
    if (response.status >= 500) throw new Error(`a blob was answered ${response.status}`);
    return response.ok ? body : undefined;
  });
  if (answer === undefined) return { kind: "blob", blob: hash, bytes: "absent" };
  const isWhole = createHash("sha256").update(answer).digest("hex") === hash;
  return { kind: "blob", blob: hash, bytes: isWhole ? "whole" : "other" };
}

/** The file systems stop first: nothing that a process still does after that reaches a disk. */
async function cutPower({
  farm,
  disks,
  seenDataDir,
}: FarmOnFaultyDisks<keyof typeof sizes>): Promise<void> {
  const database = await postgresProcessesOf(seenDataDir);
  await Promise.all([disks["."].fail(), disks.blobs.fail()]);
  farm.server.signal("SIGKILL");
  for (const worker of farm.workers) worker.signal("SIGKILL");
  for (const pid of database) kill(pid);
  await farm.server.finished;
  await Promise.all(farm.workers.splice(0).map((worker) => worker.finished));
  while (database.some((pid) => existsSync(`/proc/${pid}`))) await delay(10);
  await disks.blobs.unmount();
  await disks["."].unmount();
  await disks["."].mount();
  await disks.blobs.mount();
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code !== "ESRCH") throw reason;
  }
}
