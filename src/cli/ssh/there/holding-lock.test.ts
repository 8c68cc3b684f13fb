import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { holdingLock } from "./holding-lock.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "grange-lock-"));
  path = join(folder, "starting");
});
afterEach(() => rmSync(folder, { recursive: true }));

test("of two at once, one is told that the other is at it", async () => {
  const within = holdingLock(path, "w", () => holdingLock(path, "w", async () => "both"));

  await expect(within).rejects.toThrow(
    /somebody else \(process \d+\) is also starting the worker w/,
  );
  expect(await holdingLock(path, "w", async () => "next")).toBe("next");
});

test.each([
  { left: JSON.stringify({ pid: process.pid, startTime: "1" }), by: "an earlier process" },
  { left: "", by: "one that died while it wrote" },
])("a lock left by $by is nobody's", async ({ left }) => {
  writeFileSync(path, left);

  expect(await holdingLock(path, "w", async () => "done")).toBe("done");
});

test("of many who find a dead one's lock, never two hold it", async () => {
  let within = 0;
  let most = 0;
  let worked = 0;
  const work = async () => {
    most = Math.max(most, ++within);
    await new Promise((resolve) => setImmediate(resolve));
    within--;
    worked++;
  };
  for (let round = 0; round < 10; round++) {
    writeFileSync(path, JSON.stringify({ pid: process.pid, startTime: "1" }));
    await Promise.allSettled(Array.from({ length: 8 }, () => holdingLock(path, "w", work)));
  }

  expect(most).toBe(1);
  expect(worked).toBeGreaterThanOrEqual(10);
  expect(readdirSync(folder)).toEqual([]);
});
