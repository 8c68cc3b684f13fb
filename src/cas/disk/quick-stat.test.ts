import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { pausesAfterSlowCalls, quickStatIn } from "./quick-stat.ts";

test("a file is found, and one that is absent is not", async () => {
  const directory = await mkdtemp(join(tmpdir(), "grange-quick-stat-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, "here"), "1234");
  const stat = await quickStatIn(directory);

  expect(stat.call(join(directory, "here"))?.size).toBe(4);
  expect(stat.call(join(directory, "absent"))).toBeUndefined();
  expect(stat.call(join(directory, "here/below"))).toBeUndefined();
});

test.skipIf(process.platform !== "linux")(
  "files of a file system that is not known as local are left to the thread pool",
  async () => {
    expect((await quickStatIn("/proc")).mayCall()).toBe(false);
  },
);

test("two reads of a hard disk make a pause of a second; one late answer among quick ones does not", () => {
  const pauses = pausesAfterSlowCalls();
  const call = (at: number, ms: number) => pauses.note(at, at + ms);

  for (let i = 0; i < 1_000; i++) call(i, i % 100 === 50 ? 5 : 0.005);
  expect(pauses.isNow(1_000)).toBe(false);

  call(2_000, 8);
  call(2_008, 8);
  expect(pauses.isNow(2_017)).toBe(true);
  expect(pauses.isNow(3_015)).toBe(true);
  expect(pauses.isNow(3_017)).toBe(false);
});
