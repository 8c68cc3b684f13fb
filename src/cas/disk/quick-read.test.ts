import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { quickReadIn } from "./quick-read.ts";

async function freshDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "grange-quick-read-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

test("a file of the expected size is read; one that is shorter, longer or absent is not", async () => {
  const directory = await freshDirectory();
  const path = join(directory, "file");
  await writeFile(path, "1234");
  await mkdir(join(directory, "directory"));
  const read = await quickReadIn(directory);

  expect(await read.call(path, 4)).toEqual(Buffer.from("1234"));
  expect(await read.call(path, 3)).toBeUndefined();
  expect(await read.call(path, 5)).toBeUndefined();
  expect(await read.call(join(directory, "absent"), 4)).toBeUndefined();
  expect(await read.call(join(directory, "directory"), 4)).toBeUndefined();
});

test.skipIf(process.platform !== "linux")(
  "files of a file system that is not known as local are left to the thread pool",
  async () => {
    const read = await quickReadIn("/proc");

    expect(await read.call("/proc/sys/kernel/ostype", 6)).toBeUndefined();
  },
);

test("a reader of very many files lets others in", async () => {
  const directory = await freshDirectory();
  const path = join(directory, "file");
  await writeFile(path, "1234");
  const read = await quickReadIn(directory);
  let hasOtherRun = false;
  setImmediate(() => {
    hasOtherRun = true;
  });

  for (let calls = 0; calls < 1_000_000 && !hasOtherRun; calls++) await read.call(path, 4);
  expect(hasOtherRun).toBe(true);
});
