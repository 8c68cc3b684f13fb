import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { openPostgres } from "../postgres.ts";
import { sql } from "../sql.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded-postgres.ts";

const undo: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of undo.splice(0).toReversed()) await each();
});

async function tempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "grange-embedded-"));
  undo.push(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

async function start(dataDir: string, onRestart?: () => void): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, ...(onRestart ? { onRestart } : {}) });
  undo.push(() => server.stop());
  return server;
}

const Row = z.object({ n: z.number() });

test("what was committed is there after kill -9, and the server comes back by itself", async () => {
  let restarted = () => {};
  const restart = new Promise<void>((resolve) => (restarted = resolve));
  const server = await start(await tempDir(), () => restarted());
  const db = openPostgres({ url: server.url });
  undo.push(() => db.close());
  await db.script("create table kept (n integer); insert into kept values (7)");

  process.kill(server.pid() ?? 0, "SIGKILL");
  await restart;

  const rows = await untilAnswered(() => db.many(Row, sql`select n from kept`));
  expect(rows).toEqual([{ n: 7 }]);
});

test("a server that outlived its owner is ended, and its data is served on", async () => {
  const dataDir = await tempDir();
  const first = await start(dataDir);
  const firstPid = first.pid() ?? 0;
  const db = openPostgres({ url: first.url });
  await db.script("create table kept (n integer); insert into kept values (7)");
  await db.close();

  // The first owner does not stop it: from the second one's view it is a stray.
  const second = await start(dataDir);

  expect(() => process.kill(firstPid, 0)).toThrow("ESRCH");
  const again = openPostgres({ url: second.url });
  undo.push(() => again.close());
  expect(await untilAnswered(() => again.many(Row, sql`select n from kept`))).toEqual([{ n: 7 }]);
});

test("a data directory that cannot be made is told with a way out", async () => {
  const dir = await tempDir();
  await writeFile(join(dir, "file"), "");

  await expect(startEmbeddedPostgres({ dataDir: join(dir, "file", "data") })).rejects.toThrow(
    /cannot write to the data directory .*GRANGE_DATA/,
  );
});

/** Asks until the server is back; bounded by the test's own time. */
async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
