import { mkdirSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { BlobStore } from "#cas/blob-store.ts";
import { type Digest, isEmptyDigest } from "#core/digest.ts";
import { giveToJobs } from "#machine/job-owner.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import type { HelperShell } from "../helper-shell.ts";
import { InputsMissing } from "../inputs-missing.ts";
import type { LocalStore, WantedFile } from "../local-store.ts";
import { quoteForShell } from "../quote-for-shell.ts";
import { applyDirectoryProperties, applyProperties } from "./build-layer.ts";
import { filesBelow } from "./files-below.ts";
import { InputDirectories } from "./input-directories.ts";
import type { LayerCache } from "./layer-cache.ts";
import { type LayerEntries, layerEntries } from "./layer-entries.ts";
import { planLayers } from "./plan-layers.ts";

/** An input tree in which one job may write. */
export interface InputRoot {
  /** Its path in the sandbox. */
  readonly path: string;
  /** Its path for this process. */
  readonly seen: string;
  /** The directory with the files that the job created, from which the store may take them over. */
  readonly made: string;
  /** The number of layers in its stack, and how many of them existed before. */
  readonly layers: { readonly all: number; readonly kept: number };
  /** Unmounts it. The files that the job wrote stay in the scratch directory. */
  unmount(): Promise<void>;
}

/** Makes input roots on a machine. */
export interface InputRoots {
  readonly kind: "overlay" | "copies";
  /**
   * Makes a root inside a scratch directory that only this job uses. Layers are fetched and built while the directory
   * is still being made; nothing is mounted before it exists.
   */
  make(root: Digest, scratch: string | Promise<string>, farm: BlobStore): Promise<InputRoot>;
  /** Returns the files that making a root will need, except those in existing layers. */
  filesOf(root: Digest, farm: BlobStore): Promise<readonly WantedFile[]>;
}

/**
 * Stacks cached layers under a new directory that receives the job's writes.
 *
 * Hard links alone would not be safe: root, or the owner after a chmod, could write through them into the store.
 */
export function overlayInputRoots(
  shell: HelperShell,
  layers: LayerCache,
  options: string,
): InputRoots {
  return {
    kind: "overlay",
    filesOf: (root, farm) => layers.filesOf(root, farm),
    async make(root, scratchOrPromise, farm) {
      const using = isEmptyDigest(root) ? undefined : layers.use(root, farm);
      // Awaited below; until then a rejection must not count as unhandled.
      using?.catch(() => {});
      let scratch: string;
      try {
        scratch = await scratchOrPromise;
      } catch (reason) {
        await using?.then(
          (layersInUse) => layersInUse.release(),
          () => {},
        );
        throw reason;
      }
      const at = join(scratch, "root");
      const upper = join(scratch, "upper");
      mkdirSync(at, { recursive: true });
      giveToJobs(at);
      const layersInUse = await using;
      if (layersInUse === undefined || layersInUse.trees.length === 0) return unmounted(at);
      try {
        for (const path of [upper, join(scratch, "work")]) mkdirSync(path, { recursive: true });
        giveToJobs(upper);
        await shell.run(mountScript(scratch, layersInUse.trees, options));
      } catch (reason) {
        layersInUse.release();
        throw reason;
      }
      return {
        path: at,
        seen: shell.reach(at),
        made: upper,
        layers: { all: layersInUse.trees.length, kept: layersInUse.kept },
        async unmount() {
          await shell.run(`umount -l ${quoteForShell(at)}`);
          layersInUse.release();
        },
      };
    },
  };
}

/** For machines that cannot mount: every file is copied, or cloned if the file system supports it. */
export function copiedInputRoots(local: LocalStore): InputRoots {
  const directories = new InputDirectories(local);
  return {
    kind: "copies",
    filesOf: async (root, farm) => filesBelow(await directories.read(root, farm)),
    async make(root, scratchOrPromise, farm) {
      const at = join(await scratchOrPromise, "root");
      mkdirSync(at, { recursive: true });
      giveToJobs(at);
      if (!isEmptyDigest(root)) {
        const tree = await directories.read(root, farm);
        const [whole] = planLayers(tree);
        if (whole) await copyTree(layerEntries(tree, { ...whole, without: [] }), at);
      }
      return unmounted(at);

      async function copyTree(entries: LayerEntries, to: string): Promise<void> {
        await fetchAll(entries.files);
        for (const { path } of entries.directories) {
          await mkdir(join(to, path));
          giveToJobs(join(to, path));
        }
        await mapAtMost(16, entries.symlinks, async ({ path, target }) => {
          await symlink(target, join(to, path));
          giveToJobs(join(to, path));
        });
        await mapAtMost(16, entries.files, async (file) => {
          await local.copyTo(file, join(to, file.path));
          if (file.properties) applyProperties(join(to, file.path), file.properties);
        });
        for (const { path, properties } of entries.directories.toReversed()) {
          if (properties) applyDirectoryProperties(join(to, path), properties);
        }
      }

      async function fetchAll(files: readonly WantedFile[]): Promise<void> {
        try {
          await local.fetch(files, farm);
        } catch (reason) {
          if (!(reason instanceof InputsMissing)) throw reason;
          throw await directories.allMissing(root, farm, reason.digests);
        }
      }
    },
  };
}

function unmounted(at: string): InputRoot {
  return { path: at, seen: at, made: at, layers: { all: 0, kept: 0 }, unmount: async () => {} };
}

/**
 * Mounts from the directory of the layers, with short relative names: mount(2) accepts one page of options, and a comma
 * in an absolute path would end an option.
 */
export function mountScript(scratch: string, trees: readonly string[], options: string): string {
  const base = dirname(dirname(trees[0] ?? scratch));
  const lower = trees.map((tree) => relative(base, tree)).join(":");
  const of = (name: string) => relative(base, join(scratch, name));
  const all = `nosuid,nodev,lowerdir=${lower},upperdir=${of("upper")},workdir=${of("work")}${options}`;
  const mount = `mount -t overlay -o ${quoteForShell(all)} grange ${quoteForShell(of("root"))}`;
  return `cd ${quoteForShell(base)} && ${mount}; s=$?; cd /; (exit $s)`;
}
