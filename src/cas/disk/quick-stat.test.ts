import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { quickStatIn } from "./quick-stat.ts";

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
