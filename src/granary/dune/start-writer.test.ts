import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FileWriter, startWriter } from "./start-writer.ts";

let directory: string;
let writer: FileWriter;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "grange-writer-"));
  writer = startWriter(join(directory, "temp"));
});
afterEach(async () => {
  await writer.stop();
  await rm(directory, { recursive: true, force: true });
});

const file = (name: string, text: string, mode = 0o444) => ({
  path: join(directory, name),
  bytes: Buffer.from(text),
  mode,
});

test("files have the given bytes and modes, whatever the umask is", async () => {
  const before = process.umask(0o077);
  const masked = startWriter(join(directory, "temp"));
  try {
    await masked.put([file("a/one", "1"), file("b/program", "#!", 0o555), file("a/empty", "")]);
  } finally {
    process.umask(before);
    await masked.stop();
  }

  expect(await readFile(join(directory, "a/one"), "utf8")).toBe("1");
  expect((await stat(join(directory, "a/one"))).mode & 0o777).toBe(0o444);
  expect((await stat(join(directory, "b/program"))).mode & 0o777).toBe(0o555);
  expect(await readFile(join(directory, "a/empty"), "utf8")).toBe("");
  expect(await readdir(join(directory, "temp"))).toEqual([]);
});

test("writes bytes that are part of a larger buffer, and the caller keeps the buffer", async () => {
  const all = Buffer.from("left right");

  await writer.put([{ ...file("word", ""), bytes: all.subarray(5) }]);

  expect(await readFile(join(directory, "word"), "utf8")).toBe("right");
  expect(all.toString()).toBe("left right");
});

test("two simultaneous writes of one file give one complete file", async () => {
  await Promise.all(Array.from({ length: 20 }, () => writer.put([file("same", "bytes")])));

  expect(await readFile(join(directory, "same"), "utf8")).toBe("bytes");
});

test("reports a file that cannot be written, removes its parts, and does not write later files", async () => {
  await writeFile(join(directory, "blocked"), "a file, where a directory should be");

  const put = writer.put([file("a", "a"), file("blocked/x", "x"), file("after", "after")]);

  await expect(put).rejects.toMatchObject({ code: "ENOTDIR" });
  expect(existsSync(join(directory, "a"))).toBe(true);
  expect(existsSync(join(directory, "after"))).toBe(false);
  expect(await readdir(join(directory, "temp"))).toEqual([]);
  await writer.put([file("next", "goes on")]);
  expect(await readFile(join(directory, "next"), "utf8")).toBe("goes on");
});

test("stop finishes accepted writes, and later writes are rejected", async () => {
  const puts = Array.from({ length: 50 }, (_, n) => writer.put([file(`n${n}`, `${n}`)]));

  await writer.stop();

  await Promise.all(puts);
  expect((await readdir(directory)).length).toBe(51);
  await expect(writer.put([file("late", "late")])).rejects.toMatchObject({ code: "unavailable" });
});

test("creates missing directories", async () => {
  await mkdir(join(directory, "here"));
  await chmod(join(directory, "here"), 0o700);

  await writer.makeDirectories(["here", "new"].map((name) => join(directory, name)));

  expect(existsSync(join(directory, "new"))).toBe(true);
  expect((await stat(join(directory, "here"))).mode & 0o777).toBe(0o700);
});
