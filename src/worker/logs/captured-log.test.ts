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

test("a listener receives all output; of a log beyond the limit, the beginning and the end are stored", async () => {
  const { readEnd, writeEnd, file } = pipe();
  const heard: Buffer[] = [];
  const log = new CapturedLog(file, readEnd, 1_000, {
    hear: async (bytes) => void heard.push(Buffer.from(bytes)),
  });

  const lines = Array.from({ length: 400 }, (_, n) => `line ${n}\n`).join("");
  writeSync(writeEnd, lines);
  closeSync(writeEnd);
  await log.end();
  await log.close();

  expect(Buffer.concat(heard).toString()).toBe(lines);
  const stored = await readFile(file, "utf8");
  expect(stored).toMatch(/^line 0\nline 1\n/);
  expect(stored).toContain("[grange: the log is too long; its end follows");
  expect(stored).toMatch(
    /\[grange: \d+ bytes are left out here, lines \d+ to \d+ of the output\]\nline \d+\n/,
  );
  expect(stored).toMatch(/line 398\nline 399\n$/);
  expect(stored.length).toBeLessThanOrEqual(1_000);

  const written = lines.split("\n").slice(0, -1);
  const shown = stored.split("\n");
  const found = written.map((_, at) => shown[log.storedLine(at + 1) - 1] ?? "");
  const missing = found.flatMap((line, at) => (line.startsWith("[grange: ") ? [at + 1] : []));
  expect(found.filter((line) => line.startsWith("line "))).toEqual(
    written.filter((_, at) => !missing.includes(at + 1)),
  );
  expect(stored).toContain(`lines ${missing[0]} to ${missing.at(-1)} of the output`);
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
