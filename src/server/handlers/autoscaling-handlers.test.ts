import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { CreatedToken } from "#api/access.ts";
import { Autoscaling } from "#api/autoscaling.ts";
import { DeclaredClass } from "#api/declared-class.ts";
import { Failure } from "#api/failure.ts";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { readServerConfig } from "../config.ts";
import { type RunningServer, startServer } from "../start-server.ts";

const databaseUrl = await freshDatabase();
let dataDir: string;
let server: RunningServer;
let admin: string | undefined;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-scaling-"));
  const config = readServerConfig({ dataDir, databaseUrl, port: 0, host: "127.0.0.1" }, {});
  server = await startServer(config, pino({ level: "silent" }));
  const { token } = CreatedToken.parse((await send("POST", "/tokens", { principal: "root" })).body);
  await send("POST", "/grants", { principal: "root", verb: "*", top: true });
  admin = token;
  await send("POST", "/grants/remove", { principal: "anyone", verb: "*" });
});
afterAll(async () => {
  await server.stop();
  await rm(dataDir, { recursive: true });
});

async function send(method: string, path: string, body?: unknown) {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: {
      "content-type": "application/json",
      ...(admin === undefined ? {} : { authorization: `Bearer ${admin}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as unknown };
}
const metrics = async () => (await fetch(`${server.url}/metrics`)).text();
const platform = { OSFamily: "Linux", pool: 'a "b"' };

test("a class is declared, scaled from zero, shown to scrapers, and undeclared", async () => {
  const wanted = { platform, sizeClass: 2, cpus: 2, memoryBytes: 8e9, price: 2, leastWorkers: 1 };

  const declared = await send("PUT", "/declared-classes", wanted);
  await send("PUT", "/declared-classes", { ...wanted, mostWorkers: 10, slotsPerWorker: 4 });

  expect(declared.status).toBe(200);
  const [listed, ...more] = z
    .array(DeclaredClass)
    .parse((await send("GET", "/declared-classes")).body);
  expect(more).toEqual([]);
  expect(listed).toMatchObject({
    ...wanted,
    platform: { ...platform, OSFamily: "linux" },
    mostWorkers: 10,
    slotsPerWorker: 4,
    declaredBy: "root",
  });
  const scaling = Autoscaling.parse((await send("GET", "/autoscaling")).body);
  expect(scaling).toMatchObject({
    unserved: 0,
    classes: [{ sizeClass: 2, isDeclared: true, desired: 1, now: 0, mostWorkers: 10, drain: [] }],
  });
  const labels = '{platform="OSFamily=linux,pool=a \\"b\\"",size_class="2"}';
  const text = await metrics();
  expect(text).toContain(`grange_workers_desired${labels} 1\n`);
  expect(text).toContain(`grange_workers_up${labels} 0\n`);
  expect(text).toContain(`grange_slots_busy${labels} 0\n`);

  const named = { platform, sizeClass: 2 };
  expect(await send("DELETE", "/declared-classes", named)).toEqual({ status: 200, body: [] });
  expect((await send("DELETE", "/declared-classes", named)).status).toBe(404);
  expect(Autoscaling.parse((await send("GET", "/autoscaling")).body).classes).toEqual([]);

  const db = openPostgres({ url: databaseUrl, poolSize: 1 });
  const what = await db.many(
    z.object({ actor: z.string(), what: z.string() }),
    sql`
      select actor, detail->>'what' as what from audit_entry
      where verb = 'administer' and detail->>'what' like '%size class' order by seq
    `,
  );
  await db.close();
  expect(what.map((each) => `${each.actor}: ${each.what}`)).toEqual([
    "root: declare size class",
    "root: declare size class",
    "root: undeclare size class",
  ]);
});

describe("what is no size class is refused:", () => {
  test.each([
    { what: "none", body: { platform } },
    { what: "zero", body: { platform, sizeClass: 0 } },
    { what: "a fraction", body: { platform, sizeClass: 1.5 } },
    { what: "a huge one", body: { platform, sizeClass: 1e9 } },
    { what: "a negative price", body: { platform, sizeClass: 1, price: -1 } },
    { what: "no CPU", body: { platform, sizeClass: 1, cpus: 0 } },
    {
      what: "more at least than at most",
      body: { platform, sizeClass: 1, leastWorkers: 2, mostWorkers: 1 },
    },
    { what: "a property that asks", body: { platform: { "min-size-class": "2" }, sizeClass: 1 } },
    { what: "a platform of numbers", body: { platform: { a: 1 }, sizeClass: 1 } },
    { what: "an unknown word", body: { platform, sizeClass: 1, workers: 3 } },
    { what: "too many slots", body: { platform, sizeClass: 1, slotsPerWorker: 1e6 } },
    { what: "a list", body: [] },
  ])("$what", async ({ body }) => {
    const { status, body: answer } = await send("PUT", "/declared-classes", body);

    expect(status).toBe(400);
    expect(Failure.parse(answer).error.code).toBe("invalid_argument");
  });
});

test("who may not administer declares nothing, and reads all", async () => {
  const mine = admin;
  admin = undefined;
  const body = { platform: {}, sizeClass: 1 };
  const statuses = [
    (await send("PUT", "/declared-classes", body)).status,
    (await send("DELETE", "/declared-classes", body)).status,
    (await send("GET", "/declared-classes")).status,
    (await send("GET", "/autoscaling")).status,
  ];
  admin = mine;

  expect(statuses).toEqual([403, 403, 200, 200]);
});
