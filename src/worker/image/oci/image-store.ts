import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { errnoOf } from "#cas/disk/disk-fault.ts";
import { removeLeftovers, tempFileIn } from "#cas/temp-file.ts";
import { Fault } from "#core/fault.ts";
import type { ImageConfig } from "#images/image-manifest.ts";
import { type ImageReference, imageName, parseImageReference } from "#images/image-reference.ts";
import { requireSignature, ruleFor, type SignaturePolicy } from "#images/image-signatures.ts";
import type { DescribedImage, RegistryClient } from "#images/registry-client.ts";
import type { RegistryLogin } from "#images/registry-login.ts";
import { makePrivateDirectory } from "#machine/make-directory.ts";
import { ownOwner } from "#machine/owner.ts";
import { removeTree } from "#machine/remove-tree.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { chooseEvictions, type StoredLayer, type StoredRoot } from "./choose-evictions.ts";
import { InUseMarks } from "./in-use-marks.ts";
import { LayerIndex } from "./layer-index.ts";
import { mergeLayers } from "./merge-layers.ts";
import { prepareRoot } from "./prepare-root.ts";
import { type LayerLimits, readLayer } from "./read-layer.ts";
import { writeRoot } from "./write-root.ts";

const run = promisify(execFile);

/** Changes when roots are made in another way; roots of other formats are then unused and evicted. */
const rootFormat = 2;

/** A tag is resolved again after this time. */
const tagValidMs = 5 * 60_000;

/** Nobody needs a layer of this age that is in no image: its pull has failed. */
const abandonedAfterMs = 60 * 60_000;

/** The most images that the farm hears of. */
const mostKeys = 64;

const mostBlobBytes = 8 * 1024 ** 3;

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

/** An image of which the root file system is on this machine. */
export interface OpenImage {
  /** The digest that its reference has, or that its tag had when it was resolved. */
  readonly digest: string;
  readonly root: string;
  readonly environment: readonly (readonly [name: string, value: string])[];
  /** What a service of the image needs. */
  readonly service: ServiceOfImage;
  /** How long the caller waited for a pull; 0 for an image that was here. */
  readonly pulledMs: number;
  readonly release: () => void;
  /** Keeps the image for another user while somebody has it; undefined when nobody has. */
  readonly retain: () => (() => void) | undefined;
}

type ServiceOfImage = Pick<
  ImageConfig,
  "entrypoint" | "command" | "volumes" | "ports" | "workingDirectory"
>;

/** How an image is pulled, and what follows the digest in the names of its parts on the disk. */
interface Access {
  readonly client: RegistryClient;
  readonly suffix: string;
}

interface ImageStoreLimits extends LayerLimits {
  /** The size of all layers together, in bytes. */
  readonly storeBytes: number;
}

/**
 * The images of this machine, shared by its workers without locks.
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
export class ImageStore {
  readonly #directory: string;
  readonly #client: RegistryClient;
  readonly #limits: ImageStoreLimits;
  readonly #policy: SignaturePolicy;
  readonly #marks: InUseMarks;
  readonly #pulling = new Map<string, Promise<void>>();
  readonly #tags = new Map<string, { readonly digest: string; readonly untilMs: number }>();

  private constructor(
    directory: string,
    client: RegistryClient,
    limits: ImageStoreLimits,
    policy: SignaturePolicy,
  ) {
    this.#directory = directory;
    this.#client = client;
    this.#limits = limits;
    this.#policy = policy;
    this.#marks = new InUseMarks(join(directory, "in-use"), ownOwner());
  }

  static async open(
    directory: string,
    client: RegistryClient,
    limits: ImageStoreLimits,
    policy: SignaturePolicy = { rules: [] },
  ): Promise<ImageStore> {
    for (const name of ["layers", "roots", "in-use", "temp"]) {
      makePrivateDirectory(join(directory, name));
    }
    const store = new ImageStore(directory, client, limits, policy);
    await removeLeftovers(join(directory, "temp"));
    return store;
  }

  /**
   * Returns an image, and pulls it if it is not here. Several callers share one pull, which goes on when one of them no
   * longer waits.
   *
   * With a login at its registry, an image is pulled for the scope of that login, even if others have it. Throws
   * `invalid_argument` for an image that no worker can use, and `unavailable` when its registry is.
   */
  async use(text: string, logins: readonly RegistryLogin[] = []): Promise<OpenImage> {
    const reference = parseImageReference(text);
    this.#client.assertAllowed(reference);
    const access = this.#accessTo(reference, logins);
    const began = performance.now();
    const digest = await this.#digestOf(reference, access);
    const pinned = { ...reference, tag: undefined, digest };
    const key = rootKey(digest, access);
    await this.#marks.mark(key);
    try {
      const wasHere = await exists(join(this.#root(key), "image.json"));
      // Before the layers: an image that may not run is not pulled.
      const verifiedBy = await this.#requireSignature(pinned, key, access);
      if (!wasHere) await this.#once(`root ${key}`, () => this.#pull(pinned, key, access));
      if (verifiedBy !== undefined) await writeFile(verifiedBy, "");
      const facts = RootFacts.parse(
        JSON.parse(await readFile(join(this.#root(key), "image.json"), "utf8")),
      );
      await utimes(this.#root(key), new Date(), new Date());
      return {
        digest,
        root: join(this.#root(key), "root"),
        environment: facts.environment,
        service: facts,
        pulledMs: wasHere ? 0 : performance.now() - began,
        release: () => this.#marks.unmark(key),
        retain: () => (this.#marks.retain(key) ? () => this.#marks.unmark(key) : undefined),
      };
    } catch (reason) {
      this.#marks.unmark(key);
      throw reason;
    }
  }

  /** Returns the first 16 digits of the digests of the images on this machine, those used last first. */
  async keys(): Promise<readonly string[]> {
    const names = await readdir(join(this.#directory, "roots"));
    const own = names.filter((name) => name.endsWith(`-${rootFormat}`));
    const used = await mapAtMost(4, own, async (name) => ({
      key: name.slice(0, 16),
      atMs: (await stat(this.#root(name)).catch(() => undefined))?.mtimeMs ?? 0,
    }));
    const keys = used.toSorted((a, b) => b.atMs - a.atMs).map(({ key }) => key);
    return [...new Set(keys)].slice(0, mostKeys);
  }

  /** Returns how many images are here, and the size of their layers, in bytes. */
  async standing(): Promise<{ readonly images: number; readonly bytes: number }> {
    const [roots, layers] = await Promise.all([this.#roots(), this.#layers()]);
    return { images: roots.length, bytes: layers.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  /** Removes images that were not used for longest until the layers are within the limit. */
  async trim(nowMs: number): Promise<void> {
    await this.#marks.removeIdle();
    const stored = {
      layers: await this.#layers(),
      roots: await this.#roots(),
      inUse: await this.#marks.names(),
    };
    const { roots, layers } = chooseEvictions(stored, {
      nowMs,
      storeBytes: this.#limits.storeBytes,
      isUsable: (key) => key.endsWith(`-${rootFormat}`),
      abandonedAfterMs,
    });
    // Before the layers, so that no root misses one.
    for (const key of roots) await this.#removeUnlessUsed("roots", key);
    for (const hex of layers) await this.#removeUnlessUsed("layers", hex);
  }

  #accessTo({ registry }: ImageReference, logins: readonly RegistryLogin[]): Access {
    const login = logins.find(({ host }) => host === registry);
    if (login === undefined) return { client: this.#client, suffix: "" };
    const { user, password, scope } = login;
    return {
      client: this.#client.withCredentials(new Map([[registry, { user, password }]])),
      suffix: `.${scope}`,
    };
  }

  async #digestOf(reference: ImageReference, { client, suffix }: Access): Promise<string> {
    if (reference.digest !== undefined) return reference.digest;
    const name = imageName(reference) + suffix;
    const known = this.#tags.get(name);
    if (known !== undefined && known.untilMs > Date.now()) return known.digest;
    const digest = await client.resolve(reference);
    if (this.#tags.size > 10_000) this.#tags.clear();
    this.#tags.set(name, { digest, untilMs: Date.now() + tagValidMs });
    return digest;
  }

  /**
   * Checks the signature of an image if the operator requires one. Returns the file that records this; undefined when
   * nothing is required, or it was checked before.
   */
  async #requireSignature(
    reference: ImageReference & { readonly digest: string },
    key: string,
    { client }: Access,
  ): Promise<string | undefined> {
    const rule = ruleFor(this.#policy, reference);
    if (rule === undefined) return undefined;
    const record = join(this.#root(key), `signed-${rule.name}`);
    if (await exists(record)) return undefined;
    const signatures = await client.signatures(reference, reference.digest);
    requireSignature(rule, reference, reference.digest, signatures);
    return record;
  }

  #once(key: string, make: () => Promise<void>): Promise<void> {
    const under = this.#pulling.get(key);
    if (under !== undefined) return under;
    const making = make().finally(() => this.#pulling.delete(key));
    this.#pulling.set(key, making);
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
    const final = this.#layerPath(hexOf(descriptor.digest) + suffix);
    if (await exists(join(final, "index.json"))) return;
    if (descriptor.size > mostBlobBytes)
      throw new Fault(
        "invalid_argument",
        `a layer of ${imageName(reference)} has ${descriptor.size} bytes; ${mostBlobBytes} are the most`,
      );
    const blob = this.#temp();
    const directory = this.#temp();
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
      await putInPlace(directory, final);
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
    for (const id of ids) {
      const text = await readFile(join(this.#layerPath(id), "index.json"), "utf8");
      layers.push(LayerIndex.parse(JSON.parse(text)));
    }
    const total = layers.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total > this.#limits.bytes)
      throw new Fault(
        "invalid_argument",
        `the layers of ${imageName(reference)} have ${total} bytes; ${this.#limits.bytes} are the most`,
      );
    const tree = mergeLayers(layers);
    const fileOf = (layer: number, number: number) =>
      join(this.#layerPath(ids[layer] ?? ""), `${number}`);
    await prepareRoot(tree, fileOf, config.volumes);
    const facts: z.infer<typeof RootFacts> = {
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
    const directory = this.#temp();
    try {
      await mkdir(directory, { mode: 0o700 });
      await writeRoot(tree, join(directory, "root"), fileOf);
      await writeFile(join(directory, "image.json"), JSON.stringify(facts));
      await putInPlace(directory, this.#root(key));
    } finally {
      await removeTree(directory);
    }
  }

  #root(key: string): string {
    return join(this.#directory, "roots", key);
  }

  #layerPath(id: string): string {
    return join(this.#directory, "layers", id);
  }

  #temp(): string {
    return tempFileIn(join(this.#directory, "temp"));
  }

  async #removeUnlessUsed(kind: "roots" | "layers", name: string): Promise<void> {
    const path = join(this.#directory, kind, name);
    const away = this.#temp();
    await rename(path, away);
    const isTaken = (await this.#marks.names()).has(name);
    const isBack =
      isTaken &&
      (await rename(away, path).then(
        () => true,
        () => false,
      ));
    if (!isBack) await removeTree(away);
  }

  async #layers(): Promise<StoredLayer[]> {
    const hexes = await readdir(join(this.#directory, "layers"));
    const found = await mapAtMost(4, hexes, async (hex) => {
      const at = join(this.#layerPath(hex), "index.json");
      const index = await stat(at).catch(() => undefined);
      if (index === undefined) return undefined;
      const { bytes } = LayerIndex.pick({ bytes: true }).parse(
        JSON.parse(await readFile(at, "utf8")),
      );
      return { hex, bytes: bytes + index.size, usedAtMs: index.mtimeMs };
    });
    return found.filter((layer) => layer !== undefined);
  }

  async #roots(): Promise<StoredRoot[]> {
    const keys = await readdir(join(this.#directory, "roots"));
    const found = await mapAtMost(4, keys, async (key) => {
      const text = await readFile(join(this.#root(key), "image.json"), "utf8").catch(
        () => undefined,
      );
      if (text === undefined) return undefined;
      const { layers } = RootFacts.parse(JSON.parse(text));
      return { key, layers, usedAtMs: (await stat(this.#root(key))).mtimeMs };
    });
    return found.filter((root) => root !== undefined);
  }
}

function rootKey(digest: string, { suffix }: Access): string {
  return `${hexOf(digest)}${suffix}-${rootFormat}`;
}

function hexOf(digest: string): string {
  return digest.slice("sha256:".length);
}

/** Another worker of the machine may have been faster: its result is the same. */
async function putInPlace(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (reason) {
    if (!["ENOTEMPTY", "EEXIST"].includes(errnoOf(reason) ?? "")) throw reason;
  }
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
