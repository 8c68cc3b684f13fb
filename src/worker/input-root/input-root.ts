import { mkdir, symlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { BlobStore } from "#cas/blob-store.ts";
import { mapAtMost } from "#cas/map-at-most.ts";
import { type Digest, emptyDigest } from "#core/digest.ts";
import type { HelperShell } from "../helper-shell.ts";
import type { LocalStore } from "../local-store.ts";
import { quoteForShell } from "../quote-for-shell.ts";
import { loadDirectoryGraph } from "./directory-graph.ts";
import type { LayerCache } from "./layer-cache.ts";
import { layerEntries } from "./layer-entries.ts";
import { planLayers } from "./plan-layers.ts";

/** A tree that one job may write in. */
export interface InputRoot {
  /** Where it lies for the sandbox. */
  readonly path: string;
  /** Where this process finds it. */
  readonly seen: string;
  /** Where files that the job made lie as files of their own, to be taken over. */
  readonly made: string;
  /** Takes it down. What the job wrote stays in the scratch directory. */
  unmount(): Promise<void>;
}

/** How a machine makes input roots. */
export interface InputRoots {
  readonly kind: "overlay" | "copies";
  /** Makes a root inside a scratch directory that is this job's alone. */
  make(root: Digest, scratch: string, farm: BlobStore): Promise<InputRoot>;
}

/**
 * Stacks cached layers under a fresh directory that takes what the job writes.
 *
 * Hard links alone would not do: root, and the owner after a chmod, could write
 * through them into the store.
 */
export function overlayInputRoots(
  shell: HelperShell,
  layers: LayerCache,
  options: string,
): InputRoots {
  return {
    kind: "overlay",
    async make(root, scratch, farm) {
      const at = join(scratch, "root");
      const upper = join(scratch, "upper");
      await mkdir(at);
      if (isEmptyTree(root)) return unmounted(at);
      const layersInUse = await layers.use(root, farm);
      if (layersInUse.trees.length === 0) return unmounted(at);
      try {
        await Promise.all([mkdir(upper), mkdir(join(scratch, "work"))]);
        await shell.run(mountScript(scratch, layersInUse.trees, options));
      } catch (reason) {
        layersInUse.release();
        throw reason;
      }
      return {
        path: at,
        seen: shell.reach(at),
        made: upper,
        async unmount() {
          await shell.run(`umount -l ${quoteForShell(at)}`);
          layersInUse.release();
        },
      };
    },
  };
}

/** For machines that cannot mount: every file copied, or cloned where the file system can. */
export function copiedInputRoots(local: LocalStore): InputRoots {
  return {
    kind: "copies",
    async make(root, scratch, farm) {
      const at = join(scratch, "root");
      await mkdir(at);
      if (!isEmptyTree(root)) {
        const graph = await loadDirectoryGraph(root, local, farm);
        for (const layer of planLayers(graph)) {
          const { directories, files, symlinks } = layerEntries(graph, layer);
          await local.fetch(files, farm);
          for (const path of directories) await mkdir(join(at, path), { recursive: true });
          await mapAtMost(16, symlinks, ({ path, target }) => symlink(target, join(at, path)));
          await mapAtMost(16, files, (file) => local.copyTo(file, join(at, file.path)));
        }
      }
      return unmounted(at);
    },
  };
}

function unmounted(at: string): InputRoot {
  return { path: at, seen: at, made: at, unmount: async () => {} };
}

/**
 * Mounts from where the layers lie, with short relative names: mount(2) takes one
 * page of options, and a comma in an absolute path would end an option.
 */
export function mountScript(scratch: string, trees: readonly string[], options: string): string {
  const base = dirname(dirname(trees[0] ?? scratch));
  const lower = trees.map((tree) => relative(base, tree)).join(":");
  const of = (name: string) => relative(base, join(scratch, name));
  const all = `lowerdir=${lower},upperdir=${of("upper")},workdir=${of("work")}${options}`;
  const mount = `mount -t overlay -o ${quoteForShell(all)} grange ${quoteForShell(of("root"))}`;
  return `cd ${quoteForShell(base)} && ${mount}; s=$?; cd /; (exit $s)`;
}

function isEmptyTree(root: Digest): boolean {
  return root.hash === emptyDigest.hash;
}
