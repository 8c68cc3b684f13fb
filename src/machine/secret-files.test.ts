import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { noteSecretFiles, realPlaces, secretFilesOf } from "./secret-files.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "grange-secret-files-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("the latest list of a data directory names the farm's files elsewhere", async () => {
  await noteSecretFiles(root, ["/etc/farm.key", undefined, "/etc/secrets.key"]);
  const before = secretFilesOf(root);
  await noteSecretFiles(root, ["/etc/other.key"]);

  expect(before).toEqual(["/etc/farm.key", "/etc/secrets.key"]);
  expect(secretFilesOf(root)).toEqual(["/etc/other.key"]);
});

test("a directory without a valid list has no such files", () => {
  expect(secretFilesOf(join(root, "gone"))).toEqual([]);
  writeFileSync(join(root, "secret-files.json"), "{");
  expect(secretFilesOf(root)).toEqual([]);
});

test("links are resolved, and missing files are left out", () => {
  writeFileSync(join(root, "real.key"), "");
  symlinkSync(join(root, "real.key"), join(root, "link.key"));

  const places = realPlaces([join(root, "link.key"), join(root, "real.key"), join(root, "gone")]);

  expect(places).toEqual([join(root, "real.key")]);
});
