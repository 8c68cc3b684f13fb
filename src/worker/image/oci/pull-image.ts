import { execFile } from "node:child_process";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { errnoOf } from "#cas/disk/disk-fault.ts";
import { Fault } from "#core/fault.ts";
import { type ImageReference, imageName } from "#images/image-reference.ts";
import type { DescribedImage, RegistryClient } from "#images/registry-client.ts";
import { removeTree } from "#machine/remove-tree.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import type { InUseMarks } from "./in-use-marks.ts";
import type { LayerIndex } from "./layer-index.ts";
import { mergeLayers } from "./merge-layers.ts";
import { prepareRoot } from "./prepare-root.ts";
import { type LayerLimits, readLayer } from "./read-layer.ts";
import { hexOf, type RootFacts, type StoreFiles } from "./store-files.ts";
import { writeRoot } from "./write-root.ts";

const run = promisify(execFile);

const mostBlobBytes = 8 * 1024 ** 3;

/** How an image is pulled, and what follows the digest in the names of its parts on the disk. */
export interface Access {
  readonly client: RegistryClient;
  readonly suffix: string;
}

/** Pulls images into a store. Several callers of one process share the pull of an image and of a layer. */
export class ImagePulls {
  readonly #files: StoreFiles;
  readonly #marks: InUseMarks;
  readonly #limits: LayerLimits;
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(files: StoreFiles, marks: InUseMarks, limits: LayerLimits) {
    this.#files = files;
    this.#marks = marks;
    this.#limits = limits;
  }

  /** Makes the root of an image, which goes on when a caller no longer waits. `key` is its name. */
  pull(reference: ImageReference, key: string, access: Access): Promise<void> {
    return this.#once(`root ${key}`, () => this.#pull(reference, key, access));
  }

  #once(key: string, make: () => Promise<void>): Promise<void> {
    const under = this.#underWay.get(key);
    if (under !== undefined) return under;
    const making = make().finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, making);
    return making;
  }

  async #pull(reference: ImageReference, key: string, access: Access): Promise<void> {
    const image = await access.client.describe(reference);
    const ids = image.manifest.layers.map(({ digest }) => hexOf(digest) + access.suffix);
    for (const id of ids) await this.#marks.mark(id);
    try {
      // Two at a time: a layer is unpacked while the next one arrives.
      await mapAtMost(2, [...new Set(ids)], (id) =>
        this.#once(`layer ${id}`, () => this.#layer(reference, image, ids.indexOf(id), access)),
      );
      await this.#makeRoot(reference, image, ids, key);
    } finally {
      for (const id of ids) this.#marks.unmark(id);
    }
  }

  async #layer(
    reference: ImageReference,
    image: DescribedImage,
    at: number,
    { client, suffix }: Access,
  ): Promise<void> {
    const descriptor = image.manifest.layers[at];
    const diffId = image.config.diffIds[at];
    if (descriptor === undefined || diffId === undefined)
      throw new Fault("internal", `the image has no layer ${at}`);
    const id = hexOf(descriptor.digest) + suffix;
    if (await this.#files.hasLayer(id)) return;
    if (descriptor.size > mostBlobBytes)
      throw new Fault(
        "invalid_argument",
        `a layer of ${imageName(reference)} has ${descriptor.size} bytes; ${mostBlobBytes} are the most`,
      );
    const blob = this.#files.temp();
    const directory = this.#files.temp();
    try {
      await client.download(reference, descriptor, blob);
      await mkdir(directory, { mode: 0o700 });
      const index = await readLayer(blob, directory, this.#limits);
      if (index.diffId !== diffId)
        throw new Fault(
          "invalid_argument",
          `a layer of ${imageName(reference)} has other content than its configuration says`,
        );
      await writeFile(join(directory, "index.json"), JSON.stringify(index));
      // After a power loss, a renamed layer must not have empty files.
      await run("sync", ["-f", directory]);
      await putInPlace(directory, this.#files.layer(id));
    } finally {
      await rm(blob, { force: true });
      await removeTree(directory);
    }
  }

  async #makeRoot(
    reference: ImageReference,
    { config }: DescribedImage,
    ids: readonly string[],
    key: string,
  ): Promise<void> {
    const layers: LayerIndex[] = [];
    for (const id of ids) layers.push(await this.#files.layerIndex(id));
    const total = layers.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total > this.#limits.bytes)
      throw new Fault(
        "invalid_argument",
        `the layers of ${imageName(reference)} have ${total} bytes; ${this.#limits.bytes} are the most`,
      );
    const tree = mergeLayers(layers);
    const fileOf = (layer: number, number: number) =>
      join(this.#files.layer(ids[layer] ?? ""), `${number}`);
    await prepareRoot(tree, fileOf, config.volumes);
    const facts: RootFacts = {
      name: imageName(reference),
      environment: config.environment.map(([name, value]) => [name, value]),
      user: config.user,
      workingDirectory: config.workingDirectory,
      entrypoint: [...config.entrypoint],
      command: [...config.command],
      volumes: [...config.volumes],
      ports: [...config.ports],
      layers: [...ids],
    };
    const directory = this.#files.temp();
    try {
      await mkdir(directory, { mode: 0o700 });
      await writeRoot(tree, join(directory, "root"), fileOf);
      await writeFile(join(directory, "image.json"), JSON.stringify(facts));
      await putInPlace(directory, this.#files.root(key));
    } finally {
      await removeTree(directory);
    }
  }
}

/** Another worker of the machine may have been faster: its result is the same. */
async function putInPlace(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (reason) {
    if (!["ENOTEMPTY", "EEXIST"].includes(errnoOf(reason) ?? "")) throw reason;
  }
}
