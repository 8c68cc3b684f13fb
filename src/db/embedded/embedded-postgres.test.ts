import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { rest } from "#core/resting.ts";
import { openPostgres } from "../postgres.ts";
import { sql } from "../sql.ts";
import {
  type EmbeddedOptions,
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from "./embedded-postgres.ts";
import { childrenOf, type StopStep } from "./end-postgres.ts";

const undo: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of undo.splice(0).toReversed()) await each();
});

async function tempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "grange-embedded-"));
  undo.push(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

async function start(
  dataDir: string,
  options: Omit<EmbeddedOptions, "dataDir"> = {},
): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, ...options });
  undo.push(() => server.stop());
  return server;
}

/** Starts a server in another process, which owns it. When the owner is killed, the server outlives it. */
async function startOwner(dataDir: string) {
  const script = new URL("owner-process.fixture.ts", import.meta.url).pathname;
  const owner = spawn(process.execPath, ["--import", "tsx", script, dataDir]);
  undo.push(async () => void owner.kill("SIGKILL"));
  const [line] = await once(createInterface({ input: owner.stdout }), "line");
  const { pid, url } = z.object({ pid: z.number(), url: z.string() }).parse(JSON.parse(line));
  return { pid, url, killOwner: () => owner.kill("SIGKILL") };
}

const Row = z.object({ n: z.number() });

test("what was committed is there after kill -9, and the server comes back by itself", async () => {
  let restarted = () => {};
  const restart = new Promise<void>((resolve) => (restarted = resolve));
  const server = await start(await tempDir(), { onRestart: () => restarted() });
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
  const first = await startOwner(dataDir);
  const db = openPostgres({ url: first.url });
  await db.script("create table kept (n integer); insert into kept values (7)");
  await db.close();

  first.killOwner();
  const second = await start(dataDir);

  expect(await commandLineOf(first.pid)).toBe("");
  const again = openPostgres({ url: second.url });
  undo.push(() => again.close());
  expect(await again.many(Row, sql`select n from kept`)).toEqual([{ n: 7 }]);
});

/** Ends hanging processes sooner than by default. */
const stopSteps: readonly StopStep[] = [
  { signal: "SIGINT", withinMs: 1_000 },
  { signal: "SIGQUIT", withinMs: 10_000 },
  { signal: "SIGKILL", withinMs: 10_000 },
];

test("a server that hangs when it is told to stop is ended, and what was committed is there", async () => {
  const dataDir = await tempDir();
  const server = await startOwner(dataDir);
  const db = openPostgres({ url: server.url });
  await db.script("create table kept (n integer); insert into kept values (7)");
  await db.close();
  // Given a PostgreSQL whose checkpointer is stopped: without it, no clean shutdown is possible
  process.kill(await checkpointerOf(server.pid), "SIGSTOP");

  server.killOwner();
  const again = await start(dataDir, { stopSteps });

  const opened = openPostgres({ url: again.url });
  undo.push(() => opened.close());
  expect(await untilAnswered(() => opened.many(Row, sql`select n from kept`))).toEqual([{ n: 7 }]);
});

test("a server that recovered when its owner died is ended, and what was committed is there", async () => {
  const dataDir = await tempDir();
  const server = await startOwner(dataDir);
  const db = openPostgres({ url: server.url });
  undo.push(() => db.close());
  await db.script(
    "create table kept (n integer); insert into kept select generate_series(1, 20000)",
  );
  // Given a shutdown request in the middle of a recovery, as after the owner's death: it never shuts down
  const [backend] = await db.many(
    z.object({ pid: z.number() }),
    sql`select pg_backend_pid() as pid`,
  );
  const checkpointer = await checkpointerOf(server.pid);
  process.kill(backend?.pid ?? 0, "SIGKILL");
  while ((await commandLineOf(checkpointer)) !== "") await rest(1);
  process.kill(server.pid, "SIGINT");
  server.killOwner();

  const again = await start(dataDir);

  const opened = openPostgres({ url: again.url });
  undo.push(() => opened.close());
  expect(await opened.many(Row, sql`select count(*)::integer as n from kept`)).toEqual([
    { n: 20_000 },
  ]);
});

test("a first process that was killed and is never reaped does not prevent the next start", async () => {
  const dataDir = await tempDir();
  const before = await start(dataDir);
  const socketDir = new URL(before.url).searchParams.get("host") ?? "";
  await before.stop();
  // `sleep` never waits for the child that it inherits from the shell.
  const parent = spawn("sh", ["-c", "sleep 0.2 & echo $!; exec sleep 60"]);
  undo.push(async () => void parent.kill());
  const [line] = await once(createInterface({ input: parent.stdout }), "line");
  await expect.poll(() => stateOf(Number(line))).toBe("Z");
  // As after `kill -9`, both of its locks are left.
  await writeFile(join(dataDir, "pgdata", "postmaster.pid"), `${line}\n`);
  await mkdir(socketDir, { mode: 0o700 });
  await writeFile(join(socketDir, ".s.PGSQL.5432.lock"), `${line}\n`);

  const again = await start(dataDir);

  const opened = openPostgres({ url: again.url });
  undo.push(() => opened.close());
  expect(await opened.many(Row, sql`select 1 as n`)).toEqual([{ n: 1 }]);
});

test("processes that outlived PostgreSQL's first one are ended, also those that do not notice", async () => {
  const dataDir = await tempDir();
  let restarted = () => {};
  const restart = new Promise<void>((resolve) => (restarted = resolve));
  const server = await start(dataDir, { onRestart: () => restarted() });
  const db = openPostgres({ url: server.url, poolSize: 1 });
  await db.script("create table kept (n integer); insert into kept values (7)");
  const postmaster = server.pid() ?? 0;
  // Given a process that is stopped when the postmaster is killed
  const checkpointer = await checkpointerOf(postmaster);
  process.kill(checkpointer, "SIGSTOP");
  process.kill(postmaster, "SIGKILL");
  await restart;

  const opened = openPostgres({ url: server.url });
  undo.push(() => opened.close());
  expect(await untilAnswered(() => opened.many(Row, sql`select n from kept`))).toEqual([{ n: 7 }]);
  expect(await commandLineOf(checkpointer)).toBe("");
  await db.close();
});

test("a server is stopped while it recovers from the loss of a process, and starts again", async () => {
  const dataDir = await tempDir();
  for (let round = 0; round < 3; round++) {
    const server = await start(dataDir, { stopSteps });
    const db = openPostgres({ url: server.url });
    await db.script(
      "create table if not exists kept (n integer); insert into kept select generate_series(1, 20000)",
    );
    const [backend] = await db.many(
      z.object({ pid: z.number() }),
      sql`select pg_backend_pid() as pid`,
    );

    process.kill(backend?.pid ?? 0, "SIGKILL");
    await untilRecovering(server.url);
    await server.stop();
    await db.close();
  }

  const db = openPostgres({ url: (await start(dataDir)).url });
  undo.push(() => db.close());
  expect(await db.many(Row, sql`select count(*)::integer as n from kept`)).toEqual([{ n: 60_000 }]);
});

test("a data directory that cannot be made is told with a way out", async () => {
  const dir = await tempDir();
  await writeFile(join(dir, "file"), "");

  await expect(startEmbeddedPostgres({ dataDir: join(dir, "file", "data") })).rejects.toThrow(
    /cannot write to the data directory .*GRANGE_DATA/,
  );
});

/** Returns an empty text for a process that has ended, also for a zombie. */
function commandLineOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
}

async function checkpointerOf(postmaster: number): Promise<number> {
  for (const pid of await childrenOf(postmaster)) {
    if ((await readFile(`/proc/${pid}/cmdline`, "utf8")).includes("checkpointer")) return pid;
  }
  throw new Error("there is no checkpointer");
}

/** Resolves as soon as PostgreSQL reports that it recovers: a stop request at this moment is never completed. */
async function untilRecovering(url: string): Promise<void> {
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => {});
    const code = await client.connect().then(
      () => undefined,
      (reason: { code?: string }) => reason.code,
    );
    await client.end().catch(() => {});
    if (code === "57P03") return;
  }
}

/** Retries until the server is back; limited by the test's timeout. */
async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Returns the state of a process as the kernel names it: `Z` for one that has ended and is not reaped. */
async function stateOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat.slice(stat.lastIndexOf(")") + 2)[0];
}
