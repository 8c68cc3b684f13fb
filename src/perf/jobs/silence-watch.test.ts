import pino from "pino";
import { afterAll, beforeEach, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { labTimes } from "../lab-times.ts";
import { aLab, emptyLab } from "../perf.fixture.ts";
import { aCollector, aLabServer, jobRow } from "./lab-driver.fixture.ts";
import { silenceWatch } from "./silence-watch.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() => emptyLab(db));

async function aSilentCollector() {
  const { jobs } = await aLab(db);
  const server = aLabServer(db);
  const collector = await aCollector(server, { name: "lab-1" });
  await collector.claim();
  server.clock.pass(labTimes.leaseMs);
  const lines: string[] = [];
  const logger = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
  const watch = silenceWatch({ db, clock: server.clock, logger, times: labTimes });
  const state = async () => (await jobRow(db, jobs[0])).state;
  return { server, watch, lines, state };
}

test("a server that has just started waits for the length of a lease before it counts collectors as silent", async () => {
  const { server, watch, lines, state } = await aSilentCollector();

  await watch();
  server.clock.pass(labTimes.leaseMs - 1);
  await watch();
  expect([await state(), lines]).toEqual(["in-progress", []]);

  server.clock.pass(1);
  await watch();
  await watch();
  expect(await state()).toBe("queued");
  expect(lines).toHaveLength(2);
  expect(lines.join()).toContain("a collector went silent");
});

test("a server that was suspended does the same", async () => {
  const { server, watch, state } = await aSilentCollector();

  server.clock.pass(labTimes.leaseMs + 1);
  await watch();
  expect(await state()).toBe("in-progress");

  server.clock.pass(labTimes.leaseMs);
  await watch();
  expect(await state()).toBe("queued");
});
