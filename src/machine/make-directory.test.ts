import { chmodSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { linux } from "../../test/support/needs/machine-needs.ts";
import { needs } from "../../test/support/needs/needs.ts";
import { makeDirectory, makePrivateDirectory } from "./make-directory.ts";

const root = mkdtempSync(join(tmpdir(), "grange-directories-"));
afterAll(() => rm(root, { recursive: true }));

test("creates a directory with its parents, and accepts an existing one", () => {
  const path = join(root, "a", "b", "c");
  makeDirectory(path, 0o700);
  makeDirectory(path, 0o700);

  expect(statSync(path).mode & 0o777).toBe(0o700);
});

test("a file with the same path is an error", () => {
  writeFileSync(join(root, "file"), "");

  expect(() => makeDirectory(join(root, "file"))).toThrow(/EEXIST/);
  expect(() => makeDirectory(join(root, "file", "x"))).toThrow(/ENOTDIR/);
});

test(
  "reports a file system that refuses directories, without endless retries",
  needs(linux),
  () => {
    expect(() => makeDirectory("/proc/no-such/below")).toThrow(/ENOENT/);
  },
);

test("a private directory is accessible only to its owner, even if it was public", () => {
  const path = join(root, "private");
  makePrivateDirectory(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  chmodSync(path, 0o755);
  makePrivateDirectory(path);

  expect(statSync(path).mode & 0o777).toBe(0o700);
});
