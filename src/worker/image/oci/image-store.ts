import { readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findSignatures } from "#images/find-signatures.ts";
import type { ImageConfig } from "#images/image-manifest.ts";
import { type ImageReference, imageName, parseImageReference } from "#images/image-reference.ts";
import { requireSignature } from "#images/image-signatures.ts";
import type { RegistryClient } from "#images/registry-client.ts";
import type { RegistryLogin } from "#images/registry-login.ts";
import { ruleFor, type SignaturePolicy } from "#images/signature-policy.ts";
import { ownOwner } from "#machine/owner.ts";
import { removeTree } from "#machine/remove-tree.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { chooseEvictions, type StoredLayer, type StoredRoot } from "./choose-evictions.ts";
import { InUseMarks } from "./in-use-marks.ts";
import { LayerIndex } from "./layer-index.ts";
import { type Access, ImagePulls } from "./pull-image.ts";
import type { LayerLimits } from "./read-layer.ts";
import { exists, isUsableRoot, type RootFacts, rootKey, StoreFiles } from "./store-files.ts";

/** A tag is resolved again after this time. */
const tagValidMs = 5 * 60_000;

/** Nobody needs a layer of this age that is in no image: its pull has failed. */
const abandonedAfterMs = 60 * 60_000;

/** The most images that the farm hears of. */
const mostKeys = 64;

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
  "entrypoint" | "command" | "volumes" | "ports" | "workingDirectory" | "user"
>;

interface ImageStoreLimits extends LayerLimits {
  /** The size of all layers together, in bytes. */
  readonly storeBytes: number;
}

/** The images of this machine, shared by its workers without locks. */
export class ImageStore {
  readonly #files: StoreFiles;
  readonly #client: RegistryClient;
  readonly #limits: ImageStoreLimits;
  readonly #policy: SignaturePolicy;
  readonly #marks: InUseMarks;
  readonly #pulls: ImagePulls;
  readonly #tags = new Map<string, { readonly digest: string; readonly untilMs: number }>();
  readonly #facts = new Map<string, RootFacts>();

  private constructor(
    files: StoreFiles,
    client: RegistryClient,
    limits: ImageStoreLimits,
    policy: SignaturePolicy,
  ) {
    this.#files = files;
    this.#client = client;
    this.#limits = limits;
    this.#policy = policy;
    this.#marks = new InUseMarks(files.inUse, ownOwner());
    this.#pulls = new ImagePulls(files, this.#marks, limits);
  }

  static async open(
    directory: string,
    client: RegistryClient,
    limits: ImageStoreLimits,
    policy: SignaturePolicy = { rules: [] },
  ): Promise<ImageStore> {
    return new ImageStore(await StoreFiles.open(directory), client, limits, policy);
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
    const key = rootKey(digest, access.suffix);
    await this.#marks.mark(key);
    try {
      const wasHere = await this.#files.touchRoot(key);
      // Before the layers: an image that may not run is not pulled.
      const verifiedBy = await this.#requireSignature(pinned, key, access);
      if (!wasHere) await this.#pulls.pull(pinned, key, access);
      if (verifiedBy !== undefined) await writeFile(verifiedBy, "");
      const facts = await this.#factsOf(key);
      return {
        digest,
        root: join(this.#files.root(key), "root"),
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
    const names = await readdir(this.#files.roots);
    const own = names.filter(isUsableRoot);
    const used = await mapAtMost(4, own, async (name) => ({
      key: name.slice(0, 16),
      atMs: (await stat(this.#files.root(name)).catch(() => undefined))?.mtimeMs ?? 0,
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
      isUsable: isUsableRoot,
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

  /** Each action in an image needs them, and they never change. */
  async #factsOf(key: string): Promise<RootFacts> {
    const known = this.#facts.get(key);
    if (known !== undefined) return known;
    const facts = await this.#files.rootFacts(key);
    if (this.#facts.size > 1_000) this.#facts.clear();
    this.#facts.set(key, facts);
    return facts;
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
    const record = join(this.#files.root(key), `signed-${rule.name}`);
    if (await exists(record)) return undefined;
    const signatures = await findSignatures(client, reference, reference.digest);
    requireSignature(rule, reference, reference.digest, signatures);
    return record;
  }

  async #removeUnlessUsed(kind: "roots" | "layers", name: string): Promise<void> {
    const path = join(this.#files[kind], name);
    const away = this.#files.temp();
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
    const hexes = await readdir(this.#files.layers);
    const found = await mapAtMost(4, hexes, async (hex) => {
      const at = join(this.#files.layer(hex), "index.json");
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
    const keys = await readdir(this.#files.roots);
    const found = await mapAtMost(4, keys, async (key) => {
      if (!(await this.#files.hasRoot(key))) return undefined;
      const { layers } = await this.#files.rootFacts(key);
      return { key, layers, usedAtMs: (await stat(this.#files.root(key))).mtimeMs };
    });
    return found.filter((root) => root !== undefined);
  }
}
