import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { type HeldLock, takeLock } from "#machine/holder-lock.ts";
import { readWorkerConfig } from "./config.ts";
import { FakeFarm } from "./fake-farm.fixture.ts";
import { startWorkerOn } from "./start-worker.ts";

async function startWorker() {
  const dataDir = mkdtempSync(join(tmpdir(), "grange-measured-"));
  const farm = new FakeFarm();
  const measuringLock = join(dataDir, "measuring.lock");
  const server = "http://127.0.0.1:1";
  const config = readWorkerConfig({ server, name: "w1", slots: 1, dataDir, measuringLock });
  const start = async () => {
    const worker = await startWorkerOn(farm, config, pino({ level: "silent" }));
    onTestFinished(async () => {
      await worker.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });
  };
  return { farm, start, measure: () => measure(measuringLock) };
}

async function measure(path: string): Promise<HeldLock> {
  const taken = await takeLock(path, "lab-1");
  if ("lock" in taken) return taken.lock;
  throw new Error("somebody else measures");
}

test("claims nothing while a collector measures on its machine, and works again afterwards", async () => {
  const { farm, start, measure: begin } = await startWorker();
  const measuring = await begin();
  await start();
  await farm.until(() => farm.registered);
  const id = await farm.submit({});

  await new Promise((resolve) => setTimeout(resolve, 700));
  expect({ claims: farm.claims, begun: farm.startedIds.has(id) }).toEqual({
    claims: 0,
    begun: false,
  });

  await measuring.release();
  await farm.end(id);
});

test("returns work that arrived after measuring began", async () => {
  const { farm, start, measure: begin } = await startWorker();
  await start();
  await farm.until(() => farm.claims > 0);
  const measuring = await begin();

  const id = await farm.submit({});

  await farm.until(() => farm.released.has(id) || undefined);
  expect(farm.startedIds.has(id)).toBe(false);
  await measuring.release();
});
