import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { CreatedToken } from "#api/access.ts";
import { ClaimAnswer, Collectors, CollectorView, CollectorWelcome } from "#api/collector.ts";
import { Failure } from "#api/failure.ts";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { aLab, aSuite, emptyLab, figuresOf } from "#perf/perf.fixture.ts";
import { metricsOf } from "#suites/metrics-of.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { readServerConfig } from "../config.ts";
import { type RunningServer, startServer } from "../start-server.ts";

const databaseUrl = await freshDatabase();
const db = openPostgres({ url: databaseUrl });
let dataDir: string;
let server: RunningServer;
const tokens: Record<"root" | "lab" | "reader", string | undefined> = {
  root: undefined,
  lab: undefined,
  reader: undefined,
};

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-collectors-"));
  const config = readServerConfig({ dataDir, databaseUrl, port: 0, host: "127.0.0.1" }, {});
  server = await startServer(config, pino({ level: "silent" }));
  const made: typeof tokens = { ...tokens };
  for (const principal of ["root", "lab", "reader"] as const)
    made[principal] = CreatedToken.parse((await send("POST", "/tokens", { principal })).body).token;
  await send("POST", "/grants", { principal: "root", verb: "*", top: true });
  await send("POST", "/grants", { principal: "lab", verb: "measure", repository: "lab-*" });
  tokens.root = made.root;
  await send("POST", "/grants/remove", { principal: "anyone", verb: "*" });
  Object.assign(tokens, made);
});
afterAll(async () => {
  await server.stop();
  await db.close();
  await rm(dataDir, { recursive: true });
});
beforeEach(() => emptyLab(db));

async function send(
  method: string,
  path: string,
  body?: unknown,
  as: keyof typeof tokens = "root",
) {
  const token = tokens[as];
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
const collectors = "/benchmarks/collectors";
const wanted = { name: "lab-1", target: "linux-x64", set: 0 };
const failureOf = (body: unknown) => Failure.parse(body).error;

async function hello(name = "lab-1") {
  const incarnation = randomUUID();
  const said = { incarnation, version: "0.1.0", environment: { cpu: "fast" } };
  const { body } = await send("POST", `${collectors}/${name}/hello`, said, "lab");
  CollectorWelcome.parse(body);
  return incarnation;
}

test("a collector is added, says hello, measures a job and ends it", async () => {
  const lab = await aLab(db);
  const added = await send("POST", collectors, wanted);
  expect([added.status, CollectorView.parse(added.body).state]).toEqual([201, "never-seen"]);
  const incarnation = await hello();

  const claimed = await send(
    "POST",
    `${collectors}/lab-1/claim`,
    { incarnation, waitMs: 0 },
    "lab",
  );
  const { job } = ClaimAnswer.parse(claimed.body);
  if (job === null) throw new Error("no job");
  expect(job.id).toBe(lab.jobs[0]);
  const holder = { collector: "lab-1", incarnation, epoch: job.epoch };
  const tell = (what: string, body: object) =>
    send("POST", `/benchmarks/jobs/${job.id}/${what}`, { holder, ...body }, "lab");
  expect((await tell("heartbeat", {})).body).toEqual({ cancelled: false, leaseMs: 60_000 });
  for (const { case: testCase } of job.cases) {
    const iterations = figuresOf(testCase);
    const report = { case: testCase, metrics: metricsOf(aSuite()), iterations };
    expect((await tell("test", report)).body).toEqual({ iterations: 2, pairs: 0 });
  }
  expect((await tell("end", { end: { outcome: "success" } })).body).toEqual({ state: "success" });

  const listed = Collectors.parse((await send("GET", collectors)).body);
  expect(listed.collectors).toMatchObject([{ name: "lab-1", state: "waiting", job: null }]);
  expect(listed.collectors[0]?.meanJobSeconds).toBeGreaterThanOrEqual(0);
});

test("a claim that waits is answered when the collector is put back in duty", async () => {
  await aLab(db);
  await send("POST", collectors, wanted);
  await send("POST", `${collectors}/lab-1`, { outOfDuty: "a fan is broken" });
  const incarnation = await hello();
  const claim = (waitMs: number) =>
    send("POST", `${collectors}/lab-1/claim`, { incarnation, waitMs }, "lab");
  // Strict: the server sends nothing that its OpenAPI document does not have.
  expect(ClaimAnswer.strict().parse((await claim(0)).body)).toMatchObject({
    job: null,
    because: "collector lab-1 is out of duty: a fan is broken",
  });

  const waiting = claim(60_000);
  await send("POST", `${collectors}/lab-1`, { outOfDuty: null });

  expect(ClaimAnswer.parse((await waiting).body).job).not.toBeNull();
});

test("who may measure may do so for the collectors of its grant, and register none", async () => {
  await send("POST", collectors, wanted);
  await send("POST", collectors, { name: "other", target: "linux-x64", set: 1 });
  const incarnation = await hello();
  const refused = async (path: string, body: object, as: "lab" | "reader") => {
    const { status, body: answer } = await send("POST", path, body, as);
    return [status, failureOf(answer).code];
  };
  const claim = { incarnation, waitMs: 0 };
  const denied = [403, "permission_denied"];

  expect(await refused(`${collectors}/other/claim`, claim, "lab")).toEqual(denied);
  expect(await refused(`${collectors}/lab-1/claim`, claim, "reader")).toEqual(denied);
  expect(await refused(collectors, { ...wanted, name: "lab-2" }, "lab")).toEqual(denied);
  expect(await refused(`${collectors}/lab-1`, { active: false }, "lab")).toEqual(denied);
  const holder = { collector: "other", incarnation, epoch: 1 };
  const beat = `/benchmarks/jobs/${randomUUID()}/heartbeat`;
  expect(await refused(beat, { holder }, "lab")).toEqual(denied);
});

test("what is changed is in the audit, and what is refused is not", async () => {
  await db.run(sql`delete from audit_entry`);
  await send("POST", collectors, wanted);
  expect((await send("POST", collectors, wanted)).status).toBe(409);
  await send("POST", `${collectors}/lab-1`, { active: false });
  expect((await send("DELETE", `${collectors}/lab-1`)).status).toBe(200);
  expect((await send("DELETE", `${collectors}/lab-1`)).status).toBe(404);

  const Entry = z.object({ actor: z.string(), detail: z.record(z.string(), z.unknown()) });
  const entries = await db.many(Entry, sql`select actor, detail from audit_entry order by seq`);
  expect(entries).toMatchObject([
    { actor: "root", detail: { what: "add collector", ...wanted } },
    { actor: "root", detail: { what: "change collector", name: "lab-1", active: false } },
    { actor: "root", detail: { what: "remove collector", name: "lab-1" } },
  ]);
});

test.each([
  ["/benchmarks/jobs/nonsense/heartbeat", 400],
  [`/benchmarks/jobs/${randomUUID()}/heartbeat`, 404],
])("a heartbeat at %s is answered with %i", async (path, status) => {
  await send("POST", collectors, wanted);
  const holder = { collector: "lab-1", incarnation: await hello(), epoch: 1 };

  expect((await send("POST", path, { holder }, "lab")).status).toBe(status);
});

test("a name that none can have is that of no collector", async () => {
  const claim = { incarnation: randomUUID(), waitMs: 0 };

  expect((await send("POST", `${collectors}/%20*/claim`, claim)).status).toBe(404);
});
