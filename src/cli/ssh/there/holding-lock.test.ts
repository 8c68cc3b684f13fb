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

  await expect(within).rejects.toThrow("somebody else is starting the worker w");
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  { left: JSON.stringify({ pid: process.pid, startTime: "1" }), by: "an earlier process" },
  { left: "", by: "one that died while it wrote" },
])("a lock left by $by is nobody's", async ({ left }) => {
  writeFileSync(path, left);

  expect(await holdingLock(path, "w", async () => "done")).toBe("done");
});
