import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { runProgram } from "../support/process.ts";
import { checkout } from "./installed-package.ts";

const version = /^\d+\.\d+\.\d+ \(commit /;

let top: string;
let caches: string;
beforeAll(async () => {
  top = await mkdtemp(join(tmpdir(), "grange-loader-"));
  caches = join(top, "dist", "code-cache");
  await cp(join(checkout, "package.json"), join(top, "package.json"));
  await cp(join(checkout, "dist"), join(top, "dist"), {
    recursive: true,
    filter: (path) => !path.endsWith("code-cache") && !path.endsWith("dist/web"),
  });
});
beforeEach(() => rm(caches, { recursive: true, force: true }));
afterAll(() => rm(top, { recursive: true, force: true }));

function printVersion(...options: readonly string[]) {
  return runProgram(process.execPath, [...options, join(top, "dist", "grange.js"), "--version"]);
}

async function onlyCache(): Promise<string> {
  const [name, ...others] = await readdir(caches);
  expect(others).toEqual([]);
  return join(caches, name ?? "none");
}

test("the first start writes a code cache, and the next one leaves it as it is", async () => {
  const first = await printVersion();
  const file = await onlyCache();
  const { ino } = await stat(file);
  const second = await printVersion();

  expect(first.stdout).toMatch(version);
  expect(second).toEqual(first);
  expect((await stat(file)).ino).toBe(ino);
});

test("a damaged cache is replaced", async () => {
  await printVersion();
  const file = await onlyCache();
  const good = await readFile(file);
  const damaged = Buffer.from(good);
  damaged.fill(0, damaged.length >> 1);
  await writeFile(file, damaged);

  const { code, stdout, stderr } = await printVersion();

  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(version);
  expect((await readFile(await onlyCache())).subarray(damaged.length >> 1)).not.toEqual(
    damaged.subarray(damaged.length >> 1),
  );
});

test("a cache whose code V8 refuses is replaced", async () => {
  await printVersion();
  const file = await onlyCache();
  const content = await readFile(file);
  // The head of each compiled script begins with a number of V8's version.
  const firstCode = 8 + content.readUInt32LE(4);
  content.fill(0xee, firstCode, firstCode + 32);
  content.writeUInt32LE(crc32(content.subarray(4)), 0);
  await writeFile(file, content);

  const { code, stdout } = await printVersion();

  expect(code).toBe(0);
  expect(stdout).toMatch(version);
  expect(await readFile(file)).not.toEqual(content);
});

test("a program starts where no cache can be written", async () => {
  await writeFile(caches, "a file in place of the directory");

  const { code, stdout, stderr } = await printVersion();

  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(version);
});

test("another V8, here with other flags, has its own cache", async () => {
  await printVersion();
  const { code } = await printVersion("--no-opt");

  expect(code).toBe(0);
  expect(await readdir(caches)).toHaveLength(2);
});

test("many processes that start at once write one whole cache", async () => {
  const started = Array.from({ length: 6 }, () => printVersion());

  const codes = (await Promise.all(started)).map(({ code }) => code);
  const { ino } = await stat(await onlyCache());
  await printVersion();

  expect(codes).toEqual([0, 0, 0, 0, 0, 0]);
  expect((await stat(await onlyCache())).ino).toBe(ino);
});

test.each([[], ["--enable-source-maps"]])(
  "a stack trace with %j names the line",
  async (...flags) => {
    const stop = "process.argv.slice = () => { throw new Error('stop'); }";
    const preload = ["--import", `data:text/javascript,${encodeURIComponent(stop)}`];

    const { code, stderr } = await printVersion(...flags, ...preload);

    expect(code).toBe(1);
    expect(stderr).toMatch(
      flags.length === 0 ? /dist\/main\.cjs:\d+:\d+/ : /src\/cli\/main\.ts:13:\d+/,
    );
  },
);
