import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { SharedSync } from "./shared-sync.ts";

test("callers that come during a sync share the next one, which begins after it", async () => {
  const disk = new SharedSync(tmpdir());
  const first = disk.sync();
  const ends: string[] = [];
  const second = disk.sync();
  const third = disk.sync();
  void first.then(() => ends.push("first"));
  void second.then(() => ends.push("second"));

  expect(second).not.toBe(first);
  expect(third).toBe(second);
  await second;

  expect(ends).toEqual(["first", "second"]);
  await disk.sync();
});

test("a failure is that of the callers of this sync only", async () => {
  const disk = new SharedSync("/absent/directory");
  const first = disk.sync();
  const second = disk.sync();

  await expect(first).rejects.toThrow("/absent/directory");
  await expect(second).rejects.toThrow("/absent/directory");
});
