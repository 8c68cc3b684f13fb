import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SealedFiles } from "./sealed-files.ts";

const mtime = 1_262_304_000;
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "grange-sealed-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const named = (name: string, mode = 0o644) => ({
  path: join(directory, name),
  bytes: Buffer.from(`bytes of ${name}`),
  mode,
});

test("a file has its bytes, its mode and its seal, for any umask", async () => {
  const files = [
    named("plain"),
    named("tool", 0o755),
    { ...named("empty"), bytes: Buffer.alloc(0) },
  ];
  const before = process.umask(0o077);

  const taken = await new SealedFiles(mtime).make(files).finally(() => process.umask(before));

  expect(taken).toEqual([]);
  for (const { path, bytes, mode } of files) {
    const { mtimeMs, mode: given } = statSync(path);
    expect([readFileSync(path), mtimeMs, given & 0o777]).toEqual([bytes, mtime * 1_000, mode]);
  }
});

test("a file whose name exists, or whose directory is missing, is left unchanged and reported", async () => {
  writeFileSync(join(directory, "b"), "somebody's");
  const all = ["a", "b", "gone/c", "d"].map((name) => named(name));

  const taken = await new SealedFiles(mtime).make(all);

  expect(taken).toEqual([all[1], all[2]]);
  expect(readdirSync(directory).toSorted()).toEqual(["a", "b", "d"]);
  expect(readFileSync(join(directory, "b"), "utf8")).toBe("somebody's");
});

test("a failed write is a failure, and leaves no file", async () => {
  const bytes = new Proxy(Buffer.from("x"), {}) as Uint8Array;

  await expect(new SealedFiles(mtime).make([{ ...named("x"), bytes }])).rejects.toThrow(TypeError);

  expect(readdirSync(directory)).toEqual([]);
});

test("a busy disk is written to from the thread pool, with the same result", async () => {
  let now = 0;
  // Each reading of the clock is 30 ms later.
  const files = new SealedFiles(mtime, () => (now += 30));
  writeFileSync(join(directory, "f7"), "somebody's");
  const all = Array.from({ length: 40 }, (_, n) => named(`f${n}`, 0o755));

  const taken = await files.make(all);

  expect(taken).toEqual([all[7]]);
  expect(all.filter(({ path }) => statSync(path).mtimeMs === mtime * 1_000).length).toBe(39);
});
