import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sql } from "#db/sql.ts";
import { silent } from "#execution/execution.fixture.ts";
import { askServer } from "../../test/support/ask-server.ts";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import { readServerConfig } from "./config.ts";
import { type RunningServer, startServer } from "./start-server.ts";

let dataDir: string;
let databaseUrl: string;
let running: RunningServer[];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-access-"));
  databaseUrl = await freshDatabase();
  running = [];
});
afterEach(async () => {
  for (const server of running) await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function start(settings: Readonly<Record<string, unknown>> = {}): Promise<RunningServer> {
  const given = { dataDir, port: 0, databaseUrl, ...settings };
  const server = await startServer(readServerConfig(given, {}), silent);
  running.push(server);
  return server;
}

async function stopAll(): Promise<void> {
  for (const server of running.splice(0)) await server.stop();
}

async function settingAsToldTo(server: RunningServer, token?: string): Promise<string> {
  const { body } = await askServer(server, "GET", "/server", undefined, token);
  return (body as { access: string }).access;
}

/** Returns the setting that a server reports to its owner. */
async function settingOf(server: RunningServer): Promise<string> {
  const token = (await readFile(join(dataDir, "owner-token"), "utf8")).trim();
  return settingAsToldTo(server, token);
}

describe("a new farm", () => {
  test("on the machine's own address is open, and needs no token", async () => {
    const server = await start();

    expect(await settingAsToldTo(server)).toBe("open");
  });

  test("that others reach is private, and has tokens of an owner and of workers", async () => {
    const server = await start({ host: "0.0.0.0" });
    const response = await fetch(new URL("/api/v1/graphs", server.url));
    await response.body?.cancel();

    expect(response.status).toBe(403);
    expect(await settingOf(server)).toBe("private");
    expect(await readFile(join(dataDir, "worker-token"), "utf8")).toMatch(/^grange_/);
  });

  test.each(["public", "private"])(
    "gets the setting %s that it is started with",
    async (access) => {
      expect(await settingOf(await start({ access }))).toBe(access);
    },
  );

  test("keeps its setting when it is started again without one", async () => {
    await start({ access: "private" });
    await stopAll();

    expect(await settingOf(await start())).toBe("private");
  });
});

describe("a farm that is more open than its server is to be", () => {
  test("is not served, and the message says what to do", async () => {
    await start();
    await stopAll();

    await expect(start({ access: "private" })).rejects.toThrow(
      "this farm is open, but --access (GRANGE_ACCESS) is private: start the server without it, and change the farm with `grange access set private`",
    );
  });
});

test("an existing farm keeps the rights of its callers, wherever its server listens", async () => {
  const first = await start();
  await first.services.db.run(sql`delete from grant_rule where verb = '*'`);
  await stopAll();

  const server = await start({ host: "0.0.0.0" });

  expect(await settingAsToldTo(server)).toBe("public");
});
