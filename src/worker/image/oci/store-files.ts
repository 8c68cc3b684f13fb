import { readFile, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { removeLeftovers, tempFileIn } from "#cas/temp-file.ts";
import { makePrivateDirectory } from "#machine/make-directory.ts";
import { LayerIndex } from "./layer-index.ts";

/** Changes when roots are made in another way; roots of other formats are then unused and evicted. */
const rootFormat = 2;

/** What is known of the root file system of an image; in `image.json` beside it. */
const RootFacts = z.object({
  name: z.string(),
  environment: z.array(z.tuple([z.string(), z.string()])),
  user: z.string(),
  workingDirectory: z.string(),
  entrypoint: z.array(z.string()),
  command: z.array(z.string()),
  volumes: z.array(z.string()),
  ports: z.array(z.number()),
  layers: z.array(z.string()),
});
export type RootFacts = z.infer<typeof RootFacts>;

/**
 * The files of the images of a machine.
 *
 *     layers/<id>/0, 1, …          the files of a layer
 *     layers/<id>/index.json       its paths; written last
 *     roots/<id>-<format>/root     the merged root file system, of hard links into layers
 *     roots/…/image.json           settings, and the layers that it needs
 *     roots/…/signed-<keys>        its signature by one of these keys was verified
 *     in-use/<name>~<owner>        keeps a root or a layer from eviction while its owner lives
 *     temp/                        blobs, layers and roots that are being made; renamed when complete
 *
 * An id is a SHA-256. Images that were pulled with a login of the farm, and their layers, have `.<scope>` behind it: no
 * other scope can use them, not even one that knows the digest.
 */
export class StoreFiles {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async open(directory: string): Promise<StoreFiles> {
    const files = new StoreFiles(directory);
    for (const path of [files.layers, files.roots, files.inUse, files.#temp]) {
      makePrivateDirectory(path);
    }
    await removeLeftovers(files.#temp);
    return files;
  }

  get layers(): string {
    return join(this.#directory, "layers");
  }

  get roots(): string {
    return join(this.#directory, "roots");
  }

  get inUse(): string {
    return join(this.#directory, "in-use");
  }

  get #temp(): string {
    return join(this.#directory, "temp");
  }

  layer(id: string): string {
    return join(this.layers, id);
  }

  root(key: string): string {
    return join(this.roots, key);
  }

  /** Returns a new path for what is being made. */
  temp(): string {
    return tempFileIn(this.#temp);
  }

  async hasLayer(id: string): Promise<boolean> {
    return exists(join(this.layer(id), "index.json"));
  }

  async layerIndex(id: string): Promise<LayerIndex> {
    return LayerIndex.parse(JSON.parse(await readFile(join(this.layer(id), "index.json"), "utf8")));
  }

  async hasRoot(key: string): Promise<boolean> {
    return exists(join(this.root(key), "image.json"));
  }

  /** Records that a root is used now; returns false when it is not here. It is in its place only when it is complete. */
  touchRoot(key: string): Promise<boolean> {
    const now = new Date();
    return utimes(this.root(key), now, now).then(
      () => true,
      () => false,
    );
  }

  async rootFacts(key: string): Promise<RootFacts> {
    return RootFacts.parse(JSON.parse(await readFile(join(this.root(key), "image.json"), "utf8")));
  }
}

/** The name of the root of an image; `suffix` is that of its access. */
export function rootKey(digest: string, suffix: string): string {
  return `${hexOf(digest)}${suffix}-${rootFormat}`;
}

/** Whether this version can use a root. */
export function isUsableRoot(key: string): boolean {
  return key.endsWith(`-${rootFormat}`);
}

export function hexOf(digest: string): string {
  return digest.slice("sha256:".length);
}

export function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
