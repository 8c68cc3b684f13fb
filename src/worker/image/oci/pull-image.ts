import { mkdir, rename, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { errnoOf } from "#cas/disk/disk-fault.ts";
import { Fault } from "#core/fault.ts";
import type { BlobReceiver } from "#images/blob-progress.ts";
import type { Descriptor } from "#images/image-manifest.ts";
import { type ImageReference, imageName } from "#images/image-reference.ts";
import type { DescribedImage, RegistryClient } from "#images/registry-client.ts";
import { removeTree } from "#machine/remove-tree.ts";
import { writeDurably } from "#machine/write-durably.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import type { InUseMarks } from "./in-use-marks.ts";
import type { LayerIndex } from "./layer-index.ts";
import { receiveLayer } from "./layer-receiver.ts";
import { mergeLayers } from "./merge-layers.ts";
import { prepareRoot } from "./prepare-root.ts";
import type { LayerLimits } from "./read-layer.ts";
import { SharedSync } from "./shared-sync.ts";
import { hexOf, type RootFacts, type StoreFiles } from "./store-files.ts";
import { writeRoot } from "./write-root.ts";

const mostBlobBytes = 8 * 1024 ** 3;

/**
 * A layer that took longer is synced and put in place at once, because a worker that is killed should not have to pull it
 * again. Others wait for the rest of the image: while a file system is synced, making files waits for the disk.
 */
const longLayerMs = 5_000;

/** How an image is pulled, and what follows the digest in the names of its parts on the disk. */
export interface Access {
  readonly client: RegistryClient;
  readonly suffix: string;
}

/** The files of a layer in a directory for unfinished work. */
interface UnpackedLayer {
  readonly directory: string;
  readonly index: LayerIndex;
}

interface LayerUnderWay {
  readonly unpacked: Promise<void>;
  /** Says that the other layers of an image are unpacked, too. */
  readonly place: () => void;
  /** Resolves when the layer is on the disk, in its place. */
  readonly placed: Promise<void>;
}

/** Pulls images into a store. Several callers of one process share the pull of an image and of a layer. */
export class ImagePulls {
  readonly #files: StoreFiles;
  readonly #marks: InUseMarks;
  readonly #limits: LayerLimits;
  readonly #disk: SharedSync;
  /** The roots that are being made. */
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #layersUnderWay = new Map<string, LayerUnderWay>();

  constructor(files: StoreFiles, marks: InUseMarks, limits: LayerLimits) {
    this.#files = files;
    this.#marks = marks;
    this.#limits = limits;
    this.#disk = new SharedSync(files.layers);
  }

  /** Makes the root of an image, which goes on when a caller no longer waits. `key` is its name. */
  pull(reference: ImageReference, key: string, access: Access): Promise<void> {
    const under = this.#underWay.get(key);
    if (under !== undefined) return under;
    const making = this.#pull(reference, key, access).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, making);
    return making;
  }

  async #pull(reference: ImageReference, key: string, access: Access): Promise<void> {
    const image = await access.client.describe(reference);
    const ids = image.manifest.layers.map(({ digest }) => hexOf(digest) + access.suffix);
    for (const id of ids) await this.#marks.mark(id);
    try {
      await this.#pullLayers(reference, image, ids, access);
      await this.#makeRoot(reference, image, ids, key);
    } finally {
      for (const id of ids) this.#marks.unmark(id);
    }
  }

  /** Waits for all layers, also after a failure. */
  async #pullLayers(
    reference: ImageReference,
    image: DescribedImage,
    ids: readonly string[],
    access: Access,
  ): Promise<void> {
    const layers: LayerUnderWay[] = [];
    // At least two: one waits for the network while the other one is unpacked.
    const atOnce = Math.max(2, availableParallelism());
    const unpacking = mapAtMost(atOnce, [...new Set(ids)], (id) => {
      const layer = this.#layer(reference, image, ids.indexOf(id), access);
      layers.push(layer);
      return layer.unpacked;
    });
    await unpacking.catch(() => {});
    for (const layer of layers) layer.place();
    await Promise.allSettled(layers.map(({ placed }) => placed));
    await unpacking;
    for (const { placed } of layers) await placed;
  }

  /** Starts to pull a layer, unless another image does. */
  #layer(
    reference: ImageReference,
    image: DescribedImage,
    at: number,
    access: Access,
  ): LayerUnderWay {
    const descriptor = image.manifest.layers[at];
    const diffId = image.config.diffIds[at];
    if (descriptor === undefined || diffId === undefined)
      throw new Fault("internal", `the image has no layer ${at}`);
    const id = hexOf(descriptor.digest) + access.suffix;
    const known = this.#layersUnderWay.get(id);
    if (known !== undefined) return known;
    let place = () => {};
    const othersUnpacked = new Promise<void>((resolve) => (place = resolve));
    const beganMs = performance.now();
    const unpacking = this.#unpack(reference, descriptor, id, access);
    const placing = async () => {
      const unpacked = await unpacking;
      if (unpacked === undefined) return;
      if (performance.now() - beganMs < longLayerMs) await othersUnpacked;
      await this.#place(reference, unpacked, id, diffId);
    };
    const placed = placing().finally(() => this.#layersUnderWay.delete(id));
    // It may fail before somebody waits for it.
    placed.catch(() => {});
    const layer = { unpacked: unpacking.then(() => {}), placed, place };
    this.#layersUnderWay.set(id, layer);
    return layer;
  }

  /** Returns undefined for a layer that is here. */
  async #unpack(
    reference: ImageReference,
    descriptor: Descriptor,
    id: string,
    { client }: Access,
  ): Promise<UnpackedLayer | undefined> {
    if (await this.#files.hasLayer(id)) return undefined;
    if (descriptor.size > mostBlobBytes)
      throw new Fault(
        "invalid_argument",
        `a layer of ${imageName(reference)} has ${descriptor.size} bytes; ${mostBlobBytes} are the most`,
      );
    return client.download(reference, descriptor, () => this.#receiver());
  }

  async #place(
    reference: ImageReference,
    { directory, index }: UnpackedLayer,
    id: string,
    diffId: string,
  ): Promise<void> {
    try {
      if (index.diffId !== diffId)
        throw new Fault(
          "invalid_argument",
          `a layer of ${imageName(reference)} has other content than its configuration says`,
        );
      await writeFile(join(directory, "index.json"), JSON.stringify(index));
      // After a power loss, a renamed layer must not have empty files.
      await this.#disk.sync();
      await putInPlace(directory, this.#files.layer(id));
    } finally {
      await removeTree(directory);
    }
  }

  /** Unpacks a layer into a new directory, which belongs to the caller at the end. */
  async #receiver(): Promise<BlobReceiver<UnpackedLayer>> {
    const directory = this.#files.temp();
    await mkdir(directory, { mode: 0o700 });
    const layer = receiveLayer(directory, this.#limits);
    return {
      write: (part) => layer.write(part),
      end: async () => ({ directory, index: await layer.end() }),
      abandon: async () => {
        await layer.abandon();
        await removeTree(directory);
      },
    };
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
      // After a power loss, a renamed image must not have an empty file: every action in it would fail.
      await writeDurably(join(directory, "image.json"), JSON.stringify(facts));
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
