import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { BlobStore } from "#cas/blob-store.ts";
import { tempFileIn } from "#cas/temp-file.ts";
import { Digest, digestKey } from "#core/digest.ts";
import type { LocalStore } from "../local-store.ts";
import { ownOwner } from "../owner.ts";
import { buildLayer } from "./build-layer.ts";
import { type DirectoryGraph, loadDirectoryGraph } from "./directory-graph.ts";
import { layerEntries } from "./layer-entries.ts";
import { type Layer, planLayers } from "./plan-layers.ts";

const Plan = z.array(
  z.object({ key: z.string(), digest: Digest, path: z.string(), without: z.array(z.string()) }),
);

export interface LayersInUse {
  /** Directories to stack, the upper ones first. */
  readonly trees: readonly string[];
  release(): void;
}

/**
 * The layers that this machine has, shared by its workers.
 *
 *     layers/<key>/tree            what is stacked
 *     plans/<root hash>            which layers a root is made of
 *     in-use/<key>~<owner>         keeps a layer from being trimmed while its owner lives
 */
export class LayerCache {
  readonly #directory: string;
  readonly #local: LocalStore;
  readonly #owner = ownOwner();
  readonly #marked = new Map<string, Promise<void>>();
  readonly #users = new Map<string, number>();
  readonly #building = new Map<string, Promise<void>>();
  readonly #plans = new Map<string, Layer[]>();

  private constructor(directory: string, local: LocalStore) {
    this.#directory = directory;
    this.#local = local;
  }

  static async open(directory: string, local: LocalStore): Promise<LayerCache> {
    for (const name of ["layers", "plans", "in-use"]) {
      await mkdir(join(directory, name), { recursive: true });
    }
    return new LayerCache(directory, local);
  }

  /** The trees to stack for a root, built if need be. None for a root without entries. */
  async use(root: Digest, farm: BlobStore): Promise<LayersInUse> {
    let graph: Promise<DirectoryGraph> | undefined;
    const load = () => (graph ??= loadDirectoryGraph(root, this.#local, farm));
    const plan = (await this.#keptPlan(root)) ?? (await this.#makePlan(await load()));
    for (const { key } of plan) this.#users.set(key, (this.#users.get(key) ?? 0) + 1);
    const release = () => {
      for (const { key } of plan) this.#users.set(key, (this.#users.get(key) ?? 1) - 1);
    };
    try {
      await Promise.all(plan.map((layer) => this.#ensure(layer, load, farm)));
    } catch (reason) {
      release();
      throw reason;
    }
    return { trees: plan.map(({ key }) => join(this.#path(key), "tree")), release };
  }

  /** Takes away this process's marks on layers that no job of it stands on. */
  async unmarkIdle(): Promise<void> {
    for (const key of this.#marked.keys()) {
      if ((this.#users.get(key) ?? 0) > 0) continue;
      this.#marked.delete(key);
      this.#users.delete(key);
      await rm(this.#mark(key), { force: true });
    }
  }

  #path(key: string): string {
    return join(this.#directory, "layers", key);
  }

  async #ensure(layer: Layer, load: () => Promise<DirectoryGraph>, farm: BlobStore): Promise<void> {
    // Marked before it is looked for: whoever trims looks for marks after moving it away.
    await this.#markInUse(layer.key);
    const path = this.#path(layer.key);
    if (await exists(path)) return;
    const under = this.#building.get(layer.key);
    if (under) return under;
    const building = load()
      .then((graph) => buildLayer(path, layerEntries(graph, layer), this.#local, farm))
      .finally(() => this.#building.delete(layer.key));
    this.#building.set(layer.key, building);
    return building;
  }

  #markInUse(key: string): Promise<void> {
    const marked = this.#marked.get(key);
    if (marked) return marked;
    const marking = writeFile(this.#mark(key), "").then(async () => {
      // Its time of last use, for the choice of what to trim.
      await utimes(this.#path(key), new Date(), new Date()).catch(() => {});
    });
    this.#marked.set(key, marking);
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
    if (plan.success) this.#plans.set(digestKey(root), plan.data);
    return plan.data;
  }

  async #makePlan(graph: DirectoryGraph): Promise<Layer[]> {
    const plan = graph.entryCount(graph.root) === 0 ? [] : planLayers(graph);
    const temp = tempFileIn(this.#local.tempDirectory);
    await writeFile(temp, JSON.stringify(plan));
    await rename(temp, this.#planPath(graph.root));
    if (this.#plans.size > 1_000) this.#plans.clear();
    this.#plans.set(digestKey(graph.root), plan);
    return plan;
  }

  #planPath(root: Digest): string {
    return join(this.#directory, "plans", root.hash);
  }
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
