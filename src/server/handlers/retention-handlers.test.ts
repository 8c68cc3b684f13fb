import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Retention } from "#api/retention.ts";
import { askServer } from "../../../test/support/ask-server.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { readServerConfig } from "../config.ts";
import { type RunningServer, startServer } from "../start-server.ts";

let dataDir: string;
let server: RunningServer;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-retention-"));
  const databaseUrl = await freshDatabase();
  const config = readServerConfig({ dataDir, databaseUrl, port: 0, host: "127.0.0.1" }, {});
  server = await startServer(config, pino({ level: "silent" }));
});
afterAll(async () => {
  await server.stop();
  await rm(dataDir, { recursive: true });
});

const ask = (method: string, path: string, body?: unknown) => askServer(server, method, path, body);
const standing = async () => Retention.parse((await ask("GET", "/retention")).body);
const dayMs = 24 * 60 * 60_000;

test("at first graphs are kept for 180 days, those of protected branches and the audit log for ever", async () => {
  const { rules, ages } = await standing();

  expect(rules.map(({ branch, keepMs, keepNewest }) => [branch, keepMs, keepNewest])).toEqual([
    ["*", 180 * dayMs, 50],
    ["@protected", null, 0],
  ]);
  expect(ages.map(({ kind, keepMs }) => [kind, keepMs])).toEqual([
    ["executions", 7 * dayMs],
    ["invocations", 30 * dayMs],
    ["audit", null],
    ["definitions", 180 * dayMs],
    ["benchmark-jobs", 30 * dayMs],
  ]);
});

test("a rule is set, set again and removed, and each is in the audit log", async () => {
  const place = { repository: "app", branch: "topic/*" };
  await ask("PUT", "/retention/rules", { ...place, keepMs: dayMs });
  await ask("PUT", "/retention/rules", { ...place, keepMs: 2 * dayMs, keepNewest: 3, most: 9 });
  const own = (await standing()).rules.filter(({ repository }) => repository === "app");
  expect(own).toMatchObject([{ ...place, keepMs: 2 * dayMs, keepNewest: 3, most: 9 }]);

  expect((await ask("POST", "/retention/rules/remove", place)).status).toBe(200);
  expect((await ask("POST", "/retention/rules/remove", place)).status).toBe(404);

  const { body } = await ask("GET", "/audit?verb=administer");
  const text = JSON.stringify(body);
  expect(text).toContain("set retention rule");
  expect(text).toContain("remove retention rule");
});

test("an age is set for one kind", async () => {
  await ask("PUT", "/retention/ages", { kind: "audit", keepMs: 365 * dayMs });

  const { ages } = await standing();
  expect(ages.find(({ kind }) => kind === "audit")).toMatchObject({
    keepMs: 365 * dayMs,
    setBy: "anyone",
  });
});

test.each([
  {
    what: "less than is kept of each branch",
    path: "/retention/rules",
    body: { repository: "*", branch: "*", keepMs: 1, keepNewest: 5, most: 4 },
  },
  {
    what: "a time of zero",
    path: "/retention/rules",
    body: { repository: "*", branch: "*", keepMs: 0 },
  },
  {
    what: "a kind that is unknown",
    path: "/retention/ages",
    body: { kind: "everything", keepMs: 1 },
  },
  {
    what: "a day for definitions, which submissions may use for a day without noting it,",
    path: "/retention/ages",
    body: { kind: "definitions", keepMs: dayMs },
  },
])("$what is refused", async ({ path, body }) => {
  expect((await ask("PUT", path, body)).status).toBe(400);
});

test("a label for a graph that is not there is refused", async () => {
  const { status } = await ask("POST", `/graphs/${randomUUID()}/holds`, { label: "case-17" });

  expect(status).toBe(404);
});
