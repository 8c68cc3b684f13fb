import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "#core/fault.ts";
import { removeTree } from "#machine/remove-tree.ts";
import type { HelperShell } from "../helper-shell.ts";
import type { LocalStore } from "../local-store.ts";
import { quoteForShell } from "../quote-for-shell.ts";
import { copiedInputRoots, type InputRoots, mountScript, overlayInputRoots } from "./input-root.ts";
import type { LayerCache } from "./layer-cache.ts";

/**
 * Mount options to try, best first. `volatile` avoids syncing to the disk, which is unnecessary because the content is
 * deleted with the job; `userxattr` is needed in a user namespace.
 */
const optionsToTry = [",volatile", "", ",userxattr,volatile", ",userxattr"];

/** Returns overlays when this machine can mount, write and read one; otherwise copies. */
export async function chooseInputRoots(
  shell: HelperShell,
  layers: LayerCache,
  local: LocalStore,
  runDir: string,
): Promise<{ inputRoots: InputRoots; why: string }> {
  if (shell.kind === "plain")
    return { inputRoots: copiedInputRoots(local), why: "mounts are not possible" };
  let why = "";
  for (const options of optionsToTry) {
    const scratch = join(runDir, "probe-overlay");
    try {
      await tryOverlay(shell, scratch, options);
      return { inputRoots: overlayInputRoots(shell, layers, options), why: "" };
    } catch (reason) {
      why = messageOf(reason);
    } finally {
      await removeTree(scratch);
    }
  }
  return { inputRoots: copiedInputRoots(local), why };
}

async function tryOverlay(shell: HelperShell, scratch: string, options: string): Promise<void> {
  const tree = join(scratch, "layer", "tree");
  const root = join(scratch, "root");
  for (const path of [tree, root, join(scratch, "upper"), join(scratch, "work")]) {
    await mkdir(path, { recursive: true });
  }
  await mkdir(join(tree, "directory"));
  await writeFile(join(tree, "file"), "below");
  await shell.run(mountScript(scratch, [tree], options));
  try {
    const seen = shell.reach(root);
    await writeFile(join(seen, "file"), "above");
    // This needs a marker file that hides the lower directory; not every file system can store it.
    await rm(join(seen, "directory"), { recursive: true });
    await mkdir(join(seen, "directory"));
    const texts = [
      await readFile(join(seen, "file"), "utf8"),
      await readFile(join(tree, "file"), "utf8"),
    ];
    if (texts.join() !== "above,below") throw new Error("an overlay does not keep layers apart");
  } finally {
    await shell.run(`umount -l ${quoteForShell(root)}`);
  }
}
