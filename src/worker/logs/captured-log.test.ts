import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { CapturedLog } from "./captured-log.ts";

const directory = await mkdtemp(join(tmpdir(), "grange-log-"));
afterAll(() => rm(directory, { recursive: true }));

let count = 0;
/** Returns a real pipe: its read end and its write end. */
function pipe() {
  const path = join(directory, `pipe-${count++}`);
  execFileSync("mkfifo", [path]);
  const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { readEnd, writeEnd: openSync(path, constants.O_WRONLY), file: `${path}.log` };
}

test("a listener receives all output, even beyond the stored limit", async () => {
  const { readEnd, writeEnd, file } = pipe();
  const heard: Buffer[] = [];
  const log = new CapturedLog(file, readEnd, 4, {
    hear: async (bytes) => void heard.push(Buffer.from(bytes)),
  });

  writeSync(writeEnd, "0123456789");
  closeSync(writeEnd);
  await log.end();
  await log.close();

  expect(Buffer.concat(heard).toString()).toBe("0123456789");
  expect(await readFile(file, "utf8")).toMatch(/^0123\n\[grange: the log was cut/);
});

test("a slow listener receives all output from before the end", async () => {
  const { readEnd, writeEnd, file } = pipe();
  const heard: number[] = [];
  let begun = () => {};
  const hearing = new Promise<void>((resolve) => {
    begun = resolve;
  });
  // Slower than the timeout for a pipe that another process keeps open, which is a second.
  const log = new CapturedLog(file, readEnd, 1e6, {
    hear: async (bytes) => {
      begun();
      await wait(1_200);
      heard.push(bytes.byteLength);
    },
  });

  writeSync(writeEnd, "x".repeat(20_000));
  await hearing;
  writeSync(writeEnd, "x".repeat(40_000));
  closeSync(writeEnd);
  await log.end();
  await log.close();

  expect(heard).toEqual([20_000, 40_000]);
});

test("a pipe that another process keeps open is abandoned", async () => {
  const { readEnd, writeEnd, file } = pipe();
  const log = new CapturedLog(file, readEnd, 1e6, { hear: async () => {} });
  writeSync(writeEnd, "last words\n");

  await log.end();
  await log.close();
  closeSync(writeEnd);

  expect(await readFile(file, "utf8")).toBe("last words\n");
});
