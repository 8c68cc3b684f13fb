import pino from "pino";
import { expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { openWriteQuota } from "./write-quota.ts";
import { forgetWritten } from "./written-bytes.store.ts";

const db = await freshDb();
const logger = pino({ level: "silent" });
let now = new Date("2026-11-24T22:00:00Z");
const clock = { now: () => now };
const open = (bytesPerDay: number | undefined) =>
  openWriteQuota({ db, clock, logger, bytesPerDay });

test("what somebody writes into a project on one day has a limit, which others and other projects have for themselves", async () => {
  const quota = open(100);
  await quota.take("ann", "a", 60);
  await quota.take("ann", "a", 40);

  await expect(quota.take("ann", "a", 1)).rejects.toThrow(
    /ann has written 100 of 100 bytes into a on 2026-11-24, and 1 more are too many: try again after 2026-11-25T00:00Z.*GRANGE_WRITE_QUOTA/,
  );
  await quota.take("ann", "b", 100);
  await quota.take("bob", "a", 100);
  await quota.stop();
});

test("a new day begins anew", async () => {
  const quota = open(100);
  await quota.take("cat", "a", 100);
  now = new Date("2026-11-25T00:00:01Z");

  await quota.take("cat", "a", 100);
  await expect(quota.take("cat", "a", 1)).rejects.toThrow("on 2026-11-25");

  await quota.stop();
});

test("what was not kept is given back", async () => {
  const quota = open(100);
  const giveBack = await quota.take("dan", "a", 100);
  await expect(quota.take("dan", "a", 100)).rejects.toThrow("too many");

  giveBack();

  await quota.take("dan", "a", 100);
  await expect(quota.take("dan", "a", 1)).rejects.toThrow("has written 100");
  await quota.stop();
});

test("servers share what was written, also what one gave back after it had stored it", async () => {
  const first = open(100);
  const giveBack = await first.take("eve", "a", 70);
  await first.stop();
  const second = open(100);
  await expect(second.take("eve", "a", 70)).rejects.toThrow("has written 70 of 100");
  await second.stop();

  giveBack();
  await first.stop();

  const third = open(100);
  await expect(third.take("eve", "a", 101)).rejects.toThrow("has written 0 of 100");
  await third.stop();
});

test("without a limit nothing is counted", async () => {
  const quota = open(undefined);
  await quota.take("fay", "a", Number.MAX_SAFE_INTEGER);
  await quota.stop();

  const limited = open(100);
  await expect(limited.take("fay", "a", 101)).rejects.toThrow("has written 0 of 100");
  await limited.stop();
});

test("earlier days are forgotten", async () => {
  const quota = open(100);
  now = new Date("2026-11-26T00:00:01Z");
  await quota.take("gil", "a", 10);
  await quota.stop();

  expect(await forgetWritten(db, "2026-11-26")).toBeGreaterThan(0);

  const later = open(100);
  await expect(later.take("gil", "a", 91)).rejects.toThrow("has written 10");
  await later.stop();
});
