import { readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { BlobStore } from "#cas/blob-store.ts";
import { tempFileIn } from "#cas/temp-file.ts";
import { Digest, digestKey } from "#core/digest.ts";
import { makePrivateDirectory } from "#machine/make-directory.ts";
import { ownOwner } from "#machine/owner.ts";
import { InputsMissing } from "../inputs-missing.ts";
import type { LocalStore, WantedFile } from "../local-store.ts";
import { buildLayer } from "./build-layer.ts";
import { filesBelow } from "./files-below.ts";
import { InputDirectories } from "./input-directories.ts";
import type { InputDirectory } from "./input-directory.ts";
import { layerEntries } from "./layer-entries.ts";
import { type Layer, layerFormat, planLayers } from "./plan-layers.ts";

const Plan = z.array(
  z.object({
    key: z.string(),
    digest: Digest,
    path: z.string(),
    without: z.array(z.string()),
    only: z.array(z.string()).optional(),
  }),
);

interface LayersInUse {
  /** Directories to stack, the upper ones first. */
  readonly trees: readonly string[];
  /** The number of layers that existed already. */
  readonly kept: number;
  release(): void;
}

/**
 * The number of entries from which a tree's plan is stored on disk; the plan of a smaller tree is quickly made again.
 */
const worthKeepingFrom = 64;

/** The maximum number of plans in memory; above it all are dropped at once, and are read again from disk. */
const mostPlans = 1_000;

/** The maximum number of remembered directories; above it all are dropped at once. */
const mostMet = 200_000;

/**
 * The layers of this machine, shared by its workers.
 *
 *     layers/<key>/tree            what is stacked
 *     plans/<root hash>            which layers a root is made of
 *     in-use/<key>~<owner>         keeps a layer from being trimmed while its owner lives
 */
export class LayerCache {
  readonly #directory: string;
  readonly #local: LocalStore;
  readonly #directories: InputDirectories;
  readonly #owner = ownOwner();
  readonly #marked = new Map<string, Promise<void>>();
  /** Layers that are marked, and were seen after that, so they are not removed. */
  readonly #standing = new Set<string>();
  readonly #unmarking = new Map<string, Promise<void>>();
  readonly #users = new Map<string, number>();
  readonly #building = new Map<string, Promise<void>>();
  readonly #plans = new Map<string, Layer[]>();
  /** Directories with their paths, from trees that were planned before. */
  readonly #met = new Set<string>();

  private constructor(directory: string, local: LocalStore) {
    this.#directory = directory;
    this.#local = local;
    this.#directories = new InputDirectories(local);
  }

  static async open(directory: string, local: LocalStore): Promise<LayerCache> {
    for (const name of ["layers", "plans", "in-use"]) {
      makePrivateDirectory(join(directory, name));
    }
    return new LayerCache(directory, local);
  }

  /**
   * Returns the layers to stack for a root, and builds missing ones. None for a root without entries.
   *
   * Throws InputsMissing with all missing blobs of the whole tree, so that a client uploads them at once and does not
   * retry for each.
   */
  async use(root: Digest, farm: BlobStore): Promise<LayersInUse> {
    try {
      return await this.#use(root, farm);
    } catch (reason) {
      if (!(reason instanceof InputsMissing)) throw reason;
      throw await this.#directories.allMissing(root, farm, reason.digests);
    }
  }

  async #use(root: Digest, farm: BlobStore): Promise<LayersInUse> {
    let tree: Promise<InputDirectory> | undefined;
    const read = () => (tree ??= this.#directories.read(root, farm));
    const plan = (await this.#keptPlan(root)) ?? (await this.#makePlan(await read()));
    for (const { key } of plan) this.#users.set(key, (this.#users.get(key) ?? 0) + 1);
    const release = () => {
      for (const { key } of plan) this.#users.set(key, (this.#users.get(key) ?? 1) - 1);
    };
    const kept = await allOf(plan.map((layer) => this.#ensure(layer, read, farm))).catch(
      (reason: unknown) => {
        release();
        throw reason;
      },
    );
    return {
      trees: plan.map(({ key }) => join(this.#path(key), "tree")),
      kept: kept.filter(Boolean).length,
      release,
    };
  }

  /** Returns the tree of a root, whose files may not be here. Throws InputsMissing when a directory is missing. */
  treeOf(root: Digest, farm: BlobStore): Promise<InputDirectory> {
    return this.#directories.read(root, farm);
  }

  /** Returns the files of a root whose layers may not exist yet; none when its plan names its layers. */
  async filesOf(root: Digest, farm: BlobStore): Promise<WantedFile[]> {
    const plan = await this.#keptPlan(root);
    if (plan?.every(({ key }) => this.#standing.has(key)) === true) return [];
    return filesBelow(await this.#directories.read(root, farm));
  }

  /** Removes this process's marks from layers that none of its jobs uses. */
  async unmarkIdle(): Promise<void> {
    for (const key of this.#marked.keys()) {
      if ((this.#users.get(key) ?? 0) > 0) continue;
      this.#marked.delete(key);
      this.#standing.delete(key);
      this.#users.delete(key);
      const unmarking = rm(this.#mark(key), { force: true });
      this.#unmarking.set(key, unmarking);
      await unmarking.finally(() => this.#unmarking.delete(key));
    }
  }

  #path(key: string): string {
    return join(this.#directory, "layers", key);
  }

  /** Returns whether the layer existed. */
  async #ensure(
    layer: Layer,
    read: () => Promise<InputDirectory>,
    farm: BlobStore,
  ): Promise<boolean> {
    if (this.#standing.has(layer.key)) return true;
    // Marked before the check for existence, because trimming checks for marks after it has moved a layer away.
    await this.#markInUse(layer.key);
    const path = this.#path(layer.key);
    const isThere = await exists(path);
    if (!isThere) await this.#build(path, layer, read, farm);
    if (this.#marked.has(layer.key)) this.#standing.add(layer.key);
    return isThere;
  }

  #build(
    path: string,
    layer: Layer,
    read: () => Promise<InputDirectory>,
    farm: BlobStore,
  ): Promise<void> {
    const under = this.#building.get(layer.key);
    if (under) return under;
    const building = read()
      .then((tree) => buildLayer(path, layerEntries(tree, layer), this.#local, farm))
      .finally(() => this.#building.delete(layer.key));
    this.#building.set(layer.key, building);
    return building;
  }

  #markInUse(key: string): Promise<void> {
    const marked = this.#marked.get(key);
    if (marked) return marked;
    // A removal of the mark that is still in progress would remove this mark, too.
    const free = this.#unmarking.get(key)?.catch(() => {});
    const marking = Promise.resolve(free).then(async () => {
      await writeFile(this.#mark(key), "");
      // The time of its last use, by which trimming chooses.
      await utimes(this.#path(key), new Date(), new Date()).catch(() => {});
    });
    this.#marked.set(key, marking);
    // Otherwise each later use of the layer would fail with the error of this one.
    marking.catch(() => {
      if (this.#marked.get(key) === marking) this.#marked.delete(key);
    });
    return marking;
  }

  #mark(key: string): string {
    return join(this.#directory, "in-use", `${key}~${this.#owner}`);
  }

  async #keptPlan(root: Digest): Promise<Layer[] | undefined> {
    const known = this.#plans.get(digestKey(root));
    if (known) return known;
    const text = await readFile(this.#planPath(root), "utf8").catch(() => undefined);
    if (text === undefined) return undefined;
    const plan = Plan.safeParse(parseJson(text));
    if (plan.success) this.#remember(root, plan.data);
    return plan.data;
  }

  async #makePlan(tree: InputDirectory): Promise<Layer[]> {
    const isMet = (digest: Digest, path: string) => this.#met.has(`${digestKey(digest)} ${path}`);
    const plan = tree.entryCount === 0 ? [] : planLayers(tree, isMet);
    this.#meet(tree, "");
    if (tree.entryCount >= worthKeepingFrom) {
      const temp = tempFileIn(this.#local.tempDirectory);
      await writeFile(temp, JSON.stringify(plan));
      await rename(temp, this.#planPath(tree.digest));
    }
    this.#remember(tree.digest, plan);
    return plan;
  }

  #remember(root: Digest, plan: Layer[]): void {
    if (this.#plans.size >= mostPlans) this.#plans.clear();
    this.#plans.set(digestKey(root), plan);
  }

  /** Records a directory with its path. A known directory includes its whole subtree, so only new ones are visited. */
  #meet(directory: InputDirectory, path: string): void {
    const place = `${digestKey(directory.digest)} ${path}`;
    if (this.#met.has(place)) return;
    if (this.#met.size >= mostMet) this.#met.clear();
    this.#met.add(place);
    for (const child of directory.directories) {
      this.#meet(child.directory, path === "" ? child.name : `${path}/${child.name}`);
    }
  }

  #planPath(root: Digest): string {
    return join(this.#directory, "plans", `${root.hash}.${layerFormat}`);
  }
}

/** Waits for all promises even when one fails, because a half-built result must not be used. */
async function allOf<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const ended = await Promise.allSettled(work);
  return ended.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
