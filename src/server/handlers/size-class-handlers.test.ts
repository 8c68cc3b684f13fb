import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { CreatedToken } from "#api/access.ts";
import { Failure } from "#api/failure.ts";
import {
  ExecutionSizeClass,
  SizeClassDetail,
  SizeClasses,
  SizeClassKeyDetail,
  SizeClassKeys,
  SizeClassSettingsNow,
} from "#api/size-class.ts";
import type { Db } from "#db/db.ts";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { aWorker } from "#execution/execution.fixture.ts";
import { registerWorkers } from "#execution/leasing/worker.store.ts";
import {
  aDecision,
  aKey,
  anAttempt,
  anEndedExecution,
} from "#size-classes/pages/size-class-rows.fixture.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { readServerConfig } from "../config.ts";
import { type RunningServer, startServer } from "../start-server.ts";

const databaseUrl = await freshDatabase();
let dataDir: string;
let db: Db;
let server: RunningServer;
let id: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-sizes-"));
  db = openPostgres({ url: databaseUrl, poolSize: 1 });
  for (const platform of [{ OSFamily: "linux" }, { OSFamily: "macos" }]) {
    await registerWorkers(db, [aWorker(platform.OSFamily, { platform })], new Date());
  }
  const ended = await anEndedExecution(db);
  await aDecision(db, ended);
  await anAttempt(db, ended);
  await aKey(db, "a:k/1", { runs: {} });
  // As if it had just ended, because the answer covers the last day.
  await db.run(sql`update execution set finished_at = now()`);
  id = ended;
  const config = readServerConfig({ dataDir, databaseUrl, port: 0, host: "127.0.0.1" }, {});
  server = await startServer(config, pino({ level: "silent" }));
});
afterAll(async () => {
  await server.stop();
  await db.close();
  await rm(dataDir, { recursive: true });
});

async function send(method: string, path: string, body?: unknown, token?: string) {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as unknown };
}
const get = async (path: string) => (await send("GET", path)).body;

test("an execution's decisions are told", async () => {
  const explained = ExecutionSizeClass.parse(await get(`/executions/${id}/size-class`));

  expect(explained).toMatchObject({
    sentence: "Size class 1 was chosen.",
    decisions: [{ key: "a:k", runs: [{ outcome: "succeeded" }] }],
  });
});

test.each([
  { path: `/executions/${randomUUID()}/size-class`, status: 404, says: "may be so old" },
  { path: "/executions/latest/size-class", status: 400, says: "which is a UUID" },
  { path: "/size-classes/77", status: 404, says: "`grange size-classes` lists them" },
  {
    path: "/size-classes/1",
    status: 400,
    says: 'platform=NAME: "OSFamily=linux"; "OSFamily=macos"',
  },
  { path: "/size-classes/1?platform=OSFamily%3Dplan9", status: 404, says: "OSFamily=plan9" },
  { path: "/size-classes/one", status: 400, says: "a size class is a number" },
  { path: "/size-class-keys/a%3Ano", status: 404, says: 'in the project "default"' },
  { path: "/size-class-keys?limit=0", status: 400, says: "limit" },
  { path: "/size-class-keys?before=x", status: 400, says: "`before` is none" },
  { path: `/size-class-keys?text=${"x".repeat(201)}`, status: 400, says: "text" },
])("$path is answered with $status and a sentence", async ({ path, status, says }) => {
  const { status: answered, body } = await send("GET", path);

  expect(answered).toBe(status);
  expect(Failure.parse(body).error.message).toContain(says);
});

test("classes, one of them, keys and one of them are told", async () => {
  const classes = SizeClasses.parse(await get("/size-classes"));
  const one = SizeClassDetail.parse(await get("/size-classes/1?platform=OSFamily%3Dlinux"));
  const keys = SizeClassKeys.parse(await get("/size-class-keys"));
  const key = SizeClassKeyDetail.parse(await get("/size-class-keys/a%3Ak%2F1?project=p"));

  expect(classes.platforms.map(({ name }) => name)).toEqual(["OSFamily=linux", "OSFamily=macos"]);
  expect(one).toMatchObject({ name: "OSFamily=linux", class: { runs: 1, cost: 8 }, others: [] });
  expect(one.keys).toMatchObject([{ key: "a:k", cost: 8 }]);
  expect(keys).toMatchObject({ keys: [{ key: "a:k" }], next: null });
  expect(key).toMatchObject({ key: "a:k/1", decisions: [] });
});

test("settings are changed by who administers the farm, and that is kept", async () => {
  const created = await send("POST", "/tokens", { principal: "ada" });
  const { token } = CreatedToken.parse(created.body);
  const change = { strategy: "adr", priceOfDelay: 2 };

  const refused = await send("PUT", "/size-classes/settings", change, token);
  const changed = await send("PUT", "/size-classes/settings", change);
  const wrong = await send("PUT", "/size-classes/settings", { strategy: "tarot" });
  const unknown = await send("PUT", "/size-classes/settings", { moon: "full" });
  const now = SizeClassSettingsNow.parse(await get("/size-classes/settings"));

  expect(refused.status).toBe(403);
  expect(changed.status).toBe(200);
  expect([wrong.status, unknown.status]).toEqual([400, 400]);
  expect(now).toMatchObject({
    settings: change,
    usual: { strategy: "grange" },
    changedBy: "anyone",
  });
  const audit = await db.many(
    z.object({ detail: z.record(z.string(), z.unknown()) }),
    sql`select detail from audit_entry where detail ->> 'what' like 'set how%'`,
  );
  expect(audit).toMatchObject([{ detail: change }]);
});
