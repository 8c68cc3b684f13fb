import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { buildDirectoryTree, uploadDirectories } from "#cas/build-directory-tree.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { startHelperShell } from "../helper-shell.ts";
import { LocalStore } from "../local-store.ts";
import { overlayInputRoots } from "./input-root.ts";
import { LayerCache } from "./layer-cache.ts";

test("layers are built before the directory of the job exists, and are released if it cannot be made", async () => {
  const directory = mkdtempSync(join(tmpdir(), "grange-overlays-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const store = memoryBlobStore();
  const bytes = Buffer.from("content");
  const digest = digestOf(bytes);
  await store.put(digest, bytes);
  const tree = buildDirectoryTree([{ kind: "file", path: "a", digest, executable: false }]);
  const root = await uploadDirectories(store, tree);
  const layers = await LayerCache.open(directory, await LocalStore.open(directory));
  const shell = await startHelperShell("plain", "/usr/bin:/bin");
  onTestFinished(() => shell.stop());
  let refuse: (reason: Error) => void = () => {};
  const scratch = new Promise<string>((_, reject) => {
    refuse = reject;
  });

  const making = overlayInputRoots(shell, layers, "").make(root, scratch, store);
  making.catch(() => {});
  await expect.poll(() => readdirSync(join(directory, "layers"))).toHaveLength(1);
  refuse(new Error("no place"));
  await expect(making).rejects.toThrow("no place");

  await layers.unmarkIdle();
  expect(readdirSync(join(directory, "in-use"))).toHaveLength(0);
});
