import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { buildDirectoryTree, uploadDirectories } from "#cas/build-directory-tree.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { LocalStore } from "../local-store.ts";
import { copiedInputRoots } from "./input-root.ts";

test("without mounts, a job gets copies that it may change", async () => {
  const directory = mkdtempSync(join(tmpdir(), "grange-copies-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const farm = memoryBlobStore();
  const digest = digestOf(Buffer.from("kept"));
  await farm.put(digest, Buffer.from("kept"));
  const tree = buildDirectoryTree([
    { kind: "file", path: "d/a", digest, executable: true },
    { kind: "symlink", path: "d/l", target: "a" },
  ]);
  const root = await uploadDirectories(farm, tree);
  const local = await LocalStore.open(directory);
  const scratch = join(directory, "scratch");
  mkdirSync(scratch);

  const made = await copiedInputRoots(local).make(root, scratch, farm);
  chmodSync(join(made.seen, "d/a"), 0o644);
  writeFileSync(join(made.seen, "d/l"), "spoilt");

  expect(readFileSync(join(made.seen, "d/a"), "utf8")).toBe("spoilt");
  expect(readFileSync(local.path({ digest, executable: true }), "utf8")).toBe("kept");
});
