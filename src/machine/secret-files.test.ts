import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { noteSecretFiles, realPlaces, secretFilesOf } from "./secret-files.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "grange-secret-files-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("files of a farm that lie elsewhere are found by its data directory, the latest list only", async () => {
  await noteSecretFiles(root, ["/etc/farm.key", undefined, "/etc/secrets.key"]);
  const before = secretFilesOf(root);
  await noteSecretFiles(root, ["/etc/other.key"]);

  expect(before).toEqual(["/etc/farm.key", "/etc/secrets.key"]);
  expect(secretFilesOf(root)).toEqual(["/etc/other.key"]);
});

test("a directory without a list, or with one that is none, has none", () => {
  expect(secretFilesOf(join(root, "gone"))).toEqual([]);
  writeFileSync(join(root, "secret-files.json"), "{");
  expect(secretFilesOf(root)).toEqual([]);
});

test("a link is followed to where the file is, and what is not there is nowhere", () => {
  writeFileSync(join(root, "real.key"), "");
  symlinkSync(join(root, "real.key"), join(root, "link.key"));

  const places = realPlaces([join(root, "link.key"), join(root, "real.key"), join(root, "gone")]);

  expect(places).toEqual([join(root, "real.key")]);
});
