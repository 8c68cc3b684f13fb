import { appendFile, mkdtemp, open, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { olderLog, rotateClosedLog, rotateOpenLog } from "./log-file.ts";

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "grange-log-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test("a process that has the log open goes on in a small file, and the older part is kept once", async () => {
  const path = join(directory, "open.log");
  const log = await open(path, "a");
  await log.write("first\n");
  await rotateOpenLog(path, 100);
  await log.write(`${"x".repeat(100)}\n`);

  await rotateOpenLog(path, 100);
  await log.write("second\n");
  expect(await readFile(path, "utf8")).toBe("second\n");
  await log.write(`${"y".repeat(100)}\n`);
  await rotateOpenLog(path, 100);

  expect((await stat(path)).size).toBe(0);
  expect(await readFile(olderLog(path), "utf8")).toBe(`second\n${"y".repeat(100)}\n`);
  await log.close();
});

test("a log that nobody has open is moved aside when it is too large, and only then", async () => {
  const path = join(directory, "closed.log");
  await rotateClosedLog(path, 10);
  await appendFile(path, "short\n");
  await rotateClosedLog(path, 10);
  expect(await readFile(path, "utf8")).toBe("short\n");

  await appendFile(path, "and longer\n");
  await rotateClosedLog(path, 10);

  await expect(stat(path)).rejects.toThrow(/ENOENT/);
  expect(await readFile(olderLog(path), "utf8")).toBe("short\nand longer\n");
});
