import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { codeCacheDirectory } from "./code-cache-directory.ts";
import { codeCacheSettings } from "./config.ts";

const own = process.getuid?.() ?? 0;
let programs: string;
beforeAll(async () => {
  programs = await mkdtemp(join(tmpdir(), "grange-programs-"));
});
afterAll(() => rm(programs, { recursive: true, force: true }));

test("the owner of a program keeps its code cache beside it", () => {
  const directory = codeCacheDirectory(programs, codeCacheSettings({}), own);

  expect(directory).toBe(join(programs, "code-cache"));
});

test.each([
  { env: { HOME: "/h", XDG_CACHE_HOME: "/caches" }, expected: "/caches/grange/code-cache" },
  { env: { HOME: "/h" }, expected: "/h/.cache/grange/code-cache" },
  { env: { XDG_CACHE_HOME: "not/absolute" }, expected: undefined },
  { env: { HOME: "/h", NODE_DISABLE_COMPILE_CACHE: "1" }, expected: undefined },
])("another user, with $env, keeps it in $expected", ({ env, expected }) => {
  expect(codeCacheDirectory(programs, codeCacheSettings(env), own + 1)).toBe(expected);
});
