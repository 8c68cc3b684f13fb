import pino from "pino";
import { afterAll, beforeEach, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aCollector, aLabServer } from "../jobs/lab-driver.fixture.ts";
import { silenceWatch } from "../jobs/silence-watch.ts";
import { labTimes } from "../lab-times.ts";
import { aLab, emptyLab } from "../perf.fixture.ts";
import { keepAlarms } from "./lab-alarm.store.ts";
import { afterSending, alarmSender } from "./send-alarms.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(async () => {
  await emptyLab(db);
  await db.script("delete from benchmark_alarm");
});

const logger = pino({ level: "silent" });

test("a collector that falls silent causes one alarm, which is sent until a receiver accepts it", async () => {
  await aLab(db);
  const { clock } = await silentLab();
  const sent: { id: string; body: Record<string, unknown> }[] = [];
  const answers = ["it answered 500", "it answered 503"];
  const send = alarmSender({
    db,
    clock,
    logger,
    send: async (alarm) => {
      sent.push({ id: alarm.id, body: alarm.body });
      return answers.shift();
    },
  });

  await send();
  await send();
  expect(sent).toHaveLength(1);
  clock.pass(1_000);
  await send();
  clock.pass(2_000);
  await send();
  clock.pass(3_600_000);
  await send();

  expect(sent).toHaveLength(3);
  expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
  expect(sent[0]?.body).toMatchObject({
    id: sent[0]?.id,
    kind: "collector-silent",
    collector: "lab-1",
    sentence: expect.stringContaining("Collector lab-1 went silent"),
  });
});

/** A server whose only collector has just been found silent. */
async function silentLab() {
  const server = aLabServer(db);
  const collector = await aCollector(server, { name: "lab-1" });
  await collector.claim();
  const watch = silenceWatch({ db, clock: server.clock, logger, times: labTimes });
  server.clock.pass(labTimes.leaseMs);
  await watch();
  server.clock.pass(labTimes.leaseMs);
  await watch();
  await watch();
  return server;
}

test("one of two servers sends an alarm", async () => {
  const { clock } = aLabServer(db);
  await keepAlarms(db, [{ kind: "collector-silent", collector: "lab-1" }], clock.now());
  let sent = 0;
  const send = async () => {
    sent += 1;
    return undefined;
  };
  const servers = [1, 2].map(() => alarmSender({ db, clock, logger, send }));

  await Promise.all(servers.map((each) => each()));

  expect(sent).toBe(1);
});

const start = new Date("2026-06-01T00:00:00Z");
const after = (ms: number) => new Date(start.getTime() + ms);
test.each([
  { attempts: 1, problem: undefined, expected: { state: "delivered" } },
  { attempts: 1, problem: "no", expected: { state: "pending", at: after(1_000), problem: "no" } },
  { attempts: 5, problem: "no", expected: { state: "pending", at: after(16_000), problem: "no" } },
  { attempts: 40, problem: "no", expected: { state: "failed", problem: "no" } },
])(
  "after try $attempts with problem $problem: $expected.state",
  ({ attempts, problem, expected }) => {
    expect(afterSending({ attempts, giveUpAt: after(3_000_000) }, problem, start)).toEqual(
      expected,
    );
  },
);
