import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { readWorkerConfig } from "./config.ts";
import { FakeFarm } from "./fake-farm.fixture.ts";
import { startWorkerOn } from "./start-worker.ts";
import { storeDirectoryIn } from "./store-directory.ts";

/** The only entry of a worker's directory that contains no data of jobs: the list of CPUs in use. */
const open = new Set(["cpus"]);

function directoriesOpenToOthers(path: string): string[] {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !open.has(entry.name))
    .map(({ name }) => join(path, name))
    .filter((directory) => (statSync(directory).mode & 0o077) !== 0);
}

test("a worker closes its directory to other users, even if it was open before", async () => {
  const parent = mkdtempSync(join(tmpdir(), "grange-closed-"));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const start = async (dataDir: string) => {
    const farm = new FakeFarm();
    const config = readWorkerConfig({
      server: "http://127.0.0.1:1",
      name: "w1",
      slots: 1,
      dataDir,
    });
    const worker = await startWorkerOn(farm, config, pino({ level: "silent" }));
    try {
      const inputs = [{ path: "a", text: "of a private repository" }];
      const { result } = await farm.run({ inputs, script: "cat a" });
      expect(Buffer.from(result?.stdoutRaw ?? []).toString()).toBe("of a private repository");
    } finally {
      await worker.stop();
    }
  };
  const fresh = join(parent, "fresh");
  const former = join(parent, "former");
  const formerStore = storeDirectoryIn(former);
  for (const directory of ["run", "spool"].map((name) => join(former, name)))
    mkdirSync(directory, { recursive: true });
  for (const name of ["blobs", "temp", "layers", "plans"])
    mkdirSync(join(formerStore, name), { recursive: true });
  chmodSync(former, 0o755);

  await start(fresh);
  await start(former);

  expect(statSync(fresh).mode & 0o777).toBe(0o700);
  // The operator created this directory, which may contain other files.
  expect(statSync(former).mode & 0o777).toBe(0o755);
  const store = formerStore === former ? [] : directoriesOpenToOthers(formerStore);
  const own = directoriesOpenToOthers(former).filter((path) => path !== formerStore);
  expect([...own, ...store]).toEqual([]);
});
