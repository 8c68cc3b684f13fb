import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readCodeCache, writeCodeCache } from "./code-cache.ts";

const uid = process.getuid?.();
const name = "server-v20.0.0";
const chunks = new Map([
  ["./main.cjs", Buffer.from("code of main")],
  ["./other.cjs", Buffer.from("code of another chunk")],
]);

let top: string;
let directory: string;
let file: string;
beforeEach(async () => {
  top = await mkdtemp(join(tmpdir(), "grange-code-cache-"));
  directory = join(top, "below", "code-cache");
  file = join(directory, name);
});
afterEach(() => rm(top, { recursive: true, force: true }));

test("returns what was written, in a directory of this user alone", async () => {
  writeCodeCache(directory, name, { chunks, isOfWholeStart: true });

  const read = readCodeCache(directory, name, uid);

  expect([...(read?.chunks ?? [])].map(([each, code]) => [each, String(code)])).toEqual([
    ["./main.cjs", "code of main"],
    ["./other.cjs", "code of another chunk"],
  ]);
  expect(read?.isOfWholeStart).toBe(true);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(directory)).toEqual([name]);
});

test("a file with one changed byte is not read, and is replaced", async () => {
  writeCodeCache(directory, name, { chunks, isOfWholeStart: true });
  const content = await readFile(file);
  content[content.length - 3] = 0;
  await writeFile(file, content);

  const damaged = readCodeCache(directory, name, uid);
  writeCodeCache(directory, name, { chunks, isOfWholeStart: true });

  expect(damaged).toBeUndefined();
  expect(readCodeCache(directory, name, uid)?.chunks.size).toBe(2);
});

test.each([0, 3, 8, 20])("a file that ends after %i bytes is not read", async (length) => {
  writeCodeCache(directory, name, { chunks, isOfWholeStart: true });
  await truncate(file, length);

  expect(readCodeCache(directory, name, uid)).toBeUndefined();
});

test("a file or a directory to which others can write is not read", async () => {
  writeCodeCache(directory, name, { chunks, isOfWholeStart: true });

  await chmod(file, 0o620);
  const writableFile = readCodeCache(directory, name, uid);
  await chmod(file, 0o600);
  await chmod(directory, 0o777);
  const writableDirectory = readCodeCache(directory, name, uid);
  await chmod(directory, 0o700);

  expect({ writableFile, writableDirectory }).toEqual({});
  expect(readCodeCache(directory, name, (uid ?? 0) + 1)).toBeUndefined();
  expect(readCodeCache(directory, name, uid)?.chunks.size).toBe(2);
});

test("where nothing can be written, nothing happens", async () => {
  await writeFile(join(top, "below"), "a file in place of the directory");

  writeCodeCache(directory, name, { chunks, isOfWholeStart: true });

  expect(readCodeCache(directory, name, uid)).toBeUndefined();
});

test("files that were written more than a month ago are removed", async () => {
  await mkdir(directory, { recursive: true });
  for (const each of ["old", "new"]) await writeFile(join(directory, each), "");
  const before = new Date(Date.now() - 31 * 24 * 60 * 60 * 1_000);
  await utimes(join(directory, "old"), before, before);

  writeCodeCache(directory, name, { chunks, isOfWholeStart: false });

  expect((await readdir(directory)).toSorted()).toEqual(["new", name]);
});
