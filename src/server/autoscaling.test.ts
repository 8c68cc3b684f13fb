import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { Autoscaling, type ScaledClass } from "#api/autoscaling.ts";
import { Graph } from "#api/graph.ts";
import { JobWaiting } from "#api/waiting.ts";
import { Worker } from "#api/worker.ts";
import type { Service } from "#core/service.ts";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { testRepository } from "#git/repository.fixture.ts";
import { ownPlatform, readWorkerConfig } from "#worker/config.ts";
import { startWorker } from "#worker/start-worker.ts";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import { readServerConfig } from "./config.ts";
import { type RunningServer, startServer } from "./start-server.ts";

const databaseUrl = await freshDatabase();
const silent = pino({ level: "silent" });
let dataDir: string;
let server: RunningServer;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-autoscaler-"));
  const scaling = { targetWaitMs: 1_000, startDelayMs: 0, scaleDownMs: 1_000 };
  const config = readServerConfig({ dataDir, databaseUrl, port: 0, scaling }, {});
  server = await startServer(config, silent);
});
afterAll(async () => {
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function call(method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}
const platform = ownPlatform();
const declare = (mostWorkers: number) =>
  call("PUT", "/declared-classes", { platform, sizeClass: 2, mostWorkers });
const scaled = async () => Autoscaling.parse(await call("GET", "/autoscaling")).classes;
const workers = async () => z.array(Worker).parse(await call("GET", "/workers"));

/** An autoscaler as a user would write it (docs/autoscaling.md). Its machines are workers of this process. */
function autoscaler() {
  const machines = new Map<string, Service>();
  /** The workers that were to stop, each with the number of its leases at that time. */
  const gone: { readonly name: string; readonly held: number }[] = [];
  let most = 0;
  let started = 0;

  async function start(): Promise<void> {
    started += 1;
    const name = `auto-${started}`;
    const config = readWorkerConfig(
      { server: server.url, name, dataDir: join(dataDir, "workers"), sizeClass: 2, slots: 1 },
      {},
    );
    machines.set(name, await startWorker(config, silent));
  }

  async function end(name: string): Promise<void> {
    await call("POST", "/drains", { pattern: name, reason: "not needed" });
    const heldBy = async () =>
      (await workers()).find((worker) => worker.name === name)?.heldCount ?? 0;
    gone.push({ name, held: await heldBy() });
    while ((await heldBy()) > 0) await wait(100);
    await machines.get(name)?.stop();
    machines.delete(name);
    await call("POST", "/drains/remove", { pattern: name });
  }

  async function step(): Promise<readonly ScaledClass[]> {
    const classes = await scaled();
    for (const { desired, drain } of classes) {
      for (let missing = desired - machines.size; missing > 0; missing--) await start();
      most = Math.max(most, machines.size);
      await Promise.all(drain.filter((name) => machines.has(name)).map(end));
    }
    return classes;
  }

  return {
    machines,
    gone,
    most: () => most,
    /** Follows the farm's figures until a condition is true. */
    async until(reached: (classes: readonly ScaledClass[]) => boolean | Promise<boolean>) {
      while (!(await reached(await step()))) await wait(200);
    },
  };
}

test("workers come from zero when something waits, and go when nothing does; nothing is lost", async () => {
  // Given a class that is only declared, and three jobs
  await declare(2);
  const repository = testRepository(dataDir);
  const jobs = ["a", "b", "c"].map(
    (name) => `  ${name}: {commands: "sleep 2 # ${name}", inputs: []}`,
  );
  repository.write({ ".grange/farm.yml": `version: 1\njobs:\n${jobs.join("\n")}\n` });
  repository.commit("Begin");
  const { id } = (await call("POST", "/graphs", { repository: repository.path })) as { id: string };
  const graph = async () => Graph.parse(await call("GET", `/graphs/${id}`));
  while ((await graph()).jobList.some(({ state }) => state !== "queued")) await wait(50);
  const { waiting } = JobWaiting.parse(await call("GET", `/graphs/${id}/jobs/a/waiting`));

  // When an autoscaler follows the farm's figures, and fewer workers are allowed while two of them are busy
  const scaler = autoscaler();
  await scaler.until(
    async () => (await workers()).filter(({ heldCount }) => heldCount > 0).length === 2,
  );
  await declare(1);
  await scaler.until(async () => (await graph()).state !== "running");
  await scaler.until(([only]) => only?.desired === 0 && scaler.machines.size === 0);

  // Then
  expect(waiting).toMatchObject({
    kind: "capacity-none",
    sentence:
      "waits for a worker of size class 2 to be started: the class is declared, and no worker of it is running",
  });
  expect((await graph()).state).toBe("succeeded");
  expect(scaler.most()).toBe(2);
  expect(scaler.gone.some(({ held }) => held > 0)).toBe(true);
  const db = openPostgres({ url: databaseUrl, poolSize: 1 });
  const attempts = await db.many(
    z.object({ outcome: z.string(), attempt: z.number() }),
    sql`select outcome, attempt from execution`,
  );
  await db.close();
  expect(attempts).toEqual(Array.from({ length: 3 }, () => ({ outcome: "succeeded", attempt: 1 })));
});
