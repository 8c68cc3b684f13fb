import fc from "fast-check";
import pino from "pino";
import { afterAll, beforeEach, expect, test } from "vitest";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { askForRedeliveries, readFrom, readUntil } from "./ask-for-redeliveries.ts";
import { insertDelivery } from "./delivery.store.ts";
import type { ForgeServices } from "./forge-services.ts";
import { defaultForgeTimes } from "./forge-times.ts";
import { memoryFarmPort } from "./memory-farm-port.fixture.ts";
import { type MemoryForge, memoryForge } from "./memory-forge.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());

const hourMs = 3_600_000;
const began = new Date("2026-01-10T00:00:00Z");
let now: Date;
let github: MemoryForge;
let reads: Date[];

beforeEach(async () => {
  await db.script("truncate forge_delivery, forge_redelivery, forge_delivery_mark");
  now = began;
  reads = [];
  github = memoryForge();
});

function ask() {
  const services: ForgeServices = {
    db,
    clock: { now: () => now },
    logger: pino({ level: "silent" }),
    service: memoryFarmPort(),
    forges: [
      { ...memoryForge(), kind: "git" },
      {
        ...github,
        webhooks: {
          begin: () => {
            throw new Error("nobody sends one here");
          },
          redeliveries: {
            ...github.redeliveries,
            list: (since) => {
              reads.push(since);
              return github.redeliveries.list(since);
            },
          },
        },
      },
    ],
    times: defaultForgeTimes,
    chance: () => 0.5,
  };
  return askForRedeliveries(services);
}

const lose = (guid: string, at: Date) =>
  github.sent.unshift({ id: guid, guid, event: "push", deliveredAt: at, wasTaken: false });

test("each check begins where the last one ended, on any server, and requests nothing twice", async () => {
  lose("a", new Date(now.getTime() - hourMs));
  await Promise.all([ask(), ask()]);
  now = new Date(now.getTime() + 5 * 60_000);
  lose("b", new Date(now.getTime() - 2 * 60_000));
  await ask();

  expect(github.redelivered).toEqual(["a", "b"]);
  const minutesBack = reads.map((since) => (began.getTime() - since.getTime()) / 60_000);
  // The second of two at once may begin after the first has ended.
  expect([minutesBack[0], minutesBack.at(-1)]).toEqual([360, 3]);
});

test("after a day of downtime, that day is checked, except what GitHub no longer records", async () => {
  await ask();
  now = new Date(now.getTime() + 24 * hourMs);
  lose("while it was down", new Date(now.getTime() - 20 * hourMs));
  await ask();
  now = new Date(now.getTime() + 30 * 24 * hourMs);
  await ask();

  expect(github.redelivered).toEqual(["while it was down"]);
  expect(reads.at(-1)).toEqual(new Date(now.getTime() - 72 * hourMs));
});

test("when too many deliveries are missing, the rest is requested by the next checks", async () => {
  for (let i = 0; i < 250; i++) lose(`${i}`, new Date(now.getTime() - hourMs + i * 1_000));
  const asked = [await ask(), await ask(), await ask(), await ask()];

  expect(asked).toEqual([100, 100, 50, 0]);
  expect(github.redelivered).toEqual(Array.from({ length: 250 }, (_, i) => `${i}`));
});

test("a failed check does not move the mark", async () => {
  lose("a", new Date(now.getTime() - hourMs));
  github.fails = () => true;
  await expect(ask()).rejects.toThrow("out of order");
  now = new Date(now.getTime() + 5.5 * hourMs);
  github.fails = () => false;

  await ask();

  expect(github.redelivered).toEqual([]);
  expect(reads).toHaveLength(2);
});

test("a delivery that arrived is not requested", async () => {
  const hint = { about: "refs" } as const;
  await db.transaction((tx) =>
    insertDelivery(tx, {
      kind: "github",
      id: "came",
      event: "push",
      slug: "o/n",
      hint,
      receivedAt: now,
    }),
  );
  lose("came", new Date(now.getTime() - hourMs));

  expect(await ask()).toBe(0);
  await db.run(sql`delete from forge_delivery`);
});

test("missing deliveries stay within the next check, and no check covers more than the forge's record", () => {
  const time = fc.integer({ min: 0, max: 10 * 86_400_000 }).map((ms) => new Date(ms));
  fc.assert(
    fc.property(fc.array(time), fc.nat(20), time, time, (times, asked, settled, at) => {
      const missing = times.map((deliveredAt) => ({ deliveredAt }));
      const left = times.toSorted((a, b) => a.getTime() - b.getTime()).slice(asked);
      const from = readFrom(readUntil(missing, asked, settled), at, 3 * 86_400_000);

      for (const each of left) {
        expect(from <= each || at.getTime() - from.getTime() === 3 * 86_400_000).toBe(true);
      }
      expect(at.getTime() - from.getTime()).toBeLessThanOrEqual(3 * 86_400_000);
    }),
  );
});
