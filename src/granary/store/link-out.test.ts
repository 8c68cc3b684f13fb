import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { secondFileSystem } from "../../../test/support/needs/machine-needs.ts";
import { needs } from "../../../test/support/needs/needs.ts";
import { freshStore } from "./granary-store.fixture.ts";
import { type LinkMode, waysToPlace } from "./link-out.ts";

async function withBlob(linkMode: LinkMode = "auto") {
  const { store, directory } = await freshStore({ linkMode });
  const bytes = Buffer.from("#!/bin/sh\n");
  const digest = digestOf(bytes);
  await store.blobs.put(digest, bytes);
  expect(await store.asFile(digest)).toBe(true);
  return {
    store,
    digest,
    path: store.blobs.path(digest),
    to: join(directory, "output"),
    directory,
  };
}

test("a tool that may write to a file never shares the store's file", () => {
  for (const mode of ["auto", "hardlink", "copy"] as const) {
    expect(waysToPlace(mode, false)).not.toContain("hardlink");
  }
});

test("a tool that only reads gets the store's own bytes, which are read-only", async () => {
  const { store, digest, path, to } = await withBlob("hardlink");

  expect(await store.placeAt(digest, to, { executable: false, isReadOnly: true })).toBe("hardlink");

  expect(statSync(to).ino).toBe(statSync(path).ino);
  expect(statSync(to).mode & 0o777).toBe(0o444);
});

test("executables share a separate copy, because a mode belongs to the file", async () => {
  const { store, digest, path, to } = await withBlob("hardlink");

  await store.placeAt(digest, to, { executable: true, isReadOnly: true });
  await store.placeAt(digest, `${to}2`, { executable: true, isReadOnly: true });

  expect(statSync(to).mode & 0o777).toBe(0o555);
  expect(statSync(to).ino).toBe(statSync(`${to}2`).ino);
  expect(statSync(path).mode & 0o777).toBe(0o444);
});

test("an executable copy that was written to is made again", async () => {
  const { store, digest, to } = await withBlob("hardlink");
  await store.placeAt(digest, to, { executable: true, isReadOnly: true });
  chmodSync(to, 0o755);
  writeFileSync(to, "#!/bin/no\n");

  await store.placeAt(digest, `${to}2`, { executable: true, isReadOnly: true });

  expect(readFileSync(`${to}2`, "utf8")).toBe("#!/bin/sh\n");
});

test.each(["auto", "copy"] as const)("a copy (%s) is the tool's own", async (mode) => {
  const { store, digest, to } = await withBlob(mode);

  await store.placeAt(digest, to, { executable: true, isReadOnly: false });
  expect(statSync(to).mode & 0o777).toBe(0o755);
  writeFileSync(to, "other");

  expect(Buffer.from((await store.blobs.get(digest)) ?? []).toString()).toBe("#!/bin/sh\n");
});

test("a file at the path is replaced, also by itself, and no other file is left", async () => {
  const { store, digest, to, directory } = await withBlob("hardlink");
  writeFileSync(to, "old");
  const before = readdirSync(directory).length;

  for (let i = 0; i < 2; i++) {
    await store.placeAt(digest, to, { executable: false, isReadOnly: true });
    expect(readFileSync(to, "utf8")).toBe("#!/bin/sh\n");
  }

  expect(readdirSync(directory)).toHaveLength(before);
});

test("another file system gets a copy", needs(secondFileSystem), async () => {
  const elsewhere = mkdtempSync("/dev/shm/grange-link-");
  onTestFinished(() => rmSync(elsewhere, { recursive: true }));
  const { store, digest, to } = await withBlob();

  for (const name of ["a", "b"]) {
    const there = join(elsewhere, name);
    expect(await store.placeAt(digest, there, { executable: false, isReadOnly: true })).toBe(
      "copy",
    );
  }
  const here = await store.placeAt(digest, to, { executable: false, isReadOnly: true });
  expect(["reflink", "hardlink"]).toContain(here);
});

test("a missing or corrupt blob is not placed", async () => {
  const { store, digest, path, to } = await withBlob();
  chmodSync(path, 0o644);
  writeFileSync(path, "#!/bin/no\n");
  const how = { executable: false, isReadOnly: true };

  expect(await store.placeAt(digest, to, how)).toBeUndefined();
  expect(await store.placeAt(digestOf(Buffer.from("?")), to, how)).toBeUndefined();
  expect(existsSync(to)).toBe(false);
});
